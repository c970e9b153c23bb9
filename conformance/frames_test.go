package conformance

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

// methodOf makes a method's payload: its id, and arguments of which a string is a short string.
func methodOf(id uint32, arguments ...any) []byte {
	b := binary.BigEndian.AppendUint32(nil, id)
	for _, a := range arguments {
		switch a := a.(type) {
		case byte:
			b = append(b, a)
		case uint16:
			b = binary.BigEndian.AppendUint16(b, a)
		case uint32:
			b = binary.BigEndian.AppendUint32(b, a)
		case uint64:
			b = binary.BigEndian.AppendUint64(b, a)
		case string:
			b = append(append(b, byte(len(a))), a...)
		}
	}
	return b
}

// opened returns frames of a connection with the channel 1, on which the client has asked for something.
func opened() *frames {
	f := newFrames()
	f.received(frameMethod, 1, methodOf(channelOpenOk, uint32(0)))
	f.sent(frameMethod, 1, methodOf(60<<16|10, uint32(0), uint16(1), byte(0))) // basic.qos
	return f
}

// TestFrameFields demands that two frames that differ in any field read differently.
func TestFrameFields(t *testing.T) {
	closed := func(class, method uint16) string {
		return methodText(methodOf(channelClose, uint16(404), "NOT_FOUND", class, method))
	}
	if closed(50, 10) == closed(50, 20) {
		t.Error("the method that a close names does not show")
	}
	headers := func(field string) string {
		b := binary.BigEndian.AppendUint16(nil, 60)
		b = append(b, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0) // weight and size
		b = append(b, 0x20, 0)                      // headers are present
		b = binary.BigEndian.AppendUint32(b, uint32(len(field)))
		return headerText(append(b, field...))
	}
	if headers("\x01hl\x00\x00\x00\x00\x00\x00\x00\x05") == headers("\x01hL\x00\x00\x00\x00\x00\x00\x00\x05") {
		t.Error("the type of an integer does not show")
	}
	if headers("\x01ht\x01") == headers("\x01ht\xff") {
		t.Error("the octet of a boolean does not show")
	}
	if !strings.HasSuffix(methodText(append(methodOf(60<<16|11), 7)), "and 07") {
		t.Error("octets behind a method do not show")
	}
}

// TestFramesLeftToChance demands that what is left to chance does not show: how often the client has to ask until
// something is there, how many dead letters had come when it
// began to drain a queue, what comes when the client has gone, and in which order two queues deliver.
func TestFramesLeftToChance(t *testing.T) {
	get := methodOf(basicGet, uint16(0), "q", byte(0))
	empty, there := methodOf(basicGetEmpty, ""), methodOf(basicGetOk, uint64(1), byte(0), "", "q", uint32(0))
	asked := func(times int) []string {
		f := opened()
		for range times {
			f.sent(frameMethod, 1, get)
			f.received(frameMethod, 1, empty)
		}
		f.sent(frameMethod, 1, get)
		f.received(frameMethod, 1, there)
		return f.lines()
	}
	if !slices.Equal(asked(0), asked(3)) {
		t.Errorf("%q and %q differ", asked(0), asked(3))
	}

	counted := func(noAck byte, count uint32) []string {
		f := opened()
		f.sent(frameMethod, 1, methodOf(basicGet, uint16(0), "q", noAck))
		f.received(frameMethod, 1, methodOf(basicGetOk, uint64(1), byte(0), "", "q", count))
		return f.lines()
	}
	if !slices.Equal(counted(1, 0), counted(1, 5)) {
		t.Error("how many messages were there when a queue was drained shows")
	}
	if slices.Equal(counted(0, 0), counted(0, 5)) {
		t.Error("how many messages are left does not show")
	}

	deliver := func(tag string, number uint64) []byte { return methodOf(basicDeliver, tag, number, byte(0), "", "q") }
	f := opened()
	before := len(f.lines())
	f.sent(frameMethod, 1, methodOf(channelClose, uint16(200), "", uint16(0), uint16(0)))
	f.received(frameMethod, 1, deliver("c", 1))
	if n := len(f.lines()); n != before {
		t.Errorf("%d frames came to a channel that the client has closed", n-before)
	}

	numbered := func(queue string, first, second uint64) []string {
		f := opened()
		f.sent(frameMethod, 1, methodOf(basicConsume, uint16(0), "q", "a"))
		f.sent(frameMethod, 1, methodOf(basicConsume, uint16(0), queue, "b"))
		f.received(frameMethod, 1, deliver("a", first))
		f.received(frameMethod, 1, deliver("b", second))
		return f.lines()
	}
	if !slices.Equal(numbered("other", 1, 2), numbered("other", 2, 1)) {
		t.Error("the order in which two queues deliver shows")
	}
	if slices.Equal(numbered("q", 1, 2), numbered("q", 2, 1)) {
		t.Error("the order in which one queue delivers does not show")
	}
}

// TestConfirmsOfPublishesSentTogether demands that of publishes that are sent together each one's answer counts, and of publishes
// that wait for their confirms the frames.
func TestConfirmsOfPublishesSentTogether(t *testing.T) {
	const multiple = 1
	confirmed := func(publishes, each int, confirms ...[]byte) []string {
		f := opened()
		f.sent(frameMethod, 1, methodOf(confirmSelect, byte(0)))
		for range publishes {
			for range each {
				f.sent(frameMethod, 1, methodOf(basicPublish, uint16(0), "", "q", byte(0)))
			}
			f.received(frameMethod, 1, confirms[0])
			confirms = confirms[1:]
		}
		for _, c := range confirms {
			f.received(frameMethod, 1, c)
		}
		return f.lines()
	}
	ack := func(n uint64, flags byte) []byte { return methodOf(basicAck, n, flags) }
	nack := func(n uint64, flags byte) []byte { return methodOf(basicNack, n, flags) }
	for _, same := range [][2][]string{
		{confirmed(1, 3, ack(1, 0), ack(2, 0), ack(3, 0)), confirmed(1, 3, ack(3, multiple))},
		{confirmed(1, 3, ack(1, 0), nack(3, multiple)), confirmed(1, 3, ack(1, 0), nack(2, 0), nack(3, 0))},
		{confirmed(1, 3, ack(2, 0), nack(3, multiple)), confirmed(1, 3, nack(1, 0), ack(2, 0), nack(3, 0))},
	} {
		if !slices.Equal(same[0], same[1]) {
			t.Errorf("the same answers read differently:\n%q\n%q", same[0], same[1])
		}
	}
	for _, other := range [][2][]string{
		{confirmed(1, 3, ack(3, multiple)), confirmed(1, 3, ack(1, 0), nack(2, 0), ack(3, 0))},
		{confirmed(1, 3, ack(3, multiple)), confirmed(1, 3, ack(2, multiple))},
		{confirmed(1, 3, ack(3, multiple)), confirmed(1, 3, ack(3, multiple), ack(3, 0))},
		{confirmed(2, 1, ack(1, 0), ack(2, 0)), confirmed(2, 1, ack(1, 0), ack(2, multiple))},
	} {
		if slices.Equal(other[0], other[1]) {
			t.Errorf("other answers read alike: %q", other[0])
		}
	}
}
