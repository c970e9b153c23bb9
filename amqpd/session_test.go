package amqpd_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
	"github.com/leveretmq/leveret/leverettest"
	amqp091 "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// These tests talk to the broker with the amqp091-go client.

var allPermissions = leveret.Permissions{Configure: ".*", Write: ".*", Read: ".*"}

func asGuest() amqp091.Config {
	return amqp091.Config{
		SASL: []amqp091.Authentication{&amqp091.PlainAuth{Username: "guest", Password: "guest"}}, Vhost: "/",
	}
}

func channelOf(t *testing.T, conn *amqp091.Connection) *amqp091.Channel {
	t.Helper()
	ch, err := conn.Channel()
	require.NoError(t, err)
	return ch
}

func declareQueue(t *testing.T, ch *amqp091.Channel, name string, args amqp091.Table) {
	t.Helper()
	_, err := ch.QueueDeclare(name, false, false, false, false, args)
	require.NoError(t, err)
}

func publishText(t *testing.T, ch *amqp091.Channel, queue, text string) {
	t.Helper()
	require.NoError(t, ch.PublishWithContext(context.Background(), "", queue, false, false,
		amqp091.Publishing{Body: []byte(text)}))
}

func TestBodiesOfAllSizes(t *testing.T) {
	conn := leverettest.Dial(t, leverettest.New(t))
	ch := channelOf(t, conn)
	declareQueue(t, ch, "q", nil)
	deliveries, err := ch.Consume("q", "", true, false, false, false, nil)
	require.NoError(t, err)
	for _, size := range []int{0, 1, 4095, 4096, 8192, 65536, 131063, 131064, 131065, 131072, 1 << 20, 3<<20 + 7} {
		body := make([]byte, size)
		for i := range body {
			body[i] = byte(i * 31 >> 2)
		}
		require.NoError(t, ch.Publish("", "q", false, false, amqp091.Publishing{Body: body, ContentType: "x"}))
		d := <-deliveries
		assert.True(t, bytes.Equal(body, d.Body), "%d octets", size)
		assert.Equal(t, "x", d.ContentType)
	}
}

// The body of a message that is too large is thrown away as it comes.
func TestTooLargeBodiesTakeNoMemory(t *testing.T) {
	const limit, size = 1 << 20, 64 << 20
	srv := &amqpd.Server{Broker: leverettest.New(t, leveret.WithMaxMessageSize(limit))}
	t.Cleanup(func() { srv.Close() })
	nc, err := srv.Dial() // leverettest.Dial copies what goes over its connection
	require.NoError(t, err)
	conn, err := amqp091.Open(nc, asGuest())
	require.NoError(t, err)
	body := make([]byte, size)
	publish := func(immediate bool) *amqp091.Error {
		ch := channelOf(t, conn)
		closed := ch.NotifyClose(make(chan *amqp091.Error, 1))
		require.NoError(t, ch.PublishWithContext(context.Background(), "", "q", false, immediate,
			amqp091.Publishing{Body: body}))
		return <-closed
	}
	publish(false) // grows the buffers
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	refused := publish(false)
	runtime.ReadMemStats(&after)
	assert.Equal(t, amqp091.PreconditionFailed, refused.Code)
	assert.Equal(t, fmt.Sprintf("PRECONDITION_FAILED - message size %d is larger than configured max size %d", size, limit), refused.Reason)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(limit))

	ch := channelOf(t, conn) // the connection goes on
	declareQueue(t, ch, "q", nil)
	require.NoError(t, ch.PublishWithContext(context.Background(), "", "q", false, false,
		amqp091.Publishing{Body: body[:limit]}))
	got, ok, getErr := ch.Get("q", true)
	require.NoError(t, getErr)
	require.True(t, ok)
	assert.Len(t, got.Body, limit)
	assert.Equal(t, amqp091.NotImplemented, publish(true).Code, "which is looked at before the size")
}

// With the smallest frames bodies arrive in hundreds of pieces.
func TestSmallFrames(t *testing.T) {
	conn := leverettest.DialConfig(t, leverettest.New(t),
		amqp091.Config{SASL: asGuest().SASL, Vhost: "/", FrameSize: 8192})
	ch := channelOf(t, conn)
	declareQueue(t, ch, "q", nil)
	body := bytes.Repeat([]byte("0123456789"), 100000)
	require.NoError(t, ch.Publish("", "q", false, false, amqp091.Publishing{Body: body}))
	d, ok, err := ch.Get("q", true)
	require.NoError(t, err)
	require.True(t, ok)
	assert.True(t, bytes.Equal(body, d.Body))
}

func TestHeadersSurvive(t *testing.T) {
	conn := leverettest.Dial(t, leverettest.New(t))
	ch := channelOf(t, conn)
	declareQueue(t, ch, "q", nil)
	var deep any = "bottom"
	for range 10 {
		deep = amqp091.Table{"k": []any{deep}}
	}
	sent := amqp091.Publishing{
		Headers: amqp091.Table{
			"string": "s", "bytes": []byte{1, 2}, "int": int32(-1), "long": int64(1 << 40), "bool": true, "float": 1.5,
			"time": time.Unix(1700000000, 0), "decimal": amqp091.Decimal{Scale: 2, Value: 5}, "nil": nil, "deep": deep,
		},
		ContentType: "a", ContentEncoding: "b", DeliveryMode: 2, Priority: 3, CorrelationId: "c", ReplyTo: "d",
		Expiration: "60000",
		MessageId:  "e", Timestamp: time.Unix(1700000001, 0), Type: "f", UserId: "guest", AppId: "g",
	}
	require.NoError(t, ch.Publish("", "q", false, false, sent))
	d, ok, err := ch.Get("q", true)
	require.NoError(t, err)
	require.True(t, ok)
	assert.Equal(t, sent, amqp091.Publishing{
		Headers: d.Headers, ContentType: d.ContentType, ContentEncoding: d.ContentEncoding, DeliveryMode: d.DeliveryMode,
		Priority: d.Priority, CorrelationId: d.CorrelationId, ReplyTo: d.ReplyTo, Expiration: d.Expiration,
		MessageId: d.MessageId, Timestamp: d.Timestamp, Type: d.Type, UserId: d.UserId, AppId: d.AppId,
	})
}

// Properties are remembered from one message to the next; each message must still get its own.
func TestPropertiesDoNotLeakIntoOtherMessages(t *testing.T) {
	conn := leverettest.Dial(t, leverettest.New(t))
	ch := channelOf(t, conn)
	declareQueue(t, ch, "q", nil)
	for i, p := range []amqp091.Publishing{
		{MessageId: "1", Headers: amqp091.Table{"n": "1"}}, {MessageId: "1", Headers: amqp091.Table{"n": "1"}},
		{MessageId: "2"}, {}, {MessageId: "2"}, {Headers: amqp091.Table{"n": "3"}}, {MessageId: "2"},
	} {
		require.NoError(t, ch.Publish("", "q", false, false, p))
		d, ok, err := ch.Get("q", true)
		require.NoError(t, err)
		require.True(t, ok)
		assert.Equal(t, p.MessageId, d.MessageId, "message %d", i)
		assert.Equal(t, len(p.Headers), len(d.Headers), "message %d", i)
	}
}

func TestConfirms(t *testing.T) {
	conn := leverettest.Dial(t, leverettest.New(t))
	ch := channelOf(t, conn)
	declareQueue(t, ch, "open", nil)
	declareQueue(t, ch, "full", amqp091.Table{"x-max-length": 1, "x-overflow": "reject-publish"})
	require.NoError(t, ch.Confirm(false))
	var confirms []*amqp091.DeferredConfirmation
	for i := range 1000 {
		queue := "open"
		if i%3 == 0 {
			queue = "full"
		}
		c, err := ch.PublishWithDeferredConfirm("", queue, false, false, amqp091.Publishing{})
		require.NoError(t, err)
		confirms = append(confirms, c)
	}
	for i, c := range confirms {
		assert.Equal(t, i == 0 || i%3 != 0, c.Wait(), "publish %d", i)
	}
}

func TestReturnComesBeforeItsConfirm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := leverettest.Dial(t, leverettest.New(t))
		ch := channelOf(t, conn)
		require.NoError(t, ch.Confirm(false))
		returns := ch.NotifyReturn(make(chan amqp091.Return, 10))
		c, err := ch.PublishWithDeferredConfirm("amq.direct", "nobody", true, false, amqp091.Publishing{Body: []byte("hi")})
		require.NoError(t, err)
		assert.True(t, c.Wait())
		r := <-returns
		assert.Equal(t, "NO_ROUTE", r.ReplyText)
		assert.Equal(t, "amq.direct", r.Exchange)
		assert.Equal(t, "nobody", r.RoutingKey)
		assert.Equal(t, "hi", string(r.Body))
	})
}

// Time passes without waiting: heartbeats, a message's TTL and its way to the dead-letter exchange.
func TestVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := leverettest.Dial(t, leverettest.New(t))
		ch := channelOf(t, conn)
		declareQueue(t, ch, "waiting", amqp091.Table{
			"x-message-ttl": int64(3 * time.Hour / time.Millisecond), "x-dead-letter-exchange": "",
			"x-dead-letter-routing-key": "work",
		})
		declareQueue(t, ch, "work", nil)
		deliveries, err := ch.Consume("work", "", false, false, false, false, nil)
		require.NoError(t, err)
		start := time.Now()
		publishText(t, ch, "waiting", "later")
		d := <-deliveries
		assert.Equal(t, 3*time.Hour, time.Since(start))
		assert.Equal(t, "later", string(d.Body))
		deaths := d.Headers["x-death"].([]any)
		assert.Equal(t, "expired", deaths[0].(amqp091.Table)["reason"])
		require.NoError(t, d.Ack(false))
		assert.False(t, conn.IsClosed(), "heartbeats kept the connection")
	})
}

func TestServerCancelsConsumer(t *testing.T) {
	conn := leverettest.Dial(t, leverettest.New(t))
	ch := channelOf(t, conn)
	declareQueue(t, ch, "q", nil)
	cancels := ch.NotifyCancel(make(chan string, 1))
	deliveries, err := ch.Consume("q", "tag", false, false, false, false, nil)
	require.NoError(t, err)
	_, err = channelOf(t, conn).QueueDelete("q", false, false, false)
	require.NoError(t, err)
	assert.Equal(t, "tag", <-cancels)
	_, more := <-deliveries
	assert.False(t, more)
}

// Everything that was delivered before a cancel arrives before its answer, and nothing after.
func TestCancelIsABarrier(t *testing.T) {
	b := leverettest.New(t)
	conn := leverettest.Dial(t, b)
	ch := channelOf(t, conn)
	declareQueue(t, ch, "q", amqp091.Table{"x-max-length": 1000}) // or the publisher runs away
	stop := make(chan struct{})
	var publishing sync.WaitGroup
	publishing.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				b.Publish("", "q", leveret.Message{})
				runtime.Gosched()
			}
		}
	})
	for i := range 20 {
		tag := fmt.Sprint(i)
		deliveries, err := ch.Consume("q", tag, true, false, false, false, nil)
		require.NoError(t, err)
		go func() {
			for range deliveries {
			}
		}()
		require.NoError(t, ch.Cancel(tag, false))
	}
	close(stop)
	publishing.Wait()
	_, err := ch.QueueDeclarePassive("q", false, false, false, false, nil)
	assert.NoError(t, err, "no delivery of an unknown consumer has closed the channel")
}

func TestChannelErrorLeavesTheConnection(t *testing.T) {
	b := leverettest.New(t)
	conn := leverettest.Dial(t, b)
	ch := channelOf(t, conn)
	declareQueue(t, ch, "q", nil)
	publishText(t, ch, "q", "m")
	_, ok, err := ch.Get("q", false)
	require.NoError(t, err)
	require.True(t, ok)
	closed := ch.NotifyClose(make(chan *amqp091.Error, 1))
	_, err = ch.QueueDeclarePassive("missing", false, false, false, false, nil)
	want := &amqp091.Error{Code: 404, Reason: "NOT_FOUND - no queue 'missing' in vhost '/'", Server: true, Recover: true}
	assert.Equal(t, want, err)
	assert.Equal(t, want, <-closed)
	d, ok, err := channelOf(t, conn).Get("q", false)
	require.NoError(t, err)
	require.True(t, ok, "the unacknowledged message is back")
	assert.True(t, d.Redelivered)
}

func TestConnectionError(t *testing.T) {
	b := leverettest.New(t)
	conn := leverettest.Dial(t, b)
	ch := channelOf(t, conn)
	closed := conn.NotifyClose(make(chan *amqp091.Error, 1))
	ch.Publish("", "", false, true, amqp091.Publishing{})
	assert.Equal(t, &amqp091.Error{Code: 540, Reason: "NOT_IMPLEMENTED - immediate=true", Server: true}, <-closed)
}

func TestOperatorClosesConnection(t *testing.T) {
	b := leverettest.New(t)
	conn := leverettest.Dial(t, b)
	closed := conn.NotifyClose(make(chan *amqp091.Error, 1))
	require.NoError(t, b.CloseConnection(b.Connections()[0].ID, "enough"))
	assert.Equal(t, &amqp091.Error{Code: 320, Reason: "CONNECTION_FORCED - enough", Server: true}, <-closed)
}

// The client does not announce that it understands a close before it has logged in, so it is made to wait and then
// finds the connection closed.
func TestWrongPassword(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &amqpd.Server{Broker: leverettest.New(t)}
		defer srv.Close()
		nc, err := srv.Dial()
		require.NoError(t, err)
		start := time.Now()
		_, err = amqp091.Open(nc, amqp091.Config{SASL: []amqp091.Authentication{&amqp091.PlainAuth{Username: "guest", Password: "x"}}})
		assert.ErrorIs(t, err, amqp091.ErrCredentials)
		assert.Equal(t, 3*time.Second, time.Since(start))
		nc.Close()
	})
}

func TestServerClose(t *testing.T) {
	b := leverettest.New(t)
	srv := &amqpd.Server{Broker: b}
	nc, err := srv.Dial()
	require.NoError(t, err)
	conn, err := amqp091.Open(nc, asGuest())
	require.NoError(t, err)
	closed := conn.NotifyClose(make(chan *amqp091.Error, 1))
	require.NoError(t, srv.Close())
	assert.Equal(t, &amqp091.Error{
		Code: 320, Reason: "CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'", Server: true,
	}, <-closed)
	_, err = srv.Dial()
	assert.ErrorIs(t, err, amqpd.ErrServerClosed)
	assert.Empty(t, b.Connections())
}

// Without a word from the client its connection ends after two to three heartbeats, and its messages go back.
func TestMissedHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := leverettest.New(t)
		srv := &amqpd.Server{Broker: b}
		defer srv.Close()
		nc, err := srv.Dial()
		require.NoError(t, err)
		silent := &silencer{Conn: nc}
		conn, err := amqp091.Open(silent, amqp091.Config{SASL: asGuest().SASL, Vhost: "/", Heartbeat: 10 * time.Second})
		require.NoError(t, err)
		ch := channelOf(t, conn)
		declareQueue(t, ch, "q", nil)
		publishText(t, ch, "q", "m")
		_, _, err = ch.Get("q", false)
		require.NoError(t, err)
		time.Sleep(time.Hour)
		require.Len(t, b.Connections(), 1)
		silent.set(true)
		start := time.Now()
		for len(b.Connections()) > 0 {
			time.Sleep(time.Second)
		}
		assert.InDelta(t, 25, time.Since(start).Seconds(), 6)
		q, err := b.Queue("q")
		require.NoError(t, err)
		assert.Equal(t, 1, q.Info().Ready)
		conn.Close()
	})
}

// A silencer swallows what is written to it.
type silencer struct {
	net.Conn
	mu     sync.Mutex
	silent bool
}

func (s *silencer) set(silent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent = silent
}

func (s *silencer) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.silent {
		return len(b), nil
	}
	return s.Conn.Write(b)
}

func TestHandshakeTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &amqpd.Server{Broker: leverettest.New(t)}
		defer srv.Close()
		nc, err := srv.Dial()
		require.NoError(t, err)
		start := time.Now()
		nc.Write([]byte("AMQP\x00\x00\x09\x01"))
		buf := make([]byte, 4096)
		for err == nil {
			_, err = nc.Read(buf)
		}
		assert.Equal(t, 10*time.Second, time.Since(start))
	})
}

// The client of a TCP connection that the server ends sees a reset behind what it was sent, as RabbitMQ's clients do, and not the end
// of the stream.
func TestEndsByReset(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ sends, gets string }{
		"nothing sent":     {},
		"another protocol": {"GET / HTTP/1.1\r\n\r\n", "AMQP\x03\x01\x00\x00"},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			srv := &amqpd.Server{Broker: leverettest.New(t), HandshakeTimeout: 100 * time.Millisecond}
			defer srv.Close()
			go srv.Serve(l)
			nc, err := net.Dial("tcp", l.Addr().String())
			require.NoError(t, err)
			defer nc.Close()
			_, err = io.WriteString(nc, test.sends)
			require.NoError(t, err)
			got, err := io.ReadAll(nc)
			assert.ErrorIs(t, err, syscall.ECONNRESET)
			assert.Equal(t, test.gets, string(got))
		})
	}
}

// Publishers are held back during the memory alarm, and go on after it; consumers are not affected.
func TestMemoryAlarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := leverettest.New(t)
		publisher, consumer := leverettest.Dial(t, b), leverettest.Dial(t, b)
		blocked := publisher.NotifyBlocked(make(chan amqp091.Blocking, 10))
		untouched := consumer.NotifyBlocked(make(chan amqp091.Blocking, 10))
		ch := channelOf(t, publisher)
		declareQueue(t, ch, "q", nil)
		require.NoError(t, ch.Confirm(false))
		b.SetMemoryLimit(1000)
		for range 5 {
			c, err := ch.PublishWithDeferredConfirm("", "q", false, false, amqp091.Publishing{Body: make([]byte, 300)})
			require.NoError(t, err)
			synctest.Wait()
			_ = c
		}
		assert.Equal(t, amqp091.Blocking{Active: true, Reason: "low on memory"}, <-blocked)
		q, err := b.Queue("q")
		require.NoError(t, err)
		assert.Equal(t, 4, q.Info().Ready, "the fifth waits")
		time.Sleep(10 * time.Minute)
		assert.False(t, publisher.IsClosed(), "a blocked client may miss heartbeats")

		cch := channelOf(t, consumer)
		for range 4 {
			_, ok, err := cch.Get("q", true)
			require.NoError(t, err)
			require.True(t, ok)
		}
		room := time.Now()
		assert.Equal(t, amqp091.Blocking{Active: false}, <-blocked)
		assert.Zero(t, time.Since(room), "it was told late")
		synctest.Wait()
		assert.Equal(t, 1, q.Info().Ready, "it has arrived")
		assert.Empty(t, untouched, "who does not publish is not told")
	})
}

// A client that does not read costs no memory but the bounded buffers between it and the broker.
func TestStuckReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := leverettest.New(t)
		srv := &amqpd.Server{Broker: b}
		nc, err := srv.Dial()
		require.NoError(t, err)
		stuck := &stopper{Conn: nc, resume: make(chan struct{})}
		conn, err := amqp091.Open(stuck, asGuest())
		require.NoError(t, err)
		ch := channelOf(t, conn)
		declareQueue(t, ch, "q", nil)
		_, err = ch.Consume("q", "", false, false, false, false, nil)
		require.NoError(t, err)
		stuck.stop()
		const n, size = 300, 100 << 10
		for range n {
			_, err := b.Publish("", "q", leveret.Message{Body: make([]byte, size)})
			require.NoError(t, err)
		}
		q, err := b.Queue("q")
		require.NoError(t, err)
		synctest.Wait() // the server has sent what it can
		assert.Positive(t, q.Info().Unacked)
		assert.Less(t, q.Info().Unacked*size, 8<<20, "octets on their way to the client")
		assert.Equal(t, n, q.Info().Messages)
		nc.Close()
		close(stuck.resume)
		synctest.Wait()
		assert.Equal(t, n, q.Info().Ready)
		conn.Close()
		srv.Close()
	})
}

// A stopper stops reading.
type stopper struct {
	net.Conn
	mu      sync.Mutex
	stopped bool
	resume  chan struct{}
}

func (s *stopper) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
}

func (s *stopper) Read(b []byte) (int, error) {
	s.mu.Lock()
	stopped := s.stopped
	s.mu.Unlock()
	if stopped {
		<-s.resume
	}
	return s.Conn.Read(b)
}

func TestServeListener(t *testing.T) {
	b := leverettest.New(t)
	srv := &amqpd.Server{Broker: b}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	conn, err := amqp091.Dial("amqp://guest:guest@" + l.Addr().String() + "/")
	require.NoError(t, err)
	assert.Equal(t, conn.LocalAddr().String()+" -> "+l.Addr().String(), b.Connections()[0].Name)
	require.NoError(t, conn.Close())
	require.NoError(t, srv.Close())
	assert.ErrorIs(t, <-served, amqpd.ErrServerClosed)
}

// A client is sent whatever a Go program publishes, and the listener survives.
func TestHeadersOfGoTypes(t *testing.T) {
	b := leverettest.New(t)
	ch := channelOf(t, leverettest.Dial(t, b))
	declareQueue(t, ch, "q", nil)
	headers := leveret.Fields{{Name: "n", Value: uint64(1)}, {Name: "list", Value: []string{"a"}}}
	_, err := b.Publish("", "q", leveret.Message{Properties: &leveret.Properties{HeaderFields: headers}})
	require.NoError(t, err)
	d, ok, err := ch.Get("q", true)
	require.NoError(t, err)
	require.True(t, ok)
	assert.Equal(t, amqp091.Table{"n": int64(1), "list": []any{"a"}}, d.Headers)
}

// The largest headers that a program may publish reach a client in one frame.
func TestLargestHeadersArrive(t *testing.T) {
	b := leverettest.New(t)
	ch := channelOf(t, leverettest.Dial(t, b))
	declareQueue(t, ch, "q", nil)
	value := string(bytes.Repeat([]byte("x"), 128<<10-8-12-2-4-(1+1)-(1+4)))
	_, err := b.Publish("", "q", leveret.Message{Properties: &leveret.Properties{Headers: leveret.Table{"h": value}}})
	require.NoError(t, err)
	d, ok, err := ch.Get("q", true)
	require.NoError(t, err)
	require.True(t, ok)
	assert.Equal(t, value, d.Headers["h"])
}
