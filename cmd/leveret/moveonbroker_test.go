package main

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// liveSide is a virtual host of its own on the broker that the conformance suite is told of.
func liveSide(t *testing.T) side {
	brokerURL, admin := os.Getenv("LEVERET_CONFORMANCE_AMQP"), os.Getenv("LEVERET_CONFORMANCE_ADMIN")
	if brokerURL == "" || !strings.HasPrefix(admin, "http") {
		t.Skip("no broker to move from and to: set LEVERET_CONFORMANCE_AMQP and LEVERET_CONFORMANCE_ADMIN")
	}
	vhost := fmt.Sprintf("leveret-move-%d-%d", os.Getpid(), time.Now().UnixNano())
	askBroker(t, http.MethodPut, admin+"/api/vhosts/"+vhost)
	t.Cleanup(func() { askBroker(t, http.MethodDelete, admin+"/api/vhosts/"+vhost) })
	live, err := url.Parse(brokerURL)
	require.NoError(t, err)
	live.Path = "/" + vhost
	return side{live.String(), admin}
}

// channelTo opens a channel at a side.
func channelTo(t *testing.T, s side) *amqp.Channel {
	conn, err := amqp.Dial(s.url)
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	ch, err := conn.Channel()
	require.NoError(t, err)
	require.NoError(t, ch.Confirm(false))
	return ch
}

// mailbox makes a topology with a queue "work" that is bound with another one, and messages of several kinds in it, one of which has died before.
func mailbox(t *testing.T, s side, kind string) {
	ch := channelTo(t, s)
	require.NoError(t, ch.ExchangeDeclare("x", "topic", true, false, false, false, nil))
	for queue, args := range map[string]amqp.Table{"work": {"x-queue-type": kind}, "audit": nil,
		"retry": {"x-dead-letter-exchange": "x", "x-dead-letter-routing-key": "again"}} {
		_, err := ch.QueueDeclare(queue, true, false, false, false, args)
		require.NoError(t, err)
	}
	for queue, key := range map[string]string{"work": "#", "audit": "both"} {
		require.NoError(t, ch.QueueBind(queue, key, "x", false, nil))
	}
	send := func(exchange, key string, m amqp.Publishing) {
		c, err := ch.PublishWithDeferredConfirm(exchange, key, true, false, m)
		require.NoError(t, err)
		require.True(t, c.Wait())
	}
	send("x", "one", amqp.Publishing{MessageId: "exact", Timestamp: time.Unix(1700000000, 0), UserId: "guest", Priority: 4, Headers: amqp.Table{
		"n": int32(1), "l": int64(2), "f": 0.5, "t": amqp.Table{"b": true}, "a": []any{"s", nil}, "x": []byte{1}}})
	send("x", "both", amqp.Publishing{MessageId: "both", Headers: amqp.Table{"a": "b"}})
	send("", "work", amqp.Publishing{MessageId: "cc", Headers: amqp.Table{"CC": []any{"audit"}}})
	send("", "retry", amqp.Publishing{MessageId: "dead", Expiration: "1"})
	require.Eventually(t, func() bool {
		q, err := ch.QueueDeclarePassive("work", true, false, false, false, nil)
		return err == nil && q.Messages == 4
	}, 10*time.Second, 20*time.Millisecond)
}

// seen takes the messages of a queue, as consumers see them.
func seen(t *testing.T, s side, queue string) (all []string) {
	ch := channelTo(t, s)
	for {
		d, ok, err := ch.Get(queue, true)
		require.NoError(t, err)
		if !ok {
			return all
		}
		history := ""
		if deaths, ok := d.Headers["x-death"].([]any); ok {
			death := deaths[0].(amqp.Table)
			history = fmt.Sprint(death["queue"], death["reason"], death["exchange"], death["routing-keys"], death["count"], death["original-expiration"])
			for _, name := range slices.Collect(maps.Keys(d.Headers)) {
				if strings.HasPrefix(name, "x-") {
					delete(d.Headers, name)
				}
			}
		}
		all = append(all, fmt.Sprintf("%s %q/%q redelivered %v headers %v stamp %v user %q priority %d died %s", d.MessageId, d.Exchange, d.RoutingKey, d.Redelivered,
			d.Headers, d.Timestamp.Unix(), d.UserId, d.Priority, history))
	}
}

// TestMoveOnBroker moves messages of several kinds from and to a RabbitMQ, by itself and by a file: consumers see there what docs/move.md says.
func TestMoveOnBroker(t *testing.T) {
	for _, direction := range []string{"from", "to"} {
		for _, kind := range []string{"classic", "quorum"} {
			t.Run(direction+" "+kind, func(t *testing.T) {
				own := serveBroker(t)
				from, to := liveSide(t), side{own.url, own.admin}
				if direction == "to" {
					from, to = to, from
				}
				mailbox(t, from, kind)
				fromFlags := []string{"--from", from.url, "--from-admin", from.admin, "--queue", "work", "--queue", "audit"}
				toFlags := []string{"--to", to.url, "--to-admin", to.admin}
				file := filepath.Join(t.TempDir(), "dump")
				for _, line := range [][]string{append([]string{"dump", file}, fromFlags...), append([]string{"load", file}, toFlags...)} {
					_, stderr, status := called("", line...)
					require.Zero(t, status, stderr)
				}
				loaded, audit := seen(t, to, "work"), seen(t, to, "audit")
				assert.Len(t, audit, 2)
				out, stderr, status := called("", slices.Concat([]string{"move"}, fromFlags, toFlags)...)
				require.Zero(t, status, out+stderr)
				assert.Equal(t, loaded, seen(t, to, "work"), "a dump that leaves messages is as good as a move")
				assert.Equal(t, []string{
					`exact "x"/"one" redelivered false headers map[a:[s <nil>] f:0.5 l:2 n:1 t:map[b:true] x:[1]] stamp 1700000000 user "guest" priority 4 died `,
					`both ""/"both" redelivered false headers map[a:b] stamp -62135596800 user "" priority 0 died `,
					`cc ""/"work" redelivered false headers map[] stamp -62135596800 user "" priority 0 died `,
					`dead "x"/"again" redelivered false headers map[] stamp -62135596800 user "" priority 0 died retryexpired[retry] 11`,
				}, loaded)
				assert.Len(t, seen(t, to, "audit"), 2)
				assert.Empty(t, seen(t, from, "work"))
			})
		}
	}
}

// TestReplayOnBroker sends the dead letters of a RabbitMQ back to where they died.
func TestReplayOnBroker(t *testing.T) {
	live := liveSide(t)
	mailbox(t, live, "classic")
	_, stderr, status := called("", "replay", "--from", live.url, "--from-admin", live.admin, "--queue", "work", "--died-in", "retry", "--forget")
	require.Zero(t, status, stderr)
	assert.Equal(t, 1, len(seen(t, live, "retry")))
	assert.Len(t, seen(t, live, "work"), 3)
}
