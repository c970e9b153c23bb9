package model_test

import (
	"slices"
	"strings"
)

// The model's exchanges, bindings and policies.

type mExchange struct {
	name, kind string
	alternate  string // "": none
	autoDelete bool
	bindings   []mBinding
}

type mBinding struct {
	destKind, dest string
	key            string
	args           map[string]string
}

func (m *model) exchange(name string) *mExchange {
	for _, x := range m.exchanges {
		if x.name == name {
			return x
		}
	}
	return nil
}

// route is the set of queues that a message published to x reaches.
func (m *model) route(x *mExchange, msg *mMessage) []*mQueue {
	var found []*mQueue
	add := func(name string) {
		if q := m.queue(name); q != nil && !slices.Contains(found, q) {
			found = append(found, q)
		}
	}
	if x.name == "" {
		for _, k := range msg.keys {
			add(k)
		}
	} else {
		work := []*mExchange{x}
		for i := 0; i < len(work); i++ {
			matched := false
			for _, b := range work[i].bindings {
				if !work[i].matches(b, msg) {
					continue
				}
				matched = true
				if b.destKind == "queue" {
					add(b.dest)
				} else if next := m.exchange(b.dest); next != nil && !slices.Contains(work, next) {
					work = append(work, next)
				}
			}
			if alt := m.exchange(m.alternate(work[i])); !matched && alt != nil && !slices.Contains(work, alt) {
				work = append(work, alt)
			}
		}
	}
	return m.order(found)
}

func (x *mExchange) matches(b mBinding, msg *mMessage) bool {
	switch x.kind {
	case "fanout":
		return true
	case "direct":
		return slices.Contains(msg.keys, b.key)
	case "topic":
		for _, k := range msg.keys {
			if topicMatches(words(b.key), words(k)) {
				return true
			}
		}
		return false
	}
	any := b.args["x-match"] == "any"
	for k, v := range b.args {
		if strings.HasPrefix(k, "x-") {
			continue
		}
		equal := msg.headers[k] == v
		if any && equal {
			return true
		}
		if !any && !equal {
			return false
		}
	}
	return !any
}

func words(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ".")
}

func topicMatches(pattern, key []string) bool {
	switch {
	case len(pattern) == 0:
		return len(key) == 0
	case pattern[0] == "#":
		return topicMatches(pattern[1:], key) || len(key) > 0 && topicMatches(pattern, key[1:])
	case len(key) == 0:
		return false
	}
	return (pattern[0] == "*" || pattern[0] == key[0]) && topicMatches(pattern[1:], key[1:])
}

// unbindAll removes the bindings to something that is gone, and the auto-delete exchanges
// that lose their last binding by it.
func (m *model) unbindAll(kind, name string) {
	for _, x := range slices.Clone(m.exchanges) {
		before := len(x.bindings)
		x.bindings = slices.DeleteFunc(x.bindings, func(b mBinding) bool { return b.destKind == kind && b.dest == name })
		m.bindingsLost(x, before)
	}
}

func (m *model) bindingsLost(x *mExchange, before int) {
	if x.autoDelete && before > 0 && len(x.bindings) == 0 && m.exchange(x.name) == x {
		m.deleteExchange(x)
	}
}

func (m *model) deleteExchange(x *mExchange) {
	m.exchanges = slices.DeleteFunc(m.exchanges, func(y *mExchange) bool { return y == x })
	m.unbindAll("exchange", x.name)
}
