package conformance

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// A burstOutcome is what came of a program, in parts that are compared one by one: what one consumer got in a burst, what was
// left in a queue.
type burstOutcome map[string]string

// A burstClient sends bursts, and takes note of what it gets.
type burstClient struct {
	oddClient
	late     bool   // it answers channel.close when it uses the channel next
	label    string // of the connection
	suffix   string // of all names
	hide     *strings.Replacer
	channels map[uint16]*burstChannel
	into     burstOutcome
	heard    map[string][]string // parts of this burst
}

// A burstChannel is what the client knows of a channel.
type burstChannel struct {
	open      bool
	closing   bool            // the server has closed it, and waits for the answer
	held      []burstHeld     // what has to be settled, by the texts of the messages
	noAck     map[string]bool // consumers that need no acknowledgements
	gets      []bool          // that are not answered yet: whether they need none
	confirmed map[uint64]bool // publishes, by number
	content   burstContent
}

// A burstHeld is a message that a client holds. Tags are left to chance, so messages are chosen by what they say.
type burstHeld struct {
	body string
	tag  uint64
}

func (at *burstChannel) hold(tag uint64, body string) {
	at.held = append(at.held, burstHeld{body, tag})
	slices.SortFunc(at.held, func(a, b burstHeld) int { return cmp.Or(cmp.Compare(a.body, b.body), cmp.Compare(a.tag, b.tag)) })
}

// burstContent is the method that content belongs to, while it comes.
type burstContent struct {
	texts []string
	left  uint64 // octets of the body
	to    []string
	held  uint64 // the delivery tag, if the message has to be settled
}

// settle picks one of the tags that are held.
func (at *burstChannel) settle(which int, multiple bool) (tag uint64, ok bool) {
	if len(at.held) == 0 {
		return 0, false
	}
	tag = at.held[which%len(at.held)].tag
	at.held = slices.DeleteFunc(slices.Clone(at.held), func(h burstHeld) bool { return h.tag == tag || multiple && h.tag < tag })
	return tag, true
}

var burstName = regexp.MustCompile(`^(q\d|n\d|d\d|e\d|x|nope)$`)

// name makes a name that is of this run only.
func (c *burstClient) name(s string) string {
	if burstName.MatchString(s) {
		return s + c.suffix
	}
	return s
}

func (c *burstClient) table(args []burstArg) []byte {
	var b []byte
	for _, a := range args {
		b = append(b, oddShort(a.name)...)
		switch v := a.value.(type) {
		case string:
			b = append(append(b, 'S'), oddLong(c.name(v))...)
		case bool:
			b = append(b, 't', 1)
		case int:
			b = binary.BigEndian.AppendUint32(append(b, 'I'), uint32(v))
		case []string:
			var list []byte
			for _, text := range v {
				list = append(append(list, 'S'), oddLong(c.name(text))...)
			}
			b = append(append(b, 'A'), oddLong(string(list))...)
		}
	}
	return oddLong(string(b))
}

func (c *burstClient) publish(ch uint16, m burstPublish) []byte {
	b := oddMethod(ch, basicPublish, []byte{0, 0}, oddShort(c.name(m.exchange)), oddShort(c.name(m.key)), []byte{m.flags})
	flags, mode := uint16(1<<12), byte(2)
	if m.transient {
		mode = 1
	}
	var properties []byte
	if len(m.headers) > 0 {
		flags |= 1 << 13
		properties = c.table(m.headers)
	}
	properties = append(properties, mode)
	if m.priority > 0 {
		flags |= 1 << 11
		properties = append(properties, m.priority)
	}
	if m.expiration != "" {
		flags |= 1 << 8
		properties = append(properties, oddShort(m.expiration)...)
	}
	header := binary.BigEndian.AppendUint64([]byte{0, 60, 0, 0}, uint64(len(m.body)))
	header = append(binary.BigEndian.AppendUint16(header, flags), properties...)
	b = append(b, oddFrame{frameHeader, ch, header}.octets()...)
	return append(b, oddFrame{3, ch, []byte(m.body)}.octets()...)
}

// dialBurst opens a connection.
func dialBurst(uri amqp.URI, vhost, suffix string) (*burstClient, error) {
	nc, err := net.Dial("tcp", net.JoinHostPort(uri.Host, fmt.Sprint(uri.Port)))
	if err != nil {
		return nil, err
	}
	c := &burstClient{oddClient: oddClient{Conn: nc}, suffix: suffix, label: "connection", hide: strings.NewReplacer(vhost, "(vhost)", suffix, ""),
		channels: map[uint16]*burstChannel{}, heard: map[string][]string{}}
	for _, request := range oddPreparation(uri, vhost)[:3] {
		if _, err := c.Write(request); err != nil {
			return nil, err
		}
		if _, _, _, err := c.frame(burstPatience); err != nil {
			return nil, fmt.Errorf("connecting: %w", err)
		}
	}
	return c, nil
}

// burstPatience is how long the answer to a request is waited for.
const burstPatience = 30 * time.Second

// call sends a request and returns the next method of its channel, and its content.
func (c *burstClient) call(request []byte) (id uint32, text string, err error) {
	if _, err := c.Write(request); err != nil {
		return 0, "", err
	}
	var texts []string
	for left := uint64(0); id == 0 || left > 0; {
		kind, _, payload, err := c.frame(burstPatience)
		if err != nil {
			return 0, "", err
		}
		switch kind {
		case frameMethod:
			id, texts = binary.BigEndian.Uint32(payload), append(texts, methodText(payload))
			if id == basicGetOk {
				left = 1
			}
		case frameHeader:
			left, texts = binary.BigEndian.Uint64(payload[4:]), append(texts, headerText(payload))
		case 3:
			left, texts = left-uint64(len(payload)), append(texts, string(payload))
		}
	}
	return id, c.hide.Replace(strings.Join(texts, "; ")), nil
}

// must is call where only one answer will do.
func (c *burstClient) must(id uint32, request []byte) error {
	got, text, err := c.call(request)
	if err == nil && got != id {
		err = errors.New(text)
	}
	return err
}

// framesOf is what the client sends for an operation, or in its place the answer to channel.close.
func (c *burstClient) framesOf(op burstOp, at *burstChannel) []byte {
	if at.closing {
		at.closing = false
		return oddMethod(op.channel, channelCloseOk)
	}
	return op.frames(c, at)
}

// channel returns a channel, which is opened if it is not open.
func (c *burstClient) channel(n uint16) (*burstChannel, error) {
	if at := c.channels[n]; at != nil && (at.open || at.closing) {
		return at, nil
	}
	at := &burstChannel{open: true, noAck: map[string]bool{}, confirmed: map[uint64]bool{}}
	c.channels[n] = at
	return at, c.must(channelOpenOk, oddMethod(n, channelOpen, []byte{0}))
}

// prepare makes what a program's bursts are about. The connection is one of its own.
func (p burstProgram) prepare(c *burstClient) error {
	if _, err := c.channel(1); err != nil {
		return err
	}
	err := c.must(40<<16|11, oddMethod(1, 40<<16|10, []byte{0, 0}, oddShort(c.name("x")), oddShort("topic"), []byte{2, 0, 0, 0, 0}))
	for _, q := range p.queues {
		err = errors.Join(err, c.must(queueDeclareOk,
			oddMethod(1, queueDeclare, []byte{0, 0}, oddShort(c.name(q.name)), []byte{2}, c.table(q.args))))
		for _, key := range q.keys {
			err = errors.Join(err, c.must(50<<16|21, oddMethod(1, 50<<16|20, []byte{0, 0}, oddShort(c.name(q.name)),
				oddShort(c.name("x")), oddShort(key), make([]byte, 5))))
		}
	}
	for _, e := range p.exchanges {
		flags := byte(2)
		if e.internal {
			flags |= 8
		}
		err = errors.Join(err, c.must(40<<16|11, oddMethod(1, 40<<16|10, []byte{0, 0}, oddShort(c.name(e.name)), oddShort(e.kind), []byte{flags}, c.table(e.args))))
		if e.to != "" {
			err = errors.Join(err, c.must(40<<16|31, oddMethod(1, 40<<16|30, []byte{0, 0}, oddShort(c.name(e.to)), oddShort(c.name(e.name)), oddShort(e.key), make([]byte, 5))))
		}
	}
	for _, q := range p.queues {
		for _, to := range q.bound {
			err = errors.Join(err, c.must(50<<16|21, oddMethod(1, 50<<16|20, []byte{0, 0}, oddShort(c.name(q.name)),
				oddShort(c.name(to.exchange)), oddShort(to.key), []byte{0}, c.table(to.args))))
		}
	}
	err = errors.Join(err, c.must(85<<16|11, oddMethod(1, confirmSelect, []byte{0})))
	for _, m := range p.before {
		if err != nil {
			break
		}
		_, _, err = c.call(c.publish(1, m))
	}
	return err
}

// send sends a burst and takes note of what comes until nothing more does.
func (c *burstClient) send(i int, burst []burstOp, quiet time.Duration) error {
	var b []byte
	closed := map[uint16]bool{}
	for _, op := range burst {
		at, err := c.channel(op.channel)
		if err != nil {
			return err
		}
		if closed[op.channel] {
			continue
		}
		frames := c.framesOf(op, at)
		for f := frames; len(f) > 0; f = f[8+binary.BigEndian.Uint32(f[3:]):] {
			at.sends(f)
		}
		b = append(b, frames...)
		closed[op.channel] = op.text == "close"
	}
	if _, err := c.Write(b); err != nil {
		return err
	}
	return c.hears(i, quiet)
}

// hears takes note of what comes until nothing more does.
func (c *burstClient) hears(i int, quiet time.Duration) error {
	clear(c.heard)
	err := c.listen(quiet)
	for part, texts := range c.heard {
		if strings.Contains(part, "confirms") {
			slices.Sort(texts)
		}
		key := fmt.Sprintf("burst %d, %s", i, part)
		if c.into[key] != "" {
			c.into[key] += "\n"
		}
		c.into[key] += c.hide.Replace(strings.Join(texts, "\n"))
	}
	return err
}

// sends takes note of a frame that is sent.
func (at *burstChannel) sends(f []byte) {
	if f[0] != frameMethod {
		return
	}
	d := &decoder{b: f[7:]}
	switch id := d.u32(); id {
	case basicConsume:
		d.u16()
		d.short()
		tag := d.short()
		at.noAck[tag] = d.u8()&2 != 0
	case basicGet:
		at.gets = append(at.gets, f[len(f)-2] != 0)
	}
}

// listen reads until nothing more comes for a while.
func (c *burstClient) listen(quiet time.Duration) error {
	for {
		kind, n, payload, err := c.frame(quiet)
		at := c.channels[n]
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil
		case err != nil:
			c.ends = true
			c.add(c.label, "closed")
			return nil
		case kind == 8:
		case kind != frameMethod:
			c.content(n, at, kind, payload)
		case n == 0:
			c.add(c.label, methodText(payload))
			if binary.BigEndian.Uint32(payload) == connectionClose {
				c.ends = true
				return nil
			}
		case at == nil:
			c.add(c.label, "on a channel that there is not: "+methodText(payload))
		default:
			if err := c.method(n, at, payload); err != nil {
				return err
			}
		}
	}
}

func (c *burstClient) add(part, text string) { c.heard[part] = append(c.heard[part], text) }

// method takes note of a method on a channel.
func (c *burstClient) method(n uint16, at *burstChannel, payload []byte) error {
	d := &decoder{b: payload}
	id := d.u32()
	text := methodText(payload)
	part := func(format string, a ...any) string {
		return fmt.Sprintf("channel %d, ", n) + fmt.Sprintf(format, a...)
	}
	order := part("?order")
	switch id {
	case basicDeliver:
		tag, number := d.short(), d.u64()
		c.add(part("?tags of %s", tag), fmt.Sprint(number))
		text = burstDelivery.ReplaceAllString(text, "$1")
		at.content = burstContent{texts: []string{text}, to: []string{part("consumer %s", tag), order}}
		if !at.noAck[tag] {
			at.content.held = number
		}
	case basicConsumeOk, basicCancelOk, basicCancel:
		c.add(part("consumer %s", d.short()), text)
		c.add(order, text)
	case basicAck, basicNack:
		last, multiple := d.u64(), d.u8()&1 > 0
		c.confirmed(part("confirms"), at, last, multiple, text)
	case basicReturn:
		at.content = burstContent{texts: []string{text}, to: []string{part("answers"), order}}
	case basicGetOk:
		noAck := at.gets[0]
		at.gets = at.gets[1:]
		number := d.u64()
		c.add(part("?tags of gets"), fmt.Sprint(number))
		c.add(part("?counts"), text)
		text = burstGot.ReplaceAllString(text, "basic.get-ok $1")
		at.content = burstContent{texts: []string{text}, to: []string{part("answers"), order}}
		if !noAck {
			at.content.held = number
		}
	case channelClose:
		at.open = false
		c.add(part("answers"), text)
		c.add(order, text)
		if at.closing = c.late; c.late {
			return nil
		}
		_, err := c.Write(oddMethod(n, channelCloseOk))
		return err
	default:
		if id == basicGetEmpty {
			at.gets = at.gets[1:]
		}
		if id == channelCloseOk {
			at.open = false
		}
		if m := burstCounted.FindString(text); m != "" {
			c.add(part("?counts"), text)
			text = m
		}
		c.add(part("answers"), text)
		c.add(order, text)
	}
	return nil
}

var (
	burstDelivery = regexp.MustCompile(`^(basic\.deliver "[^"]*") \d+`)
	burstGot      = regexp.MustCompile(`^basic\.get-ok \d+ (.*) \d+$`)
	burstCounted  = regexp.MustCompile(`^queue\.(declare-ok "[^"]*"|purge-ok|delete-ok)`)
)

// confirmed takes note of a confirm: of each publish what it was answered.
func (c *burstClient) confirmed(part string, at *burstChannel, last uint64, multiple bool, text string) {
	for n := uint64(1); n <= last; n++ {
		if n == last || multiple && !at.confirmed[n] {
			at.confirmed[n] = true
			c.add(part, fmt.Sprintf("%04d %s", n, strings.Fields(text)[0]))
		}
	}
}

// content takes note of a content frame.
func (c *burstClient) content(n uint16, at *burstChannel, kind byte, payload []byte) {
	if at == nil || at.content.to == nil {
		c.add(c.label, fmt.Sprintf("content on channel %d: %q", n, payload))
		return
	}
	m := &at.content
	if kind == frameHeader {
		m.left = binary.BigEndian.Uint64(payload[4:])
		m.texts = append(m.texts, headerText(payload))
	} else {
		m.left -= uint64(len(payload))
		m.texts = append(m.texts, string(payload))
	}
	if m.left == 0 {
		for _, part := range m.to {
			c.add(part, strings.Join(m.texts, "; "))
		}
		if m.held > 0 {
			at.hold(m.held, m.texts[len(m.texts)-1])
		}
		at.content = burstContent{}
	}
}

// play runs a program and returns its outcome.
func (p burstProgram) play(uri amqp.URI, vhost, suffix string, quiet time.Duration) (burstOutcome, error) {
	admin, err := dialBurst(uri, vhost, suffix)
	if err != nil {
		return nil, err
	}
	defer admin.Close()
	if err := p.prepare(admin); err != nil {
		return nil, fmt.Errorf("preparing: %w", err)
	}
	out := burstOutcome{}
	var clients []*burstClient
	for _, label := range []string{"connection", "second connection"} {
		c, err := dialBurst(uri, vhost, suffix)
		if err != nil {
			return nil, err
		}
		defer c.Close()
		c.into, c.late, c.label = out, p.late, label
		if clients = append(clients, c); !p.two {
			break
		}
	}
	for i, burst := range p.bursts {
		if err := sendBurst(clients, i, burst, quiet); err != nil {
			return nil, err
		}
	}
	names := []string{"n0", "n1"}
	for _, q := range p.queues {
		names = append(names, q.name)
	}
	if err := admin.counts(names, "while open", out); err != nil {
		return nil, err
	}
	for _, c := range clients {
		if c.ends {
			continue
		}
		c.Write(oddMethod(0, connectionClose, []byte{0, 200, 0, 0, 0, 0, 0}))
		for {
			if _, _, _, err := c.frame(quiet); err != nil {
				break
			}
		}
	}
	time.Sleep(quiet)
	if err := admin.counts(names, "at the end", out); err != nil {
		return nil, err
	}
	return out, errors.Join(admin.drain(names, out), admin.clean(p))
}

// sendBurst sends each client its part of a burst.
func sendBurst(clients []*burstClient, i int, burst []burstOp, quiet time.Duration) error {
	for n, c := range clients {
		var own []burstOp
		for _, op := range burst {
			if len(clients) == 1 || int(op.channel-1)/2 == n {
				own = append(own, op)
			}
		}
		if c.ends || len(own) == 0 {
			continue
		}
		if err := c.send(i, own, quiet); err != nil {
			return err
		}
	}
	for _, c := range clients {
		if c.ends || len(clients) == 1 {
			continue
		}
		if err := c.hears(i, quiet/3); err != nil {
			return err
		}
	}
	return nil
}

// counts takes note of how many messages and consumers queues have.
func (c *burstClient) counts(names []string, when string, out burstOutcome) error {
	for _, q := range names {
		id, text, err := c.call(oddMethod(1, queueDeclare, []byte{0, 0}, oddShort(c.name(q)), []byte{1, 0, 0, 0, 0}))
		if err != nil {
			return err
		}
		if id == channelClose {
			_, err = c.Write(oddMethod(1, channelCloseOk))
			err = errors.Join(err, c.must(channelOpenOk, oddMethod(1, channelOpen, []byte{0})))
			if err != nil {
				return err
			}
		}
		out[fmt.Sprintf("state %s of %s", when, q)] = text
	}
	return nil
}

// drain takes what is in the queues and deletes them.
func (c *burstClient) drain(names []string, out burstOutcome) error {
	for _, q := range names {
		if strings.HasPrefix(out["state at the end of "+q], "channel.close") {
			continue
		}
		var texts []string
		for {
			id, text, err := c.call(oddMethod(1, basicGet, []byte{0, 0}, oddShort(c.name(q)), []byte{1}))
			if err != nil {
				return err
			}
			if id == channelClose { // the queue has a single active consumer
				more, err := c.drainByConsuming(q)
				if err != nil {
					return err
				}
				texts = append(texts, more...)
			}
			if id != basicGetOk {
				break
			}
			texts = append(texts, burstGotEarly.ReplaceAllString(text, "$1"))
		}
		out["?content in order of "+q] = strings.Join(texts, "\n")
		slices.SortFunc(texts, cmp.Compare)
		out["content of "+q] = strings.Join(texts, "\n")
	}
	for _, q := range names {
		if _, _, err := c.call(oddMethod(1, 50<<16|40, []byte{0, 0}, oddShort(c.name(q)), []byte{0})); err != nil {
			return err
		}
	}
	return nil
}

// clean deletes a program's exchanges.
func (c *burstClient) clean(p burstProgram) error {
	_, _, err := c.call(oddMethod(1, 40<<16|20, []byte{0, 0}, oddShort(c.name("x")), []byte{0}))
	for _, e := range p.exchanges {
		_, _, more := c.call(oddMethod(1, 40<<16|20, []byte{0, 0}, oddShort(c.name(e.name)), []byte{0}))
		err = errors.Join(err, more)
	}
	return err
}

// drainByConsuming takes what is in a queue that refuses basic.get, for which it has closed the channel.
func (c *burstClient) drainByConsuming(q string) ([]string, error) {
	_, err := c.Write(oddMethod(1, channelCloseOk))
	err = errors.Join(err, c.must(channelOpenOk, oddMethod(1, channelOpen, []byte{0})))
	if err != nil {
		return nil, err
	}
	c.channels[1].noAck["drain"] = true
	_, err = c.Write(oddMethod(1, basicConsume, []byte{0, 0}, oddShort(c.name(q)), oddShort("drain"), []byte{2 | 8, 0, 0, 0, 0}))
	if err == nil {
		err = c.listen(burstLongQuiet)
	}
	var texts []string
	for _, text := range c.heard["channel 1, consumer drain"] {
		texts = append(texts, c.hide.Replace(text))
	}
	clear(c.heard)
	return texts, errors.Join(err, c.must(basicCancelOk, oddMethod(1, basicCancel, oddShort("drain"), []byte{0})))
}

// burstGotEarly is the part of a basic.get-ok that is not left to chance.
var burstGotEarly = regexp.MustCompile(`basic\.get-ok \d+ (\d+ "[^"]*" "[^"]*") \d+`)

// differs lists the parts of an outcome that are in none of the others.
func (own burstOutcome) differs(others []burstOutcome, strict bool) (parts []string) {
	keys := maps.Clone(own)
	for _, o := range others {
		for k := range o {
			keys[k] = ""
		}
	}
	for _, k := range slices.Sorted(maps.Keys(keys)) {
		if strict && strings.Contains(k, "?") {
			continue
		}
		if !slices.ContainsFunc(others, func(o burstOutcome) bool { return o[k] == own[k] }) {
			parts = append(parts, k)
		}
	}
	return parts
}
