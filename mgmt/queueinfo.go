package mgmt

import (
	"fmt"
	"maps"
	"reflect"
	"sync"
	"time"

	"github.com/leveretmq/leveret"
)

// describeQueue is a queue as details have it.
func (c *call) describeQueue(v *leveret.VHost, info leveret.QueueInfo) (object, error) {
	o := object{"name": info.Name, "vhost": info.VHost, "node": c.NodeName, "internal": false, "internal_owner": false,
		"arguments": fields(info.ArgumentFields), "effective_policy_definition": arguments(info.EffectivePolicy)}
	fill(o, declaredColumns, &info)
	mirrored := c.describeMirrors(o, info)
	q, err := v.Queue(info.Name)
	if c.statsDisabled() {
		c.withoutStatistics(o, info)
		if err == nil && info.Type == leveret.QueueTypeQuorum {
			c.describeMembers(o)
			c.describeDeliveryLimit(o, q)
			if c.oldFeatures {
				delete(o, "node") // 3.10 has the leader only
			}
		}
		return o, nil
	}
	if err != nil {
		return o, nil // deleted meanwhile
	}
	fill(o, statisticsColumns, &info)
	c.describeType(o, q, info)
	if mirrored {
		describeMirroring(o, info)
	}
	c.addTags(o, v, info)
	c.omitUnknown(o)
	s, f := subject{aQueue, info.VHost, info.Name}, queueFigures(info, q.Counters())
	if info.Type == leveret.QueueTypeClassic {
		o["head_message_timestamp"] = costly(func() any { return c.headTimestamp(v, info.Name) })
		c.showIdle(o, s, f)
	}
	if err := c.messageStats(o, s, f, queueStats); err != nil {
		return nil, err
	}
	return o, c.show(o, s, f, lengths)
}

// withoutStatistics has a queue without statistics tell its lengths, if the request wants that. RabbitMQ then leaves out some
// of the rest, as 3.10 always does.
func (c *call) withoutStatistics(o object, info leveret.QueueInfo) {
	isAlone, isQuorum := c.path("queue") != "", info.Type == leveret.QueueTypeQuorum
	totals := c.query("enable_queue_totals") == "true" && !(isAlone && c.hidesFields)
	switch {
	case totals:
		o["messages"], o["messages_ready"], o["messages_unacknowledged"], o["online"] = info.Messages, info.Ready, info.Unacked, nil
		if isQuorum {
			o["exclusive"] = nil
		}
	case c.hidesFields:
		o["state"] = "live"
	default:
		return
	}
	if c.hidesFields {
		delete(o, "online")
	}
	if info.Policy == "" || isAlone && c.hidesFields {
		delete(o, "policy")
	}
	if !isQuorum || c.hidesFields {
		delete(o, "operator_policy")
		delete(o, "effective_policy_definition")
	}
	if !isAlone || c.hidesFields {
		delete(o, "internal")
		delete(o, "internal_owner")
	}
}

// showIdle puts into an object since when a subject has had nothing to do.
func (c *call) showIdle(o object, s subject, f figures) {
	if since, known := c.recorder.idleSince(s, f); known {
		o["idle_since"] = since.UTC().Format("2006-01-02T15:04:05.000+00:00")
	}
}

// describeListedQueue is a queue in a list. In brief it has no member that is null.
func (c *call) describeListedQueue(v *leveret.VHost, info leveret.QueueInfo) (object, error) {
	o, err := c.describeQueue(v, info)
	if err == nil && c.briefLists && c.columns() == nil && !c.statsDisabled() {
		maps.DeleteFunc(o, func(name string, value any) bool { return name == "idle_since" || isNull(value) })
	}
	return o, err
}

// addTags tells which consumer of a queue is the only one. 3.10 calls that of a quorum queue a ctag.
func (c *call) addTags(o object, v *leveret.VHost, info leveret.QueueInfo) {
	only := textOrNull(info.SingleActive)
	switch {
	case info.Type == leveret.QueueTypeClassic:
		o["single_active_consumer_tag"] = only
		o["exclusive_consumer_tag"] = textOrNull(c.contentsOf(v).exclusive[info.Name])
	case !c.oldFeatures:
		o["single_active_consumer_tag"] = only
	default:
		o["single_active_consumer_ctag"] = only
	}
}

// describeType adds what only one type of queues has.
func (c *call) describeType(o object, q *leveret.Queue, info leveret.QueueInfo) {
	if info.Type != leveret.QueueTypeQuorum {
		o["messages_ready_ram"], o["messages_unacknowledged_ram"], o["storage_version"] = info.Ready, info.Unacked, 2
		c.describeOldQueue(o, q, info)
		return
	}
	c.describeMembers(o)
	o["open_files"] = object{c.NodeName: 0}
	delayed, dead := waiting(q, info)
	o["messages_dlx"], o["message_bytes_dlx"] = dead, info.Bytes-info.BytesReady-info.BytesUnacked
	if c.oldFeatures {
		return
	}
	o["messages_delayed"], o["messages_ready_returned"], o["publishers"] = len(delayed), info.Returned, info.Publishers
	if len(delayed) > 0 {
		o["next_delayed_at"], o["last_delayed_at"] = delayed[0].DueAt.UnixMilli(), delayed[len(delayed)-1].DueAt.UnixMilli()
	}
	o["messages_by_priority"], o["messages_active_priorities"] = info.ByPriority, len(info.ByPriority)
	o["delayed_retry"] = delayedRetry(q.Effective())
	c.describeDeliveryLimit(o, q)
	if limit, _ := o["delivery_limit"].(int64); limit < 0 {
		o["delivery_limit"] = "unlimited"
	}
}

// delayedRetry says which messages that come back wait, and how long. None do without a shortest wait.
func delayedRetry(settings leveret.Effective) string {
	ms := func(key string) int64 {
		s, _ := settings.Get(key)
		n, _ := s.Value.(int64)
		return n
	}
	kind, _ := settings.Get("delayed-retry-type")
	shortest, longest := ms("delayed-retry-min"), ms("delayed-retry-max")
	switch kind.Value {
	case "all", "failed", "returned":
	default:
		shortest = 0
	}
	if shortest <= 0 {
		return "disabled"
	}
	if longest <= 0 {
		longest = shortest
	}
	return fmt.Sprintf("%s (min: %dms, max: %dms)", kind.Value, shortest, longest)
}

// describeMembers adds the members of a quorum queue: the one node.
func (c *call) describeMembers(o object) {
	o["leader"], o["members"], o["online"] = c.NodeName, []string{c.NodeName}, []string{c.NodeName}
}

// describeDeliveryLimit adds the limit that RabbitMQ 4.3 tells of without statistics, too.
func (c *call) describeDeliveryLimit(o object, q *leveret.Queue) {
	if c.oldFeatures {
		return
	}
	if s, ok := q.Effective().Get("delivery-limit"); ok && s.Value != nil {
		o["delivery_limit"] = s.Value
	}
}

// describeMirrors adds the nodes with mirrors of a queue that a policy of RabbitMQ 3.10 mirrors: there are none but this one. It reports
// whether there is such a policy.
func (c *call) describeMirrors(o object, info leveret.QueueInfo) bool {
	if !c.oldFeatures || info.Type != leveret.QueueTypeClassic || info.Exclusive || info.EffectivePolicy["ha-mode"] == nil {
		return false
	}
	o["slave_nodes"], o["synchronised_slave_nodes"] = []string{}, []string{}
	return true
}

// describeMirroring adds to the statistics of a queue what there is if it is mirrored.
func describeMirroring(o object, info leveret.QueueInfo) {
	if info.Durable {
		o["recoverable_slaves"] = []string{}
	}
	status := o["backing_queue_status"].(object)
	status["mirror_seen"], status["mirror_senders"] = 0, 0
}

// describeOldQueue adds what RabbitMQ 3.10 tells of a classic queue: of its mirrors, if no policy mirrors it, and of the stages
// in which it keeps its messages. Here all are in the last one, in memory.
func (c *call) describeOldQueue(o object, q *leveret.Queue, info leveret.QueueInfo) {
	if !c.oldFeatures {
		return
	}
	o["recoverable_slaves"], o["messages_paged_out"], o["message_bytes_paged_out"] = nil, 0, 0
	s, n := subject{aQueue, info.VHost, info.Name}, queueFigures(info, q.Counters())
	rate := func(f figure) decimal { return decimal(c.recorder.rate(s, f, moment{time.Now(), n[f]})) }
	status := object{"version": given(info, "queue-version", 1), "mode": mode(info), "target_ram_count": "infinity",
		"delta": []any{"delta", "undefined", 0, 0, "undefined"}, "q1": 0, "q2": 0, "q3": 0, "q4": info.Ready, "len": info.Ready,
		"next_seq_id": n[publish], "next_deliver_seq_id": n[deliverGet], "avg_ingress_rate": rate(publish),
		"avg_egress_rate": rate(deliverGet), "avg_ack_ingress_rate": rate(deliver) + rate(get), "avg_ack_egress_rate": rate(ack)}
	combineLevels(status, info)
	o["backing_queue_status"] = status
}

// mode is the queue mode, which outlasts the policy that has set it.
func mode(info leveret.QueueInfo) string {
	if info.Lazy {
		return "lazy"
	}
	return "default"
}

// given is what the argument for a policy's key says, else the policy, else the default.
func given(info leveret.QueueInfo, key string, otherwise any) any {
	if v := info.Arguments["x-"+key]; v != nil {
		return v
	}
	if v := info.EffectivePolicy[key]; v != nil {
		return v
	}
	return otherwise
}

// combineLevels puts together what the queues of the priorities say, of which each is a queue of its own to RabbitMQ: it adds up their
// versions, too, and knows no way to put together two deltas.
func combineLevels(status object, info leveret.QueueInfo) {
	highest := info.Arguments[leveret.ArgMaxPriority]
	if highest == nil {
		return
	}
	levels := int(integer(highest)) + 1
	lengths := make(map[int]int, levels)
	for level := range levels {
		lengths[level] = info.ByPriority[level]
	}
	status["priority_lengths"] = lengths
	if levels == 1 {
		lengths[0] = info.Ready // a queue without priorities (rule Q-21)
		return
	}
	status["version"] = integer(status["version"]) * int64(levels)
	status["delta"] = []string{"delta", "todo", "todo", "todo", "todo"}
}

// integer is the number in a queue's argument, which was checked when the queue was declared, or in a policy.
func integer(v any) int64 {
	n := reflect.ValueOf(v)
	if n.CanUint() {
		return int64(n.Uint())
	}
	return n.Int()
}

// waiting returns the messages that wait for a retry, the next one first, and counts the dead letters that wait.
func waiting(q *leveret.Queue, info leveret.QueueInfo) (delayed []leveret.MessageInfo, dead int) {
	if info.Messages == info.Ready+info.Unacked {
		return nil, 0
	}
	for _, m := range q.Waiting() {
		if m.DeadLetter == "" {
			delayed = append(delayed, m)
		} else {
			dead++
		}
	}
	return delayed, dead
}

// headTimestamp is the timestamp of a classic queue's head, in seconds; null if it has none.
func (c *call) headTimestamp(v *leveret.VHost, queue string) any {
	if made, ok := c.contentsOf(v).heads()[queue]; ok {
		return made.Unix()
	}
	return nil
}

// contents are what the queues of a virtual host refer to.
type contents struct {
	exclusive map[string]string           // tags of exclusive consumers, by queue
	heads     func() map[string]time.Time // of classic queues, by name
}

// contentsOf looks at a virtual host once for all queues that a request is about.
func (c *call) contentsOf(v *leveret.VHost) *contents {
	if found := c.looked[v.Name()]; found != nil {
		return found
	}
	found := &contents{map[string]string{}, sync.OnceValue(v.HeadTimestamps)}
	for _, cs := range v.Consumers() {
		if cs.Exclusive {
			found.exclusive[cs.Queue] = cs.Tag
		}
	}
	if c.looked == nil {
		c.looked = map[string]*contents{}
	}
	c.looked[v.Name()] = found
	return found
}
