package page

import (
	"slices"
	"sync"
	"time"

	"github.com/leveretmq/leveret"
)

// The flow counts what goes along the arrows of the topology. No counter of the broker's tells that, so it watches the
// broker, but only while somebody looks at a picture, and for a minute after that.

const (
	flowOver  = 5           // seconds that a rate is the mean of
	flowAfter = time.Minute // how long the flow is counted after the last look
)

// An arrow is a way that messages take: from an exchange to a queue, or with dead letters from a queue to wherever its
// dead letters go.
type arrow struct {
	vhost, exchange, queue string
	dead                   bool
}

type flow struct {
	broker *leveret.Broker

	mu      sync.Mutex
	stop    func()      // nil: nothing is counted
	timer   *time.Timer // ends the counting
	started int64
	ways    map[arrow]*course
}

// A course has the counts of the last seconds.
type course struct {
	second [flowOver + 1]int64 // Unix time
	count  [flowOver + 1]uint64
}

func (c *course) add(second int64) {
	i := second % int64(len(c.second))
	if c.second[i] != second {
		c.second[i], c.count[i] = second, 0
	}
	c.count[i]++
}

// sum counts what has been since a second, without the one that is not over yet.
func (c *course) sum(since, now int64) (n uint64) {
	for i, second := range c.second {
		if since <= second && second < now {
			n += c.count[i]
		}
	}
	return n
}

// isOver reports whether nothing has been since a second.
func (c *course) isOver(since int64) bool { return slices.Max(c.second[:]) < since }

// look keeps the counting on and returns the rate of an arrow, by the second. Arrows along which nothing goes any more are
// forgotten: queues come and go while a picture is open.
func (f *flow) look(now time.Time) func(arrow) float64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stop == nil {
		f.ways, f.started = map[arrow]*course{}, now.Unix()
		f.stop = f.broker.Watch(leveret.Events{
			Enqueued:     func(e leveret.EnqueuedEvent) { f.count(arrow{e.VHost, e.Exchange, e.Queue, false}) },
			DeadLettered: func(e leveret.DeadLetteredEvent) { f.count(arrow{e.VHost, "", e.Queue, true}) },
		})
		f.timer = time.AfterFunc(flowAfter, f.end)
	}
	f.timer.Reset(flowAfter)
	second := now.Unix()
	since := max(second-flowOver, f.started)
	rates := map[arrow]float64{}
	for a, c := range f.ways {
		if c.isOver(since) {
			delete(f.ways, a)
			continue
		}
		rates[a] = float64(c.sum(since, second)) / float64(max(second-since, 1))
	}
	return func(a arrow) float64 { return rates[a] }
}

func (f *flow) count(a arrow) {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.ways[a]
	if c == nil {
		c = &course{}
		f.ways[a] = c
	}
	c.add(time.Now().Unix())
}

// end stops the counting. A timer that was set anew while it ran out comes here twice.
func (f *flow) end() {
	f.mu.Lock()
	stop := f.stop
	f.stop = nil
	f.mu.Unlock()
	if stop != nil {
		stop()
	}
}
