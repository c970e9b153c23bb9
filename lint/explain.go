package lint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
)

// An Explanation is what is in force for one queue, and where its dead letters go.
type Explanation struct {
	VHost          string            `json:"vhost"`
	Queue          string            `json:"queue"`
	Type           leveret.QueueType `json:"type"`
	Policy         string            `json:"policy"`          // name; empty: none applies
	OperatorPolicy string            `json:"operator_policy"` // name; empty: none applies
	// Settings are in the order of their keys. Behind them stand arguments that no policy can set, under their own names.
	Settings []leveret.Setting `json:"settings"`
	// Ways are those of dead letters, one for each routing key that is known to come to the queue.
	Ways []Way `json:"ways"`
}

// A Way is where a message goes that comes to a queue, dies there, and dies by itself in each queue that it comes to.
type Way struct {
	Key      string `json:"key"`                 // with which the message comes to the queue; empty: any, unless EmptyKey
	EmptyKey bool   `json:"empty_key,omitempty"` // the key is known, and empty
	Example  bool   `json:"example,omitempty"`   // Key is one of those that a binding with wildcards lets in
	Steps    []Step `json:"steps"`
}

// A Step is one death.
type Step struct {
	Queue    string        `json:"queue"`               // where the message dies
	Exchange string        `json:"exchange,omitempty"`  // its dead-letter exchange; empty: the default exchange
	Key      string        `json:"key,omitempty"`       // of the dead letter; empty: that with which the message came, unless EmptyKey
	EmptyKey bool          `json:"empty_key,omitempty"` // the key of the dead letter is known, and empty
	Queues   []string      `json:"queues,omitempty"`    // where the dead letter is routed to
	Lost     leveret.Cause `json:"lost,omitempty"`      // why the message is lost, or kept
	Kept     bool          `json:"kept,omitempty"`      // the queue keeps it and tries again: its strategy is at-least-once
	Target   string        `json:"target,omitempty"`    // for a circle: the queue that the cycle rule keeps the dead letter from
	ByKey    bool          `json:"by_key,omitempty"`    // another key may lead on: the one that messages have is not known
}

// Explain tells what is in force for a queue of a definitions file, and where its dead letters go. An empty vhost is the
// only one that has a queue of the name. The error is a [*definitions.SyntaxError], or says that there is no such queue.
func Explain(file []byte, p leveret.Profile, vhost, queue string) (*Explanation, error) {
	s, err := load(file, p, func(Code, subject, string, ...any) {})
	if err != nil {
		return nil, err
	}
	defer s.close()
	v, err := s.vhostOf(vhost, queue)
	if err != nil {
		return nil, err
	}
	e := v.explain(queue)
	e.Ways, err = s.ways(v, queue)
	return e, err
}

// vhostOf returns the virtual host of a queue.
func (s *site) vhostOf(name, queue string) (found vhost, err error) {
	var names []string
	for _, v := range s.vhosts() {
		if v.kindOf(queue) != "" && (name == "" || v.Name() == name) {
			found, names = v, append(names, v.Name())
		}
	}
	switch {
	case len(names) > 1:
		return found, fmt.Errorf("there is a queue '%s' in each of the virtual hosts %s: one has to be named", queue, andMore(names))
	case names == nil && name != "":
		return found, fmt.Errorf("there is no queue '%s' in virtual host '%s'", queue, name)
	case names == nil:
		return found, fmt.Errorf("there is no queue '%s'", queue)
	}
	return found, nil
}

// explain is the explanation without the ways.
func (v vhost) explain(queue string) *Explanation {
	inForce := v.effective[queue]
	e := &Explanation{VHost: v.Name(), Queue: queue, Type: v.kindOf(queue), Policy: inForce.Policy,
		OperatorPolicy: inForce.OperatorPolicy, Settings: inForce.Settings}
	args := v.named[queue].Arguments
	for _, name := range slices.Sorted(maps.Keys(args)) {
		_, known := inForce.Get(strings.TrimPrefix(name, "x-"))
		if !known && name != leveret.ArgQueueType {
			e.Settings = append(e.Settings, leveret.Setting{Key: name, Value: args[name], Source: leveret.SourceArgument})
		}
	}
	return e
}

// ways returns the ways of a queue's dead letters.
func (s *site) ways(v vhost, queue string) (all []Way, err error) {
	w, err := s.newWays(v)
	if err != nil {
		return nil, err
	}
	defer w.b.Close()
	return (&follower{vhost: v, ways: w}).all(queue)
}

// all returns the ways of a queue's dead letters.
func (f *follower) all(queue string) (all []Way, err error) {
	keys, examples := f.arrivals(queue)
	for _, key := range keys {
		way, err := f.way(queue, key)
		if err != nil {
			return nil, err
		}
		all = append(all, way)
	}
	for _, ofOne := range examples {
		ways, err := f.examples(queue, ofOne)
		if err != nil {
			return nil, err
		}
		all = append(all, ways...)
	}
	return all, nil
}

// way follows a message that comes to a queue with a key.
func (f *follower) way(queue, key string) (Way, error) {
	t, err := f.ways.follow(f.Name(), queue, key)
	return Way{Key: known(key), EmptyKey: key == "", Example: f.guess != "", Steps: f.steps(t)}, err
}

// examples returns the ways of the keys that a binding lets in. Those that end at once are left out, unless all do.
func (f *follower) examples(queue string, keys []string) (all []Way, err error) {
	for _, key := range keys {
		f.guess = key
		way, err := f.way(queue, key)
		f.guess = ""
		if err != nil {
			return nil, err
		}
		all = append(all, way)
	}
	leadsOn := func(w Way) bool { return len(w.Steps) > 0 && !w.Steps[0].ByKey }
	if !slices.ContainsFunc(all, leadsOn) {
		return all[:1], nil
	}
	return slices.DeleteFunc(all, func(w Way) bool { return !leadsOn(w) }), nil
}

// known returns a key, or the empty one if it stands for any.
func known(key string) string {
	if key == unknownKey {
		return ""
	}
	return key
}

// arrivals returns keys with which messages come to a queue, as far as they matter and bindings tell them, and examples
// of those that each binding with wildcards lets in. A queue without bindings is fed by the default exchange.
func (f *follower) arrivals(queue string) (keys []string, examples [][]string) {
	to := f.setting(queue, "dead-letter-exchange")
	if to == nil || f.setting(queue, "dead-letter-routing-key") != nil {
		return []string{unknownKey}, nil
	}
	bindings := f.incoming[queue]
	for _, b := range bindings {
		switch t := f.exchanges[b.Source].Type; {
		case t == leveret.Topic && hasWildcard(b.RoutingKey):
			fit := f.keysFor(b.RoutingKey, fmt.Sprint(to))
			slices.Sort(fit)
			examples = append(examples, slices.Compact(fit))
		case t == leveret.Topic, t == leveret.Direct:
			keys = append(keys, b.RoutingKey)
		default:
			keys = append(keys, unknownKey)
		}
	}
	if bindings == nil {
		keys = []string{queue}
	}
	slices.Sort(keys)
	return slices.Compact(keys), examples
}

// steps are the deaths of a trip, in their order.
func (f *follower) steps(t trip) (steps []Step) {
	for _, e := range t.deaths {
		steps = append(steps, Step{Queue: e.Queue, Exchange: e.Exchange, Key: known(e.RoutingKey), EmptyKey: e.RoutingKey == "", Queues: e.Queues})
	}
	for _, e := range t.drops {
		lost := Step{Queue: e.Queue, Exchange: e.Exchange, Key: known(e.RoutingKey), EmptyKey: e.RoutingKey == "", Lost: e.Cause,
			Kept: f.isAtLeastOnce(e.Queue), Target: e.Target}
		switch e.Cause {
		case leveret.CauseNoDeadLetterExchange:
			lost.Exchange, lost.Key, lost.EmptyKey = "", "", false
		case leveret.CauseExchangeMissing:
			lost.Exchange, lost.Key, lost.EmptyKey = fmt.Sprint(f.setting(e.Queue, "dead-letter-exchange")), "", false
		case leveret.CauseDeadLetterUnroutable:
			lost.ByKey = !f.isKnown(e.RoutingKey) && f.isBound(e.Exchange)
		}
		// The same death is told by the event of the dead letter, too.
		steps = slices.DeleteFunc(steps, func(s Step) bool { return s.Queue == e.Queue && len(s.Queues) == 0 && s.Lost == "" })
		steps = append(steps, lost)
	}
	return steps
}
