package trace_test

import (
	"strings"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/journey"
	"github.com/leveretmq/leveret/leverettest"
	"github.com/leveretmq/leveret/trace"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// retrying has a queue whose rejected messages come back after ten seconds.
func retrying(t *testing.T, p leveret.Profile) (*leveret.VHost, *leveret.ManualClock) {
	clock := leveret.NewManualClock(time.Unix(1e9, 0))
	b := leverettest.New(t, leveret.WithClock(clock), leveret.WithProfile(p))
	declare := func(name string, args leveret.Table) {
		_, err := b.DeclareQueue(name, leveret.QueueConfig{Durable: true, Arguments: args})
		require.NoError(t, err)
	}
	declare("work", leveret.Table{leveret.ArgQueueType: leveret.QueueTypeQuorum, leveret.ArgDeliveryLimit: 3,
		leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "wait"})
	declare("wait", leveret.Table{leveret.ArgMessageTTL: 10 * time.Second, leveret.ArgDeadLetterExchange: "",
		leveret.ArgDeadLetterRoutingKey: "work"})
	v, err := b.VHost("/")
	require.NoError(t, err)
	return v, clock
}

// run traces a message to the queue work, with consumers as they are written.
func run(t *testing.T, v *leveret.VHost, clock *leveret.ManualClock, consumers ...string) *trace.Result {
	p := trace.Plan{RoutingKey: "work"}
	for _, line := range consumers {
		c, err := trace.ParseConsumer(line)
		require.NoError(t, err)
		p.Consumers = append(p.Consumers, c)
	}
	r, err := trace.Run(v, clock, p)
	require.NoError(t, err)
	users := v.Broker().Users()
	require.Len(t, users, 1, "the consumers' user is gone")
	require.Empty(t, v.Connections())
	return r
}

// TestConsumersAct has each deed, at once and after a time.
func TestConsumersAct(t *testing.T) {
	for _, c := range []struct {
		consumer string
		ends     journey.Ends
		after    time.Duration // when the last thing happened
		says     string
	}{
		{"work: ack", journey.Ends{Acked: 1}, 0, "acknowledged in work"},
		{"work: 5s ack", journey.Ends{Acked: 1}, 5 * time.Second, "5s  acknowledged in work"},
		{"work: reject x2, 1s ack", journey.Ends{Acked: 1}, 21 * time.Second, "20s              delivered from work"},
		{"work: reject", journey.Ends{Waiting: 1}, 10 * time.Second, "is in work, ready"},
		{"work: 1m reject, 1m reject, ack", journey.Ends{Acked: 1}, 140 * time.Second, "died in work (rejected)"},
		{"work: requeue", journey.Ends{Waiting: 1}, 0, "is in work, ready"},
		{"work: requeue x5, ack", journey.Ends{Acked: 1}, 0, "acknowledged in work"},
		{"work: hold", journey.Ends{Waiting: 1}, 30 * time.Minute, "30m0s  requeued in work"},
		{"wait: reject", journey.Ends{Waiting: 1}, 0, "is in work, ready"},
		{"wait: 11s ack", journey.Ends{Waiting: 1}, 0, "is in work, ready"},
	} {
		v, clock := retrying(t, leveret.RabbitMQ43)
		r := run(t, v, clock, c.consumer)
		assert.Equal(t, c.ends, r.Journey.Ends(), c.consumer)
		assert.Equal(t, c.after, clock.Now().Sub(time.Unix(1e9, 0)), c.consumer)
		assert.Contains(t, r.String(), c.says, c.consumer)
		assert.False(t, r.Later, c.consumer)
		assert.Empty(t, r.Failed, c.consumer)
	}
}

// TestSeveralConsumers take turns, and each stops after its last act.
func TestSeveralConsumers(t *testing.T) {
	v, clock := retrying(t, leveret.RabbitMQ43)
	r := run(t, v, clock, "wait: ack", "work: reject", "work: ack")
	assert.Equal(t, journey.Ends{Acked: 1}, r.Journey.Ends())
	assert.Contains(t, r.String(), `delivered from wait to consumer "consumer 1"`)
	assert.NotContains(t, r.String(), "consumer 3")
}

// TestTooLate has a consumer that works for longer than its timeout, in the release that closes its channel then.
func TestTooLate(t *testing.T) {
	v, clock := retrying(t, leveret.RabbitMQ310)
	r := run(t, v, clock, "work: 31m ack")
	assert.Equal(t, journey.Ends{Waiting: 1}, r.Journey.Ends())
	require.Len(t, r.Failed, 1)
	assert.True(t, strings.HasPrefix(r.Failed[0], "consumer 1 of work could not ack: "), r.Failed[0])
	assert.Contains(t, r.String(), "\n("+r.Failed[0]+")\n= 1 in a queue\n")
}

// TestTimeIsUp ends a trace while something is due.
func TestTimeIsUp(t *testing.T) {
	v, clock := retrying(t, leveret.RabbitMQ43)
	begin := clock.Now()
	r, err := trace.Run(v, clock, trace.Plan{RoutingKey: "wait", For: 9 * time.Second})
	require.NoError(t, err)
	assert.True(t, r.Later)
	assert.Equal(t, 9*time.Second, clock.Now().Sub(begin))
	assert.True(t, strings.HasSuffix(r.String(), "= 1 in a queue\nMore is due when the time of the trace is over.\n"), r.String())
	_, err = trace.Run(v, clock, trace.Plan{RoutingKey: "wait", For: 1<<63 - 1})
	assert.NoError(t, err, "a trace takes a hundred years at most")
	begin = clock.Now()
	r, err = trace.Run(v, clock, trace.Plan{RoutingKey: "wait", For: -time.Second})
	require.NoError(t, err)
	assert.True(t, r.Later)
	assert.Equal(t, begin, clock.Now())
}

// TestWhatWasThere is delivered to a consumer before the message is published.
func TestWhatWasThere(t *testing.T) {
	v, clock := retrying(t, leveret.RabbitMQ43)
	_, err := v.Publish("", "work", leveret.Message{Body: []byte("old")})
	require.NoError(t, err)
	r := run(t, v, clock, "work: ack")
	assert.Equal(t, journey.Ends{Waiting: 1}, r.Journey.Ends())
	assert.Empty(t, r.Journey.Body)
}

func TestRunRefuses(t *testing.T) {
	v, clock := retrying(t, leveret.RabbitMQ43)
	_, err := trace.Run(v, clock, trace.Plan{Exchange: "nowhere"})
	assert.ErrorIs(t, err, leveret.ErrNotFound)
	_, err = trace.Run(v, clock, trace.Plan{Consumers: []trace.Consumer{{Queue: "nowhere", Acts: []trace.Act{{Do: trace.Ack}}}}})
	assert.ErrorIs(t, err, leveret.ErrNotFound)
	assert.Len(t, v.Broker().Users(), 1)
	assert.Empty(t, v.Connections())
}

func TestParseConsumer(t *testing.T) {
	c, err := trace.ParseConsumer(" a:b : 1m30s requeue x2 ,hold")
	require.NoError(t, err)
	assert.Equal(t, trace.Consumer{Queue: "a:b", Acts: []trace.Act{{Do: trace.Requeue, After: 90 * time.Second},
		{Do: trace.Requeue, After: 90 * time.Second}, {Do: trace.Hold}}}, c)
	for line, want := range map[string]string{
		"work":                             `"work" is not a queue, a colon and what its consumer does, such as "work: reject, ack"`,
		"work:":                            `"work:": "" is not ack, reject, requeue or hold`,
		"work: ack,":                       `"work: ack,": "" is not ack, reject, requeue or hold`,
		"work: nack":                       `"work: nack": "nack" is not ack, reject, requeue or hold`,
		"work: ack x0":                     `"work: ack x0": x0 is not how often`,
		"work: ack xx":                     `"work: ack xx": xx is not how often`,
		"work: -1s ack":                    `"work: -1s ack": "-1s ack" is not ack, reject, requeue or hold`,
		"work: ack x10001":                 `"work: ack x10001": more than 10000 acts`,
		"work: ack 10s":                    `"work: ack 10s": "ack 10s" is not ack, reject, requeue or hold`,
		"w: ack, ack x9999, ack":           `"w: ack, ack x9999, ack": more than 10000 acts`,
		"w: ack, ack x9223372036854775807": `"w: ack, ack x9223372036854775807": more than 10000 acts`,
	} {
		_, err := trace.ParseConsumer(line)
		assert.EqualError(t, err, want)
	}
}
