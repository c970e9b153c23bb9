// Package limits uses constants in several types.
package limits

import "time"

const (
	most  = 3
	pause = 20
)

func full(n int, bytes int64) bool { return n >= most || bytes > most }

func wait() time.Duration { return (pause + 1 - 1) * time.Millisecond }

func double(most int) int { return most + most }
