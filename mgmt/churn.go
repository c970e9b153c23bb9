package mgmt

import (
	"sync/atomic"

	"github.com/leveretmq/leveret"
)

// churn counts what came and went since the handler was made.
type churn struct {
	connectionCreated, connectionClosed, channelCreated, channelClosed, queueDeclared, queueDeleted atomic.Int64
}

// watch has the broker tell what comes and goes. None of the hooks is about messages, so publishing and delivering are
// as fast as without them.
func (c *churn) watch(b *leveret.Broker) {
	b.Watch(leveret.Events{
		ConnectionOpened: func(leveret.ConnectionEvent) { c.connectionCreated.Add(1) },
		ConnectionClosed: func(leveret.ConnectionEvent) { c.connectionClosed.Add(1) },
		ChannelOpened:    func(leveret.ChannelEvent) { c.channelCreated.Add(1) },
		ChannelClosed:    func(leveret.ChannelEvent) { c.channelClosed.Add(1) },
		QueueDeclared:    func(leveret.QueueEvent) { c.queueDeclared.Add(1) },
		QueueDeleted:     func(leveret.QueueEvent) { c.queueDeleted.Add(1) },
	})
}

// show puts the counts into an object. A queue is declared when it is made: who declares it again is not counted.
func (c *churn) show(o object) {
	for name, n := range map[string]*atomic.Int64{
		"connection_created": &c.connectionCreated, "connection_closed": &c.connectionClosed,
		"channel_created": &c.channelCreated, "channel_closed": &c.channelClosed,
		"queue_declared": &c.queueDeclared, "queue_created": &c.queueDeclared, "queue_deleted": &c.queueDeleted,
	} {
		o[name] = n.Load()
	}
}
