package leveret

import (
	"math"
	"time"

	"github.com/leveretmq/leveret/internal/schedule"
)

// Everything that a virtual host does by itself is a timer in one heap: the head of a queue expires, an idle queue goes, a
// consumer has not settled in time, a dead letter is tried again. One wake-up of the clock is armed, for the earliest timer.
// A message has no timer of its own: its queue has one, for the head.
//
// Timers are lazy. A timer that was set for something that has gone stays, and its owner, when woken, looks again whether there
// is anything to do. To put the timer off each time would cost more than the few wake-ups in vain.

// The heap goes by what the clock shows, as the expiry of messages does in RabbitMQ. The clock may be set. Queues that
// nobody uses and consumers that do not settle are judged by the time that passes: their timers are put right when the
// clock has been set.

// timing is the heap of timers and the one wake-up that is armed.
type timing struct {
	turn    turnTaken
	clock   reading
	agreed  int64 // by how many ns the clock was ahead of the time that passes when the timers were last put right
	late    bool  // something is due that was left to an operation that waits for its next turn
	heap    schedule.Heap[wakeable]
	armed   Timer
	epochs  epochs
	armedAt int64

	lateSteps lateSteps // of the consumers whose timers are due, once one of them was woken; nil: not known
}

// aheadLocked is by how many ns the clock is ahead of the time that has passed.
func (v *vhost) aheadLocked() int64 {
	v.nowLocked()
	return v.timing.clock.ahead
}

// elapsedLocked is the time that has passed, in ns: what a clock would show that nobody sets.
func (v *vhost) elapsedLocked() int64 { return v.nowLocked() - v.aheadLocked() }

// shownLocked is what the clock will show when so much time has passed, unless it is set before.
func (v *vhost) shownLocked(elapsed int64) int64 {
	if elapsed == math.MaxInt64 { // never
		return elapsed
	}
	return elapsed + v.aheadLocked()
}

// slewed is how far a clock may go from the time that passes before it counts as set, in ns.
const slewed = 10e6

// putRightLocked sets the timers anew if the clock has been set.
func (v *vhost) putRightLocked() {
	t, ahead := &v.timing, v.aheadLocked()
	if d := ahead - t.agreed; -slewed <= d && d <= slewed {
		return
	}
	t.agreed = ahead
	for _, timer := range t.heap.All() {
		if at, ok := timer.Value.nextWake(); ok && !timer.Value.actsWhenStale() {
			t.heap.Set(timer, at)
		}
	}
}

// A wakeable is what a timer wakes.
type wakeable interface {
	// wake is called when the timer's time has come.
	wake(now int64)
	// nextWake is when there will be something to do, in ns since 1970; ok is false for never. It is not before the time
	// that the timer is set for.
	nextWake() (at int64, ok bool)
	// actsWhenStale reports whether a wake-up has an effect even if what the timer was set for has gone: such a timer must
	// not be put off.
	actsWhenStale() bool
}

// armLocked sets the wake-up for the earliest timer. A timer that is due already is woken at once: the message that has
// become a queue's head may have expired long ago. While an operation waits for its next turn the clock, or that operation,
// does so: what is due may be its doing, and much.
func (v *vhost) armLocked() {
	t := &v.timing
	for {
		_, at, ok := t.heap.Min()
		isArmed := t.armed != nil && t.armedAt <= at
		if !ok || v.closed || isArmed && !t.late {
			return
		}
		if v.turns.waiting > 0 {
			t.late = t.late || at <= v.nowLocked()
		} else if v.fireNextLocked() {
			v.restLocked()
			continue
		} else {
			t.late = false
		}
		if isArmed {
			return
		}
		if t.armed != nil {
			t.armed.Stop()
		}
		t.armedAt = at
		t.armed = v.b.clock.AfterFunc(time.Duration(at-v.nowLocked()), func() { v.onTimer(at) })
		return
	}
}

func (v *vhost) onTimer(armedAt int64) {
	v.lock()
	if v.timing.armedAt == armedAt {
		v.timing.armed, v.timing.armedAt = nil, 0
	}
	v.unlock()
	v.fireDue()
}

// wakeBatch is how many timers fire before others may take the lock.
const wakeBatch = 64

// fireDue wakes everything that is due, letting others take the lock now and then. Dead letters are
// settled after each wake-up, so that the worklist stays short however much expires at once.
func (v *vhost) fireDue() {
	for more := true; more; {
		v.lock()
		for n := 0; more && n < wakeBatch; n++ {
			more = v.fireNextLocked()
			v.restLocked()
		}
		v.unlock()
	}
}

// fireNextLocked wakes what is due next and reports false if nothing is.
func (v *vhost) fireNextLocked() bool {
	v.putRightLocked()
	t, at, ok := v.timing.heap.Min()
	if !ok || v.closed || at > v.nowLocked() {
		v.timing.lateSteps = nil
		return false
	}
	v.timing.heap.Remove(t)
	t.Value.wake(v.nowLocked())
	v.deadLetterAllLocked()
	return true
}

// nextDeadlineLocked is when something happens next by itself. Timers that were set for something that has gone are put right
// first. A timer that acts when it is stale has to stay as it is, so nextDeadline looks past it.
func (v *vhost) nextDeadlineLocked() (time.Time, bool) {
	if v.closed {
		return time.Time{}, false
	}
	for {
		t, at, ok := v.timing.heap.Min()
		if !ok {
			return time.Time{}, false
		}
		real, ok := t.Value.nextWake()
		switch {
		case ok && real <= at:
			return time.Unix(0, at), true
		case t.Value.actsWhenStale():
			at, ok := v.timing.heap.Earliest(wakeable.nextWake)
			return instant(at), ok
		case ok:
			v.timing.heap.Set(t, real)
		default:
			v.timing.heap.Remove(t)
		}
	}
}

// wakeAtLocked makes t fire at the given time or before.
func (v *vhost) wakeAtLocked(t *schedule.Timer[wakeable], at int64) {
	if was, set := t.At(); !set || at < was {
		v.timing.heap.Set(t, at)
	}
}

func (v *vhost) catchUp() {
	v.fireDue()
	v.mu.Lock()
	for v.effects.running || v.turns.waiting > 0 {
		v.effects.idle.Wait()
	}
	v.mu.Unlock()
}

// disarm stops the wake-up that is armed.
func (t *timing) disarm() {
	if t.armed != nil {
		t.armed.Stop()
		t.armed, t.armedAt = nil, 0
	}
}

// end stops everything that was to happen by itself. Operations that wait for their next turn still unset timers.
func (t *timing) end() {
	t.disarm()
	t.heap.Clear()
}
