package leveret

import "sync"

// An operationLock is a mutex for operations, most of which take less than a microsecond. A goroutine that finds it taken
// first pauses for about as long as it takes to park a goroutine and to wake it, and only then waits as for any mutex.
// With a sync.Mutex alone BenchmarkContention/cpus=2/impl=leveret takes 1.3 to 2 times as long: its waiters try again so soon, and
// so often, that the goroutine which could go on has to wait for the memory of the lock.
type operationLock struct{ sync.Mutex }

// lockPause is how many steps of an empty loop a goroutine pauses: three to four microseconds. It is not a time, as that
// stands still in a synctest bubble.
const lockPause = 8000

// Lock begins an operation.
func (l *operationLock) Lock() {
	if !l.TryLock() {
		l.lockAgain()
	}
}

func (l *operationLock) lockAgain() {
	for range lockPause {
	}
	if !l.TryLock() { // TryLock also succeeds while others wait, who would take long to wake
		l.Mutex.Lock()
	}
}
