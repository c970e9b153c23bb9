package mgmt_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The state of a queue without statistics is live in 3.10, but in a list with totals.
func TestStateWithoutStatistics(t *testing.T) {
	for profile, want := range map[leveret.Profile][]any{leveret.RabbitMQ43: {"running", "running", "running", "running"},
		leveret.RabbitMQ310: {"live", "running", "live", "live"}} {
		b := leveret.New(leveret.WithProfile(profile))
		defer b.Close()
		_, err := b.DeclareQueue("q", leveret.QueueConfig{Durable: true})
		require.NoError(t, err)
		api := direct{t, mgmt.Handler(b)}
		var states []any
		for _, path := range []string{"queues/%2F", "queues/%2F/q"} {
			for _, totals := range []string{"", "&enable_queue_totals=true"} {
				answer := api.at(path + "?disable_stats=true" + totals)
				if list, isList := answer.([]any); isList {
					answer = list[0]
				}
				states = append(states, answer.(map[string]any)["state"])
			}
		}
		assert.Equal(t, want, states, profile.Version())
	}
}

// A virtual host without queues tells what its connections have received and sent.
func TestOctetsOfAVirtualHostWithoutQueues(t *testing.T) {
	_, api, url := newAPI(t)
	assert.NotContains(t, api.object("vhosts/%2F"), "recv_oct")
	dial(t, url, "", "client")
	v := api.object("vhosts/%2F")
	assert.Contains(t, v, "recv_oct")
	assert.Contains(t, v, "send_oct")
	assert.NotContains(t, v, "messages")
}

// What connections, channels and exchanges tell without statistics.
func TestClientsWithoutStatistics(t *testing.T) {
	identity := []string{"connection_details", "name", "node", "number", "user", "user_who_performed_action", "vhost"}
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		b, api := busyBroker(t, profile)
		defer b.Close()
		of := func(path string) []string { return api.memberNames(path + "?disable_stats=true") }
		for _, name := range []string{"recv_oct", "recv_oct_details", "send_oct", "recv_cnt", "state"} {
			assert.Contains(t, of("vhosts/%2F/connections"), name)
		}
		_, err := b.Publish("amq.fanout", "", leveret.Message{})
		require.NoError(t, err)
		if profile == leveret.RabbitMQ310 {
			assert.Equal(t, []string{"name"}, of("connections/own"))
			assert.Equal(t, []string{"name", "node", "user", "vhost"}, of("connections"))
			assert.Equal(t, 400, api.send("GET", "channels/own%20(1)?disable_stats=true", "").status)
			assert.Contains(t, of("exchanges/%2F/amq.fanout"), "message_stats")
			assert.NotContains(t, of("exchanges/%2F"), "message_stats")
			continue
		}
		for _, path := range []string{"connections/own", "connections"} {
			assert.Contains(t, of(path), "connected_at")
			for _, name := range []string{"channels", "recv_cnt", "recv_oct", "send_cnt", "send_oct", "send_pend", "state"} {
				assert.NotContains(t, of(path), name)
			}
		}
		assert.Equal(t, identity, of("channels/own%20(1)"))
		assert.Equal(t, identity, of("channels"))
		assert.NotContains(t, of("exchanges/%2F/amq.fanout"), "message_stats")
	}
}

// The overview tells what was asked for. Without statistics who is no monitor hears of no connections.
func TestOverviewWithoutStatistics(t *testing.T) {
	b, api := busyBroker(t, leveret.RabbitMQ43)
	defer b.Close()
	require.NoError(t, b.AddUser("ann", "ann", "management"))
	o := api.at("overview?disable_stats=true&enable_queue_totals=true").(map[string]any)
	assert.Equal(t, true, o["disable_stats"])
	assert.Equal(t, true, o["enable_queue_totals"])
	assert.Contains(t, o["object_totals"], "connections")
	assert.Equal(t, false, api.at("overview").(map[string]any)["disable_stats"])

	req := httptest.NewRequest("GET", "/api/overview?disable_stats=true", nil)
	req.SetBasicAuth("ann", "ann")
	rec := httptest.NewRecorder()
	api.ServeHTTP(rec, req)
	assert.Equal(t, 200, rec.Code)
	assert.NotContains(t, rec.Body.String(), `"connections"`)
}

// The details of a connection and of a channel are whole, whatever columns are asked for.
func TestDetailsOfClientsAreWhole(t *testing.T) {
	b, api := busyBroker(t, leveret.RabbitMQ43)
	defer b.Close()
	for _, path := range []string{"connections/own", "channels/own%20(1)"} {
		assert.Equal(t, api.memberNames(path), api.memberNames(path+"?columns=name"))
	}
	assert.Equal(t, []string{"name"}, api.memberNames("channels?columns=name"))
}

// The samples of a virtual host's lengths go with its messages.
func TestSpansOfAVirtualHost(t *testing.T) {
	b, api := busyBroker(t, leveret.RabbitMQ43)
	defer b.Close()
	samples := func(span string) bool {
		return strings.Contains(string(api.raw("vhosts/%2F?" + span + "_age=20&" + span + "_incr=5")["messages_details"]), "samples")
	}
	assert.True(t, samples("msg_rates"))
	assert.False(t, samples("lengths"))
}

// An acknowledgement in a transaction is counted as such, and no longer as an unacknowledged message.
func TestUncommittedAcknowledgements(t *testing.T) {
	b, api := busyBroker(t, leveret.RabbitMQ43)
	defer b.Close()
	conn, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Name: "tx"})
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	require.NoError(t, ch.Tx())
	for range 2 {
		d, _, err := ch.Get("q", leveret.GetConfig{})
		require.NoError(t, err)
		if d.MessageCount == 1 {
			require.NoError(t, d.Ack())
		}
	}
	counted := members(api.raw("channels/tx%20(1)"), "messages_unacknowledged", "acks_uncommitted")
	assert.Equal(t, map[string]string{"messages_unacknowledged": "1", "acks_uncommitted": "1"}, counted)
	assert.Equal(t, "2", string(api.raw("queues/%2F/q")["messages_unacknowledged"]))
}

// Whose connection it is RabbitMQ finds out before it looks at what a client accepts.
func TestVaryOfRefusedUsers(t *testing.T) {
	for profile, want := range map[leveret.Profile]string{leveret.RabbitMQ43: "origin, accept-encoding", leveret.RabbitMQ310: "origin"} {
		b, api := busyBroker(t, profile)
		defer b.Close()
		require.NoError(t, b.AddUser("ann", "ann", "management"))
		for _, path := range []string{"connections/own", "channels/own%20(1)"} {
			req := httptest.NewRequest("GET", "/api/"+path, nil)
			req.SetBasicAuth("ann", "ann")
			rec := httptest.NewRecorder()
			api.ServeHTTP(rec, req)
			assert.Equal(t, 401, rec.Code)
			assert.Equal(t, want, rec.Header().Get("Vary"))
		}
	}
}

// Only a classic queue could have mirrors.
func TestMirrorsOfAQuorumQueue(t *testing.T) {
	b, api := busyBroker(t, leveret.RabbitMQ310)
	defer b.Close()
	require.Equal(t, 201, api.send("PUT", "queues/%2F/quorum", `{"durable":true,"arguments":{"x-queue-type":"quorum"}}`).status)
	for queue, status := range map[string]int{"q": 204, "quorum": 500} {
		assert.Equal(t, status, api.send("POST", "queues/%2F/"+queue+"/actions", `{"action":"cancel_sync"}`).status)
		assert.Equal(t, 204, api.send("POST", "queues/%2F/"+queue+"/actions", `{"action":"sync"}`).status)
	}
}
