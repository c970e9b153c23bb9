// Package firehose copies what happens to the messages of traced virtual hosts to the exchange amq.rabbitmq.trace, as
// RabbitMQ's firehose does: every message that is published or delivered, with what happened to it in the headers.
//
// A broker has one firehose, whoever asks for it: a command turns off what the management API has turned on. It watches the
// broker by its events. A broker without a traced virtual host has no watcher and pays nothing.
// Rules: O-6.
package firehose

import (
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"weak"

	"github.com/leveretmq/leveret"
)

const traceExchange = "amq.rabbitmq.trace"

// running has the firehose of each broker that has a traced virtual host. It keeps no broker: the broker's watchers keep the
// firehose.
var running = struct {
	mu sync.Mutex
	of map[weak.Pointer[leveret.Broker]]weak.Pointer[firehose]
}{of: map[weak.Pointer[leveret.Broker]]weak.Pointer[firehose]{}}

// A firehose copies the messages of one broker.
type firehose struct {
	broker *leveret.Broker
	node   string
	stop   func()          // ends the watching
	gone   runtime.Cleanup // of a broker that nobody has any more

	mu       sync.Mutex
	traced   map[string]bool
	sessions map[uint64]leveret.ConnInfo // of connections seen
}

// Start has a virtual host traced, also one that there is not yet. node is the name that the copies give the node.
func Start(b *leveret.Broker, node, vhost string) {
	running.mu.Lock()
	defer running.mu.Unlock()
	key := weak.Make(b)
	f := running.of[key].Value()
	if f == nil {
		f = &firehose{broker: b, node: node, traced: map[string]bool{}, sessions: map[uint64]leveret.ConnInfo{}}
		f.stop = b.Watch(leveret.Events{Published: f.published, Delivered: f.delivered, ConnectionClosed: f.closed})
		f.gone = runtime.AddCleanup(b, forget, key)
		running.of[key] = weak.Make(f)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.traced[vhost] = true
}

func forget(key weak.Pointer[leveret.Broker]) {
	running.mu.Lock()
	defer running.mu.Unlock()
	delete(running.of, key)
}

// Stop ends what Start has begun, and with the last traced virtual host the watching. It does nothing if the virtual host is not
// traced.
func Stop(b *leveret.Broker, vhost string) {
	running.mu.Lock()
	defer running.mu.Unlock()
	key := weak.Make(b)
	f := running.of[key].Value()
	if f == nil {
		return
	}
	f.mu.Lock()
	delete(f.traced, vhost)
	last := len(f.traced) == 0
	f.mu.Unlock()
	if last {
		f.stop()
		f.gone.Stop()
		delete(running.of, key)
	}
}

// Traces reports whether a virtual host is traced.
func Traces(b *leveret.Broker, vhost string) bool {
	running.mu.Lock()
	f := running.of[weak.Make(b)].Value()
	running.mu.Unlock()
	return f != nil && f.traces(vhost)
}

func (f *firehose) traces(vhost string) bool {
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
	for _, info := range f.broker.Connections() {
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
	if f.broker.Profile() == leveret.RabbitMQ43 {
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
	if m.Exchange == traceExchange || !f.traces(m.VHost) {
		return
	}
	v, err := f.broker.VHost(m.VHost)
	if err != nil {
		return // it is being deleted
	}
	name, user := f.session(by.Conn)
	headers := leveret.Fields{
		{Name: "exchange_name", Value: m.Exchange}, {Name: "routing_keys", Value: list(routingKeys(m))},
		{Name: "properties", Value: f.tracedProperties(m.Properties)}, {Name: "node", Value: f.node},
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
	case f.broker.Profile() != leveret.RabbitMQ43:
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

// sortedFields are the fields of a table in the order of their names.
func sortedFields(t leveret.Table) leveret.Fields {
	f := make(leveret.Fields, 0, len(t))
	for _, name := range slices.Sorted(maps.Keys(t)) {
		f = append(f, leveret.Field{Name: name, Value: t[name]})
	}
	return f
}
