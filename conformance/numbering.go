package conformance

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// What several queues deliver to one channel at the same time is numbered in any order. Each queue's deliveries are
// compared, apart and in their order; a delivery tag is not, and nothing is settled by one that could be any queue's.

// A numbering is what is not known of a channel's delivery tags.
type numbering struct {
	spans []span         // of tags that messages of several queues have, in any order
	names map[string]int // of these messages, how many there are of each name
}

// A span of delivery tags. They begin with 1: the zero span has none.
type span struct{ first, last uint64 }

// with returns the span with one more tag.
func (s span) with(tag uint64) span {
	if s.first == 0 {
		return span{tag, tag}
	}
	return span{min(s.first, tag), max(s.last, tag)}
}

// has reports whether what a settlement of a tag means depends on the order within the span: which message it is, or which
// are before it, or whether it is settled already.
func (s span) has(tag uint64) bool { return s.first <= tag && tag <= s.last }

// mixed reports whether the last statement had several queues deliver to a channel.
func (g *program) mixed(actor string) bool { return len(g.effects.served[actor]) > 1 }

// seeDeliveries adds the looks at what consumers of a channel received.
func (g *program) seeDeliveries(actor string, tags []string) (seen []string) {
	if !g.mixed(actor) {
		for _, tag := range tags {
			seen = append(seen, g.must("@%s deliveries %s numbered", actor, tag)...)
		}
		g.numberings[actor].keep(seen)
		return seen
	}
	byQueue := map[string][]string{}
	for _, tag := range tags {
		queue := g.effects.sources[tag]
		byQueue[queue] = append(byQueue[queue], tag)
	}
	for _, queue := range slices.Sorted(maps.Keys(byQueue)) {
		seen = append(seen, g.must("@%s deliveries %s", actor, strings.Join(byQueue[queue], " "))...)
	}
	if g.numberings[actor] == nil {
		g.numberings[actor] = &numbering{}
	}
	g.numberings[actor].lose(seen, g.effects.numbers[actor])
	return seen
}

// lose notes messages whose tags are not known.
func (n *numbering) lose(seen []string, s span) {
	n.spans = append(n.spans, s)
	names := map[string]int{}
	for _, text := range seen {
		names[bodyOf(text)]++
	}
	if n.names == nil {
		n.names = map[string]int{}
	}
	maps.Copy(n.names, names)
}

// keep notes messages whose tags are known.
func (n *numbering) keep(seen []string) {
	if n == nil {
		return
	}
	for _, text := range seen {
		delete(n.names, bodyOf(text))
	}
}

// bodyOf returns the body of a message as a script shows it.
func bodyOf(text string) string {
	body, _, _ := strings.Cut(text, " ")
	return body
}

// forgetNumberings forgets the channels that the last statement ended: tags begin with 1 again.
func (g *program) forgetNumberings() {
	last := g.stage.Script.Steps[len(g.stage.Script.Steps)-1]
	closed := func(s string) bool { return strings.HasPrefix(s, "channel closed") }
	if last.Verb == "close" || slices.ContainsFunc(last.Want("4.3"), closed) {
		delete(g.numberings, last.Actor)
	}
	if !g.connectionEnds() {
		return
	}
	ended := connectionOf(last.Actor)
	switch {
	case last.Verb == "delete-user":
		ended = connectionOf(samActor)
	case len(last.Args) > 0 && (last.Verb == "kill" || last.Verb == "disconnect"):
		ended = last.Args[0].Text
	}
	maps.DeleteFunc(g.numberings, func(actor string, _ *numbering) bool { return connectionOf(actor) == ended })
}

// settlesAnyQueues reports whether which messages the last statement settles depends on how several queues' deliveries
// were numbered.
func (g *program) settlesAnyQueues() bool {
	last := g.stage.Script.Steps[len(g.stage.Script.Steps)-1]
	n := g.numberings[last.Actor]
	words := strings.Fields(g.statements[len(g.statements)-1])
	if n == nil || len(words) < 3 || !slices.Contains([]string{"ack", "nack", "reject"}, last.Verb) {
		return false
	}
	multiple := slices.Contains(words, "multiple")
	tag, err := strconv.ParseUint(strings.TrimPrefix(words[2], "#"), 10, 64)
	if err != nil {
		several := n.names[words[2]]
		return several > 1 || several == 1 && (multiple || len(last.Want("4.3")) > 0) // an error names the tag
	}
	return slices.ContainsFunc(n.spans, func(s span) bool { return s.has(tag) })
}

// oneChannel has two queues deliver to several consumers of one channel, at the same time.
func (g *generator) oneChannel() {
	limit := func() string { return g.pick("", "", " x-max-length=2", " x-single-active-consumer=true") }
	g.do("t", "declare exchange e fanout")
	for _, queue := range []string{episodeQueue, episodeLetter} {
		g.do("t", "declare queue "+queue+g.pick("", " quorum")+limit())
		g.do("t", "bind "+queue+" e/k")
	}
	consume := func() {
		actor := g.pick(episodeActor, episodeActor, episodeOther)
		g.do(actor, "qos "+g.pick("0", "1", "2", "3"))
		g.do(actor, "consume "+g.pick(episodeQueue, episodeLetter)+" "+g.newTag(actor)+g.pick("", "", "", " no-ack", " x-priority=1"))
	}
	publish := func() { g.do("p", "publish "+g.pick("e/k", episodeQueue, episodeLetter)+" "+g.body()) }
	together := func() {
		for range 1 + g.IntN(2) {
			g.do(episodeSender, "publish "+episodeQueue+" "+g.body())
			g.do(episodeSender, "publish "+episodeLetter+" "+g.body())
		}
		g.do(episodeSender, "tx commit")
	}
	settle := func() { g.settleOne(g.pick(episodeActor, episodeActor, episodeOther)) }
	back := func() { g.bringBack(g.pick(episodeActor, episodeOther)) }
	g.do(episodeSender, "tx select")
	g.some(g.IntN(4), publish, together)
	g.some(2+g.IntN(3), consume)
	g.some(6+g.IntN(8), publish, together, together, settle, settle, settle, settle, consume, back)
}

// settleOne settles one message that a channel holds, or all up to it.
func (g *generator) settleOne(actor string) {
	b := g.book(actor)
	if len(b.held) == 0 {
		return
	}
	i := g.IntN(len(b.held))
	m := b.held[i]
	b.held = slices.Delete(slices.Clone(b.held), i, i+1)
	how := g.pick("ack %s", "ack %s", "ack %s multiple", "nack %s requeue", "reject %s discard", "nack %s multiple requeue")
	g.do(actor, fmt.Sprintf(how, m))
}
