package address

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
)

// A Router foretells where a broker would route a message: to the exchange "" by the names of its queues, to another one by a
// leveret in this process that has the broker's exchanges and bindings.
type Router struct {
	queues   map[string]bool
	internal map[string]bool // exchanges that take no publishes
	headers  bool            // routes may depend on headers
	broker   *leveret.Broker
	model    *leveret.VHost
	number   map[string]string // names of queues, by their names in the model
	routed   []string          // of the last publish, as the model names them
	known    map[[2]string][]string
}

// A Topology is what routes the messages of a virtual host, exclusive queues among it. Exchanges, bindings and policies are as
// the management API lists them.
type Topology struct {
	Profile   leveret.Profile
	Queues    []string
	Exchanges []Exchange
	Bindings  []Binding
	Policies  []Policy
}

// An Exchange is one as the management API lists it.
type Exchange struct {
	Name      string                `json:"name"`
	Type      string                `json:"type"`
	Internal  bool                  `json:"internal"`
	Arguments definitions.Arguments `json:"arguments"`
}

// A Binding is one as the management API lists it.
type Binding struct {
	Source          string                `json:"source"`
	Destination     string                `json:"destination"`
	DestinationType string                `json:"destination_type"`
	RoutingKey      string                `json:"routing_key"`
	Arguments       definitions.Arguments `json:"arguments"`
}

// A Policy is one as the management API lists it.
type Policy struct {
	Name       string                `json:"name"`
	Pattern    string                `json:"pattern"`
	ApplyTo    string                `json:"apply-to"`
	Priority   float64               `json:"priority"`
	Definition definitions.Arguments `json:"definition"`
}

const alternateExchange = "alternate-exchange"

// New makes a router for a topology. It has to be closed.
func New(t Topology) (*Router, error) {
	r := &Router{queues: map[string]bool{}, internal: map[string]bool{}, number: map[string]string{}, known: map[[2]string][]string{}}
	r.broker = leveret.New(leveret.WithProfile(t.Profile),
		leveret.WithEvents(leveret.Events{Published: func(e leveret.PublishedEvent) { r.routed = slices.Clone(e.Queues) }}))
	var err error
	if r.model, err = r.broker.VHost("/"); err != nil {
		return nil, err
	}
	names, err := r.addQueues(t.Queues)
	if err = errors.Join(err, r.addExchanges(t.Exchanges)); err == nil {
		err = errors.Join(r.addBindings(t, names), r.addPolicies(t.Policies))
	}
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("what is routed where cannot be foretold: %w", err)
	}
	return r, nil
}

// Close ends the model.
func (r *Router) Close() error { return r.broker.Close() }

// Has reports whether there is a queue of the name.
func (r *Router) Has(queue string) bool { return r.queues[queue] }

// addQueues makes queues that hold nothing, and returns their names by those of the broker's. They are others, because names may
// be reserved.
func (r *Router) addQueues(queues []string) (names map[string]string, err error) {
	names = map[string]string{}
	for i, name := range queues {
		names[name] = fmt.Sprintf("q%d", i)
		r.number[names[name]], r.queues[name] = name, true
		if _, err := r.model.DeclareQueue(names[name], leveret.QueueConfig{Arguments: leveret.Table{leveret.ArgMaxLength: 0}}); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// addExchanges makes exchanges. One of a type that leveret has not is a fanout: it routes to too many queues rather than to too
// few.
func (r *Router) addExchanges(exchanges []Exchange) error {
	for _, x := range exchanges {
		r.internal[x.Name] = x.Internal
		kind := leveret.ExchangeType(x.Type)
		switch kind {
		case leveret.Headers:
			r.headers = true
		case leveret.Direct, leveret.Topic, leveret.Fanout:
		default:
			kind = leveret.Fanout
		}
		if x.Name == "" || strings.HasPrefix(x.Name, "amq.") {
			continue // the model has it
		}
		if _, err := r.model.DeclareExchange(x.Name, kind, leveret.ExchangeConfig{Arguments: only(alternateExchange, x.Arguments.Table)}); err != nil {
			return err
		}
	}
	return nil
}

// only returns one entry of a table, if it is there.
func only(name string, t leveret.Table) leveret.Table {
	if value, ok := t[name]; ok {
		return leveret.Table{name: value}
	}
	return nil
}

// addBindings makes bindings: not those of the default exchange, and not those of what is gone or is RabbitMQ's own, such as
// amq.rabbitmq.log, to which nobody publishes.
func (r *Router) addBindings(t Topology, queues map[string]string) error {
	known := map[string]bool{}
	for _, x := range t.Exchanges {
		_, err := r.model.Exchange(x.Name)
		known[x.Name] = x.Name != "" && err == nil
	}
	for _, b := range t.Bindings {
		queue, isThere := queues[b.Destination]
		var err error
		switch {
		case !known[b.Source]:
		case b.DestinationType == string(leveret.DestinationQueue) && isThere:
			err = r.model.BindQueue(queue, b.Source, b.RoutingKey, b.Arguments.Table)
		case b.DestinationType == string(leveret.DestinationExchange) && known[b.Destination]:
			err = r.model.BindExchange(b.Destination, b.Source, b.RoutingKey, b.Arguments.Table)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addPolicies sets what policies say about alternate exchanges.
func (r *Router) addPolicies(policies []Policy) error {
	for _, p := range policies {
		alternate := only(alternateExchange, p.Definition.Table)
		if alternate == nil {
			continue
		}
		if err := r.model.SetPolicy(leveret.Policy{Name: p.Name, Pattern: p.Pattern, ApplyTo: leveret.ApplyTo(p.ApplyTo), Priority: p.Priority,
			Definition: alternate}); err != nil {
			return err
		}
	}
	return nil
}

// Route returns the queues that a message would come to, in no order. It is not known where a message to an exchange goes that
// does not exist or is internal.
func (r *Router) Route(l Letter) (queues []string, known bool) {
	if l.Exchange == "" {
		return r.byName(l), true
	}
	if r.internal[l.Exchange] {
		return nil, false
	}
	byKey := !r.headers && !l.has(CC) && !l.has(BCC)
	way := [2]string{l.Exchange, l.RoutingKey}
	if queues, ok := r.known[way]; ok && byKey {
		return queues, true
	}
	if _, err := r.model.Publish(l.Exchange, l.RoutingKey, leveret.Message{Properties: headersOf(l.Properties)}); err != nil {
		return nil, false
	}
	queues = make([]string, len(r.routed))
	for i, number := range r.routed {
		queues[i] = r.number[number]
	}
	if byKey {
		r.known[way] = queues
	}
	return queues, true
}

// headersOf are properties that have headers only: no other property routes, and some would be refused.
func headersOf(p *leveret.Properties) *leveret.Properties {
	if p == nil {
		return nil
	}
	return &leveret.Properties{Headers: p.Headers, HeaderFields: p.HeaderFields}
}

// byName returns the queues that have a key of the message as their name.
func (r *Router) byName(l Letter) (queues []string) {
	for _, key := range l.keys() {
		if r.queues[key] && !slices.Contains(queues, key) {
			queues = append(queues, key)
		}
	}
	return queues
}

// Of returns the topology of a virtual host in this process.
func Of(v *leveret.VHost, p leveret.Profile) Topology {
	t := Topology{Profile: p}
	for _, b := range v.Bindings() { // first: what is deleted meanwhile is missing below
		t.Bindings = append(t.Bindings, Binding{b.Source, b.Destination, string(b.DestinationType), b.RoutingKey, definitions.Arguments{Table: b.Arguments}})
	}
	for _, q := range v.Queues() {
		t.Queues = append(t.Queues, q.Name)
	}
	for _, x := range v.Exchanges() {
		t.Exchanges = append(t.Exchanges, Exchange{x.Name, string(x.Type), x.Internal, definitions.Arguments{Table: x.Arguments}})
	}
	for _, o := range v.Policies() {
		t.Policies = append(t.Policies, Policy{o.Name, o.Pattern, string(o.ApplyTo), o.Priority, definitions.Arguments{Table: o.Definition}})
	}
	return t
}
