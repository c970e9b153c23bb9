// Package turns says how long an operation keeps others waiting.
package turns

import (
	"runtime"
	"sync/atomic"
)

var (
	length  atomic.Int64
	between atomic.Pointer[func()]
)

func init() { SetLength(1000) }

// Length is how many steps, of about a microsecond each, an operation takes before it lets others in.
func Length() int { return int(length.Load()) }

// SetLength changes it. Tests make turns short, so that others get in everywhere.
func SetLength(n int) { length.Store(int64(n)) }

// LetIn is what an operation does while others may get in.
func LetIn() {
	if f := between.Load(); f != nil {
		(*f)()
		return
	}
	runtime.Gosched()
}

// SetBetween has f be what gets in between two turns, so that a test knows what does; nil: whoever waits.
func SetBetween(f func()) {
	if f == nil {
		between.Store(nil)
		return
	}
	between.Store(&f)
}
