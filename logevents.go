package leveret

import (
	"context"
	"log/slog"
)

// LogEvents returns Events that write every event to a log, for [WithEvents] or [Broker.Watch].
//
// A directory that takes nothing more is an error. Losses, refusals, alarms, what is ignored and what the broker closed because of an error are warnings. What
// somebody asked to be removed, by a purge or a deletion, is information, as is the life of connections, channels,
// queues, exchanges, bindings, consumers and policies. All else that happens to messages is debugging. Of a body only
// the size is written, in bytes, and of properties nothing.
func LogEvents(to *slog.Logger) Events {
	l := eventLog{to}
	return Events{
		Published: func(e PublishedEvent) {
			l.message(slog.LevelDebug, "published", &e.EventMessage, e.attr(), slog.Any("queues", e.Queues))
		},
		Returned: func(e ReturnedEvent) { l.message(slog.LevelDebug, "returned", &e.EventMessage, e.attr()) },
		Enqueued: func(e EnqueuedEvent) {
			l.message(slog.LevelDebug, "enqueued", &e.EventMessage, inQueue(e.Queue), placed(e.Copy, e.Parent))
		},
		Refused: func(e RefusedEvent) {
			l.message(slog.LevelWarn, "refused", &e.EventMessage, inQueue(e.Queue), placed(e.Copy, e.Parent))
		},
		Delivered: func(e DeliveredEvent) {
			l.message(slog.LevelDebug, "delivered", &e.EventMessage, e.EventDelivery.attr(),
				slog.Bool("redelivered", e.Redelivered))
		},
		Acked: func(e AckedEvent) {
			l.message(slog.LevelDebug, "acknowledged", &e.EventMessage, e.EventDelivery.attr())
		},
		Requeued: func(e RequeuedEvent) { l.message(slog.LevelDebug, "requeued", &e.EventMessage, e.EventDelivery.attr()) },
		Rejected: func(e RejectedEvent) { l.message(slog.LevelDebug, "rejected", &e.EventMessage, e.EventDelivery.attr()) },
		DeadLettered: func(e DeadLetteredEvent) {
			l.message(slog.LevelDebug, "dead-lettered", &e.EventMessage, inQueue(e.Queue), slog.Uint64("copy", e.Copy),
				slog.String("reason", string(e.Reason)), slog.Any("queues", e.Queues))
		},
		Dropped: func(e DroppedEvent) {
			l.message(e.Cause.level(), "dropped", &e.EventMessage, inQueue(e.Queue), placed(e.Copy, e.Parent),
				slog.String("reason", string(e.Reason)), slog.String("cause", string(e.Cause)), slog.String("target", e.Target))
		},

		QueueDeclared: func(e QueueEvent) { l.life("queue declared", nil, e.VHost, inQueue(e.Queue)) },
		QueueDeleted: func(e QueueEvent) {
			l.life("queue deleted", nil, e.VHost, inQueue(e.Queue), slog.String("cause", string(e.Cause)))
		},
		ExchangeDeclared: func(e ExchangeEvent) { l.exchange("exchange declared", &e) },
		ExchangeDeleted:  func(e ExchangeEvent) { l.exchange("exchange deleted", &e) },
		Bound:            func(e BindingEvent) { l.binding("bound", &e.Binding) },
		Unbound:          func(e BindingEvent) { l.binding("unbound", &e.Binding) },
		ConsumerAdded:    func(e ConsumerEvent) { l.consumer("consumer added", &e) },
		ConsumerRemoved:  func(e ConsumerEvent) { l.consumer("consumer removed", &e) },
		PolicySet:        func(e PolicyEvent) { l.policy("policy set", &e) },
		PolicyCleared:    func(e PolicyEvent) { l.policy("policy cleared", &e) },
		Ignored:          func(e IgnoredEvent) { l.ignored(&e) },
		ConnectionOpened: func(e ConnectionEvent) { l.connection("connection opened", &e) },
		ConnectionClosed: func(e ConnectionEvent) { l.connection("connection closed", &e) },
		ChannelOpened:    func(e ChannelEvent) { l.life("channel opened", e.Err, e.VHost, e.attr()) },
		ChannelClosed:    func(e ChannelEvent) { l.life("channel closed", e.Err, e.VHost, e.attr()) },

		MemoryAlarmRaised:  func(e MemoryEvent) { l.memory(slog.LevelWarn, "memory alarm raised", &e) },
		MemoryAlarmCleared: func(e MemoryEvent) { l.memory(slog.LevelInfo, "memory alarm cleared", &e) },
		DiskAlarmRaised:    func(e DiskEvent) { l.disk(slog.LevelWarn, "disk alarm raised", &e) },
		DiskAlarmCleared:   func(e DiskEvent) { l.disk(slog.LevelInfo, "disk alarm cleared", &e) },
		StoreFailed: func(e StoreEvent) {
			to.LogAttrs(context.Background(), slog.LevelError, "the directory takes nothing more", slog.Any("error", e.Err))
		},
	}
}

// eventLog writes events to a log.
type eventLog struct{ to *slog.Logger }

func (l eventLog) message(level slog.Level, what string, m *EventMessage, more ...slog.Attr) {
	if !l.to.Enabled(context.Background(), level) {
		return
	}
	about := []slog.Attr{slog.String("vhost", m.VHost), slog.Uint64("message", m.Message),
		slog.String("exchange", m.Exchange), slog.String("key", m.RoutingKey), slog.Int("bytes", len(m.Body))}
	l.to.LogAttrs(context.Background(), level, "message "+what, append(about, more...)...)
}

// life writes about what is not a message. An error makes it a warning.
func (l eventLog) life(what string, err *Error, vhost string, more ...slog.Attr) {
	level, about := slog.LevelInfo, []slog.Attr{slog.String("vhost", vhost)}
	if about = append(about, more...); err != nil {
		level, about = slog.LevelWarn, append(about, slog.String("error", err.Error()))
	}
	l.to.LogAttrs(context.Background(), level, what, about...)
}

func (l eventLog) exchange(what string, e *ExchangeEvent) {
	l.life(what, nil, e.VHost, slog.String("exchange", e.Exchange))
}

func (l eventLog) binding(what string, b *BindingInfo) {
	l.life(what, nil, b.VHost, slog.String("source", b.Source),
		slog.String(string(b.DestinationType), b.Destination), slog.String("key", b.RoutingKey))
}

func (l eventLog) consumer(what string, e *ConsumerEvent) {
	about := []slog.Attr{inQueue(e.Queue), slog.String("consumer", e.Tag), e.attr()}
	if e.Err != nil {
		about = append(about, slog.String("reason", e.Err.Error()))
	}
	l.life(what, nil, e.VHost, about...)
}

func (l eventLog) policy(what string, e *PolicyEvent) {
	l.life(what, nil, e.VHost, slog.String("policy", e.Name), slog.Bool("operator", e.Operator))
}

func (l eventLog) ignored(e *IgnoredEvent) {
	var about []slog.Attr
	for _, a := range []slog.Attr{
		slog.String("vhost", e.VHost), slog.String("queue", e.Queue), slog.String("exchange", e.Exchange),
		slog.String("policy", e.Policy), slog.String("argument", e.Argument), slog.String("similar", e.Similar)} {
		if a.Value.String() != "" {
			about = append(about, a)
		}
	}
	l.to.LogAttrs(context.Background(), slog.LevelWarn, "ignored", about...)
}

func (l eventLog) connection(what string, e *ConnectionEvent) {
	l.life(what, e.Err, e.VHost, slog.Uint64("conn", e.ID), slog.String("user", e.User), slog.String("name", e.Name))
}

func (l eventLog) memory(level slog.Level, what string, e *MemoryEvent) {
	l.to.LogAttrs(context.Background(), level, what, slog.Int64("used", e.Used), slog.Int64("limit", e.Limit))
}

func (l eventLog) disk(level slog.Level, what string, e *DiskEvent) {
	l.to.LogAttrs(context.Background(), level, what, slog.Int64("free", e.Free), slog.Int64("limit", e.Limit))
}

// level is how much a loss matters: what somebody asked to be removed is no surprise.
func (c Cause) level() slog.Level {
	switch c {
	case CausePurged, CauseQueueDeleted, CauseVHostDeleted:
		return slog.LevelInfo
	}
	return slog.LevelWarn
}

func inQueue(name string) slog.Attr { return slog.String("queue", name) }

// placed is a group without a name: a copy's number, and that of the copy from which it was made.
func placed(copy, parent uint64) slog.Attr {
	return slog.Group("", slog.Uint64("copy", copy), slog.Uint64("parent", parent))
}

// attr is a group without a name, which slog writes as its members.
func (s EventSession) attr() slog.Attr {
	return slog.Group("", slog.Uint64("conn", s.Conn), slog.Uint64("channel", uint64(s.Channel)))
}

func (d EventDelivery) attr() slog.Attr {
	return slog.Group("", d.EventSession.attr(), inQueue(d.Queue), slog.Uint64("copy", d.Copy),
		slog.String("consumer", d.ConsumerTag), slog.Uint64("tag", d.DeliveryTag))
}
