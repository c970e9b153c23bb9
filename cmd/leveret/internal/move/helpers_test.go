package move

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/leverettest"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"
)

// A pair is two brokers in this process.
type pair struct {
	t        *testing.T
	from, to *leveret.Broker
}

func newPair(t *testing.T) pair {
	return pair{t, leverettest.New(t), leverettest.New(t)}
}

// sideOf reaches a broker in memory.
func sideOf(t *testing.T, b *leveret.Broker) *Broker {
	side, err := ParseBroker("amqp://guest:guest@rabbitmq/", "")
	require.NoError(t, err)
	side.Dial, side.HTTP = leverettest.Dialer(t, b), leverettest.ManagementClient(b)
	return side
}

// job moves everything.
func (p pair) job() *Job {
	to := To(sideOf(p.t, p.to))
	p.t.Cleanup(func() { to.Close() })
	return &Job{From: sideOf(p.t, p.from), To: to, Patience: 2 * time.Second}
}

// jobOver is job with other connections to the source.
func (p pair) jobOver(wrap func(net.Conn) net.Conn) *Job {
	j := p.job()
	dial := j.From.Dial
	j.From.Dial = func(network, addr string) (net.Conn, error) {
		conn, err := dial(network, addr)
		return wrap(conn), err
	}
	return j
}

func (p pair) run(j *Job) *Report {
	p.t.Helper()
	r, err := j.Run(context.Background())
	require.NoError(p.t, err)
	leverettest.Settle(p.t, p.from)
	return r
}

func declare(t *testing.T, b *leveret.Broker, queue string, args leveret.Table) {
	_, err := b.DeclareQueue(queue, leveret.QueueConfig{Durable: true, Arguments: args})
	require.NoError(t, err)
}

// fill publishes n messages to a queue, with the bodies 0 and so on.
func fill(t *testing.T, b *leveret.Broker, queue string, n int) (bodies []string) {
	for i := range n {
		bodies = append(bodies, fmt.Sprint(i))
		_, err := b.Publish("", queue, leveret.Message{Body: []byte(bodies[i])})
		require.NoError(t, err)
	}
	return bodies
}

func bodies(t *testing.T, b *leveret.Broker, queue string) (all []string) {
	q, err := b.Queue(queue)
	require.NoError(t, err)
	for _, m := range q.Messages() {
		all = append(all, string(m.Body))
	}
	return all
}

// client is a channel of a client of a broker.
func client(t *testing.T, b *leveret.Broker) *amqp.Channel {
	ch, err := leverettest.Dial(t, b).Channel()
	require.NoError(t, err)
	return ch
}

// received takes all messages of a queue, as a client gets them.
func received(t *testing.T, b *leveret.Broker, queue string) (all []amqp.Delivery) {
	for ch := client(t, b); ; {
		d, ok, err := ch.Get(queue, true)
		require.NoError(t, err)
		if !ok {
			return all
		}
		all = append(all, d)
	}
}
