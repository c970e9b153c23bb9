package move

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/leveretmq/leveret/internal/address"
	amqp "github.com/rabbitmq/amqp091-go"
)

// A Job is what to move, and how.
type Job struct {
	From *Broker
	To   Destination

	Queues          Filter
	SkipDefinitions bool
	Copy            bool                        // the source keeps its messages
	Most            int                         // messages of a queue; 0: all
	Rate            float64                     // messages in a second; 0: no limit
	Window          int                         // messages on their way at most; 0: 200
	Follow          bool                        // go on with what comes until ctx ends
	Patience        time.Duration               // how long a broker may be away, or a queue give nothing; 0: 30 s
	Pass            func(Letter) (Letter, bool) // what is sent for a message, and whether; nil: all as they are
	Journal         *Journal                    // nil: one without a file
	Tell            func(Progress)              // is told each second how far it is; nil: nobody

	conn   *amqp.Connection // to From
	pace   *pace
	told   time.Time
	report *Report
}

// A Destination is where definitions and messages go to.
type Destination interface {
	define(document) error
	// open returns the outlet, a new one if the last has failed.
	open(window int) (outlet, error)
	losses() map[address.Loss]int
	Close() error
}

// A Filter chooses queues by patterns, in which * is any text and ? any character. An empty one chooses all.
type Filter struct{ Only, Except []string }

// Match reports whether a queue is chosen.
func (f Filter) Match(queue string) bool {
	like := func(pattern string) bool {
		quoted := strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(regexp.QuoteMeta(pattern))
		return regexp.MustCompile(`(?s)^` + quoted + `$`).MatchString(queue)
	}
	return (len(f.Only) == 0 || slices.ContainsFunc(f.Only, like)) && !slices.ContainsFunc(f.Except, like)
}

// Run does the job. What could not be moved is in the report. The error is of what ended the whole.
func (j *Job) Run(ctx context.Context) (*Report, error) {
	j.setDefaults()
	began := time.Now()
	defer j.hangUp()
	err := j.run(ctx)
	j.report.Seconds = time.Since(began).Seconds()
	if j.report.Moved, j.report.Again = j.Journal.Moved(); j.Copy {
		for _, q := range j.report.Queues {
			j.report.Moved += q.Moved
		}
	}
	j.report.Lost = j.To.losses()
	return j.report, err
}

func (j *Job) setDefaults() {
	if j.Window == 0 {
		j.Window = 200
	}
	if j.Patience == 0 {
		j.Patience = 30 * time.Second
	}
	if j.Journal == nil {
		j.Journal = NewJournal()
	}
	j.pace = newPace(j.Rate)
	j.report = &Report{Interrupted: j.Journal.Unsettled()}
}

func (j *Job) run(ctx context.Context) error {
	queues, leftOut, err := j.From.chosen(j.Queues)
	if err != nil {
		return err
	}
	j.report.LeftOut = leftOut
	if !j.SkipDefinitions {
		if err := j.define(); err != nil {
			return err
		}
	}
	for {
		for _, q := range queues {
			if err := j.move(ctx, q); err != nil || ctx.Err() != nil {
				return err
			}
		}
		if !j.Follow {
			return nil
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return nil
		}
		if listed, _, err := j.From.chosen(j.Queues); err == nil { // else the broker may come back
			queues = listed
		}
	}
}

// Rehearse says what Run would do, and changes nothing.
func (j *Job) Rehearse() (*Report, error) {
	j.setDefaults()
	defer j.hangUp()
	queues, leftOut, err := j.From.chosen(j.Queues)
	if err != nil {
		return nil, err
	}
	j.report.LeftOut = leftOut
	if !j.SkipDefinitions {
		d, err := j.From.definitions()
		if err != nil {
			return nil, err
		}
		j.leaveOut(d.narrow(j.Queues.Match))
		j.report.Definitions = d.counts()
	}
	if j.conn, err = j.From.connect(); err != nil {
		return nil, err
	}
	for _, q := range queues {
		in, ready, err := openQueue(j.conn, q)
		if err != nil {
			return nil, fmt.Errorf("queue %s: %w", q.Name, err)
		}
		j.report.queue(q.Name).Found = ready
		in.close()
	}
	return j.report, nil
}

// leaveOut adds to what the report says is left out.
func (j *Job) leaveOut(what []string) {
	for _, one := range what {
		if !slices.Contains(j.report.LeftOut, one) {
			j.report.LeftOut = append(j.report.LeftOut, one)
		}
	}
}

// chosen lists the queues that can be moved, and says of those that cannot why.
func (b *Broker) chosen(f Filter) (queues []queueInfo, leftOut []string, err error) {
	all, err := b.queues()
	for _, q := range all {
		switch {
		case !f.Match(q.Name):
		case q.Type == "stream":
			leftOut = append(leftOut, "queue "+q.Name+": a stream is not moved")
		case q.Exclusive:
			leftOut = append(leftOut, "queue "+q.Name+": it belongs to a connection, and goes with it")
		default:
			queues = append(queues, q)
		}
	}
	return queues, leftOut, err
}

// define takes over the definitions.
func (j *Job) define() error {
	d, err := j.From.definitions()
	if err != nil {
		return err
	}
	return j.takeOver(d)
}

// takeOver gives the destination what is to be moved of definitions.
func (j *Job) takeOver(d document) error {
	j.leaveOut(d.narrow(j.Queues.Match))
	j.report.Definitions = d.counts()
	if err := j.To.define(d); err != nil {
		return fmt.Errorf("the definitions were not taken over: %w", err)
	}
	return nil
}

// move moves the messages of a queue. When a connection is lost it connects again, as long as something comes of it.
func (j *Job) move(ctx context.Context, q queueInfo) error {
	r := j.report.queue(q.Name)
	for progress := time.Now(); ; {
		before := r.Moved
		err := j.attempt(ctx, q, r)
		switch {
		case err == nil:
			r.Problem = strings.Join(r.left, "; ")
			return nil
		case errors.Is(err, errLogin):
			return err
		case ofQueue(err):
			r.Problem = err.Error()
			return nil
		case ctx.Err() != nil:
			return nil
		}
		if r.Moved > before {
			progress = time.Now()
		}
		if time.Since(progress) > j.Patience {
			return err
		}
		j.report.Reconnects++
		j.hangUp()
		select {
		case <-time.After(j.Patience / 100):
		case <-ctx.Done():
		}
	}
}

// ofQueue reports whether an error is of one queue, so that others can be moved.
func ofQueue(err error) bool {
	var refused *amqp.Error
	if errors.As(err, &refused) {
		switch refused.Code {
		case amqp.AccessRefused, amqp.NotFound, amqp.ResourceLocked, amqp.PreconditionFailed:
			return true
		}
	}
	return errors.As(err, new(refusal)) || errors.Is(err, errHeld)
}

// attempt moves messages of a queue until it is empty or something fails.
func (j *Job) attempt(ctx context.Context, q queueInfo, r *QueueReport) (err error) {
	if j.conn == nil || j.conn.IsClosed() {
		if j.conn, err = j.From.connect(); err != nil {
			return err
		}
	}
	in, ready, err := openQueue(j.conn, q)
	if err != nil {
		return err
	}
	r.Found = max(r.Found, r.Moved+ready)
	if ready == 0 {
		return errors.Join(in.close(), j.Journal.drained(q.Name))
	}
	in.patience = j.Patience
	p := &pump{in: in, journal: j.Journal, window: j.Window, most: j.Most, copies: j.Copy, pass: j.Pass, pace: j.pace, sent: func(string) { j.count(r) }}
	if j.Pass != nil {
		p.leave = r.leave
	}
	if p.out, err = j.To.open(j.Window); err == nil {
		err = j.pump(ctx, p, in, ready)
	}
	if closed := in.close(); err == nil {
		err = closed
	}
	return err
}

// pump runs a pump. What stays at the source is held until the end, so that it does not come again: then the pump looks at no
// more messages than there are.
func (j *Job) pump(ctx context.Context, p *pump, in *consumption, ready int) error {
	window := j.Window
	if holds := j.Copy || j.Pass != nil; holds {
		if p.most == 0 || p.most > ready {
			p.most = ready
		}
		if window = p.most; window > largestWindow {
			window = 0
		}
	}
	if err := in.start(window); err != nil {
		return err
	}
	if err := p.run(ctx); err != nil || ctx.Err() != nil || p.most != 0 {
		return err
	}
	return j.Journal.drained(in.queue.Name)
}

// largestWindow is the largest prefetch count of AMQP.
const largestWindow = 1<<16 - 1

// count counts a message that was moved, and tells of it once a second.
func (j *Job) count(r *QueueReport) {
	r.Moved++
	if j.Tell != nil && time.Since(j.told) > time.Second {
		j.told = time.Now()
		j.Tell(Progress{Queue: r.Name, Moved: r.Moved, Found: max(r.Found, r.Moved)})
	}
}

func (j *Job) hangUp() {
	if j.conn != nil {
		j.conn.Close()
		j.conn = nil
	}
}
