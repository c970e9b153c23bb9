package leveret_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The tests of this file show what a script cannot: names that the broker makes up, sequence numbers, times of deaths, and more of
// listings than scripts compare.

// unscripted is a broker on a clock of its own, with a channel as a client on the network has.
func unscripted(t *testing.T) (*leveret.Broker, *leveret.ManualClock, *leveret.Channel) {
	t.Helper()
	clock := leveret.NewManualClock(time.Unix(1_000_000, 0))
	b := leveret.New(leveret.WithClock(clock))
	t.Cleanup(func() { assert.NoError(t, b.Close()) })
	return b, clock, openChannel(t, b)
}

func openChannel(t *testing.T, b *leveret.Broker) *leveret.Channel {
	t.Helper()
	conn, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	return ch
}

func declareWith(t *testing.T, b *leveret.Broker, name string, args leveret.Table) {
	t.Helper()
	_, err := b.DeclareQueue(name, leveret.QueueConfig{Durable: true, Arguments: args})
	require.NoError(t, err)
}

func TestGeneratedConsumerTag(t *testing.T) { // D-16
	b, _, ch := unscripted(t)
	declareWith(t, b, "q", nil)
	c, err := ch.Consume("q", leveret.ConsumeConfig{})
	require.NoError(t, err)
	assert.Regexp(t, `^amq\.ctag-.{22}$`, c.Tag())
}

func TestConfirmTwiceGoesOnCounting(t *testing.T) { // C-1
	b, _, ch := unscripted(t)
	declareWith(t, b, "q", nil)
	for want := range uint64(3) {
		require.NoError(t, ch.Confirm())
		out, err := ch.Publish("", "q", leveret.Message{})
		require.NoError(t, err)
		assert.Equal(t, want+1, out.Sequence)
	}
}

// A message whose at-least-once letter waits is one of its queue's messages, though neither ready nor unacknowledged. The
// letter has the time of the death, however late its target takes it.
func TestPendingDeadLetter(t *testing.T) { // DL-14, DL-29, DL-32
	b, clock, _ := unscripted(t)
	declareWith(t, b, "full", leveret.Table{leveret.ArgMaxLength: 1, leveret.ArgOverflow: "reject-publish"})
	declareWith(t, b, "q", leveret.Table{
		leveret.ArgQueueType: "quorum", leveret.ArgOverflow: "reject-publish", leveret.ArgDeadLetterStrategy: "at-least-once",
		leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "full", leveret.ArgMessageTTL: 1000,
	})
	for _, queue := range []string{"full", "q"} {
		_, err := b.Publish("", queue, leveret.Message{})
		require.NoError(t, err)
	}
	clock.Advance(5 * time.Second)
	full, err := b.Queue("full")
	require.NoError(t, err)
	q, err := b.Queue("q")
	require.NoError(t, err)
	assert.Equal(t, [2]int{0, 1}, [2]int{q.Info().Ready, q.Info().Messages})
	_, err = full.Purge()
	require.NoError(t, err)
	clock.Advance(10 * time.Minute)
	assert.Equal(t, 0, q.Info().Messages)
	d, ok, err := full.Get(leveret.GetConfig{NoAck: true})
	require.NoError(t, err)
	require.True(t, ok)
	assert.Equal(t, time.Unix(1_000_001, 0).UTC(), d.Deaths()[0].Time.UTC())
}

// Consumers that timed out are listed as such, among the others, in the order of their subscriptions.
func TestListedConsumerThatTimedOut(t *testing.T) { // D-35a
	b, clock, ch := unscripted(t)
	declareWith(t, b, "q", leveret.Table{leveret.ArgQueueType: "quorum"})
	for i, timeout := range []int{60_000, 1000, 60_000} {
		_, err := ch.Consume("q", leveret.ConsumeConfig{Tag: "c" + strconv.Itoa(i), Prefetch: 1, Arguments: leveret.Table{leveret.ArgConsumerTimeout: timeout}})
		require.NoError(t, err)
	}
	for range 3 {
		_, err := b.Publish("", "q", leveret.Message{})
		require.NoError(t, err)
	}
	clock.Advance(3 * time.Second)
	var listed []string
	for _, c := range b.Consumers() {
		listed = append(listed, c.Tag+" "+strconv.FormatBool(c.TimedOut))
	}
	assert.Equal(t, []string{"c0 false", "c1 true", "c2 false"}, listed)
}

// Arguments of a binding are listed by name, those of a queue of 3.10 as they were given.
func TestOrderOfListedArguments(t *testing.T) { // E-11
	b := leveret.New(leveret.WithProfile(leveret.RabbitMQ310))
	ch := openChannel(t, b)
	given := leveret.Fields{{Name: "z", Value: int32(1)}, {Name: "a", Value: int32(2)}}
	_, err := ch.DeclareQueue("q", leveret.QueueConfig{Durable: true, ArgumentFields: given})
	require.NoError(t, err)
	require.NoError(t, ch.Bind(leveret.Binding{Source: "amq.headers", Destination: "q", Arguments: given}))
	for _, q := range b.Queues() {
		assert.Equal(t, given, q.ArgumentFields)
	}
	for _, binding := range b.Bindings() {
		if binding.Source != "" {
			assert.Equal(t, leveret.Fields{given[1], given[0]}, binding.ArgumentFields)
		}
	}
	require.NoError(t, b.Close())
}

// A node that is stopped tells its clients; one that is killed tells nobody.
func TestEndOfTheNode(t *testing.T) {
	b, _, _ := unscripted(t)
	for as, cut := range map[leveret.NodeEnd]bool{leveret.StoppedNode: false, leveret.KilledNode: true} {
		ch := openChannel(t, b)
		require.NoError(t, b.Restart(as))
		var why *leveret.Error
		require.ErrorAs(t, ch.Confirm(), &why)
		assert.Equal(t, leveret.ConnectionForced, why.Code)
		assert.Equal(t, cut, why.Cut)
	}
}
