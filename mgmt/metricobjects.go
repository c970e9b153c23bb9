package mgmt

import "github.com/leveretmq/leveret"

// The metrics of objects, with the families that /metrics/detailed knows them by.

// A measuredQueue is a queue with its counters.
type measuredQueue struct {
	leveret.QueueInfo
	leveret.QueueCounters
}

// A measuredChannel is a channel with its connection.
type measuredChannel struct {
	leveret.ChannelInfo
	conn leveret.ConnInfo
}

var queueMetrics = catalogue[measuredQueue]{
	labels:   []string{"vhost", "queue"},
	values:   func(_ *node, q measuredQueue) []string { return []string{q.VHost, q.Name} },
	unsummed: "queue_consumer_capacity",
	metrics: []metric[measuredQueue]{
		{"queue_coarse_metrics", "queue_messages_ready", GaugeMetric, "Messages that wait to be delivered", func(q measuredQueue) float64 { return float64(q.Ready) }},
		{"queue_coarse_metrics", "queue_messages_unacked", GaugeMetric, "Messages that were delivered and not yet acknowledged", func(q measuredQueue) float64 { return float64(q.Unacked) }},
		{"queue_coarse_metrics", "queue_messages", GaugeMetric, "All messages", func(q measuredQueue) float64 { return float64(q.Messages) }},
		{consumerCount, "queue_consumers", GaugeMetric, "Consumers", func(q measuredQueue) float64 { return float64(q.Consumers) }},
		{"queue_metrics", "queue_consumers", GaugeMetric, "Consumers", func(q measuredQueue) float64 { return float64(q.Consumers) }},
		{"queue_metrics", "queue_consumer_capacity", GaugeMetric, "Whether consumers could take a message now", func(q measuredQueue) float64 { return float64(capacity(q.QueueInfo)) }},
		{"queue_metrics", "queue_consumer_utilisation", GaugeMetric, "Whether consumers could take a message now", func(q measuredQueue) float64 { return float64(capacity(q.QueueInfo)) }},
		{"queue_metrics", "queue_messages_ram", GaugeMetric, "All messages: none is anywhere else", func(q measuredQueue) float64 { return float64(q.Messages) }},
		{"queue_metrics", "queue_messages_ram_bytes", GaugeMetric, "Octets of the bodies of all messages", func(q measuredQueue) float64 { return float64(q.Bytes) }},
		{"queue_metrics", "queue_messages_ready_ram", GaugeMetric, "Messages that wait to be delivered: none is anywhere else", func(q measuredQueue) float64 { return float64(q.Ready) }},
		{"queue_metrics", "queue_messages_unacked_ram", GaugeMetric, "Messages that were delivered and not yet acknowledged: none is anywhere else", func(q measuredQueue) float64 { return float64(q.Unacked) }},
		{"queue_metrics", "queue_messages_bytes", GaugeMetric, "Octets of the bodies of all messages", func(q measuredQueue) float64 { return float64(q.Bytes) }},
		{"queue_metrics", "queue_messages_ready_bytes", GaugeMetric, "Octets of the bodies of messages that wait", func(q measuredQueue) float64 { return float64(q.BytesReady) }},
		{"queue_metrics", "queue_messages_unacked_bytes", GaugeMetric, "Octets of the bodies of unacknowledged messages", func(q measuredQueue) float64 { return float64(q.BytesUnacked) }},
		{"queue_delivery_metrics", "queue_get_ack_total", CounterMetric, "Messages that were got, to be acknowledged", func(q measuredQueue) float64 { return float64(q.Got) }},
		{"queue_delivery_metrics", "queue_get_total", CounterMetric, "Messages that were got and need not be acknowledged", func(q measuredQueue) float64 { return float64(q.GotNoAck) }},
		{"queue_delivery_metrics", "queue_messages_delivered_ack_total", CounterMetric, "Messages that were delivered to consumers that acknowledge", func(q measuredQueue) float64 { return float64(manual(q.DeliveryCounters)) }},
		{"queue_delivery_metrics", "queue_messages_delivered_total", CounterMetric, "Messages that were delivered to consumers that need not acknowledge", func(q measuredQueue) float64 { return float64(q.DeliveredNoAck) }},
		{"queue_delivery_metrics", "queue_messages_redelivered_total", CounterMetric, "Messages that were delivered again", func(q measuredQueue) float64 { return float64(q.Redelivered) }},
		{"queue_delivery_metrics", "queue_messages_acked_total", CounterMetric, "Messages that clients acknowledged", func(q measuredQueue) float64 { return float64(acks(q.DeliveryCounters)) }},
		{"queue_delivery_metrics", "queue_get_empty_total", CounterMetric, "Gets that found no message", func(q measuredQueue) float64 { return float64(q.GetEmpty) }},
		{"channel_queue_exchange_metrics", "queue_messages_published_total", CounterMetric, "Messages that were published to the queue", func(q measuredQueue) float64 { return float64(q.Published) }},
	},
}

var connectionMetrics = catalogue[leveret.ConnInfo]{
	labels: []string{"channel"}, // RabbitMQ calls the process of a connection so, too
	values: func(n *node, c leveret.ConnInfo) []string { return []string{n.connectionName(c)} },
	metrics: []metric[leveret.ConnInfo]{
		{"connection_coarse_metrics", "connection_incoming_bytes_total", CounterMetric, "Octets from clients", func(c leveret.ConnInfo) float64 { return float64(c.Transport.Traffic.Received) }},
		{"connection_coarse_metrics", "connection_outgoing_bytes_total", CounterMetric, "Octets to clients", func(c leveret.ConnInfo) float64 { return float64(c.Transport.Traffic.Sent) }},
		{"connection_metrics", "connection_incoming_packets_total", CounterMetric, "Reads from clients", func(c leveret.ConnInfo) float64 { return float64(c.Transport.Traffic.Reads) }},
		{"connection_metrics", "connection_outgoing_packets_total", CounterMetric, "Writes to clients", func(c leveret.ConnInfo) float64 { return float64(c.Transport.Traffic.Writes) }},
		{"connection_metrics", "connection_pending_packets", GaugeMetric, "Octets that are being written", func(c leveret.ConnInfo) float64 { return float64(c.Transport.Traffic.Pending) }},
		{"connection_metrics", "connection_channels", GaugeMetric, "Channels", func(c leveret.ConnInfo) float64 { return float64(len(c.Channels)) }},
	},
}

var channelMetrics = catalogue[measuredChannel]{
	labels: []string{"channel"},
	values: func(n *node, c measuredChannel) []string { return []string{n.channelName(c.conn, c.Number)} },
	metrics: []metric[measuredChannel]{
		{"channel_metrics", "channel_consumers", GaugeMetric, "Consumers", func(c measuredChannel) float64 { return float64(c.Consumers) }},
		{"channel_metrics", "channel_messages_unacked", GaugeMetric, "Messages that were delivered and not yet acknowledged", func(c measuredChannel) float64 { return float64(c.Unacked) }},
		{"channel_metrics", "channel_messages_uncommitted", GaugeMetric, "Publishes of the transaction", func(c measuredChannel) float64 { return float64(c.Uncommitted) }},
		{"channel_metrics", "channel_acks_uncommitted", GaugeMetric, "Settlements of the transaction", func(c measuredChannel) float64 { return float64(c.AcksUncommitted) }},
		{"channel_metrics", "consumer_prefetch", GaugeMetric, "Prefetch of consumers to come", func(c measuredChannel) float64 { return float64(c.Prefetch) }},
		{"channel_metrics", "channel_prefetch", GaugeMetric, "Prefetch of the whole channel", func(c measuredChannel) float64 { return float64(c.GlobalPrefetch) }},
		{"channel_exchange_metrics", "channel_messages_published_total", CounterMetric, "Messages that were published", func(c measuredChannel) float64 { return float64(c.Counters.Published) }},
		{"channel_exchange_metrics", "channel_messages_confirmed_total", CounterMetric, "Messages that were confirmed", func(c measuredChannel) float64 { return float64(c.Counters.Confirmed) }},
		{"channel_exchange_metrics", "channel_messages_unroutable_returned_total", CounterMetric, "Messages that reached no queue and were returned", func(c measuredChannel) float64 { return float64(c.Counters.UnroutableReturned) }},
		{"channel_exchange_metrics", "channel_messages_unroutable_dropped_total", CounterMetric, "Messages that reached no queue and were dropped", func(c measuredChannel) float64 { return float64(c.Counters.UnroutableDropped) }},
		{"channel_queue_metrics", "channel_get_ack_total", CounterMetric, "Messages that were got, to be acknowledged", func(c measuredChannel) float64 { return float64(c.Counters.Got) }},
		{"channel_queue_metrics", "channel_get_total", CounterMetric, "Messages that were got and need not be acknowledged", func(c measuredChannel) float64 { return float64(c.Counters.GotNoAck) }},
		{"channel_queue_metrics", "channel_messages_delivered_ack_total", CounterMetric, "Messages that were delivered to consumers that acknowledge", func(c measuredChannel) float64 { return float64(manual(c.Counters.DeliveryCounters)) }},
		{"channel_queue_metrics", "channel_messages_delivered_total", CounterMetric, "Messages that were delivered to consumers that need not acknowledge", func(c measuredChannel) float64 { return float64(c.Counters.DeliveredNoAck) }},
		{"channel_queue_metrics", "channel_messages_redelivered_total", CounterMetric, "Messages that were delivered again", func(c measuredChannel) float64 { return float64(c.Counters.Redelivered) }},
		{"channel_queue_metrics", "channel_messages_acked_total", CounterMetric, "Messages that were acknowledged", func(c measuredChannel) float64 { return float64(acks(c.Counters.DeliveryCounters)) }},
		{"channel_queue_metrics", "channel_get_empty_total", CounterMetric, "Gets that found no message", func(c measuredChannel) float64 { return float64(c.Counters.GetEmpty) }},
	},
}

var exchangeMetrics = catalogue[leveret.ExchangeInfo]{
	labels: []string{"vhost", "exchange"},
	values: func(_ *node, e leveret.ExchangeInfo) []string { return []string{e.VHost, e.Name} },
	metrics: []metric[leveret.ExchangeInfo]{
		{"exchange_metrics", "exchange_messages_published_total", CounterMetric, "Messages that were published to the exchange", func(e leveret.ExchangeInfo) float64 { return float64(e.Counters.Published) }},
		{"exchange_metrics", "exchange_messages_confirmed_total", CounterMetric, "Messages that were confirmed", func(e leveret.ExchangeInfo) float64 { return float64(e.Counters.Confirmed) }},
		{"exchange_metrics", "exchange_messages_unroutable_returned_total", CounterMetric, "Messages that reached no queue and were returned", func(e leveret.ExchangeInfo) float64 { return float64(e.Counters.UnroutableReturned) }},
		{"exchange_metrics", "exchange_messages_unroutable_dropped_total", CounterMetric, "Messages that reached no queue and were dropped", func(e leveret.ExchangeInfo) float64 { return float64(e.Counters.UnroutableDropped) }},
	},
}
