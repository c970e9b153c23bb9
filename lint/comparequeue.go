package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
)

// A comparer finds what a new file means for what is running.
type comparer struct{ before, after, running *site }

// A pair is one virtual host before, and after the new file has come to it.
type pair struct {
	old, next *follower
	declared  vhost // that of the new file alone
}

// vhost adds what changes for the queues that a virtual host has before and after.
func (c *comparer) vhost(to *Comparison, running vhost) {
	old, found := c.before.find(running.Name())
	declared, alsoFound := c.after.find(running.Name())
	if !found || !alsoFound {
		return
	}
	oldWays, err := c.before.newWays(old)
	if err != nil {
		return // only a site whose definitions are refused, of which was told
	}
	defer oldWays.b.Close()
	newWays, err := c.running.newWays(running)
	if err != nil {
		return
	}
	defer newWays.b.Close()
	p := &pair{&follower{vhost: old, ways: oldWays}, &follower{vhost: running, ways: newWays}, declared}
	for _, q := range running.queues {
		if old.kindOf(q.Name) != "" {
			p.queue(to.of(p.next.queue(q.Name)), q.Name)
		}
	}
	for i := range to.Changes {
		if e := &to.Changes[i]; e.VHost == running.Name() && e.Kind == kindExchange && e.How == Changed {
			e.effect(p.declareExchangeAgain(e.Name))
		}
	}
	to.dropEmpty()
}

// find returns a virtual host by its name.
func (s *site) find(name string) (vhost, bool) {
	all := s.vhosts()
	i := slices.IndexFunc(all, func(v vhost) bool { return v.Name() == name })
	if i < 0 {
		return vhost{}, false
	}
	return all[i], true
}

// of returns the change of a thing that both files have, which may be none yet.
func (c *Comparison) of(about subject) *Change {
	for i := range c.Changes {
		if e := &c.Changes[i]; e.VHost == about.vhost && e.Kind == about.kind && e.Name == about.name {
			return e
		}
	}
	c.Changes = append(c.Changes, change(Changed, about))
	return &c.Changes[len(c.Changes)-1]
}

// dropEmpty removes changes that are none.
func (c *Comparison) dropEmpty() {
	c.Changes = slices.DeleteFunc(c.Changes, func(e Change) bool {
		return e.How == Changed && len(e.Differences)+len(e.Effects) == 0
	})
}

// queue tells what changes for one queue.
func (p *pair) queue(c *Change, name string) {
	if len(c.Differences) > 0 {
		c.effect(p.declareAgain(name))
	}
	was := p.old.effective[name]
	for _, s := range p.next.effective[name].Settings {
		if before, _ := was.Get(s.Key); !same(before.Value, s.Value) {
			c.Differences = append(c.Differences, Difference{Key: s.Key, Old: before.Value, New: s.Value, From: p.from(name, s), AtOnce: true})
		}
	}
	for _, effect := range []func(string) Effect{p.limits, p.expiry, p.deliveryLimit, p.strategy, p.idle} {
		c.effect(effect(name))
	}
	for _, e := range p.deadLetters(name) {
		c.effect(e)
	}
}

// effect adds an effect, unless it is none.
func (c *Change) effect(e Effect) {
	if e.Text != "" {
		c.Effects = append(c.Effects, e)
	}
}

// from says where a setting of the queue comes from.
func (p *pair) from(queue string, s leveret.Setting) string {
	switch s.Source {
	case leveret.SourcePolicy:
		return fmt.Sprintf("%s '%s'", s.Source, p.next.effective[queue].Policy)
	case leveret.SourceOperatorPolicy:
		return fmt.Sprintf("%s '%s'", s.Source, p.next.effective[queue].OperatorPolicy)
	}
	if s.Source == leveret.SourceDefault {
		return ""
	}
	return string(s.Source)
}

// declareAgain has a client declare the running queue as the new file does.
func (p *pair) declareAgain(name string) Effect {
	q := p.declared.named[name]
	_, err := p.next.DeclareQueue(name, leveret.QueueConfig{Durable: q.Durable, AutoDelete: q.AutoDelete, Arguments: q.Arguments})
	return declaredAgain(kindQueue, err)
}

// declareExchangeAgain is declareAgain for exchanges.
func (p *pair) declareExchangeAgain(name string) Effect {
	x := p.declared.exchanges[name]
	_, err := p.next.DeclareExchange(name, x.Type, leveret.ExchangeConfig{Durable: x.Durable, AutoDelete: x.AutoDelete,
		Internal: x.Internal, Arguments: x.Arguments})
	return declaredAgain(kindExchange, err)
}

// declaredAgain says what becomes of a declaration that differs from what is running.
// Rules: J-9.
func declaredAgain(kind string, err error) Effect {
	stays := "The running " + kind + " stays as it is until it is deleted: an import passes over it."
	if err != nil {
		return Effect{Undeclared, fmt.Sprintf("%s A client that declares it as the new file does is refused: %s.", stays, reason(err))}
	}
	return Effect{KeepsOld, stays + " A client may declare it as the new file does, which changes nothing."}
}

// deadLetters compares the ways of what dies in a queue, for each key that is known to come to it.
func (p *pair) deadLetters(queue string) (effects []Effect) {
	for _, key := range p.keys(queue) {
		was, isNow := p.old.deaths(queue, key), p.next.deaths(queue, key)
		if was == nil || isNow == nil || sameWay(was, isNow) {
			continue
		}
		with := ""
		switch {
		case key.guess:
			with = fmt.Sprintf(" of messages that came with a key such as '%s'", key.key)
		case known(key.key) != "":
			with = fmt.Sprintf(" of messages that came with key '%s'", key.key)
		}
		e := Effect{Elsewhere, fmt.Sprintf("Dead letters%s go another way: %s. Before: %s.", with, wayText(isNow), wayText(was))}
		if !slices.ContainsFunc(effects, func(other Effect) bool { return other == e }) {
			effects = append(effects, e)
		}
	}
	return effects
}

// An arrival is a key with which messages come to a queue, or may come.
type arrival struct {
	key   string
	guess bool
}

// keys are those of both files. One that stands for any key counts only if no other one is known.
func (p *pair) keys(queue string) (all []arrival) {
	for _, f := range []*follower{p.old, p.next} {
		keys, examples := f.arrivals(queue)
		for _, key := range keys {
			all = append(all, arrival{key, false})
		}
		for _, some := range examples {
			for _, key := range some {
				all = append(all, arrival{key, true})
			}
		}
	}
	slices.SortFunc(all, func(a, b arrival) int { return strings.Compare(a.key+fmt.Sprint(a.guess), b.key+fmt.Sprint(b.guess)) })
	all = slices.CompactFunc(all, func(a, b arrival) bool { return a.key == b.key })
	certain := slices.DeleteFunc(slices.Clone(all), func(a arrival) bool { return a.key == unknownKey })
	if len(certain) > 0 {
		return certain
	}
	return all
}

// deaths are those of one message that comes to a queue with a key.
func (f *follower) deaths(queue string, a arrival) []Step {
	if a.guess {
		f.guess = a.key
		defer func() { f.guess = "" }()
	}
	w, err := f.way(queue, a.key)
	if err != nil || len(w.Steps) == 0 {
		return nil // only of a queue that is not there
	}
	return told(w.Steps)
}

// sameWay reports whether two ways begin alike and lose messages at the same places. What comes behind is told of the
// queues there.
func sameWay(a, b []Step) bool {
	losses := func(steps []Step) string {
		return wayText(slices.DeleteFunc(slices.Clone(steps), func(s Step) bool { return s.Lost == "" }))
	}
	return a[0].String() == b[0].String() && losses(a) == losses(b)
}

// told leaves out that a way ends where messages may stay: in a queue without a dead-letter exchange.
func told(steps []Step) []Step {
	first := steps[0].Queue
	return slices.DeleteFunc(steps, func(s Step) bool {
		return s.Lost == leveret.CauseNoDeadLetterExchange && s.Queue != first
	})
}

func wayText(steps []Step) string {
	texts := make([]string, len(steps))
	for i, s := range steps {
		texts[i] = s.String()
	}
	return strings.Join(texts, "; ")
}
