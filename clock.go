package leveret

import (
	"container/heap"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// A Clock is where a broker takes all time from. Now is called with internal locks held: it
// must not block and must not call the broker. It shows times from 1970 to 2262.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f once, in whatever goroutine, when d has passed.
	AfterFunc(d time.Duration, f func()) Timer
}

// A Timer is a pending call of Clock.AfterFunc.
type Timer interface {
	// Stop prevents the call and reports whether it did.
	Stop() bool
}

// A settableClock is one whose Now can jump, because somebody sets it. Elapsed is how much time has passed: it grows at
// the pace of time, whatever the clock shows. Of other clocks, what Now shows is the time that passes.
type settableClock interface {
	Clock
	Elapsed() time.Duration
	// Read returns Now and Elapsed of one instant.
	Read() (now time.Time, elapsed time.Duration)
}

// realClock is the operating system's.
type realClock struct{}

var _ settableClock = realClock{}

// processStart is what elapsed times of the real clock count from.
var processStart = time.Now()

func (realClock) Now() time.Time                            { return time.Now() }
func (realClock) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }
func (realClock) Elapsed() time.Duration                    { return time.Since(processStart) } // by the monotonic clock

func (realClock) Read() (now time.Time, elapsed time.Duration) {
	now = time.Now()
	return now, now.Sub(processStart)
}

// A reading is how a virtual host reads the clock.
type reading struct {
	clock    Clock
	settable settableClock // nil: the clock cannot be set
	ahead    int64         // by how many ns the clock is ahead of the time that has passed; 0 if it cannot be set
	compared int64         // the time that had passed when ahead was found out
}

// comparedEvery is for how many ns of time that passes a clock is taken not to have been set. To compare at each reading
// takes BenchmarkHeaders/values=expiration 18 % longer.
const comparedEvery = 1e6

func newReading(clock Clock) reading {
	r := reading{clock: clock}
	if r.settable, _ = clock.(settableClock); r.settable != nil {
		r.compare()
	}
	return r
}

// now is what the clock shows, in ns since 1970.
func (r *reading) now() int64 {
	if r.settable == nil {
		return r.clock.Now().UnixNano()
	}
	elapsed := int64(r.settable.Elapsed())
	if elapsed-r.compared >= comparedEvery {
		elapsed = r.compare()
	}
	return elapsed + r.ahead
}

// compare finds out by how much the clock is ahead of the time that has passed, which it returns.
func (r *reading) compare() int64 {
	now, elapsed := r.settable.Read()
	r.ahead, r.compared = now.UnixNano()-int64(elapsed), int64(elapsed)
	return r.compared
}

// A ManualClock stands still until Advance moves it. Timers fire in the goroutine that calls
// Advance, one deadline after the other, those of one deadline in the order they were set; so
// with one driving goroutine a run is a pure function of its inputs.
type ManualClock struct {
	advancing sync.Mutex // held by Advance throughout, so that two callers cannot interleave

	// Now takes no lock: with one BenchmarkExpiry/impl=leveret/queues=1/dead-letter=false takes 8 % longer (GOGC=off). Now
	// adds nothing either: with start.Add(elapsed) each time the benchmark takes 3 % more instructions.
	shown atomic.Pointer[time.Time] // nil: NewManualClock has not made the clock
	start time.Time

	mu      sync.Mutex
	elapsed int64 // from start to shown, in ns
	seq     uint64
	timers  timerHeap
}

var _ Clock = (*ManualClock)(nil)

// NewManualClock returns a clock that shows start. It panics unless start is from 1970 to 2262, as time.Time{} is not.
func NewManualClock(start time.Time) *ManualClock {
	demandTime(start, "NewManualClock")
	c := &ManualClock{start: start.Round(0)} // without what the machine's own clock says of it
	c.showLocked(0)
	return c
}

// showLocked sets the clock to a time after start.
func (c *ManualClock) showLocked(elapsed int64) {
	t := c.start.Add(time.Duration(elapsed))
	c.elapsed = elapsed
	c.shown.Store(&t)
}

// Now returns the time the clock shows.
func (c *ManualClock) Now() time.Time {
	if t := c.shown.Load(); t != nil {
		return *t
	}
	return time.Time{}
}

// AfterFunc calls f from a later Advance that reaches d from now. A d of zero or less is due at once, but
// still waits for an Advance.
func (c *ManualClock) AfterFunc(d time.Duration, f func()) Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seq++
	t := &manualTimer{clock: c, at: c.elapsed + min(max(int64(d), 0), math.MaxInt64-c.elapsed), seq: c.seq, f: f}
	heap.Push(&c.timers, t)
	return t
}

// Advance moves the clock by d, a negative d counting as zero. When it returns, everything
// that was due has happened, including what became due on the way. It must not be called
// from a timer's function. It panics, and nothing happens, if the clock would show a time after 2262.
func (c *ManualClock) Advance(d time.Duration) {
	c.advancing.Lock()
	defer c.advancing.Unlock()
	c.fireUntil(c.Now().Add(max(d, 0)), "ManualClock.Advance")
}

// AdvanceTo is Advance up to a time. To a time that has passed it moves nothing, and fires what is due.
func (c *ManualClock) AdvanceTo(t time.Time) {
	c.advancing.Lock()
	defer c.advancing.Unlock()
	end := c.Now()
	if t.After(end) {
		end = t
	}
	c.fireUntil(end, "ManualClock.AdvanceTo")
}

// AdvanceUntilIdle moves the clock from one deadline of the broker to the next ([Broker.NextDeadline]) until there is
// none, and reports true; the clock then shows when the last thing happened. It moves the clock by at most d, a negative
// d counting as zero, and reports false if something is due later. Like Advance it must not be called from a timer's
// function, and panics if the clock would show a time after 2262. It also panics if the clock is not the broker's.
func (c *ManualClock) AdvanceUntilIdle(b *Broker, d time.Duration) (idle bool) {
	if b.clock != Clock(c) {
		panic("leveret: ManualClock.AdvanceUntilIdle: the broker has another clock")
	}
	end := c.Now().Add(max(d, 0))
	demandTime(end, "ManualClock.AdvanceUntilIdle")
	for at, ok := b.NextDeadline(); ok; at, ok = b.NextDeadline() {
		if at.After(end) {
			c.AdvanceTo(end)
			return false
		}
		c.AdvanceTo(at)
	}
	return true
}

// fireUntil moves the clock to end, for the operation named.
func (c *ManualClock) fireUntil(end time.Time, op string) {
	demandTime(end, op)
	until := int64(end.Sub(c.start))
	c.mu.Lock()
	for len(c.timers) > 0 && c.timers[0].at <= until {
		t := heap.Pop(&c.timers).(*manualTimer)
		c.showLocked(max(c.elapsed, t.at))
		c.mu.Unlock()
		t.f()
		c.mu.Lock()
	}
	c.showLocked(until)
	c.mu.Unlock()
}

type manualTimer struct {
	clock *ManualClock
	at    int64 // as the clock's elapsed
	seq   uint64
	index int // in the heap; -1 when fired or stopped
	f     func()
}

func (t *manualTimer) Stop() bool {
	t.clock.mu.Lock()
	defer t.clock.mu.Unlock()
	if t.index < 0 {
		return false
	}
	heap.Remove(&t.clock.timers, t.index)
	return true
}

type timerHeap []*manualTimer

func (h timerHeap) Len() int { return len(h) }
func (h timerHeap) Less(i, j int) bool {
	if h[i].at == h[j].at {
		return h[i].seq < h[j].seq
	}
	return h[i].at < h[j].at
}
func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *timerHeap) Push(x any) {
	t := x.(*manualTimer)
	t.index = len(*h)
	*h = append(*h, t)
}
func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	t.index = -1
	return t
}
