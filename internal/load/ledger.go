package main

import (
	"fmt"
	"sync"

	"github.com/leveretmq/leveret"
)

// A ledger keeps account of every copy, by events.
type ledger struct {
	mu       sync.Mutex
	told     int                     // events
	quiet    sync.Cond               // a connection was closed
	sent     map[string]*publication // by message id, since the last comparison
	numbers  map[uint64]*publication // those of sent that were published, by the number of the message
	copies   map[uint64]*copyState   // those that have not ended, and those that have since the last comparison
	conns    map[string]bool         // names of the connections that are open
	cut      map[string]bool         // names of the connections that were cut off
	problems []string
	totals
}

// totals are what was seen in all.
type totals struct{ published, enqueued, refused, delivered, acked, requeued, died, dropped uint64 }

func (t totals) String() string {
	return fmt.Sprintf("%d published, %d enqueued, %d refused, %d delivered, %d acked, %d requeued, %d died, %d dropped",
		t.published, t.enqueued, t.refused, t.delivered, t.acked, t.requeued, t.died, t.dropped)
}

// An outcome is what a publisher knows of its message.
type outcome uint8

const (
	unknown outcome = iota // its connection ended
	sent                   // it was published, and nobody tells what became of it
	acked
	nacked
)

// A publication is a message that a client has sent.
type publication struct {
	outcome           outcome
	published         int // times
	targets           int // queues that it was routed to
	enqueued, refused int
}

// A copyState is what is known of a copy.
type copyState struct {
	message        uint64
	queue          string
	refused, ended bool
	holder         leveret.EventDelivery // zero: nobody has it
}

func newLedger() *ledger {
	l := &ledger{sent: map[string]*publication{}, numbers: map[uint64]*publication{}, copies: map[uint64]*copyState{},
		conns: map[string]bool{}, cut: map[string]bool{}}
	l.quiet.L = &l.mu
	return l
}

// problem notes something that is wrong. A few are enough.
func (l *ledger) problem(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.problemLocked(format, args...)
}

func (l *ledger) problemLocked(format string, args ...any) {
	if len(l.problems) < 20 {
		l.problems = append(l.problems, fmt.Sprintf(format, args...))
	}
}

func (l *ledger) failed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.problems) > 0
}

func (l *ledger) sum() totals {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.totals
}

// send notes that a message is about to be sent.
func (l *ledger) send(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent[id] = &publication{}
}

// learn notes what the publisher has learnt.
func (l *ledger) learn(id string, o outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent[id].outcome = o
}

// lose notes that the connection of that name was cut off and will be closed.
func (l *ledger) lose(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conns[name] {
		l.cut[name] = true
	}
}

// awaitClosed waits until the broker has closed the connections that were cut off.
func (l *ledger) awaitClosed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.cut) > 0 {
		l.quiet.Wait()
	}
}

func (l *ledger) events() leveret.Events {
	return leveret.Events{
		Published:        locked(l, l.publishedLocked),
		Enqueued:         locked(l, l.enqueuedLocked),
		Refused:          locked(l, l.refusedLocked),
		Delivered:        locked(l, l.deliveredLocked),
		Acked:            locked(l, l.ackedLocked),
		Requeued:         locked(l, l.requeuedLocked),
		Rejected:         locked(l, func(e leveret.RejectedEvent) { l.settledLocked(e.EventDelivery) }),
		DeadLettered:     locked(l, l.deadLetteredLocked),
		Dropped:          locked(l, l.droppedLocked),
		ConnectionOpened: locked(l, func(e leveret.ConnectionEvent) { l.conns[e.Name] = true }),
		ConnectionClosed: locked(l, l.closedLocked),
	}
}

func locked[E any](l *ledger, f func(E)) func(E) {
	return func(e E) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.told++
		f(e)
	}
}

func (l *ledger) closedLocked(e leveret.ConnectionEvent) {
	delete(l.conns, e.Name)
	delete(l.cut, e.Name)
	l.quiet.Broadcast()
}

func (l *ledger) publishedLocked(e leveret.PublishedEvent) {
	l.published++
	p := l.sent[e.Properties.MessageID]
	if p == nil {
		l.problemLocked("message %q was published and nobody sent it now", e.Properties.MessageID)
		return
	}
	p.published++
	p.targets = len(e.Queues)
	l.numbers[e.Message] = p
}

// arrivedLocked enters a copy and returns the publication that it comes from, nil for a dead letter.
func (l *ledger) arrivedLocked(m leveret.EventMessage, queue string, n, parent uint64) (c *copyState, p *publication) {
	if l.copies[n] != nil {
		l.problemLocked("copy %d is there twice", n)
	}
	c = &copyState{message: m.Message, queue: queue}
	l.copies[n] = c
	if parent == 0 {
		if p = l.numbers[m.Message]; p == nil {
			l.problemLocked("copy %d of message %d in %s was not published", n, m.Message, queue)
			p = &publication{}
		}
		return c, p
	}
	if from := l.copies[parent]; from == nil || from.message != m.Message {
		l.problemLocked("copy %d of message %d in %s died as %d, which is not of that message", n, m.Message, queue, parent)
	}
	return c, nil
}

func (l *ledger) enqueuedLocked(e leveret.EnqueuedEvent) {
	l.enqueued++
	if _, p := l.arrivedLocked(e.EventMessage, e.Queue, e.Copy, e.Parent); p != nil {
		p.enqueued++
	}
}

func (l *ledger) refusedLocked(e leveret.RefusedEvent) {
	l.refused++
	c, p := l.arrivedLocked(e.EventMessage, e.Queue, e.Copy, e.Parent)
	c.refused = true
	if p != nil {
		p.refused++
	}
}

// openLocked returns a copy that has not ended.
func (l *ledger) openLocked(n uint64, what string) *copyState {
	c := l.copies[n]
	if c == nil || c.ended {
		l.problemLocked("copy %d was %s when it had ended", n, what)
		return &copyState{}
	}
	return c
}

func (l *ledger) deliveredLocked(e leveret.DeliveredEvent) {
	l.delivered++
	c := l.openLocked(e.Copy, "delivered")
	if c.holder != (leveret.EventDelivery{}) {
		l.problemLocked("copy %d was delivered to %+v and to %+v", e.Copy, c.holder, e.EventDelivery)
	}
	c.holder = e.EventDelivery
}

// settledLocked takes a copy from its holder.
func (l *ledger) settledLocked(d leveret.EventDelivery) *copyState {
	c := l.openLocked(d.Copy, "settled")
	if c.holder != d {
		l.problemLocked("copy %d was with %+v and settled by %+v", d.Copy, c.holder, d)
	}
	c.holder = leveret.EventDelivery{}
	return c
}

func (l *ledger) ackedLocked(e leveret.AckedEvent) {
	l.acked++
	l.settledLocked(e.EventDelivery).ended = true
}

func (l *ledger) requeuedLocked(e leveret.RequeuedEvent) {
	l.requeued++
	l.settledLocked(e.EventDelivery)
}

func (l *ledger) deadLetteredLocked(e leveret.DeadLetteredEvent) {
	l.died++
	c := l.openLocked(e.Copy, "dead-lettered")
	if c.queue != e.Queue || c.message != e.Message {
		l.problemLocked("copy %d of message %d in %s died as message %d in %s", e.Copy, c.message, c.queue, e.Message, e.Queue)
	}
	c.ended = true
}

func (l *ledger) droppedLocked(e leveret.DroppedEvent) {
	l.dropped++
	if e.Cause == "" {
		l.problemLocked("copy %d was dropped without a cause", e.Copy)
	}
	if e.Copy != 0 {
		l.openLocked(e.Copy, "dropped").ended = true
	}
}

// comparePublications verifies what publishers know of their messages and begins anew. Everybody waits.
func (l *ledger) comparePublications() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, p := range l.sent {
		certain := p.outcome != unknown
		switch {
		case p.published > 1, certain && p.published == 0:
			l.problemLocked("message %s was published %d times: %+v", id, p.published, *p)
		case p.enqueued+p.refused != p.targets:
			l.problemLocked("message %s was routed to %d queues: %+v", id, p.targets, *p)
		case p.outcome == acked && p.refused > 0, p.outcome == nacked && p.refused == 0:
			l.problemLocked("message %s was confirmed otherwise than it was taken: %+v", id, *p)
		}
	}
	l.sent, l.numbers = map[string]*publication{}, map[uint64]*publication{}
}

// shownQueues returns how many messages each queue shows, read while nothing happened. Time goes on, and queues and messages expire.
func (l *ledger) shownQueues(b *leveret.Broker) map[string]int {
	told := func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.told
	}
	for {
		before, shown := told(), map[string]int{}
		for _, info := range b.Queues() {
			if q, err := b.Queue(info.Name); err == nil {
				shown[info.Name] = info.Ready + info.Unacked + len(q.Waiting())
			}
		}
		if b.Settle(); told() == before {
			return shown
		}
	}
}

// compareQueues verifies that each copy that has not ended is in the queue where it was enqueued. Everybody waits.
func (l *ledger) compareQueues(b *leveret.Broker) {
	shown := l.shownQueues(b)
	counted := b.Counters()
	l.mu.Lock()
	defer l.mu.Unlock()
	for n, c := range l.copies {
		if c.ended || c.refused { // what was refused is no copy, or it has died by now
			delete(l.copies, n)
		} else {
			shown[c.queue]--
		}
	}
	for queue, n := range shown {
		if n != 0 {
			l.problemLocked("%s shows %+d messages more than events have told", queue, n)
		}
	}
	if counted.Dropped.Total() != l.dropped || counted.Published != l.published ||
		counted.Acknowledged != l.acked || counted.Delivered != l.delivered || counted.Requeued != l.requeued {
		l.problemLocked("counted are %+v, events have told %v", counted, l.totals)
	}
}

// compareNothing verifies that no copy is left.
func (l *ledger) compareNothing() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for n, c := range l.copies {
		if !c.ended && !c.refused {
			l.problemLocked("copy %d of message %d in %s has no end", n, c.message, c.queue)
		}
	}
}
