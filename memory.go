package leveret

import (
	"sync"
	"sync/atomic"
	"time"
)

// memory is the memory alarm: it is in force while more memory is used than the limit (alarm.go).
//
// To tell all connections costs much, so the alarm has a hysteresis, and it is never on for less than alarmTime.
type memory struct {
	limit   atomic.Int64 // bytes; 0: none
	bodies  atomic.Int64 // bytes that virtual hosts have reported
	process atomic.Int64 // bytes that the program has reported; 0: the bodies count
	alarm   atomic.Bool

	mu       sync.Mutex // a leaf; guards what follows
	raised   time.Time
	clearing Timer // runs while the alarm may be cleared, but not yet
}

const (
	// alarmTime is how long the alarm stays on at least.
	alarmTime = 250 * time.Millisecond

	// alarmMargin is the part of the limit that has to be free for the alarm to be cleared: a tenth.
	alarmMargin = 10
)

// MemoryInfo is the state of the memory alarm. A body in several queues counts in each.
type MemoryInfo struct {
	Used   int64 `json:"used"`   // bytes that count for the limit: what ReportMemory was told last, or else Bodies
	Bodies int64 `json:"bodies"` // bytes of message bodies
	Limit  int64 `json:"limit"`  // bytes; 0: none
	Alarm  bool  `json:"alarm"`  // in force, whoever has raised it

	// Untold is how many calls of event hooks and handlers wait for those of earlier operations to return. Each takes some
	// 300 bytes, and keeps the body of its message; nothing bounds them. A number that grows says that a hook is too slow,
	// or does not return.
	Untold int `json:"untold"`
}

// Memory returns the state of the memory alarm.
func (b *Broker) Memory() MemoryInfo {
	b.collectGrowth()
	m := &b.memory
	untold := 0
	b.eachVHost(func(v *vhost) {
		v.mu.Lock()
		defer v.mu.Unlock()
		untold += len(v.effects.pending)
	})
	return MemoryInfo{Untold: untold, Used: m.used(), Bodies: m.bodies.Load(),
		Limit: m.limit.Load(), Alarm: b.Alarms()&MemoryAlarm != 0}
}

// SetMemoryLimit sets how many bytes of message bodies the broker may hold before it raises the memory alarm; 0 removes
// the limit. A negative limit raises the alarm until another limit is set, because an empty broker exceeds it, too.
// Bodies in queues and of deliveries that are not settled count. Those of publishes that are not committed, of direct
// replies that wait to be received and of events that wait to be told do not, nor do properties and the room that
// messages take: for a limit of all memory that the process uses see [Broker.ReportMemory].
//
// What the alarm does depends on who publishes. Clients of package amqpd are held up: when one sends a message during
// the alarm, the body is not read before the alarm is cleared, and nothing that the client sends after it. The alarm is
// in force for them when SetMemoryLimit returns. Publishers of the Go API are never held up and never refused: a
// session can ask [Conn.Blocked], and should. To bound what they may put into a queue give the queue
// x-max-length-bytes, with x-overflow reject-publish if they are to be told: see [ErrRejected].
//
// The alarm is raised by the operation that exceeds the limit. It is cleared when a tenth of the limit is free again,
// and not before it has been on for a quarter of a second of the broker's clock. SetMemoryLimit itself raises and
// clears it at once.
func (b *Broker) SetMemoryLimit(bytes int64) {
	m := &b.memory
	m.limit.Store(bytes)
	b.collectGrowth()
	for settled := false; !settled; {
		on := m.exceeded(m.limit.Load())
		b.setAlarm(on)
		settled = m.exceeded(m.limit.Load()) == on // otherwise another call has set another limit meanwhile
	}
}

// ReportMemory tells the broker how many bytes of memory the process uses, which may be more than 0. From then on the
// limit that SetMemoryLimit sets is for what was reported last, instead of for message bodies: so the alarm knows of
// everything, and a program that reports a few times a second bounds it. With 0 the bodies count again. `leveret serve`
// does this.
func (b *Broker) ReportMemory(bytes int64) {
	b.memory.process.Store(max(bytes, 0))
	b.updateAlarm()
}

// collectGrowth brings memory.bodies up to date. Without a limit virtual hosts do not report what they have grown by,
// so that they do not all write to the same figure.
func (b *Broker) collectGrowth() {
	b.eachVHost(func(v *vhost) {
		v.mu.Lock()
		v.reportGrowthLocked()
		v.mu.Unlock()
	})
}

// reportGrowthLocked adds what the virtual host has grown by to the broker's figure.
func (v *vhost) reportGrowthLocked() {
	v.b.memory.bodies.Add(v.stored.growth)
	v.stored.reported += v.stored.growth
	v.stored.growth = 0
}

// grownLocked ends an operation's accounting and reports whether the alarm has to change. There is a limit.
func (v *vhost) grownLocked() bool {
	m := &v.b.memory
	if v.stored.growth == 0 || m.process.Load() != 0 {
		return false
	}
	v.reportGrowthLocked()
	return m.wanted() != m.alarm.Load()
}

// used is how many bytes count for the limit.
func (m *memory) used() int64 {
	if n := m.process.Load(); n != 0 {
		return n
	}
	return m.bodies.Load()
}

// exceeded reports whether more than limit is used.
func (m *memory) exceeded(limit int64) bool { return limit != 0 && m.used() > limit }

// wanted reports whether the alarm has to be on. Once it is on, a tenth of the limit has to be free for it to be
// cleared.
func (m *memory) wanted() bool {
	limit := m.limit.Load()
	if m.alarm.Load() {
		return m.exceeded(limit - max(limit, 0)/alarmMargin)
	}
	return m.exceeded(limit)
}

// updateAlarm raises the alarm, or clears it if it has been on for long enough. No lock may be held.
func (b *Broker) updateAlarm() {
	for on := b.memory.wanted(); on != b.memory.alarm.Load(); on = b.memory.wanted() { // what is used may have changed
		if !on && b.clearLater() {
			return
		}
		b.setAlarm(on)
	}
}

// clearLater reports whether it is too early to clear the alarm. Then the alarm is looked at again in time.
func (b *Broker) clearLater() bool {
	m := &b.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	wait := min(m.raised.Add(alarmTime).Sub(b.clock.Now()), alarmTime)
	if wait > 0 && m.clearing == nil {
		m.clearing = b.clock.AfterFunc(wait, func() {
			m.stopClearing()
			b.updateAlarm()
		})
	}
	return wait > 0
}

// stopClearing forgets that the alarm was to be looked at.
func (m *memory) stopClearing() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.clearing != nil {
		m.clearing.Stop()
		m.clearing = nil
	}
}

// setAlarm sets or clears the alarm and tells all connections. No lock may be held.
func (b *Broker) setAlarm(on bool) {
	if b.memory.change(on, b.clock) {
		b.tellAlarms()
	}
}

// change sets or clears the alarm, and reports whether that changes anything. The limit may have changed since the caller
// looked: an alarm that nothing exceeds any more is not raised.
func (m *memory) change(on bool, clock Clock) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.alarm.Load() == on || on && !m.exceeded(m.limit.Load()) {
		return false
	}
	m.alarm.Store(on)
	if on {
		m.raised = clock.Now()
	}
	return true
}
