package blackbox_test

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

// counted is a broker with an exchange x that leads to a classic queue c and a quorum queue q, and a client's channel.
func counted(t *testing.T, opts ...leveret.Option) (*leveret.Broker, *leveret.Channel) {
	b, _ := newTestBroker(t, opts...)
	mustDeclare(t, b, "c", nil)
	mustDeclare(t, b, "q", leveret.Table{leveret.ArgQueueType: leveret.QueueTypeQuorum})
	_, err := b.DeclareExchange("x", leveret.Fanout, leveret.ExchangeConfig{})
	require.NoError(t, err)
	for _, name := range []string{"c", "q"} {
		require.NoError(t, b.BindQueue(name, "x", "", nil))
	}
	conn, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	return b, ch
}

func publishTo(t *testing.T, ch *leveret.Channel, exchange, key string, m leveret.Message) {
	_, err := ch.Publish(exchange, key, m)
	require.NoError(t, err)
}

func exchangeCounters(t *testing.T, b *leveret.Broker, name string) leveret.ExchangeCounters {
	x, err := b.Exchange(name)
	require.NoError(t, err)
	return x.Info().Counters
}

func channelCounters(b *leveret.Broker) leveret.ChannelCounters {
	return b.Connections()[0].Channels[0].Counters
}

func queueCounters(t *testing.T, b *leveret.Broker, name string) leveret.QueueCounters {
	q, err := b.Queue(name)
	require.NoError(t, err)
	return q.Counters()
}

// What publishers send is counted by exchange, by channel, by queue and for the whole broker.
func TestCountersOfPublishes(t *testing.T) {
	b, ch := counted(t)
	publishTo(t, ch, "x", "", leveret.Message{})
	require.NoError(t, ch.Confirm())
	publishTo(t, ch, "x", "", leveret.Message{})
	publishTo(t, ch, "", "none", leveret.Message{})
	publishTo(t, ch, "", "none", leveret.Message{Mandatory: true})
	publishTo(t, ch, "", "c", leveret.Message{})
	_, err := b.Publish("x", "", leveret.Message{})
	require.NoError(t, err)

	require.Equal(t, leveret.ExchangeCounters{PublishCounters: leveret.PublishCounters{Published: 3, Confirmed: 1}, RoutedCopies: 6},
		exchangeCounters(t, b, "x"))
	require.Equal(t, leveret.ExchangeCounters{RoutedCopies: 1,
		PublishCounters: leveret.PublishCounters{Published: 3, Confirmed: 3, UnroutableDropped: 1, UnroutableReturned: 1}},
		exchangeCounters(t, b, ""))
	require.Equal(t, leveret.ChannelCounters{
		PublishCounters: leveret.PublishCounters{Published: 5, Confirmed: 4, UnroutableDropped: 1, UnroutableReturned: 1}},
		channelCounters(b))
	require.EqualValues(t, 4, queueCounters(t, b, "c").Published)
	require.EqualValues(t, 3, queueCounters(t, b, "q").Published)
	all := b.Counters()
	require.Equal(t, leveret.PublishCounters{Published: 6, Confirmed: 4, UnroutableDropped: 1, UnroutableReturned: 1}, all.PublishCounters)
	require.EqualValues(t, 4, all.Routed)
	require.EqualValues(t, 7, all.RoutedCopies)
	require.EqualValues(t, 4, all.ConfirmsExpected)
	require.NoError(t, ch.Close())
	_, err = b.Publish("x", "", leveret.Message{})
	require.NoError(t, err)
	require.EqualValues(t, 7, b.Counters().Published, "those of a closed channel stay")
}

// A transaction is counted when it is committed, and its messages as such whose fate the publisher is told.
func TestCountersOfTransactions(t *testing.T) {
	b, ch := counted(t)
	require.NoError(t, ch.Tx())
	publishTo(t, ch, "x", "", leveret.Message{})
	require.Zero(t, b.Counters().Published)
	require.Zero(t, exchangeCounters(t, b, "x"))
	_, err := ch.Commit()
	require.NoError(t, err)
	require.EqualValues(t, 1, exchangeCounters(t, b, "x").Published)
	require.EqualValues(t, 1, channelCounters(b).Published)
	require.EqualValues(t, 1, b.Counters().ConfirmsExpected)
	require.Zero(t, b.Counters().Confirmed)
}

// A message of a transaction whose queue is gone by the commit was published, and reached nothing.
func TestCountersOfALostCommit(t *testing.T) {
	b, ch := counted(t)
	require.NoError(t, ch.Tx())
	publishTo(t, ch, "", "c", leveret.Message{})
	_, err := b.DeleteQueue("c", leveret.DeleteConfig{})
	require.NoError(t, err)
	mustDeclare(t, b, "c", nil)
	_, err = ch.Commit()
	require.ErrorIs(t, err, leveret.ErrPreconditionFailed)
	require.Equal(t, leveret.ExchangeCounters{PublishCounters: leveret.PublishCounters{Published: 1}}, exchangeCounters(t, b, ""))
	require.EqualValues(t, 1, b.Counters().Published)
	require.Zero(t, b.Counters().Routed)
	require.Zero(t, b.Counters().RoutedCopies)
}

// A refused publish reached its queue; a dead letter, taken or refused, was not published there.
func TestCountersOfRefusals(t *testing.T) {
	b, ch := counted(t)
	full := leveret.Table{leveret.ArgMaxLength: 1, leveret.ArgOverflow: leveret.OverflowRejectPublish}
	mustDeclare(t, b, "full", full)
	mustDeclare(t, b, "brief", leveret.Table{leveret.ArgMessageTTL: 0, leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "full"})
	require.NoError(t, ch.Confirm())
	for _, key := range []string{"brief", "brief", "full"} {
		publishTo(t, ch, "", key, leveret.Message{})
	}
	got := queueCounters(t, b, "full")
	require.EqualValues(t, 1, got.Published)
	require.EqualValues(t, 1, got.Enqueued)
	require.EqualValues(t, 2, got.Refused)
	require.EqualValues(t, 3, exchangeCounters(t, b, "").Published, "dead letters are not counted")
	require.EqualValues(t, 2, channelCounters(b).Confirmed)
	require.EqualValues(t, 3, b.Counters().ConfirmsExpected)
}

// Deliveries are counted by the way in which they are made: by channel, by queue, by type of queue and altogether.
func TestCountersOfDeliveries(t *testing.T) {
	b, ch := counted(t)
	for range 4 {
		publishTo(t, ch, "x", "", leveret.Message{})
	}
	get := func(queue string, cfg leveret.GetConfig) *leveret.Delivery {
		d, _, err := ch.Get(queue, cfg)
		require.NoError(t, err)
		return d
	}
	require.NoError(t, get("c", leveret.GetConfig{}).Nack(true))
	require.NoError(t, get("c", leveret.GetConfig{}).Ack())
	get("c", leveret.GetConfig{NoAck: true})
	require.NoError(t, get("c", leveret.GetConfig{}).Reject(false))
	get("c", leveret.GetConfig{NoAck: true})
	get("c", leveret.GetConfig{})
	_, err := ch.Consume("q", leveret.ConsumeConfig{Tag: "no ack", NoAck: true})
	require.NoError(t, err)
	require.NoError(t, ch.Cancel("no ack"))
	publishTo(t, ch, "x", "", leveret.Message{})
	_, err = ch.Consume("q", leveret.ConsumeConfig{})
	require.NoError(t, err)
	require.NoError(t, ch.Ack(0, true))

	classic := leveret.DeliveryCounters{Delivered: 5, Got: 3, GotNoAck: 2, GetEmpty: 1, Redelivered: 1, Acknowledged: 3, Requeued: 1, Rejected: 1}
	quorum := leveret.DeliveryCounters{Delivered: 5, DeliveredNoAck: 4, Acknowledged: 5}
	both := leveret.DeliveryCounters{Delivered: 10, DeliveredNoAck: 4, Got: 3, GotNoAck: 2, GetEmpty: 1, Redelivered: 1,
		Acknowledged: 8, Requeued: 1, Rejected: 1}
	require.Equal(t, classic, queueCounters(t, b, "c").DeliveryCounters)
	require.Equal(t, quorum, queueCounters(t, b, "q").DeliveryCounters)
	require.Equal(t, both, channelCounters(b).DeliveryCounters)
	for _, name := range []string{"c", "q"} {
		_, err := b.DeleteQueue(name, leveret.DeleteConfig{})
		require.NoError(t, err)
	}
	require.NoError(t, ch.Close())
	all := b.Counters()
	require.Equal(t, classic, all.Classic, "what deleted queues and closed channels have counted stays")
	require.Equal(t, quorum, all.Quorum)
	require.Equal(t, both, all.DeliveryCounters)
}

// Sizes are those of bodies. A message that is larger than the broker takes is not counted.
func TestCountersOfSizes(t *testing.T) {
	b, ch := counted(t, leveret.WithMaxMessageSize(20_000))
	for _, size := range []int{0, 100, 101, 10_001, 20_000} {
		publishTo(t, ch, "", "none", leveret.Message{Body: make([]byte, size)})
	}
	_, err := ch.Publish("", "none", leveret.Message{Body: make([]byte, 20_001)})
	require.ErrorIs(t, err, leveret.ErrPreconditionFailed)
	want := leveret.SizeCounters{Octets: 30_202, Upto: [8]uint64{2, 1, 0, 2}}
	require.Equal(t, want, b.Counters().Sizes)
	require.Len(t, want.Upto, len(leveret.SizeBounds))
}
