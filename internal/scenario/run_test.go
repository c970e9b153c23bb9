package scenario

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
)

// openConn is a connection that nobody has closed.
type openConn struct{ Conn }

func (openConn) Err() error       { return nil }
func (openConn) Frames() []string { return nil }

// closedChannel is a channel that has ended.
type closedChannel struct {
	Channel
	why *leveret.Error
}

func (ch closedChannel) Err() error    { return ch.why }
func (ch closedChannel) Take() []Event { return nil }

// fullChannel is a channel that has received something.
type fullChannel struct {
	Channel
	events []Event
}

func (ch fullChannel) Take() []Event { return ch.events }

func TestTagOfTheLatestDelivery(t *testing.T) {
	second, first := &Delivery{Tag: 4, Body: []byte("m")}, &Delivery{Tag: 3, Body: []byte("m")}
	s := &session{ch: fullChannel{events: []Event{{Delivery: second}, {Delivery: first}}}, tags: map[string]uint64{}}
	s.collect()
	assert.Equal(t, map[string]uint64{"m": 4}, s.tags)
	assert.Len(t, s.inbox, 2)
}

// A client that connects again leaves the channels of its first connection behind. What ends those is shown as the end of a
// connection, whether the second has ended, too, or not yet.
func TestEndOfAnEarlierConnection(t *testing.T) {
	why := &leveret.Error{Code: leveret.ConnectionForced, Reason: "bye", Connection: true}
	s := &session{client: &client{conn: openConn{}}, ch: closedChannel{why: why}}
	s.client.channels = map[string]*session{"f": s}
	r := &run{conns: map[string]*client{"far": s.client}, render: renderer{vhost: "v"}}
	assert.Equal(t, []string{"connection closed: 320 CONNECTION_FORCED - bye"}, r.refusal(s, why))
	assert.Nil(t, s.ch)

	why.Connection = false
	s.ch, s.client.conn = closedChannel{why: why}, openConn{}
	assert.Equal(t, []string{"channel closed: 320 CONNECTION_FORCED - bye"}, r.refusal(s, why))
}
