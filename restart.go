package leveret

import (
	"maps"
	"slices"
)

// The life of a node: it stops or is killed, and starts again. RabbitMQ keeps on disk what outlives that. leveret keeps it
// in memory, and leaves out what a RabbitMQ would have lost:
//
//   - a virtual host goes down in one step (goDownLocked): connections end, transient things go, and each queue describes its content
//     and is filled from the description. A description that comes from somewhere else fills a queue in the same way;
//   - it comes up when each queue has taken its first step (booted).
//
// While the node is down a virtual host is as one that is closed: operations are ErrClosed, and no timer fires.

// A NodeEnd says how a node goes down.
type NodeEnd uint8

// The ways in which a node goes down.
const (
	StoppedNode NodeEnd = iota // by an operator: clients are told, and what queues know is written
	KilledNode                 // at once: as by kill -9, or when its machine fails
)

// reason is what clients are told, and Go programs find in the errors of their connections. A killed node tells clients nothing.
// Rules: R-1.
func (e NodeEnd) reason() *Error {
	if e == KilledNode {
		return &Error{Code: ConnectionForced, Reason: "the node was killed", Cut: true}
	}
	return &Error{Code: ConnectionForced, Reason: "broker forced connection closure with reason 'shutdown'"}
}

// nodeState is what a virtual host knows of its node.
type nodeState struct {
	down    bool     // the node is: it may come up again
	replays bool     // the log is replayed, which says what ends
	booting []*Queue // that have not taken their first step since it came up
}

// A content is what a restart keeps of a queue's messages.
type content struct {
	returned []entry // in the order in which they came back, of a queue that has such a list
	over     []entry // that have been delivered too often: they die when the node comes up
	ready    []entry // in the order in which they leave
	retries  []delayedRetry
	pending  []pendingLetter // dead letters that their targets do not have
	gaps     *gaps           // of a classic queue
}

// Restart stops the broker and starts it again, as a RabbitMQ node is restarted: all connections end, and what a node has on
// disk is there afterwards. That is all virtual hosts, users, permissions, policies, parameters and limits; durable
// exchanges and queues with their bindings; the persistent messages of durable classic queues, and all messages of quorum
// queues. A transient exchange stays, too, except in RabbitMQ 3.10. What clients held is back in its queue, redelivered.
// Times to live went on. docs/rules.md, section 21, has the details.
//
// Handles of virtual hosts, and of queues and exchanges that are kept, stay valid. Consumers end, those of [Queue.Consume]
// included, and settling what was delivered before is ErrPreconditionFailed. Counters go on. The error is [ErrClosed] after
// Close.
//
// A server of package amqpd keeps its listeners: the clients come back to the same address.
//
// Rules.
func (b *Broker) Restart(as NodeEnd) error {
	if err := b.Stop(as); err != nil {
		return err
	}
	return b.Start()
}

// Stop has the node go down until Start. Meanwhile operations return [ErrClosed], nobody can connect, and no timer fires; what
// is kept can be looked at. A node that is down stays as it is. The error is ErrClosed after Close.
//
// Rules: R-1.
func (b *Broker) Stop(as NodeEnd) error {
	demand(as <= KilledNode, "Stop(%d): StoppedNode or KilledNode is wanted", as)
	all, err := b.setDown(true)
	if err != nil {
		return err
	}
	each(all, func(v *vhost) { v.goDown(as) })
	b.ResetAuthAttempts()
	return nil
}

// Start has the node come up after Stop. What was due meanwhile happens before Start returns. The error is [ErrClosed] after
// Close.
//
// Rules: R-8.
func (b *Broker) Start() error {
	all, err := b.setDown(false)
	if err != nil {
		return err
	}
	each(all, (*vhost).comeUp)
	return nil
}

// Serving reports whether the node is up: it has not been stopped, nor closed.
func (b *Broker) Serving() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.usable() == nil
}

// usable is the error of an operation on the broker itself. b.mu is held.
func (b *Broker) usable() error {
	if b.closed || b.down.Load() {
		return ErrClosed
	}
	return nil
}

// setDown says whether the node is to be down, and returns the virtual hosts, which follow one after the other. Several may
// do so at once: each virtual host follows what was said last.
func (b *Broker) setDown(down bool) ([]*vhost, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, ErrClosed
	}
	b.down.Store(down)
	return b.sortedVHosts(), nil
}

// Reset makes a node that is down a new one: every virtual host but "/", every user but guest, and everything that was in
// them or set, is gone. A node that is up is ErrPreconditionFailed; the error is [ErrClosed] after Close.
//
// Rules: R-14.
func (b *Broker) Reset() error {
	b.mu.Lock()
	switch {
	case b.closed:
		b.mu.Unlock()
		return ErrClosed
	case !b.down.Load():
		b.mu.Unlock()
		return &Error{Code: PreconditionFailed, Reason: "the node is running: Reset is for one that is stopped"}
	}
	first := b.vhosts[defaultVHost]
	if first == nil {
		first = b.vhost.handle
	}
	delete(b.vhosts, defaultVHost)
	others := b.sortedVHosts()
	b.leaving = append(b.leaving, others...)
	b.vhosts = map[string]*VHost{defaultVHost: first}
	if b.disk != nil {
		b.noteResetLocked(others)
	}
	b.global = nil
	b.access.reset()
	b.mu.Unlock()
	first.reset()
	each(others, func(v *vhost) {
		defer b.keepCounters(v)
		v.close(StoppedNode.reason(), CauseNodeDown)
	})
	return nil
}

// goDown has the virtual host follow its node.
func (v *vhost) goDown(as NodeEnd) {
	v.lock()
	defer v.unlock()
	if v.b.down.Load() && !v.closed {
		v.goDownLocked(as)
	}
}

// goDownLocked is one step: nobody gets in between, because the virtual host counts as closed.
func (v *vhost) goDownLocked(as NodeEnd) {
	v.closed, v.turns.lost = true, CauseNodeDown
	v.node.booting = nil
	v.timing.disarm()
	reason, conns := as.reason(), v.sortedConnsLocked()
	// Everybody takes nothing more before anybody gives back. // R-7
	for _, c := range conns {
		c.err = closedBy(reason)
		for _, ch := range c.sortedChannelsLocked() {
			ch.detachLocked(reason)
		}
	}
	v.system.detachSystemLocked(reason)
	channels := append(slices.Clone(v.ending), v.system)
	for _, ch := range channels {
		ch.endConsumersLocked(anyConsumer) // an operation may be ending them in turns
	}
	if as == StoppedNode {
		// Queues see their last consumers leave. // R-3
		for _, ch := range channels {
			for _, q := range ch.leaving {
				q.removeUnusedLocked()
			}
		}
		v.endOwnedLocked(conns, CauseOwnerGone)
	}
	over := map[*Queue][]entry{}
	for _, ch := range channels {
		ch.surrenderLocked(reason, over)
	}
	if as == StoppedNode {
		for _, q := range v.sortedQueuesLocked() {
			q.impl.stopping()
		}
	}
	for _, c := range conns {
		c.goneLocked(reason)
	}
	v.node.down = true // from here on nothing sees what ends
	v.endTransientLocked(conns)
	v.deadLetterAllLocked() // clears the tables of bindings that have ended
	for _, q := range v.sortedQueuesLocked() {
		kept := q.impl.content(as)
		kept.over = append(kept.over, over[q]...)
		q.impl.fill(kept)
	}
	if v.log != nil && as == KilledNode {
		v.log.killedNode()
	}
}

// detachSystemLocked ends what a program has without a connection: the channel itself stays.
func (ch *Channel) detachSystemLocked(reason *Error) {
	forgetPublisher(ch)
	ch.late, ch.lastQueue = nil, ""
	for _, c := range ch.sortedConsumersLocked() {
		c.leaveLocked(closedBy(reason))
		if c.q != nil {
			ch.leaving = append(ch.leaving, c.q)
		}
	}
}

// endOwnedLocked ends the exclusive queues of connections, and of the program.
// Rules.
func (v *vhost) endOwnedLocked(conns []*Conn, cause Cause) {
	for _, c := range append(slices.Clone(conns), v.system.conn) {
		for _, q := range slices.SortedFunc(maps.Keys(c.exclusives), byQueueName) {
			if !q.deleted {
				v.removeQueueLocked(q, cause)
			}
		}
	}
}

// surrenderLocked puts what an ended channel holds back into its queues, as its end does, but lets them do nothing about it
// yet. Those that have been delivered too often are added to over.
// Rules: D-5, R-7.
func (ch *Channel) surrenderLocked(reason *Error, over map[*Queue][]entry) {
	for _, tags := range ch.byQueueLocked() {
		of, some := ch.firstHolderLocked(tags)
		if !some {
			continue
		}
		var b giveBack
		for _, tag := range ch.byHolderLocked(tags, of.q) {
			if u, ok := ch.tags.Take(tag); ok && ch.releaseLocked(&u) {
				ch.settleOneLocked(&u, tag, ended, &b)
			}
		}
		b.putLocked(of.q, ended, nil)
		if len(b.over) > 0 {
			over[of.q] = slices.Concat(append([][]entry{over[of.q]}, b.over...)...)
		}
	}
	ch.leaving = nil
	if ch.err != nil && ch.endedLocked() {
		ch.v.channelEventLocked(ch, reason)
	}
}

// endTransientLocked ends what a restart does not keep.
// Rules: R-3.
func (v *vhost) endTransientLocked(conns []*Conn) {
	v.endOwnedLocked(conns, CauseNodeDown)
	for _, q := range v.sortedQueuesLocked() {
		if !q.lifetime.durable {
			v.removeQueueLocked(q, CauseNodeDown)
		}
	}
	if !v.rules.transientExchangesEnd {
		return
	}
	for _, x := range v.sortedExchangesLocked() {
		if !x.cfg.Durable && !x.deleted {
			v.removeExchangeLocked(x)
		}
	}
}

// comeUp has the virtual host follow its node.
func (v *vhost) comeUp() {
	v.lock()
	defer v.unlock()
	if v.b.down.Load() || !v.node.down {
		return
	}
	v.closed, v.node.down, v.turns.lost = false, false, ""
	v.node.booting = v.sortedQueuesLocked()
	for len(v.node.booting) > 0 { // the node may go down in between
		q := v.node.booting[0]
		v.node.booting = v.node.booting[1:]
		if !q.deleted { // while others got in
			q.impl.booted()
		}
		v.tookLocked(1)
		v.restLocked()
	}
	v.node.booting = nil
}

// reset empties the virtual host of a node that is down. It is as a new one afterwards.
// Rules: R-14.
func (v *vhost) reset() {
	v.lock()
	defer v.unlock()
	v.closed, v.node, v.turns.lost = true, nodeState{down: true}, CauseNodeDown
	v.loseAllLocked(CauseNodeDown)
	v.policies, v.settings = [2]policies{}, nil
	v.meta = v.b.newVHostInfo(v.name)
	v.openLogLocked()
	v.predeclareLocked()
	if v.system.err != nil { // the virtual host had been deleted
		v.openSystemLocked()
	}
}

// lostAtEndLocked drops messages that a restart does not keep.
// Rules: R-4.
func (q *Queue) lostAtEndLocked(lost []entry) {
	if q.v.log != nil {
		for _, e := range lost {
			q.v.log.leaves(e.seq)
		}
	}
	q.lostAllLocked(len(lost), CauseNodeDown, func() (entry, Reason) {
		e := lost[0]
		lost = lost[1:]
		return e, ""
	})
}
