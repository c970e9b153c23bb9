package model_test

import (
	"fmt"
	"slices"
	"sort"

	"github.com/leveretmq/leveret"
	"pgregory.net/rapid"
)

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
	q.ready, q.returned, q.delayed, q.next = nil, nil, nil, nil
	for _, p := range q.pending {
		p.purged = true
	}
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
	_, err := s.b.DeclareExchange(x.name, leveret.ExchangeType(x.kind),
		leveret.ExchangeConfig{AutoDelete: x.autoDelete, Arguments: args})
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
	if x == nil || b.destKind == "queue" && s.m.queue(b.dest) == nil ||
		b.destKind == "exchange" && s.m.exchange(b.dest) == nil {
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
		applyTo: pick(t, "apply-to", "all", "queues", "classic_queues", "quorum_queues"), priority: float64(i),
		definition: map[string]any{}}
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
	err := set(leveret.Policy{Name: p.name, Pattern: p.pattern, ApplyTo: leveret.ApplyTo(p.applyTo),
		Priority: p.priority, Definition: def})
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
