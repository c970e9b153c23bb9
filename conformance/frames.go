package conformance

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A frames has what a broker sent on one connection, in an order that RabbitMQ owes. It answers a channel's requests in
// the order in which they were made. What it sends unasked has an order of its own: the messages of one consumer, the
// returned messages, the confirms. How those mix with answers, and with what other channels get, is left to chance.
type frames struct {
	all      []*stream // in the order in which the channels were opened; the first is that of channel 0
	channels map[uint16]*stream
	latest   []latest // what came unasked since the client's last frame
}

// latest is what a consumer got.
type latest struct {
	stream *stream
	tag    string
}

// A stream is what one channel got, from its opening to its end.
type stream struct {
	answers   []string
	returns   []string
	confirms  confirms
	consumers map[string][]string // by tag
	queues    map[string]bool     // that the client has consumed from

	asks    bool      // the client has done nothing but ask for queues that it expects to be there
	request []byte    // the client's last
	polled  bool      // the last answer is dropped when the same request follows
	ending  bool      // the client has closed the channel
	into    *[]string // where the content that is arriving belongs; nil: nowhere
}

func newFrames() *frames {
	f := &frames{channels: map[uint16]*stream{}}
	f.open(0).asks = false
	return f
}

func (f *frames) open(channel uint16) *stream {
	s := &stream{consumers: map[string][]string{}, queues: map[string]bool{}, asks: true}
	f.channels[channel] = s
	f.all = append(f.all, s)
	return s
}

// sent takes note of a client's frame.
func (f *frames) sent(kind byte, channel uint16, payload []byte) {
	s := f.channels[channel]
	if s == nil || kind != frameMethod {
		return
	}
	id := binary.BigEndian.Uint32(payload)
	passive := id == queueDeclare && isPassive(payload)
	if s.polled && bytes.Equal(payload, s.request) {
		s.answers = s.answers[:len(s.answers)-1]
	}
	s.polled = false
	s.request = slices.Clone(payload)
	s.asks = s.asks && (passive || id == channelCloseOk)
	f.latest = nil
	switch id {
	case channelClose, connectionClose:
		f.end(s)
	case confirmSelect:
		s.confirms.published = 0
	case basicPublish:
		s.confirms.publish()
	case basicConsume:
		d := &decoder{b: payload[6:]}
		queue := d.short()
		s.queues[queue] = true
	}
}

// end has a stream take no more content: the client has closed the channel, or the connection of all channels.
func (f *frames) end(s *stream) {
	s.ending = true
	if s == f.channels[0] {
		for _, s := range f.channels {
			s.ending = true
		}
	}
}

func isPassive(declare []byte) bool {
	d := &decoder{b: declare[4:]}
	d.u16()
	d.short()
	return d.u8()&1 != 0
}

// received takes note of a broker's frame.
func (f *frames) received(kind byte, channel uint16, payload []byte) {
	s := f.channels[channel]
	if kind == frameMethod && binary.BigEndian.Uint32(payload) == channelOpenOk {
		s = f.open(channel)
	}
	switch {
	case kind == frameHeartbeat:
	case s == nil:
		f.channels[0].answers = append(f.channels[0].answers, fmt.Sprintf("frame %d of channel %d, which is closed", kind, channel))
	case kind == frameMethod:
		if tag := s.method(payload); tag != "" {
			f.latest = append(f.latest, latest{s, tag})
		}
		if binary.BigEndian.Uint32(payload) == connectionClose {
			f.dropLatest()
		}
	case s.into == nil:
	case kind == frameHeader:
		s.add(headerText(payload))
	default:
		s.add(bodyText(kind, payload))
	}
}

// dropLatest drops what consumers got just before the broker closed the connection: its channels end one after the
// other, and what one gives back may still reach another.
func (f *frames) dropLatest() {
	for _, l := range f.latest {
		list := l.stream.consumers[l.tag]
		l.stream.consumers[l.tag] = list[:len(list)-1]
	}
	f.latest = nil
}

// bodyText writes a body's frame; how a body is cut into frames is the broker's choice.
func bodyText(kind byte, payload []byte) string {
	if len(payload) > 64 {
		return fmt.Sprintf("frame %d of %d bytes", kind, len(payload))
	}
	return fmt.Sprintf("frame %d %q", kind, payload)
}

// add adds to what the last method began.
func (s *stream) add(text string) {
	list := *s.into
	list[len(list)-1] += "; " + text
}

// method takes note of a method; tag is that of a consumer that it delivers to.
func (s *stream) method(payload []byte) (tag string) {
	id := binary.BigEndian.Uint32(payload)
	text := methodText(payload)
	s.into = nil
	switch id {
	case basicDeliver, basicCancel, basicConsumeOk, basicCancelOk:
		if s.ending {
			return ""
		}
		tag = (&decoder{b: payload[4:]}).short()
		list := append(s.consumers[tag], text)
		s.consumers[tag] = list
		if id == basicDeliver {
			s.into = &list
			return tag
		}
	case basicReturn:
		s.returns = append(s.returns, text)
		s.into = &s.returns
	case basicAck, basicNack:
		s.confirms.add(id, payload, text)
	case connectionCloseOk:
		if !s.gaveUp() {
			s.answers = append(s.answers, text)
		}
	default:
		s.answers = append(s.answers, text)
		s.polled = id == basicGetEmpty || id == queueDeclareOk && isPassive(s.request)
		if id == basicGetOk {
			s.into = &s.answers
			s.leaveCountOpen()
		}
	}
	return ""
}

// gaveUp reports whether the client's library has ended the connection because of a frame that it did not expect, as one that comes
// behind channel.close: whether one does is left to chance.
func (s *stream) gaveUp() bool {
	const success = 200
	return len(s.request) > 4 && (&decoder{b: s.request[4:]}).u16() != success
}

// leaveCountOpen drops the message count from the answer to basic.get without acknowledgement, as `drain` sends it one
// after the other: dead letters that are still on their way to the queue are not counted. A scenario that asks for
// the count (get QUEUE left) shows it.
func (s *stream) leaveCountOpen() {
	const noAck = 1
	if len(s.request) == 0 || s.request[len(s.request)-1]&noAck == 0 {
		return
	}
	last := &s.answers[len(s.answers)-1]
	*last = (*last)[:strings.LastIndexByte(*last, ' ')] + " *"
}

// lines are the frames, one each, under the number of their channel among those that did something, and what they are.
func (f *frames) lines() []string {
	var out []string
	number := 0
	for _, s := range f.all {
		if s.asks {
			continue // how often is left to chance; what it shows is what the scenario counts
		}
		group := func(name string, list []string) {
			for _, text := range list {
				out = append(out, fmt.Sprintf("channel %d, %s: %s", number, name, text))
			}
		}
		group("answer", s.answers)
		group("consumer", s.received())
		group("return", s.returns)
		group("confirm", s.confirms.lines())
		number++
	}
	return out
}

// confirms are what a channel's client was told of its publishes. How many publishes one frame confirms is left to chance if the
// client sends one before the last is confirmed: then what counts is what each was answered.
type confirms struct {
	frames    []string
	answers   map[uint64]string // by the publish's number
	published uint64
	confirmed uint64 // all up to this one
	together  bool
}

func (c *confirms) publish() {
	c.together = c.together || c.published > c.confirmed
	c.published++
}

func (c *confirms) add(id uint32, payload []byte, text string) {
	c.frames = append(c.frames, text)
	d := &decoder{b: payload[4:]}
	last, multiple := d.u64(), d.u8()&1 > 0
	if c.answers == nil {
		c.answers = map[uint64]string{}
	}
	for n := c.confirmed + 1; multiple && n < last; n++ {
		if c.answers[n] == "" {
			c.answers[n] = methods[id].name
		}
	}
	c.answers[last] += methods[id].name // twice would be a mistake, and shows
	for c.answers[c.confirmed+1] != "" {
		c.confirmed++
	}
}

func (c *confirms) lines() []string {
	if !c.together {
		return c.frames
	}
	var out []string
	for _, n := range slices.Sorted(maps.Keys(c.answers)) {
		out = append(out, fmt.Sprintf("%d %s", n, c.answers[n]))
	}
	return out
}

// deliveryTag matches the tag in the text of a delivery.
var deliveryTag = regexp.MustCompile(`^(basic\.deliver "[^"]*") (\d+)`)

// received returns what consumers got, one after the other. If they consume from several queues their messages are
// numbered in any order: then the numbers stand by themselves.
func (s *stream) received() []string {
	var list, numbers []string
	for _, tag := range slices.Sorted(maps.Keys(s.consumers)) {
		list = append(list, s.consumers[tag]...)
	}
	if len(s.queues) < 2 {
		return list
	}
	for i, text := range list {
		if m := deliveryTag.FindStringSubmatch(text); m != nil {
			numbers = append(numbers, m[2])
			list[i] = deliveryTag.ReplaceAllString(text, "$1 *")
		}
	}
	slices.Sort(numbers)
	return append(list, "numbers "+strings.Join(numbers, " "))
}

// differences tells where two lists of frames differ, each by its name; empty: nowhere.
func differences(a, b string, inA, inB []string) string {
	var out strings.Builder
	for _, l := range missing(inA, inB) {
		fmt.Fprintf(&out, "  %s only: %s\n", a, l)
	}
	for _, l := range missing(inB, inA) {
		fmt.Fprintf(&out, "  %s only: %s\n", b, l)
	}
	if out.Len() == 0 && !slices.Equal(inA, inB) {
		return fmt.Sprintf("the order of frames:\n%s\n%s:\n%s\n%s:\n", a, strings.Join(inA, "\n"), b, strings.Join(inB, "\n"))
	}
	return out.String()
}

// missing returns the lines of a list that another has fewer of.
func missing(list, other []string) []string {
	count := map[string]int{}
	for _, l := range other {
		count[l]++
	}
	var out []string
	for _, l := range list {
		if count[l]--; count[l] < 0 {
			out = append(out, l)
		}
	}
	return out
}
