package main

import (
	"bytes"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/ctl"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"
)

// A fixture is a client of the virtual host ctl-test with queues, messages and consumers, for the
// scripts to list.
type fixture struct {
	t    *testing.T
	url  string
	conn *amqp.Connection

	recovering recovering
}

func (f *fixture) connect() {
	f.dial()
	f.declare(f.channel())
	f.messages(f.channel())
	require.NoError(f.t, f.channel().Confirm(false))
	tx := f.channel()
	require.NoError(f.t, tx.Tx())
	require.NoError(f.t, tx.Publish("", "work", false, false, amqp.Publishing{Body: []byte("uncommitted")}))
	_, err := tx.QueueDeclarePassive("work", true, false, false, false, nil) // the publish has arrived
	require.NoError(f.t, err)
}

func (f *fixture) dial() {
	var err error
	f.conn, err = amqp.DialConfig(f.url, amqp.Config{
		Vhost:      "ctl-test",
		SASL:       []amqp.Authentication{&amqp.PlainAuth{Username: "ctl-user", Password: "secret"}},
		Properties: amqp.Table{"connection_name": "fixture", "product": "test"},
	})
	require.NoError(f.t, err)
}

// connectAlone makes one of everything, so that a listing has one row.
func (f *fixture) connectAlone() {
	f.dial()
	ch := f.channel()
	_, err := ch.QueueDeclare("tab\tü", true, false, false, false, amqp.Table{
		"x-max-length": int32(10), "x-array": []any{"a", int64(1), true, nil}, "x-table": amqp.Table{"a": 1.5},
		"x-decimal": amqp.Decimal{Scale: 2, Value: 314}, "x-text": "λ\"ü",
	})
	require.NoError(f.t, err)
	_, err = ch.Consume("tab\tü", "tag", false, false, false, false, amqp.Table{"x-priority": int32(3)})
	require.NoError(f.t, err)
}

// consume has consumers of every kind and state.
func (f *fixture) consume() {
	ch := f.channel()
	require.NoError(f.t, ch.Confirm(false))
	require.NoError(f.t, ch.Qos(1, 0, false))
	for _, q := range []struct {
		name, kind   string
		single, only bool // single active consumer, exclusive consumer
		persistent   []uint8
	}{
		{"busy", "classic", false, false, []uint8{2, 1, 2}}, {"busy quorum", "quorum", false, false, []uint8{1, 2}},
		{"exact", "classic", false, false, []uint8{2}}, // as many as the consumer may hold
		{"single", "classic", true, false, []uint8{2}}, {"single quorum", "quorum", true, false, []uint8{2}},
		{"only", "classic", false, true, nil}, {"free", "classic", false, false, nil},
	} {
		_, err := ch.QueueDeclare(q.name, true, false, false, false,
			amqp.Table{"x-queue-type": q.kind, "x-single-active-consumer": q.single})
		require.NoError(f.t, err)
		deliveries, err := ch.Consume(q.name, "of "+q.name, false, q.only, false, false, nil)
		require.NoError(f.t, err)
		if q.single {
			_, err := ch.Consume(q.name, "behind "+q.name, false, q.only, false, false, nil)
			require.NoError(f.t, err)
		}
		for _, mode := range q.persistent {
			c, err := ch.PublishWithDeferredConfirm("", q.name, false, false,
				amqp.Publishing{Body: []byte("hello"), DeliveryMode: mode})
			require.NoError(f.t, err)
			require.True(f.t, c.Wait())
		}
		if len(q.persistent) > 0 {
			<-deliveries
		}
	}
}

func (f *fixture) channel() *amqp.Channel {
	ch, err := f.conn.Channel()
	require.NoError(f.t, err)
	return ch
}

func (f *fixture) declare(ch *amqp.Channel) {
	require.NoError(f.t, ch.ExchangeDeclare("x.topic", "topic", true, false, false, false,
		amqp.Table{"alternate-exchange": "ae"}))
	require.NoError(f.t, ch.ExchangeDeclare("x.headers", "headers", false, true, true, false, nil))
	for _, q := range []struct {
		name                           string
		durable, autoDelete, exclusive bool
		args                           amqp.Table
	}{
		{"work", true, false, false, amqp.Table{
			"x-message-ttl": int32(5000000), "x-dead-letter-exchange": "dlx", "x-empty": "", "x-void": nil,
			"x-array": []any{int32(97), int32(98)}, "x-float": float32(1.1), "x-unicode": "λ", "x-text": "a\"b\\\tü",
		}},
		{"quorum queue", true, false, false, amqp.Table{"x-queue-type": "quorum"}},
		{"mine", false, true, true, nil},
		{"ü", true, false, false, nil},
	} {
		_, err := ch.QueueDeclare(q.name, q.durable, q.autoDelete, q.exclusive, false, q.args)
		require.NoError(f.t, err)
	}
	require.NoError(f.t, ch.QueueBind("work", "a.*", "x.topic", false, nil))
	require.NoError(f.t, ch.QueueBind("work", "k", "amq.headers", false, amqp.Table{
		"x-match": "all", "long": int64(1), "string": "s", "bool": true, "double": 1.5, "table": amqp.Table{"a": "b"},
		"array": []any{"x", int32(1), int32(2)}, "void": nil, "bytes": []byte("bin"), "decimal": amqp.Decimal{Scale: 2, Value: 314},
	}))
	require.NoError(f.t, ch.ExchangeBind("x.headers", "", "x.topic", false, nil))
}

// messages leaves three in the queue work, of which one is in a consumer's hands.
func (f *fixture) messages(ch *amqp.Channel) {
	require.NoError(f.t, ch.Confirm(false))
	for range 3 {
		c, err := ch.PublishWithDeferredConfirm("", "work", false, false,
			amqp.Publishing{Body: []byte("hello"), DeliveryMode: amqp.Persistent})
		require.NoError(f.t, err)
		require.True(f.t, c.Wait())
	}
	require.NoError(f.t, ch.Qos(1, 0, false))
	deliveries, err := ch.Consume("work", "worker", false, false, false, false, amqp.Table{"x-priority": int32(3)})
	require.NoError(f.t, err)
	<-deliveries
	_, err = ch.Consume("mine", "own", true, true, false, false, nil)
	require.NoError(f.t, err)
}

func (f *fixture) disconnect() {
	if f.conn != nil {
		f.conn.Close() // it may have been closed by the script
		f.conn = nil
	}
}

func testSettings(t *testing.T) settings {
	return settings{amqp: "127.0.0.1:0", control: filepath.Join(t.TempDir(), "s"), clients: clientSettings{heartbeat: time.Minute, globalQos: true},
		setLogLevel: new(openLog).setLevel}
}

func startForTest(t *testing.T, s settings) *server {
	srv, err := start(s, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { srv.close() })
	return srv
}

// controlOf runs commands on the control socket of a server.
func controlOf(s settings) func(args []string, stdin string) (stdout, stderr string, status int) {
	return func(args []string, stdin string) (string, string, int) {
		var out, errs bytes.Buffer
		std := streams(&out, &errs)
		std.In = strings.NewReader(stdin)
		status := run(append([]string{"ctl", "--control", s.control}, args...), std)
		return out.String(), errs.String(), status
	}
}

func streams(out, errs io.Writer) ctl.Streams {
	return ctl.Streams{In: strings.NewReader(""), Out: out, Err: errs}
}

var leveretQueue = leveret.QueueConfig{Durable: true}

func leveretMessage(body string) leveret.Message { return leveret.Message{Body: []byte(body)} }
