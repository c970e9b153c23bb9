package trace

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/journey"
)

// A Result is what became of the message.
type Result struct {
	Journey *journey.Journey `json:"journey"`
	// Later is true if something is still due when the plan's time is over.
	Later bool `json:"later"`
	// Failed says what consumers could not do, such as an acknowledgement after their timeout.
	Failed []string `json:"failed"`
}

// String is the journey, and under it how the copies ended.
func (r *Result) String() string {
	var out strings.Builder
	out.WriteString(r.Journey.String())
	for _, f := range r.Failed {
		fmt.Fprintf(&out, "(%s)\n", f)
	}
	mark := "="
	if ends := r.Journey.Ends(); !ends.Well() {
		mark = "✗"
	}
	fmt.Fprintf(&out, "%s %s\n", mark, r.Journey.Ends())
	if r.Later {
		out.WriteString("More is due when the time of the trace is over.\n")
	}
	return out.String()
}

// The times that a trace may take.
const (
	day    = 24 * time.Hour
	atMost = 100 * 365 * day
)

// Run publishes the plan's message in v, moves clock, which has to be the broker's, from one thing that is due to the
// next, and returns what became of the message: when no copy is left, when nothing is due, or when the plan's time is over.
// The queues should be empty, because consumers take whatever comes. The error is that of the publish, or of a
// consumer's queue.
func Run(v *leveret.VHost, clock *leveret.ManualClock, p Plan) (*Result, error) {
	t := &tracer{v: v, clock: clock, recorder: journey.Record(v.Broker(), journey.Config{})}
	defer t.close()
	for i, c := range p.Consumers {
		if err := t.consume(fmt.Sprintf("consumer %d", i+1), c); err != nil {
			return nil, err
		}
	}
	if _, err := v.Publish(p.Exchange, p.RoutingKey, p.Message); err != nil {
		return nil, err
	}
	later := t.untilIdle(min(cmp.Or(p.For, day), atMost))
	return &Result{Journey: t.journey(), Later: later, Failed: append([]string{}, t.failed...)}, nil
}

// A tracer is one trace.
type tracer struct {
	v         *leveret.VHost
	clock     *leveret.ManualClock
	recorder  *journey.Recorder
	consumers []*consumer
	pending   []pending // in the order in which they were begun
	failed    []string
}

// A pending act is one that a consumer works for.
type pending struct {
	at       time.Time
	consumer *consumer
	act      Act
	d        *leveret.Delivery
}

func (t *tracer) journey() *journey.Journey { return t.recorder.Journeys()[0] }

// untilIdle lets time pass, and reports whether something is due later.
func (t *tracer) untilIdle(d time.Duration) (later bool) {
	end := t.clock.Now().Add(d)
	for {
		t.v.Broker().Settle()
		if len(t.journey().In()) == 0 {
			return false
		}
		at, due := t.next()
		switch {
		case !due:
			return false
		case at.After(end):
			t.clock.AdvanceTo(end)
			return true
		}
		t.clock.AdvanceTo(at)
		t.actWhatIsDue()
	}
}

// next is when something is due: the broker's, or an act.
func (t *tracer) next() (at time.Time, due bool) {
	at, due = t.v.Broker().NextDeadline()
	for _, p := range t.pending {
		if !due || p.at.Before(at) {
			at, due = p.at, true
		}
	}
	return at, due
}

// actWhatIsDue does the acts that are due, in the order in which they were begun.
func (t *tracer) actWhatIsDue() {
	var rest, now []pending
	for _, p := range t.pending {
		if p.at.After(t.clock.Now()) {
			rest = append(rest, p)
		} else {
			now = append(now, p)
		}
	}
	t.pending = rest
	for _, p := range now {
		p.consumer.do(p.act, p.d)
	}
}

// user is whose connections the consumers have. A connection, which the operations of a program do without, has the
// consumer timeout of a client's.
const user = "leveret.trace"

// A consumer does what its script says.
type consumer struct {
	t    *tracer
	name string
	acts []Act // that are left
	conn *leveret.Conn
	c    *leveret.Consumer
	over bool // it has done its last act
}

func (t *tracer) consume(tag string, script Consumer) error {
	c := &consumer{t: t, name: tag + " of " + script.Queue, acts: script.Acts}
	t.consumers = append(t.consumers, c)
	ch, err := c.channel()
	if err != nil {
		return err
	}
	c.c, err = ch.Consume(script.Queue, leveret.ConsumeConfig{Tag: tag, Prefetch: 1, Handler: c.take})
	if err == nil && c.over { // it was delivered what had been there before
		c.leave()
	}
	return err
}

// channel opens a connection with a channel.
func (c *consumer) channel() (ch *leveret.Channel, err error) {
	b := c.t.v.Broker()
	if err := b.SetUser(user, leveret.PasswordHash{}); err != nil {
		return nil, err
	}
	if err := c.t.v.SetPermissions(user, leveret.Permissions{Read: ".*"}); err != nil {
		return nil, err
	}
	if c.conn, err = b.Open(leveret.ConnConfig{User: user, VHost: c.t.v.Name(), CancelNotify: true}); err != nil {
		return nil, err
	}
	return c.conn.Channel()
}

// close ends the recording, and then the consumers: the journey does not tell of what they give back.
func (t *tracer) close() {
	t.recorder.Stop()
	for _, c := range t.consumers {
		if c.conn != nil {
			_ = c.conn.Close()
		}
	}
	if t.consumers != nil {
		_ = t.v.Broker().DeleteUser(user)
	}
}

// take is the handler of deliveries.
func (c *consumer) take(d *leveret.Delivery) {
	if len(c.acts) == 0 { // it came between the last act and the end of the consumer
		_ = d.Nack(true)
		return
	}
	act := c.acts[0]
	c.acts = c.acts[1:]
	if act.After == 0 {
		c.do(act, d)
		return
	}
	c.t.pending = append(c.t.pending, pending{c.t.clock.Now().Add(act.After), c, act, d})
}

// do does an act. A consumer whose last act it is does not get again what it requeues.
func (c *consumer) do(act Act, d *leveret.Delivery) {
	last := len(c.acts) == 0
	if last && act.Do == Requeue {
		c.leave()
	}
	var err error
	switch act.Do {
	case Ack:
		err = d.Ack()
	case Reject:
		err = d.Reject(false)
	case Requeue:
		err = d.Nack(true)
	case Hold:
		return
	}
	if err != nil {
		c.t.failed = append(c.t.failed, fmt.Sprintf("%s could not %s: %v", c.name, act.Do, err))
	}
	if last {
		c.leave()
	}
}

func (c *consumer) leave() {
	c.over = true
	if c.c != nil {
		_ = c.c.Cancel() // it may have ended by itself
	}
}
