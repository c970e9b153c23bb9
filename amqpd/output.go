package amqpd

import (
	"encoding/binary"
	"net"
	"sync"

	"github.com/leveretmq/leveret"
)

// spliceFrom is the size from which a piece of a body is not copied into the output buffer
// but written from where it is.
const spliceFrom = 8 << 10

// output collects frames to be written together.
//
// Its buffer is one of buffers, and is there only while there are frames, so that idle connections hold none.
type output struct {
	b       []byte
	held    *[]byte // what b was before it grew
	splices []splice
	spliced int // octets in splices
}

// A splice is a piece of a body that belongs in front of b[at:].
type splice struct {
	at int
	b  []byte
}

// size returns how many octets there are to be written.
func (o *output) size() int { return len(o.b) + o.spliced }

// buffers are for outputs of any connection.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxPooled is the size, in octets, up to which a buffer is worth keeping, and maxSplices the same for
// a list of splices.
const (
	maxPooled  = 512 << 10
	maxSplices = 64
)

// hold makes sure that there is a buffer.
func (o *output) hold() {
	if o.b == nil {
		o.held = buffers.Get().(*[]byte)
		o.b = (*o.held)[:0]
	}
}

// release empties o and gives its buffer back.
func (o *output) release() {
	if o.held != nil && cap(o.b) <= maxPooled {
		*o.held = o.b[:0]
		buffers.Put(o.held)
	}
	clear(o.splices) // lets go of the bodies
	if cap(o.splices) > maxSplices {
		o.splices = nil
	}
	o.b, o.held, o.splices, o.spliced = nil, nil, o.splices[:0], 0
}

// writeTo writes everything, and counts it. It does not empty o.
func (o *output) writeTo(nc net.Conn, m *meter) error {
	if len(o.splices) == 0 && len(o.b) <= maxWrite {
		n, err := nc.Write(o.b)
		m.progressed(n)
		return err
	}
	w := chunks{nc: nc, meter: m, pieces: make(net.Buffers, 0, 2*len(o.splices)+1)}
	from := 0
	for _, s := range o.splices {
		w.add(o.b[from:s.at])
		w.add(s.b)
		from = s.at
	}
	w.add(o.b[from:])
	w.flush()
	return w.err
}

// maxWrite is how many octets are written in one go, so that what a slow client takes is counted soon.
const maxWrite = 256 << 10

// chunks writes pieces together, maxWrite octets at a time, until there is an error.
type chunks struct {
	nc     net.Conn
	meter  *meter
	pieces net.Buffers
	size   int // of pieces, in octets
	err    error
}

func (w *chunks) add(piece []byte) {
	for len(piece) > 0 {
		n := min(len(piece), maxWrite-w.size)
		w.pieces = append(w.pieces, piece[:n])
		w.size += n
		piece = piece[n:]
		if w.size == maxWrite {
			w.flush()
		}
	}
}

func (w *chunks) flush() {
	if w.err == nil && w.size > 0 {
		pieces := w.pieces // WriteTo consumes it
		var n int64
		n, w.err = pieces.WriteTo(w.nc)
		w.meter.progressed(int(n))
	}
	w.pieces, w.size = w.pieces[:0], 0
}

// begin starts a frame and returns the position that end wants.
func (o *output) begin(typ byte, channel uint16) int {
	o.hold()
	at := len(o.b)
	o.b = append(o.b, typ, byte(channel>>8), byte(channel), 0, 0, 0, 0)
	return at
}

func (o *output) end(at int) {
	binary.BigEndian.PutUint32(o.b[at+3:], uint32(len(o.b)-at-headerSize))
	o.b = append(o.b, frameEnd)
}

// method starts a method frame; its arguments are appended to o.b.
func (o *output) method(channel uint16, id methodID) int {
	at := o.begin(frameMethod, channel)
	o.b = binary.BigEndian.AppendUint32(o.b, uint32(id))
	return at
}

// bare appends a method without arguments.
func (o *output) bare(channel uint16, id methodID) { o.end(o.method(channel, id)) }

func (o *output) short(s string) { o.b = appendShort(o.b, s) }
func (o *output) u16(v uint16)   { o.b = binary.BigEndian.AppendUint16(o.b, v) }
func (o *output) u32(v uint32)   { o.b = binary.BigEndian.AppendUint32(o.b, v) }
func (o *output) u64(v uint64)   { o.b = binary.BigEndian.AppendUint64(o.b, v) }

func (o *output) bool(v bool) {
	if v {
		o.b = append(o.b, 1)
	} else {
		o.b = append(o.b, 0)
	}
}

// header starts the header frame of a message; its properties are appended to o.b.
func (o *output) header(channel uint16, size int) int {
	at := o.begin(frameHeader, channel)
	o.u16(classBasic)
	o.u16(0)
	o.u64(uint64(size))
	return at
}

// content appends the header frame of a message that a consumer gets, and its body.
// Rules: M-21.
func (o *output) content(channel uint16, d *leveret.Delivery, maxPayload int) {
	at := o.header(channel, len(d.Body))
	if wire := d.WireProperties(); wire != "" {
		o.b = append(o.b, wire...)
	} else {
		o.b = appendProperties(o.b, d.Properties, d.WireHeaders())
	}
	o.end(at)
	o.body(channel, d.Body, maxPayload)
}

// body appends a body in frames of at most maxPayload.
func (o *output) body(channel uint16, body []byte, maxPayload int) {
	for len(body) > 0 {
		n := min(len(body), maxPayload)
		o.bodyFrame(channel, body[:n])
		body = body[n:]
	}
}

func (o *output) bodyFrame(channel uint16, piece []byte) {
	at := o.begin(frameBody, channel)
	if len(piece) < spliceFrom {
		o.b = append(o.b, piece...)
		o.end(at)
		return
	}
	binary.BigEndian.PutUint32(o.b[at+3:], uint32(len(piece)))
	o.splices = append(o.splices, splice{len(o.b), piece})
	o.spliced += len(piece)
	o.b = append(o.b, frameEnd)
}

// deliver appends a basic.deliver with its message.
// Rules: M-12.
func (o *output) deliver(channel uint16, d *leveret.Delivery, maxPayload int) {
	at := o.method(channel, basicDeliver)
	o.short(d.ConsumerTag)
	o.u64(d.DeliveryTag)
	o.bool(d.Redelivered)
	o.short(d.Exchange)
	o.short(d.RoutingKey)
	o.end(at)
	o.content(channel, d, maxPayload)
}

// getOk appends a basic.get-ok with its message.
// Rules: D-34.
func (o *output) getOk(channel uint16, d *leveret.Delivery, maxPayload int) {
	at := o.method(channel, basicGetOk)
	o.u64(d.DeliveryTag)
	o.bool(d.Redelivered)
	o.short(d.Exchange)
	o.short(d.RoutingKey)
	o.u32(uint32(d.MessageCount))
	o.end(at)
	o.content(channel, d, maxPayload)
}

// returned appends a basic.return with its message.
// Rules: C-5.
func (o *output) returned(channel uint16, r *leveret.Return, maxPayload int) {
	at := o.method(channel, basicReturn)
	o.u16(uint16(leveret.NoRoute))
	o.short(leveret.NoRoute.String())
	o.short(r.Exchange)
	o.short(r.RoutingKey)
	o.end(at)
	at = o.header(channel, len(r.Body))
	if r.WireProperties != "" {
		o.b = append(o.b, r.WireProperties...)
	} else {
		o.b = appendProperties(o.b, r.Properties, publishedHeaders(r.Properties))
	}
	o.end(at)
	o.body(channel, r.Body, maxPayload)
}

// publishedHeaders returns the headers of a returned message as they go on the wire.
// Rules: M-13.
func publishedHeaders(p *leveret.Properties) leveret.Fields {
	switch {
	case p == nil:
		return nil
	case p.HeaderFields != nil:
		return p.HeaderFields
	case p.Headers != nil:
		return fieldsOf(p.Headers)
	case p.Present&leveret.PropHeaders != 0:
		return leveret.Fields{}
	}
	return nil
}

// closing appends a channel.close or connection.close.
// Rules: E-2.
func (o *output) closing(channel uint16, id methodID, why closeReason) {
	at := o.method(channel, id)
	o.u16(uint16(why.code))
	o.short(why.text)
	o.u32(uint32(why.cause))
	o.end(at)
}
