package leveret

// Emission of events. Each function is called under the lock with everything at hand, returns
// at once if nobody watches, and otherwise leaves the call for after the lock.

func (v *vhost) eventMessage(m *message) EventMessage {
	return EventMessage{Time: v.time(), VHost: v.name, Exchange: m.exchange.name, RoutingKey: m.key, Properties: m.props, Body: m.body}
}

func queueNames(qs []*Queue) []string {
	names := make([]string, len(qs))
	for i, q := range qs {
		names[i] = q.name
	}
	return names
}

func (v *vhost) publishedEvent(m *message, queues []*Queue) {
	if ev := v.events; ev != nil && ev.Published != nil {
		e := PublishedEvent{v.eventMessage(m), queueNames(queues)}
		v.after(func() { ev.Published(e) })
	}
}

func (v *vhost) returnedEvent(m *message) {
	if ev := v.events; ev != nil && ev.Returned != nil {
		e := ReturnedEvent{v.eventMessage(m)}
		v.after(func() { ev.Returned(e) })
	}
}

func (v *vhost) enqueuedEvent(q *Queue, m *message) {
	if ev := v.events; ev != nil && ev.Enqueued != nil {
		e := EnqueuedEvent{v.eventMessage(m), q.name}
		v.after(func() { ev.Enqueued(e) })
	}
}

func (v *vhost) refusedEvent(q *Queue, m *message) {
	v.counters.Refused++
	if ev := v.events; ev != nil && ev.Refused != nil {
		e := RefusedEvent{v.eventMessage(m), q.name}
		v.after(func() { ev.Refused(e) })
	}
}

func (v *vhost) deliveredEvent(q *Queue, d *Delivery, noAck bool) {
	c := &v.counters
	c.Delivered++
	if d.Redelivered {
		c.Redelivered++
	}
	ev := v.events
	if noAck {
		c.Acknowledged++
	}
	if ev == nil {
		return
	}
	if ev.Delivered != nil {
		e := DeliveredEvent{v.eventMessage(d.m), q.name, d.ConsumerTag, d.DeliveryTag, d.Redelivered}
		v.after(func() { ev.Delivered(e) })
	}
	if noAck && ev.Acked != nil {
		e := AckedEvent{v.eventMessage(d.m), q.name, d.ConsumerTag}
		v.after(func() { ev.Acked(e) })
	}
}

func (v *vhost) ackedEvent(u *unacked) {
	v.counters.Acknowledged++
	if ev := v.events; ev != nil && ev.Acked != nil {
		e := AckedEvent{v.eventMessage(u.e.m), u.q.name, u.tag()}
		v.after(func() { ev.Acked(e) })
	}
}

func (v *vhost) requeuedEvent(q *Queue, m *message) {
	v.counters.Requeued++
	if ev := v.events; ev != nil && ev.Requeued != nil {
		e := RequeuedEvent{v.eventMessage(m), q.name}
		v.after(func() { ev.Requeued(e) })
	}
}

func (v *vhost) deadLetteredEvent(q *Queue, m *message, reason Reason, targets []*Queue) {
	if ev := v.events; ev != nil && ev.DeadLettered != nil {
		e := DeadLetteredEvent{v.eventMessage(m), q.name, reason, queueNames(targets)}
		v.after(func() { ev.DeadLettered(e) })
	}
}

func (v *vhost) watchesDrops() bool { return v.events != nil && v.events.Dropped != nil }

func (q *Queue) dropped(e entry, reason Reason, cause Cause) {
	q.v.droppedEvent(q, e.m, reason, cause, "")
}

// droppedEvent tells of a loss; q is nil for a publish that no queue received.
func (v *vhost) droppedEvent(q *Queue, m *message, reason Reason, cause Cause, target string) {
	if !v.watchesDrops() {
		return
	}
	e := DroppedEvent{EventMessage: v.eventMessage(m), Reason: reason, Cause: cause, Target: target}
	if q != nil {
		e.Queue = q.name
	}
	f := v.events.Dropped
	v.after(func() { f(e) })
}

// either returns the hook of a beginning or of an end.
func either[T any](begin bool, began, ended func(T)) func(T) {
	if begin {
		return began
	}
	return ended
}

func tell[T any](v *vhost, f func(T), e T) {
	if f != nil {
		v.after(func() { f(e) })
	}
}

func (v *vhost) queueEvent(name string, declared bool) {
	if ev := v.events; ev != nil {
		tell(v, either(declared, ev.QueueDeclared, ev.QueueDeleted), QueueEvent{v.time(), v.name, name})
	}
}

func (v *vhost) exchangeEvent(name string, declared bool) {
	if ev := v.events; ev != nil {
		tell(v, either(declared, ev.ExchangeDeclared, ev.ExchangeDeleted), ExchangeEvent{v.time(), v.name, name})
	}
}

func (v *vhost) bindingEvent(b *binding, bound bool) {
	if ev := v.events; ev != nil {
		tell(v, either(bound, ev.Bound, ev.Unbound), BindingEvent{v.time(), b.info()})
	}
}

func (v *vhost) consumerEvent(c *Consumer, added bool) {
	if ev := v.events; ev != nil {
		tell(v, either(added, ev.ConsumerAdded, ev.ConsumerRemoved), ConsumerEvent{v.time(), v.name, c.q.name, c.tag})
	}
}

func (v *vhost) policyEvent(name string, operator, set bool) {
	if ev := v.events; ev != nil {
		tell(v, either(set, ev.PolicySet, ev.PolicyCleared), PolicyEvent{v.time(), v.name, name, operator})
	}
}

func (v *vhost) connectionEvent(c *Conn, opened bool) {
	if ev := v.events; ev != nil {
		tell(v, either(opened, ev.ConnectionOpened, ev.ConnectionClosed), ConnectionEvent{v.time(), v.name, c.cfg.User, c.id})
	}
}

func (v *vhost) memoryEvent(raised bool, used, limit int64) {
	if ev := v.events; ev != nil {
		tell(v, either(raised, ev.MemoryAlarmRaised, ev.MemoryAlarmCleared), MemoryEvent{v.time(), used, limit})
	}
}
