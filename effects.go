package leveret

import "sync"

// reports are what a virtual host tells others.
type reports struct {
	events     *hooks // all watchers together; nil: nobody watches
	effects    effects
	alarmsTold Alarm // that connections and watchers know of
}

// Effects are what an operation has to tell others: event hooks and the handlers of consumers. The operation appends
// them in the order in which things happen, and they run after it has released the lock. One goroutine at a time runs
// them, that of this or of a concurrent operation, so they are told one by one and in order.
type effects struct {
	pending []effect
	running bool      // a goroutine runs them: batch and next belong to that goroutine, which does not hold the lock
	idle    sync.Cond // running has ended
	batch   []effect  // taken from pending
	next    int       // in batch
}

// An effect is a call, or a delivery to a consumer's handler. A call that hands over the delivery would be an
// allocation more, and with it BenchmarkConsumer/impl=handler takes 12 % more instructions.
type effect struct {
	call     func()
	consumer *Consumer
	delivery *Delivery
}

func (e effect) run() {
	if e.consumer != nil {
		e.consumer.cfg.Handler(e.delivery.render())
		return
	}
	e.call()
}

func (v *vhost) afterLocked(f func()) {
	v.effects.pending = append(v.effects.pending, effect{call: f})
}

// handleAfterLocked has c's handler called with d after the lock is released.
func (v *vhost) handleAfterLocked(c *Consumer, d *Delivery) {
	v.effects.pending = append(v.effects.pending, effect{consumer: c, delivery: d})
}

// due reports whether the operation that ends has to run the effects: nobody else does.
func (e *effects) due() bool { return len(e.pending) > 0 && !e.running }

// run runs all effects. It is called with the lock held and returns without it. An effect may panic or end the
// goroutine with runtime.Goexit: the others run first.
func (e *effects) run(v *vhost) {
	all := false
	defer func() {
		if !all {
			v.mu.Lock()
			e.run(v)
		}
	}()
	e.running = true
	for e.take() {
		v.mu.Unlock()
		e.runBatch()
		v.mu.Lock()
		if v.turns.waiting > 0 {
			break // what follows is of an operation that will run it itself
		}
	}
	e.running = false
	e.idle.Broadcast()
	v.mu.Unlock()
	all = true
}

// take makes what is pending the batch, if the batch is done. It reports false if there is nothing to run.
func (e *effects) take() bool {
	if e.next == len(e.batch) {
		for i := range e.batch {
			if c := e.batch[i].consumer; c != nil {
				c.spares.give(e.batch[i].delivery)
			}
			e.batch[i] = effect{}
		}
		e.batch, e.pending = e.pending, emptied(e.batch)
		e.next = 0
	}
	return len(e.batch) > 0
}

// maxKept is how many elements an empty list may have room for, to be used again.
const maxKept = 4096

// emptied returns s without its elements, of which none holds anything any more.
func emptied[T any](s []T) []T {
	if cap(s) > maxKept {
		return nil
	}
	return s[:0]
}

func (e *effects) runBatch() {
	for e.next < len(e.batch) {
		next := e.batch[e.next]
		e.next++
		next.run()
	}
}
