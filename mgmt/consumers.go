package mgmt

import (
	"slices"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/activity"
)

func (c *call) consumers() (any, error) {
	vhosts, err := c.listed()
	switch {
	case err != nil:
		return nil, err
	case c.statsDisabled():
		return nil, errNoStatistics
	}
	if !c.ofVHost && c.isMonitor() {
		vhosts = c.visible()
	}
	l := list{}
	for _, v := range vhosts {
		for _, o := range c.describeConsumers(v, func(leveret.ConsumerInfo) bool { return true }) {
			if details, ok := o["channel_details"].(object); c.isMonitor() || ok && details["user"] == c.user.Name {
				l = append(l, shown(o))
			}
		}
	}
	return l, nil
}

// consumersOf describes the consumers of a queue.
func (c *call) consumersOf(v *leveret.VHost, queue string) []object {
	return c.describeConsumers(v, func(cs leveret.ConsumerInfo) bool { return cs.Queue == queue })
}

func (c *call) describeConsumers(v *leveret.VHost, which func(leveret.ConsumerInfo) bool) []object {
	conns := map[uint64]leveret.ConnInfo{}
	for _, conn := range v.Connections() {
		conns[conn.ID] = conn
	}
	all, queues := []object{}, map[string]leveret.QueueInfo{}
	for _, cs := range v.Consumers() {
		if !which(cs) {
			continue
		}
		info, known := queues[cs.Queue]
		if q, err := v.Queue(cs.Queue); err == nil && !known {
			info = q.Info()
			queues[cs.Queue] = info
		}
		all = append(all, c.describeConsumer(cs, info, conns))
	}
	return all
}

func (c *call) describeConsumer(cs leveret.ConsumerInfo, queue leveret.QueueInfo, conns map[uint64]leveret.ConnInfo) object {
	o := object{"consumer_tag": cs.Tag, "queue": object{"name": cs.Queue, "vhost": cs.VHost}, "ack_required": cs.AckRequired,
		"exclusive": cs.Exclusive, "prefetch_count": cs.Prefetch, "active": cs.Active, "activity_status": c.activity(cs, queue),
		"arguments": fields(cs.ArgumentFields), "consumer_timeout": c.consumerTimeout(queue), "channel_details": []any{}}
	if conn, ok := conns[cs.Conn]; ok {
		details := c.peer(conn)
		details["connection_name"] = details["name"]
		details["name"], details["number"] = c.channelName(conn, cs.Channel), cs.Channel
		details["node"], details["user"] = c.NodeName, conn.User
		o["channel_details"] = details
	}
	c.omitUnknown(o)
	return o
}

// activity says whether a consumer is served, in one word or in two.
func (c *call) activity(cs leveret.ConsumerInfo, queue leveret.QueueInfo) any {
	words := activity.Of(cs, queue, c.broker.Profile())
	if len(words) == 1 {
		return words[0]
	}
	return words
}

// consumerTimeout returns the limit that a queue's argument and policy set, in milliseconds: the lower one; without any the node's. A queue of a
// type that has no such limit shows its policy's, too, and no consumer its own.
func (c *call) consumerTimeout(queue leveret.QueueInfo) int64 {
	var set []int64
	for _, value := range []any{queue.Arguments[leveret.ArgConsumerTimeout], queue.EffectivePolicy["consumer-timeout"]} {
		if value != nil {
			set = append(set, integer(value))
		}
	}
	if set == nil {
		return c.broker.ConsumerTimeout().Milliseconds()
	}
	return slices.Min(set)
}
