package mgmt_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// different is a broker with queues that differ in what lists of queues are sorted by. Their names say nothing of the order.
func different(t *testing.T) *leveret.Broker {
	b := leveret.New()
	t.Cleanup(func() { b.Close() })
	c, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	ch, err := c.Channel()
	require.NoError(t, err)
	require.NoError(t, b.SetPolicy(leveret.Policy{Name: "even", Pattern: "[02468]$", Definition: leveret.Table{"max-length": 100}}))
	require.NoError(t, b.SetOperatorPolicy(leveret.Policy{Name: "third", Pattern: "[369]$", Definition: leveret.Table{"max-length": 90}}))
	for i := range 10 {
		config := leveret.QueueConfig{Durable: i%2 == 0, AutoDelete: i%3 == 1, Arguments: leveret.Table{}}
		if i%4 == 0 {
			config.Arguments[leveret.ArgQueueType], config.Durable, config.AutoDelete = leveret.QueueTypeQuorum, true, false
		}
		name := fmt.Sprintf("q%d", i)
		q, err := b.DeclareQueue(name, config)
		require.NoError(t, err)
		for range i * 7 % 10 {
			_, err := b.Publish("", name, leveret.Message{Body: make([]byte, 10-i)})
			require.NoError(t, err)
		}
		for range i * 3 % 4 {
			_, _, err := ch.Get(name, leveret.GetConfig{})
			require.NoError(t, err)
		}
		for range i * 3 % 5 {
			_, err := q.Consume(leveret.ConsumeConfig{Handler: func(*leveret.Delivery) {}})
			require.NoError(t, err)
		}
	}
	return b
}

// values returns what each item has in a column.
func values(items []any, column string) (all []any) {
	for _, v := range items {
		for name := range strings.SplitSeq(column, ".") {
			inner, _ := v.(map[string]any)
			v = inner[name]
		}
		all = append(all, v)
	}
	return all
}

// What a list is sorted by is what it shows, for the columns that are found without describing the queues, too.
func TestOrderIsThatOfWhatIsShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := different(t)
		api := direct{t, mgmt.Handler(b)}
		api.at("queues?page=1") // from now on there are rates
		time.Sleep(3 * time.Second)
		for i := range 10 {
			for range i * 3 % 10 {
				_, err := b.Publish("", fmt.Sprintf("q%d", i), leveret.Message{})
				require.NoError(t, err)
			}
		}
		time.Sleep(2 * time.Second)
		for _, path := range []string{"queues", "queues/detailed", "queues/%2F"} {
			for _, column := range []string{
				"type", "durable", "auto_delete", "exclusive", "policy", "operator_policy", "state", "node",
				"consumers", "consumer_capacity", "consumer_utilisation", "message_bytes", "message_bytes_ready",
				"message_bytes_unacknowledged", "messages_ram", "message_bytes_ram", "memory",
				"messages", "messages_ready", "messages_unacknowledged", "messages_details.rate", "messages_ready_details.rate",
				"message_stats.publish", "message_stats.publish_details.rate", "message_stats.get", "message_stats.deliver_get",
				"message_stats.deliver_get_details.rate",
			} {
				items := api.at(path+"?page=1&sort="+column, "items").([]any)
				require.Len(t, items, 10)
				sorted := values(items, column)
				assertAscending(t, sorted, path+" "+column)
				if column != "state" && column != "node" && column != "exclusive" {
					assert.NotEqual(t, sorted[0], sorted[9], "%s %s", path, column)
				}
			}
		}
		require.NoError(t, b.Close())
	})
}

// assertAscending checks an order: numbers, as which nothing counts as 0, before words.
func assertAscending(t *testing.T, values []any, what string) {
	t.Helper()
	key := func(v any) string {
		switch v := v.(type) {
		case nil:
			return fmt.Sprintf("0%020.6f", 1e9)
		case float64:
			return fmt.Sprintf("0%020.6f", 1e9+v)
		}
		return fmt.Sprint("1", v)
	}
	for i := range values[1:] {
		assert.LessOrEqual(t, key(values[i]), key(values[i+1]), "%s: %v", what, values)
	}
}

// Arguments are compared as terms: how many there are, their names, their values, of which numbers come first. The order is that of
// RabbitMQ 4.3.6.
func TestOrderOfArguments(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	for name, arguments := range map[string]leveret.Table{
		"two": {"a": int64(1), "b": int64(1)}, "other": {"b": int64(0)}, "text": {"a": "x"}, "list": {"a": []any{"x"}}, "table": {"a": leveret.Table{}},
		"word": {"a": true}, "less": {"a": int64(2)}, "number": {"a": int64(10)}, "none": {},
	} {
		_, err := b.DeclareExchange(name, leveret.Fanout, leveret.ExchangeConfig{Arguments: arguments})
		require.NoError(t, err)
	}
	api := direct{t, mgmt.Handler(b)}
	names := func(query string) (all []any) {
		for _, name := range values(api.at("exchanges/%2F?columns=name,arguments&"+query).([]any), "name") {
			if name != "" && !strings.HasPrefix(name.(string), "amq.") {
				all = append(all, name)
			}
		}
		return all
	}
	sorted := []any{"none", "less", "number", "word", "table", "list", "text", "other", "two"}
	assert.Equal(t, sorted, names("sort=arguments"))
	slices.Reverse(sorted)
	assert.Equal(t, sorted, names("sort=arguments&sort_reverse=true"))
	assert.Equal(t, []any{"word", "two", "text", "table", "other", "number", "none", "list", "less"}, names("sort_reverse=true"))
	assert.Equal(t, []any{"none", "other", "two", "less", "number", "word", "table", "list", "text"}, names("sort=arguments.a"))
}
