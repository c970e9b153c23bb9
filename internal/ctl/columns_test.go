package ctl

import (
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What rabbitmqctl of 4.3.6 and of 3.10.8 shows in these columns of a classic and a quorum queue, with a consumer each that has to
// acknowledge what it has.
func TestColumnsOfReleases(t *testing.T) {
	for profile, want := range map[leveret.Profile][2]string{
		leveret.RabbitMQ43:  {"classic\tn@h\t[n@h]\t\t2\t1\nquorum\tn@h\t[n@h]\t[n@h]\t2\t1\n", "classic\ttrue\tblocked\nexact\ttrue\tup\nquorum\ttrue\tup\n"},
		leveret.RabbitMQ310: {"classic\t\t\t\t2\t1\nquorum\tn@h\t[n@h]\t[n@h]\t2\t1\n", "classic\ttrue\tup\nexact\ttrue\tup\nquorum\ttrue\tup\n"},
	} {
		b := leveret.New(leveret.WithProfile(profile))
		defer b.Close()
		for _, kind := range []string{"classic", "quorum"} {
			q, err := b.DeclareQueue(kind, leveret.QueueConfig{Durable: true, Arguments: leveret.Table{leveret.ArgQueueType: kind}})
			require.NoError(t, err)
			_, err = q.Consume(leveret.ConsumeConfig{Prefetch: 1})
			require.NoError(t, err)
			for range 2 {
				_, err = b.Publish("", kind, leveret.Message{})
				require.NoError(t, err)
			}
		}
		n := &Node{Broker: b, Name: "n@h"}
		assert.Equal(t, want[0], answerOf(n, "list_queues -s name leader members online messages messages_unacknowledged").Stdout, profile)
		// A consumer that has all that it may, of a queue that has nothing more to deliver.
		q, err := b.DeclareQueue("exact", leveret.QueueConfig{})
		require.NoError(t, err)
		_, err = q.Consume(leveret.ConsumeConfig{Prefetch: 1})
		require.NoError(t, err)
		_, err = b.Publish("", "exact", leveret.Message{})
		require.NoError(t, err)
		assert.Equal(t, want[1], answerOf(n, "list_consumers -s queue_name active activity_status").Stdout, profile)
	}
}

// What rabbitmqctl of 4.3.6 shows of a consumer that did not acknowledge in time.
func TestConsumerThatTimedOutIsListed(t *testing.T) {
	clock := leveret.NewManualClock(time.Unix(0, 0))
	b := leveret.New(leveret.WithClock(clock))
	defer b.Close()
	_, err := b.DeclareQueue("q", leveret.QueueConfig{Durable: true, Arguments: leveret.Table{leveret.ArgQueueType: "quorum"}})
	require.NoError(t, err)
	conn, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	_, err = ch.Consume("q", leveret.ConsumeConfig{Tag: "slow", Arguments: leveret.Table{leveret.ArgConsumerTimeout: 1000}})
	require.NoError(t, err)
	_, err = b.Publish("", "q", leveret.Message{})
	require.NoError(t, err)
	clock.Advance(2 * time.Second)
	n := &Node{Broker: b, Name: "n@h"}
	assert.Equal(t, "slow\ttrue\t{timeout, up}\n", answerOf(n, "list_consumers -s consumer_tag active activity_status").Stdout)
	assert.Equal(t, "[\n{\"consumer_tag\":\"slow\",\"active\":true,\"activity_status\":[\"timeout\",\"up\"]}\n]\n",
		answerOf(n, "list_consumers -s consumer_tag active activity_status --formatter json").Stdout)
}

func TestNodeWithoutLog(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	got := answerOf(&Node{Broker: b, Name: "n@h"}, "set_log_level debug")
	assert.Equal(t, exitUnavailable, got.Status)
	assert.Contains(t, got.Stderr, "this node has no log")
}
