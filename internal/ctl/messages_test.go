package ctl

import (
	"bufio"
	"errors"
	"io"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPublishAndGet(t *testing.T) {
	n := listening(t)
	q, err := n.Broker.DeclareQueue("orders", leveret.QueueConfig{Arguments: leveret.Table{leveret.ArgMaxLength: 2, leveret.ArgOverflow: "reject-publish"}})
	require.NoError(t, err)
	assert.Equal(t, Response{Stdout: "Publishing to \"orders\" of exchange \"\" in vhost \"/\" ...\nMessage published\n"}, answerOf(n, "publish orders one"))
	properties := `{"delivery_mode":2,"headers":{"a":1,"b":["x"]},"timestamp":1700000000,"content_type":"text/plain"}`
	assert.Equal(t, Response{Stdout: "Message published\n"}, n.Run(Request{Args: []string{"publish", "-q", "--properties", properties, "orders"},
		Input: &Input{Kind: NeedStdin, Data: []byte("\xff")}}))
	assert.Equal(t, Response{Stderr: "Error:\nMessage published, but a queue that is full refused it\n", Status: 69}, answerOf(n, "publish -q orders three"))
	assert.Equal(t, Response{Stderr: "Error:\nMessage published but NOT routed\n", Status: 69}, answerOf(n, "publish -q nowhere x"))
	assert.Contains(t, answerOf(n, "publish -q --exchange nonesuch k x").Stderr, "no exchange 'nonesuch' in vhost '/'")

	assert.Equal(t, "routing_key\texchange\tmessage_count\tpayload\tpayload_bytes\tpayload_encoding\tproperties\tredelivered\n"+
		"orders\t\t1\tone\t3\tstring\t{}\tfalse\n"+
		"orders\t\t0\t/w==\t1\tbase64\t"+`{"content_type":"text/plain","delivery_mode":2,"headers":{"a":1,"b":["x"]},"timestamp":1700000000}`+"\tfalse\n",
		answerOf(n, "get -q --count 5 orders").Stdout)
	assert.Equal(t, 2, q.Info().Ready, "put back")
	assert.Equal(t, "[\n"+`{"routing_key":"orders","exchange":"","message_count":1,"payload":"one","payload_bytes":3,"payload_encoding":"string","properties":"{}","redelivered":true}`+"\n]\n",
		answerOf(n, "get orders --ack-mode ack_requeue_false --formatter json").Stdout)
	assert.Equal(t, 1, q.Info().Ready)
	assert.Zero(t, answerOf(n, "get -q orders --ack-mode reject_requeue_true").Status)
	assert.Equal(t, 1, q.Info().Ready)
	assert.Zero(t, answerOf(n, "get -q orders --ack-mode reject_requeue_false").Status)
	assert.Zero(t, q.Info().Messages)
	assert.Equal(t, "\n", answerOf(n, "get -q orders").Stdout, "the queue is empty")
}

// Errors name what was meant.
func TestMessageCommandsRefuse(t *testing.T) {
	n := listening(t)
	_, err := n.Broker.DeclareQueue("orders", leveret.QueueConfig{})
	require.NoError(t, err)
	for line, want := range map[string]string{
		"get order":                                             "Queue 'order' in vhost '/' does not exist. Did you mean 'orders'?",
		"get nonesuch":                                          "Queue 'nonesuch' in vhost '/' does not exist\n",
		"get -p nowhere orders":                                 "Virtual host 'nowhere' does not exist",
		"get orders --ack-mode ack_requeu_true":                 `ack mode "ack_requeu_true" is not one of ack_requeue_true, ack_requeue_false, reject_requeue_true, reject_requeue_false. Did you mean 'ack_requeue_true'?`,
		"get orders --count 0":                                  "count must be a positive integer",
		`publish orders x --properties {"ttl":1}`:               `a message has no property "ttl"`,
		`publish orders x --properties {"content-type":"text"}`: `a message has no property "content-type". Did you mean 'content_type'?`,
		`publish orders x --properties {"delivery_mode":"two"}`: "Bad argument: json: ",
		`publish orders x --properties nope`:                    "properties are not a JSON object",
		"tail orders --formatter csv":                           "the requested formatter is not supported by this command",
		"publis orders x":                                       "Did you mean 'publish'?",
	} {
		r := answerOf(n, line)
		assert.NotZero(t, r.Status, line)
		assert.Contains(t, r.Stderr, want, line)
	}
}

// An empty --apply-to is refused, as by rabbitmqctl.
func TestEmptyApplyTo(t *testing.T) {
	n := listening(t)
	for _, command := range []string{"set_policy", "set_operator_policy"} {
		r := answerOf(n, command+` p x {"max-length":1} --apply-to=`)
		assert.NotZero(t, r.Status)
		assert.Contains(t, r.Stderr, "Validation failed\n\napply-to '' unrecognised; should be one of: 'queues'")
	}
}

// tailing runs a command whose output is read line by line.
func tailing(argv ...string) (next func() string, status func() int) {
	r, w := io.Pipe()
	done := make(chan int, 1)
	go func() {
		done <- Call(argv, Streams{In: strings.NewReader(""), Out: w, Err: w})
		w.Close()
	}()
	from := bufio.NewReader(r)
	next = func() string { line, _ := from.ReadString('\n'); return line }
	return next, func() int { io.Copy(io.Discard, from); return <-done }
}

func TestTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	s := listen(t, path)
	b := s.node.Broker
	for _, name := range []string{"orders", "other"} {
		_, err := b.DeclareQueue(name, leveret.QueueConfig{})
		require.NoError(t, err)
	}
	next, status := tailing("--control", path, "tail", "--count", "2", "orders")
	assert.Equal(t, "Messages that come to queue \"orders\" in vhost \"/\" ...\n", next())
	assert.Equal(t, "time\trouting_key\texchange\tpayload\tpayload_bytes\tpayload_encoding\tproperties\n", next())
	for _, m := range []struct{ queue, body string }{{"other", "no"}, {"orders", "one"}, {"orders", "two"}, {"orders", "three"}} {
		_, err := b.Publish("", m.queue, leveret.Message{Body: []byte(m.body), Properties: &leveret.Properties{AppID: "test"}})
		require.NoError(t, err)
	}
	assert.Regexp(t, "^20[^\t]+\torders\t\tone\t3\tstring\t{\"app_id\":\"test\"}\n$", next())
	assert.Contains(t, next(), "\ttwo\t")
	assert.Zero(t, status())
	q, err := b.Queue("orders")
	require.NoError(t, err)
	assert.Equal(t, 3, q.Info().Ready, "the messages stay")

	next, status = tailing("--control", path, "tail", "orders", "--formatter", "json", "--timeout", "1")
	assert.Empty(t, next(), "nothing came")
	assert.Zero(t, status())

	next, status = tailing("--control", path, "tail", "-q", "orders")
	assert.Contains(t, next(), "time\t")
	_, err = b.DeleteQueue("orders", leveret.DeleteConfig{})
	require.NoError(t, err)
	assert.Equal(t, "Error:\n", next())
	assert.Equal(t, "the queue was deleted\n", next())
	assert.Equal(t, 69, status())

	next, status = tailing("--control", path, "tail", "-q", "other")
	assert.Contains(t, next(), "time\t")
	require.NoError(t, s.Close())
	assert.Contains(t, next(), "Error: no leveret answers")
	assert.Equal(t, 69, status())
}

// A server stops watching when the one who listens has gone.
// What came to a queue before it was deleted is shown.
func TestTailOfDeletedQueue(t *testing.T) {
	n := testNode(t)
	_, err := n.Broker.DeclareQueue("orders", leveret.QueueConfig{})
	require.NoError(t, err)
	var shown []Response
	require.NoError(t, n.Follow(t.Context(), Request{Args: []string{"tail", "-s", "orders"}}, func(r Response) error {
		if shown = append(shown, r); len(shown) == 1 { // the tail has begun
			for range 5 {
				_, err := n.Broker.Publish("", "orders", leveret.Message{})
				require.NoError(t, err)
			}
			_, err := n.Broker.DeleteQueue("orders", leveret.DeleteConfig{})
			require.NoError(t, err)
			_, err = n.Broker.DeclareQueue("orders", leveret.QueueConfig{})
			require.NoError(t, err)
			_, err = n.Broker.Publish("", "orders", leveret.Message{})
			require.NoError(t, err)
			n.Broker.Settle()
		}
		return nil
	}))
	require.Len(t, shown, 1+5+1)
	assert.Equal(t, "Error:\nthe queue was deleted\n", shown[6].Stderr)
}

func TestTailEndsWithItsListener(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	s := listen(t, path)
	_, err := s.node.Broker.DeclareQueue("orders", leveret.QueueConfig{})
	require.NoError(t, err)
	c, err := dial(path, Request{Args: []string{"tail", "orders"}})
	require.NoError(t, err)
	_, err = c.Read(make([]byte, 1))
	require.NoError(t, err)
	require.NoError(t, c.Close())
	s.mu.Lock()
	var served []net.Conn
	for c := range s.conns {
		served = append(served, c)
	}
	s.mu.Unlock()
	for _, c := range served {
		for _, err = c.Write(nil); !errors.Is(err, net.ErrClosed); _, err = c.Write(nil) {
			runtime.Gosched()
		}
	}
}
