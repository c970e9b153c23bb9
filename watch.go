package leveret

import (
	"slices"
	"sync/atomic"
)

// Watchers come and go. The broker keeps all of them as one set of hooks, each of which calls the watchers' hooks one
// after the other; a virtual host that nobody watches has none.

// Watch has the broker report to e until stop is called. There can be several watchers at a time. The hooks of one
// event are called in the order in which the watchers were added. See [Events] for what a hook may rely on.
//
// A watcher that is added in the middle sees whole operations: all that begin after Watch has returned, and none in
// part.
//
// After stop has returned, no hook of e begins any more, except those that another goroutine was calling at that
// moment. After a [Broker.Settle] that follows, those have ended too. Where stop is called by a hook, no other hook for
// the same virtual host begins. A second call of stop does nothing.
func (b *Broker) Watch(e Events) (stop func()) {
	w := &watcher{events: e}
	b.setWatchers(func(all []*watcher) []*watcher { return append(all, w) })
	return func() {
		if w.stopped.Swap(true) {
			return
		}
		b.setWatchers(func(all []*watcher) []*watcher { return without(all, w) })
	}
}

// A watcher is one call of Watch.
type watcher struct {
	events  Events
	stopped atomic.Bool // events that are on their way do not reach the watcher any more
}

// without returns all but one, in a slice of its own.
func without[T comparable](all []T, one T) []T {
	return slices.DeleteFunc(slices.Clone(all), func(t T) bool { return t == one })
}

// setWatchers changes the watchers of all virtual hosts, each between two operations.
func (b *Broker) setWatchers(change func([]*watcher) []*watcher) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.watchers = change(b.watchers)
	b.events = merge(b.watchers)
	for _, v := range b.sortedVHosts() {
		v.mu.Lock()
		v.events = b.events
		v.mu.Unlock()
	}
}

// hooks are those of all watchers.
type hooks struct {
	Events
	messages bool // one of them is about messages, which therefore have numbers
}

// merge returns one set of hooks that calls those of all watchers, nil if there are none.
func merge(watchers []*watcher) *hooks {
	if len(watchers) == 0 {
		return nil
	}
	all := &hooks{}
	for _, w := range watchers {
		all.add(w)
	}
	all.messages = all.Published != nil || all.Returned != nil || all.Enqueued != nil || all.Refused != nil ||
		all.Delivered != nil || all.Acked != nil || all.Requeued != nil || all.Rejected != nil ||
		all.DeadLettered != nil || all.Dropped != nil
	return all
}

// add has the hooks of e call those of w, too.
func (e *Events) add(w *watcher) {
	o := &w.events
	join(&e.Published, w, o.Published)
	join(&e.Returned, w, o.Returned)
	join(&e.Enqueued, w, o.Enqueued)
	join(&e.Refused, w, o.Refused)
	join(&e.Delivered, w, o.Delivered)
	join(&e.Acked, w, o.Acked)
	join(&e.Requeued, w, o.Requeued)
	join(&e.Rejected, w, o.Rejected)
	join(&e.DeadLettered, w, o.DeadLettered)
	join(&e.Dropped, w, o.Dropped)
	join(&e.QueueDeclared, w, o.QueueDeclared)
	join(&e.QueueDeleted, w, o.QueueDeleted)
	join(&e.ExchangeDeclared, w, o.ExchangeDeclared)
	join(&e.ExchangeDeleted, w, o.ExchangeDeleted)
	join(&e.Bound, w, o.Bound)
	join(&e.Unbound, w, o.Unbound)
	join(&e.ConsumerAdded, w, o.ConsumerAdded)
	join(&e.ConsumerRemoved, w, o.ConsumerRemoved)
	join(&e.PolicySet, w, o.PolicySet)
	join(&e.PolicyCleared, w, o.PolicyCleared)
	join(&e.Ignored, w, o.Ignored)
	join(&e.ConnectionOpened, w, o.ConnectionOpened)
	join(&e.ConnectionClosed, w, o.ConnectionClosed)
	join(&e.ChannelOpened, w, o.ChannelOpened)
	join(&e.ChannelClosed, w, o.ChannelClosed)
	join(&e.MemoryAlarmRaised, w, o.MemoryAlarmRaised)
	join(&e.MemoryAlarmCleared, w, o.MemoryAlarmCleared)
	join(&e.DiskAlarmRaised, w, o.DiskAlarmRaised)
	join(&e.DiskAlarmCleared, w, o.DiskAlarmCleared)
	join(&e.StoreFailed, w, o.StoreFailed)
}

// join has *hook call f for w after what it calls already. A hook that panics or ends its goroutine does not keep the
// event from those after it.
func join[E any](hook *func(E), w *watcher, f func(E)) {
	if f == nil {
		return
	}
	last := func(e E) {
		if !w.stopped.Load() {
			f(e)
		}
	}
	first := *hook
	if first == nil {
		*hook = last
		return
	}
	*hook = func(e E) {
		defer last(e)
		first(e)
	}
}
