package bench

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"regexp"
	"sync"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
)

// TestNullServer: what a client spends on a delivery depends on what is in it, so both servers must send the same.
func TestNullServer(t *testing.T) {
	var sent [2][]byte
	for i, kind := range []string{"null", "leveret"} {
		p := startServer(t, kind)
		defer p.stop()
		sent[i] = deadLetterContents(t, p.url)
	}
	if len(sent[0]) < 2*100 || !bytes.Equal(sent[0], sent[1]) {
		t.Errorf("a message and its dead letter:\nnull    %q\nleveret %q", sent[0], sent[1])
	}
}

// deadLetterContents has a message delivered and, after a rejection, delivered again, and returns
// the frames of both deliveries, without the time of the death.
func deadLetterContents(t *testing.T, url string) []byte {
	var rec recorder
	c, err := amqp.DialConfig(url, amqp.Config{Dial: func(network, addr string) (net.Conn, error) {
		nc, err := net.Dial(network, addr)
		rec.Conn = nc
		return &rec, err
	}})
	check(t, err)
	defer c.Close()
	ch, err := c.Channel()
	check(t, err)
	dead, err := c.Channel()
	check(t, err)
	_, err = ch.QueueDeclare("q", false, false, false, false, amqp.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "q-dead"})
	check(t, err)
	_, err = ch.QueueDeclare("q-dead", false, false, false, false, nil)
	check(t, err)
	in, err := ch.Consume("q", "consumer", false, false, false, false, nil)
	check(t, err)
	deadIn, err := dead.Consume("q-dead", "undertaker", false, false, false, false, nil)
	check(t, err)
	check(t, ch.PublishWithContext(ctx, "", "q", false, false, amqp.Publishing{Body: bodies[100]}))
	check(t, (<-in).Reject(false))
	check(t, (<-deadIn).Ack(false))
	return regexp.MustCompile(`(?s)\x04timeT.{8}`).ReplaceAll(rec.deliveries(t), []byte("\x04timeT"))
}

// A recorder keeps what is read.
type recorder struct {
	net.Conn
	mu   sync.Mutex
	read []byte
}

func (r *recorder) Read(b []byte) (int, error) {
	n, err := r.Conn.Read(b)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read = append(r.read, b[:n]...)
	return n, err
}

// deliveries returns the frames of basic.deliver and of content.
func (r *recorder) deliveries(t *testing.T) (out []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	in := bytes.NewReader(r.read)
	for in.Len() > 0 {
		frame := make([]byte, 7)
		_, err := io.ReadFull(in, frame)
		check(t, err)
		frame = append(frame, make([]byte, binary.BigEndian.Uint32(frame[3:])+1)...)
		_, err = io.ReadFull(in, frame[7:])
		check(t, err)
		if frame[0] == 2 || frame[0] == 3 || bytes.HasPrefix(frame[7:], []byte{0, 60, 0, 60}) {
			out = append(out, frame...)
		}
	}
	return out
}
