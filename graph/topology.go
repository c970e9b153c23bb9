package graph

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
)

// Of describes what is in a virtual host, as it is now. Each queue is drawn with the settings in force, from its
// arguments and policies, and with its messages and consumers if there are any. Predeclared exchanges are left out
// unless something leads to or from them.
//
// A dead letter that goes to the default exchange with a routing key is drawn to the queue of that name. A queue or an
// exchange that dead letters or unrouted messages should go to, and that does not exist, is a Missing node.
func Of(v *leveret.VHost) *Graph {
	t := topology{Graph: Graph{Title: "virtual host " + v.Name()}, v: v, at: map[entity]int{}}
	t.addExchanges()
	t.addQueues()
	t.addBindings()
	t.addAlternates()
	t.addDeadLetters()
	t.leaveOutUnused()
	return &t.Graph
}

// An entity is an exchange or a queue.
type entity struct {
	queue bool
	name  string
}

// A topology is a graph that is being made of a virtual host.
type topology struct {
	Graph
	v         *leveret.VHost
	exchanges []leveret.ExchangeInfo
	queues    []leveret.QueueInfo
	at        map[entity]int
}

func (t *topology) add(p entity, n Node) {
	t.at[p] = len(t.Nodes)
	t.Nodes = append(t.Nodes, n)
}

// find returns the node of an entity, a new one if it does not exist.
func (t *topology) find(p entity) int {
	if i, ok := t.at[p]; ok {
		return i
	}
	what := "no such exchange"
	if p.queue {
		what = "no such queue"
	}
	t.add(p, Node{Kind: Missing, Name: p.name, Details: []string{what}})
	return t.at[p]
}

func (t *topology) addExchanges() {
	t.exchanges = t.v.Exchanges()
	for _, x := range t.exchanges {
		n := Node{Kind: Exchange, Name: x.Name, Details: []string{string(x.Type)}}
		if x.Name == "" {
			n.Name, n.Details = "(default exchange)", []string{"to the queue named as the key"}
		}
		if x.Internal {
			n.Details[0] += " · internal"
		}
		t.add(entity{name: x.Name}, n)
	}
}

func (t *topology) addQueues() {
	t.queues = t.v.Queues()
	for _, q := range t.queues {
		n := Node{Kind: Queue, Name: q.Name}
		n.Details = append(n.Details, wrap(settings(q, t.effective(q.Name)))...)
		n.Details = append(n.Details, wrap(contents(q))...)
		t.add(entity{true, q.Name}, n)
	}
}

// effective returns what is in force for a queue; nothing if it has gone meanwhile.
func (t *topology) effective(name string) leveret.Effective {
	q, err := t.v.Queue(name)
	if err != nil {
		return leveret.Effective{}
	}
	return q.Effective()
}

// settings are the words on a queue that limit it.
func settings(q leveret.QueueInfo, e leveret.Effective) []string {
	var words []string
	if string(q.Type) != leveret.QueueTypeClassic {
		words = append(words, string(q.Type))
	}
	if q.Exclusive {
		words = append(words, "exclusive")
	}
	for _, s := range e.Settings {
		if word := settingWord(s); word != "" && s.Source != leveret.SourceDefault {
			words = append(words, word)
		}
	}
	return words
}

// settingWord is one setting as the picture has it; empty for one that is not drawn, or is an arrow.
func settingWord(s leveret.Setting) string {
	if s.Key == "overflow" {
		return fmt.Sprint(s.Value)
	}
	n, ok := s.Value.(int64)
	if !ok {
		return ""
	}
	switch s.Key {
	case "message-ttl":
		return "TTL " + span(n)
	case "expires":
		return "expires " + span(n)
	case "max-length":
		return fmt.Sprintf("max %d", n)
	case "max-length-bytes":
		return fmt.Sprintf("max %d bytes", n)
	case "delivery-limit":
		if n < 0 {
			return "no delivery limit"
		}
		return fmt.Sprintf("delivery limit %d", n)
	}
	return ""
}

// contents are the words on a queue that say what is in it.
func contents(q leveret.QueueInfo) []string {
	var words []string
	count := func(n int, what string) {
		if n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, what))
		}
	}
	count(q.Ready, "ready")
	count(q.Unacked, "unacked")
	count(q.Messages-q.Ready-q.Unacked, "waiting")
	switch q.Consumers {
	case 1:
		count(1, "consumer")
	default:
		count(q.Consumers, "consumers")
	}
	return words
}

// span writes milliseconds as a person does: 90000 is 1m30s, and 3600000 is 1h.
func span(ms int64) string {
	const most = int64(1<<63-1) / int64(time.Millisecond)
	if ms < 0 || ms > most {
		return fmt.Sprintf("%dms", ms)
	}
	text := (time.Duration(ms) * time.Millisecond).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// wrap joins words to lines of a width that suits a box.
func wrap(words []string) []string {
	const width = 30
	var lines []string
	for _, w := range words {
		last := len(lines) - 1
		if last >= 0 && len(lines[last])+len(w) < width {
			lines[last] += " · " + w
			continue
		}
		lines = append(lines, w)
	}
	return lines
}

// addBindings draws one arrow between two entities, whatever the number of their bindings. The default exchange's
// implicit bindings are not drawn.
func (t *topology) addBindings() {
	kinds := map[string]leveret.ExchangeType{}
	for _, x := range t.exchanges {
		kinds[x.Name] = x.Type
	}
	arrows := map[[2]int]int{}
	for _, b := range t.v.Bindings() {
		if b.Source == "" {
			continue
		}
		ends := [2]int{t.find(entity{name: b.Source}), t.find(entity{b.DestinationType == leveret.DestinationQueue, b.Destination})}
		i, ok := arrows[ends]
		if !ok {
			i = len(t.Edges)
			arrows[ends] = i
			t.Edges = append(t.Edges, Edge{From: ends[0], To: ends[1], Kind: Binding})
		}
		if label := bindingLabel(kinds[b.Source], b); label != "" {
			t.Edges[i].Labels = append(t.Edges[i].Labels, label)
		}
	}
}

// bindingLabel is what decides about a message at a binding.
func bindingLabel(kind leveret.ExchangeType, b leveret.BindingInfo) string {
	switch kind {
	case leveret.Fanout:
		return ""
	case leveret.Headers:
		var terms []string
		for name, value := range b.Arguments {
			terms = append(terms, fmt.Sprintf("%s=%v", name, value))
		}
		slices.Sort(terms)
		return cmp.Or(strings.Join(terms, ", "), "(no headers)")
	}
	return cmp.Or(b.RoutingKey, "(empty key)")
}

func (t *topology) addAlternates() {
	policies := map[string]leveret.Policy{}
	for _, p := range t.v.Policies() {
		policies[p.Name] = p
	}
	for _, x := range t.exchanges {
		to, ok := x.Arguments[leveret.ArgAlternateExchange].(string)
		if !ok {
			to, ok = policies[x.Policy].Definition["alternate-exchange"].(string)
		}
		if ok {
			t.Edges = append(t.Edges, Edge{From: t.at[entity{name: x.Name}], To: t.find(entity{name: to}), Kind: Alternate,
				Labels: []string{"unrouted"}})
		}
	}
}

func (t *topology) addDeadLetters() {
	for _, q := range t.queues {
		e := t.effective(q.Name)
		exchange, ok := setting[string](e, "dead-letter-exchange")
		if !ok {
			continue
		}
		edge := Edge{From: t.at[entity{true, q.Name}], Kind: DeadLetter}
		if ttl, waits := setting[int64](e, "message-ttl"); waits {
			edge.Delayed, edge.Labels = true, []string{"after " + span(ttl)}
		}
		key, hasKey := setting[string](e, "dead-letter-routing-key")
		if hasKey && exchange == "" {
			edge.To = t.find(entity{true, key})
		} else {
			edge.To = t.find(entity{name: exchange})
			if hasKey {
				edge.Labels = append(edge.Labels, "key "+cmp.Or(key, "(empty)"))
			}
		}
		t.Edges = append(t.Edges, edge)
	}
}

// setting returns the value in force; false if there is none.
func setting[V any](e leveret.Effective, key string) (V, bool) {
	s, _ := e.Get(key)
	v, ok := s.Value.(V)
	return v, ok
}

// leaveOutUnused removes the predeclared exchanges that no arrow touches.
func (t *topology) leaveOutUnused() {
	used := make([]bool, len(t.Nodes))
	for _, e := range t.Edges {
		used[e.From], used[e.To] = true, true
	}
	for _, x := range t.exchanges {
		if predeclared := x.Name == "" || strings.HasPrefix(x.Name, "amq."); !predeclared {
			used[t.at[entity{name: x.Name}]] = true
		}
	}
	for _, q := range t.queues {
		used[t.at[entity{true, q.Name}]] = true
	}
	t.Graph = t.only(used)
}

// only returns the graph with some of its nodes.
func (g *Graph) only(keep []bool) Graph {
	kept := Graph{Title: g.Title}
	moved := make([]int, len(g.Nodes))
	for i, n := range g.Nodes {
		if keep[i] {
			moved[i] = len(kept.Nodes)
			kept.Nodes = append(kept.Nodes, n)
		}
	}
	for _, e := range g.Edges {
		if keep[e.From] && keep[e.To] {
			e.From, e.To = moved[e.From], moved[e.To]
			kept.Edges = append(kept.Edges, e)
		}
	}
	return kept
}
