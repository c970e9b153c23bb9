package leveret

import (
	"runtime"

	"github.com/leveretmq/leveret/internal/turns"
)

// Turns. An operation that has much to do releases the lock now and then, so that nobody waits long for it: a million
// messages that are settled, committed, trimmed or expired, a message that dies in thousands of queues, a policy over
// all queues, an exchange that goes with all its bindings. The operation counts its steps, of about a microsecond each,
// and when its turn is over others get in between. It returns, as every operation, when all that it caused has
// happened. What is done in fewer steps is one step to all others.
//
// Where an operation may let others in, nothing is half done: each message is in a place, and all figures are right.
// What the operation knew before it looks at again. A queue may have gone, a channel may have ended, a delivery may
// have been settled.

// turn is how many steps an operation takes before it lets others in. Dead letters go first, so that those of one queue
// stay in order.
func turn() int { return turns.Length() }

// longTurn is after how many steps it does so even if there are dead letters on their way.
func longTurn() int { return turnsPerLongTurn * turns.Length() }

const (
	turnsPerLongTurn = 10
	looksPerStep     = 16 // elements that a loop looks at in the time of a step
)

// turnState is what is known of operations that let others in.
type turnState struct {
	waiting int       // operations that have let others in and are not back
	known   *known    // what the operation at work knows from its earlier attempts; nil: this is its first
	wanted  longMatch // why the last attempt that came to nothing did
	lost    Cause     // once the virtual host is closed: why its messages are lost, empty if nobody is to be told
}

// A turnTaken is what an operation knows of the turn that it has with the lock.
type turnTaken struct {
	now      int64 // the time in ns since 1970, read when first asked for; 0: not yet
	steps    int   // that were taken, as far as they are counted
	matching int   // steps of patterns that were taken
}

// tookLocked counts n steps of a long operation.
func (v *vhost) tookLocked(n int) { v.timing.turn.steps += n }

// lookedLocked lets others in as restLocked does. It is for a loop that only looks at its elements, of which i is the
// number, and counts a step for looksPerStep of them.
func (v *vhost) lookedLocked(i int) {
	if i%looksPerStep == looksPerStep-1 {
		v.tookLocked(1)
		v.restLocked()
	}
}

// restLocked sends the operation's dead letters and lets others in, if its turn is over.
func (v *vhost) restLocked() {
	if v.timing.turn.steps >= turn() {
		if !v.deaths.working() {
			v.deadLetterAllLocked()
		}
		v.yieldLocked()
	}
}

// yieldLocked lets others in. The operation's dead letters stay its own.
func (v *vhost) yieldLocked() {
	v.timing.turn.steps = 0
	if !v.closed {
		v.apartLocked(turns.LetIn)
	}
}

// apartLocked does work without the lock, while others get in.
func (v *vhost) apartLocked(work func()) {
	var logged logging
	if v.log != nil {
		v.log.flushLocked() // to others this turn has happened
		logged = v.log.takeLocked()
	}
	own, known := v.deaths, v.turns.known
	v.deaths, v.turns.known = worklist{}, nil
	v.turns.waiting++
	if len(v.effects.pending) > 0 && !v.effects.running {
		v.effects.runApart(v, work)
	} else {
		v.mu.Unlock()
		work()
		v.mu.Lock()
	}
	v.deaths, v.turns.known = own, known
	if v.log != nil {
		v.log.giveBackLocked(logged)
	}
	v.timing.turn = turnTaken{}
	if v.turns.waiting--; v.turns.waiting == 0 {
		v.effects.idle.Broadcast() // Settle waits for it
	}
	if v.closed {
		v.dropDeathsLocked(v.turns.lost)
	}
}

// runApart runs what is pending while work is done, and comes back with the lock. An effect may panic or end its
// goroutine, which must not end an operation that is half done. So the effects have a goroutine of their own here, and a panic,
// or the end of that goroutine, happens again after the operation.
func (e *effects) runApart(v *vhost, work func()) {
	over := make(chan func())
	go func() {
		again := runtime.Goexit
		defer func() {
			if p := recover(); p != nil {
				again = func() { panic(p) }
			}
			over <- again
		}()
		e.run(v)
		again = nil
	}()
	work()
	again := <-over
	v.mu.Lock()
	if again != nil {
		v.afterLocked(again)
	}
}
