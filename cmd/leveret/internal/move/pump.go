package move

import (
	"cmp"
	"context"
	"errors"
	"io"
	"time"
)

// A pump carries messages from an inlet to an outlet. One goroutine sends, and one waits for confirms and settles, in the order of
// the messages.
type pump struct {
	in      inlet
	out     outlet
	journal *Journal
	window  int                         // messages on their way at most
	most    int                         // messages that are looked at; 0: all
	copies  bool                        // the source keeps its messages
	pass    func(Letter) (Letter, bool) // what is sent for a message, and whether; nil: all as they are
	pace    *pace
	sent    func(queue string)  // is told of each message that was moved
	leave   func(problem error) // is told of a message that no queue can take; nil: that ends the move
	ordered bool                // a message counts as moved only if all before it do
	room    chan struct{}       // has one for each message on its way
}

// A flight is a message that was sent.
type flight struct {
	queue     string
	tag       uint64
	slot      int
	confirmed func() error
}

// settleAtOnce is how many messages are settled together at most.
const settleAtOnce = 100

// run returns when the source has nothing left, or ctx ends, and all that was sent is settled.
func (p *pump) run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	p.room = make(chan struct{}, p.window)
	flights := make(chan flight, p.window)
	settled := make(chan error, 1)
	go func() {
		settled <- p.settle(flights, stop)
	}()
	err := p.send(ctx, flights)
	close(flights)
	if failed := <-settled; failed != nil {
		return failed
	}
	return err
}

// send takes messages and sends them until there is none, or ctx ends.
func (p *pump) send(ctx context.Context, flights chan<- flight) error {
	for n := 0; p.most == 0 || n < p.most; n++ {
		got, err := p.in.next(ctx)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case !p.pace.wait(ctx):
			return nil
		}
		if p.pass != nil {
			var passes bool
			if got.Letter, passes = p.pass(got.Letter); !passes {
				continue
			}
		}
		select {
		case p.room <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		if err := p.launch(got, flights); err != nil {
			return err
		}
	}
	return nil
}

// launch sends one message. The journal knows of the message before the target does.
func (p *pump) launch(got parcel, flights chan<- flight) error {
	f := flight{queue: got.Queue, tag: got.tag, slot: -1}
	var err error
	if !p.copies {
		if f.slot, err = p.journal.take(got); err != nil {
			return err
		}
	}
	if f.confirmed, err = p.out.send(got.Letter); err != nil {
		lost := p.lose(f, err)
		if p.leave != nil && lost == nil && errors.As(err, new(refusal)) {
			p.leave(err)
			return nil
		}
		return errors.Join(err, lost)
	}
	flights <- f
	return nil
}

// settle waits for confirms and settles what they are for. After an error no more is sent, and what was sent before is settled all the
// same.
func (p *pump) settle(flights <-chan flight, stop func()) (failed error) {
	fail := func(err error) {
		failed = cmp.Or(failed, err)
		stop()
	}
	var batch []flight
	for f := range flights {
		switch err := f.confirmed(); {
		case err == nil && p.ordered && failed != nil:
			fail(p.lose(f, nil))
		case err == nil:
			batch = append(batch, f)
		default:
			fail(errors.Join(err, p.lose(f, err)))
		}
		if len(batch) == settleAtOnce || len(flights) == 0 {
			if err := p.drop(batch); err != nil {
				fail(err)
			}
			batch = batch[:0]
		}
	}
	return failed
}

// lose ends the way of a message that does not count as moved. One that was refused is not at the target.
func (p *pump) lose(f flight, err error) error {
	<-p.room
	if p.copies {
		return nil
	}
	if errors.As(err, new(refusal)) {
		return p.journal.refused(f.slot)
	}
	p.journal.lose([]int{f.slot})
	return nil
}

// drop settles what the target has confirmed.
func (p *pump) drop(batch []flight) error {
	if len(batch) == 0 {
		return nil
	}
	defer func() {
		for range batch {
			<-p.room
		}
	}()
	if p.copies {
		p.tell(batch)
		return nil
	}
	tags, slots := make([]uint64, len(batch)), make([]int, len(batch))
	for i, f := range batch {
		tags[i], slots[i] = f.tag, f.slot
	}
	if err := p.in.settle(tags); err != nil {
		p.journal.lose(slots)
		return err
	}
	p.tell(batch)
	return p.journal.settled(slots)
}

func (p *pump) tell(batch []flight) {
	for _, f := range batch {
		p.sent(f.queue)
	}
}

// A pace is a limit of messages in a second.
type pace struct {
	every time.Duration // 0: no limit
	next  time.Time
}

func newPace(perSecond float64) *pace {
	if perSecond <= 0 {
		return &pace{}
	}
	return &pace{every: time.Duration(float64(time.Second) / perSecond)}
}

// wait returns when the next message may be sent, and whether ctx has not ended.
func (p *pace) wait(ctx context.Context) bool {
	if p.every == 0 {
		return ctx.Err() == nil
	}
	now := time.Now()
	if p.next.Before(now) {
		p.next = now
	}
	at := time.NewTimer(p.next.Sub(now))
	defer at.Stop()
	p.next = p.next.Add(p.every)
	select {
	case <-at.C:
		return true
	case <-ctx.Done():
		return false
	}
}
