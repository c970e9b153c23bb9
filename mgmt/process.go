package mgmt

import (
	"os"
	"runtime"
	"runtime/metrics"
)

// A process is what the program that the broker is in takes of the machine.
type process struct {
	memory     int64 // bytes that the Go runtime has from the system
	fds        int64 // open files; 0 where the system does not tell
	maxFDs     int64 // how many may be open; 0 where the system does not tell
	goroutines int64
	disk       int64 // bytes that are free where the broker has its directory, or where the program runs; 0 where the system does not tell
}

func (n *node) process() process {
	return process{memory: heldMemory(), goroutines: int64(runtime.NumGoroutine()), fds: openFiles(), maxFDs: maxFiles(), disk: n.freeSpace()}
}

// heldMemory returns how many bytes the Go runtime has from the system.
func heldMemory() int64 {
	return int64(runtimeFigure("/memory/classes/total:bytes") - runtimeFigure("/memory/classes/heap/released:bytes"))
}

// openFiles returns how many files are open; 0 where the system does not tell.
func openFiles() int64 {
	open, _ := os.ReadDir("/proc/self/fd")
	return int64(len(open))
}

func runtimeFigure(name string) uint64 {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return s[0].Value.Uint64()
}

func (f *figures) addProcess(p process) {
	f[memUsed], f[fdUsed], f[procUsed], f[diskFree] = p.memory, p.fds, p.goroutines, p.disk
}

// freeSpace is what a broker with a directory has left, or else the program.
func (n *node) freeSpace() int64 {
	if free := n.broker.DiskSpace().Free; free >= 0 {
		return free
	}
	return freeDisk()
}

// diskLimit is the limit of the disk alarm, 0 if there is no disk to look at.
func (n *node) diskLimit() int64 {
	if s := n.broker.DiskSpace(); s.Free >= 0 {
		return s.Limit
	}
	return 0
}
