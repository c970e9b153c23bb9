package ctl

import (
	"slices"
	"strings"
	"sync"

	"github.com/leveretmq/leveret"
)

// The firehose: of a virtual host that is traced, every message that is published or delivered is copied to the
// exchange amq.rabbitmq.trace, with what happened to it in the headers. It watches the broker by its events: a broker
// without a traced virtual host has no watcher and pays nothing.
// Rules: O-6.

const traceExchange = "amq.rabbitmq.trace"

func traceCommands() []*command {
	return []*command{
		{
			name: "trace_on", usage: "trace_on [--vhost <vhost>]", max: -1, about: "Copies all messages to the exchange amq.rabbitmq.trace.",
			run:    tracer(true, "Trace enabled for vhost "),
			banner: func(c *call) string { return `Starting tracing for vhost "` + c.vhostName() + `" ...` },
		},
		{
			name: "trace_off", usage: "trace_off [--vhost <vhost>]", max: -1, about: "Ends trace_on.",
			run:    tracer(false, "Trace disabled for vhost "),
			banner: func(c *call) string { return `Stopping tracing for vhost "` + c.vhostName() + `" ...` },
		},
	}
}

// tracer returns the act of a command. Like RabbitMQ it does not ask whether there is such a virtual host.
func tracer(on bool, done string) func(*call) (result, error) {
	return func(c *call) (result, error) {
		c.node.firehose.set(c.node, c.vhostName(), on)
		return result{message: done + c.vhostName()}, nil
	}
}

// A firehose is what a node knows of tracing.
type firehose struct {
	mu       sync.Mutex
	node     *Node
	traced   map[string]bool
	sessions map[uint64]leveret.ConnInfo // of connections seen
	stop     func()                      // ends the watching; nil: no virtual host is traced
}

// set turns tracing on or off. The broker is watched from the first virtual host that is traced to the last.
func (f *firehose) set(n *Node, vhost string, on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.traced == nil {
		f.node, f.traced, f.sessions = n, map[string]bool{}, map[uint64]leveret.ConnInfo{}
	}
	f.traced[vhost] = on
	if !on {
		delete(f.traced, vhost)
	}
	switch watched := f.stop != nil; {
	case len(f.traced) > 0 && !watched:
		f.stop = n.Broker.Watch(leveret.Events{Published: f.published, Delivered: f.delivered, ConnectionClosed: f.closed})
	case len(f.traced) == 0 && watched:
		f.stop()
		f.stop = nil
		clear(f.sessions)
	}
}

// on reports whether a virtual host is traced.
func (f *firehose) on(vhost string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.traced[vhost]
}

func (f *firehose) closed(e leveret.ConnectionEvent) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.sessions, e.ID)
}

// session returns the name and the user of a connection. What the program does itself has none.
func (f *firehose) session(id uint64) (name, user string) {
	if id == 0 {
		return "unknown", "none"
	}
	f.mu.Lock()
	info, known := f.sessions[id]
	f.mu.Unlock()
	if known {
		return info.Name, info.User
	}
	for _, info := range f.node.Broker.Connections() {
		if info.ID == id {
			f.mu.Lock()
			f.sessions[id] = info
			f.mu.Unlock()
			return info.Name, info.User
		}
	}
	return "unknown", "none"
}

func (f *firehose) published(e leveret.PublishedEvent) {
	f.copy(&e.EventMessage, e.EventSession, "publish."+e.Exchange, nil,
		leveret.Fields{{Name: "routed_queues", Value: list(f.routedQueues(&e))}})
}

// routedQueues are the queues of a publish in RabbitMQ's order. For the default exchange it does not ask whether there
// are such queues.
func (f *firehose) routedQueues(e *leveret.PublishedEvent) []string {
	if e.Exchange == "" {
		names := slices.Clone(routingKeys(&e.EventMessage))
		slices.Sort(names)
		return slices.Compact(names)
	}
	names := slices.Clone(e.Queues)
	slices.Sort(names)
	if f.node.Broker.Profile() == leveret.RabbitMQ43 {
		slices.Reverse(names)
	}
	return names
}

// list is a list of texts as an array of AMQP.
func list(texts []string) []any {
	array := make([]any, len(texts))
	for i, text := range texts {
		array[i] = text
	}
	return array
}

func (f *firehose) delivered(e leveret.DeliveredEvent) {
	redelivered := int32(0)
	if e.Redelivered {
		redelivered = 1
	}
	f.copy(&e.EventMessage, e.EventSession, "deliver."+e.Queue, leveret.Fields{{Name: "redelivered", Value: redelivered}}, nil)
}

// copy publishes a message to the trace exchange. What has been published there is not copied again.
func (f *firehose) copy(m *leveret.EventMessage, by leveret.EventSession, key string, middle, end leveret.Fields) {
	if m.Exchange == traceExchange || !f.on(m.VHost) {
		return
	}
	v, err := f.node.Broker.VHost(m.VHost)
	if err != nil {
		return // it is being deleted
	}
	name, user := f.session(by.Conn)
	headers := leveret.Fields{
		{Name: "exchange_name", Value: m.Exchange}, {Name: "routing_keys", Value: list(routingKeys(m))},
		{Name: "properties", Value: f.tracedProperties(m.Properties)}, {Name: "node", Value: f.node.Name},
	}
	headers = append(append(headers, middle...), leveret.Fields{
		{Name: "vhost", Value: m.VHost}, {Name: "connection", Value: name}, {Name: "channel", Value: int32(by.Channel)},
		{Name: "user", Value: user},
	}...)
	// A virtual host that is closing takes nothing more; nobody waits for the copy.
	_, _ = v.Publish(traceExchange, key, leveret.Message{
		Properties: &leveret.Properties{HeaderFields: append(headers, end...)}, Body: m.Body})
}

// routingKeys are the routing key and those of CC and BCC.
func routingKeys(m *leveret.EventMessage) []string {
	if m.RoutingKeys != nil {
		return m.RoutingKeys
	}
	return []string{m.RoutingKey}
}

// headersOf are the headers as consumers get them: 4.3 puts them in order and takes the first of each name.
func (f *firehose) headersOf(p *leveret.Properties) leveret.Fields {
	switch {
	case p.HeaderFields == nil:
		return sortedFields(p.Headers)
	case f.node.Broker.Profile() != leveret.RabbitMQ43:
		return p.HeaderFields
	}
	h := slices.Clone(p.HeaderFields)
	slices.SortStableFunc(h, func(a, b leveret.Field) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(h, func(a, b leveret.Field) bool { return a.Name == b.Name })
}

// tracedProperties is the table of the properties that a message has, the last of AMQP's order first.
func (f *firehose) tracedProperties(p *leveret.Properties) leveret.Fields {
	out := leveret.Fields{}
	if p == nil {
		return out
	}
	has := p.Has()
	for _, x := range []struct {
		bit   leveret.Property
		name  string
		value any
	}{
		{leveret.PropClusterID, "cluster_id", p.ClusterID}, {leveret.PropAppID, "app_id", p.AppID},
		{leveret.PropUserID, "user_id", p.UserID}, {leveret.PropType, "type", p.Type},
		{leveret.PropTimestamp, "timestamp", int32(p.Timestamp.Unix())}, {leveret.PropMessageID, "message_id", p.MessageID},
		{leveret.PropExpiration, "expiration", p.Expiration}, {leveret.PropReplyTo, "reply_to", p.ReplyTo},
		{leveret.PropCorrelationID, "correlation_id", p.CorrelationID}, {leveret.PropPriority, "priority", int32(p.Priority)},
		{leveret.PropDeliveryMode, "delivery_mode", int32(p.DeliveryMode)}, {leveret.PropHeaders, "headers", f.headersOf(p)},
		{leveret.PropContentEncoding, "content_encoding", p.ContentEncoding}, {leveret.PropContentType, "content_type", p.ContentType},
	} {
		if has&x.bit != 0 {
			out = append(out, leveret.Field{Name: x.name, Value: x.value})
		}
	}
	return out
}
