package leveret

import "sync"

// An operationLock is a mutex for operations, most of which take less than a microsecond. A goroutine that finds it taken
// pauses and tries again some times, about as long as it takes to park a goroutine and to wake it, and only then waits as
// for any mutex. Without the pauses BenchmarkContention/cpus=2/impl=leveret takes 40 to 75 % longer: waiters try again so
// soon that the goroutine which has the lock waits for the lock's memory, and it has to wake one each time it lets go.
type operationLock struct{ sync.Mutex }

const (
	lockPauses = 4

	// lockPause is how many steps of an empty loop a pause has: some six microseconds. A pause is not a time, as that
	// stands still in a synctest bubble. One pause of 8,000 steps makes the benchmark 50 % slower.
	lockPause = 20_000
)

// Lock begins an operation.
func (l *operationLock) Lock() {
	if !l.TryLock() {
		l.lockAgain()
	}
}

func (l *operationLock) lockAgain() {
	for range lockPauses {
		for range lockPause {
		}
		if l.TryLock() { // unlike Lock it succeeds while others wait, who would take long to wake
			return
		}
	}
	l.Mutex.Lock()
}
