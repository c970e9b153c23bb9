package model_test

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/leveretmq/leveret"
	"pgregory.net/rapid"
)

// What the state machine's clients do on their channels, and the passing of time.

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

// failed is what follows an error that closes a channel: its client knows at once.
func (s *machine) failed(c *clientChannel) {
	c.real.Close()
	s.m.broken(c.model)
	s.m.end(c.model)
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
	s.note("%s publish %s to %q %q keys %v ttl %d prio %d %v", c.model.id, msg.body, msg.exchange, key, msg.keys, msg.ttl,
		msg.priority, msg.headers)
	out, err := c.real.Publish(msg.exchange, key, real)
	if x == nil {
		s.same("publish", errText(err), "404 NOT_FOUND - no exchange '"+msg.exchange+"' in vhost '/'")
		s.failed(c)
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
			want = "405 RESOURCE_LOCKED - cannot obtain access to locked queue '" + name +
				"' in vhost '/'. basic.get operations are not supported by <<\"quorum\">> queues with single active consumer"
		}
		s.same("get", errText(err), want)
		s.failed(c)
		s.m.drain()
		return
	}
	s.same("get", errText(err), "")
	q.attach(c.model)
	all := q.inOrder()
	s.same("got", ok, len(all) > 0)
	if !ok {
		return
	}
	e := all[0]
	q.remove(e)
	want := s.m.hand(c.model, q, nil, e, s.m.redelivered(q, e), noAck)
	s.same("delivery", s.render(c.model.id, d), want.String())
	s.same("headers", headerText(d.WireHeaders()), want.headerText())
	s.m.expire(q)
	s.m.updateRejecting(q)
	s.m.drain()
	if q.quorum && !noAck { // without an acknowledgement the next heads expire before it counts
		s.same("remaining", d.MessageCount, len(all)-1)
	} else {
		s.same("remaining", d.MessageCount, len(q.inOrder()))
	}
}

// buffer keeps a settlement for the commit: those of one kind that follow each other are one, in the order of their
// tags.
func (ch *mChannel) buffer(us []*mUnacked, how string) {
	if n := len(ch.txAcks); n > 0 && ch.txAcks[n-1].how == how {
		last := &ch.txAcks[n-1]
		last.us = append(last.us, us...)
		slices.SortFunc(last.us, func(a, b *mUnacked) int { return a.tag - b.tag })
		return
	}
	ch.txAcks = append(ch.txAcks, mSettled{us, how})
}

func (s *machine) consume(t *rapid.T) {
	c := s.channel(t)
	name := pick(t, "queue", queueNames...)
	s.count++
	mc := &mConsumer{tag: fmt.Sprintf("%s%d", pick(t, "tag", "a", "m", "z"), s.count), ch: c.model,
		noAck:    chance(t, "no-ack", 15),
		prefetch: pick(t, "prefetch", 1, 1, 2, 3, 0), seq: s.count}
	cfg := leveret.ConsumeConfig{Tag: mc.tag, NoAck: mc.noAck, Prefetch: mc.prefetch}
	if chance(t, "priority?", 30) {
		mc.priority = rapid.IntRange(-1, 2).Draw(t, "priority")
		cfg.Arguments = leveret.Table{"x-priority": int64(mc.priority)}
	}
	s.note("%s consume %s %s no-ack=%v prefetch=%d priority=%d", c.model.id, name, mc.tag, mc.noAck, mc.prefetch,
		mc.priority)
	_, err := c.real.Consume(name, cfg)
	q := s.m.queue(name)
	if q == nil {
		s.same("consume", errText(err), "404 NOT_FOUND - no queue '"+name+"' in vhost '/'")
		s.failed(c)
		s.m.drain()
		return
	}
	s.same("consume", errText(err), "")
	q.attach(c.model)
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
		s.failed(c)
		s.m.drain()
		return
	}
	s.same("settle", errText(err), "")
	if c.model.tx {
		c.model.buffer(us, how)
		return
	}
	s.m.settle(us, how)
	s.m.drain()
}

func (s *machine) recover(t *rapid.T) {
	c := s.channel(t)
	if c.model.tx {
		return
	}
	s.note("%s recover", c.model.id)
	s.same("recover", errText(c.real.Recover()), "")
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
	s.note("close connection %d", slices.Index(s.conns[:], c.cc))
	s.same("close", errText(c.cc.conn.Close()), "")
	s.connEnded(c.cc)
}

// connEnded is the end of a connection by whatever cause.
func (s *machine) connEnded(cc *clientConn) {
	i := slices.Index(s.conns[:], cc)
	var chs []*mChannel
	for _, c := range cc.chs {
		if c != nil {
			chs = append(chs, c.model)
		}
	}
	s.m.end(chs...)
	s.m.drain()
	s.conns[i] = nil
	ended := func(d mDelivery) bool { return strings.HasPrefix(d.channel, fmt.Sprint(i, ".")) }
	s.m.out = slices.DeleteFunc(s.m.out, ended)
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
	defer func() { c.model.ended = nil }()
	fails := slices.ContainsFunc(pubs, func(p mBuffered) bool { _, _, text := s.m.committed(c.model, p); return text != "" })
	sent := s.m.sendsAll(c.model)
	if !fails {
		s.m.settleThose(acks, true)
	}
	for _, p := range pubs {
		queues, lost, text := s.m.committed(c.model, p)
		if text != "" {
			c.model.txAcks = acks // they are not settled
			sent()
			s.m.drain()
			s.same("commit", errText(err), text)
			s.m.broken(c.model)
			s.m.end(c.model) // E-8: before the connection's other channels
			s.connEnded(c.cc)
			return
		}
		if len(p.queues) == 0 && p.mandatory {
			want++
		}
		s.m.routing = routeHint{body: p.m.body}
		for _, q := range s.m.order(queues) { // a quorum queue's refusal is not noticed
			if !s.m.enqueue(p.m, []*mQueue{q}, c.model) && !q.quorum {
				all = false
			}
		}
		all = all && !lost
	}
	s.m.settleThose(acks, false)
	sent()
	s.m.drain()
	s.same("returns", len(returns), want)
	if !all {
		s.same("commit", errText(err), "406 PRECONDITION_FAILED - partial tx completion")
		s.failed(c)
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
	c.model.txPubs, c.model.txAcks, c.model.ended = nil, nil, nil
}
