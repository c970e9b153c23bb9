package conformance

import (
	"bytes"
	"encoding/binary"
	"net"
	"slices"
	"sync"

	"github.com/leveretmq/leveret"
)

// A tap listens to what the broker sends to an unmodified client, for what the client does not pass on: the order
// and exact types of headers, which properties are present, and whether a close was a channel's or the connection's.
// It also writes the properties of messages and the arguments of bindings and consumers, because the client cannot send headers in an
// order, twice the same header, or a property that is present but empty.
type tap struct {
	net.Conn

	mu       sync.Mutex
	in       []byte // of a frame that is not complete yet
	out      []byte // likewise, in the other direction
	noCancel bool   // do not announce that the client understands consumer cancellations
	greeted  bool   // the protocol header, which is no frame, has gone out
	replace  []byte // what the next content header's properties become
	given    []byte // what the next arguments become, of the methods in takeArguments
	opened   uint16 // the channel opened last
	method   map[uint16]content
	headers  map[content]header
	returned map[uint16][]header       // of returns that were not looked at yet
	closed   map[uint16]*leveret.Error // by channel; 0: the connection
	frames   *frames                   // what the broker sent, to compare it with what another sends
}

// content identifies a message that the broker sent: a delivery by its tag, a return by its number on the channel.
type content struct {
	channel  uint16
	returned bool
	tag      uint64
}

type header struct {
	present   leveret.Property
	fields    leveret.Fields
	clusterID string
}

func newTap(c net.Conn) *tap {
	return &tap{Conn: c, method: map[uint16]content{}, headers: map[content]header{}, returned: map[uint16][]header{},
		closed: map[uint16]*leveret.Error{}, frames: newFrames()}
}

func (t *tap) Read(p []byte) (int, error) {
	n, err := t.Conn.Read(p)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.in = append(t.in, p[:n]...)
	for len(t.in) >= 7 {
		size := 8 + int(binary.BigEndian.Uint32(t.in[3:7]))
		if len(t.in) < size {
			break
		}
		t.frame(t.in[0], binary.BigEndian.Uint16(t.in[1:3]), t.in[7:size-1])
		t.frames.received(t.in[0], binary.BigEndian.Uint16(t.in[1:3]), t.in[7:size-1])
		t.in = t.in[size:]
	}
	return n, err
}

// Write passes on whole frames only, so that a content header can be replaced.
func (t *tap) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.out = append(t.out, p...)
	var pass []byte
	if !t.greeted && len(t.out) >= 8 {
		pass, t.out, t.greeted = append(pass, t.out[:8]...), t.out[8:], true
	}
	for t.greeted && len(t.out) >= 7 {
		size := 8 + int(binary.BigEndian.Uint32(t.out[3:7]))
		if len(t.out) < size {
			break
		}
		if frame := t.outgoing(t.out[:size]); frame != nil {
			t.frames.sent(frame[0], binary.BigEndian.Uint16(frame[1:3]), frame[7:len(frame)-1])
			pass = append(pass, frame...)
		}
		t.out = t.out[size:]
	}
	if _, err := t.Conn.Write(pass); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (t *tap) outgoing(frame []byte) []byte {
	if t.late(frame) {
		return nil
	}
	if frame[0] == frameMethod && binary.BigEndian.Uint32(frame[7:11]) == connectionStartOk {
		return t.startOk(frame)
	}
	if frame[0] == frameMethod && t.given != nil && takeArguments[binary.BigEndian.Uint32(frame[7:11])] {
		return t.withArguments(frame)
	}
	if frame[0] != frameHeader || t.replace == nil {
		return frame
	}
	const fixed = 7 + 12 // frame head; class, weight and body size
	out := append(append(append([]byte{}, frame[:fixed]...), t.replace...), frame[len(frame)-1])
	binary.BigEndian.PutUint32(out[3:7], uint32(len(out)-8))
	t.replace = nil
	return out
}

// late reports whether a frame is for a channel that the broker has closed. The client may send one right after
// its answer to the close, before its callers notice, and would lose the connection for it.
func (t *tap) late(frame []byte) bool {
	if t.closed[binary.BigEndian.Uint16(frame[1:3])] == nil {
		return false
	}
	if frame[0] != frameMethod {
		return true
	}
	method := binary.BigEndian.Uint32(frame[7:11])
	return method>>16 != connectionClass && method != channelOpen && method != channelCloseOk
}

// startOk changes the capabilities that the client announces whatever it is told: it wants to hear why a login
// is refused, and, if the tap is deaf, not of consumer cancellations.
func (t *tap) startOk(frame []byte) []byte {
	if t.noCancel {
		frame = bytes.Replace(frame, []byte("consumer_cancel_notify"), []byte("consumer_cancel_ignore"), 1)
	}
	const table = "\x0ccapabilitiesF"
	at := bytes.Index(frame, []byte(table))
	if at < 0 {
		return frame
	}
	at += len(table) // of the length of the capabilities
	const entry = "\x1cauthentication_failure_closet\x01"
	out := slices.Insert(slices.Clone(frame), at+4, []byte(entry)...)
	for _, length := range []int{3, 11, at} { // of the frame, the client properties, the capabilities
		n := binary.BigEndian.Uint32(out[length:])
		binary.BigEndian.PutUint32(out[length:], n+uint32(len(entry)))
	}
	return out
}

// publishNext sets the properties of the next message that the client sends.
func (t *tap) publishNext(p *leveret.Properties) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.replace = encodeProperties(p)
}

// argumentsNext sets the arguments of the next bind, unbind or consume that the client sends, which it is given without any.
func (t *tap) argumentsNext(args leveret.Fields) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.given = appendFields(nil, args)
}

// withArguments puts the arguments into the frame of a method, which ends with an empty table.
func (t *tap) withArguments(frame []byte) []byte {
	const empty = 4 + 1 // length of the table; frame end
	out := append(append(slices.Clone(frame[:len(frame)-empty]), t.given...), frame[len(frame)-1])
	binary.BigEndian.PutUint32(out[3:7], uint32(len(out)-8))
	t.given = nil
	return out
}

// takeArguments are the methods whose last field is the table of arguments that the tap writes: bind and unbind of exchanges and
// queues, and consume.
var takeArguments = map[uint32]bool{40<<16 | 30: true, 40<<16 | 40: true, 50<<16 | 20: true, 50<<16 | 50: true, 60<<16 | 20: true}

const (
	frameMethod    = 1
	frameHeader    = 2
	frameHeartbeat = 8

	connectionStartOk = 10<<16 | 11
	connectionClose   = 10<<16 | 50
	connectionCloseOk = 10<<16 | 51
	channelOpen       = 20<<16 | 10
	channelCloseOk    = 20<<16 | 41
	connectionClass   = 10
	channelOpenOk     = 20<<16 | 11
	channelClose      = 20<<16 | 40
	basicReturn       = 60<<16 | 50
	basicDeliver      = 60<<16 | 60
	basicGetOk        = 60<<16 | 71
)

func (t *tap) frame(kind byte, channel uint16, payload []byte) {
	d := &decoder{b: payload}
	switch kind {
	case frameMethod:
		t.methodFrame(channel, d.u32(), d)
	case frameHeader:
		d.u32()
		d.u64()
		if m := t.method[channel]; m.returned {
			t.returned[channel] = append(t.returned[channel], d.header())
		} else {
			t.headers[m] = d.header()
		}
	}
}

func (t *tap) methodFrame(channel uint16, id uint32, d *decoder) {
	switch id {
	case channelOpenOk:
		t.opened = channel
		delete(t.closed, channel)
		for c := range t.headers {
			if c.channel == channel {
				delete(t.headers, c)
			}
		}
		delete(t.method, channel)
	case connectionClose, channelClose:
		e := &leveret.Error{Code: leveret.Code(d.u16())}
		e.Reason = d.short()
		if len(e.Reason) > len(e.Code.String())+3 {
			e.Reason = e.Reason[len(e.Code.String())+3:]
		} else {
			e.Reason = ""
		}
		if id == connectionClose {
			channel = 0
			e.Connection = true
		}
		t.closed[channel] = e
	case basicReturn:
		t.method[channel] = content{channel: channel, returned: true}
	case basicDeliver:
		d.short()
		t.method[channel] = content{channel: channel, tag: d.u64()}
	case basicGetOk:
		t.method[channel] = content{channel: channel, tag: d.u64()}
	}
}

// leave has the tap take no more content: the client goes without saying so.
func (t *tap) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.frames.end(t.frames.channels[0])
}

// lines are the frames that the broker has sent so far.
func (t *tap) lines() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.frames.lines()
}

func (t *tap) header(c content) header {
	t.mu.Lock()
	defer t.mu.Unlock()
	if waiting := t.returned[c.channel]; c.returned && len(waiting) > 0 { // returns are taken in the order they come
		t.returned[c.channel] = waiting[1:]
		return waiting[0]
	}
	return t.headers[c]
}

func (t *tap) closure(channel uint16) *leveret.Error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closed[channel]
}

func (t *tap) lastOpened() uint16 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.opened
}
