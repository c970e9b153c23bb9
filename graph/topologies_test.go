package graph_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/leverettest"
	"github.com/stretchr/testify/require"
)

// A builder declares what a picture is to show.
type builder struct {
	t *testing.T
	*leveret.Broker
}

func build(t *testing.T) builder { return builder{t, leverettest.New(t)} }

func (b builder) exchange(name string, kind leveret.ExchangeType, args leveret.Table) {
	_, err := b.DeclareExchange(name, kind, leveret.ExchangeConfig{Durable: true, Arguments: args})
	require.NoError(b.t, err)
}

func (b builder) queue(name string, args leveret.Table) {
	_, err := b.DeclareQueue(name, leveret.QueueConfig{Durable: true, Arguments: args})
	require.NoError(b.t, err)
}

func (b builder) bind(queue, exchange string, keys ...string) {
	for _, key := range keys {
		require.NoError(b.t, b.BindQueue(queue, exchange, key, nil))
	}
}

func (b builder) publish(exchange, key string, n int) {
	for range n {
		_, err := b.Publish(exchange, key, leveret.Message{Body: []byte("x")})
		require.NoError(b.t, err)
	}
}

func (b builder) root() *leveret.VHost {
	v, err := b.VHost("/")
	require.NoError(b.t, err)
	return v
}

// retries is a work queue with two waits and a parking lot.
func retries(t *testing.T) *leveret.VHost {
	b := build(t)
	b.exchange("orders", leveret.Topic, nil)
	b.exchange("retry", leveret.Direct, nil)
	b.queue("orders.work", leveret.Table{leveret.ArgQueueType: leveret.QueueTypeQuorum, leveret.ArgDeliveryLimit: 5,
		leveret.ArgDeadLetterExchange: "retry", leveret.ArgDeadLetterRoutingKey: "10s"})
	b.bind("orders.work", "orders", "order.new", "order.retried")
	for name, wait := range map[string]time.Duration{"retry.10s": 10 * time.Second, "retry.1m": time.Minute} {
		b.queue(name, leveret.Table{leveret.ArgMessageTTL: wait,
			leveret.ArgDeadLetterExchange: "orders", leveret.ArgDeadLetterRoutingKey: "order.retried"})
	}
	b.bind("retry.10s", "retry", "10s")
	b.bind("retry.1m", "retry", "1m")
	b.queue("orders.parked", leveret.Table{leveret.ArgMaxLength: 10_000, leveret.ArgOverflow: leveret.OverflowRejectPublish})
	b.bind("orders.parked", "retry", "parked")
	b.publish("orders", "order.new", 12)
	b.publish("retry", "1m", 3)
	return b.root()
}

// forty is a shop of forty queues, with retries, dead letters and an audit.
func forty(t *testing.T) *leveret.VHost {
	b := build(t)
	b.exchange("shop", leveret.Topic, nil)
	b.exchange("dead", leveret.Topic, nil)
	b.exchange("retry", leveret.Direct, nil)
	for _, area := range []string{"orders", "payments", "stock", "mail"} {
		b.exchange(area, leveret.Topic, nil)
		require.NoError(t, b.BindExchange(area, "shop", area+".#", nil))
		for n, step := range []string{"created", "changed", "cancelled", "checked", "closed", "archived"} {
			name := area + "." + step
			args := leveret.Table{leveret.ArgDeadLetterExchange: "dead", leveret.ArgDeadLetterRoutingKey: area}
			if n < 2 {
				args = leveret.Table{leveret.ArgDeadLetterExchange: "retry", leveret.ArgDeadLetterRoutingKey: area}
			}
			b.queue(name, args)
			b.bind(name, area, name)
		}
		b.queue("dead."+area, leveret.Table{leveret.ArgMaxLength: 1000})
		b.bind("dead."+area, "dead", area)
		b.queue("retry."+area, leveret.Table{leveret.ArgMessageTTL: 30 * time.Second, leveret.ArgDeadLetterExchange: area})
		b.bind("retry."+area, "retry", area)
	}
	for n := range 4 {
		b.queue(fmt.Sprintf("audit.%d", n), leveret.Table{leveret.ArgQueueType: leveret.QueueTypeQuorum})
		b.bind(fmt.Sprintf("audit.%d", n), "shop", fmt.Sprintf("#.%d", n))
		b.queue(fmt.Sprintf("rpc.%d", n), leveret.Table{leveret.ArgExpires: time.Hour})
	}
	return b.root()
}

// alternates has an alternate exchange, bindings between exchanges, and what does not exist.
func alternates(t *testing.T) *leveret.VHost {
	b := build(t)
	b.exchange("front", leveret.Topic, leveret.Table{leveret.ArgAlternateExchange: "strays"})
	b.exchange("billing", leveret.Direct, nil)
	b.exchange("everything", leveret.Fanout, nil)
	b.exchange("files", leveret.Headers, nil)
	b.exchange("strays", leveret.Fanout, leveret.Table{leveret.ArgAlternateExchange: "nowhere"})
	for _, to := range []string{"billing", "everything", "files"} {
		require.NoError(t, b.BindExchange(to, "front", to+".*", nil))
	}
	b.queue("invoices", leveret.Table{leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "invoices.dead"})
	b.queue("invoices.dead", nil)
	b.queue("log", leveret.Table{leveret.ArgMaxLength: 100, leveret.ArgDeadLetterExchange: "archive"})
	b.queue("pdf", nil)
	b.queue("lost and found", nil)
	b.bind("invoices", "billing", "billing.invoice", "billing.reminder")
	b.bind("log", "everything", "")
	require.NoError(t, b.BindQueue("pdf", "files", "", leveret.Table{"x-match": "all", "type": "pdf"}))
	b.bind("lost and found", "strays", "")
	return b.root()
}
