package amqpd

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
)

// FuzzChannels plays sessions of two clients with several channels each. Every two or three octets of the input are a
// step: a method with names from a short list, a piece of content on one channel while others are in the middle of
// theirs, a pause, the end of a channel or a connection. What the server answers is read as a client reads it, and has
// to make sense.
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
	{0, 2, 0, 0, 0, 26, 0, 21, 0, 0, 21, 0, 0, 21, 0, 3, 32 + 20, 2,
		32 + 11, 0, 0, 0, 32 + 15, 1, 32 + 18, 2, 32 + 15, 3, 21, 0, 0, 32 + 19, 1, 28, 20},
	// Dead letters between queues that expire, with a quorum queue at the end.
	{1, 2, 1, 0, 4, 2, 0, 0, 6, 21, 16, 1, 21, 16, 2, 28, 50, 14, 0, 0, 17, 1, 14, 0, 0, 17, 65, 28, 100},
	// Content of two channels in each other, in transactions, with two clients.
	{0, 2, 0, 0, 0, 26, 1, 32 + 26, 1, 23, 0, 32 + 23, 0, 24, 4, 0, 32 + 24, 2, 0, 25, 2, 32 + 25, 2,
		25, 2, 27, 0, 32 + 27, 1, 128 + 11, 0, 0, 0, 128 + 27, 0, 128 + 15, 128},
	// Topics, alternate ways and returns.
	{0, 8, 3, 16, 0, 2, 0, 0, 0, 2, 1, 0, 0, 5, 0, 3, 64, 0, 5, 1, 1, 80, 0,
		21, 83, 1, 13, 21, 67, 0, 21, 65, 0, 6, 0, 3, 9, 3, 13, 0},
	// Direct replies.
	{0, 11, 5, 2, 0, 128 + 2, 0, 0, 0, 128 + 11, 0, 2, 0, 21, 0, 5, 128 + 21, 96, 0, 13, 0},
	// A single active consumer, priorities, limits and a policy.
	{0, 2, 0, 0, 8, 11, 0, 0, 11, 32 + 11, 16, 0, 0, 21, 0, 3, 21, 0, 19, 29, 0,
		28, 5, 13, 0, 15, 130, 29, 1, 29, 29, 28, 60, 31, 0, 29, 2},
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
		p.resume()
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
	notified := ss("capabilities") + "F" + ls(ss("consumer_cancel_notify")+"t\x01")
	c.send(start + startOkWith(notified, "PLAIN", login) + tuneOk(2047, 131072, 0) +
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
	ss("x-queue-type") + "S" + ls("quorum"),
	ss("x-queue-type") + "S" + ls("quorum") + ss("x-delivery-limit") + "I" + u32(1),
	ss("x-single-active-consumer") + "t\x01", ss("x-max-priority") + "I" + u32(3), ss("x-expires") + "I" + u32(500),
	ss("x-priority") + "I" + u32(5), ss("x-match") + "S" + ls("any") + ss("h") + "S" + ls("v"),
	ss("CC") + "A" + ls("S"+ls("r")+"S"+ls("s")) + ss("BCC") + "A" + ls("S"+ls("t")),
	ss("x-overflow") + "S" + ls("reject-publish") + ss("x-max-length") + "I" + u32(1),
	ss("x-death") + "A" + ls("F"+ls(ss("queue")+"S"+ls("q")+ss("reason")+"S"+ls("expired")+ss("count")+"l"+u64(1))),
	ss("h") + "V",
}

// resume does what a client does that goes on after an error: it opens closed channels again, and connects again.
func (p *player) resume() {
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

// A stepTarget is where a step happens, and the octet that says how.
type stepTarget struct {
	client  *fuzzClient
	channel uint16
	a       byte
}

func (s *stepTarget) send(id methodID, parts ...string) { s.client.send(call(s.channel, id, parts...)) }

// queue, exchange and key choose names by the lower and the upper bits of the octet.
func (s *stepTarget) queue() string    { return ss(pickOctet(s.a, fuzzQueues...)) }
func (s *stepTarget) exchange() string { return ss(pickOctet(s.a, fuzzExchanges...)) }
func (s *stepTarget) key() string      { return ss(pickOctet(s.a>>4, fuzzKeys...)) }

// tag is a delivery tag.
func (s *stepTarget) tag() string { return u64(uint64(s.a & 15)) }

func (p *player) table() string         { return ls(pickOctet(p.octet(), fuzzTables...)) }
func (p *player) otherExchange() string { return ss(pickOctet(p.octet(), fuzzExchanges...)) }

// step plays one step: which of the 32, on which channel of which client.
func (p *player) step() {
	o := p.octet()
	s := &stepTarget{client: p.clients[o>>7], channel: uint16(1 + o>>5&3), a: p.octet()}
	if o&31 == 31 {
		s.client.end()
		p.clients[o>>7] = p.connect()
		return
	}
	fuzzSteps[o&31](p, s)
}

// fuzzSteps are what a step can be.
var fuzzSteps = [31]func(*player, *stepTarget){
	0: func(_ *player, s *stepTarget) { s.client.send(openChan(s.channel)) },
	1: func(_ *player, s *stepTarget) { s.client.send(closeChan(s.channel)) },
	2: stepDeclareQueue, 3: stepDeclareQueue,
	4: func(_ *player, s *stepTarget) { s.send(queueDelete, u16(0), s.queue(), u8(s.a>>5)) },
	5: func(p *player, s *stepTarget) {
		s.send(queueBind, u16(0), s.queue(), p.otherExchange(), s.key(), u8(0), p.table())
	},
	6: func(p *player, s *stepTarget) {
		s.send(queueUnbind, u16(0), s.queue(), p.otherExchange(), s.key(), ls(""))
	},
	7: func(_ *player, s *stepTarget) { s.send(queuePurge, u16(0), s.queue(), u8(s.a>>7)) },
	8: func(p *player, s *stepTarget) {
		s.send(exchangeDeclare, u16(0), s.exchange(), ss(pickOctet(s.a>>3, fuzzTypes...)), u8(p.octet()&31), ls(""))
	},
	9: func(_ *player, s *stepTarget) { s.send(exchangeDelete, u16(0), s.exchange(), u8(s.a>>6)) },
	10: func(_ *player, s *stepTarget) {
		s.send(exchangeBind, u16(0), s.exchange(), ss(pickOctet(s.a>>4, fuzzExchanges...)), ss("#"), u8(0), ls(""))
	},
	11: stepConsume, 12: stepConsume,
	13: func(_ *player, s *stepTarget) { s.send(basicCancel, ss(pickOctet(s.a, fuzzTags...)), u8(s.a>>7)) },
	14: func(_ *player, s *stepTarget) { s.send(basicGet, u16(0), s.queue(), u8(s.a>>7)) },
	15: stepAck, 16: stepAck,
	17: func(_ *player, s *stepTarget) { s.send(basicNack, s.tag(), u8(s.a>>6)) },
	18: func(_ *player, s *stepTarget) { s.send(basicReject, s.tag(), u8(s.a>>7)) },
	19: func(_ *player, s *stepTarget) { s.send(basicRecover, u8(s.a&1)) },
	20: func(_ *player, s *stepTarget) { s.send(basicQos, u32(0), u16(uint16(s.a&7)), u8(s.a>>7)) },
	21: stepPublish, 22: stepPublish,
	// Content in pieces.
	23: func(p *player, s *stepTarget) { s.client.send(p.publish(s.channel, s.a)) },
	24: func(p *player, s *stepTarget) { s.client.send(p.header(s.channel, uint64(s.a))) },
	25: func(_ *player, s *stepTarget) { s.client.send(fr(frameBody, s.channel, string(make([]byte, s.a)))) },

	26: func(_ *player, s *stepTarget) {
		if s.a&1 == 0 {
			s.send(confirmSelect, u8(0))
		} else {
			s.send(txSelect)
		}
	},
	27: func(_ *player, s *stepTarget) { s.send(pickOctet(s.a, txCommit, txRollback)) },
	28: func(_ *player, s *stepTarget) { time.Sleep(time.Duration(s.a) * 100 * time.Millisecond) },
	29: func(p *player, s *stepTarget) { p.operate(s.a) },
	30: func(_ *player, s *stepTarget) {
		s.client.send(pickOctet(s.a, fr(frameHeartbeat, 0, ""), call(s.channel, channelFlow, u8(0)),
			call(s.channel, channelCloseOk), rawFrame(s.a, s.channel, "ab", s.a), closeConn(), "\xff"))
	},
}

func stepDeclareQueue(p *player, s *stepTarget) {
	s.send(queueDeclare, u16(0), s.queue(), u8(p.octet()&31), p.table())
}

func stepConsume(p *player, s *stepTarget) {
	s.send(basicConsume, u16(0), s.queue(), ss(pickOctet(s.a>>4, fuzzTags...)), u8(p.octet()&15), p.table())
}

func stepAck(_ *player, s *stepTarget) { s.send(basicAck, s.tag(), u8(s.a>>7)) }

func stepPublish(p *player, s *stepTarget) {
	size := 1 + int(s.a&63)
	s.client.send(p.publish(s.channel, s.a) + p.header(s.channel, uint64(size)) +
		fr(frameBody, s.channel, string(make([]byte, size))))
}

func (p *player) publish(channel uint16, a byte) string {
	exchange, key := pickOctet(a, fuzzExchanges...), pickOctet(a>>4, fuzzKeys...)
	return call(channel, basicPublish, u16(0), ss(exchange), ss(key), u8(a>>6&1))
}

// header is a content header with one of a few sets of properties.
func (p *player) header(channel uint16, size uint64) string {
	o := p.octet()
	properties := pickOctet(o&7, "\x00\x00", "\x20\x00"+ls(pickOctet(o>>3, fuzzTables...)),
		"\x01\x00"+ss(pickOctet(o>>4, "0", "100", "x")),
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
		p.b.SetPolicy(leveret.Policy{Name: "d", Priority: 1, Definition: leveret.Table{
			"dead-letter-exchange": "", "dead-letter-routing-key": "r", "message-ttl": int(a)}})
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
