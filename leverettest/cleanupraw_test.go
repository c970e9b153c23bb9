package leverettest_test

import (
	"net"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/leverettest"
	amqp091 "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// A deaf client is one over amqp091-go that reads nothing from its connection any more once it is deaf. What it had
// asked for goes on waiting.
type deaf struct {
	net.Conn
	now, closed chan struct{}
}

func (d *deaf) Read(b []byte) (int, error) {
	select {
	case <-d.now:
		<-d.closed
		return 0, net.ErrClosed
	default:
		n, err := d.Conn.Read(b)
		select {
		case <-d.now: // what came is not read any more
			<-d.closed
			return 0, net.ErrClosed
		default:
			return n, err
		}
	}
}

// dialDeaf connects with a client that a call of deafen makes deaf. hear has it notice its end.
func dialDeaf(t *testing.T, address string, dial func(network, addr string) (net.Conn, error)) (conn *amqp091.Connection, deafen, hear func()) {
	d := &deaf{now: make(chan struct{}), closed: make(chan struct{})}
	conn, err := amqp091.DialConfig(address, amqp091.Config{Dial: func(network, addr string) (net.Conn, error) {
		var err error
		d.Conn, err = dial(network, addr)
		return d, err
	}})
	require.NoError(t, err)
	return conn, func() { close(d.now) }, func() { close(d.closed); conn.Close() }
}

// A test ends soon though a client does not read what fills its socket and everything before it.
func TestEndWithADeafClient(t *testing.T) {
	defer goleak.VerifyNone(t)
	start := time.Now()
	ft := &fakeT{}
	b := leverettest.New(ft)
	declare(t, b, "q", nil)
	conn, deafen, hear := dialDeaf(t, leverettest.URL(ft, b)+"?heartbeat=0", net.Dial) // a heartbeat would tell that it has gone
	deliveries, err := channelOf(t, conn).Consume("q", "", true, false, false, false, nil)
	require.NoError(t, err)
	deafen()
	for range 400 {
		_, err := b.Publish("", "q", leveret.Message{Body: make([]byte, 100_000)})
		require.NoError(t, err)
	}
	require.NotZero(t, b.Queues()[0].Ready, "not all of it fits")
	ft.end()
	assert.Empty(t, ft.problems)
	assert.Less(t, time.Since(start), 20*time.Second)
	hear()
	for range deliveries {
	}
}

// A test ends whatever a connection has sent that is no client yet.
func TestEndInAHandshake(t *testing.T) {
	defer goleak.VerifyNone(t)
	for name, sent := range map[string]string{
		"nothing": "", "half a greeting": "AMQ", "a greeting": "AMQP\x00\x00\x09\x01", "half a frame": "AMQP\x00\x00\x09\x01\x01\x00\x00\x00\x00\x10\x00",
		"a TLS record": "\x16\x03\x01\x02\x00\x01",
	} {
		t.Run("in a bubble/"+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ft := &fakeT{}
				nc, err := leverettest.Dialer(ft, leverettest.New(ft))("", "")
				require.NoError(t, err)
				_, err = nc.Write([]byte(sent))
				require.NoError(t, err)
				ft.end()
				assert.Empty(t, ft.problems)
			})
		})
		endsOverSocket(t, name, leverettest.URL, func(t *testing.T, nc net.Conn) {
			_, err := nc.Write([]byte(sent))
			require.NoError(t, err)
		})
	}
}

// endsOverSocket ends a test while somebody is connected to an address.
func endsOverSocket(t *testing.T, name string, address func(leverettest.T, *leveret.Broker) string, leave func(*testing.T, net.Conn)) {
	t.Run("over a socket/"+name, func(t *testing.T) {
		ft := &fakeT{}
		u, err := url.Parse(address(ft, leverettest.New(ft)))
		require.NoError(t, err)
		nc, err := net.Dial("tcp", u.Host)
		require.NoError(t, err)
		leave(t, nc)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			ft.end()
		}()
		defer nc.Close()
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			require.Fail(t, "the test does not end")
		}
		assert.Empty(t, ft.problems)
	})
}

// A test ends though a handler, or a hook, of the program never returns.
func TestEndWithAStuckHandler(t *testing.T) {
	for name, stick := range map[string]func(t *testing.T, b *leveret.Broker, stuck chan struct{}){
		"handler": func(t *testing.T, b *leveret.Broker, stuck chan struct{}) {
			q, err := b.Queue("q")
			require.NoError(t, err)
			_, err = q.Consume(leveret.ConsumeConfig{Handler: func(*leveret.Delivery) { <-stuck }})
			require.NoError(t, err)
		},
		"hook": func(_ *testing.T, b *leveret.Broker, stuck chan struct{}) {
			b.Watch(leveret.Events{Published: func(leveret.PublishedEvent) { <-stuck }})
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer goleak.VerifyNone(t)
			ft := &fakeT{}
			b := leverettest.New(ft)
			leverettest.Record(ft, b)
			declare(t, b, "q", nil)
			stuck, published := make(chan struct{}), make(chan struct{})
			stick(t, b, stuck)
			ch := channelOf(t, leverettest.Dial(ft, b))
			require.NoError(t, ch.Publish("", "q", false, false, amqp091.Publishing{}))
			go func() {
				defer close(published)
				b.Publish("", "q", leveret.Message{})
			}()
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				ft.end()
			}()
			comes(t, ended)
			close(stuck)
			<-published
		})
	}
}
