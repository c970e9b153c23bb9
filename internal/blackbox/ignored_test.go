package blackbox_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// RabbitMQ takes a misspelt argument without a word, and so does leveret. Who watches is told once, and what may have
// been meant.
func TestArgumentsThatNothingKnows(t *testing.T) {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		b, _ := newTestBroker(t, leveret.WithProfile(profile))
		var told []leveret.IgnoredEvent
		b.Watch(leveret.Events{Ignored: func(e leveret.IgnoredEvent) { e.Time = time.Time{}; told = append(told, e) }})
		mustDeclare(t, b, "q", leveret.Table{"x-mesage-ttl": 1, "x-max-length": 1, "mine": 1, "x-queue-type": "quorum", "x-delayed-retry-min": 1})
		mustDeclare(t, b, "q", leveret.Table{"x-mesage-ttl": 2, "x-max-length": 1, "x-queue-type": "quorum", "x-delayed-retry-min": 1})
		_, err := b.DeclareExchange("x", leveret.Direct, leveret.ExchangeConfig{Arguments: leveret.Table{"alternate-exchnage": "y"}})
		require.NoError(t, err)
		_, err = b.DeclareExchange("y", leveret.Direct, leveret.ExchangeConfig{Arguments: leveret.Table{"alternate-exchange": "y"}})
		require.NoError(t, err)
		want := []leveret.IgnoredEvent{
			{VHost: "/", Queue: "q", Argument: "mine"},
			{VHost: "/", Queue: "q", Argument: "x-mesage-ttl", Similar: "x-message-ttl"},
			{VHost: "/", Exchange: "x", Argument: "alternate-exchnage", Similar: "alternate-exchange"},
		}
		if profile == leveret.RabbitMQ310 { // which has no delayed retries
			want = append(want[:1:1], append([]leveret.IgnoredEvent{{VHost: "/", Queue: "q", Argument: "x-delayed-retry-min"}}, want[1:]...)...)
		}
		assert.Equal(t, want, told)
	}
}

// An import tells the same of what it makes.
func TestImportedArgumentsThatNothingKnows(t *testing.T) {
	b, _ := newTestBroker(t)
	var told []leveret.IgnoredEvent
	b.Watch(leveret.Events{Ignored: func(e leveret.IgnoredEvent) { e.Time = time.Time{}; told = append(told, e) }})
	require.NoError(t, b.ImportQueue("q", leveret.QueueConfig{Arguments: leveret.Table{"x-mesage-ttl": 1}}))
	require.NoError(t, b.ImportExchange("x", leveret.Direct, leveret.ExchangeConfig{Arguments: leveret.Table{"alternate-exchnage": "y"}}))
	assert.Equal(t, []leveret.IgnoredEvent{
		{VHost: "/", Queue: "q", Argument: "x-mesage-ttl", Similar: "x-message-ttl"},
		{VHost: "/", Exchange: "x", Argument: "alternate-exchnage", Similar: "alternate-exchange"},
	}, told)
}

// A policy has an effect if there can be anything that it suits.
func TestPoliciesThatSuitNothing(t *testing.T) {
	b, _ := newTestBroker(t)
	var told []string
	b.Watch(leveret.Events{Ignored: func(e leveret.IgnoredEvent) { told = append(told, e.Policy) }})
	for _, p := range []leveret.Policy{
		{Name: "fits", Definition: leveret.Table{"max-length": 1}},
		{Name: "fits quorum", Definition: leveret.Table{"delivery-limit": 1}},
		{Name: "fits exchanges", Definition: leveret.Table{"alternate-exchange": "x", "max-age": "1D"}},
		{Name: "stream's", Definition: leveret.Table{"max-age": "1D"}},
		{Name: "of two types", Definition: leveret.Table{"delivery-limit": 1, "queue-mode": "lazy"}},
		{Name: "other type", ApplyTo: leveret.ApplyToClassicQueues, Definition: leveret.Table{"delivery-limit": 1}},
		{Name: "exchange's for queues", ApplyTo: leveret.ApplyToQueues, Definition: leveret.Table{"alternate-exchange": "x"}},
		{Name: "queue's for exchanges", ApplyTo: leveret.ApplyToExchanges, Definition: leveret.Table{"max-length": 1}},
	} {
		require.NoError(t, b.SetPolicy(p))
	}
	assert.Equal(t, []string{"stream's", "of two types", "other type", "exchange's for queues", "queue's for exchanges"}, told)
}

// Who watches only what is ignored does not have messages numbered, which costs an allocation each.
func TestIgnoredCostsPublishersNothing(t *testing.T) {
	b, _ := newTestBroker(t)
	q := mustDeclare(t, b, "q", nil)
	publish := func() {
		mustPublish(t, b, "q", "m", "")
		_, err := q.Purge()
		require.NoError(t, err)
	}
	before := testing.AllocsPerRun(100, publish)
	b.Watch(leveret.Events{Ignored: func(leveret.IgnoredEvent) {}})
	assert.Equal(t, before, testing.AllocsPerRun(100, publish))
}

func TestIgnoredIsLoggedAsAWarning(t *testing.T) {
	var log strings.Builder
	b, _ := newTestBroker(t)
	b.Watch(leveret.LogEvents(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))))
	mustDeclare(t, b, "q", leveret.Table{"x-mesage-ttl": 1})
	require.NoError(t, b.SetPolicy(leveret.Policy{Name: "p", Definition: leveret.Table{"max-age": "1D"}}))
	lines := strings.Split(log.String(), "\n")
	require.Len(t, lines, 3)
	assert.Contains(t, lines[0], "level=WARN msg=ignored vhost=/ queue=q argument=x-mesage-ttl similar=x-message-ttl")
	assert.Contains(t, lines[1], "level=WARN msg=ignored vhost=/ policy=p")
}
