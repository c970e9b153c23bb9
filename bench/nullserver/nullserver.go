// Package nullserver is an AMQP 0-9-1 server that stores nothing: it confirms what is
// published, counts it, and delivers as many messages as were published to a queue, all with
// the body of the last one. What a client reaches with it is the most that the client can do.
//
// A message rejected on queue Q counts for queue Q-dead, and is delivered from there with the headers of a dead letter,
// which a client takes longer to decode than all the rest. Only what the benchmarks use exists;
// acknowledgements are expected in the order of delivery, with one consumer on a channel.
package nullserver

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"
)

// A Server serves any number of listeners. Its zero value is ready.
type Server struct {
	// Keep has it keep the body of each message in memory of its own until that is delivered. Fresh memory is most of
	// what a large message costs a broker.
	Keep bool

	mu     sync.Mutex // guards queues, and the channels of all connections
	queues map[string]*queue
}

type queue struct {
	name  string
	n     int
	props []byte // flags and values
	body  []byte // the last one
	kept  [][]byte
	to    *channel // its consumer
	dead  *queue   // nil: nothing was rejected yet
}

type channel struct {
	c           *conn
	id          uint16
	prefetch    int
	confirm     bool
	published   uint64
	confirmed   uint64
	q           *queue // what its consumer consumes
	consumerTag string
	delivered   uint64
	settled     uint64
	inQueue     *queue // where the publish at hand goes
	left        int    // bytes of its body that are to come
	body        []byte
}

type conn struct {
	s        *Server
	r        *bufio.Reader
	nc       net.Conn
	channels map[uint16]*channel
	frame    []byte

	mu     sync.Mutex // guards what follows
	out    []byte
	spare  []byte
	wake   chan struct{}
	closed bool
}

// Serve accepts connections until l fails.
func (s *Server) Serve(l net.Listener) error {
	for {
		nc, err := l.Accept()
		if err != nil {
			return err
		}
		s.Start(nc)
	}
}

// Start serves one connection and does not wait for its end.
func (s *Server) Start(nc net.Conn) {
	s.mu.Lock()
	if s.queues == nil {
		s.queues = map[string]*queue{}
	}
	s.mu.Unlock()
	c := &conn{s: s, nc: nc, r: bufio.NewReaderSize(nc, 1<<17), channels: map[uint16]*channel{}, wake: make(chan struct{}, 1)}
	go c.write()
	go c.read()
}

// write sends what has gathered since the last time.
func (c *conn) write() {
	for range c.wake {
		c.mu.Lock()
		buf := c.out
		c.out, c.spare = c.spare[:0], nil
		closed := c.closed
		c.mu.Unlock()
		if len(buf) > 0 {
			if _, err := c.nc.Write(buf); err != nil {
				closed = true
			}
		}
		c.mu.Lock()
		c.spare = buf[:0]
		c.mu.Unlock()
		if closed {
			c.nc.Close()
			return
		}
	}
}

func (c *conn) flush() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// end closes the connection after what is to be written.
func (c *conn) end() {
	c.s.mu.Lock()
	for _, ch := range c.channels {
		if ch.q != nil && ch.q.to == ch {
			ch.q.to = nil
		}
	}
	c.s.mu.Unlock()
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.flush()
}

const (
	frameMethod, frameHeader, frameBody = 1, 2, 3
	frameEnd                            = 0xCE
	frameMax                            = 131072
)

// method appends a method frame.
func (c *conn) method(ch uint16, class, method uint16, args []byte) {
	c.mu.Lock()
	c.out = appendMethod(c.out, ch, class, method, args)
	c.mu.Unlock()
}

func appendMethod(b []byte, ch, class, method uint16, args []byte) []byte {
	b = appendFrame(b, frameMethod, ch, 4+len(args))
	b = binary.BigEndian.AppendUint16(b, class)
	b = binary.BigEndian.AppendUint16(b, method)
	return append(append(b, args...), frameEnd)
}

func appendFrame(b []byte, kind byte, ch uint16, size int) []byte {
	b = binary.BigEndian.AppendUint16(append(b, kind), ch)
	return binary.BigEndian.AppendUint32(b, uint32(size))
}

func appendShort(b []byte, s string) []byte { return append(append(b, byte(len(s))), s...) }

func (c *conn) read() {
	defer c.end()
	var header [8]byte
	if _, err := io.ReadFull(c.r, header[:]); err != nil {
		return
	}
	start := []byte{0, 9, 0, 0, 0, 0, 0, 0, 0, 5, 'P', 'L', 'A', 'I', 'N', 0, 0, 0, 5, 'e', 'n', '_', 'U', 'S'}
	c.method(0, 10, 10, start)
	c.flush()
	for {
		if c.r.Buffered() == 0 {
			c.confirmAll()
			c.flush()
		}
		if _, err := io.ReadFull(c.r, header[:7]); err != nil {
			return
		}
		size := int(binary.BigEndian.Uint32(header[3:])) + 1
		if size > frameMax {
			return
		}
		if cap(c.frame) < size {
			c.frame = make([]byte, frameMax)
		}
		p := c.frame[:size]
		if _, err := io.ReadFull(c.r, p); err != nil {
			return
		}
		id := binary.BigEndian.Uint16(header[1:])
		if !c.take(header[0], id, p[:size-1]) {
			return
		}
	}
}

// confirmAll confirms what was published since the last time, with one acknowledgement a channel.
func (c *conn) confirmAll() {
	for _, ch := range c.channels {
		if ch.confirm && ch.published > ch.confirmed {
			ch.confirmed = ch.published
			c.method(ch.id, 60, 80, append(binary.BigEndian.AppendUint64(nil, ch.published), 1))
		}
	}
}

// take deals with one frame and reports false at the end of the connection.
func (c *conn) take(kind byte, id uint16, p []byte) bool {
	ch := c.channels[id]
	switch kind {
	case frameMethod:
		class, method := binary.BigEndian.Uint16(p), binary.BigEndian.Uint16(p[2:])
		return c.call(id, ch, class, method, p[4:])
	case frameHeader:
		ch.left, ch.body = int(binary.BigEndian.Uint64(p[4:])), ch.body[:0]
		if ch.left == 0 {
			ch.arrived()
		}
	case frameBody:
		ch.body = append(ch.body, p...)
		if ch.left -= len(p); ch.left == 0 {
			ch.arrived()
		}
	}
	return true
}

func (ch *channel) arrived() {
	ch.published++
	s := ch.c.s
	s.mu.Lock()
	q := ch.inQueue
	if s.Keep {
		q.kept = append(q.kept, append([]byte(nil), ch.body...))
	} else if len(q.body) != len(ch.body) {
		q.body = append([]byte(nil), ch.body...)
	}
	q.n++
	q.deliver()
	s.mu.Unlock()
}

// deliver gives the consumer what its prefetch allows.
func (q *queue) deliver() {
	ch := q.to
	if ch == nil || q.n == 0 {
		return
	}
	c := ch.c
	c.mu.Lock()
	for q.n > 0 && (ch.prefetch == 0 || ch.delivered-ch.settled < uint64(ch.prefetch)) {
		q.n--
		if len(q.kept) > 0 {
			q.body, q.kept[0] = q.kept[0], nil
			q.kept = q.kept[1:]
		}
		ch.delivered++
		c.out = ch.appendDelivery(c.out, q)
	}
	c.mu.Unlock()
	c.flush()
}

func (ch *channel) appendDelivery(b []byte, q *queue) []byte {
	args := make([]byte, 0, 64)
	args = appendShort(args, ch.consumerTag)
	args = append(binary.BigEndian.AppendUint64(args, ch.delivered), 0, 0)
	b = appendMethod(b, ch.id, 60, 60, appendShort(args, q.name))
	b = appendFrame(b, frameHeader, ch.id, 12+len(q.props))
	b = append(b, 0, 60, 0, 0)
	b = binary.BigEndian.AppendUint64(b, uint64(len(q.body)))
	b = append(append(b, q.props...), frameEnd)
	for rest := q.body; len(rest) > 0; {
		n := min(len(rest), frameMax-8)
		b = append(append(appendFrame(b, frameBody, ch.id, n), rest[:n]...), frameEnd)
		rest = rest[n:]
	}
	return b
}

// short takes a short string off p.
func short(p []byte) (string, []byte) { return string(p[1 : 1+p[0]]), p[1+p[0]:] }

func (s *Server) queue(name string) *queue {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := s.queues[name]
	if q == nil {
		q = &queue{name: name, props: []byte{0, 0}}
		s.queues[name] = q
	}
	return q
}

// deadOf returns the queue that gets what is rejected on q. Only q's consumer calls it.
func (s *Server) deadOf(q *queue) *queue {
	if q.dead == nil {
		d := s.queue(q.name + "-dead")
		s.mu.Lock()
		d.props = deathProperties(q.name)
		s.mu.Unlock()
		q.dead = d
	}
	return q.dead
}

// deathProperties are the properties of a message that had none when it was rejected on that queue, to which the
// default exchange had brought it.
func deathProperties(queue string) []byte {
	var death []byte
	death = binary.BigEndian.AppendUint64(append(appendShort(death, "count"), 'l'), 1)
	death = appendString(death, "reason", "rejected")
	death = appendString(death, "queue", queue)
	death = binary.BigEndian.AppendUint64(append(appendShort(death, "time"), 'T'), uint64(time.Now().Unix()))
	death = appendString(death, "exchange", "")
	death = appendLong(append(appendShort(death, "routing-keys"), 'A'), appendLong([]byte{'S'}, []byte(queue)))
	var h []byte
	h = appendLong(append(appendShort(h, "x-death"), 'A'), appendLong([]byte{'F'}, death))
	for _, which := range []string{"x-first-death-", "x-last-death-"} {
		h = appendString(h, which+"exchange", "")
		h = appendString(h, which+"queue", queue)
		h = appendString(h, which+"reason", "rejected")
	}
	return appendLong([]byte{0x20, 0}, h)
}

// appendString appends a field of a table.
func appendString(b []byte, name, value string) []byte {
	return appendLong(append(appendShort(b, name), 'S'), []byte(value))
}

func appendLong(b, s []byte) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
}

// call answers a method. Methods without arguments in their answer share the last case.
func (c *conn) call(id uint16, ch *channel, class, method uint16, p []byte) bool {
	switch [2]uint16{class, method} {
	case [2]uint16{10, 11}: // start-ok
		c.method(0, 10, 30, []byte{0x07, 0xff, 0, 2, 0, 0, 0, 0})
	case [2]uint16{10, 31}, [2]uint16{10, 51}, [2]uint16{20, 41}: // tune-ok, close-ok
	case [2]uint16{10, 40}:
		c.method(0, 10, 41, []byte{0})
	case [2]uint16{10, 50}:
		c.method(0, 10, 51, nil)
		return false
	case [2]uint16{20, 10}:
		c.channels[id] = &channel{c: c, id: id}
		c.method(id, 20, 11, []byte{0, 0, 0, 0})
	case [2]uint16{50, 10}:
		name, _ := short(p[2:])
		c.method(id, 50, 11, append(appendShort(nil, name), 0, 0, 0, 0, 0, 0, 0, 0))
	case [2]uint16{50, 30}, [2]uint16{50, 40}: // purge, delete
		name, _ := short(p[2:])
		q := c.s.queue(name)
		c.s.mu.Lock()
		q.n, q.kept = 0, nil
		c.s.mu.Unlock()
		c.method(id, class, method+1, []byte{0, 0, 0, 0})
	case [2]uint16{60, 10}:
		ch.prefetch = int(binary.BigEndian.Uint16(p[4:]))
		c.method(id, 60, 11, nil)
	case [2]uint16{60, 20}:
		ch.consume(p[2:])
	case [2]uint16{60, 30}:
		c.method(id, 60, 31, p[:1+p[0]])
	case [2]uint16{60, 40}:
		_, p = short(p[2:])
		key, _ := short(p)
		if ch.inQueue == nil || ch.inQueue.name != key {
			ch.inQueue = c.s.queue(key)
		}
	case [2]uint16{60, 80}:
		ch.settle(binary.BigEndian.Uint64(p), p[8] != 0, nil)
	case [2]uint16{60, 90}:
		ch.settle(binary.BigEndian.Uint64(p), false, c.s.deadOf(ch.q))
	case [2]uint16{85, 10}:
		ch.confirm = true
		c.method(id, 85, 11, nil)
	default:
		c.method(id, class, method+1, nil)
	}
	return true
}

func (ch *channel) consume(p []byte) {
	name, p := short(p)
	tag, _ := short(p)
	ch.consumerTag = tag
	ch.c.method(ch.id, 60, 21, appendShort(nil, tag))
	q := ch.c.s.queue(name)
	s := ch.c.s
	s.mu.Lock()
	ch.q, q.to = q, ch
	q.deliver()
	s.mu.Unlock()
}

// settle frees room in the prefetch; dead, if not nil, gets the message.
func (ch *channel) settle(tag uint64, multiple bool, dead *queue) {
	s := ch.c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if multiple {
		ch.settled = tag
	} else {
		ch.settled++
	}
	if dead != nil {
		dead.body = ch.q.body
		dead.n++
		dead.deliver()
	}
	ch.q.deliver()
}
