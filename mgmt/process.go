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
	disk       int64 // bytes that are free where the program runs; 0 where the system does not tell
}

func (n *node) process() process {
	p := process{memory: int64(runtimeFigure("/memory/classes/total:bytes") - runtimeFigure("/memory/classes/heap/released:bytes")),
		goroutines: int64(runtime.NumGoroutine()), maxFDs: maxFiles(), disk: freeDisk()}
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		p.fds = int64(len(open))
	}
	return p
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
