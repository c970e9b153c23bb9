package move

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
	amqp "github.com/rabbitmq/amqp091-go"
)

// A router foretells where the target would route a message: to the exchange "" by the names of its queues, to another one by a
// leveret in this process that has the target's exchanges and bindings.
type router struct {
	queues   map[string]bool
	internal map[string]bool // exchanges that take no publishes
	headers  bool            // routes may depend on headers
	broker   *leveret.Broker
	model    *leveret.VHost
	number   map[string]string // names of queues, by their names in the model
	routed   []string          // of the last publish, as the model names them
	known    map[[2]string][]string
}

// A topology is what the management API lists.
type topology struct {
	queues    []queueInfo
	exchanges []listedExchange
	bindings  []listedBinding
	policies  []listedPolicy
}

type listedExchange struct {
	Name      string         `json:"name"`
	Type      string         `json:"type"`
	Internal  bool           `json:"internal"`
	Arguments map[string]any `json:"arguments"`
}

type listedBinding struct {
	Source          string         `json:"source"`
	Destination     string         `json:"destination"`
	DestinationType string         `json:"destination_type"`
	RoutingKey      string         `json:"routing_key"`
	Arguments       map[string]any `json:"arguments"`
}

type listedPolicy struct {
	Name       string         `json:"name"`
	Pattern    string         `json:"pattern"`
	ApplyTo    string         `json:"apply-to"`
	Priority   int            `json:"priority"`
	Definition map[string]any `json:"definition"`
}

// topology lists what routes messages. Exclusive queues are among it, which definitions do not have. Bindings are asked for first:
// what is deleted meanwhile is missing among the others, and so is known to be gone.
func (b *Broker) topology() (t topology, err error) {
	if err = b.get("bindings/"+b.segment(), &t.bindings); err != nil {
		return t, err
	}
	if t.queues, err = b.queues(); err != nil {
		return t, err
	}
	if err = b.get("exchanges/"+b.segment()+"?disable_stats=true&columns=name,type,internal,arguments", &t.exchanges); err != nil {
		return t, err
	}
	return t, b.get("policies/"+b.segment(), &t.policies)
}

// newRouter makes a model of a topology. It has to be closed.
func newRouter(t topology) (*router, error) {
	r := &router{queues: map[string]bool{}, internal: map[string]bool{}, number: map[string]string{}, known: map[[2]string][]string{}}
	r.broker = leveret.New(leveret.WithEvents(leveret.Events{Published: func(e leveret.PublishedEvent) { r.routed = slices.Clone(e.Queues) }}))
	var err error
	if r.model, err = r.broker.VHost("/"); err != nil {
		return nil, err
	}
	data, err := json.Marshal(r.document(t))
	if err != nil {
		return nil, err
	}
	if err := definitions.ImportVHost(r.model, data); err != nil {
		return nil, fmt.Errorf("what the target routes cannot be foretold: %w", err)
	}
	return r, nil
}

func (r *router) close() error { return r.broker.Close() }

// document is the topology as definitions for the model. Its queues have other names, because names may be reserved, and hold
// nothing.
func (r *router) document(t topology) map[string]any {
	names := map[string]string{}
	queues := []any{}
	for i, q := range t.queues {
		names[q.Name] = fmt.Sprintf("q%d", i)
		r.number[names[q.Name]], r.queues[q.Name] = q.Name, true
		queues = append(queues, map[string]any{"name": names[q.Name], "durable": true, "auto_delete": false, "arguments": map[string]any{"x-max-length": 0}})
	}
	return map[string]any{"queues": queues, "exchanges": r.exchanges(t), "bindings": r.bindings(t, names), "policies": policies(t)}
}

// exchanges are those for the model. One of a type that leveret has not is a fanout: it routes to too many queues rather than to
// too few.
func (r *router) exchanges(t topology) []any {
	all := []any{}
	for _, x := range t.exchanges {
		r.internal[x.Name] = x.Internal
		switch x.Type {
		case "headers":
			r.headers = true
		case "direct", "topic", "fanout":
		default:
			x.Type = "fanout"
		}
		if x.Name == "" || strings.HasPrefix(x.Name, "amq.") {
			continue // the model has it
		}
		alternate := map[string]any{}
		if name, ok := x.Arguments["alternate-exchange"]; ok {
			alternate["alternate-exchange"] = name
		}
		all = append(all, map[string]any{"name": x.Name, "type": x.Type, "durable": true, "auto_delete": false, "internal": false, "arguments": alternate})
	}
	return all
}

// bindings are those for the model: not those of the default exchange, and not those of what is gone or is RabbitMQ's own, such as
// amq.rabbitmq.log, to which nobody publishes.
func (r *router) bindings(t topology, queues map[string]string) []any {
	known := map[string]bool{}
	for _, x := range t.exchanges {
		_, err := r.model.Exchange(x.Name)
		known[x.Name] = x.Name != "" && (err == nil || !strings.HasPrefix(x.Name, "amq."))
	}
	all := []any{}
	for _, b := range t.bindings {
		leads := known[b.Destination]
		if b.DestinationType == "queue" {
			b.Destination, leads = queues[b.Destination], queues[b.Destination] != ""
		}
		if !known[b.Source] || !leads {
			continue
		}
		if b.Arguments == nil {
			b.Arguments = map[string]any{}
		}
		all = append(all, b)
	}
	return all
}

// policies are those for the model: what they say about alternate exchanges.
func policies(t topology) []any {
	all := []any{}
	for _, p := range t.policies {
		if to, ok := p.Definition["alternate-exchange"]; ok {
			p.Definition = map[string]any{"alternate-exchange": to}
			all = append(all, p)
		}
	}
	return all
}

// route returns the queues that a message would come to, in no order. It is not known where a message to an exchange goes that
// does not exist or is internal.
func (r *router) route(l Letter) (queues []string, known bool) {
	if l.Exchange == "" {
		return r.byName(l), true
	}
	if r.internal[l.Exchange] {
		return nil, false
	}
	byKey := !r.headers && !l.has("CC") && !l.has("BCC")
	if queues, ok := r.known[[2]string{l.Exchange, l.RoutingKey}]; ok && byKey {
		return queues, true
	}
	properties := &leveret.Properties{Headers: leveretTable(l.Message.Headers)}
	if _, err := r.model.Publish(l.Exchange, l.RoutingKey, leveret.Message{Properties: properties}); err != nil {
		return nil, false
	}
	queues = make([]string, len(r.routed))
	for i, number := range r.routed {
		queues[i] = r.number[number]
	}
	if byKey {
		r.known[[2]string{l.Exchange, l.RoutingKey}] = queues
	}
	return queues, true
}

// byName returns the queues that have a key of the message as their name.
func (r *router) byName(l Letter) (queues []string) {
	for _, key := range l.keys() {
		if r.queues[key] && !slices.Contains(queues, key) {
			queues = append(queues, key)
		}
	}
	return queues
}

// keys are the routing key and those of CC and BCC.
func (l Letter) keys() []string {
	keys := []string{l.RoutingKey}
	for _, header := range []string{"CC", "BCC"} {
		list, _ := l.Message.Headers[header].([]any)
		for _, of := range list {
			if key, ok := of.(string); ok {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// leveretTable is the client's table with the types of the model.
func leveretTable(t amqp.Table) leveret.Table {
	if t == nil {
		return nil
	}
	to := make(leveret.Table, len(t))
	for name, of := range t {
		to[name] = leveretValue(of)
	}
	return to
}

func leveretValue(of any) any {
	switch x := of.(type) {
	case amqp.Table:
		return leveretTable(x)
	case amqp.Decimal:
		return leveret.Decimal{Scale: x.Scale, Value: x.Value}
	case []any:
		list := make([]any, len(x))
		for i := range x {
			list[i] = leveretValue(x[i])
		}
		return list
	}
	return of
}
