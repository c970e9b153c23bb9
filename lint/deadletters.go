package lint

import (
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
		for _, key := range v.keysTo(q.Name) {
			f.follow(q.Name, key)
		}
	}
	for _, q := range v.queues {
		if f.fedByDefaultExchange(q.Name) {
			f.follow(q.Name, q.Name)
		}
		f.checkWaits(q.Name)
	}
}

// keysTo returns routing keys with which messages come to a queue by its bindings: those of direct and topic exchanges,
// with a word in place of a wildcard.
func (v vhost) keysTo(queue string) (keys []string) {
	for _, b := range v.bindings {
		if b.Destination != queue || b.DestinationType != leveret.DestinationQueue {
			continue
		}
		key := unknownKey
		switch x := v.exchanges[b.Source]; {
		case x.Type == leveret.Direct, x.Type == leveret.Topic && strings.Trim(b.RoutingKey, "*#.") != "":
			key = sampleKey(b.RoutingKey, x.Type)
		}
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	if keys == nil {
		keys = []string{unknownKey}
	}
	return keys
}

// sampleKey is a routing key that a binding of an exchange is for.
func sampleKey(key string, t leveret.ExchangeType) string {
	if t != leveret.Topic {
		return key
	}
	return replaceWildcards(key)
}

// fedByDefaultExchange reports whether no binding and no dead letter leads to a queue, so that messages come to it by
// the default exchange, with its name.
func (f *follower) fedByDefaultExchange(queue string) bool {
	bound := slices.ContainsFunc(f.bindings, func(b leveret.BindingInfo) bool {
		return b.Destination == queue && b.DestinationType == leveret.DestinationQueue
	})
	return !bound && f.feeders[queue] == nil
}

// follow reports what happens to the dead letters of a message that came to a queue with a key.
func (f *follower) follow(queue, key string) {
	t, err := f.ways.follow(f.Name(), queue, key)
	if err != nil {
		return
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
			f.add(DeadLetterExchangeMissing, f.queue(e.Queue), "There is no exchange '%s', its dead-letter exchange. What dies here is lost.",
				f.setting(e.Queue, "dead-letter-exchange"))
		case leveret.CauseDeadLetterUnroutable:
			f.lost(e)
		case leveret.CauseCycle:
			f.circle(t.circle(e))
		}
	}
}

// lost reports dead letters that lead to no queue, if that is certain: the key is known, or no key leads anywhere.
func (f *follower) lost(e leveret.DroppedEvent) {
	bound := slices.ContainsFunc(f.bindings, func(b leveret.BindingInfo) bool { return b.Source == e.Exchange })
	byKey := f.exchanges[e.Exchange].Type != leveret.Headers && e.RoutingKey != unknownKey
	switch {
	case e.Exchange == "" && byKey:
		f.add(DeadLettersLost, f.queue(e.Queue), "Its dead letters go to the default exchange with key '%s', and there is no queue of that name. They are lost.",
			e.RoutingKey)
	case e.Exchange != "" && !bound:
		f.add(DeadLettersLost, f.queue(e.Queue), "Its dead-letter exchange '%s' has no binding. What dies here is lost.", e.Exchange)
	case byKey:
		f.add(DeadLettersLost, f.queue(e.Queue), "Its dead-letter exchange '%s' leads to no queue with key '%s', %s. They are lost.",
			e.Exchange, e.RoutingKey, f.whence(e))
	}
}

// whence says how the key of a dead letter comes about.
func (f *follower) whence(e leveret.DroppedEvent) string {
	switch isKey := func(b leveret.BindingInfo) bool { return b.RoutingKey == e.RoutingKey }; {
	case f.setting(e.Queue, "dead-letter-routing-key") != nil:
		return "which its dead letters have"
	case slices.ContainsFunc(f.bindings, isKey) || e.RoutingKey == e.Queue:
		return "with which messages come to it"
	}
	return "and messages with such a key come to it"
}

// circle reports a circle, whichever of its queues it was found from.
// Rules: DL-24.
func (f *follower) circle(queues []string) {
	if len(queues) == 0 {
		return
	}
	first := slices.Index(queues, slices.Min(queues))
	queues = slices.Concat(queues[first:], queues[:first])
	way := strings.Join(append(queues, queues[0]), " → ")
	if slices.Contains(f.circles, way) {
		return
	}
	f.circles = append(f.circles, way)
	rejected := slices.DeleteFunc(slices.Clone(queues), f.diesByItself)
	if len(rejected) == 0 {
		f.add(CircleDropped, f.queue(queues[0]), "Dead letters go round: %s. A message that expires or overflows in each of these queues is dropped "+
			"when it comes back to one: the cycle rule ends its way without a word.", way)
		return
	}
	f.add(CircleOfRejections, f.queue(queues[0]), "Dead letters go round: %s. That lasts as long as consumers reject the messages of %s; "+
		"one that goes round without being rejected is dropped.", way, andMore(rejected))
}

// diesByItself reports whether messages die in a queue without being rejected. A delivery limit counts if it was set.
func (f *follower) diesByItself(queue string) bool {
	limit, _ := f.effective[queue].Get("delivery-limit")
	failing := limit.Value != nil && limit.Source != leveret.SourceDefault
	return failing || f.setting(queue, "message-ttl") != nil || f.trims(queue)
}

// trims reports whether a queue drops messages when it is full.
func (v vhost) trims(queue string) bool {
	limited := v.setting(queue, "max-length") != nil || v.setting(queue, "max-length-bytes") != nil
	return limited && v.setting(queue, "overflow") != leveret.OverflowRejectPublish
}

// checkWaits finds queues that delay messages for several publishers.
// Rules: T-4.
func (f *follower) checkWaits(queue string) {
	ttl := f.setting(queue, "message-ttl")
	if ttl == nil || f.setting(queue, "dead-letter-exchange") == nil {
		return
	}
	publishers := 0
	for _, b := range f.bindings {
		if b.Destination == queue && b.DestinationType == leveret.DestinationQueue && !f.isDeadLetterExchange(b.Source) {
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
