package mgmt_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Lists have an order without being asked: virtual host and name, or what is said of a kind. Columns that the request leaves out are sorted by in
// the lists of queues, exchanges, virtual hosts and (4.3) users only. The orders are those of RabbitMQ 4.3.6 and 3.10.8.
func TestListsHaveAnOrder(t *testing.T) {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		b := leveret.New(leveret.WithProfile(profile))
		v, err := b.CreateVHost("a")
		require.NoError(t, err)
		require.NoError(t, v.SetPermissions("guest", leveret.Permissions{Configure: ".*", Write: ".*", Read: ".*"}))
		connect := func(vhost string) {
			conn, err := b.Open(leveret.ConnConfig{User: "guest", VHost: vhost, Name: fmt.Sprintf("127.0.0.1:%d -> 127.0.0.1:5672", 40000+len(b.Connections()))})
			require.NoError(t, err)
			ch, err := conn.Channel()
			require.NoError(t, err)
			for _, queue := range []string{"q2", "q1"} {
				_, err = ch.DeclareQueue(queue, leveret.QueueConfig{Durable: true})
				require.NoError(t, err)
				_, err = ch.Consume(queue, leveret.ConsumeConfig{Tag: queue})
				require.NoError(t, err)
			}
		}
		for _, vhost := range []string{"b", "a", "b"} {
			if vhost == "b" && len(b.Connections()) == 0 {
				v, err := b.CreateVHost("b")
				require.NoError(t, err)
				require.NoError(t, v.SetPermissions("guest", leveret.Permissions{Configure: ".*", Write: ".*", Read: ".*"}))
			}
			connect(vhost)
		}
		api := direct{t, mgmt.Handler(b)}
		for _, path := range []string{"connections", "channels", "connections?sort=user", "connections?page=1"} {
			list := api.at(path)
			if o, paged := list.(map[string]any); paged {
				list = o["items"]
			}
			assert.Equal(t, []any{"a", "b", "b"}, values(list.([]any), "vhost"), path)
		}
		tags := func(query string) []any { return values(api.at("consumers"+query).([]any), "consumer_tag") }
		assert.Equal(t, []any{"q1", "q2", "q1", "q2", "q1", "q2"}, tags(""), "by connection")
		assert.Equal(t, []any{"q1", "q1", "q1", "q2", "q2", "q2"}, tags("?columns=consumer_tag"))
		for name, priority := range map[string]float64{"b": 0, "a": 1, "c": 0} {
			require.NoError(t, b.SetPolicy(leveret.Policy{Name: name, Pattern: "zz", Definition: leveret.Table{"max-length": int64(1)}, Priority: priority}))
		}
		assert.Equal(t, []any{"b", "c", "a"}, values(api.at("policies").([]any), "name"))
		assert.Equal(t, []any{"a", "c", "b"}, values(api.at("policies?sort_reverse=true").([]any), "name"))
		assert.Equal(t, []any{"a", "b", "c"}, values(api.at("policies?columns=name").([]any), "name"))
		require.NoError(t, b.Close())
	}
}

// Limits are listed by what they are in 4.3, and by virtual host in 3.10.
func TestOrderOfLimits(t *testing.T) {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		b := leveret.New(leveret.WithProfile(profile))
		for name, most := range map[string]int{"a": 2, "b": 1} {
			v, err := b.CreateVHost(name)
			require.NoError(t, err)
			require.NoError(t, v.SetLimits(leveret.VHostLimits{MaxQueues: most, MaxConnections: leveret.NoLimit}))
		}
		want := []any{"b", "a"}
		if profile == leveret.RabbitMQ310 {
			want = []any{"a", "b"}
		}
		api := direct{t, mgmt.Handler(b)}
		assert.Equal(t, want, values(api.at("vhost-limits").([]any), "vhost"))
		want[0], want[1] = want[1], want[0]
		assert.Equal(t, want, values(api.at("vhost-limits?sort_reverse=true").([]any), "vhost"))
		require.NoError(t, b.Close())
	}
}

// Who is no monitor is told of the own virtual hosts, and nothing of the node.
func TestOverviewOfAMember(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	require.NoError(t, b.AddUser("man", "man", "management"))
	api := direct{t, mgmt.Handler(b)}
	overview := func() map[string]any {
		r := api.send("GET", "overview?columns=node,listeners,contexts,object_totals,queue_totals.messages", "", func(r *http.Request) { r.SetBasicAuth("man", "man") })
		return r.body.(map[string]any)
	}
	none := map[string]any{"queues": 0.0, "exchanges": 0.0, "connections": 0.0, "channels": 0.0}
	assert.Equal(t, map[string]any{"object_totals": none, "queue_totals": map[string]any{}}, overview())
	require.NoError(t, b.SetPermissions("man", leveret.Permissions{}))
	_, err := b.DeclareQueue("q", leveret.QueueConfig{Durable: true})
	require.NoError(t, err)
	assert.Len(t, overview()["queue_totals"], 6, "columns do not cut it")
}

// Of arguments that have the same name the last one is shown, and of a client's names the first one is the connection's.
func TestLastOfTheSameName(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	twice := leveret.Fields{{Name: "connection_name", Value: "one"}, {Name: "connection_name", Value: "two"}}
	conn, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", ClientPropertyFields: twice})
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	_, err = ch.DeclareQueue("q", leveret.QueueConfig{Durable: true, ArgumentFields: twice})
	require.NoError(t, err)
	_, err = ch.Consume("q", leveret.ConsumeConfig{ArgumentFields: twice})
	require.NoError(t, err)
	api := direct{t, mgmt.Handler(b)}
	assert.Equal(t, "two", api.at("queues/%2F/q", "arguments").(map[string]any)["connection_name"])
	for path, member := range map[string]string{"consumers": "arguments", "connections": "client_properties"} {
		shown := api.at(path).([]any)[0].(map[string]any)
		assert.Equal(t, map[string]any{"connection_name": "two"}, shown[member], path)
		if path == "connections" {
			assert.Equal(t, "one", shown["user_provided_name"])
		}
	}
}

// A timestamp has no sign, and an ackmode that is a number is told as the character.
func TestOddProperties(t *testing.T) {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		b := leveret.New(leveret.WithProfile(profile))
		_, err := b.DeclareQueue("q", leveret.QueueConfig{Durable: true})
		require.NoError(t, err)
		api := direct{t, mgmt.Handler(b)}
		publish := func(properties string) int {
			return api.send("POST", "exchanges/%2F/amq.default/publish",
				`{"routing_key":"q","payload":"","payload_encoding":"string","properties":`+properties+`}`, func(*http.Request) {}).status
		}
		assert.Equal(t, 200, publish(`{"timestamp":18446744073709551615}`))
		r := api.send("POST", "queues/%2F/q/get", `{"count":1,"ackmode":"ack_requeue_false","encoding":"auto"}`, func(*http.Request) {})
		assert.InEpsilon(t, 18446744073709551615.0, r.body.([]any)[0].(map[string]any)["properties"].(map[string]any)["timestamp"], 1e-9)
		r = api.send("POST", "queues/%2F/q/get", `{"count":1,"ackmode":5,"encoding":"auto"}`, func(*http.Request) {})
		if profile == leveret.RabbitMQ43 {
			assert.Contains(t, reasonOf(r), "Invalid ackmode value: \x05.")
		}
		require.NoError(t, b.Close())
	}
}

// To sort a list costs little for each item: what an item is like as a whole is looked at only if its columns do not decide.
func TestSortingShowsNoItemInVain(t *testing.T) {
	allocations := func(queues int) float64 {
		b := leveret.New()
		defer b.Close()
		for i := range queues {
			_, err := b.DeclareQueue(fmt.Sprint("q", i), leveret.QueueConfig{Durable: true})
			require.NoError(t, err)
		}
		api := direct{t, mgmt.Handler(b)}
		return testing.AllocsPerRun(5, func() { api.send("GET", "queues?page=1&page_size=1", "") })
	}
	assert.Less(t, (allocations(2000)-allocations(1000))/1000, 15.0)
}
