package leveret

import (
	"slices"

	"github.com/leveretmq/leveret/internal/schedule"
)

// A Consumer is a subscription to a queue. Its deliveries go to its Handler or wait in its
// inbox; the library starts no goroutine for it.
type Consumer struct {
	ch       *Channel
	q        *Queue // nil for direct reply-to
	tag      string
	cfg      ConsumeConfig
	args     Fields
	priority int64
	limit    int // prefetch; 0: none
	unacked  int
	waiting  bool // for a message: in its queue's list of those that can take one
	ended    bool
	err      error // why it has ended, nil before
	late     bool  // it did not settle in time: its quorum queue counts it until its channel ends
	inbox    *Inbox
	timeout  int64 // ms that a delivery may stay unacknowledged; -1: no limit
	timer    schedule.Timer[wakeable]
}

// unlimitedQuorumWindow is how many messages a consumer without prefetch may hold of a quorum queue.
const unlimitedQuorumWindow = 2000

func (c *Consumer) able() bool {
	if c.inbox != nil && c.inbox.full() {
		return false
	}
	if c.cfg.NoAck {
		return true
	}
	if ch := c.ch; ch.window > 0 && ch.held >= ch.window {
		return false
	}
	return !c.windowFull()
}

// windowFull reports whether c may hold no more than it does.
func (c *Consumer) windowFull() bool {
	switch {
	case c.cfg.NoAck:
		return false
	case c.q.quorum != nil:
		return c.unacked >= c.room()
	}
	return c.limit > 0 && c.unacked >= c.limit
}

// hand gives the client a delivery.
func (c *Consumer) hand(d *Delivery) {
	if h := c.cfg.Handler; h != nil {
		c.ch.v.after(func() { h(d.render()) })
		return
	}
	c.inbox.put(Notification{Kind: Delivered, Channel: c.ch, Delivery: d, ConsumerTag: c.tag})
}

// consumers are a queue's consumers and who is next. Those that can take a message stand in
// line by priority, within a priority by how long they have been waiting; who gets a message goes
// to the end of its priority's line, who cannot take another leaves it until it can.
type consumers struct {
	q         *Queue
	all       []*Consumer // in the order of subscription
	line      []*Consumer
	single    *Consumer // single active consumer: the one
	yielding  bool      // the single one gets nothing more; another takes over when it holds nothing
	exclusive *Consumer
}

func (cs *consumers) len() int {
	if cs == nil {
		return 0
	}
	return len(cs.all)
}

func (cs *consumers) list() []*Consumer {
	if cs == nil {
		return nil
	}
	return slices.Clone(cs.all)
}

// next returns the consumer that gets the next message, nil if none can take it.
func (cs *consumers) next() *Consumer {
	if cs.q.args.singleActive {
		if cs.single == nil || cs.yielding || !cs.single.canTake() {
			return nil
		}
		return cs.single
	}
	for len(cs.line) > 0 {
		c := cs.line[0]
		if c.canTake() {
			return c
		}
		cs.line = slices.Delete(cs.line, 0, 1)
		c.waiting = false
	}
	return nil
}

// canTake is able, and arranges to be called back when it is not for want of room.
func (c *Consumer) canTake() bool {
	if c.able() {
		return true
	}
	switch {
	case c.inbox != nil && c.inbox.full():
		c.inbox.stall(c)
	case c.ch.window > 0:
		c.ch.stalled = append(c.ch.stalled, c)
	}
	return false
}

// served moves the first in line, who got a message, to the end of its priority's line. Of a
// quorum queue it leaves the line if that message filled its window; a classic queue
// finds that out only when its turn comes again, so its place may outlast the full window.
func (cs *consumers) served(c *Consumer) {
	if cs.q.args.singleActive || len(cs.line) == 0 {
		return
	}
	if cs.q.quorum != nil && c.windowFull() {
		cs.line = slices.Delete(cs.line, 0, 1)
		c.waiting = false
		return
	}
	end := 1
	for end < len(cs.line) && cs.line[end].priority == c.priority {
		end++
	}
	copy(cs.line, cs.line[1:end])
	cs.line[end-1] = c
}

// enter puts a consumer in line.
func (cs *consumers) enter(c *Consumer) {
	c.waiting = true
	i := len(cs.line)
	for i > 0 && cs.line[i-1].priority < c.priority {
		i--
	}
	cs.line = slices.Insert(cs.line, i, c)
}

// resume lets a consumer that has room again take messages.
func (c *Consumer) resume() {
	q := c.q
	if q == nil || q.deleted {
		return
	}
	cs := q.consumers
	if cs.yielding && c == cs.single && c.unacked == 0 {
		cs.elect()
	}
	if c.ended || !c.able() {
		return
	}
	if !c.waiting && !q.args.singleActive {
		cs.enter(c)
	}
	if q.ready > 0 {
		q.pump()
		q.eased()
	}
}

// add takes in a new consumer and gives it what there is.
func (cs *consumers) add(c *Consumer) {
	cs.all = append(cs.all, c)
	if c.cfg.Exclusive && cs.q.quorum == nil {
		cs.exclusive = c
	}
	if !cs.q.args.singleActive {
		cs.enter(c)
		return
	}
	switch {
	case cs.single == nil:
		cs.elect()
	case cs.q.quorum != nil && !cs.q.v.rules.noPreemption && c.priority > cs.single.priority:
		if cs.single.unacked == 0 {
			cs.elect()
		} else {
			cs.yielding = true
		}
	}
}

// elect chooses the single active consumer: the highest priority, of a quorum queue's then the largest prefetch, then
// the oldest. To 3.10's quorum queues only age counts.
func (cs *consumers) elect() {
	cs.yielding = false
	cs.single = nil
	for _, c := range cs.all {
		if cs.single == nil || c.goesBefore(cs.single) {
			cs.single = c
		}
	}
}

// goesBefore reports whether c becomes the single active consumer rather than one that is older.
func (c *Consumer) goesBefore(older *Consumer) bool {
	quorum := c.q.quorum != nil
	switch {
	case quorum && c.q.v.rules.noPreemption:
		return false
	case c.priority != older.priority:
		return c.priority > older.priority
	}
	return quorum && c.room() > older.room()
}

// room is how many messages of a quorum queue the consumer may hold.
func (c *Consumer) room() int {
	if c.limit > 0 {
		return c.limit
	}
	return unlimitedQuorumWindow
}

func (cs *consumers) remove(c *Consumer) {
	cs.all = slices.DeleteFunc(cs.all, func(o *Consumer) bool { return o == c })
	cs.line = slices.DeleteFunc(cs.line, func(o *Consumer) bool { return o == c })
	c.waiting = false
	if cs.exclusive == c {
		cs.exclusive = nil
	}
	if cs.single == c {
		cs.elect()
	}
}

// consume makes a consumer and gives it what there is.
func (ch *Channel) consume(name string, cfg ConsumeConfig) (*Consumer, *Error) {
	if isReplyQueue(name) {
		return ch.consumeReplies(cfg)
	}
	if ch.consumers[cfg.Tag] != nil {
		return nil, errorf(NotAllowed, "", name, "attempt to reuse consumer tag '%s'", cfg.Tag)
	}
	q, err := ch.openQueue(name, read)
	if err != nil {
		return nil, err
	}
	fields, err := canonicalTable(cfg.Arguments)
	if err != nil {
		return nil, err
	}
	args, err := parseConsumerArgs(fields, q.kind, ch.v.rules, q.text())
	if err != nil {
		return nil, err
	}
	if err := ch.checkConsume(q, cfg); err != nil {
		return nil, err
	}
	c := &Consumer{ch: ch, q: q, tag: cfg.Tag, cfg: cfg, args: fields, priority: args.priority}
	if c.limit = cfg.Prefetch; c.limit == 0 {
		c.limit = ch.prefetch
	}
	c.timeout = q.ackTimeout(args.timeout)
	c.timer.Value = (*ackTimer)(c)
	ch.subscribe(c)
	if q.consumers == nil {
		q.consumers = &consumers{q: q}
	}
	q.consumers.add(c)
	ch.v.consumerEvent(c, true)
	q.pump()
	q.eased()
	return c, nil
}

func (ch *Channel) checkConsume(q *Queue, cfg ConsumeConfig) *Error {
	v := ch.v
	if ch.window > 0 && q.quorum != nil {
		return errorf(NotImplemented, "", q.name, "%s does not support global qos", q.text())
	}
	if q.quorum != nil {
		return nil
	}
	cs := q.consumers
	if cs.len() > 0 && (cs.exclusive != nil || cfg.Exclusive) || cfg.Exclusive && q.args.singleActive {
		return errorf(AccessRefused, "", q.name, "%s in exclusive use", v.queueText(q.name))
	}
	return nil
}

// subscribe enters c in its channel, with a tag and an inbox.
func (ch *Channel) subscribe(c *Consumer) {
	if c.tag == "" {
		c.tag = ch.v.b.random.name("amq.ctag-")
	}
	ch.consumers[c.tag] = c
	if c.cfg.Handler != nil {
		return
	}
	if c.inbox = ch.conn.cfg.Inbox; c.inbox == nil {
		c.inbox = NewInbox(InboxConfig{})
		c.inbox.v = ch.v
	}
}

// leave ends c because of why, without telling its client. The queue may go with its last consumer.
func (c *Consumer) leave(why error) {
	if c.ended {
		return
	}
	c.ended, c.err = true, why
	delete(c.ch.consumers, c.tag)
	if c.inbox != nil && !c.inbox.shared {
		c.inbox.end()
	}
	q := c.q
	if q == nil {
		c.ch.endReplies()
		return
	}
	if c.unacked == 0 {
		c.ch.v.timing.heap.Remove(&c.timer)
	}
	c.ch.v.consumerEvent(c, false)
	if q.deleted {
		return
	}
	q.consumers.remove(c)
	if q.quorum != nil && c.unacked > 0 && !c.late {
		q.quorum.lingering++
	}
	if q.consumers.len() == 0 {
		q.touch()
	}
}

// cancelled is left for a consumer that its client has cancelled.
func (q *Queue) cancelled() {
	if q.v.rules.idleCancel && q.quorum == nil && q.consumers.len() > 0 {
		return
	}
	q.left()
}

// left deals with what a queue does when consumers have left it.
func (q *Queue) left() {
	if q.removeUnused() {
		return
	}
	q.pump()
	q.eased()
}

// removeUnused deletes an auto-delete queue that its last consumer has left, and reports whether the queue is gone.
func (q *Queue) removeUnused() bool {
	if !q.deleted && q.cfg.AutoDelete && q.consumers.len() == 0 {
		q.v.removeQueue(q, CauseQueueDeleted)
	}
	return q.deleted
}

// endedByServer ends c because its queue is gone or its time is up, and tells the client if it wants to know.
func (c *Consumer) endedByServer() {
	if c.ended { // its client cancelled it and knows
		return
	}
	why := ErrQueueDeleted
	if c.late {
		why = ErrAckTimeout
	}
	c.leave(&closedError{why})
	if c.inbox != nil && c.inbox.shared && c.ch.conn.cfg.CancelNotify {
		c.inbox.put(Notification{Kind: ConsumerCancelled, Channel: c.ch, ConsumerTag: c.tag})
	}
}
