package fault

import (
	"cmp"
	"encoding/binary"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
)

// A frame is: type octet, channel, payload size, payload, end octet 0xCE. A message is a method frame, a header frame and
// body frames of its channel.

const (
	frameMethod = 1
	frameHeader = 2
	frameBody   = 3
	frameBeat   = 8
	frameEnd    = 0xCE
	frameHead   = 7  // octets in front of the payload
	methodHead  = 4  // octets of a method frame's payload: class and method
	contentHead = 12 // octets of a header frame's payload in front of the properties
	greeting    = 8  // octets of the protocol header, with which a client begins

	largestFrame = 128 << 10 // octets: a server agrees to no larger if it is not told otherwise
)

// A method is a class in the upper and a method of it in the lower half.
type method uint32

const (
	connectionClose   method = 10<<16 + 50
	connectionCloseOk method = 10<<16 + 51
	channelOpen       method = 20<<16 + 10
	channelClose      method = 20<<16 + 40
	channelCloseOk    method = 20<<16 + 41
	basicCancel       method = 60<<16 + 30
	basicCancelOk     method = 60<<16 + 31
	basicPublish      method = 60<<16 + 40
	basicReturn       method = 60<<16 + 50
	basicDeliver      method = 60<<16 + 60
	basicGetOk        method = 60<<16 + 71
	basicAck          method = 60<<16 + 80
	basicReject       method = 60<<16 + 90
	basicNack         method = 60<<16 + 120
	confirmSelect     method = 85<<16 + 10
)

// hasContent are the methods that a message follows.
var hasContent = map[method]bool{basicPublish: true, basicReturn: true, basicDeliver: true, basicGetOk: true}

// A unit is what is carried, or kept back, as a whole: one frame, or all of a message.
type unit struct {
	octets  []byte // as they came
	channel uint16
	method  method // 0: no method
	args    []byte // of the method
	header  []byte // of the message: flags and values of its properties
	body    []byte
	left    uint64 // octets of the body that are missing
}

// A cutter makes units of what is written in one direction.
type cutter struct {
	buf   []byte
	limit int              // octets in a frame
	raw   bool             // what comes is no AMQP: it is carried as it is
	most  uint64           // octets in a body; the frames of a larger one, which the broker refuses, are carried one by one
	open  map[uint16]*unit // messages that have begun, by channel
}

func newCutter(srv *amqpd.Server) cutter {
	return cutter{limit: cmp.Or(srv.FrameMax, largestFrame), most: uint64(srv.Broker.MaxMessageSize()), open: map[uint16]*unit{}}
}

// next returns the next unit that is complete.
func (c *cutter) next() (unit, bool) {
	for {
		typ, u, ok := c.frame()
		if !ok {
			return unit{}, false
		}
		if typ == frameBeat || c.raw {
			return u, true
		}
		whole, ok := c.add(typ, u)
		if ok {
			return whole, true
		}
	}
}

// frame cuts off the first frame, or all there is if it is none.
func (c *cutter) frame() (typ byte, u unit, ok bool) {
	b := c.buf
	switch {
	case len(b) == 0:
		return 0, u, false
	case c.raw:
		return c.plain(len(b))
	case b[0] == 'A':
		return c.plain(greeting)
	case len(b) < frameHead:
		return 0, u, false
	}
	n := frameHead + int(binary.BigEndian.Uint32(b[3:])) + 1
	if n <= c.limit && n > len(b) {
		return 0, u, false
	}
	if n > c.limit || b[n-1] != frameEnd {
		c.raw = true
		return c.plain(len(b))
	}
	u = unit{octets: b[:n:n], channel: binary.BigEndian.Uint16(b[1:])}
	payload := b[frameHead : n-1]
	switch {
	case b[0] == frameMethod && len(payload) >= methodHead:
		u.method, u.args = method(binary.BigEndian.Uint32(payload)), payload[methodHead:]
	case b[0] == frameHeader && len(payload) >= contentHead:
		u.left, u.header = binary.BigEndian.Uint64(payload[4:]), payload[contentHead:]
	case b[0] == frameBody:
		u.body = payload
	}
	c.buf = b[n:]
	return b[0], u, true
}

// plain cuts off n octets that are no frame.
func (c *cutter) plain(n int) (typ byte, u unit, ok bool) {
	if len(c.buf) < n {
		return 0, u, false
	}
	u.octets = c.buf[:n:n]
	c.buf = c.buf[n:]
	return frameBeat, u, true
}

// add adds a frame to the message that it belongs to, and returns what is complete with it. A frame that is out of place
// takes what there is of the message with it.
func (c *cutter) add(typ byte, f unit) (unit, bool) {
	u := c.open[f.channel]
	if typ == frameMethod && hasContent[f.method] && u == nil {
		c.open[f.channel] = &f
		return unit{}, false
	}
	if u == nil {
		return f, true
	}
	u.octets = append(u.octets, f.octets...)
	switch {
	case typ == frameHeader && u.header == nil && f.header != nil:
		u.header, u.left = f.header, f.left
		if u.left > c.most {
			delete(c.open, f.channel)
			return unit{octets: u.octets, channel: f.channel}, true
		}
	case typ == frameBody && u.header != nil && uint64(len(f.body)) <= u.left:
		u.body, u.left = append(u.body, f.body...), u.left-uint64(len(f.body))
	default:
		f.octets = u.octets
		delete(c.open, f.channel)
		return f, true
	}
	if u.header == nil || u.left > 0 {
		return unit{}, false
	}
	delete(c.open, f.channel)
	return *u, true
}

// A reader takes arguments from the front.
type reader []byte

func (r *reader) take(n int) []byte {
	n = min(n, len(*r))
	b := (*r)[:n]
	*r = (*r)[n:]
	return b
}

func (r *reader) short() string {
	n := r.take(1)
	if len(n) == 0 {
		return ""
	}
	return string(r.take(int(n[0])))
}

func (r *reader) long() uint64 {
	if len(*r) < 8 {
		return 0
	}
	return binary.BigEndian.Uint64(r.take(8))
}

// bits returns the octet that holds bits.
func (r *reader) bits() byte {
	if b := r.take(1); len(b) > 0 {
		return b[0]
	}
	return 0
}

// message is the message of a publish or a delivery, for matchers.
func (u *unit) message() leveret.MessageInfo {
	args := reader(u.args)
	var m leveret.MessageInfo
	switch u.method {
	case basicPublish:
		args.take(2)
	case basicDeliver:
		args.short()
		fallthrough
	case basicGetOk:
		args.long()
		m.Redelivered = args.bits()&1 != 0
	}
	m.Exchange, m.RoutingKey, m.Body = args.short(), args.short(), u.body
	m.Properties, _ = amqpd.DecodeProperties(u.header)
	return m
}

// call encodes a method frame.
func call(channel uint16, m method, args ...[]byte) []byte {
	b := binary.BigEndian.AppendUint16([]byte{frameMethod}, channel)
	b = binary.BigEndian.AppendUint32(b, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(m))
	for _, a := range args {
		b = append(b, a...)
	}
	binary.BigEndian.PutUint32(b[3:], uint32(len(b)-frameHead))
	return append(b, frameEnd)
}

// replySuccess is the code with which a client closes.
const replySuccess leveret.Code = 200

func short(s string) []byte { return append([]byte{byte(len(s))}, s...) }

func long(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// closing are the arguments of channel.close and connection.close. No method is to blame.
func closing(code leveret.Code, text string) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(code))
	return append(append(b, short(text)...), 0, 0, 0, 0)
}
