package leverettest_test

import (
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/leverettest"
	amqp091 "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func channelOf(t *testing.T, conn *amqp091.Connection) *amqp091.Channel {
	t.Helper()
	ch, err := conn.Channel()
	require.NoError(t, err)
	return ch
}

func declare(t *testing.T, b *leveret.Broker, name string, args leveret.Table) *leveret.Queue {
	t.Helper()
	q, err := b.DeclareQueue(name, leveret.QueueConfig{Arguments: args})
	require.NoError(t, err)
	return q
}

// What clients have sent has been executed, and what came back for it has been read, though nobody has waited for an
// answer.
func TestSettle(t *testing.T) {
	b := leverettest.New(t)
	q := declare(t, b, "q", nil)
	const clients, messages = 3, 200
	var channels []*amqp091.Channel
	var returned []chan amqp091.Return
	for range clients {
		ch := channelOf(t, leverettest.Dial(t, b))
		channels = append(channels, ch)
		returned = append(returned, ch.NotifyReturn(make(chan amqp091.Return, messages)))
	}
	for round := 1; round <= 20; round++ {
		for _, ch := range channels {
			for range messages / 20 {
				require.NoError(t, ch.Publish("", "q", false, false, amqp091.Publishing{}))
				require.NoError(t, ch.Publish("", "missing", true, false, amqp091.Publishing{}))
			}
		}
		leverettest.Settle(t, b)
		require.Equal(t, clients*round*messages/20, q.Info().Messages)
		for _, r := range returned {
			require.Len(t, r, round*messages/20)
		}
	}
}

// What becomes due while a test moves the clock is with the clients.
func TestSettleAfterAdvance(t *testing.T) {
	clock := leveret.NewManualClock(time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC))
	b := leverettest.New(t, leveret.WithClock(clock))
	declare(t, b, "full", nil)
	declare(t, b, "wait", leveret.Table{leveret.ArgMessageTTL: time.Minute, leveret.ArgDeadLetterExchange: "",
		leveret.ArgDeadLetterRoutingKey: "full"})
	var client *tally
	dial := leverettest.Dialer(t, b)
	conn, err := amqp091.DialConfig("amqp://guest:guest@rabbitmq/", amqp091.Config{
		Dial: func(network, addr string) (net.Conn, error) {
			nc, err := dial(network, addr)
			client = &tally{Conn: nc}
			return client, err
		},
	})
	require.NoError(t, err)
	ch := channelOf(t, conn)
	_, err = ch.Consume("full", "", true, false, false, false, nil)
	require.NoError(t, err)
	for range 100 {
		require.NoError(t, ch.Publish("", "wait", false, false, amqp091.Publishing{Body: make([]byte, 1000)}))
		leverettest.Settle(t, b)
		before := client.read.Load()
		clock.Advance(time.Minute)
		leverettest.Settle(t, b)
		require.Greater(t, client.read.Load(), before+1000)
		require.EqualValues(t, b.Connections()[0].Transport.Traffic.Sent, client.read.Load())
	}
	before := client.read.Load()
	_, err = b.DeleteQueue("full", leveret.DeleteConfig{})
	require.NoError(t, err)
	leverettest.Settle(t, b)
	require.Greater(t, client.read.Load(), before, "basic.cancel")
}

// tally counts the octets that a client has read.
type tally struct {
	net.Conn
	read atomic.Int64
}

func (c *tally) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.read.Add(int64(n))
	return n, err
}

// A connection that was cut off has gone, with all that it had.
func TestSettleAfterACut(t *testing.T) {
	b := leverettest.New(t)
	q := declare(t, b, "q", nil)
	var nc net.Conn
	dial := leverettest.Dialer(t, b)
	for range 20 {
		conn, err := amqp091.DialConfig("amqp://guest:guest@rabbitmq/", amqp091.Config{
			Dial: func(network, addr string) (net.Conn, error) {
				var err error
				nc, err = dial(network, addr)
				return nc, err
			},
		})
		require.NoError(t, err)
		ch := channelOf(t, conn)
		require.NoError(t, ch.Publish("", "q", false, false, amqp091.Publishing{}))
		_, err = ch.Consume("q", "", false, false, false, false, nil)
		require.NoError(t, err)
		leverettest.Settle(t, b)
		require.NotZero(t, q.Info().Unacked)
		nc.Close()
		leverettest.Settle(t, b)
		require.Zero(t, q.Info().Unacked)
		require.Empty(t, b.Connections())
	}
}

// During the memory alarm what publishers send waits, and Settle does not wait for it.
func TestSettleDuringTheAlarm(t *testing.T) {
	b := leverettest.New(t)
	q := declare(t, b, "q", nil)
	ch := channelOf(t, leverettest.Dial(t, b))
	for range 20 {
		b.SetMemoryLimit(-1)
		require.NoError(t, ch.Publish("", "q", false, false, amqp091.Publishing{Body: []byte("m")}))
		leverettest.Settle(t, b)
		require.Zero(t, q.Info().Messages)
		b.SetMemoryLimit(0)
		leverettest.Settle(t, b)
		require.Equal(t, 1, q.Info().Messages)
		_, err := q.Purge()
		require.NoError(t, err)
	}
	b.SetMemoryLimit(10)
	for range 5 { // the third raises the alarm while Settle waits, or before
		require.NoError(t, ch.Publish("", "q", false, false, amqp091.Publishing{Body: []byte("12345")}))
	}
	leverettest.Settle(t, b)
	require.Equal(t, 3, q.Info().Messages)
	b.SetMemoryLimit(0)
}

// A client that does not read ends the test with the reason.
func TestSettleWithAStuckClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ft := &fakeT{}
		b := leverettest.New(ft)
		ch := channelOf(t, leverettest.Dial(ft, b))
		returned := ch.NotifyReturn(make(chan amqp091.Return))
		for range 20 { // amqp091-go 1.16 gives up after five seconds with each
			require.NoError(t, ch.Publish("", "missing", true, false, amqp091.Publishing{}))
		}
		assert.PanicsWithValue(t, "test stopped", func() { leverettest.Settle(ft, b) })
		assert.Equal(t, []string{"leveret: Settle: a client does not read what is sent to it: " +
			"it may wait for its program to take something from a channel"}, ft.problems)
		go func() {
			for range returned {
			}
		}()
		ft.end()
	})
}

// A client that connects by URL is settled as far as its socket.
func TestSettleWithURL(t *testing.T) {
	b := leverettest.New(t)
	q := declare(t, b, "q", nil)
	conn, err := amqp091.Dial(leverettest.URL(t, b))
	require.NoError(t, err)
	assert.Contains(t, b.Connections()[0].Name, "127.0.0.1:", "the client's own address")
	ch := channelOf(t, conn)
	require.NoError(t, ch.Confirm(false))
	confirm, err := ch.PublishWithDeferredConfirm("", "q", false, false, amqp091.Publishing{})
	require.NoError(t, err)
	require.True(t, confirm.Wait())
	leverettest.Settle(t, b)
	assert.Equal(t, 1, q.Info().Messages)
	require.NoError(t, conn.Close())
	leverettest.Settle(t, b)
	assert.Empty(t, b.Connections())
}

// Clients of all doors pipeline on several channels. Behind one answer on each channel all that was sent is executed, and
// what came of it has been read, returns of the last frames included. In memory no answer is needed.
func TestSettleOfPipelines(t *testing.T) {
	for door, connect := range faultDoors {
		t.Run(door, func(t *testing.T) {
			b := leverettest.New(t)
			q := declare(t, b, "q", nil)
			const clients, channels, rounds, each = 3, 4, 5, 40
			var all []*amqp091.Channel
			var returned []chan amqp091.Return
			for range clients {
				conn := connect(t, b)
				for range channels {
					ch := channelOf(t, conn)
					all = append(all, ch)
					returned = append(returned, ch.NotifyReturn(make(chan amqp091.Return, rounds*each)))
				}
			}
			for round := 1; round <= rounds; round++ {
				for range each {
					for _, ch := range all {
						require.NoError(t, ch.Publish("", "q", false, false, amqp091.Publishing{Body: []byte("m")}))
						require.NoError(t, ch.Publish("", "missing", true, false, amqp091.Publishing{Body: []byte("m")}))
					}
				}
				if strings.Contains(door, "socket") { // the system has what it has not given to the broker
					for _, ch := range all {
						_, err := ch.QueueDeclarePassive("q", false, false, false, false, nil)
						require.NoError(t, err)
					}
				}
				leverettest.Settle(t, b)
				require.Equal(t, len(all)*round*each, q.Info().Ready)
				for _, r := range returned {
					require.Len(t, r, round*each)
				}
			}
			require.NoError(t, b.Check())
		})
	}
}

// A client over TLS in memory has read what becomes due while a test moves the clock.
func TestSettleOverTLS(t *testing.T) {
	clock := leveret.NewManualClock(time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC))
	b := leverettest.New(t, leveret.WithClock(clock))
	declare(t, b, "full", nil)
	declare(t, b, "wait", leveret.Table{leveret.ArgMessageTTL: time.Minute, leveret.ArgDeadLetterExchange: "",
		leveret.ArgDeadLetterRoutingKey: "full"})
	ca := leverettest.NewAuthority(t)
	var client *tally
	dial := leverettest.TLSDialer(t, b, ca.Server())
	conn, err := amqp091.DialConfig("amqps://guest:guest@rabbitmq/", amqp091.Config{
		TLSClientConfig: ca.Client(""),
		Dial: func(network, addr string) (net.Conn, error) {
			nc, err := dial(network, addr)
			client = &tally{Conn: nc}
			return client, err
		},
	})
	require.NoError(t, err)
	ch := channelOf(t, conn)
	_, err = ch.Consume("full", "", true, false, false, false, nil)
	require.NoError(t, err)
	for n := range 100 {
		require.NoError(t, ch.Publish("", "wait", false, false, amqp091.Publishing{Body: make([]byte, 1000)}))
		leverettest.Settle(t, b)
		before := client.read.Load()
		clock.Advance(time.Minute)
		leverettest.Settle(t, b)
		require.Greater(t, client.read.Load(), before+1000, n)
	}
}
