package main

import (
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/leverettest"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFaultsFlag(t *testing.T) {
	s, err := parseSettings(nil, io.Discard)
	require.NoError(t, err)
	assert.False(t, s.faults)
	s, err = parseSettings([]string{"--faults"}, io.Discard)
	require.NoError(t, err)
	assert.True(t, s.faults)
	_, err = parseSettings([]string{"--faults", "--control", "none"}, io.Discard)
	assert.ErrorContains(t, err, "--faults needs --control")
}

// A faulty server takes faults. It has a client with a queue "work".
type faulty struct {
	*server
	t    *testing.T
	run  func(args []string, stdin string) (stdout, stderr string, status int)
	conn *amqp.Connection
	ch   *amqp.Channel
}

func startFaulty(t *testing.T, flags ...string) *faulty {
	f := startFaultyServer(t, flags...)
	t.Cleanup(func() { f.close() })
	return f
}

// startFaultyServer starts a server that the test has to close.
func startFaultyServer(t *testing.T, flags ...string) *faulty {
	given, err := parseSettings(flags, io.Discard)
	require.NoError(t, err)
	s := testSettings(t)
	s.faults, s.clock, s.clients = true, given.clock, given.clients
	srv, err := start(s, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	f := &faulty{server: srv, t: t, run: controlOf(s)}
	f.dial()
	_, err = f.ch.QueueDeclare("work", false, false, false, false, nil)
	require.NoError(t, err)
	return f
}

// dial connects. The end of the server closes the connection.
func (f *faulty) dial() {
	var err error
	f.conn, err = amqp.DialConfig("amqp://guest:guest@"+f.doors[0].listener.Addr().String()+"/", amqp.Config{FrameSize: 1 << 20})
	require.NoError(f.t, err)
	f.ch, err = f.conn.Channel()
	require.NoError(f.t, err)
	require.NoError(f.t, f.ch.Confirm(false))
}

// ctl runs a command, and returns what it prints.
func (f *faulty) ctl(args ...string) string {
	f.t.Helper()
	out, stderr, status := f.run(append(args, "-q"), "")
	require.Zero(f.t, status, stderr)
	return strings.TrimSuffix(out, "\n")
}

// publish publishes, and reports whether the broker took the message.
func (f *faulty) publish(body string) (ack bool) {
	f.t.Helper()
	confirm, err := f.ch.PublishWithDeferredConfirm("", "work", false, false, amqp.Publishing{MessageId: "m-" + body[:1], Body: []byte(body)})
	require.NoError(f.t, err)
	return confirm.Wait()
}

// bodies are those of the queue.
func (f *faulty) bodies() (all []string) {
	q, err := f.broker.Queue("work")
	require.NoError(f.t, err)
	for _, m := range q.Messages() {
		all = append(all, string(m.Body))
	}
	return all
}

// A publish is refused by number and by what the message has, until the fault is lifted.
func TestFaultRefusesPublishes(t *testing.T) {
	f := startFaulty(t)
	assert.Equal(t, "1", f.ctl("fault", "publish", "nack", "--nth", "2"))
	assert.Equal(t, []bool{true, false, true}, []bool{f.publish("a"), f.publish("b"), f.publish("c")})
	assert.Equal(t, "2", f.ctl("fault", "publish", "nack", "--keep", "--message-id", "m-d", "--exchange", "", "--routing-key", "work"))
	assert.Equal(t, "3", f.ctl("fault", "publish", "nack", "--keep", "--body", "e", "--exchange", "other"))
	assert.Equal(t, []bool{false, false, true}, []bool{f.publish("d"), f.publish("d"), f.publish("e")})
	assert.Equal(t, "number\tpoint\taction\tnth\tkeep\tmessage\n1\tpublish\tnack\t2\tfalse\t\n"+
		"2\tpublish\tnack\t1\ttrue\texchange= routing-key=work message-id=m-d\n"+
		"3\tpublish\tnack\t1\ttrue\texchange=other body=e", f.ctl("list_faults"))
	f.ctl("lift_fault", "2")
	assert.True(t, f.publish("d"))
	assert.Equal(t, []string{"a", "c", "e", "d"}, f.bodies())
	f.ctl("lift_fault", "all")
	assert.Empty(t, f.ctl("list_faults"))
}

// The broker has the message, and its publisher cannot know.
func TestFaultLosesConfirm(t *testing.T) {
	f := startFaulty(t)
	f.ctl("fault", "confirm", "cut")
	closed := f.conn.NotifyClose(make(chan *amqp.Error, 1))
	assert.False(t, f.publish("a"))
	assert.NotNil(t, <-closed)
	assert.Equal(t, []string{"a"}, f.bodies())
	f.dial()
	assert.True(t, f.publish("b"))
}

func TestFaultCloses(t *testing.T) {
	f := startFaulty(t)
	f.ctl("fault", "publish", "close_channel", "--code", "404", "--text", "NOT_FOUND - gone")
	closed := f.ch.NotifyClose(make(chan *amqp.Error, 1))
	assert.False(t, f.publish("a"))
	end := <-closed
	assert.Equal(t, 404, end.Code)
	assert.Equal(t, "NOT_FOUND - gone", end.Reason)
	f.ctl("fault", "publish", "close_connection", "--text", "CONNECTION_FORCED - maintenance")
	f.dial()
	closed = f.conn.NotifyClose(make(chan *amqp.Error, 1))
	assert.False(t, f.publish("b"))
	assert.Equal(t, 320, (<-closed).Code)
	assert.Empty(t, f.bodies())
}

// A broker that restarts is at the same address, with what is durable. Of a killed one the client hears no farewell.
func TestFaultRestarts(t *testing.T) {
	for action, code := range map[string]int{"restart": amqp.ConnectionForced, "kill_node": 0} {
		f := startFaulty(t)
		_, err := f.ch.QueueDeclare("kept", true, false, false, false, nil)
		require.NoError(t, err)
		f.ctl("fault", "confirm", action)
		closed := f.conn.NotifyClose(make(chan *amqp.Error, 1))
		confirm, err := f.ch.PublishWithDeferredConfirm("", "kept", false, false, amqp.Publishing{DeliveryMode: amqp.Persistent})
		require.NoError(t, err)
		assert.False(t, confirm.Wait())
		if end := <-closed; code != 0 {
			assert.Equal(t, code, end.Code)
		}
		f.dial()
		d, ok, err := f.ch.Get("kept", true)
		require.NoError(t, err)
		require.True(t, ok)
		assert.Equal(t, action == "kill_node", d.Redelivered) // a node that was killed does not know whom it had sent what
		_, err = f.ch.QueueDeclarePassive("work", false, false, false, false, nil)
		assert.ErrorContains(t, err, "NOT_FOUND")
	}
}

func TestFaultBlocks(t *testing.T) {
	f := startFaulty(t)
	blocked := f.conn.NotifyBlocked(make(chan amqp.Blocking, 2))
	number := f.ctl("fault", "publish", "block")
	confirm, err := f.ch.PublishWithDeferredConfirm("", "work", false, false, amqp.Publishing{})
	require.NoError(t, err)
	assert.True(t, (<-blocked).Active)
	f.ctl("lift_fault", number)
	assert.False(t, (<-blocked).Active)
	assert.True(t, confirm.Wait())
}

// The broker sees where its clients come from, and a server that stops does not wait for a stalled connection.
func TestFaultStalls(t *testing.T) {
	f := startFaultyServer(t)
	assert.Contains(t, f.ctl("list_connections", "peer_host", "host"), "127.0.0.1\t127.0.0.1")
	f.ctl("fault", "publish", "stall")
	closed := f.conn.NotifyClose(make(chan *amqp.Error, 1))
	_, err := f.ch.PublishWithDeferredConfirm("", "work", false, false, amqp.Publishing{})
	require.NoError(t, err)
	f.close()
	// If the message comes when the server stops already, the connection is stalled until it is cut off.
	assert.Contains(t, []int{amqp.ConnectionForced, amqp.FrameError}, (<-closed).Code)
}

// Messages of any size meet faults, also in frames that are larger than usual.
func TestFaultInLargeFrames(t *testing.T) {
	f := startFaulty(t, "--frame-max", "1048576")
	f.ctl("fault", "publish", "nack", "--nth", "2")
	const size = 3_000_000
	for n, ack := range []bool{true, false, true} {
		require.Equal(t, ack, f.publish(strings.Repeat(string(rune('a'+n)), size)))
	}
	for i, body := range f.bodies() {
		require.Equal(t, size, strings.Count(body, []string{"a", "c"}[i]))
	}
}

// advance returns when what is due has been written to clients, also if faults are in between.
func TestFaultsOnVirtualTime(t *testing.T) {
	f := startFaulty(t, "--clock", "manual")
	_, err := f.ch.QueueDeclare("wait", false, false, false, false, amqp.Table{
		"x-message-ttl": 3600_000, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "work",
	})
	require.NoError(t, err)
	_, err = f.ch.Consume("work", "", true, false, false, false, nil)
	require.NoError(t, err)
	for range 20 {
		confirm, err := f.ch.PublishWithDeferredConfirm("", "wait", false, false, amqp.Publishing{Body: make([]byte, 1000)})
		require.NoError(t, err)
		require.True(t, confirm.Wait())
		sent := f.broker.Connections()[0].Transport.Traffic.Sent
		f.ctl("advance", "1h")
		require.Greater(t, f.broker.Connections()[0].Transport.Traffic.Sent, sent+1000)
	}
}

func TestFaultRefuses(t *testing.T) {
	f := startFaulty(t)
	for line, want := range map[string]string{
		"fault arrive nack":              "Bad argument: 'arrive' is not one of ack, confirm, deliver, publish",
		"fault publish eat":              "Bad argument: 'eat' is not one of block, cancel_consumer, close_channel",
		"fault confirm nack":             "Nack is for OnPublish",
		"fault publish cut --nth 0":      "Bad argument: --nth is 0, and is counted from 1",
		"fault publish cut --code 70000": "Bad argument: --code is 70000, and no code of AMQP",
		"lift_fault one":                 "Bad argument: 'one' is neither the number of a fault nor all",
		"lift_fault 7":                   "there is no fault 7",
	} {
		_, stderr, status := f.run(strings.Fields(line), "")
		assert.Equal(t, 65, status, line)
		assert.Contains(t, stderr, want)
	}
	_, stderr, status := startAdvancing(t).run([]string{"list_faults"}, "")
	assert.Equal(t, 69, status)
	assert.Contains(t, stderr, "this node takes no faults: start it with leveret serve --faults")
}

// Clients with TLS meet faults, too, and the broker knows who they are and where they come from as without faults.
func TestFaultsOverTLS(t *testing.T) {
	ca, dir := leverettest.NewAuthority(t), t.TempDir()
	ca.WriteFiles(t, dir, "localhost")
	s := testSettings(t)
	s.faults, s.amqps = true, "127.0.0.1:0"
	s.tls = tlsSettings{cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem"), clientCA: filepath.Join(dir, "ca.pem"),
		login: logins["common-name"]}
	srv := startForTest(t, s)
	require.NoError(t, srv.broker.AddUser("ann", "unused"))
	require.NoError(t, srv.broker.SetPermissions("ann", leveret.Permissions{Configure: ".*", Write: ".*", Read: ".*"}))
	f := &faulty{server: srv, t: t, run: controlOf(s)}
	dial := func() {
		conn, err := amqp.DialConfig("amqps://"+f.doors[1].listener.Addr().String()+"/",
			amqp.Config{TLSClientConfig: ca.Client("ann"), SASL: []amqp.Authentication{&amqp.ExternalAuth{}}})
		require.NoError(t, err)
		f.conn, f.ch = conn, nil
		f.ch, err = conn.Channel()
		require.NoError(t, err)
		require.NoError(t, f.ch.Confirm(false))
	}
	dial()
	_, err := f.ch.QueueDeclare("work", false, false, false, false, nil)
	require.NoError(t, err)
	assert.Equal(t, "user\tssl\tssl_protocol\tpeer_host\nann\ttrue\ttlsv1.3\t127.0.0.1",
		f.ctl("list_connections", "user", "ssl", "ssl_protocol", "peer_host"))

	f.ctl("fault", "publish", "nack", "--nth", "2")
	assert.Equal(t, []bool{true, false, true}, []bool{f.publish("a"), f.publish("b"), f.publish("c")})
	f.ctl("fault", "confirm", "cut")
	closed := f.conn.NotifyClose(make(chan *amqp.Error, 1))
	assert.False(t, f.publish("d"))
	assert.NotNil(t, <-closed)
	assert.Equal(t, []string{"a", "c", "d"}, f.bodies())
	dial()
	number := f.ctl("fault", "confirm", "stall")
	confirm, err := f.ch.PublishWithDeferredConfirm("", "work", false, false, amqp.Publishing{Body: []byte("e")})
	require.NoError(t, err)
	f.ctl("lift_fault", number)
	assert.True(t, confirm.Wait())
}
