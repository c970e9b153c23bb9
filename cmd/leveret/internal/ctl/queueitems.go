package ctl

import (
	"github.com/leveretmq/leveret"
)

// A queueListing computes the columns of queues. What takes a look at consumers or messages
// is done only when a column asks for it.
type queueListing struct {
	node      string
	vhost     *leveret.VHost
	exclusive map[string]leveret.ConsumerInfo // by queue; nil: not looked yet
}

func (l *queueListing) item(q leveret.QueueInfo, column string) any {
	if v, ok := descriptionItem(q, column); ok {
		return v
	}
	switch column {
	case "owner_pid":
		if q.Owner == 0 {
			return ""
		}
		return pid{node: l.node, connection: q.Owner}
	case "exclusive_consumer_pid":
		if c, ok := l.exclusiveConsumer(q.Name); ok {
			return pid{l.node, c.Conn, c.Channel}
		}
		return ""
	case "exclusive_consumer_tag":
		c, _ := l.exclusiveConsumer(q.Name)
		return c.Tag
	case "leader":
		return l.node
	case "members":
		return names{l.node}
	case "online":
		if q.Type == "quorum" {
			return names{l.node}
		}
		return ""
	}
	if v, ok := countItem(q, column); ok {
		return v
	}
	if q.Type == "quorum" {
		return "" // the rest is known of classic queues only
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
		return arguments(q.Arguments), true
	case "policy":
		return q.Policy, true
	case "operator_policy":
		return q.OperatorPolicy, true
	case "effective_policy_definition":
		return definition(q.EffectivePolicy), true
	case "state":
		return "running", true
	case "type":
		return q.Type, true
	case "pid":
		return "", true // a queue is no process here
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
		if q.Consumers == 0 {
			return 0
		}
		return "" // not measured
	}
	return l.messageItem(q, column)
}

// messageItem looks at the messages themselves, of which only the ready ones can be seen.
func (l *queueListing) messageItem(q leveret.QueueInfo, column string) any {
	if q.Unacked > 0 && column != "head_message_timestamp" {
		return "" // not known
	}
	queue, err := l.vhost.Queue(q.Name)
	if err != nil {
		return "" // deleted meanwhile
	}
	var count int
	var bytes int64
	for i, m := range queue.Messages() {
		if i == 0 && column == "head_message_timestamp" {
			if m.Properties == nil || m.Properties.Timestamp.IsZero() {
				return ""
			}
			return m.Properties.Timestamp.Unix()
		}
		if m.Properties != nil && m.Properties.DeliveryMode == 2 {
			count++
			bytes += int64(len(m.Body))
		}
	}
	switch column {
	case "head_message_timestamp":
		return ""
	case "messages_persistent":
		return count
	case "message_bytes_persistent":
		return bytes
	}
	panic("no such column of a queue: " + column)
}

func (l *queueListing) exclusiveConsumer(queue string) (leveret.ConsumerInfo, bool) {
	if l.exclusive == nil {
		l.exclusive = map[string]leveret.ConsumerInfo{}
		for _, c := range l.vhost.Consumers() {
			if c.Exclusive {
				l.exclusive[c.Queue] = c
			}
		}
	}
	c, ok := l.exclusive[queue]
	return c, ok
}
