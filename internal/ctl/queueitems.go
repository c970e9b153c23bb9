package ctl

import (
	"github.com/leveretmq/leveret"
	"time"
)

// A queueListing computes the columns of queues. What takes a look at consumers or messages
// is done only when a column asks for it.
type queueListing struct {
	node      string
	vhost     *leveret.VHost
	old       bool                              // as 3.10 lists them
	consumers map[string][]leveret.ConsumerInfo // by queue; nil: not looked yet
	heads     map[string]time.Time              // timestamps by queue; nil: not looked yet
}

func (l *queueListing) item(q leveret.QueueInfo, column string) any {
	if v, ok := descriptionItem(q, column); ok {
		return v
	}
	switch column {
	case "owner_pid":
		if q.Owner == 0 {
			return none
		}
		return pid{node: l.node, connection: q.Owner}
	case "exclusive_consumer_pid":
		if c, ok := l.exclusiveConsumer(q.Name); ok {
			return pid{l.node, c.Conn, c.Channel}
		}
		return none
	case "exclusive_consumer_tag":
		c, _ := l.exclusiveConsumer(q.Name)
		return orNone(c.Tag)
	case "leader":
		if l.old && q.Type == "classic" {
			return none
		}
		return word(l.node)
	case "members":
		if l.old && q.Type == "classic" {
			return none
		}
		return names{l.node}
	case "online":
		if q.Type == "quorum" {
			return names{l.node}
		}
		return none
	}
	if v, ok := countItem(q, column); ok {
		return v
	}
	if q.Type == "quorum" {
		return none // the rest is known of classic queues only
	}
	return l.classicItem(q, column)
}

func descriptionItem(q leveret.QueueInfo, column string) (any, bool) {
	switch column {
	case "name":
		return q.Name, true
	case "durable":
		return q.Durable, true
	case "auto_delete":
		return q.AutoDelete, true
	case "arguments":
		return arguments(q.ArgumentFields), true
	case "policy":
		return orNone(q.Policy), true
	case "operator_policy":
		return orNone(q.OperatorPolicy), true
	case "effective_policy_definition":
		return definition(q.EffectivePolicy), true
	case "state":
		return word("running"), true
	case "type":
		return word(q.Type), true
	case "pid":
		return none, true // a queue is no process here
	}
	return nil, false
}

func countItem(q leveret.QueueInfo, column string) (any, bool) {
	switch column {
	case "messages_ready":
		return q.Ready, true
	case "messages_unacknowledged":
		return q.Unacked, true
	case "messages":
		return q.Messages, true
	case "consumers":
		return q.Consumers, true
	case "memory":
		return q.Bytes, true // bodies are all that is accounted for
	case "messages_ram", "message_bytes_ram":
		if q.Type == "quorum" {
			return 0, true // as RabbitMQ has it
		}
	}
	return nil, false
}

func (l *queueListing) classicItem(q leveret.QueueInfo, column string) any {
	switch column {
	case "exclusive":
		return q.Exclusive
	case "messages_ready_ram":
		return q.Ready
	case "messages_unacknowledged_ram":
		return q.Unacked
	case "messages_ram":
		return q.Ready + q.Unacked
	case "message_bytes", "message_bytes_ram":
		return q.Bytes
	case "message_bytes_ready":
		return q.BytesReady
	case "message_bytes_unacknowledged":
		return q.BytesUnacked
	case "disk_reads", "disk_writes":
		return 0
	case "consumer_utilisation", "consumer_capacity":
		return l.capacity(q)
	case "head_message_timestamp":
		return l.headTimestamp(q)
	case "messages_persistent":
		return q.Persistent
	case "message_bytes_persistent":
		return q.BytesPersistent
	}
	panic("no such column of a queue: " + column)
}

// capacity is RabbitMQ's share of the time in which consumers could have taken a message, of this moment: 1.0 if one
// could, 0.0 if all have to acknowledge some first, 0 if there is none.
func (l *queueListing) capacity(q leveret.QueueInfo) any {
	if q.Consumers == 0 {
		return 0
	}
	l.look()
	for _, c := range l.consumers[q.Name] {
		if !full(c) {
			return 1.0
		}
	}
	return 0.0
}

// full reports whether a consumer has as many messages as it may have without an acknowledgement.
func full(c leveret.ConsumerInfo) bool {
	return c.AckRequired && c.Prefetch > 0 && c.Unacked >= c.Prefetch
}

// headTimestamp is the timestamp of the queue's head.
func (l *queueListing) headTimestamp(q leveret.QueueInfo) any {
	if l.heads == nil {
		l.heads = l.vhost.HeadTimestamps()
	}
	if made, ok := l.heads[q.Name]; ok {
		return made.Unix()
	}
	return none
}

func (l *queueListing) exclusiveConsumer(queue string) (leveret.ConsumerInfo, bool) {
	l.look()
	for _, c := range l.consumers[queue] {
		if c.Exclusive {
			return c, true
		}
	}
	return leveret.ConsumerInfo{}, false
}

// look finds the consumers of all queues.
func (l *queueListing) look() {
	if l.consumers != nil {
		return
	}
	l.consumers = map[string][]leveret.ConsumerInfo{}
	for _, c := range l.vhost.Consumers() {
		l.consumers[c.Queue] = append(l.consumers[c.Queue], c)
	}
}
