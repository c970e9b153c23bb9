package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
)

// What becomes of dead letters: each queue's are followed with each routing key that is known to come to the queue.

// unknownKey stands for any routing key, where the bindings do not tell which ones come.
const unknownKey = "leveret.lint.unknown"

// A follower looks at the dead letters of one virtual host.
type follower struct {
	*linter
	vhost
	ways    *ways
	feeders map[string][]string // by queue: the queues whose dead letters come to it
	circles []string            // those that were reported
	guess   string              // the key under way, if messages may have it or not
}

// checkDeadLetters follows the dead letters of all queues.
func (l *linter) checkDeadLetters(v vhost) {
	w, err := l.newWays(v)
	if err != nil {
		return // only a site whose definitions are refused, of which load has told
	}
	defer w.b.Close()
	f := &follower{linter: l, vhost: v, ways: w, feeders: map[string][]string{}}
	for _, q := range v.queues {
		f.followAll(q.Name)
	}
	for _, q := range v.queues {
		if f.fedByDefaultExchange(q.Name) {
			f.follow(q.Name, q.Name)
		}
		f.checkWaits(q.Name)
	}
}

// followAll follows what comes to a queue by its bindings: of direct and topic exchanges, whose keys tell which messages
// these are, and of others.
func (f *follower) followAll(queue string) {
	f.follow(queue, unknownKey)
	for _, b := range f.incoming[queue] {
		switch t := f.exchanges[b.Source].Type; {
		case t == leveret.Topic && hasWildcard(b.RoutingKey):
			f.followPattern(queue, b.RoutingKey)
		case t == leveret.Direct, t == leveret.Topic:
			f.follow(queue, b.RoutingKey)
		}
	}
}

// followPattern follows messages that come to a queue by a binding with wildcards. Publishers choose their keys, so
// only if no key that fits leads on from the dead-letter exchange, this is reported.
func (f *follower) followPattern(queue, pattern string) {
	to := f.setting(queue, "dead-letter-exchange")
	if to == nil || f.setting(queue, "dead-letter-routing-key") != nil {
		return // the key does not matter
	}
	for _, key := range f.keysFor(pattern, fmt.Sprint(to)) {
		f.guess = key
		t := f.follow(queue, key)
		f.guess = ""
		if !slices.ContainsFunc(t.drops, func(e leveret.DroppedEvent) bool {
			return e.Queue == queue && e.Cause == leveret.CauseDeadLetterUnroutable
		}) {
			return
		}
	}
	if f.isBound(fmt.Sprint(to)) || to == "" {
		f.add(DeadLettersLost, f.queue(queue), "Its dead-letter exchange '%s' leads to no queue with any key that the binding with '%s' lets in. "+
			"What dies here with such a key is %s.", to, pattern, f.fate(queue))
	}
}

// keysFor returns keys that fit a pattern, those that fit a binding of the exchange besides if there are any.
func (f *follower) keysFor(pattern, exchange string) (keys []string) {
	with := func(other string) {
		if key, ok := commonKey(splitKey(pattern), splitKey(other)); ok {
			keys = append(keys, strings.Join(key, "."))
		}
	}
	for _, b := range f.bindings {
		if b.Source == exchange {
			with(b.RoutingKey)
		}
	}
	if exchange == "" {
		for _, q := range f.queues {
			with(q.Name)
		}
	}
	if keys == nil {
		keys = []string{replaceWildcards(pattern)}
	}
	return keys
}

// isBound reports whether an exchange has a binding.
func (f *follower) isBound(exchange string) bool {
	return slices.ContainsFunc(f.bindings, func(b leveret.BindingInfo) bool { return b.Source == exchange })
}

// fedByDefaultExchange reports whether no binding and no dead letter leads to a queue, so that messages come to it by
// the default exchange, with its name.
func (f *follower) fedByDefaultExchange(queue string) bool {
	return f.incoming[queue] == nil && f.feeders[queue] == nil
}

// follow reports what happens to the dead letters of a message that came to a queue with a key.
func (f *follower) follow(queue, key string) trip {
	t, err := f.ways.follow(f.Name(), queue, key)
	if err != nil {
		return t // only a queue that is not there
	}
	for _, e := range t.deaths {
		for _, to := range e.Queues {
			if !slices.Contains(f.feeders[to], e.Queue) {
				f.feeders[to] = append(f.feeders[to], e.Queue)
			}
		}
	}
	for _, e := range t.drops {
		switch e.Cause {
		case leveret.CauseExchangeMissing:
			f.add(DeadLetterExchangeMissing, f.queue(e.Queue), "There is no exchange '%s', its dead-letter exchange. What dies here is %s.",
				f.setting(e.Queue, "dead-letter-exchange"), f.fate(e.Queue))
		case leveret.CauseDeadLetterUnroutable:
			f.lost(e)
		case leveret.CauseCycle:
			if e.Target != "" {
				f.circle(t.circle(e))
			}
		}
	}
	return t
}

// lost reports dead letters that lead to no queue, if that is certain: the key is known, or no key leads anywhere.
func (f *follower) lost(e leveret.DroppedEvent) {
	certain := f.isKnown(e.RoutingKey) && f.exchanges[e.Exchange].Type != leveret.Headers
	switch {
	case e.Exchange != "" && !f.isBound(e.Exchange):
		f.add(DeadLettersLost, f.queue(e.Queue), "Its dead-letter exchange '%s' has no binding. What dies here is %s.", e.Exchange, f.fate(e.Queue))
	case certain && e.Exchange == "":
		f.add(DeadLettersLost, f.queue(e.Queue), "Its dead letters go to the default exchange with key '%s', and there is no queue of that name. "+
			"What dies here is %s.", e.RoutingKey, f.fate(e.Queue))
	case certain:
		whence := "with which messages come to it"
		if f.setting(e.Queue, "dead-letter-routing-key") != nil {
			whence = "which its dead letters have"
		}
		f.add(DeadLettersLost, f.queue(e.Queue), "Its dead-letter exchange '%s' leads to no queue with key '%s', %s. What dies so is %s.",
			e.Exchange, e.RoutingKey, whence, f.fate(e.Queue))
	}
}

// isKnown reports whether a dead letter certainly has a key.
func (f *follower) isKnown(key string) bool {
	guessed := f.guess != "" && key == f.guess
	return key != unknownKey && !guessed
}

// circle reports a circle, whichever of its queues it was found from.
// Rules: DL-24.
func (f *follower) circle(queues []string) {
	first := slices.Index(queues, slices.Min(queues))
	queues = slices.Concat(queues[first:], queues[:first])
	way := strings.Join(append(queues, queues[0]), " → ")
	if slices.Contains(f.circles, way) {
		return
	}
	f.circles = append(f.circles, way)
	rejected := slices.DeleteFunc(slices.Clone(queues), f.diesByItself)
	end := "dropped"
	if slices.ContainsFunc(queues, f.isAtLeastOnce) {
		end = "dropped, or kept for good by a queue whose strategy is at-least-once"
	}
	if len(rejected) == 0 {
		f.add(CircleDropped, f.queue(queues[0]), "Dead letters go round: %s. A message that expires, overflows or fails too often in each of these "+
			"queues cannot come back to one: the cycle rule has it %s, without a word.", way, end)
		return
	}
	f.add(CircleOfRejections, f.queue(queues[0]), "Dead letters go round: %s. That lasts as long as consumers reject the messages of %s; "+
		"one that goes round without being rejected is %s.", way, andMore(rejected), end)
}

// diesByItself reports whether messages die in a queue without being rejected. A delivery limit counts if it was set.
func (f *follower) diesByItself(queue string) bool {
	limit, _ := f.effective[queue].Get("delivery-limit")
	failing := limit.Value != nil && limit.Source != leveret.SourceDefault
	return failing || f.setting(queue, "message-ttl") != nil || f.overflows(queue)
}

// overflows reports whether messages die because a queue is full: its oldest, or those that it refuses.
func (v vhost) overflows(queue string) bool {
	limited := v.setting(queue, "max-length") != nil || v.setting(queue, "max-length-bytes") != nil
	return limited && v.setting(queue, "overflow") != leveret.OverflowRejectPublish
}

// trims reports whether a queue drops its oldest messages when it is full.
// Rules: L-4, L-17.
func (v vhost) trims(queue string) bool {
	refuses := v.setting(queue, "overflow") == leveret.OverflowRejectPublishDLX && v.kindOf(queue) != leveret.QueueTypeQuorum
	return v.overflows(queue) && !refuses
}

// isAtLeastOnce reports whether a queue keeps its dead letters until they have arrived.
// Rules: DL-28.
func (v vhost) isAtLeastOnce(queue string) bool {
	return v.setting(queue, "dead-letter-strategy") == leveret.DeadLetterAtLeastOnce &&
		v.setting(queue, "dead-letter-exchange") != nil && v.setting(queue, "overflow") == leveret.OverflowRejectPublish
}

// fate is what becomes of a dead letter that leads nowhere.
// Rules: DL-6, DL-30.
func (v vhost) fate(queue string) string {
	if v.isAtLeastOnce(queue) {
		return "kept in the queue until it leads somewhere"
	}
	return "lost"
}

// checkWaits finds queues that delay messages for several publishers.
// Rules: T-4.
func (f *follower) checkWaits(queue string) {
	ttl := f.setting(queue, "message-ttl")
	if ttl == nil || f.setting(queue, "dead-letter-exchange") == nil {
		return
	}
	publishers := 0
	for _, b := range f.incoming[queue] {
		if !f.isDeadLetterExchange(b.Source) {
			publishers++
		}
	}
	if publishers > 0 && publishers+len(f.feeders[queue]) > 1 {
		f.add(ExpirationWaits, f.queue(queue), "Messages come here by several ways and live for %v ms. One that is published with a shorter expiration "+
			"still waits until those before it have left.", ttl)
	}
}

func (v vhost) isDeadLetterExchange(name string) bool {
	return slices.ContainsFunc(v.queues, func(q leveret.QueueInfo) bool {
		return v.setting(q.Name, "dead-letter-exchange") == name
	})
}
