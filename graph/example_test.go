package graph_test

import (
	"fmt"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/graph"
)

// A queue whose rejected messages are parked, as Mermaid.
func ExampleOf() {
	b := leveret.New()
	defer b.Close()
	b.DeclareQueue("parked", leveret.QueueConfig{})
	b.DeclareQueue("work", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgMaxLength: 100, leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "parked",
	}})
	b.Publish("", "work", leveret.Message{Body: []byte("order 17")})

	v, _ := b.VHost("/")
	g := graph.Of(v)
	for _, n := range g.Nodes {
		fmt.Println(n.Kind, n.Name, n.Details)
	}
	for _, e := range g.Edges {
		fmt.Println(g.Nodes[e.From].Name, "→", g.Nodes[e.To].Name, "by", e.Kind)
	}
	// Output:
	// queue parked []
	// queue work [max 100 1 ready]
	// work → parked by dead letters
}

// What became of one message. In a test, [leverettest.Record] keeps the events of each.
func ExampleOfEvents() {
	b := leveret.New()
	defer b.Close()
	var events []any
	stop := b.Watch(leveret.Events{
		Published: func(e leveret.PublishedEvent) { events = append(events, e) },
		Enqueued:  func(e leveret.EnqueuedEvent) { events = append(events, e) },
		Dropped:   func(e leveret.DroppedEvent) { events = append(events, e) },
	})
	q, _ := b.DeclareQueue("work", leveret.QueueConfig{})
	b.Publish("", "work", leveret.Message{Body: []byte("order 17")})
	q.Purge()
	b.Settle()
	stop()

	g := graph.OfEvents(events)
	for _, e := range g.Edges {
		fmt.Println(g.Nodes[e.From].Name, "→", g.Nodes[e.To].Name)
	}
	// Output:
	// published → work
	// work → lost
}

// one is a graph for the following examples. A program may make its own.
var one = &graph.Graph{
	Nodes: []graph.Node{{Kind: graph.Exchange, Name: "shop"}, {Kind: graph.Queue, Name: "orders", Details: []string{"max 100"}}},
	Edges: []graph.Edge{{From: 0, To: 1, Kind: graph.Binding, Labels: []string{"order.#"}}},
}

func ExampleGraph_SVG() {
	svg := one.SVG()
	fmt.Println(strings.HasPrefix(svg, "<svg "), strings.HasSuffix(svg, "</svg>\n"))
	// Output: true true
}

func ExampleGraph_Mermaid() {
	fmt.Print(strings.Join(strings.Split(one.Mermaid(), "\n")[:4], "\n"))
	// Output:
	// flowchart LR
	//   n0(["shop"]):::exchange
	//   n1["orders<br/>max 100"]:::queue
	//   n0 -->|"order.#35;"| n1
}

func ExampleGraph_DOT() {
	for _, line := range strings.Split(one.DOT(), "\n") {
		if strings.Contains(line, "->") {
			fmt.Println(line)
		}
	}
	// Output: n0 -> n1 [label="order.#" color="#64748b"]
}
