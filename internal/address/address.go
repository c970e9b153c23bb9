// Package address finds how a message is to be published so that it comes into one queue and into no other. AMQP has no
// way to put a message into a queue but to publish it, and consumers, dead-lettering and x-death see to which exchange
// and with which key. docs/move.md tells of the ways, and of what each changes.
package address

import (
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
)

// A Letter is what a broker routes a message by.
type Letter struct {
	Exchange, RoutingKey string
	Properties           *leveret.Properties // nil: none. Of them only headers route
	Redelivered          bool
}

// A Way is how a letter is published.
type Way struct {
	Exchange, RoutingKey string
	BCC                  bool // with one more header: BCC, with the queue's name
	Bare                 bool // without the headers CC and BCC
	Lost                 []Loss
}

// A Loss is what consumers see otherwise than before.
type Loss string

// The losses. docs/move.md tells of each.
const (
	LostExchange   Loss = "exchange"    // it is the default exchange
	LostRoutingKey Loss = "routing key" // it is the name of the queue
	LostCC         Loss = "CC"          // the header is not there
	LostUserID     Loss = "user-id"     // the property is not there
	Redelivered    Loss = "redelivered" // the flag is not set any more
	TimeToLive     Loss = "expiration"  // the time begins anew
	History        Loss = "x-death"     // the history is a client's header
)

// The headers that hold more routing keys.
const (
	CC  = "CC"
	BCC = "BCC"
)

// To returns the first way that leads to a queue and to nothing else. The last one always does, if the queue is there.
func (r *Router) To(queue string, l Letter) Way {
	for _, way := range []Way{
		{Exchange: l.Exchange, RoutingKey: l.RoutingKey},
		{RoutingKey: l.RoutingKey, BCC: !slices.Contains(r.byName(l), queue), Lost: []Loss{LostExchange}},
		{RoutingKey: queue, Lost: []Loss{LostExchange, LostRoutingKey}},
	} {
		if way.Exchange == "" && strings.HasPrefix(way.RoutingKey, "amq.rabbitmq.") {
			continue // a reply to a client that waits for it
		}
		queues, known := r.Route(way.letter(l, queue))
		if known && len(queues) == 1 && queues[0] == queue {
			return way.from(l, queue)
		}
	}
	return Way{RoutingKey: queue, Bare: true, Lost: []Loss{LostExchange, LostRoutingKey, LostCC}}.from(l, queue)
}

// Losses are those that do not depend on the way.
func (l Letter) Losses() (all []Loss) {
	if l.Redelivered {
		all = append(all, Redelivered)
	}
	if l.Properties != nil && l.Properties.Expiration != "" {
		all = append(all, TimeToLive)
	}
	if l.has("x-death") {
		all = append(all, History)
	}
	return all
}

// letter is what the broker gets to see.
func (w Way) letter(l Letter, queue string) Letter {
	return Letter{Exchange: w.Exchange, RoutingKey: w.RoutingKey, Properties: w.Properties(l.Properties, queue)}
}

// from returns the way without losses of what the letter never had.
func (w Way) from(l Letter, queue string) Way {
	w.Lost = slices.DeleteFunc(w.Lost, func(what Loss) bool {
		return what == LostExchange && l.Exchange == "" || what == LostRoutingKey && l.RoutingKey == queue || what == LostCC && !l.has(CC)
	})
	return w
}

// Properties returns those that a message is published with on its way to a queue. The given ones stay as they are.
func (w Way) Properties(p *leveret.Properties, queue string) *leveret.Properties {
	switch {
	case w.Bare:
		return Without(p, IsKeys)
	case w.BCC:
		p = clone(Without(p, func(name string) bool { return name == BCC }))
		p.HeaderFields = append(p.HeaderFields, leveret.Field{Name: BCC, Value: []any{queue}})
	}
	return p
}

// IsHistory reports whether a broker adds the header when a message dies.
func IsHistory(header string) bool {
	return header == "x-death" || strings.HasPrefix(header, "x-first-death-") || strings.HasPrefix(header, "x-last-death-")
}

// IsCount reports whether a quorum queue adds the header to its deliveries. It is no part of the message.
func IsCount(header string) bool { return header == "x-delivery-count" || header == "x-acquired-count" }

// IsKeys reports whether the header holds more routing keys.
func IsKeys(header string) bool { return header == CC || header == BCC }

// Without returns properties without some headers. If none is left there are no headers.
func Without(p *leveret.Properties, leftOut func(name string) bool) *leveret.Properties {
	if p == nil || !slices.ContainsFunc(fields(p), func(f leveret.Field) bool { return leftOut(f.Name) }) {
		return p
	}
	p = clone(p)
	p.HeaderFields = slices.DeleteFunc(p.HeaderFields, func(f leveret.Field) bool { return leftOut(f.Name) })
	if len(p.HeaderFields) == 0 {
		p.HeaderFields = nil
		p.Present &^= leveret.PropHeaders
	}
	return p
}

// clone returns a copy of properties whose headers are all in HeaderFields, and may be changed.
func clone(p *leveret.Properties) *leveret.Properties {
	if p == nil {
		return &leveret.Properties{}
	}
	c := *p
	c.Headers, c.HeaderFields = nil, slices.Clone(fields(p))
	return &c
}

// fields are the headers that a publish takes.
func fields(p *leveret.Properties) leveret.Fields {
	if p.HeaderFields != nil || p.Headers == nil {
		return p.HeaderFields
	}
	all := leveret.Fields{}
	for name, value := range p.Headers {
		all = append(all, leveret.Field{Name: name, Value: value})
	}
	return all
}

// has reports whether the letter has a header.
func (l Letter) has(name string) bool {
	_, ok := l.header(name)
	return ok
}

func (l Letter) header(name string) (any, bool) {
	switch p := l.Properties; {
	case p == nil:
		return nil, false
	case p.HeaderFields != nil:
		return p.HeaderFields.Get(name)
	default:
		value, ok := p.Headers[name]
		return value, ok
	}
}

// keys are the routing key and those of CC and BCC.
func (l Letter) keys() []string {
	keys := []string{l.RoutingKey}
	for _, header := range []string{CC, BCC} {
		value, _ := l.header(header)
		list, _ := value.([]any)
		for _, of := range list {
			if key, ok := of.(string); ok {
				keys = append(keys, key)
			}
		}
	}
	return keys
}
