package memory

import (
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAvailable(t *testing.T) {
	const machine = "MemTotal:       1000000 kB\nMemFree: 5 kB\n"
	for name, tc := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"no group":   {map[string]string{}, 1000000 << 10},
		"version 2":  {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "5000\n"}, 5000},
		"a parent":   {map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "4000\n"}, 4000},
		"container":  {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "3000\n"}, 3000},
		"unseen":     {map[string]string{"proc/self/cgroup": "0::/../x\n", "sys/fs/cgroup/memory.max": "3000\n"}, 3000},
		"version 1":  {map[string]string{"proc/self/cgroup": "5:cpu:/\n4:memory:/a\n0::/\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes": "2000\n"}, 2000},
		"unlimited":  {map[string]string{"proc/self/cgroup": "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 1000000 << 10},
		"not a list": {map[string]string{"proc/self/cgroup": "x\n\n::\n"}, 1000000 << 10},
	} {
		t.Run(name, func(t *testing.T) {
			root := fstest.MapFS{"proc/meminfo": {Data: []byte(machine)}}
			for path, data := range tc.files {
				root[path] = &fstest.MapFile{Data: []byte(data)}
			}
			got, err := available(root)
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
		})
	}
	_, err := available(fstest.MapFS{})
	assert.Error(t, err)
	_, err = available(fstest.MapFS{"proc/meminfo": {Data: []byte("MemFree: 1 kB\n")}})
	assert.Error(t, err)
}

func TestLimit(t *testing.T) {
	for _, tc := range []struct {
		w    Watermark
		want int64
	}{{Watermark{}, 0}, {Watermark{Given: "5kB", Bytes: 5000}, 5000}, {Relative(0), -1}} {
		limit, err := tc.w.Limit()
		require.NoError(t, err)
		assert.Equal(t, tc.want, limit)
	}
	assert.Equal(t, "0.6", Relative(0.6).Given)
}

// The alarm goes by what is really used, is cleared when there is room, and garbage is none of it.
func TestGuard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := leveret.New()
		defer b.Close()
		var live, garbage, collections atomic.Int64
		live.Store(100)
		g := NewGuard(b)
		g.inUse = func() int64 { return live.Load() + garbage.Load() }
		g.collect = func() { garbage.Store(0); collections.Add(1) }
		g.Limit(1000)
		b.SetMemoryLimit(1000)
		stop := make(chan struct{})
		go g.Run(stop)
		defer close(stop)
		wait := func(alarm bool) {
			t.Helper()
			time.Sleep(2 * time.Second)
			synctest.Wait()
			assert.Equal(t, alarm, b.Memory().Alarm)
		}
		garbage.Store(5000)
		wait(false)
		assert.EqualValues(t, 1, collections.Load(), "it went")
		wait(false)
		assert.EqualValues(t, 1, collections.Load(), "there is no need")
		live.Store(1001)
		wait(true)
		assert.EqualValues(t, 1001, b.Memory().Used)
		before := collections.Load()
		time.Sleep(time.Minute)
		assert.LessOrEqual(t, collections.Load()-before, int64(60), "once a second at most")
		live.Store(800)
		garbage.Store(300)
		wait(false)
	})
}
