package leveret_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/journal"
	"github.com/leveretmq/leveret/internal/journal/crashfs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// spaceBroker is a broker on a disk of which so much is free.
func spaceBroker(t *testing.T, fs *crashfs.FS, opts ...leveret.Option) *leveret.Broker {
	t.Helper()
	b, err := leveret.OpenFS(fs, journal.Options{}, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { b.Close() })
	return b
}

// remoteConn is a connection with an inbox, as a listener has for a client.
func remoteConn(t *testing.T, b *leveret.Broker) (*leveret.Conn, *leveret.Inbox) {
	in := leveret.NewInbox(leveret.InboxConfig{})
	c, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Inbox: in})
	require.NoError(t, err)
	return c, in
}

// Fewer octets are free than the limit: connections are blocked until there are enough again.
func TestDiskAlarm(t *testing.T) {
	fs := &crashfs.FS{}
	fs.SetFree(1 << 30)
	b := spaceBroker(t, fs)
	var events []any
	b.Watch(leveret.Events{
		DiskAlarmRaised:  func(e leveret.DiskEvent) { events = append(events, "raised", e.Free, e.Limit) },
		DiskAlarmCleared: func(e leveret.DiskEvent) { events = append(events, "cleared", e.Free) },
	})
	assert.Equal(t, leveret.DiskInfo{Free: 1 << 30, Limit: leveret.DefaultDiskFreeLimit}, b.DiskSpace())
	c, in := remoteConn(t, b)
	fs.SetFree(49_999_999)
	b.LookAtDisk()
	assert.Equal(t, leveret.DiskInfo{Free: 49_999_999, Limit: 50_000_000, Alarm: true}, b.DiskSpace())
	assert.Equal(t, leveret.DiskAlarm, b.Alarms())
	assert.Equal(t, leveret.DiskAlarm, c.BlockedBy())
	told := in.Take(nil)
	require.Len(t, told, 1)
	assert.Equal(t, leveret.ConnBlocked, told[0].Kind)
	assert.Equal(t, "low on disk", told[0].Reason)
	_, err := b.Publish("", "nowhere", leveret.Message{})
	require.NoError(t, err, "nothing is refused")

	late, lateIn := remoteConn(t, b)
	assert.True(t, late.Blocked())
	assert.Equal(t, "low on disk", lateIn.Take(nil)[0].Reason)

	fs.SetFree(50_000_000)
	b.LookAtDisk()
	assert.Zero(t, b.Alarms())
	assert.False(t, c.Blocked())
	assert.Equal(t, leveret.ConnUnblocked, in.Take(nil)[0].Kind)
	assert.Equal(t, []any{"raised", int64(49_999_999), int64(50_000_000), "cleared", int64(50_000_000)}, events)
}

// A limit is in force at once, and when the broker is opened.
func TestDiskFreeLimit(t *testing.T) {
	fs := &crashfs.FS{}
	fs.SetFree(1000)
	b := spaceBroker(t, fs, leveret.WithDiskFreeLimit(1001))
	assert.Equal(t, leveret.DiskAlarm, b.Alarms())
	b.SetDiskFreeLimit(0)
	assert.Zero(t, b.Alarms())
	b.SetDiskFreeLimit(2000)
	assert.Equal(t, leveret.DiskAlarm, b.Alarms())
	b.SetDiskFreeLimit(1000)
	assert.Zero(t, b.Alarms())
	assert.Panics(t, func() { b.SetDiskFreeLimit(-1) })
	assert.Panics(t, func() { leveret.New(leveret.WithDiskFreeLimit(-1)) })
}

// There is no alarm without a directory, nor where the system does not tell what is free.
func TestNoDiskToLookAt(t *testing.T) {
	for _, b := range []*leveret.Broker{leveret.New(), spaceBroker(t, &crashfs.FS{})} {
		defer b.Close()
		b.SetDiskFreeLimit(1 << 60)
		assert.Equal(t, leveret.DiskInfo{Free: -1, Limit: 1 << 60}, b.DiskSpace())
	}
}

// Of two alarms a connection is told once, and unblocked when both are over.
func TestTwoAlarms(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	c, in := remoteConn(t, b)
	b.SetAlarm(leveret.DiskAlarm, true)
	assert.Equal(t, "low on disk", in.Take(nil)[0].Reason)
	b.SetMemoryLimit(-1)
	assert.Equal(t, leveret.MemoryAlarm|leveret.DiskAlarm, c.BlockedBy())
	assert.Empty(t, in.Take(nil))
	_, both := remoteConn(t, b)
	assert.Equal(t, "low on memory & disk", both.Take(nil)[0].Reason)
	b.SetAlarm(leveret.DiskAlarm|leveret.MemoryAlarm, false)
	assert.True(t, c.Blocked(), "memory has a reason of its own")
	assert.Empty(t, in.Take(nil))
	b.SetMemoryLimit(0)
	assert.False(t, c.Blocked())
	assert.Equal(t, leveret.ConnUnblocked, in.Take(nil)[0].Kind)
}

// The disk is looked at once a second, and before that when much has been written.
func TestDiskIsLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := &crashfs.FS{}
		fs.SetFree(1 << 30)
		b := spaceBroker(t, fs)
		fs.SetFree(0)
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, leveret.DiskAlarm, b.Alarms())
		fs.SetFree(1 << 30)
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Zero(t, b.Alarms())

		_, err := b.DeclareQueue("q", leveret.QueueConfig{Durable: true})
		require.NoError(t, err)
		fs.SetFree(0)
		m := persistentMessage()
		m.Body = make([]byte, 1<<20)
		for n := range 9 {
			assert.Zero(t, b.Alarms(), "after %d messages", n)
			_, err = b.Publish("", "q", m)
			require.NoError(t, err)
			synctest.Wait()
			if n == 7 {
				assert.Equal(t, leveret.DiskAlarm, b.Alarms())
				break
			}
		}
		require.NoError(t, b.Close())
	})
}

// A hook that is told of the disk may close the broker.
func TestHooksOfTheDiskMayClose(t *testing.T) {
	for name, happens := range map[string]func(*crashfs.FS){
		"the disk is full": func(fs *crashfs.FS) { fs.SetFree(0) },
		"a write fails": func(fs *crashfs.FS) {
			fs.Fail = func(int, string, string) error { return errors.New("the disk is on fire") }
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fs := &crashfs.FS{}
				fs.SetFree(1 << 30)
				b := spaceBroker(t, fs)
				closed := 0
				b.Watch(leveret.Events{
					DiskAlarmRaised: func(leveret.DiskEvent) { b.Close(); closed++ },
					StoreFailed:     func(leveret.StoreEvent) { b.Close(); closed++ },
				})
				happens(fs)
				_, _ = b.DeclareQueue("q", leveret.QueueConfig{Durable: true})
				time.Sleep(time.Second)
				synctest.Wait()
				assert.Equal(t, 1, closed)
			})
		})
	}
}

// A failure of the disk is told once, also if the broker is closed at once, or if only its last write fails.
func TestFailureIsToldBeforeTheEnd(t *testing.T) {
	for _, publish := range []bool{true, false} {
		t.Run(fmt.Sprint("publish=", publish), func(t *testing.T) {
			for range 50 {
				var burns atomic.Bool
				fs := &crashfs.FS{Fail: func(int, string, string) error {
					if burns.Load() {
						return errors.New("the disk is on fire")
					}
					return nil
				}}
				told := 0
				b := spaceBroker(t, fs, leveret.WithEvents(leveret.Events{StoreFailed: func(leveret.StoreEvent) { told++ }}))
				_, err := b.DeclareQueue("q", leveret.QueueConfig{Durable: true})
				require.NoError(t, err)
				burns.Store(true)
				if publish {
					_, err = b.Publish("", "q", persistentMessage())
					require.ErrorContains(t, err, "on fire")
				}
				require.ErrorContains(t, b.Close(), "on fire")
				b.Settle()
				require.Equal(t, 1, told)
			}
		})
	}
}
