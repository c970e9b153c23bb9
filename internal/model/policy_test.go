package model_test

import (
	"fmt"
	"regexp"
	"strings"
)

type mPolicy struct {
	name, pattern, applyTo string
	priority               float64
	definition             map[string]any
}

// best is the definition of the policy of one kind that applies to an object.
func (m *model) best(which int, name, kind string) map[string]any {
	if p := m.applied(which, name, kind); p != nil {
		return p.definition
	}
	return nil
}

// policyText changes whenever a policy change touches the queue.
func (m *model) policyText(q *mQueue) string {
	s := ""
	for which := range 2 {
		if p := m.applied(which, q.name, q.kind()); p != nil {
			s += fmt.Sprintf("%d %+v ", which, *p)
		}
	}
	return s
}

func (m *model) applied(which int, name, kind string) *mPolicy {
	var best *mPolicy
	for i := range m.policies[which] {
		p := &m.policies[which][i]
		switch p.applyTo {
		case "all":
		case "queues":
			if kind == "exchange" {
				continue
			}
		case "exchanges":
			if kind != "exchange" {
				continue
			}
		case "classic_queues":
			if kind != "classic" {
				continue
			}
		case "quorum_queues":
			if kind != "quorum" {
				continue
			}
		}
		if !regexp.MustCompile(p.pattern).MatchString(name) {
			continue
		}
		if kind == "classic" && (p.definition["delivery-limit"] != nil || p.definition["dead-letter-strategy"] != nil) {
			continue
		}
		if best == nil || p.priority > best.priority {
			best = p
		}
	}
	return best
}

func (q *mQueue) kind() string {
	if q.quorum {
		return "quorum"
	}
	return "classic"
}

// defined is what both policies together say about a key.
func (m *model) defined(q *mQueue, key string) any {
	p, o := m.best(0, q.name, q.kind())[key], m.best(1, q.name, q.kind())[key]
	if p == nil {
		return o
	}
	if o == nil {
		return p
	}
	switch key {
	case "message-ttl", "max-length", "max-length-bytes", "delayed-retry-max":
		return min(p.(int64), o.(int64))
	case "delayed-retry-min":
		return max(p.(int64), o.(int64))
	case "delivery-limit":
		return stricter(p.(int64), o.(int64))
	}
	return o
}

func stricter(a, b int64) int64 {
	if a < 0 || b < 0 {
		return max(a, b)
	}
	return min(a, b)
}

func (m *model) number(q *mQueue, key string) (int64, bool) {
	d, a := m.defined(q, key), q.args["x-"+key]
	switch {
	case d == nil && a == nil:
		return 0, false
	case d == nil:
		return a.(int64), true
	case a == nil:
		return d.(int64), true
	case key == "delivery-limit":
		return stricter(d.(int64), a.(int64)), true
	}
	return min(d.(int64), a.(int64)), true
}

func (m *model) text(q *mQueue, key, none string) string {
	d, a := m.defined(q, key), q.args["x-"+key]
	policyFirst := q.quorum && key == "overflow" || key == "delayed-retry-type"
	switch {
	case d == nil && a == nil:
		return none
	case d == nil || a != nil && !policyFirst:
		return a.(string)
	}
	return d.(string)
}

// dead is one of the two dead-letter names.
func (m *model) dead(q *mQueue, key string) (string, bool) {
	if a := q.args["x-"+key]; a != nil {
		return a.(string), true
	}
	if d := m.defined(q, key); d != nil {
		return d.(string), true
	}
	return "", false
}

func (m *model) alternate(x *mExchange) string {
	if x.alternate != "" {
		return x.alternate
	}
	if p := m.best(0, x.name, "exchange")["alternate-exchange"]; p != nil {
		return p.(string)
	}
	return "(none)"
}

// policiesChanged puts the policies in force on what waits.
func (m *model) policiesChanged(order []*mQueue) {
	for _, q := range order {
		was := q.pendingAllowed
		q.pendingAllowed = m.atLeastOnce(q)
		switch touched := m.policyText(q); {
		case was && !q.pendingAllowed:
			q.pending, q.lookAt = nil, 0
		case touched != q.policies && len(q.pending) > 0:
			q.hurried = true
			m.jobs = append(m.jobs, mJob{q: q})
		}
		q.policies = m.policyText(q)
		limits := m.limitText(q)
		if strings.Contains(q.limits, "true") && !strings.Contains(limits, "true") {
			m.tell(q, false)
		}
		if !q.quorum && strings.HasSuffix(q.limits, "drop-head") { // the new limits come before the new overflow
			m.cut(q)
		}
		q.limits = limits
		m.trim(q)
		m.expire(q)
		m.pump(q)
		m.updateRejecting(q)
	}
}

func (m *model) limitText(q *mQueue) string {
	n, okN := m.number(q, "max-length")
	bytes, okB := m.number(q, "max-length-bytes")
	return fmt.Sprint(n, okN, bytes, okB, m.text(q, "overflow", "drop-head"))
}
