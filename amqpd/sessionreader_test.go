package amqpd

import (
	"encoding/binary"
	"fmt"
	"net"
	"sync"
)

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
		return fmt.Errorf("a frame of type %d on channel %d, where header: %v, body: %d",
			typ, number, ch.header, ch.left)
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
