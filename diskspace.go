package leveret

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// The disk alarm. A broker with a directory looks once a second, and after every 8 MiB that it writes, how much of the disk is free. The
// broker does not wait for a write to fail: then the log would take no more for good.

// DefaultDiskFreeLimit is how many octets have to be free, unless [WithDiskFreeLimit] says otherwise: 50 MB, as with RabbitMQ.
const DefaultDiskFreeLimit = 50_000_000

const (
	// lookEvery is how often the disk is looked at: others may write there, too.
	lookEvery = time.Second

	// lookAfter is after how many octets of records the disk is looked at. A log takes a segment of 16 MiB at a time.
	lookAfter = 8 << 20
)

// diskSpace is the disk alarm.
type diskSpace struct {
	mu    sync.Mutex   // one look at a time: an older one must not have the last word
	limit atomic.Int64 // octets; 0: none
	free  atomic.Int64 // octets when the disk was looked at last; negative: not known
	alarm atomic.Bool

	written atomic.Int64  // octets since the disk was looked at last
	grown   chan struct{} // wakes the watch
	unwatch func()        // ends the watch, and does not wait for that: a hook that tells of the alarm may close the broker
}

func (s *diskSpace) init() {
	s.limit.Store(DefaultDiskFreeLimit)
	s.free.Store(-1)
	s.unwatch = func() {}
}

// DiskInfo is the state of the disk alarm.
type DiskInfo struct {
	Free  int64 `json:"free"`  // octets that this process can still write to the disk of the directory; negative: not known, or there is no directory
	Limit int64 `json:"limit"` // octets; 0: none
	Alarm bool  `json:"alarm"` // in force, whoever has raised it
}

// DiskSpace returns the state of the disk alarm. What is free is as it was when the broker looked last, at most a second ago.
func (b *Broker) DiskSpace() DiskInfo {
	s := &b.space
	return DiskInfo{s.free.Load(), s.limit.Load(), b.Alarms()&DiskAlarm != 0}
}

// WithDiskFreeLimit sets the limit of the disk alarm, as [Broker.SetDiskFreeLimit] does.
func WithDiskFreeLimit(bytes int64) Option {
	return func(b *Broker) {
		demand(bytes >= 0, "WithDiskFreeLimit(%d): a limit of 0 or more is wanted", bytes)
		b.space.limit.Store(bytes)
	}
}

// SetDiskFreeLimit sets how many octets of the disk have to be free where a broker has its directory. While fewer are, the disk alarm
// is in force: clients of package amqpd that publish are held up, as by the memory alarm. Consumers go on, and what they
// acknowledge makes room. With 0 there is no limit; a negative one is an error of the caller. A broker without a directory has no
// disk to look at. The alarm is as the new limit says when SetDiskFreeLimit returns.
func (b *Broker) SetDiskFreeLimit(bytes int64) {
	demand(bytes >= 0, "SetDiskFreeLimit(%d): a limit of 0 or more is wanted", bytes)
	b.space.limit.Store(bytes)
	if b.disk != nil {
		b.disk.look()
	}
}

// look updates the alarm. No lock may be held.
func (d *disk) look() {
	if d.b.space.update(d) {
		d.b.tellAlarms()
	}
}

// update reports whether the alarm has changed.
func (s *diskSpace) update(d *disk) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written.Store(0)
	free, err := d.log.Free()
	if err != nil {
		return false // the system does not tell, or not now
	}
	s.free.Store(int64(min(free, math.MaxInt64)))
	on := s.free.Load() < s.limit.Load()
	return s.alarm.Swap(on) != on
}

// watch looks at the disk now, and then until unwatch.
func (d *disk) watch() {
	s := &d.b.space
	s.grown = make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(context.Background())
	s.unwatch = cancel
	d.look()
	go d.lookAgain(ctx)
}

func (d *disk) lookAgain(ctx context.Context) {
	s := &d.b.space
	every := time.NewTicker(lookEvery)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-s.grown:
		case <-ctx.Done():
			return
		}
		d.look()
	}
}

// wrote counts octets of a record.
func (s *diskSpace) wrote(octets int) {
	if s.written.Add(int64(octets)) < lookAfter {
		return
	}
	select {
	case s.grown <- struct{}{}:
	default: // it is awake
	}
}
