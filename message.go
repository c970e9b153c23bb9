package leveret

import (
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/leveretmq/leveret/internal/erl"
)

// A Message is what a program publishes. Properties, everything they refer to, and Body belong to
// the broker from then on: do not change them after publishing.
type Message struct {
	Properties *Properties // nil: a message without properties
	Body       []byte

	Mandatory bool // return the message if no queue receives it (Outcome.Return)
	Immediate bool // refused as RabbitMQ refuses it: 540

	// WireProperties is for listeners: the content header's property flags and values as the client sent them, if they are
	// to be sent on like this (see Delivery.WireProperties). Empty: Properties are encoded anew.
	WireProperties string
}

// An Outcome says what became of a published message.
type Outcome struct {
	Queues   int     // how many queues the message was routed to
	Rejected bool    // one of them refused it (reject-publish): a confirming client gets a nack
	Stopped  bool    // a quorum queue took it and is over its limit now: the queue refuses what follows (L-11)
	Stored   bool    // a classic queue keeps it on the disk: RabbitMQ's queue delivers it before it confirms it (C-5a)
	Return   *Return // the message came back: Mandatory was set and no queue was reached
	Sequence uint64  // its number on a confirming channel, from 1; 0 elsewhere
}

// Err returns nil if every queue that the message was routed to took it, and otherwise why not: [ErrRejected],
// [ErrReturned] or [ErrUnroutable]. In a transaction only the route is known before Commit.
func (o Outcome) Err() error {
	switch {
	case o.Rejected:
		return ErrRejected
	case o.Return != nil:
		return ErrReturned
	case o.Queues == 0:
		return ErrUnroutable
	}
	return nil
}

// A Return is a mandatory message that was routed to no queue (basic.return with code 312, NO_ROUTE).
type Return struct {
	Exchange   string
	RoutingKey string
	Message
}

// A message is the stored form of a Message: immutable, and shared by all queues that hold it. What
// few messages have is in extra, so that each of a million queued messages is small.
type message struct {
	exchange *Exchange // where it was last published to
	key      string    // the first routing key
	body     []byte
	props    *Properties // nil: none
	extra    *extra      // nil: one routing key, never died
}

// isPersistent reports whether m was published as persistent, with delivery mode 2.
func (m *message) isPersistent() bool { return m.props != nil && m.props.DeliveryMode == persistent }

// made is when the publisher says that m was made; zero: it does not say.
func (m *message) made() time.Time {
	if m.props == nil {
		return time.Time{}
	}
	return m.props.Timestamp
}

// extra is what few messages have.
type extra struct {
	published    *published     // nil: one routing key
	deaths       *death         // most recent first
	firstDeath   *death         // as it was recorded
	lastExchange *Exchange      // where it was published to before the last death
	index        *deathIndex    // of a long history; it may have gone on with another message
	common       *commonHistory // has this extra, if several messages share it; nil: it belongs to one message
	number       uint64         // see EventMessage.Message
	removed      int32          // bytes of properties that quorum queues count though they are gone

	hidesExpiration bool // the history does not have the expiration // R-10
}

// published is what few messages have of their publish: several routing keys, or properties that are sent on as they
// came.
type published struct {
	all    []string // the keys that route: key, CC, BCC; behind them those of BCC that route no more
	routes uint32   // how many of them route
	bcc    uint32   // how many at the end came from BCC
	wire   string   // Message.WireProperties
}

// died returns what a dead letter has of p.
func (p *published) died() *published {
	if p == nil || p.wire == "" {
		return p
	}
	own := *p
	own.wire = ""
	return &own
}

// keys returns all routing keys of a message that has extra; nil for one that has none, whose
// one key is m.key.
func (m *message) keys() []string {
	switch {
	case m.extra == nil:
		return nil
	case m.extra.published != nil:
		p := m.extra.published
		return p.all[:p.routes:p.routes]
	}
	return []string{m.key}
}

// eachKey yields every routing key.
func (m *message) eachKey(yield func(string) bool) {
	if m.extra == nil {
		yield(m.key)
		return
	}
	for _, key := range m.keys() {
		if !yield(key) {
			return
		}
	}
}

func (m *message) bccKeys() []string {
	if m.extra == nil || m.extra.published == nil {
		return nil
	}
	p := m.extra.published
	return p.all[len(p.all)-int(p.bcc):]
}

// expiration is the per-message TTL in ms, -1 for none.
func (m *message) expiration() int64 {
	if !m.hasExpiration() {
		return -1
	}
	return checkedExpiration(m.props.Expiration)
}

// hasExpiration reports whether the message has a per-message TTL.
func (m *message) hasExpiration() bool { return m.props != nil && m.props.Expiration != "" }

// checkedExpiration is the number of an expiration that a publish has checked. 3.10 keeps forms like +5.
// Rules: M-6.
func checkedExpiration(s string) int64 {
	if ms, ok := plainNumber(s); ok {
		return ms
	}
	ms, _ := strconv.ParseInt(s, 10, 64)
	return ms
}

// withHiddenExpiration returns m as a message whose expiration does not get into its history.
// Rules: R-10.
func (m *message) withHiddenExpiration() *message {
	if m.publishedExpiration() == nil {
		return m
	}
	own, x := *m, extra{}
	if m.extra != nil {
		x = *m.extra
	}
	x.hidesExpiration = true
	own.extra = &x
	return &own
}

// number is the message's number in events, 0 if nobody watched when it was published.
func (m *message) number() uint64 {
	if m.extra == nil {
		return 0
	}
	return m.extra.number
}

func (m *message) deaths() *death {
	if m.extra == nil {
		return nil
	}
	return m.extra.deaths
}

// headers are the headers as published, in wire order. A program's Table is put in order each time: most are only given
// back.
func (m *message) headers() Fields {
	switch p := m.props; {
	case p == nil:
		return nil
	case p.HeaderFields != nil || p.Headers == nil:
		return p.HeaderFields
	default:
		return p.Headers.ordered()
	}
}

// hasHeaders reports whether the message was published with headers, if only with an empty table.
func (m *message) hasHeaders() bool {
	return m.props != nil && (m.props.HeaderFields != nil || m.props.Headers != nil)
}

// setHeaders replaces the headers of a message that is being published or has just died.
func (m *message) setHeaders(h Fields) {
	p := m.editProps()
	p.Headers, p.HeaderFields = nil, h
}

// matchFields are the headers that a headers exchange sees: the publisher's, and those the broker
// adds to a dead letter except x-death itself.
// Rules: X-30a.
func (m *message) matchFields() Fields {
	h := m.headers()
	if m.deaths() == nil {
		return h
	}
	return h.with(m.extra.deathTrios())
}

const (
	headerCC  = "CC"
	headerBCC = "BCC"
)

// editProps makes the properties the message's own.
func (m *message) editProps() *Properties {
	p := Properties{}
	if m.props != nil {
		p = *m.props
	}
	m.props = &p
	return m.props
}

// takeHeaders makes the values of the headers canonical, which is what a listener can encode, and refuses properties that no frame
// has room for. What a client sent is canonical already, and came in a frame. A program's Table stays a Table, its own if it can:
// with Fields for each message BenchmarkHeaders/values=canonical takes 2.8 times as long.
func (m *message) takeHeaders(remote bool) *Error {
	if !m.hasHeaders() {
		return nil
	}
	size, ok := 0, false
	if f := m.props.HeaderFields; f != nil {
		ok = isCanonicalFields(f, 0)
	} else {
		size, ok = canonicalTableSize(m.props.Headers, 0)
	}
	if !ok {
		if err := m.makeHeadersCanonical(); err != nil {
			return err
		}
	}
	switch {
	case remote:
		return nil
	case size == 0:
		size = headersSize(m.props)
	}
	return m.checkProperties(size)
}

// makeHeadersCanonical gives the message headers of its own with canonical values.
func (m *message) makeHeadersCanonical() *Error {
	p := m.props
	own := *p
	var err error
	if p.HeaderFields != nil {
		own.HeaderFields, err = p.HeaderFields.canonical()
	} else {
		own.Headers, err = p.Headers.canonical()
	}
	if err != nil {
		return &Error{Code: SyntaxError, Reason: err.Error()}
	}
	m.props = &own
	return nil
}

// editExtra returns the extra of a message that is being published, which shares it with no other.
func (m *message) editExtra() *extra {
	if m.extra == nil {
		m.extra = &extra{}
	}
	return m.extra
}

// keepWireProperties keeps the properties as the publisher encoded them, unless a check has changed them.
// Rules: M-21.
func (m *message) keepWireProperties(from *Message) {
	if m.props != from.Properties {
		return
	}
	x := m.editExtra()
	if x.published == nil {
		x.published = &published{all: []string{m.key}, routes: 1}
	}
	x.published.wire = from.WireProperties
}

// wireProperties are the properties as the publisher encoded them; empty if they are to be encoded anew.
func (m *message) wireProperties() string {
	if m.extra == nil || m.extra.published == nil {
		return ""
	}
	return m.extra.published.wire
}

// takeExpiration checks the property expiration. RabbitMQ 4.3 delivers the number's plain form, 3.10 what the publisher wrote.
// Rules: L-3, M-5, M-6, T-10.
func (ch *Channel) takeExpiration(m *message) *Error {
	p := m.props
	if p == nil || !p.given(p.Expiration != "", PropExpiration) {
		return nil
	}
	if _, ok := plainNumber(p.Expiration); ok {
		return nil
	}
	ms, err := ch.v.rules.parseExpiration(p.Expiration)
	if err != nil {
		return err
	}
	if plain := strconv.FormatInt(ms, 10); plain != p.Expiration && !ch.v.rules.verbatimExpiration {
		m.editExtra().removed += int32(len(p.Expiration) - len(plain)) // L-3
		m.editProps().Expiration = plain
	}
	return nil
}

// plainNumber reads a number of at most 11 digits in the form in which the number would be printed. Such an expiration is below ten
// years and needs no other check. To read the property again costs less than to keep the number: BenchmarkHeaders/values=expiration takes two
// allocations in place of three, and three quarters of the instructions.
func plainNumber(s string) (n int64, ok bool) {
	if s == "" || len(s) > 11 || s[0] == '0' && len(s) > 1 {
		return 0, false
	}
	for i := range len(s) {
		digit := s[i] - '0'
		if digit > 9 {
			return 0, false
		}
		n = n*10 + int64(digit)
	}
	return n, true
}

// takeCC takes the further routing keys from the headers CC and BCC, in this order, and removes BCC. Of several headers
// of one name the first counts, and only this one is removed.
// Rules: M-9, M-10, M-11.
func (ch *Channel) takeCC(m *message) *Error {
	if !m.mayCopy() {
		return nil
	}
	h := m.headers()
	cc, err := keysOf(h, headerCC)
	if err != nil {
		return err
	}
	bcc, err := keysOf(h, headerBCC)
	if err != nil {
		return err
	}
	if _, there := h.Get(headerBCC); there {
		m.setHeaders(h.withoutFirst(headerBCC))
	}
	if cc != nil || bcc != nil {
		all := append(append([]string{m.key}, cc...), bcc...)
		m.editExtra().published = &published{all: all, routes: uint32(len(all)), bcc: uint32(len(bcc))}
	}
	return nil
}

// mayCopy reports whether the message may have a header CC or BCC.
func (m *message) mayCopy() bool {
	p := m.props
	if p == nil || p.HeaderFields != nil {
		return p != nil
	}
	_, cc := p.Headers[headerCC]
	_, bcc := p.Headers[headerBCC]
	return cc || bcc
}

// keysOf returns the strings of an array header; elements of other types do not count.
func keysOf(h Fields, name string) (keys []string, _ *Error) {
	v, there := h.Get(name)
	if !there {
		return nil, nil
	}
	array, ok := v.([]any)
	if !ok {
		return nil, PreconditionFailed.errorf("", "invalid message: {unacceptable_type_in_header,%q,%s}", name, fieldType(v))
	}
	for _, e := range array {
		if s, ok := e.(string); ok {
			keys = append(keys, s)
		}
	}
	return keys, nil
}

// priority is the message's priority, absent if it has none.
func (m *message) priority(absent int) int {
	p := m.props
	if p == nil || !p.given(p.Priority != 0, PropPriority) {
		return absent
	}
	return int(p.Priority)
}

// parseExpiration reads a message's expiration property: a whole decimal number of
// milliseconds with an optional sign.
// Rules: M-5.
func (r *rules) parseExpiration(s string) (ms int64, err *Error) {
	digits := strings.TrimLeft(s, "+-")
	if len(s)-len(digits) > 1 {
		digits = ""
	}
	end := 0
	for end < len(digits) && digits[end] >= '0' && digits[end] <= '9' {
		end++
	}
	if end == 0 {
		return 0, r.invalidExpiration(s, erl.Atom("no_integer"))
	}
	if rest := digits[end:]; rest != "" {
		return 0, r.invalidExpiration(s, erl.Tuple{erl.Atom("leftover_string"), erl.Characters(rest)})
	}
	if n, perr := strconv.ParseInt(s, 10, 64); perr == nil && n >= 0 && n <= maxExpiry {
		return n, nil
	}
	n, _ := new(big.Int).SetString(s, 10)
	reason := "value_too_large"
	if n.Sign() < 0 {
		reason = "value_negative"
	}
	if n.IsInt64() {
		return 0, r.invalidExpiration(s, erl.Tuple{erl.Atom(reason), n.Int64()})
	}
	// A term with a number this long never fits on one line behind a text that quotes it.
	err = r.invalidExpiration(s, erl.Atom(reason))
	at := utf8.RuneCountInString(err.Reason) - len(reason)
	err.Reason = strings.TrimSuffix(err.Reason, reason) +
		"{" + reason + ",\n" + strings.Repeat(" ", at+1) + n.String() + "}"
	return 0, err
}

func (r *rules) invalidExpiration(s string, reason any) *Error {
	text := "invalid expiration '" + r.text(s) + "': "
	return PreconditionFailed.errorf("", "%s", r.notation().Behind(text, reason))
}

// isPlain reports whether m is no more than a body.
func (m *Message) isPlain() bool {
	return m.Properties == nil && m.WireProperties == "" && !m.Immediate
}
