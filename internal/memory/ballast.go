package memory

import (
	"math"
	"os"
	"runtime/debug"
)

// Large bodies fill a small heap many times a second. Each collection would then give memory back
// to the operating system that the next messages ask for again, and most of a message's cost would
// be page faults. So a broker keeps a ballast: memory that is never touched, and takes up address
// space only, but counts for the collector, which lets that much garbage gather before it starts.
// Unlike a higher GOGC it means less and less the more a broker really holds.

// ballastSize is how many bytes of garbage may gather at any time, whatever the broker holds.
const ballastSize = 128 << 20

var ballast []byte

// TakeBallast puts collections off. It leaves the collector alone if the user has set it up: GOGC or GOMEMLIMIT, which
// the ballast would count against.
func TakeBallast() {
	if os.Getenv("GOGC") == "" && debug.SetMemoryLimit(-1) == math.MaxInt64 {
		ballast = make([]byte, ballastSize)
	}
}
