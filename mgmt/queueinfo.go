package mgmt

import (
	"github.com/leveretmq/leveret"
)

// describeQueue is a queue as lists have it.
func (c *call) describeQueue(v *leveret.VHost, info leveret.QueueInfo) (object, error) {
	o := object{"name": info.Name, "vhost": info.VHost, "node": c.NodeName, "internal": false, "internal_owner": false,
		"arguments": arguments(info.Arguments), "effective_policy_definition": arguments(info.EffectivePolicy)}
	fill(o, declaredColumns, &info)
	if c.statsDisabled() {
		c.totalsOnly(o, info)
		return o, nil
	}
	q, err := v.Queue(info.Name)
	if err != nil {
		return o, nil // deleted meanwhile
	}
	fill(o, statisticsColumns, &info)
	c.describeType(o, q, info)
	s, f := subject{aQueue, info.VHost, info.Name}, queueFigures(info, q.Counters())
	if since, known := c.recorder.idleSince(s, f); known && info.Type == leveret.QueueTypeClassic {
		o["idle_since"] = since.UTC().Format(idleFormat)
	}
	if err := c.messageStats(o, s, f, queueStats); err != nil {
		return nil, err
	}
	return o, c.show(o, s, f, lengths)
}

// totalsOnly has a queue without statistics tell its lengths, if the request wants that. RabbitMQ then leaves out some of
// the rest.
func (c *call) totalsOnly(o object, info leveret.QueueInfo) {
	totals := c.query("enable_queue_totals") == "true"
	if totals {
		o["messages"], o["messages_ready"], o["messages_unacknowledged"], o["online"] = info.Messages, info.Ready, info.Unacked, nil
	}
	if !totals && !c.hidesFields {
		return
	}
	for _, name := range []string{"effective_policy_definition", "internal", "internal_owner", "policy", "operator_policy"} {
		delete(o, name)
	}
}

// idleFormat is how RabbitMQ writes the time since which a classic queue has had nothing to do.
const idleFormat = "2006-01-02T15:04:05.000+00:00"

// describeType adds what only one type of queues has.
func (c *call) describeType(o object, q *leveret.Queue, info leveret.QueueInfo) {
	if info.Type != leveret.QueueTypeQuorum {
		o["messages_ready_ram"], o["messages_unacknowledged_ram"], o["storage_version"] = info.Ready, info.Unacked, 2
		return
	}
	node := c.NodeName
	o["leader"], o["members"], o["online"], o["open_files"] = node, []string{node}, []string{node}, object{node: 0}
	delayed, dead, deadBytes := waiting(q, info)
	o["messages_dlx"], o["message_bytes_dlx"] = dead, deadBytes
	if !c.oldFeatures {
		o["messages_delayed"] = delayed
	}
	settings := q.Effective()
	for name, key := range map[string]string{"delivery_limit": "delivery-limit", "delayed_retry": "delayed-retry-type"} {
		if s, ok := settings.Get(key); ok && s.Value != nil {
			o[name] = s.Value
		}
	}
}

// waiting counts what is neither ready nor unacknowledged: messages that wait for a retry, and dead letters. If there are both, only
// the bodies of the dead letters count for their size.
func waiting(q *leveret.Queue, info leveret.QueueInfo) (delayed, dead int, deadBytes int64) {
	if info.Messages == info.Ready+info.Unacked {
		return 0, 0, 0
	}
	for _, m := range q.Waiting() {
		if m.DeadLetter == "" {
			delayed++
		} else {
			dead++
			deadBytes += int64(len(m.Body))
		}
	}
	if delayed == 0 {
		deadBytes = info.Bytes - info.BytesReady - info.BytesUnacked
	}
	return delayed, dead, deadBytes
}

// describeQueueInDetail adds what has to look at each message or consumer.
func (c *call) describeQueueInDetail(v *leveret.VHost, info leveret.QueueInfo) (object, error) {
	o, err := c.describeQueue(v, info)
	if err != nil || c.statsDisabled() {
		return o, err
	}
	q, err := v.Queue(info.Name)
	if err != nil {
		return o, nil
	}
	o["messages_persistent"], o["message_bytes_persistent"] = persistent(q, info)
	o["single_active_consumer_tag"] = textOrNull(info.SingleActive)
	if info.Type == leveret.QueueTypeClassic {
		o["exclusive_consumer_tag"] = textOrNull(c.contentsOf(v).exclusive[info.Name])
	}
	if owner, ok := c.contentsOf(v).conns[info.Owner]; ok {
		o["owner_pid_details"] = c.peer(owner)
	}
	return o, nil
}

// persistent counts what a restart keeps: of a quorum queue all messages.
func persistent(q *leveret.Queue, info leveret.QueueInfo) (messages int, bytes int64) {
	if info.Type == leveret.QueueTypeQuorum {
		return info.Messages, info.Bytes
	}
	return q.Persistent()
}

// contents are what the queues of a virtual host refer to.
type contents struct {
	exclusive map[string]string           // tags of exclusive consumers, by queue
	conns     map[uint64]leveret.ConnInfo // by id
}

// contentsOf looks at a virtual host once for all queues that a request is about.
func (c *call) contentsOf(v *leveret.VHost) *contents {
	if found := c.looked[v.Name()]; found != nil {
		return found
	}
	found := &contents{map[string]string{}, map[uint64]leveret.ConnInfo{}}
	for _, cs := range v.Consumers() {
		if cs.Exclusive {
			found.exclusive[cs.Queue] = cs.Tag
		}
	}
	for _, conn := range v.Connections() {
		found.conns[conn.ID] = conn
	}
	if c.looked == nil {
		c.looked = map[string]*contents{}
	}
	c.looked[v.Name()] = found
	return found
}
