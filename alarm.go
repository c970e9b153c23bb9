package leveret

import "strings"

// An Alarm is a resource that the node is short of, or several of them. While an alarm is in force every connection is blocked
// (connection.blocked), and a listener stops reading from the connections that publish. Nothing is refused, and publishes of the
// Go API are not held up: [Conn.Blocked] tells of the alarm.
//
// The memory alarm is raised at a limit of what is used: see [Broker.SetMemoryLimit]. The disk alarm is raised at a limit of what
// is free where the broker has its directory: see [Broker.SetDiskFreeLimit]. [Broker.SetAlarm] raises either.
// Rules: C-19.
type Alarm uint8

// The resources.
const (
	MemoryAlarm Alarm = 1 << iota
	DiskAlarm
)

var alarmNames = []string{"memory", "disk"}

// String is as RabbitMQ tells blocked connections, such as "memory & disk".
func (a Alarm) String() string {
	var names []string
	for i, name := range alarmNames {
		if a&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, " & ")
}

// Alarms returns those that are in force.
func (b *Broker) Alarms() Alarm {
	on := Alarm(b.alarmsSet.Load())
	if b.memory.alarm.Load() {
		on |= MemoryAlarm
	}
	if b.space.alarm.Load() {
		on |= DiskAlarm
	}
	return on
}

// SetAlarm raises alarms, whatever is used, until it clears them: as an operator does who wants to see what clients do then. An alarm
// that is in force for its own reason stays so.
func (b *Broker) SetAlarm(which Alarm, on bool) {
	if on {
		b.alarmsSet.Or(uint32(which))
	} else {
		b.alarmsSet.And(^uint32(which))
	}
	b.tellAlarms()
}

// tellAlarms tells all connections of a change. Whoever changes an alarm meanwhile tells them, too: each is told what it does not
// know yet. No lock may be held.
func (b *Broker) tellAlarms() {
	b.eachVHost(func(v *vhost) {
		v.lock()
		defer v.unlock()
		v.tellAlarmsLocked()
	})
}

// tellAlarmsLocked tells the connections of the alarms in force, and those who watch the virtual host "/".
func (v *vhost) tellAlarmsLocked() {
	on := v.b.Alarms()
	for _, c := range v.sortedConnsLocked() {
		c.tellAlarmsLocked(on)
	}
	changed := v.alarmsTold ^ on
	v.alarmsTold = on
	if v == v.b.vhost {
		v.alarmEventsLocked(changed, on)
	}
}

// tellAlarmsLocked tells the connection that alarms are in force, or that none is any more. Of a second alarm it is not told, as with
// RabbitMQ.
func (c *Conn) tellAlarmsLocked(on Alarm) {
	was := Alarm(c.blockedBy.Swap(uint32(on)))
	in := c.cfg.Inbox
	if in == nil || (was == 0) == (on == 0) {
		return
	}
	if on == 0 {
		in.putAlarmLocked(Notification{Kind: ConnUnblocked})
		return
	}
	in.putAlarmLocked(Notification{Kind: ConnBlocked, Reason: on.reason()})
}

// reason is what connection.blocked has.
func (a Alarm) reason() string { return "low on " + a.String() }

// Blocked reports whether an alarm asks the connection to stop publishing. It takes no lock, so it may be asked
// before each message.
func (c *Conn) Blocked() bool { return c.blockedBy.Load() != 0 }

// BlockedBy returns the alarms that Blocked speaks of.
func (c *Conn) BlockedBy() Alarm { return Alarm(c.blockedBy.Load()) }
