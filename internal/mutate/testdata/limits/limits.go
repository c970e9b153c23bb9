// Package limits uses constants in several types, and has functions of several forms.
package limits

import "time"

const (
	most  = 3
	pause = 20
)

func full(n int, bytes int64) bool {
	return n >= most ||
		bytes > most
}

func wait() time.Duration { return (pause + 1 - 1) * time.Millisecond }

func double(most int) int { return most + most }

type list[N int | int64] struct{ first N }

func (l *list[N]) sum(_ string, all ...N) (total N) {
	for _, n := range all {
		total += n
	}
	return total + l.first
}
