// Package turns says how long an operation keeps others waiting.
package turns

import "sync/atomic"

var length atomic.Int64

func init() { SetLength(1000) }

// Length is how many steps, of about a microsecond each, an operation takes before it lets others in.
func Length() int { return int(length.Load()) }

// SetLength changes it. Tests make turns short, so that others get in everywhere.
func SetLength(n int) { length.Store(int64(n)) }
