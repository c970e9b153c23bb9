package leveret

import "sync/atomic"

// memory is the memory alarm. While the bodies in queues and inboxes are larger than the limit, every connection is blocked
// (connection.blocked), and a listener stops reading from the connections that publish. Publishes of the Go API are never
// refused; a program can ask Conn.Blocked.
type memory struct {
	limit atomic.Int64 // bytes; 0: none
	used  atomic.Int64 // bytes that virtual hosts have reported
	alarm atomic.Bool
}

// MemoryInfo is the state of the memory alarm. A body in several queues counts in each.
type MemoryInfo struct {
	Used  int64 `json:"used"`  // bytes of message bodies
	Limit int64 `json:"limit"` // bytes of message bodies; 0: none
	Alarm bool  `json:"alarm"`
}

// Memory returns the state of the memory alarm.
func (b *Broker) Memory() MemoryInfo {
	b.collectGrowth()
	return MemoryInfo{Used: b.memory.used.Load(), Limit: b.memory.limit.Load(), Alarm: b.memory.alarm.Load()}
}

// SetMemoryLimit sets how many bytes of message bodies the broker may hold before it blocks
// connections; 0 removes the limit. A negative limit raises the alarm until another limit is set,
// because an empty broker exceeds it, too.
func (b *Broker) SetMemoryLimit(bytes int64) {
	b.memory.limit.Store(bytes)
	b.collectGrowth()
	b.updateAlarm()
}

// collectGrowth brings memory.used up to date. Without a limit virtual hosts do not report what they have grown by, so that
// they do not all write to the same figure.
func (b *Broker) collectGrowth() {
	b.eachVHost(func(v *vhost) {
		v.mu.Lock()
		v.reportGrowthLocked()
		v.mu.Unlock()
	})
}

// reportGrowthLocked adds what the virtual host has grown by to the broker's figure.
func (v *vhost) reportGrowthLocked() {
	v.b.memory.used.Add(v.stored.growth)
	v.stored.reported += v.stored.growth
	v.stored.growth = 0
}

// grownLocked ends an operation's accounting and reports whether the alarm has to change.
func (v *vhost) grownLocked() bool {
	m := &v.b.memory
	limit := m.limit.Load()
	if limit == 0 || v.stored.growth == 0 {
		return false
	}
	v.reportGrowthLocked()
	return m.used.Load() > limit != m.alarm.Load()
}

// updateAlarm sets or clears the alarm and tells all connections. No lock may be held.
// Rules: C-19.
func (b *Broker) updateAlarm() {
	limit, used := b.memory.limit.Load(), b.memory.used.Load()
	alarm := limit != 0 && used > limit
	if b.memory.alarm.Swap(alarm) == alarm {
		return
	}
	b.eachVHost(func(v *vhost) {
		v.lock()
		for _, c := range v.sortedConnsLocked() {
			c.tellBlockedLocked(b.memory.alarm.Load())
		}
		if v == b.vhost {
			v.memoryEventLocked(alarm, used, limit)
		}
		v.unlock()
	})
}
