package leveret

import "sync/atomic"

// The memory alarm: while the bodies held by queues and consumers are more than the limit,
// every connection that publishes is told so and its listener stops reading from it
// (connection.blocked). The in-process API is never refused; it can look at Conn.Blocked.
type memory struct {
	limit atomic.Int64 // bytes; 0: none
	used  atomic.Int64
	alarm atomic.Bool
}

// MemoryInfo is the state of the memory alarm. A body in several queues counts in each.
type MemoryInfo struct {
	Used, Limit int64 // bytes of message bodies; Limit 0: none
	Alarm       bool
}

// Memory returns the state of the memory alarm.
func (b *Broker) Memory() MemoryInfo {
	b.collectGrowth()
	return MemoryInfo{Used: b.memory.used.Load(), Limit: b.memory.limit.Load(), Alarm: b.memory.alarm.Load()}
}

// SetMemoryLimit sets how many bytes of message bodies the broker may hold before it blocks
// its publishers; 0 removes the limit. A negative limit is exceeded by an empty broker, too: it
// raises the alarm until another limit is set.
func (b *Broker) SetMemoryLimit(bytes int64) {
	b.memory.limit.Store(bytes)
	b.collectGrowth()
	b.updateAlarm()
}

// collectGrowth brings the figure up to date: without a limit, virtual hosts keep what they
// have grown by to themselves, because all of them would write to the one figure otherwise.
func (b *Broker) collectGrowth() {
	b.eachVHost(func(v *vhost) {
		v.mu.Lock()
		v.reportGrowth()
		v.mu.Unlock()
	})
}

func (v *vhost) reportGrowth() {
	v.b.memory.used.Add(v.growth)
	v.growth = 0
}

// grown ends an operation's accounting and reports whether the alarm has to change.
func (v *vhost) grown() bool {
	m := &v.b.memory
	limit := m.limit.Load()
	if limit == 0 || v.growth == 0 {
		return false
	}
	v.reportGrowth()
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
		for _, c := range v.sortedConns() {
			c.tellBlocked(b.memory.alarm.Load())
		}
		if v == b.vhost {
			v.memoryEvent(alarm, used, limit)
		}
		v.unlock()
	})
}
