package amqpd

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
)

// FuzzChannels plays sessions of two clients with several channels each. Every two or three octets of the input are a step: a method
// with names from a short list, a piece of content on one channel while others are in the middle of theirs, a pause, the end of a
// channel or a connection. What the server answers is read as a client reads it, and has to make sense.
func FuzzChannels(f *testing.F) {
	for _, steps := range fuzzSessions {
		f.Add(steps)
	}
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 0))
		in := make([]byte, 100+seed*20)
		for i := range in {
			in[i] = byte(random.Uint32())
		}
		f.Add(in)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		synctest.Test(t, func(t *testing.T) { playSessions(t, in) })
	})
}

// fuzzSessions are sessions as programs have them, in the octets of player.step.
var fuzzSessions = [][]byte{
	// A work queue: declare, publish in a confirming channel, consume on the other, acknowledge, reject, recover.
	{0, 2, 0, 0, 0, 26, 0, 21, 0, 0, 21, 0, 0, 21, 0, 3, 32 + 20, 2, 32 + 11, 0, 0, 0, 32 + 15, 1, 32 + 18, 2, 32 + 15, 3, 21, 0, 0, 32 + 19, 1, 28, 20},
	// Dead letters between queues that expire, with a quorum queue at the end.
	{1, 2, 1, 0, 4, 2, 0, 0, 6, 21, 16, 1, 21, 16, 2, 28, 50, 14, 0, 0, 17, 1, 14, 0, 0, 17, 65, 28, 100},
	// Content of two channels in each other, in transactions, with two clients.
	{0, 2, 0, 0, 0, 26, 1, 32 + 26, 1, 23, 0, 32 + 23, 0, 24, 4, 0, 32 + 24, 2, 0, 25, 2, 32 + 25, 2, 25, 2, 27, 0, 32 + 27, 1, 128 + 11, 0, 0, 0, 128 + 27, 0, 128 + 15, 128},
	// Topics, alternate ways and returns.
	{0, 8, 3, 16, 0, 2, 0, 0, 0, 2, 1, 0, 0, 5, 0, 3, 64, 0, 5, 1, 1, 80, 0, 21, 83, 1, 13, 21, 67, 0, 21, 65, 0, 6, 0, 3, 9, 3, 13, 0},
	// Direct replies.
	{0, 11, 5, 2, 0, 128 + 2, 0, 0, 0, 128 + 11, 0, 2, 0, 21, 0, 5, 128 + 21, 96, 0, 13, 0},
	// A single active consumer, priorities, limits and a policy.
	{0, 2, 0, 0, 8, 11, 0, 0, 11, 32 + 11, 16, 0, 0, 21, 0, 3, 21, 0, 19, 29, 0, 28, 5, 13, 0, 15, 130, 29, 1, 29, 29, 28, 60, 31, 0, 29, 2},
}

// maxFuzzSteps bounds how long one input takes.
const maxFuzzSteps = 400

func playSessions(t *testing.T, in []byte) {
	p := &player{t: t, in: in}
	profile := leveret.RabbitMQ43
	if p.bit() {
		profile = leveret.RabbitMQ310
	}
	p.b = leveret.New(leveret.WithProfile(profile), leveret.WithSeed(1))
	p.srv = &Server{Broker: p.b}
	for i := range p.clients {
		p.clients[i] = p.connect()
	}
	for range maxFuzzSteps {
		if len(p.in) == 0 {
			break
		}
		p.step()
		synctest.Wait()
		p.recover()
	}
	if err := p.b.Check(); err != nil {
		t.Fatal(err)
	}
	p.srv.Close()
	for _, c := range p.clients {
		c.end()
	}
	synctest.Wait()
	if n := len(p.b.Connections()); n > 0 {
		t.Fatalf("%d connections are left", n)
	}
	if err := p.b.Check(); err != nil {
		t.Fatal(err)
	}
	p.b.Close()
}

// A player turns octets into what two clients do.
type player struct {
	t       *testing.T
	in      []byte
	b       *leveret.Broker
	srv     *Server
	clients [2]*fuzzClient
}

func (p *player) octet() byte {
	if len(p.in) == 0 {
		return 0
	}
	o := p.in[0]
	p.in = p.in[1:]
	return o
}

func (p *player) bit() bool { return p.octet()&1 == 1 }

// pickOctet chooses one of a list by an octet.
func pickOctet[T any](o byte, list ...T) T { return list[int(o)%len(list)] }

func (p *player) connect() *fuzzClient {
	nc, err := p.srv.Dial()
	if err != nil {
		p.t.Fatal(err)
	}
	c := newFuzzClient(nc)
	c.send(start + startOkWith(ss("capabilities")+"F"+ls(ss("consumer_cancel_notify")+"t\x01"), "PLAIN", login) + tuneOk(2047, 131072, 0) +
		openVHost("/") + openChan(1) + openChan(2))
	return c
}

var (
	fuzzQueues    = []string{"q", "r", "s", "t", "", "amq.rabbitmq.reply-to", "nope"}
	fuzzExchanges = []string{"", "amq.topic", "amq.headers", "x", "y", "nope", "amq.fanout"}
	fuzzKeys      = []string{"q", "r", "s", "", "#", "a.b", "amq.rabbitmq.reply-to.g1"}
	fuzzTypes     = []string{"direct", "fanout", "topic", "headers", "x-local-random", "x-modulus-hash", "nonsense"}
	fuzzTags      = []string{"a", "b", "c", ""}
)

// tables for arguments and headers, encoded.
var fuzzTables = []string{
	"", ss("x-message-ttl") + "I" + u32(0), ss("x-message-ttl") + "I" + u32(1000), ss("x-max-length") + "I" + u32(1),
	ss("x-dead-letter-exchange") + "S" + ls("") + ss("x-dead-letter-routing-key") + "S" + ls("q"),
	ss("x-dead-letter-exchange") + "S" + ls("amq.fanout") + ss("x-max-length") + "I" + u32(0),
	ss("x-queue-type") + "S" + ls("quorum"), ss("x-queue-type") + "S" + ls("quorum") + ss("x-delivery-limit") + "I" + u32(1),
	ss("x-single-active-consumer") + "t\x01", ss("x-max-priority") + "I" + u32(3), ss("x-expires") + "I" + u32(500),
	ss("x-priority") + "I" + u32(5), ss("x-match") + "S" + ls("any") + ss("h") + "S" + ls("v"),
	ss("CC") + "A" + ls("S"+ls("r")+"S"+ls("s")) + ss("BCC") + "A" + ls("S"+ls("t")), ss("x-overflow") + "S" + ls("reject-publish") + ss("x-max-length") + "I" + u32(1),
	ss("x-death") + "A" + ls("F"+ls(ss("queue")+"S"+ls("q")+ss("reason")+"S"+ls("expired")+ss("count")+"l"+u64(1))), ss("h") + "V",
}

// recover does what a client does that goes on after an error: it opens closed channels again, and connects again.
func (p *player) recover() {
	for i, c := range p.clients {
		if c.ended() {
			c.end()
			p.clients[i] = p.connect()
			continue
		}
		for _, number := range c.takeClosed() {
			c.send(call(number, channelCloseOk) + openChan(number))
		}
	}
	synctest.Wait()
}

// step plays one step.
func (p *player) step() {
	o := p.octet()
	c := p.clients[o>>7]
	channel := uint16(1 + o>>5&3)
	a := p.octet()
	switch o & 31 {
	case 0:
		c.send(openChan(channel))
	case 1:
		c.send(closeChan(channel))
	case 2, 3:
		c.send(call(channel, queueDeclare, u16(0), ss(pickOctet(a, fuzzQueues...)), u8(p.octet()&31), ls(pickOctet(p.octet(), fuzzTables...))))
	case 4:
		c.send(call(channel, queueDelete, u16(0), ss(pickOctet(a, fuzzQueues...)), u8(a>>5)))
	case 5:
		c.send(call(channel, queueBind, u16(0), ss(pickOctet(a, fuzzQueues...)), ss(pickOctet(p.octet(), fuzzExchanges...)), ss(pickOctet(a>>4, fuzzKeys...)), u8(0), ls(pickOctet(p.octet(), fuzzTables...))))
	case 6:
		c.send(call(channel, queueUnbind, u16(0), ss(pickOctet(a, fuzzQueues...)), ss(pickOctet(p.octet(), fuzzExchanges...)), ss(pickOctet(a>>4, fuzzKeys...)), ls("")))
	case 7:
		c.send(call(channel, queuePurge, u16(0), ss(pickOctet(a, fuzzQueues...)), u8(a>>7)))
	case 8:
		c.send(call(channel, exchangeDeclare, u16(0), ss(pickOctet(a, fuzzExchanges...)), ss(pickOctet(a>>3, fuzzTypes...)), u8(p.octet()&31), ls("")))
	case 9:
		c.send(call(channel, exchangeDelete, u16(0), ss(pickOctet(a, fuzzExchanges...)), u8(a>>6)))
	case 10:
		c.send(call(channel, exchangeBind, u16(0), ss(pickOctet(a, fuzzExchanges...)), ss(pickOctet(a>>4, fuzzExchanges...)), ss("#"), u8(0), ls("")))
	case 11, 12:
		c.send(call(channel, basicConsume, u16(0), ss(pickOctet(a, fuzzQueues...)), ss(pickOctet(a>>4, fuzzTags...)), u8(p.octet()&15), ls(pickOctet(p.octet(), fuzzTables...))))
	case 13:
		c.send(call(channel, basicCancel, ss(pickOctet(a, fuzzTags...)), u8(a>>7)))
	case 14:
		c.send(call(channel, basicGet, u16(0), ss(pickOctet(a, fuzzQueues...)), u8(a>>7)))
	case 15, 16:
		c.send(call(channel, basicAck, u64(uint64(a&15)), u8(a>>7)))
	case 17:
		c.send(call(channel, basicNack, u64(uint64(a&15)), u8(a>>6)))
	case 18:
		c.send(call(channel, basicReject, u64(uint64(a&15)), u8(a>>7)))
	case 19:
		c.send(call(channel, basicRecover, u8(a&1)))
	case 20:
		c.send(call(channel, basicQos, u32(0), u16(uint16(a&7)), u8(a>>7)))
	case 21, 22:
		size := 1 + a&63
		c.send(p.publish(channel, a) + p.header(channel, uint64(size)) + fr(frameBody, channel, string(make([]byte, size))))
	case 23: // content in pieces
		c.send(p.publish(channel, a))
	case 24:
		c.send(p.header(channel, uint64(a)))
	case 25:
		c.send(fr(frameBody, channel, string(make([]byte, a))))
	case 26:
		c.send(call(channel, pickOctet(a, confirmSelect, txSelect), string(make([]byte, 1-a&1))))
	case 27:
		c.send(call(channel, pickOctet(a, txCommit, txRollback)))
	case 28:
		time.Sleep(time.Duration(a) * 100 * time.Millisecond)
	case 29:
		p.operate(a)
	case 30:
		c.send(pickOctet(a, fr(frameHeartbeat, 0, ""), call(channel, channelFlow, u8(0)), call(channel, channelCloseOk), rawFrame(a, channel, "ab", a), closeConn(), "\xff"))
	case 31:
		c.end()
		p.clients[o>>7] = p.connect()
	}
}

func (p *player) publish(channel uint16, a byte) string {
	return call(channel, basicPublish, u16(0), ss(pickOctet(a, fuzzExchanges...)), ss(pickOctet(a>>4, fuzzKeys...)), u8(a>>6&1))
}

// header is a content header with one of a few sets of properties.
func (p *player) header(channel uint16, size uint64) string {
	o := p.octet()
	properties := pickOctet(o&7, "\x00\x00", "\x20\x00"+ls(pickOctet(o>>3, fuzzTables...)), "\x01\x00"+ss(pickOctet(o>>4, "0", "100", "x")),
		"\x10\x00"+u8(o>>6), "\x08\x00"+u8(o>>4), "\x02\x00"+ss("amq.rabbitmq.reply-to"), "\x00\x00")
	return contentHeader(channel, classBasic, 0, size, properties)
}

// operate is what an operator does.
func (p *player) operate(a byte) {
	switch a & 7 {
	case 0:
		p.b.SetPolicy(leveret.Policy{Name: "p", Definition: leveret.Table{"max-length": int(a >> 3)}})
	case 1:
		p.b.ClearPolicy("p")
	case 2:
		p.b.DeleteQueue(pickOctet(a>>3, fuzzQueues...), leveret.DeleteConfig{})
	case 3:
		for _, info := range p.b.Connections() {
			p.b.CloseConnection(info.ID, "enough")
			return
		}
	case 4:
		p.b.SetMemoryLimit(-1)
		p.b.SetMemoryLimit(0)
	case 5:
		p.b.SetPolicy(leveret.Policy{Name: "d", Priority: 1, Definition: leveret.Table{"dead-letter-exchange": "", "dead-letter-routing-key": "r", "message-ttl": int(a)}})
	case 6:
		p.b.ClearPolicy("d")
	case 7:
		for _, info := range p.b.Queues() {
			if q, err := p.b.Queue(info.Name); err == nil {
				q.Messages()
			}
		}
	}
}

// A fuzzClient sends what it is told, and reads what it is sent.
type fuzzClient struct {
	nc   net.Conn
	done chan struct{} // closed when all has been read

	mu     sync.Mutex
	closed []uint16 // channels that the server has closed
	ending bool     // the server closes the connection
}

func newFuzzClient(nc net.Conn) *fuzzClient {
	c := &fuzzClient{nc: nc, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		r := &sessionReader{client: c, channels: map[uint16]*receiving{}}
		if err := r.read(nc); err != nil {
			panic(err) // with the goroutine's stack; the input is what go test reports
		}
	}()
	return c
}

func (c *fuzzClient) send(s string) { c.nc.Write([]byte(s)) }

// takeClosed returns the channels that the server has closed since it was last asked.
func (c *fuzzClient) takeClosed() []uint16 {
	c.mu.Lock()
	defer c.mu.Unlock()
	closed := c.closed
	c.closed = nil
	return closed
}

// ended reports whether the server has closed the connection or cut it off.
func (c *fuzzClient) ended() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.done:
		return true
	default:
		return c.ending
	}
}

// end goes away without a word and waits until all has been read.
func (c *fuzzClient) end() {
	c.nc.Close()
	<-c.done
}

// A sessionReader reads the server's octets as a client that trusts nothing.
type sessionReader struct {
	client   *fuzzClient
	channels map[uint16]*receiving
}

// receiving is the state of one channel's input.
type receiving struct {
	header  bool   // a content header is next
	left    uint64 // octets of a body to come
	lastTag uint64 // of a delivery
	settled uint64 // confirms: all up to this one have come
	single  map[uint64]bool
	closed  bool // the server has closed the channel
}

// read reads to the end of the connection. Octets that were cut off by its end are no error.
func (r *sessionReader) read(nc net.Conn) error {
	buf, n := make([]byte, 0, 4096), 0
	for {
		piece := make([]byte, 4096)
		var err error
		n, err = nc.Read(piece)
		buf = append(buf, piece[:n]...)
		for {
			used, wrong := r.frame(buf)
			if wrong != nil {
				return wrong
			}
			if used == 0 {
				break
			}
			buf = buf[used:]
		}
		if err != nil {
			return nil
		}
	}
}

// frame takes one frame off the front and returns its length, 0 if it is not whole.
func (r *sessionReader) frame(b []byte) (int, error) {
	if len(b) >= 8 && string(b[:4]) == "AMQP" {
		return 8, nil
	}
	if len(b) < headerSize {
		return 0, nil
	}
	typ, channel, size := b[0], binary.BigEndian.Uint16(b[1:]), int(binary.BigEndian.Uint32(b[3:]))
	if size > 131072-frameOverhead {
		return 0, fmt.Errorf("a frame of %d octets", size)
	}
	if len(b) < size+frameOverhead {
		return 0, nil
	}
	if b[headerSize+size] != frameEnd {
		return 0, fmt.Errorf("a frame ends with %d", b[headerSize+size])
	}
	return size + frameOverhead, r.payload(typ, channel, b[headerSize:headerSize+size])
}

func (r *sessionReader) payload(typ byte, number uint16, b []byte) error {
	ch := r.channels[number]
	if ch == nil {
		ch = &receiving{single: map[uint64]bool{}}
		r.channels[number] = ch
	}
	switch {
	case typ == frameHeartbeat:
		return nil
	case ch.header != (typ == frameHeader), (ch.left > 0) != (typ == frameBody):
		return fmt.Errorf("a frame of type %d on channel %d, where header: %v, body: %d", typ, number, ch.header, ch.left)
	case typ == frameHeader:
		ch.header, ch.left = false, binary.BigEndian.Uint64(b[4:])
		if _, ok := decodeProperties(b[12:], &names{loose: true}); !ok {
			return fmt.Errorf("properties %q", b[12:])
		}
		return nil
	case typ == frameBody:
		if uint64(len(b)) > ch.left {
			return fmt.Errorf("%d octets of a body too many", uint64(len(b))-ch.left)
		}
		ch.left -= uint64(len(b))
		return nil
	}
	return r.method(number, ch, methodID(binary.BigEndian.Uint32(b)), b[methodHead:])
}

func (r *sessionReader) method(number uint16, ch *receiving, id methodID, b []byte) error {
	if _, known := methods[id]; !known {
		return fmt.Errorf("method %d.%d", id>>16, id&0xffff)
	}
	if id == channelOpenOk || id == channelCloseOk {
		delete(r.channels, number)
		return nil
	}
	if ch.closed {
		return fmt.Errorf("method %d.%d on channel %d, which is closed", id>>16, id&0xffff, number)
	}
	a := newArgs(b, &names{loose: true})
	switch id {
	case channelClose:
		ch.closed = true
		r.client.mu.Lock()
		defer r.client.mu.Unlock()
		r.client.closed = append(r.client.closed, number)
	case connectionClose:
		r.client.mu.Lock()
		defer r.client.mu.Unlock()
		r.client.ending = true
	case basicReturn:
		ch.header = true
	case basicDeliver:
		a.short()
		return ch.delivery(a.u64())
	case basicGetOk:
		return ch.delivery(a.u64())
	case basicAck, basicNack:
		tag := a.u64()
		return ch.confirm(tag, a.bits()&1 == 1)
	}
	return nil
}

// delivery is the tag of a message whose content follows.
func (ch *receiving) delivery(tag uint64) error {
	ch.header = true
	if tag <= ch.lastTag {
		return fmt.Errorf("delivery tag %d after %d", tag, ch.lastTag)
	}
	ch.lastTag = tag
	return nil
}

// confirm is told of publishes, each once.
func (ch *receiving) confirm(tag uint64, multiple bool) error {
	if tag <= ch.settled || ch.single[tag] {
		return fmt.Errorf("publish %d is confirmed twice", tag)
	}
	if !multiple {
		ch.single[tag] = true
		return nil
	}
	ch.settled = tag
	return nil
}
