package amqpd

import (
	"errors"
	"slices"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/wire"
)

// A channel is a client's channel: the broker's side of it, and what the protocol adds.
type channel struct {
	number  uint16
	ch      *leveret.Channel
	closing bool // channel.close was sent; see closingChannelLocked
	gone    bool // its client has closed it before, and still sends it a content
	content assembly
	pending confirmRun
	unheard int // publishes that were accepted although it was told to stop, as it has not heard; see lateStops
	tx      struct {
		selected   bool
		routed     bool  // one of its publishes has reached a queue
		committing bool  // its commit waits for queues
		refused    error // what they will say to it
	}

	last lastProperties
}

// hasDeclared reports whether the client may leave the name of a queue to the channel.
func (ch *channel) hasDeclared() bool { return ch.ch != nil && ch.ch.DeclaredQueue() != "" }

// lastProperties are the properties of a channel's last message, if there is a point in remembering them.
type lastProperties struct {
	header []byte // as they came
	props  *leveret.Properties
	wire   string // see leveret.Message
}

// A confirmRun is a run of publishes that are to be confirmed alike. Queues have decided about each of them.
type confirmRun struct {
	last   uint64 // the last sequence number
	count  int
	reject bool
	stored bool // one of its messages is confirmed when the disk has it
}

// admitLocked takes a channel from the session. The session checks the limit of the connection too, but knows nothing of channels
// whose close the client has not answered yet, nor of those that it closed in front of frames that were read together. They count.
// Rules: C-16.
func (c *conn) admitLocked(number uint16) (*leveret.Channel, error) {
	if n := c.countChannelsLocked(); c.tune.channelMax >= 0 && n >= c.tune.channelMax {
		return nil, unattributed{&leveret.Error{Code: leveret.NotAllowed, Reason: wire.TooManyChannels(n, c.tune.channelMax)}}
	}
	ch, err := c.session.OpenChannel(number)
	if err != nil {
		return nil, withoutMethod(err)
	}
	return ch, nil
}

func (c *conn) countChannelsLocked() int {
	n := len(c.open.byNumber)
	for i, number := range c.batch.closed {
		if c.open.byNumber[number] == nil && !slices.Contains(c.batch.closed[:i], number) {
			n++
		}
	}
	return n
}

// admitFrameLocked returns the error of a frame on a channel that is not open, if there may not be one more. RabbitMQ makes a channel
// for each such frame before it asks what the frame is.
// Rules: C-16.
func (c *conn) admitFrameLocked(number uint16) error {
	if slices.Contains(c.batch.closed, number) {
		return nil
	}
	ch, err := c.admitLocked(number)
	if err == nil {
		ch.Close()
	}
	return err
}

// Rules: E-2, C-16.
func (c *conn) openChannelLocked(number uint16, a *args) error {
	lch, err := c.admitLocked(number)
	if err != nil {
		return err
	}
	a.short()
	if err := a.end(); err != nil {
		return err
	}
	ch := &channel{number: number, ch: lch}
	c.open.byNumber[number] = ch
	c.open.last = ch
	at := c.out.method(number, channelOpenOk)
	if c.protocol.extended {
		c.out.u32(0) // an empty long string
	}
	c.out.end(at)
	return nil
}

// Rules: C-15.
func secondOpenLocked(_ *conn, _ *channel, a *args) error {
	a.short()
	if err := a.end(); err != nil {
		return err
	}
	return errSecondOpen()
}

// errSecondOpen is the error of the session for a number in use. The session is not asked: it does not know a channel
// whose close the client has not answered yet.
func errSecondOpen() error {
	return &leveret.Error{Code: leveret.ChannelError, Reason: wire.SecondOpen}
}

func (c *conn) channelCloseLocked(ch *channel, a *args) error {
	a.u16()
	a.short()
	a.u32()
	if err := a.end(); err != nil {
		return err
	}
	c.endConfirmsLocked(ch)
	c.dropAnswersLocked(ch)
	c.sendNoticesLocked()
	c.flushConfirmsLocked()
	ch.ch.Close()
	c.sendNoticesLocked() // what others get of what the channel held
	c.forgetLocked(ch)
	c.batch.closed = append(c.batch.closed, ch.number)
	return c.answerLocked(ch, nil, false, channelCloseOk)
}

// channelFlowLocked answers channel.flow, by which clients once asked for a pause. RabbitMQ knows no pause.
// Rules: C-14, C-20.
func (c *conn) channelFlowLocked(ch *channel, a *args) error {
	active := a.bits().has(0)
	if err := a.end(); err != nil {
		return err
	}
	if !active {
		return errorf(leveret.NotImplemented, "active=false")
	}
	at := c.out.method(ch.number, channelFlowOk)
	c.out.bool(true)
	c.out.end(at)
	return nil
}

// accessRequestLocked answers the realm tickets of AMQP 0-8, which some clients still ask for.
func (c *conn) accessRequestLocked(ch *channel, a *args) error {
	a.short()
	a.bits()
	if err := a.end(); err != nil {
		return err
	}
	at := c.out.method(ch.number, accessRequestOk)
	c.out.u16(1)
	c.out.end(at)
	return nil
}

func (c *conn) confirmSelectLocked(ch *channel, a *args) error {
	noWait := a.bits().has(0)
	if err := a.end(); err != nil {
		return err
	}
	return c.answerLocked(ch, ch.ch.Confirm(), noWait, confirmSelectOk)
}

func (c *conn) txSelectLocked(ch *channel, a *args) error {
	if err := a.end(); err != nil {
		return err
	}
	err := ch.ch.Tx()
	ch.tx.selected = err == nil
	return c.answerLocked(ch, err, false, txSelectOk)
}

// txCommitLocked answers a commit. A commit with publishes waits for its queues, here until the frames that were read together
// are done.
// Rules: C-9, C-10.
func (c *conn) txCommitLocked(ch *channel, a *args) error {
	if err := a.end(); err != nil {
		return err
	}
	waits := ch.tx.routed
	ch.tx.routed = false
	returns, err := ch.ch.Commit()
	for _, r := range returns {
		c.out.returned(ch.number, r, c.tune.maxPayload())
	}
	if e := (*leveret.Error)(nil); !waits || errors.As(err, &e) && e.ClosesConnection() {
		return c.answerLocked(ch, err, false, txCommitOk)
	}
	ch.tx.committing, ch.tx.refused = true, err
	c.batch.commits = append(c.batch.commits, ch)
	return nil
}

// errCommitting is the error of a method that comes while the channel's commit waits for queues.
// Rules: C-10.
func errCommitting() error {
	return errorf(leveret.ChannelError, "unexpected command while processing 'tx.commit'")
}

// answerCommitsLocked answers the commits that wait. Queues deliver before they say that they have a message: what a commit has
// delivered to its own channel comes before the answer.
// Rules: C-10.
func (c *conn) answerCommitsLocked() {
	if len(c.batch.commits) == 0 {
		return
	}
	c.takeNoticesLocked()
	prompt := c.promptLocked()
	c.encodeSomeLocked(func(i int, ch *channel) bool {
		return ch != nil && ch.tx.committing && (i < prompt || ch.tx.refused != nil)
	})
	for _, ch := range c.batch.commits {
		ch.tx.committing = false
		if c.channelLocked(ch.number) == ch && !ch.closing && c.stage == running {
			_ = c.handledLocked(ch, c.answerLocked(ch, ch.tx.refused, false, txCommitOk), txCommit)
		}
	}
	clear(c.batch.commits)
	c.batch.commits = c.batch.commits[:0]
}

func (c *conn) txRollbackLocked(ch *channel, a *args) error {
	if err := a.end(); err != nil {
		return err
	}
	ch.tx.routed = false
	return c.answerLocked(ch, ch.ch.Rollback(), false, txRollbackOk)
}

// answerLocked sends the reply without arguments to a method that succeeded.
func (c *conn) answerLocked(ch *channel, err error, noWait bool, reply methodID) error {
	if err == nil && !noWait && c.stage == running {
		c.out.bare(ch.number, reply)
	}
	return err
}

// confirmLocked notes that a publish is to be confirmed. Confirms wait until the frames that were read
// together are done, so that one multiple answers them all. A publish that has reached no queue waits for nobody: it
// is confirmed at once and by itself.
// Rules: C-4.
func (c *conn) confirmLocked(ch *channel, out leveret.Outcome) {
	if out.Queues == 0 {
		c.ackLocked(ch, out.Sequence, false)
		return
	}
	run := &ch.pending
	if run.count > 0 && !run.joinedBy(out) {
		c.hearLocked() // before the confirm is sent
		c.endRunLocked(ch, c.waitsForLogLocked())
	}
	if run.count == 0 {
		c.batch.confirms = append(c.batch.confirms, ch)
	}
	run.count++
	run.last, run.reject = out.Sequence, out.Rejected
	run.stored = run.stored || out.Stored
}

// joinedBy reports whether one frame can confirm the run and a publish behind it. Between the publishes of a run there may be
// one that has reached no queue. Its ack was sent, and a nack must not cover it: some clients take the latest word.
func (run *confirmRun) joinedBy(out leveret.Outcome) bool {
	if run.reject {
		return out.Rejected && out.Sequence == run.last+1
	}
	return !out.Rejected
}

// endConfirmsLocked forgets the confirms of a channel that is being closed by a frame that was read together with the publishes:
// in RabbitMQ what the queues decide comes to the channel after that frame.
// Rules: C-5a.
func (c *conn) endConfirmsLocked(ch *channel) { ch.pending = confirmRun{} }

// sendConfirmsLocked sends the confirms that wait, each behind what the publishes have delivered to its own channel: RabbitMQ's
// queue tells that channel of both. What is for other channels is sent by these, mostly later. Only a confirm that waits for the
// disk comes behind all deliveries. Echoes have a longer way.
// Rules: C-5a.
func (c *conn) sendConfirmsLocked() {
	if len(c.batch.confirms) == 0 {
		return
	}
	c.takeNoticesLocked()
	prompt := c.promptLocked()
	if slices.ContainsFunc(c.batch.confirms, func(ch *channel) bool { return ch.pending.stored }) {
		c.encodeNoticesLocked(prompt)
	} else {
		c.encodeSomeLocked(func(i int, ch *channel) bool { return i < prompt && ch != nil && ch.pending.count > 0 })
	}
	c.flushConfirmsLocked()
}

// flushConfirmsLocked sends the confirms that wait, but for those of channels that have not heard yet that they have to stop.
func (c *conn) flushConfirmsLocked() {
	if len(c.batch.confirms) == 0 {
		return
	}
	wait := c.waitsForLogLocked()
	c.batch.confirms = slices.DeleteFunc(c.batch.confirms, func(ch *channel) bool {
		if ch.unheard > 0 {
			return false
		}
		c.endRunLocked(ch, wait)
		return true
	})
}

// endRunLocked sends a channel's run of confirms or, if they have to wait for the log, keeps them.
func (c *conn) endRunLocked(ch *channel, wait bool) {
	if wait {
		c.holdConfirmLocked(ch)
		return
	}
	if ch.pending.count > 0 {
		c.encodeConfirmLocked(ch, ch.pending)
		ch.pending = confirmRun{}
	}
}

// encodeConfirmLocked sends a run of confirms. Like RabbitMQ's, a lone ack is a single one, and a nack is always multiple.
// Rules: C-4.
func (c *conn) encodeConfirmLocked(ch *channel, run confirmRun) {
	if run.reject {
		at := c.out.method(ch.number, basicNack)
		c.out.u64(run.last)
		c.out.b = append(c.out.b, 3) // multiple, and the default of requeue, which means nothing here
		c.out.end(at)
	} else {
		c.ackLocked(ch, run.last, run.count > 1)
	}
}

// ackLocked confirms a publish, with multiple also those before it.
func (c *conn) ackLocked(ch *channel, sequence uint64, multiple bool) {
	at := c.out.method(ch.number, basicAck)
	c.out.u64(sequence)
	c.out.bool(multiple)
	c.out.end(at)
}
