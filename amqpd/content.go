package amqpd

import (
	"bytes"
	"cmp"
	"encoding/binary"

	"github.com/leveretmq/leveret"
)

// What a channel expects next.
type contentState uint8

const (
	noContent contentState = iota // a method
	wantHeader
	wantBody
)

// Bodies up to eagerBody octets get their memory at once. For larger ones it grows with what
// arrives, because announcing costs a client nothing.
const eagerBody = 1 << 20

// streamFrom is the size from which a frame of a body in several frames is read into the body without
// passing through the read buffer.
const streamFrom = 4 << 10

// An assembly is the message that a channel is receiving. Only the reader touches it.
type assembly struct {
	state         contentState
	method        methodID // whose content it is
	exchange, key string
	flags         bits
	props         *leveret.Properties
	wire          string // see leveret.Message
	unreadable    bool   // its properties; RabbitMQ does not look at them before the body is there
	body          []byte
	left          uint64 // octets of the body that are still to come
	refused       uint64 // octets of a body that is too large; 0: it is not. None of them is kept
	beyond        bool   // more of the body came than was announced
}

func (m *assembly) reset() { *m = assembly{} }

// begin waits for the content of a method.
func (m *assembly) begin(id methodID) { m.state, m.method = wantHeader, id }

// class is the class whose content header comes next.
func (m *assembly) class() uint16 { return uint16(m.method >> 16) }

// complete reports whether all of the message is there.
func (m *assembly) complete() bool { return m.state == wantBody && m.left == 0 && !m.beyond }

// unexpected is the error for a frame that is not the one expected.
// Rules: C-17.
func (m *assembly) unexpected() error {
	switch m.state {
	case wantHeader:
		return errorf(leveret.UnexpectedFrame,
			"expected content header for class %d, got non content header frame instead", m.class())
	case wantBody:
		return errorf(leveret.UnexpectedFrame, "expected content body, got non content body frame instead")
	}
	return unattributedf(leveret.UnexpectedFrame, "expected method frame, got non method frame instead")
}

// room makes room for the next n octets of the body and returns it.
func (m *assembly) room(n int) []byte {
	have := len(m.body)
	if need := have + n; need > cap(m.body) {
		whole := uint64(have) + m.left
		size := max(uint64(need), min(whole, max(eagerBody, 2*uint64(have))))
		body := make([]byte, have, size)
		copy(body, m.body)
		m.body = body
	}
	m.body = m.body[:have+n]
	m.left -= uint64(n)
	return m.body[have:]
}

// add takes a piece of the body.
func (m *assembly) add(piece []byte) {
	if m.body == nil && uint64(len(piece)) == m.left {
		m.body = append(m.body, piece...) // unlike make, does not clear what is overwritten
		m.left = 0
		return
	}
	copy(m.room(len(piece)), piece)
}

// contentFrameLocked handles a content header or body frame.
// Rules: C-17.
func (c *conn) contentFrameLocked(f frame) error {
	ch := c.channelLocked(f.channel)
	if ch == nil {
		c.failLocked(cmp.Or(c.admitFrameLocked(f.channel), (&assembly{}).unexpected()), 0)
		return nil
	}
	var err error
	switch m := &ch.content; {
	case f.typ == frameHeader && m.state == wantHeader:
		err = c.contentHeaderLocked(ch, f.payload)
	case f.typ == frameBody && m.state == wantBody:
		err = c.contentBodyLocked(ch, f.payload)
	default:
		err = m.unexpected()
	}
	if err != nil {
		c.failLocked(err, ch.content.method)
		return nil
	}
	if !c.blocked && c.session.Blocked() {
		c.blockLocked()
	}
	if !ch.content.complete() {
		return nil
	}
	return c.completeLocked(ch)
}

// completeLocked handles a method whose content is complete.
// Rules: C-10, C-15, C-17.
func (c *conn) completeLocked(ch *channel) error {
	id := ch.content.method
	switch {
	case ch.closing:
		ch.content.reset()
		if ch.gone {
			c.forgetLocked(ch)
		}
		return nil
	case ch.ch == nil:
		c.failLocked(errNotOpen(), id)
		return nil
	case ch.tx.committing && ch.content.refused == 0:
		return c.handledLocked(ch, errCommitting(), id)
	case id != basicPublish:
		return c.handledLocked(ch, errUnimplemented(), id)
	}
	return c.handledLocked(ch, c.publishLocked(ch), id)
}

func (c *conn) contentHeaderLocked(ch *channel, b []byte) error {
	class := binary.BigEndian.Uint16(b)
	weight := binary.BigEndian.Uint16(b[2:])
	size := binary.BigEndian.Uint64(b[4:])
	if weight != 0 {
		return ch.content.unexpected()
	}
	if want := ch.content.class(); class != want {
		return errorf(leveret.UnexpectedFrame,
			"expected content header for class %d, got one for class %d instead", want, class)
	}
	if most := c.release.maxBody; most != 0 && size > most {
		return errorf(leveret.FrameError, "content body size %d exceeds maximum allowed size %d", size, most)
	}
	if class != classBasic { // of 0-8, without a use
		ch.content.left, ch.content.state = size, wantBody
		return nil
	}
	props, wire, ok := c.propertiesLocked(ch, b[contentHead:])
	ch.content.props, ch.content.wire, ch.content.unreadable = props, wire, !ok
	ch.content.left = size
	if size > uint64(c.srv.Broker.MaxMessageSize()) {
		ch.content.refused = size
	}
	ch.content.state = wantBody
	return nil
}

// contentBodyLocked takes a piece of the body. RabbitMQ 3.10 waits on when there is more of it than was announced.
// Rules: C-17.
func (c *conn) contentBodyLocked(ch *channel, piece []byte) error {
	if uint64(len(piece)) > ch.content.left {
		if !c.release.waitsBeyond {
			return errorf(leveret.FrameError, "content body frame exceeds remaining content size")
		}
		ch.content.beyond, ch.content.left, ch.content.body = true, 0, nil
		return nil
	}
	if ch.closing || ch.content.refused > 0 {
		ch.content.left -= uint64(len(piece))
		ch.content.body = nil
		return nil
	}
	ch.content.add(piece)
	return nil
}

// maxRemembered is the largest header, in octets, that is compared with the next message's.
const maxRemembered = 256

// propertiesLocked decodes the properties of a content header. Most publishers send the same ones again and
// again; as the broker never changes properties, equal ones are shared.
func (c *conn) propertiesLocked(ch *channel, b []byte) (p *leveret.Properties, wire string, ok bool) {
	last := &ch.last
	if last.props != nil && bytes.Equal(b, last.header) {
		return last.props, last.wire, true
	}
	p, ok = decodeProperties(b, &c.in.names)
	if ok && c.release.forwardsProperties {
		wire = wireForm(p, b)
	}
	last.props = nil
	if ok && p != nil && len(b) <= maxRemembered {
		*last = lastProperties{append(last.header[:0], b...), p, wire}
	}
	return p, wire, ok
}

// wireForm returns the octets that p was decoded from, unless p encodes to the same.
// Rules: M-21.
func wireForm(p *leveret.Properties, b []byte) string {
	var scratch [maxRemembered]byte
	if bytes.Equal(appendProperties(scratch[:0], p, publishedHeaders(p)), b) {
		return ""
	}
	return string(b)
}

// streamableLocked returns the channel whose body frame is next, if that is large and not all there.
func (c *conn) streamableLocked() *channel {
	h, ok := c.in.head()
	if !ok || h.typ != frameBody || h.size < streamFrom || h.size > c.in.maxPayload || c.stage != running {
		return nil
	}
	ch := c.channelLocked(h.channel)
	if ch == nil || ch.closing {
		return nil
	}
	m := &ch.content
	if m.state != wantBody || m.refused > 0 || uint64(h.size) > m.left {
		return nil
	}
	if m.body == nil && uint64(h.size) == m.left {
		return nil // to copy a whole body costs less than to clear its memory first
	}
	return ch
}
