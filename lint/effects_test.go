package lint_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/lint"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// document has a queue, with a policy if a definition is given.
func document(t *testing.T, kind leveret.QueueType, definition leveret.Table) []byte {
	policies := []any{}
	if len(definition) > 0 {
		policies = append(policies, map[string]any{"vhost": "/", "name": "p", "pattern": "^q$", "apply-to": "queues",
			"definition": definition, "priority": 0})
	}
	text, err := json.Marshal(map[string]any{"policies": policies, "queues": []any{
		map[string]any{"name": "q", "vhost": "/", "durable": true, "auto_delete": false, "arguments": map[string]any{"x-queue-type": kind}},
	}})
	require.NoError(t, err)
	return text
}

// A running is a queue whose policy changes.
type running struct {
	t     *testing.T
	b     *leveret.Broker
	clock *leveret.ManualClock
	q     *leveret.Queue
}

func runningQueue(t *testing.T, p leveret.Profile, kind leveret.QueueType) *running {
	clock := leveret.NewManualClock(time.Unix(1e9, 0))
	b := leveret.New(leveret.WithProfile(p), leveret.WithClock(clock))
	t.Cleanup(func() { b.Close() })
	q, err := b.DeclareQueue("q", leveret.QueueConfig{Durable: true, Arguments: leveret.Table{leveret.ArgQueueType: kind}})
	require.NoError(t, err)
	return &running{t, b, clock, q}
}

func (r *running) set(definition leveret.Table) {
	if len(definition) == 0 {
		_ = r.b.ClearPolicy("p") // it may not be there
		return
	}
	require.NoError(r.t, r.b.SetPolicy(leveret.Policy{Name: "p", Pattern: "^q$", ApplyTo: leveret.ApplyToQueues, Definition: definition}))
}

func (r *running) publish(n int) {
	for range n {
		_, err := r.b.Publish("", "q", leveret.Message{})
		require.NoError(r.t, err)
	}
}

func (r *running) get() *leveret.Delivery {
	d, ok, err := r.q.Get()
	require.NoError(r.t, err)
	require.True(r.t, ok)
	return d
}

func (r *running) ready() int { return r.q.Info().Ready }

func effectsOf(t *testing.T, old, next []byte, p leveret.Profile) (kinds []lint.EffectKind) {
	c, err := lint.Compare(old, next, p)
	require.NoError(t, err)
	for _, change := range c.Changes {
		for _, e := range change.Effects {
			kinds = append(kinds, e.Kind)
		}
	}
	return kinds
}

var queueTypes = []leveret.QueueType{leveret.QueueTypeClassic, leveret.QueueTypeQuorum}

// TestTrimmedIsTrue asks the engine for each change of a limit and of overflow whether a queue that holds more is trimmed.
func TestTrimmedIsTrue(t *testing.T) {
	var policies []leveret.Table
	for _, overflow := range []string{"", leveret.OverflowDropHead, leveret.OverflowRejectPublish, leveret.OverflowRejectPublishDLX} {
		for _, limit := range []int{0, 2, 3} {
			policy := leveret.Table{}
			if overflow != "" {
				policy["overflow"] = overflow
			}
			if limit > 0 {
				policy["max-length"] = limit
			}
			policies = append(policies, policy)
		}
	}
	trimmed := 0
	for _, p := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		for _, kind := range queueTypes {
			for _, old := range policies {
				for _, next := range policies {
					what := fmt.Sprintf("%v %s: %v to %v", p, kind, old, next)
					r := runningQueue(t, p, kind)
					r.set(old)
					r.publish(2)
					held := []*leveret.Delivery{r.get(), r.get()}
					r.publish(2)
					for _, d := range held { // what comes back is never refused
						require.NoError(t, d.Nack(true))
					}
					before := r.ready()
					r.set(next)
					limit, limited := next["max-length"].(int)
					if !limited || before <= limit {
						assert.Equal(t, before, r.ready(), what)
						continue
					}
					kinds := effectsOf(t, document(t, kind, old), document(t, kind, next), p)
					if slices.Contains(kinds, lint.Trimmed) {
						trimmed++
						assert.Equal(t, limit, r.ready(), what)
					} else {
						assert.Equal(t, before, r.ready(), what)
					}
				}
			}
		}
	}
	assert.Greater(t, trimmed, 50)
}

// TestExpiryIsTrue has a time to live that comes into force: for what comes later, and not for what is there.
func TestExpiryIsTrue(t *testing.T) {
	short := leveret.Table{"message-ttl": 1000}
	for _, kind := range queueTypes {
		r := runningQueue(t, leveret.RabbitMQ43, kind)
		r.publish(1)
		r.set(short)
		r.clock.Advance(2 * time.Second)
		assert.Equal(t, 1, r.ready())
		require.NoError(t, r.get().Ack())
		r.publish(1)
		r.clock.Advance(2 * time.Second)
		assert.Equal(t, 0, r.ready())
		r.publish(1)
		r.set(nil)
		r.clock.Advance(2 * time.Second)
		assert.Equal(t, 0, r.ready(), "what came under the policy keeps its time")
		assert.Equal(t, []lint.EffectKind{lint.Expires}, effectsOf(t, document(t, kind, nil), document(t, kind, short), leveret.RabbitMQ43))
		assert.Equal(t, []lint.EffectKind{lint.Expires}, effectsOf(t, document(t, kind, short), document(t, kind, nil), leveret.RabbitMQ43))
	}
}

// TestDeliveryLimitIsTrue has a message die that has come back twice when it comes back again.
func TestDeliveryLimitIsTrue(t *testing.T) {
	limit := leveret.Table{"delivery-limit": 2}
	r := runningQueue(t, leveret.RabbitMQ43, leveret.QueueTypeQuorum)
	r.publish(1)
	require.NoError(t, r.get().Reject(true)) // before the limit, and counts
	r.set(limit)
	require.NoError(t, r.get().Reject(true))
	assert.Equal(t, 1, r.ready())
	require.NoError(t, r.get().Reject(true))
	assert.Equal(t, 0, r.ready())
	c, err := lint.Compare(document(t, leveret.QueueTypeQuorum, nil), document(t, leveret.QueueTypeQuorum, limit), leveret.RabbitMQ43)
	require.NoError(t, err)
	assert.Equal(t, lint.Effect{Kind: lint.DiesAfter, Text: "A message that has come back 2 times dies when it comes back again, and is lost: the queue has no dead-letter exchange. What has come back before counts."},
		c.Changes[0].Effects[0])
}

// TestIdleIsTrue has a queue that nobody has used for a minute when x-expires is set to half a minute.
func TestIdleIsTrue(t *testing.T) {
	idle := leveret.Table{"expires": 30_000}
	for _, kind := range queueTypes {
		r := runningQueue(t, leveret.RabbitMQ43, kind)
		r.set(leveret.Table{"expires": 3_600_000})
		r.clock.Advance(time.Minute)
		r.set(idle)
		_, err := r.b.Queue("q")
		fromChange := err == nil
		assert.Equal(t, kind == leveret.QueueTypeClassic, fromChange, kind)
		c, err := lint.Compare(document(t, kind, nil), document(t, kind, idle), leveret.RabbitMQ43)
		require.NoError(t, err)
		text := c.Changes[0].Effects[0].Text
		assert.Equal(t, fromChange, text == "The queue is deleted with its messages when nobody has used it for 30000 ms, counted from the change.", text)
	}
}
