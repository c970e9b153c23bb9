package scenario

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
)

// A verb carries out one statement. What the broker refuses it returns as an error.
type verb func(*run, *session, *words) ([]string, error)

var verbs map[string]verb

func init() {
	verbs = map[string]verb{
		"declare": declare, "delete": remove, "bind": bind, "unbind": bind, "purge": purge,
		"publish": publish, "get": get, "drain": drain, "ack": settle, "nack": settle, "reject": settle,
		"recover": recoverAll, "consume": consume, "cancel": cancel, "deliveries": deliveries, "notices": notices,
		"qos": qos, "confirm": confirm, "tx": tx, "flow": flow, "count": count, "close": closeChannel,
		"connect": connect, "disconnect": disconnect, "kill": disconnect, "update-secret": updateSecret, "advance": advance, "show": show,
		"restart": restart,
		"policy":  policy, "operator-policy": policy, "clear-policy": clearPolicy, "clear-operator-policy": clearPolicy,
		"create-vhost": createVHost, "delete-vhost": deleteVHost, "delete-user": deleteUser,
		"user": user, "permit": permit, "forbid": forbid, "permit-topic": permitTopic, "limit-vhost": limitVHost,
		"limit-user": limitUser, "default-queue-type": defaultQueueType, "import": importDefinitions, "export": export,
		"field-order": fieldOrder, "limits": limits, "consumers": consumers,
	}
}

// Verbs returns the names of all statements, in their order.
func Verbs() []string { return sortedNames(verbs) }

func declare(r *run, s *session, w *words) ([]string, error) {
	switch kind := w.word("queue or exchange"); kind {
	case "queue":
		return declareQueue(r, s, w)
	case "exchange":
		return nil, declareExchange(s, w)
	default:
		fail("declare what: %s?", kind)
		return nil, nil
	}
}

func declareQueue(r *run, s *session, w *words) ([]string, error) {
	name := w.word("a name")
	cfg := leveret.QueueConfig{Passive: w.flag("passive"), NoWait: w.flag("nowait")}
	if !cfg.Passive {
		cfg.Durable, cfg.Exclusive, cfg.AutoDelete = !w.flag("transient"), w.flag("exclusive"), w.flag("auto-delete")
		if w.flag("quorum") {
			w.named = append(leveret.Fields{{Name: leveret.ArgQueueType, Value: "quorum"}}, w.named...)
		}
		cfg.Arguments = w.rest()
	}
	w.done()
	st, err := s.ch.DeclareQueue(name, cfg)
	if cfg.NoWait {
		st = leveret.QueueState{Name: name}
	}
	if err != nil {
		return nil, err
	}
	var out []string
	if st.Name != name {
		out = append(out, generated(st.Name))
	}
	if st.Messages+st.Consumers > 0 {
		out = append(out, "ready="+strconv.Itoa(st.Messages)+" consumers="+strconv.Itoa(st.Consumers))
	}
	return out, nil
}

func declareExchange(s *session, w *words) error {
	name := w.word("a name")
	if w.flag("passive") {
		w.done()
		return s.ch.CheckExchange(name)
	}
	kind := leveret.ExchangeType(w.word("a type"))
	noWait(s, w)
	cfg := leveret.ExchangeConfig{Durable: !w.flag("transient"), AutoDelete: w.flag("auto-delete"),
		Internal: w.flag("internal"), Arguments: w.rest()}
	w.done()
	return s.ch.DeclareExchange(name, kind, cfg)
}

func remove(r *run, s *session, w *words) ([]string, error) {
	kind, name := w.word("queue or exchange"), w.word("a name")
	cfg := leveret.DeleteConfig{IfUnused: w.flag("if-unused"), IfEmpty: w.flag("if-empty")}
	unanswered := noWait(s, w)
	w.done()
	if kind != "exchange" && kind != "queue" {
		fail("delete what: %s?", kind)
	}
	if kind == "exchange" {
		return nil, s.ch.DeleteExchange(name, cfg)
	}
	n, err := s.ch.DeleteQueue(name, cfg)
	if unanswered {
		n = 0
	}
	return number(n), err
}

// noWait takes the word nowait: the request asks for no answer.
func noWait(s *session, w *words) bool {
	if !w.flag("nowait") {
		return false
	}
	s.ch.NoWait()
	return true
}

func number(n int) []string {
	if n == 0 {
		return nil
	}
	return []string{strconv.Itoa(n)}
}

// bind QUEUE EXCHANGE/KEY [arguments]; bind exchange DESTINATION SOURCE/KEY [arguments]; unbind likewise.
func bind(r *run, s *session, w *words) ([]string, error) {
	b := leveret.Binding{DestinationType: "queue"}
	if w.flag("exchange") {
		b.DestinationType = "exchange"
	}
	noWait(s, w)
	b.Destination = w.word("a destination")
	b.Source, b.RoutingKey = w.target()
	b.Arguments, w.named = w.named, nil
	w.done()
	if w.step.Verb == "bind" {
		return nil, s.ch.Bind(b)
	}
	return nil, s.ch.Unbind(b)
}

func purge(r *run, s *session, w *words) ([]string, error) {
	name := w.word("a queue")
	w.done()
	n, err := s.ch.PurgeQueue(name)
	return number(n), err
}

// publish TARGET BODY… [properties]; size=N makes a body of N bytes, repeat=N makes N messages with the bodies 1, 2 and
// so on. Each message waits for its confirm. With together all are sent before the first confirm is waited for.
func publish(r *run, s *session, w *words) ([]string, error) {
	exchange, key := w.target()
	together := w.flag("together")
	m := w.message()
	bodies := w.pos
	if n := w.number("size", -1); n >= 0 {
		bodies = []Arg{{Text: strings.Repeat("x", n)}}
	}
	for n, total := 1, w.number("repeat", 0); n <= total; n++ {
		bodies = append(bodies, Arg{Text: strconv.Itoa(n)})
	}
	if len(bodies) == 0 {
		fail("publish needs a body")
	}
	w.pos = nil
	w.done()
	messages := make([]leveret.Message, 0, len(bodies))
	for _, b := range bodies {
		messages = append(messages, withBody(m, b.Text))
	}
	if together {
		all, err := s.ch.PublishTogether(exchange, key, messages)
		return r.published(all), err
	}
	var all []Published
	for _, m := range messages {
		p, err := s.ch.Publish(exchange, key, m)
		all = append(all, p)
		if err != nil {
			return r.answers(all), err
		}
	}
	return r.published(all), nil
}

// published shows what the broker answered to publishes. That all are acked is the rule, and not worth a word.
func (r *run) published(all []Published) []string {
	if !slices.ContainsFunc(all, func(p Published) bool { return p.Return != nil || p.Confirm == "nack" }) {
		return nil
	}
	return r.answers(all)
}

func (r *run) answers(all []Published) (out []string) {
	for _, p := range all {
		if p.Return != nil {
			out = append(out, "return "+r.returned(p.Return))
		}
		if p.Confirm != "" {
			out = append(out, p.Confirm)
		}
	}
	return out
}

// withBody returns a message of its own with the same properties: the broker keeps what it is given.
func withBody(m leveret.Message, body string) leveret.Message {
	m.Body = []byte(body)
	if m.Properties != nil {
		p := *m.Properties
		p.Headers = TableOf(p.HeaderFields)
		m.Properties = &p
	}
	return m
}

func (r *run) returned(m *leveret.Return) string {
	d := &Delivery{Exchange: m.Exchange, RoutingKey: m.RoutingKey, Properties: m.Properties, Body: m.Body}
	if m.Properties != nil {
		d.Fields = m.Properties.HeaderFields
		if d.Fields == nil && m.Properties.Headers != nil {
			d.Fields = sorted(m.Properties.Headers)
		}
	}
	return r.render.delivery(d, "")
}

// get QUEUE… takes one message from each queue named; no-ack settles it, left shows how many remain.
func get(r *run, s *session, w *words) ([]string, error) {
	noAck, left := w.flag("no-ack"), w.flag("left")
	var out []string
	for i, queue := range w.words("a queue") {
		var d *Delivery
		seen, err := r.watch(nth(w.wanted(r), i), func() (seen []string, err error) {
			if d == nil {
				d, err = s.ch.Get(queue, noAck)
			}
			return r.got(d, queue, left), err
		})
		if err != nil {
			return out, err
		}
		if d != nil {
			s.tags[string(d.Body)] = d.Tag
			r.replyTo = d.Properties.ReplyTo
		}
		out = append(out, seen...)
	}
	return out, nil
}

func nth(list []string, i int) []string {
	if i < len(list) {
		return list[i : i+1]
	}
	return nil
}

func (r *run) got(d *Delivery, queue string, left bool) []string {
	if d == nil {
		return []string{"empty"}
	}
	text := r.render.delivery(d, queue)
	if left {
		text += " left=" + strconv.Itoa(d.MessageCount)
	}
	return []string{text}
}

// drain QUEUE gets everything, without acknowledgements.
func drain(r *run, s *session, w *words) ([]string, error) {
	queue := w.word("a queue")
	w.done()
	var out []string
	return r.watch(w.wanted(r), func() ([]string, error) {
		for {
			d, err := s.ch.Get(queue, true)
			if err != nil || d == nil {
				return out, err
			}
			out = append(out, r.render.delivery(d, queue))
		}
	})
}

// settle: ack, nack or reject the message with the given body, or #TAG; multiple; requeue or discard.
func settle(r *run, s *session, w *words) ([]string, error) {
	multiple, requeue, discard := w.flag("multiple"), w.flag("requeue"), w.flag("discard")
	if w.step.Verb != "ack" && requeue == discard {
		fail("%s needs requeue or discard", w.step.Verb)
	}
	for _, message := range w.words("a message") {
		tag := r.tag(s, message)
		var err error
		switch w.step.Verb {
		case "ack":
			err = s.ch.Ack(tag, multiple)
		case "nack":
			err = s.ch.Nack(tag, multiple, requeue)
		case "reject":
			err = s.ch.Reject(tag, requeue)
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func (r *run) tag(s *session, word string) uint64 {
	if n, err := strconv.ParseUint(strings.TrimPrefix(word, "#"), 10, 64); err == nil && word[0] == '#' {
		return n
	}
	deadline := time.Now().Add(r.driver.MaxDelay())
	for {
		s.collect()
		if tag, ok := s.tags[word]; ok {
			return tag
		}
		if time.Now().After(deadline) {
			fail("no message %s was delivered here", word)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func recoverAll(r *run, s *session, w *words) ([]string, error) {
	requeue := !w.flag("discard")
	w.done()
	return nil, s.ch.Recover(requeue)
}

// confirm turns on confirms; from then on every publish waits for its own.
func confirm(r *run, s *session, w *words) ([]string, error) {
	w.done()
	return nil, s.ch.Confirm()
}

func tx(r *run, s *session, w *words) ([]string, error) {
	what := w.word("select, commit or rollback")
	w.done()
	switch what {
	case "select":
		return nil, s.ch.Tx()
	case "rollback":
		return nil, s.ch.Rollback()
	case "commit":
		returns, err := s.ch.Commit()
		var out []string
		for _, m := range returns {
			out = append(out, "return "+r.returned(m))
		}
		return out, err
	}
	fail("tx what: %s?", what)
	return nil, nil
}

func flow(r *run, s *session, w *words) ([]string, error) {
	what := w.word("on or off")
	w.done()
	if what != "on" && what != "off" {
		fail("flow what: %s?", what)
	}
	return nil, s.ch.Flow(what == "on")
}

func qos(r *run, s *session, w *words) ([]string, error) {
	word := w.word("a prefetch count")
	n, ok := whole(bare(word))
	if !ok {
		fail("qos: %s is no number", word)
	}
	cfg := leveret.QosConfig{PrefetchCount: int(n), Global: w.flag("global"), PrefetchSize: uint32(w.number("size", 0))}
	w.done()
	return nil, s.ch.Qos(cfg)
}

// advance lets time pass.
func advance(r *run, s *session, w *words) ([]string, error) {
	d := w.duration()
	w.done()
	r.driver.Advance(d)
	return nil, nil
}

func fieldOrder(r *run, s *session, w *words) ([]string, error) {
	w.done()
	r.render.fieldOrder = true
	return nil, nil
}
