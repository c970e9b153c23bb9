package memory

import (
	"runtime"
	"strconv"
	"sync"
	"time"

	"github.com/leveretmq/leveret"
)

// A Watermark is a limit of the memory of the process. The zero Watermark is none.
type Watermark struct {
	Given    string  // the setting as the user wrote it; empty: none
	Fraction float64 // of what is available, unless Bytes is given
	Bytes    int64
}

// Relative returns the watermark of a fraction of what is available.
func Relative(fraction float64) Watermark {
	return Watermark{Given: strconv.FormatFloat(fraction, 'f', -1, 64), Fraction: fraction}
}

// Limit is the watermark in bytes as Broker.SetMemoryLimit wants it: 0 means none, and a negative limit is always
// exceeded. The error says that the system does not tell what is available.
func (w Watermark) Limit() (int64, error) {
	limit := w.Bytes
	if w.Given == "" {
		return 0, nil
	}
	if limit == 0 {
		available, err := Available()
		if err != nil {
			return 0, err
		}
		limit = int64(w.Fraction * float64(available))
	}
	if limit == 0 {
		limit = -1
	}
	return limit, nil
}

// A Guard tells a broker how much memory the process uses.
//
// What is used includes garbage, which may be as much as all else. So before the guard tells of more than nine tenths
// of the limit, it has the garbage collected, as long as that takes no more than a tenth of the time.
type Guard struct {
	broker  *leveret.Broker
	inUse   func() int64
	collect func()

	mu    sync.Mutex
	limit int64
	next  time.Time // when garbage may be collected again
}

// NewGuard returns a guard of the process's memory for a broker.
func NewGuard(b *leveret.Broker) *Guard { return &Guard{broker: b, inUse: InUse, collect: runtime.GC} }

// lookEvery is how often a guard looks.
const lookEvery = 250 * time.Millisecond

// Run looks a few times a second until stop is closed.
func (g *Guard) Run(stop <-chan struct{}) {
	t := time.NewTicker(lookEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			g.Look()
		case <-stop:
			return
		}
	}
}

// Limit tells the guard of a limit in bytes that the broker is about to get. The broker knows by then what is used.
func (g *Guard) Limit(bytes int64) {
	g.mu.Lock()
	g.limit, g.next = bytes, time.Time{}
	g.mu.Unlock()
	g.Look()
}

// Look tells the broker how much memory is used now.
func (g *Guard) Look() {
	g.mu.Lock()
	defer g.mu.Unlock()
	used := g.inUse()
	if g.limit > 0 && used > g.limit-g.limit/10 && g.collectGarbage() {
		used = g.inUse()
	}
	g.broker.ReportMemory(max(used, 1))
}

// collectGarbage collects the garbage, unless that was done a moment ago.
func (g *Guard) collectGarbage() bool {
	began := time.Now()
	if began.Before(g.next) {
		return false
	}
	g.collect()
	g.next = time.Now().Add(max(time.Second, 10*time.Since(began)))
	return true
}
