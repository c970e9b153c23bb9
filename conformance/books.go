package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
)

// books are what the generator knows of a channel.
type books struct {
	held       []string // messages in hand
	received   int      // messages so far: the last one's delivery tag, if no other channel got any by the same statements
	settled    []string // in a transaction that may be rolled back
	tags       []string // of consumers there have been
	confirms   bool
	transacted bool
}

// book returns the books of a channel.
func (g *generator) book(actor string) *books {
	b := g.channels[actor]
	if b == nil {
		b = &books{}
		g.channels[actor] = b
	}
	return b
}

// do runs a statement on a channel and keeps the books: what it received, and that an error lost all.
func (g *generator) do(actor, statement string) (seen []string, ok bool) {
	if seen, ok = g.add("@%s %s", actor, statement); !ok {
		return seen, false
	}
	for _, s := range seen {
		if strings.Contains(s, "closed:") {
			g.forget(actor, strings.HasPrefix(s, "connection"))
		}
	}
	for _, s := range g.shown {
		g.book(actor).receive(s)
	}
	return seen, true
}

// receive notes a message that a script shows so.
func (b *books) receive(text string) {
	if body := bodyOf(text); strings.HasPrefix(body, "m") {
		b.held = append(b.held, body)
		b.received++
	}
}

// forget drops the books of a channel that has ended, or of all channels of its connection.
func (g *generator) forget(actor string, connection bool) {
	for a := range g.channels {
		if a == actor || connection && connectionOf(a) == connectionOf(actor) {
			delete(g.channels, a)
		}
	}
}

// connectionOf returns the connection of a channel; empty: the first one.
func connectionOf(actor string) string {
	conn, _, ok := strings.Cut(actor, ".")
	if !ok {
		return ""
	}
	return conn
}

// holder returns a channel with messages in hand; empty: there is none.
func (g *generator) holder() string {
	var actors []string
	for _, a := range slices.Sorted(maps.Keys(g.channels)) {
		if len(g.channels[a].held) > 0 {
			actors = append(actors, a)
		}
	}
	if len(actors) == 0 {
		return ""
	}
	outside := func(a string) bool { return !g.channels[a].transacted }
	if some := slices.DeleteFunc(slices.Clone(actors), outside); len(some) > 0 && !g.one(3) {
		return g.pick(some...)
	}
	return g.pick(actors...)
}

// tag returns a tag for a new consumer: one of its own, or one that a consumer of the channel had before. RabbitMQ
// 3.10's channel crashes later when a quorum queue has seen a tag again.
func (g *generator) tag(actor string) string {
	b := g.book(actor)
	inUse := func(tag string) bool { _, there := g.subscribed[tag]; return there }
	if old := slices.DeleteFunc(slices.Clone(b.tags), inUse); len(old) > 0 && g.profile == leveret.RabbitMQ43 && g.one(2) {
		return g.pick(old...)
	}
	if taken := slices.DeleteFunc(slices.Clone(b.tags), func(tag string) bool { return !inUse(tag) }); len(taken) > 0 && g.one(40) {
		return g.pick(taken...) // this ends the connection
	}
	return g.newTag(actor)
}

// newTag returns a tag that no consumer has had.
func (g *generator) newTag(actor string) string {
	b := g.book(actor)
	g.consumers++
	letter := g.pick("", "a", "b", "c") // so that tags are not in the order of subscription
	tag := fmt.Sprintf("%s_%s%d", channelOf(actor), letter, g.consumers)
	b.tags = append(b.tags, tag)
	return tag
}

// channelOf returns a channel's name on its connection.
func channelOf(actor string) string {
	if _, name, ok := strings.Cut(actor, "."); ok {
		return name
	}
	return actor
}

// transactions returns the channels that have transactions.
func (g *generator) transactions() []string {
	var out []string
	for _, a := range slices.Sorted(maps.Keys(g.channels)) {
		if g.channels[a].transacted {
			out = append(out, a)
		}
	}
	return out
}
