// Package memory bounds the memory of the process: how much there is, how much is used, and a guard that tells a
// broker.
package memory

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"path"
	"runtime/metrics"
	"strconv"
	"strings"
)

// InUse is how many bytes of memory the process uses: what it has from the system, without what the collector has freed
// and without the ballast.
func InUse() int64 {
	samples := []metrics.Sample{
		{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(samples)
	total, released, free := samples[0].Value.Uint64(), samples[1].Value.Uint64(), samples[2].Value.Uint64()
	return int64(total-released-free) - int64(len(ballast))
}

// Available is how many bytes of memory the process may use: those of the machine or, if that is less, of its control
// groups or its address space. The error says that the system does not tell.
func Available() (int64, error) {
	n, err := available(os.DirFS("/"))
	return addressSpace(n), err
}

func available(root fs.FS) (int64, error) {
	total, err := machine(root)
	if err != nil {
		return 0, err
	}
	return min(total, controlGroups(root, total)), nil
}

// machine returns the computer's memory in bytes.
func machine(root fs.FS) (int64, error) {
	f, err := root.Open("proc/meminfo")
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "MemTotal:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kib << 10, err
		}
	}
	return 0, errors.New("no MemTotal")
}

// controlGroups returns the lowest limit of the process's control groups and those that these are in, most if there is
// none. Version 1 has a hierarchy for memory alone, version 2 one for everything. In a container the process may see a
// part of the tree only.
func controlGroups(root fs.FS, most int64) int64 {
	list, _ := fs.ReadFile(root, "proc/self/cgroup")
	for line := range strings.Lines(string(list)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		switch {
		case fields[1] == "memory":
			most = lowestLimit(root, "sys/fs/cgroup/memory", fields[2], "memory.limit_in_bytes", most)
		case fields[0] == "0":
			most = lowestLimit(root, "sys/fs/cgroup", fields[2], "memory.max", most)
		}
	}
	return most
}

// lowestLimit returns the lowest number in the files of that name, from the group up to the top of the hierarchy, or
// most.
func lowestLimit(root fs.FS, hierarchy, group, file string, most int64) int64 {
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		data, _ := fs.ReadFile(root, path.Join(hierarchy, group, file))
		if n, err := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64); err == nil && n > 0 { // not "max"
			most = min(most, n)
		}
		if group == "/" {
			return most
		}
	}
}
