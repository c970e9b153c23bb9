package mgmt_test

import (
	"encoding/json"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestStatistics has clients do the same with leveret as with a RabbitMQ, and compares every figure in message_stats of
// exchanges, queues, channels and the virtual host. What RabbitMQ counted stands in testdata; a broker at
// LEVERET_CONFORMANCE_ADMIN is asked anew.
func TestStatistics(t *testing.T) {
	for _, p := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		t.Run(p.Version(), func(t *testing.T) {
			file := "testdata/statistics-" + p.Version() + ".json"
			if live, ok := liveAPI(t); ok && strings.HasPrefix(live.object("overview")["rabbitmq_version"].(string), release(p)) {
				writeStatistics(t, file, live.count(t, os.Getenv("LEVERET_CONFORMANCE_AMQP")))
			}
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			_, ours, amqpURL := newAPI(t, leveret.WithProfile(p))
			got, err := json.Marshal(ours.count(t, amqpURL))
			require.NoError(t, err)
			assert.JSONEq(t, string(data), string(got))
		})
	}
}

func writeStatistics(t *testing.T, file string, counted map[string]any) {
	data, err := json.MarshalIndent(counted, "", " ")
	require.NoError(t, err)
	recorded, _ := os.ReadFile(file)
	if !*record {
		assert.JSONEq(t, string(recorded), string(data), "the broker counts otherwise than it did: record it with -record")
		return
	}
	require.NoError(t, os.WriteFile(file, append(data, '\n'), 0o644))
}

// trafficPublished is how many messages publishCounted publishes.
const trafficPublished = 10

// count lets clients work in a virtual host, and returns what message_stats tell of it.
func (a api) count(t *testing.T, amqpURL string) map[string]any {
	const vhost = "mgmt.statistics" // of its own: RabbitMQ still counts for others with their names
	t.Cleanup(func() { a.do("DELETE", "vhosts/"+vhost, nil) })
	a.do("DELETE", "vhosts/"+vhost, nil)
	require.Equal(t, 201, a.do("PUT", "vhosts/"+vhost, `{}`).status)
	at, err := url.Parse(amqpURL)
	require.NoError(t, err)
	at.Path = "/"
	publisher := dial(t, at.String(), vhost, "publisher")
	consumer := dial(t, at.String(), vhost, "consumer")
	declareCounted(t, publisher)
	publishCounted(t, publisher)
	consumeCounted(t, consumer)
	require.Eventually(t, func() bool { return a.hasCounted(vhost) }, 20*time.Second, 200*time.Millisecond)
	all := map[string]any{"vhost": figuresOf(a.object("vhosts/" + vhost))}
	for _, kind := range []string{"exchanges", "queues"} {
		for _, o := range a.get(kind + "/" + vhost).([]any) {
			all[kind+" "+o.(map[string]any)["name"].(string)] = figuresOf(o.(map[string]any))
		}
	}
	for name, figures := range a.channelFigures(vhost) {
		all[name] = figures
	}
	return all
}

// hasCounted reports whether the figures are those of the whole traffic: a RabbitMQ gathers them every few seconds.
func (a api) hasCounted(vhost string) bool {
	of := a.channelFigures(vhost)
	sum, routed := figuresOf(a.object("vhosts/"+vhost)), figuresOf(a.object("exchanges/"+vhost+"/x"))
	published, acked, empty := trafficPublished+0.0, 5.0, 1.0
	if routed["publish_out"] != 8.0 {
		return false
	}
	return of["publisher"]["publish"] == published && of["consumer"]["ack"] == acked && of["consumer"]["get_empty"] == empty &&
		sum["publish"] == published && sum["ack"] == acked && sum["get_empty"] == empty
}

// channelFigures returns the figures of the channels: only the publisher's confirms.
func (a api) channelFigures(vhost string) map[string]map[string]any {
	all := map[string]map[string]any{}
	for _, o := range a.get("vhosts/" + vhost + "/channels").([]any) {
		ch := o.(map[string]any)
		name := "consumer"
		if ch["confirm"] == true {
			name = "publisher"
		}
		all[name] = figuresOf(ch)
	}
	return all
}

// figuresOf returns message_stats without rates, and without the store that leveret has not.
func figuresOf(o map[string]any) map[string]any {
	stats, _ := o["message_stats"].(map[string]any)
	for name := range stats {
		if strings.HasSuffix(name, "_details") || strings.HasPrefix(name, "disk_") {
			delete(stats, name)
		}
	}
	return stats
}

// declareCounted makes an exchange x that leads to a classic queue c, whose dead letters go to d, and to a quorum queue q. An
// exchange y leads to x.
func declareCounted(t *testing.T, ch *amqp.Channel) {
	for name, args := range map[string]amqp.Table{"c": {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "d"}, "d": nil,
		"full": {"x-max-length": 0, "x-overflow": "reject-publish"}, "q": {"x-queue-type": "quorum"}} {
		_, err := ch.QueueDeclare(name, true, false, false, false, args)
		require.NoError(t, err)
	}
	for _, name := range []string{"x", "y"} {
		require.NoError(t, ch.ExchangeDeclare(name, "fanout", true, false, false, false, nil))
	}
	require.NoError(t, ch.QueueBind("c", "", "x", false, nil))
	require.NoError(t, ch.QueueBind("q", "", "x", false, nil))
	require.NoError(t, ch.ExchangeBind("x", "", "y", false, nil))
}

// publishCounted publishes to every exchange and waits for the confirms, of which one is a nack.
func publishCounted(t *testing.T, ch *amqp.Channel) {
	require.NoError(t, ch.Confirm(false))
	confirms := ch.NotifyPublish(make(chan amqp.Confirmation, trafficPublished))
	ch.NotifyReturn(make(chan amqp.Return, 1))
	for _, to := range []struct {
		exchange, key string
		times         int
		mandatory     bool
	}{{"x", "", 4, false}, {"y", "", 1, false}, {"", "c", 1, false}, {"", "none", 2, false}, {"", "none", 1, true}, {"", "full", 1, false}} {
		for range to.times {
			require.NoError(t, ch.Publish(to.exchange, to.key, to.mandatory, false, amqp.Publishing{Body: []byte("four")}))
		}
	}
	for range trafficPublished {
		<-confirms
	}
}

// consumeCounted takes messages in every way. The classic queue has six of them, the quorum queue five.
func consumeCounted(t *testing.T, ch *amqp.Channel) {
	get := func(queue string, noAck bool) amqp.Delivery {
		d, _, err := ch.Get(queue, noAck)
		require.NoError(t, err)
		return d
	}
	get("full", true) // nothing
	require.NoError(t, get("c", false).Ack(false))
	require.NoError(t, get("c", false).Reject(false))
	get("c", true)
	rest, err := ch.Consume("c", "no-ack", true, false, false, false, nil)
	require.NoError(t, err)
	for range 3 {
		<-rest
	}
	deliveries, err := ch.Consume("q", "manual", false, false, false, false, nil)
	require.NoError(t, err)
	var held []amqp.Delivery
	for range 5 {
		held = append(held, <-deliveries)
	}
	require.NoError(t, held[2].Ack(true))
	require.NoError(t, held[3].Nack(false, true))
	again := <-deliveries
	require.NoError(t, again.Ack(false))
}
