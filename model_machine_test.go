package leveret_test

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"pgregory.net/rapid"
)

// The state machine: random operations on a broker and on the naive model, which must agree
// on every answer, every delivery and all that waits, after every step.

var machineStart = time.Unix(1_700_000_000, 0)

type machine struct {
	t     *rapid.T
	b     *leveret.Broker
	clk   *leveret.ManualClock
	m     *model
	conns [2]*clientConn
	hints []routeHint
	count int  // of messages and consumers, for unique names
	ended bool // two queues were due at one instant: no rule tells which acts first
}

type clientConn struct {
	conn  *leveret.Conn
	inbox *leveret.Inbox
	chs   [2]*clientChannel
}

type clientChannel struct {
	real  *leveret.Channel
	model *mChannel
	cc    *clientConn
}

// routeHint is the order in which the broker served the targets of one message.
type routeHint struct {
	body, queue, reason string
	order               []string
}

// TestModel makes a few hundred short runs; -rapid.checks and -rapid.steps ask for more.
func TestModel(t *testing.T) {
	for range max(scaled(500)/100, 1) {
		rapid.Check(t, runMachine)
	}
}

func runMachine(t *rapid.T) {
	s := &machine{t: t, clk: leveret.NewManualClock(machineStart)}
	s.m = newModel()
	s.m.order = s.inBrokerOrder
	s.b = leveret.New(leveret.WithClock(s.clk), leveret.WithSeed(1), leveret.WithEvents(&leveret.Events{
		Published: func(e leveret.PublishedEvent) {
			s.hints = append(s.hints, routeHint{body: string(e.Body), order: e.Queues})
		},
		DeadLettered: func(e leveret.DeadLetteredEvent) {
			s.hints = append(s.hints, routeHint{string(e.Body), e.Queue, string(e.Reason), e.Queues})
		},
	}))
	defer s.b.Close()
	for range 3 {
		s.declareQueue(t)
		s.declareExchange(t)
		s.bind(t)
	}
	actions := map[string]func(*rapid.T){
		"declare queue": s.declareQueue, "delete queue": s.deleteQueue, "purge": s.purge,
		"declare exchange": s.declareExchange, "delete exchange": s.deleteExchange,
		"bind": s.bind, "bind 2": s.bind, "unbind": s.unbind,
		"policy": s.setPolicy, "clear policy": s.clearPolicy,
		"publish": s.publish, "publish 2": s.publish, "publish 3": s.publish, "publish 4": s.publish, "publish 5": s.publish,
		"get": s.get, "get 2": s.get, "consume": s.consume, "consume 2": s.consume, "cancel": s.cancel,
		"settle": s.settle, "settle 2": s.settle, "settle 3": s.settle, "settle 4": s.settle, "recover": s.recover,
		"close channel": s.closeChannel, "close connection": s.closeConn,
		"tx": s.tx, "commit": s.commit, "rollback": s.rollback,
		"advance": s.advance, "advance 2": s.advance, "advance 3": s.advance,
	}
	for name, f := range actions {
		actions[name] = func(t *rapid.T) {
			if s.t = t; !s.ended {
				s.forward(1)
				f(t)
			}
		}
	}
	actions[""] = s.compare
	t.Repeat(actions)
}

func newModel() *model {
	m := &model{now: 1}
	for _, x := range [][2]string{{"", "direct"}, {"amq.direct", "direct"}, {"amq.fanout", "fanout"}, {"amq.topic", "topic"}, {"amq.headers", "headers"}, {"amq.match", "headers"}} {
		m.exchanges = append(m.exchanges, &mExchange{name: x[0], kind: x[1]})
	}
	return m
}

func (s *machine) inBrokerOrder(found []*mQueue) []*mQueue {
	at := func(q *mQueue) int {
		for _, h := range s.hints {
			if h.body == s.m.routing.body && h.queue == s.m.routing.queue && h.reason == s.m.routing.reason {
				if i := slices.Index(h.order, q.name); i >= 0 {
					return i
				}
				break
			}
		}
		return len(found)
	}
	sort.SliceStable(found, func(i, j int) bool { return at(found[i]) < at(found[j]) })
	for i, h := range s.hints {
		if h.body == s.m.routing.body && h.queue == s.m.routing.queue && h.reason == s.m.routing.reason {
			s.hints = slices.Delete(s.hints, i, i+1)
			break
		}
	}
	return found
}

func (s *machine) note(format string, args ...any) {
	s.t.Helper()
	s.t.Logf(format, args...)
}

// same fails unless the broker's answer is the model's.
func (s *machine) same(what string, got, want any) {
	s.t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		s.t.Fatalf("%s\n  broker: %s\n  model:  %s", what, g, w)
	}
}

func errText(err error) string {
	var e *leveret.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return fmt.Sprintf("%d %s", e.Code, e.Text())
	}
	return err.Error()
}

var queueNames = []string{"q0", "q1", "q2", "q3", "q4"}
var exchangeNames = []string{"x0", "x1", "x2"}
var allExchanges = []string{"", "x0", "x1", "x2", "amq.fanout", "amq.topic", "missing"}
var keys = []string{"q0", "q1", "q2", "q3", "q4", "a.b", "a.c.d", ""}
var bindingKeys = []string{"q0", "q1", "q2", "#", "*", "a.*", "a.#", "#.d", ""}

func pick[T any](t *rapid.T, label string, from ...T) T {
	return rapid.SampledFrom(from).Draw(t, label)
}

func chance(t *rapid.T, label string, percent int) bool {
	return rapid.IntRange(0, 99).Draw(t, label) >= 100-percent
}

func (s *machine) queueArgs(t *rapid.T, name string) map[string]any {
	i := int64(name[1] - '0')
	args := map[string]any{}
	if chance(t, "ttl?", 30) {
		args["x-message-ttl"] = pick(t, "ttl", 0, 700+13*i, 2500+17*i)
	}
	if chance(t, "max?", 30) {
		args["x-max-length"] = int64(rapid.IntRange(0, 4).Draw(t, "max"))
	}
	if chance(t, "bytes?", 15) {
		args["x-max-length-bytes"] = int64(rapid.IntRange(0, 30).Draw(t, "bytes"))
	}
	if chance(t, "overflow?", 30) {
		args["x-overflow"] = pick(t, "overflow", "drop-head", "reject-publish", "reject-publish-dlx")
	}
	if chance(t, "dlx?", 60) {
		args["x-dead-letter-exchange"] = pick(t, "dlx", "", "", "", "x0", "x1", "x2", "missing")
		if chance(t, "dlrk?", 60) {
			args["x-dead-letter-routing-key"] = pick(t, "dlrk", keys...)
		}
	}
	return args
}

func (s *machine) declareQueue(t *rapid.T) {
	q := &mQueue{name: pick(t, "queue", queueNames...), stopped: map[any]bool{}}
	if s.m.queue(q.name) != nil {
		return
	}
	q.args = s.queueArgs(t, q.name)
	q.quorum = chance(t, "quorum", 45)
	q.single = chance(t, "sac", 15)
	args := leveret.Table{}
	if q.quorum {
		args["x-queue-type"] = "quorum"
		if chance(t, "limit?", 30) {
			q.args["x-delivery-limit"] = int64(rapid.IntRange(-1, 2).Draw(t, "limit"))
		}
		if chance(t, "at-least-once", 35) {
			q.args["x-dead-letter-strategy"] = "at-least-once"
			q.args["x-overflow"] = "reject-publish"
		}
		if chance(t, "retry?", 20) {
			q.args["x-delayed-retry-type"] = pick(t, "retry", "all", "failed", "returned")
			q.args["x-delayed-retry-min"] = 900 + 19*int64(q.name[1]-'0')
			if chance(t, "retry max?", 50) {
				q.args["x-delayed-retry-max"] = 2100 + 23*int64(q.name[1]-'0')
			}
		}
	} else {
		q.autoDelete = chance(t, "auto-delete", 10)
		if chance(t, "priorities", 25) {
			q.maxPrio = rapid.IntRange(1, 5).Draw(t, "max priority")
			args["x-max-priority"] = int64(q.maxPrio)
		}
	}
	if q.single {
		args["x-single-active-consumer"] = true
	}
	for k, v := range q.args {
		args[k] = v
	}
	s.note("declare %s %v auto-delete=%v", q.name, args, q.autoDelete)
	_, err := s.b.DeclareQueue(q.name, leveret.QueueConfig{Durable: true, AutoDelete: q.autoDelete, Arguments: args})
	s.same("declare", errText(err), "")
	s.m.queues = append(s.m.queues, q)
	q.limits, q.policies, q.pendingAllowed = s.m.limitText(q), s.m.policyText(q), s.m.atLeastOnce(q)
}

func (s *machine) deleteQueue(t *rapid.T) {
	name := pick(t, "queue", queueNames...)
	s.note("delete %s", name)
	n, err := s.b.DeleteQueue(name, leveret.DeleteConfig{})
	s.same("delete", errText(err), "")
	want := 0
	if q := s.m.queue(name); q != nil {
		want = len(q.inOrder())
		s.m.deleteQueue(q)
	}
	s.same("deleted messages", n, want)
}

func (s *machine) purge(t *rapid.T) {
	name := pick(t, "queue", queueNames...)
	s.note("purge %s", name)
	n, err := s.b.PurgeQueue(name)
	q := s.m.queue(name)
	if q == nil {
		s.same("purge", errText(err), "404 NOT_FOUND - no queue '"+name+"' in vhost '/'")
		return
	}
	want, _ := q.length()
	q.ready, q.returned, q.delayed, q.pending = nil, nil, nil, nil
	s.m.updateRejecting(q)
	s.same("purged messages", n, want)
}

func (s *machine) declareExchange(t *rapid.T) {
	x := &mExchange{name: pick(t, "exchange", exchangeNames...)}
	if s.m.exchange(x.name) != nil {
		return
	}
	x.kind = pick(t, "kind", "direct", "fanout", "topic", "headers")
	x.autoDelete = chance(t, "auto-delete", 15)
	args := leveret.Table{}
	if chance(t, "alternate?", 30) {
		x.alternate = pick(t, "alternate", "x0", "x1", "x2", "amq.fanout", "missing")
		args["alternate-exchange"] = x.alternate
	}
	s.note("declare exchange %+v", *x)
	_, err := s.b.DeclareExchange(x.name, leveret.ExchangeType(x.kind), leveret.ExchangeConfig{AutoDelete: x.autoDelete, Arguments: args})
	s.same("declare exchange", errText(err), "")
	s.m.exchanges = append(s.m.exchanges, x)
}

func (s *machine) deleteExchange(t *rapid.T) {
	name := pick(t, "exchange", exchangeNames...)
	s.note("delete exchange %s", name)
	s.same("delete exchange", errText(s.b.DeleteExchange(name, leveret.DeleteConfig{})), "")
	if x := s.m.exchange(name); x != nil {
		s.m.deleteExchange(x)
	}
}

func (s *machine) bind(t *rapid.T) {
	x := s.m.exchange(pick(t, "exchange", "x0", "x1", "x2", "amq.fanout", "amq.topic"))
	b := mBinding{destKind: pick(t, "to", "queue", "queue", "exchange"), key: pick(t, "key", bindingKeys...)}
	if b.destKind == "queue" {
		b.dest = pick(t, "queue", queueNames...)
	} else {
		b.dest = pick(t, "exchange", exchangeNames...)
	}
	if x == nil || b.destKind == "queue" && s.m.queue(b.dest) == nil || b.destKind == "exchange" && s.m.exchange(b.dest) == nil {
		return
	}
	args := leveret.Table{}
	if x.kind == "headers" {
		b.args = map[string]string{"x-match": pick(t, "match", "all", "any"), "h": pick(t, "h", "1", "2")}
		for k, v := range b.args {
			args[k] = v
		}
	}
	s.note("bind %s to %+v", x.name, b)
	var err error
	if b.destKind == "queue" {
		err = s.b.BindQueue(b.dest, x.name, b.key, args)
	} else {
		err = s.b.BindExchange(b.dest, x.name, b.key, args)
	}
	s.same("bind", errText(err), "")
	for _, old := range x.bindings {
		if fmt.Sprint(old) == fmt.Sprint(b) {
			return
		}
	}
	x.bindings = append(x.bindings, b)
}

func (s *machine) unbind(t *rapid.T) {
	x := s.m.exchange(pick(t, "exchange", "x0", "x1", "x2", "amq.fanout", "amq.topic"))
	if x == nil || len(x.bindings) == 0 {
		return
	}
	b := pick(t, "binding", x.bindings...)
	args := leveret.Table{}
	for k, v := range b.args {
		args[k] = v
	}
	s.note("unbind %s from %+v", x.name, b)
	var err error
	if b.destKind == "queue" {
		err = s.b.UnbindQueue(b.dest, x.name, b.key, args)
	} else {
		err = s.b.UnbindExchange(b.dest, x.name, b.key, args)
	}
	s.same("unbind", errText(err), "")
	before := len(x.bindings)
	x.bindings = slices.DeleteFunc(x.bindings, func(o mBinding) bool { return fmt.Sprint(o) == fmt.Sprint(b) })
	s.m.bindingsLost(x, before)
}

func (s *machine) setPolicy(t *rapid.T) {
	which := 0
	if chance(t, "operator", 30) {
		which = 1
	}
	i := rapid.IntRange(0, 2).Draw(t, "policy")
	p := mPolicy{name: fmt.Sprint("p", i), pattern: pick(t, "pattern", "", "^q[0-2]", "[1-4]$", "q3", "^x"),
		applyTo: pick(t, "apply-to", "all", "queues", "classic_queues", "quorum_queues"), priority: float64(i), definition: map[string]any{}}
	for len(p.definition) == 0 {
		d := p.definition
		if chance(t, "ttl", 30) {
			d["message-ttl"] = pick[int64](t, "ttl", 450, 1900)
		}
		if chance(t, "max", 40) {
			d["max-length"] = int64(rapid.IntRange(0, 4).Draw(t, "max"))
		}
		if chance(t, "bytes", 20) {
			d["max-length-bytes"] = int64(rapid.IntRange(0, 25).Draw(t, "bytes"))
		}
		if chance(t, "overflow", 30) {
			d["overflow"] = pick(t, "overflow", "drop-head", "reject-publish", "reject-publish-dlx")
		}
		if chance(t, "limit", 15) {
			d["delivery-limit"] = int64(rapid.IntRange(-1, 2).Draw(t, "limit"))
		}
		if which == 1 {
			continue
		}
		if chance(t, "dlx", 40) {
			d["dead-letter-exchange"] = pick(t, "dlx", "", "x0", "x1")
		}
		if chance(t, "dlrk", 40) {
			d["dead-letter-routing-key"] = pick(t, "dlrk", keys...)
		}
		if p.applyTo == "all" && chance(t, "ae", 30) {
			d["alternate-exchange"] = pick(t, "ae", "x0", "x1", "amq.fanout")
		}
	}
	s.note("policy %d %+v", which, p)
	def := leveret.Table{}
	for k, v := range p.definition {
		def[k] = v
	}
	set := s.b.SetPolicy
	if which == 1 {
		set = s.b.SetOperatorPolicy
	}
	err := set(leveret.Policy{Name: p.name, Pattern: p.pattern, ApplyTo: leveret.ApplyTo(p.applyTo), Priority: p.priority, Definition: def})
	s.same("set policy", errText(err), "")
	s.dropPolicy(which, p.name)
	s.m.policies[which] = append(s.m.policies[which], p)
	s.reapply()
}

func (s *machine) dropPolicy(which int, name string) {
	s.m.policies[which] = slices.DeleteFunc(s.m.policies[which], func(p mPolicy) bool { return p.name == name })
}

func (s *machine) reapply() {
	queues := slices.Clone(s.m.queues)
	sort.Slice(queues, func(i, j int) bool { return queues[i].name < queues[j].name })
	s.m.policiesChanged(queues)
	s.m.drain()
}

func (s *machine) clearPolicy(t *rapid.T) {
	which := rapid.IntRange(0, 1).Draw(t, "which")
	if len(s.m.policies[which]) == 0 {
		return
	}
	name := s.m.policies[which][0].name
	s.note("clear policy %d %s", which, name)
	clear := s.b.ClearPolicy
	if which == 1 {
		clear = s.b.ClearOperatorPolicy
	}
	s.same("clear policy", errText(clear(name)), "")
	s.dropPolicy(which, name)
	s.reapply()
}

// channel returns an open channel on both sides.
func (s *machine) channel(t *rapid.T) *clientChannel {
	i, j := rapid.IntRange(0, 1).Draw(t, "connection"), rapid.IntRange(0, 1).Draw(t, "channel")
	cc := s.conns[i]
	if cc == nil {
		cc = &clientConn{inbox: leveret.NewInbox(leveret.InboxConfig{})}
		conn, err := s.b.Open(leveret.ConnConfig{User: "guest", VHost: "/", CancelNotify: true, Inbox: cc.inbox})
		s.same("open", errText(err), "")
		cc.conn = conn
		s.conns[i] = cc
	}
	if c := cc.chs[j]; c != nil && !c.model.closed {
		return c
	}
	s.count++
	real, err := cc.conn.OpenChannel(uint16(j + 1))
	s.same("open channel", errText(err), "")
	cc.chs[j] = &clientChannel{real, &mChannel{id: fmt.Sprintf("%d.%d", i, j+1), tags: map[string]*mConsumer{}}, cc}
	s.m.channels = append(s.m.channels, cc.chs[j].model)
	return cc.chs[j]
}

func (s *machine) message(t *rapid.T) (mMessage, leveret.Message) {
	s.count++
	msg := mMessage{body: fmt.Sprint("m", s.count), ttl: -1, priority: -1, size: 2}
	if chance(t, "long", 20) {
		msg.body += strings.Repeat("x", 8)
	}
	p := &leveret.Properties{}
	if chance(t, "expiration?", 35) {
		msg.ttl = pick[int64](t, "expiration", 0, 300, 1500, 60000)
		msg.expiration = strconv.FormatInt(msg.ttl, 10)
		p.Expiration = msg.expiration
		msg.size += int64(1 + len(msg.expiration))
	}
	if chance(t, "priority?", 30) {
		msg.priority = rapid.IntRange(1, 40).Draw(t, "priority")
		p.Priority = uint8(msg.priority)
		msg.size++
	}
	list := func(name string) []string {
		if !chance(t, name, 20) {
			return nil
		}
		return rapid.SliceOfN(rapid.SampledFrom(keys), 1, 3).Draw(t, name)
	}
	headers := leveret.Table{}
	msg.headers = map[string]string{}
	headerBytes := int64(4)
	if msg.cc = list("CC"); msg.cc != nil {
		headers["CC"] = msg.cc
		headerBytes += 3 + 1 + 4
		for _, k := range msg.cc {
			headerBytes += 1 + 4 + int64(len(k))
		}
	}
	if chance(t, "header", 30) {
		msg.headers["h"] = pick(t, "h", "1", "2")
		headers["h"] = msg.headers["h"]
		headerBytes += 2 + 1 + 4 + 1
	}
	if msg.bcc = list("BCC"); msg.bcc != nil {
		headers["BCC"] = msg.bcc
	}
	if len(headers) > 0 {
		msg.hasHeaders = true
		p.Headers = headers
		msg.size += headerBytes
	}
	return msg, leveret.Message{Properties: p, Body: []byte(msg.body), Mandatory: chance(t, "mandatory", 30)}
}

func (s *machine) publish(t *rapid.T) {
	c := s.channel(t)
	msg, real := s.message(t)
	msg.exchange = pick(t, "exchange", allExchanges...)
	key := pick(t, "key", keys...)
	if chance(t, "to a queue", 50) {
		msg.exchange = ""
	}
	msg.keys = append(append([]string{key}, msg.cc...), msg.bcc...)
	x := s.m.exchange(msg.exchange)
	if x != nil && msg.expiration != "" && len(s.m.route(x, &msg)) > 1 {
		msg.expiration, msg.ttl = "", -1 // two queues would expire it at one instant
		msg.size -= int64(1 + len(real.Properties.Expiration))
		real.Properties.Expiration = ""
	}
	s.note("%s publish %s to %q %q keys %v ttl %d prio %d %v", c.model.id, msg.body, msg.exchange, key, msg.keys, msg.ttl, msg.priority, msg.headers)
	out, err := c.real.Publish(msg.exchange, key, real)
	if x == nil {
		s.same("publish", errText(err), "404 NOT_FOUND - no exchange '"+msg.exchange+"' in vhost '/'")
		s.m.end(c.model)
		s.m.drain()
		return
	}
	s.same("publish", errText(err), "")
	s.m.routing = routeHint{body: msg.body}
	queues := s.m.route(x, &msg)
	s.same("queues", out.Queues, len(queues))
	if c.model.tx {
		c.model.txPubs = append(c.model.txPubs, mBuffered{msg, queues, real.Mandatory})
		return
	}
	s.same("returned", out.Return != nil, real.Mandatory && len(queues) == 0)
	s.same("rejected", out.Rejected, !s.m.enqueue(msg, queues, c.model))
	s.m.drain()
}

// enqueue reports whether all queues took the message.
func (m *model) enqueue(msg mMessage, queues []*mQueue, by any) bool {
	all := true
	for _, q := range queues {
		if m.queue(q.name) == q && !m.accept(msg, q, by) {
			all = false
		}
	}
	return all
}

func (s *machine) get(t *rapid.T) {
	c := s.channel(t)
	name := pick(t, "queue", queueNames...)
	noAck := chance(t, "no-ack", 20)
	s.note("%s get %s no-ack=%v", c.model.id, name, noAck)
	d, ok, err := c.real.Get(name, leveret.GetConfig{NoAck: noAck})
	q := s.m.queue(name)
	if q == nil || q.quorum && q.single {
		want := "404 NOT_FOUND - no queue '" + name + "' in vhost '/'"
		if q != nil {
			want = "405 RESOURCE_LOCKED - cannot obtain access to locked queue '" + name + "' in vhost '/'. basic.get operations are not supported by <<\"quorum\">> queues with single active consumer"
		}
		s.same("get", errText(err), want)
		s.m.end(c.model)
		s.m.drain()
		return
	}
	s.same("get", errText(err), "")
	all := q.inOrder()
	s.same("got", ok, len(all) > 0)
	if !ok {
		return
	}
	e := all[0]
	q.remove(e)
	want := s.m.hand(c.model, q, nil, e, s.m.redelivered(q, e), noAck)
	s.same("delivery", s.render(c.model.id, d), want.String())
	s.same("headers", headerText(d.HeaderFields()), want.headerText())
	s.m.expire(q)
	s.m.updateRejecting(q)
	s.m.drain()
	if q.quorum {
		s.same("remaining", d.MessageCount, len(all)-1)
	} else {
		s.same("remaining", d.MessageCount, len(q.inOrder()))
	}
}

func (s *machine) consume(t *rapid.T) {
	c := s.channel(t)
	name := pick(t, "queue", queueNames...)
	s.count++
	mc := &mConsumer{tag: fmt.Sprintf("%s%d", pick(t, "tag", "a", "m", "z"), s.count), ch: c.model, noAck: chance(t, "no-ack", 15),
		prefetch: pick(t, "prefetch", 1, 1, 2, 3, 0), seq: s.count}
	cfg := leveret.ConsumeConfig{Tag: mc.tag, NoAck: mc.noAck, Prefetch: mc.prefetch}
	if chance(t, "priority?", 30) {
		mc.priority = rapid.IntRange(-1, 2).Draw(t, "priority")
		cfg.Arguments = leveret.Table{"x-priority": int64(mc.priority)}
	}
	s.note("%s consume %s %s no-ack=%v prefetch=%d priority=%d", c.model.id, name, mc.tag, mc.noAck, mc.prefetch, mc.priority)
	_, err := c.real.Consume(name, cfg)
	q := s.m.queue(name)
	if q == nil {
		s.same("consume", errText(err), "404 NOT_FOUND - no queue '"+name+"' in vhost '/'")
		s.m.end(c.model)
		s.m.drain()
		return
	}
	s.same("consume", errText(err), "")
	mc.q = q
	c.model.tags[mc.tag] = mc
	q.consumers = append(q.consumers, mc)
	q.rotation = append(q.rotation, mc)
	s.m.chooseActive(q)
	s.m.left(q)
	s.m.drain()
}

func (s *machine) cancel(t *rapid.T) {
	c := s.channel(t)
	var tags []string
	for tag := range c.model.tags {
		tags = append(tags, tag)
	}
	if len(tags) == 0 {
		return
	}
	sort.Strings(tags)
	tag := pick(t, "tag", tags...)
	s.note("%s cancel %s", c.model.id, tag)
	s.same("cancel", errText(c.real.Cancel(tag)), "")
	mc := c.model.tags[tag]
	delete(c.model.tags, tag)
	s.m.leave(mc)
	s.m.left(mc.q)
	s.m.drain()
}

func (s *machine) settle(t *rapid.T) {
	c := s.channel(t)
	how := pick(t, "how", "ack", "nack+", "nack-", "rej+", "rej-")
	multiple := how != "rej+" && how != "rej-" && chance(t, "multiple", 30)
	tag := rapid.IntRange(0, c.model.nextTag+1).Draw(t, "tag")
	if len(c.model.unacked) > 0 && chance(t, "good", 95) {
		tag = pick(t, "outstanding", c.model.unacked...).tag
	} else if !chance(t, "bad", 20) {
		return
	}
	s.note("%s %s %d multiple=%v", c.model.id, how, tag, multiple)
	var err error
	switch how {
	case "ack":
		err = c.real.Ack(uint64(tag), multiple)
	case "nack+", "nack-":
		err = c.real.Nack(uint64(tag), multiple, how == "nack+")
	default:
		err = c.real.Reject(uint64(tag), how == "rej+")
	}
	us, ok := c.model.take(tag, multiple)
	if !ok {
		s.same("settle", errText(err), fmt.Sprintf("406 PRECONDITION_FAILED - unknown delivery tag %d", tag))
		s.m.end(c.model)
		s.m.drain()
		return
	}
	s.same("settle", errText(err), "")
	if c.model.tx {
		c.model.txAcks = append(c.model.txAcks, mSettled{us, how})
		return
	}
	s.m.settle(us, how)
	s.m.drain()
}

// take removes the deliveries that an acknowledgement of the tag is about.
func (ch *mChannel) take(tag int, multiple bool) (us []*mUnacked, ok bool) {
	var rest []*mUnacked
	ok = multiple && tag == 0
	for _, u := range ch.unacked {
		if u.tag == tag {
			ok = true
		}
		if u.tag == tag || multiple && (u.tag < tag || tag == 0) {
			us = append(us, u)
		} else {
			rest = append(rest, u)
		}
	}
	if ok {
		ch.unacked = rest
	}
	return us, ok
}

func (s *machine) recover(t *rapid.T) {
	c := s.channel(t)
	if c.model.tx {
		return
	}
	s.note("%s recover", c.model.id)
	s.same("recover", errText(c.real.Recover(true)), "")
	us := c.model.unacked
	c.model.unacked = nil
	s.m.settle(us, "nack+")
	s.m.drain()
}

func (s *machine) closeChannel(t *rapid.T) {
	c := s.channel(t)
	if !chance(t, "really", 50) {
		return
	}
	s.note("%s close", c.model.id)
	s.same("close", errText(c.real.Close()), "")
	s.m.end(c.model)
	s.m.drain()
}

func (s *machine) closeConn(t *rapid.T) {
	c := s.channel(t)
	if !chance(t, "really", 30) {
		return
	}
	i := slices.Index(s.conns[:], c.cc)
	s.note("close connection %d", i)
	s.same("close", errText(c.cc.conn.Close()), "")
	var chs []*mChannel
	for _, c := range c.cc.chs {
		if c != nil {
			chs = append(chs, c.model)
		}
	}
	s.m.end(chs...)
	s.m.drain()
	s.conns[i] = nil
	s.m.out = slices.DeleteFunc(s.m.out, func(d mDelivery) bool { return strings.HasPrefix(d.channel, fmt.Sprint(i, ".")) })
}

func (s *machine) tx(t *rapid.T) {
	c := s.channel(t)
	if !chance(t, "really", 30) {
		return
	}
	s.note("%s tx", c.model.id)
	s.same("tx", errText(c.real.Tx()), "")
	c.model.tx = true
}

func (s *machine) commit(t *rapid.T) {
	c := s.channel(t)
	if !c.model.tx {
		return
	}
	s.note("%s commit", c.model.id)
	returns, err := c.real.Commit()
	want, all := 0, true
	pubs, acks := c.model.txPubs, c.model.txAcks
	c.model.txPubs, c.model.txAcks = nil, nil
	for _, p := range pubs {
		if len(p.queues) == 0 && p.mandatory {
			want++
		}
		if !s.m.enqueue(p.m, p.queues, c.model) {
			all = false
		}
	}
	for _, a := range acks {
		s.m.settle(a.us, a.how)
	}
	s.m.drain()
	s.same("returns", len(returns), want)
	if !all {
		s.same("commit", errText(err), "406 PRECONDITION_FAILED - partial tx completion")
		s.m.end(c.model)
		s.m.drain()
		return
	}
	s.same("commit", errText(err), "")
}

func (s *machine) rollback(t *rapid.T) {
	c := s.channel(t)
	if !c.model.tx {
		return
	}
	s.note("%s rollback", c.model.id)
	s.same("rollback", errText(c.real.Rollback()), "")
	for _, a := range c.model.txAcks {
		c.model.unacked = append(c.model.unacked, a.us...)
	}
	sort.Slice(c.model.unacked, func(i, j int) bool { return c.model.unacked[i].tag < c.model.unacked[j].tag })
	c.model.txPubs, c.model.txAcks = nil, nil
}

func (s *machine) advance(t *rapid.T) {
	s.forward(int64(pick(t, "ms", 10, 300, 500, 1000, 2500, 5000, 100_000)))
}

// forward moves time on, from one thing that is due to the next.
func (s *machine) forward(ms int64) {
	end := s.m.now + ms
	if end > consumerTimeout {
		s.ended = true
	}
	for !s.ended {
		at, due := s.m.nextDue()
		if at == 0 || at > end {
			break
		}
		if len(due) > 1 {
			s.ended = true
			return
		}
		s.note("at %d: %s is due", at, due[0].name)
		s.clk.Advance(time.Duration(at-s.m.now) * time.Millisecond)
		s.m.now = at
		s.m.wake(due[0])
		s.m.drain()
		s.compare(s.t)
	}
	s.clk.Advance(time.Duration(end-s.m.now) * time.Millisecond)
	s.m.now = end
}

// compare looks at everything.
func (s *machine) compare(t *rapid.T) {
	s.t = t
	if s.ended {
		return
	}
	if err := s.b.Check(); err != nil {
		t.Fatal(err)
	}
	for i, cc := range s.conns {
		if cc == nil {
			continue
		}
		var want []mDelivery
		for _, d := range s.m.out {
			if strings.HasPrefix(d.channel, fmt.Sprint(i, ".")) {
				want = append(want, d)
			}
		}
		n := 0
		for _, note := range cc.inbox.Take(nil) {
			if note.Kind != leveret.Delivered {
				continue
			}
			got := s.render(fmt.Sprintf("%d.%d", i, note.Channel.Number()), note.Delivery)
			if n == len(want) {
				t.Fatalf("the broker delivered also %s", got)
			}
			s.same("delivery", got, want[n].String())
			s.same("headers", headerText(note.Delivery.HeaderFields()), want[n].headerText())
			n++
		}
		if n < len(want) {
			t.Fatalf("the broker did not deliver %s", want[n])
		}
	}
	s.m.out, s.hints = nil, nil
	s.compareQueues(t)
	at, ok := s.b.NextDeadline()
	want := s.m.nextDeadline()
	s.same("next deadline is set", ok, want != 0)
	if ok {
		s.same("next deadline", s.ms(at), want)
	}
}

func (s *machine) ms(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Sub(machineStart).Milliseconds() + 1
}

const consumerTimeout = 1_800_000

// nextDeadline includes the consumers' timeouts, which the machine never reaches.
func (m *model) nextDeadline() int64 {
	at, _ := m.nextDue()
	for _, ch := range m.channels {
		us := slices.Clone(ch.unacked)
		for _, a := range ch.txAcks {
			us = append(us, a.us...)
		}
		for _, u := range us {
			if t := u.at + consumerTimeout; m.queue(u.q.name) == u.q && u.q.quorum && (at == 0 || t < at) {
				at = t
			}
		}
	}
	return at
}

func (s *machine) compareQueues(t *rapid.T) {
	infos := s.b.Queues()
	s.same("queues", len(infos), len(s.m.queues))
	for _, i := range infos {
		q := s.m.queue(i.Name)
		if q == nil {
			t.Fatalf("queue %s should be gone", i.Name)
		}
		n, _ := q.length()
		unacked := 0
		for _, ch := range s.m.channels {
			for _, u := range ch.unacked {
				if u.q == q {
					unacked++
				}
			}
			for _, a := range ch.txAcks {
				for _, u := range a.us {
					if u.q == q {
						unacked++
					}
				}
			}
		}
		s.same(i.Name+" ready, unacked, messages", []int{i.Ready, i.Unacked, i.Messages}, []int{len(q.inOrder()), unacked, int(n) + unacked})
		real, err := s.b.Queue(i.Name)
		s.same("queue", errText(err), "")
		var got, want []string
		for _, r := range real.Messages() {
			got = append(got, fmt.Sprintf("%s from %q %q redelivered=%v until %d %s", r.Body, r.Exchange, r.RoutingKey, r.Redelivered, s.ms(r.Deadline), realDeathText(r.Deaths)))
		}
		for _, e := range q.inOrder() {
			want = append(want, fmt.Sprintf("%s from %q %q redelivered=%v until %d %s", e.body, e.exchange, e.keys[0], s.m.redelivered(q, e), e.expires, deathText(e.deaths)))
		}
		s.same("messages of "+i.Name, strings.Join(got, "\n          "), strings.Join(want, "\n          "))
	}
}

func realDeathText(ds []leveret.Death) string {
	var s []string
	for _, d := range ds {
		s = append(s, fmt.Sprintf("%s/%s x%d at %d from %q %v exp %q", d.Queue, d.Reason, d.Count, d.Time.Unix()-machineStart.Unix(), d.Exchange, d.RoutingKeys, d.OriginalExpiration))
	}
	return "[" + strings.Join(s, "; ") + "]"
}

func (s *machine) render(channel string, d *leveret.Delivery) string {
	number := func(name string) int {
		if v, ok := d.HeaderFields().Get(name); ok {
			return int(v.(int64))
		}
		return -1
	}
	return fmt.Sprintf("%s %s#%d %s from %q %q redelivered=%v acquired=%d failed=%d %s", channel, d.ConsumerTag, d.DeliveryTag,
		d.Body, d.Exchange, d.RoutingKey, d.Redelivered, number("x-acquired-count"), number("x-delivery-count"), realDeathText(d.Deaths()))
}

// headerText writes headers out, entry by entry in their order.
func headerText(fs leveret.Fields) string {
	var s []string
	for _, f := range fs {
		s = append(s, f.Name+"="+valueText(f.Value))
	}
	return strings.Join(s, " ")
}

func valueText(v any) string {
	switch v := v.(type) {
	case leveret.Fields:
		return "{" + headerText(v) + "}"
	case leveret.Table:
		fs, _ := v.Fields()
		return "{" + headerText(fs) + "}"
	case []any:
		var s []string
		for _, e := range v {
			s = append(s, valueText(e))
		}
		return "[" + strings.Join(s, ",") + "]"
	case time.Time:
		return fmt.Sprint("T", v.Unix())
	}
	return fmt.Sprintf("%T:%v", v, v)
}

// headerText is what the headers of a delivery should be.
func (d mDelivery) headerText() string {
	h := leveret.Fields{}
	add := func(name string, v any) { h = append(h, leveret.Field{Name: name, Value: v}) }
	list := func(ss []string) []any {
		vs := []any{}
		for _, s := range ss {
			vs = append(vs, s)
		}
		return vs
	}
	if d.m.cc != nil {
		add("CC", list(d.m.cc))
	}
	if v, ok := d.m.headers["h"]; ok {
		add("h", v)
	}
	if d.acquired >= 0 {
		add("x-acquired-count", int64(d.acquired))
	}
	if len(d.m.deaths) > 0 {
		var table []any
		for _, e := range d.m.deaths {
			var f leveret.Fields
			if e.expiration != "" {
				f = append(f, leveret.Field{Name: "original-expiration", Value: e.expiration})
			}
			f = append(f, leveret.Field{Name: "count", Value: e.count}, leveret.Field{Name: "reason", Value: e.reason}, leveret.Field{Name: "queue", Value: e.queue},
				leveret.Field{Name: "time", Value: machineStart.Add(time.Duration(e.at-1) * time.Millisecond)},
				leveret.Field{Name: "exchange", Value: e.exchange}, leveret.Field{Name: "routing-keys", Value: list(e.keys)})
			table = append(table, f)
		}
		add("x-death", table)
	}
	if d.failed >= 0 {
		add("x-delivery-count", int64(d.failed))
	}
	if len(d.m.deaths) > 0 {
		for _, which := range []struct {
			name string
			v    [3]string
		}{{"first", d.m.first}, {"last", d.m.last}} {
			add("x-"+which.name+"-death-exchange", which.v[2])
			add("x-"+which.name+"-death-queue", which.v[1])
			add("x-"+which.name+"-death-reason", which.v[0])
		}
	}
	sort.SliceStable(h, func(i, j int) bool { return h[i].Name < h[j].Name })
	return headerText(h)
}
