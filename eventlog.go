package leveret

import "time"

// How events are told. Each function is called under the lock. It counts what has happened and, if there is a watcher,
// makes the event. The watcher's hook is called after the lock has been released.

// tell has hook called with e, if there is one, after the lock is released.
func tell[E any](v *vhost, hook func(E), e E) {
	if hook != nil {
		v.afterLocked(func() { hook(e) })
	}
}

// tellEach has hook called with n events. There may be a million, so each event is made when it is told.
func tellEach[E any](v *vhost, hook func(E), n int, next func() E) {
	var tellAll func()
	tellAll = func() {
		defer func() {
			if n > 0 { // the hook panicked or ended its goroutine
				tellAll()
			}
		}()
		for n > 0 {
			n--
			hook(next())
		}
	}
	v.afterLocked(tellAll)
}

func (v *vhost) eventMessageLocked(m *message) EventMessage { return v.eventMessage(m, v.timeLocked()) }

func (v *vhost) eventMessage(m *message, at time.Time) EventMessage {
	e := EventMessage{Time: at, VHost: v.name, Message: m.number(), Exchange: m.exchange.name, RoutingKey: m.key,
		Properties: m.props, Body: m.body}
	if m.extra != nil && m.extra.published != nil {
		e.RoutingKeys = m.keys()
	}
	return e
}

func (ch *Channel) session() EventSession { return EventSession{ch.conn.id, ch.number} }

func queueNames(qs []*Queue) []string {
	names := make([]string, len(qs))
	for i, q := range qs {
		names[i] = q.name
	}
	return names
}

// publishedEventLocked tells of a publish. A message that is published while anybody watches gets its number.
func (ch *Channel) publishedEventLocked(m *message, queues []*Queue) {
	m.exchange.counters.Published++
	ch.tally.Published++
	if ch.v.events != nil {
		ch.tellPublishedLocked(m, queues)
	}
}

func (ch *Channel) tellPublishedLocked(m *message, queues []*Queue) {
	v := ch.v
	if !v.events.messages {
		return
	}
	v.lastMessage++
	m.editExtra().number = v.lastMessage
	if hook := v.events.Published; hook != nil {
		tell(v, hook, PublishedEvent{v.eventMessageLocked(m), ch.session(), queueNames(queues)})
	}
}

func (ch *Channel) returnedEventLocked(m *message) {
	if ev := ch.v.events; ev != nil && ev.Returned != nil {
		tell(ch.v, ev.Returned, ReturnedEvent{ch.v.eventMessageLocked(m), ch.session()})
	}
}

// enqueuedEventLocked tells of a copy that q has taken; parent is the copy that died, 0 for a publish.
func (q *Queue) enqueuedEventLocked(m *message, copy, parent uint64) {
	q.counters.arrived(parent)
	q.counters.enqueued++
	if ev := q.v.events; ev != nil && ev.Enqueued != nil {
		tell(q.v, ev.Enqueued, EnqueuedEvent{q.v.eventMessageLocked(m), q.name, copy, parent})
	}
}

func (q *Queue) refusedEventLocked(m *message, copy, parent uint64) {
	q.counters.arrived(parent)
	q.counters.lost().refused++
	q.v.counters.Refused++
	if ev := q.v.events; ev != nil && ev.Refused != nil {
		tell(q.v, ev.Refused, RefusedEvent{q.v.eventMessageLocked(m), q.name, copy, parent})
	}
}

// deliveredEventLocked tells of a delivery of q's copy.
func (q *Queue) deliveredEventLocked(d *Delivery, copy uint64, how handover) {
	q.counters.countDelivery(d.Redelivered, how)
	d.ch.tally.traffic[q.kind].countDelivery(d.Redelivered, how)
	if q.v.events != nil {
		d.eventLocked(EventDelivery{d.ch.session(), q.name, copy, d.ConsumerTag, d.DeliveryTag}, how.settles())
	}
}

// eventLocked tells of a delivery, and of its acknowledgement if it needs none.
func (d *Delivery) eventLocked(what EventDelivery, noAck bool) {
	v := d.ch.v
	ev := v.events
	if ev == nil || ev.Delivered == nil && ev.Acked == nil {
		return
	}
	m := v.eventMessageLocked(d.m)
	tell(v, ev.Delivered, DeliveredEvent{m, what, d.Redelivered})
	if noAck {
		tell(v, ev.Acked, AckedEvent{m, what})
	}
}

// delivery tells which delivery u is, under its tag.
func (u *unacked) delivery(ch *Channel, tag uint64) EventDelivery {
	return EventDelivery{ch.session(), u.q.name, u.e.seq, u.consumerTag(), tag}
}

func (ch *Channel) ackedEventLocked(u *unacked, tag uint64) {
	u.q.counters.acked++
	ch.tally.traffic[u.q.kind].acked++
	if ev := ch.v.events; ev != nil {
		tellSettledLocked(ch, ev.Acked, u, tag)
	}
}

func (ch *Channel) requeuedEventLocked(u *unacked, tag uint64) {
	u.q.counters.requeued++
	ch.tally.traffic[u.q.kind].requeued++
	if ev := ch.v.events; ev != nil {
		tellSettledLocked(ch, ev.Requeued, u, tag)
	}
}

func (ch *Channel) rejectedEventLocked(u *unacked, tag uint64) {
	u.q.counters.rejected++
	ch.tally.traffic[u.q.kind].rejected++
	if ev := ch.v.events; ev != nil {
		tellSettledLocked(ch, ev.Rejected, u, tag)
	}
}

// settlementEvent is what the events of all settlements have.
type settlementEvent = struct {
	EventMessage
	EventDelivery
}

// tellSettledLocked has hook called with the settlement of u.
func tellSettledLocked[E ~settlementEvent](ch *Channel, hook func(E), u *unacked, tag uint64) {
	if hook != nil {
		tell(ch.v, hook, E(settlementEvent{ch.v.eventMessageLocked(u.e.m), u.delivery(ch, tag)}))
	}
}

func (v *vhost) deadLetteredEventLocked(d *deadLetter, m *message, targets []*Queue) {
	if ev := v.events; ev != nil && ev.DeadLettered != nil {
		tell(v, ev.DeadLettered, DeadLetteredEvent{v.eventMessageLocked(m), d.q.name, d.copy, d.reason, queueNames(targets)})
	}
}

func (v *vhost) queueEventLocked(name string, deleted Cause) {
	ev := v.events
	switch {
	case ev == nil:
	case deleted == "":
		tell(v, ev.QueueDeclared, QueueEvent{Time: v.timeLocked(), VHost: v.name, Queue: name})
	default:
		tell(v, ev.QueueDeleted, QueueEvent{v.timeLocked(), v.name, name, deleted})
	}
}

// either returns the hook of a beginning or of an end.
func either[E any](begin bool, began, ended func(E)) func(E) {
	if begin {
		return began
	}
	return ended
}

func (v *vhost) exchangeEventLocked(name string, declared bool) {
	if ev := v.events; ev != nil {
		tell(v, either(declared, ev.ExchangeDeclared, ev.ExchangeDeleted), ExchangeEvent{v.timeLocked(), v.name, name})
	}
}

func (v *vhost) bindingEventLocked(b *binding, bound bool) {
	if ev := v.events; ev != nil {
		tell(v, either(bound, ev.Bound, ev.Unbound), BindingEvent{v.timeLocked(), b.info()})
	}
}

func (v *vhost) watchesUnbound() bool { return v.events != nil && v.events.Unbound != nil }

// unboundEventsLocked tells that bindings have ended with what they led from or to, if anybody watches that.
func (v *vhost) unboundEventsLocked(lost []*binding) {
	if len(lost) == 0 {
		return
	}
	at, next := v.timeLocked(), 0
	tellEach(v, v.events.Unbound, len(lost), func() BindingEvent {
		next++
		return BindingEvent{at, lost[next-1].info()}
	})
}

func (v *vhost) consumerEventLocked(c *Consumer) {
	if ev := v.events; ev != nil {
		tell(v, either(c.err == nil, ev.ConsumerAdded, ev.ConsumerRemoved),
			ConsumerEvent{v.timeLocked(), v.name, c.q.name, c.tag, c.ch.session(), c.err})
	}
}

func (v *vhost) policyEventLocked(name string, operator, set bool) {
	if ev := v.events; ev != nil {
		tell(v, either(set, ev.PolicySet, ev.PolicyCleared), PolicyEvent{v.timeLocked(), v.name, name, operator})
	}
}

// connectionEventLocked tells that c was opened, or closed because of reason, nil if the client wants it.
func (v *vhost) connectionEventLocked(c *Conn, reason *Error) {
	if ev := v.events; ev != nil && !c.cfg.Uncounted {
		tell(v, either(c.err == nil, ev.ConnectionOpened, ev.ConnectionClosed),
			ConnectionEvent{v.timeLocked(), v.name, c.cfg.User, c.id, c.cfg.Name, reason})
	}
}

// channelEventLocked tells that ch was opened, or closed because of reason, nil if the client wants it.
func (v *vhost) channelEventLocked(ch *Channel, reason *Error) {
	if ev := v.events; ev != nil && !ch.super && !ch.conn.cfg.Uncounted {
		tell(v, either(ch.err == nil, ev.ChannelOpened, ev.ChannelClosed),
			ChannelEvent{v.timeLocked(), v.name, ch.session(), reason})
	}
}

// storeEventLocked tells that the directory takes nothing more.
func (v *vhost) storeEventLocked(err error) {
	if ev := v.events; ev != nil {
		tell(v, ev.StoreFailed, StoreEvent{v.timeLocked(), err})
	}
}

// alarmEventsLocked tells of the alarms that have changed; on are those in force.
func (v *vhost) alarmEventsLocked(changed, on Alarm) {
	ev := v.events
	if ev == nil {
		return
	}
	if changed&MemoryAlarm != 0 {
		m := &v.b.memory
		tell(v, either(on&MemoryAlarm != 0, ev.MemoryAlarmRaised, ev.MemoryAlarmCleared), MemoryEvent{v.timeLocked(), m.used(), m.limit.Load()})
	}
	if changed&DiskAlarm != 0 {
		s := &v.b.space
		tell(v, either(on&DiskAlarm != 0, ev.DiskAlarmRaised, ev.DiskAlarmCleared), DiskEvent{v.timeLocked(), s.free.Load(), s.limit.Load()})
	}
}
