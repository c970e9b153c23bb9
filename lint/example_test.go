package lint_test

import (
	"fmt"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/lint"
)

// A queue whose time to live is misspelt, and whose dead-letter exchange is not in the file.
var orders = []byte(`{
	"queues": [{"name": "orders", "vhost": "/", "arguments": {"x-mesage-ttl": 60000, "x-dead-letter-exchange": "dlx"}}]
}`)

func ExampleCheck() {
	findings, err := lint.Check(orders, leveret.RabbitMQ43)
	if err != nil {
		fmt.Println(err)
	}
	for _, f := range findings {
		fmt.Println(f)
	}
	// Output:
	// L010 error queue 'orders': There is no exchange 'dlx', its dead-letter exchange. What dies here is lost.
	// L040 warning queue 'orders': Nothing knows the argument 'x-mesage-ttl'. Probably 'x-message-ttl' is meant.
}

func ExampleWorst() {
	findings, _ := lint.Check(orders, leveret.RabbitMQ43)
	fmt.Println(lint.Worst(findings), lint.Worst(nil))
	// Output: error info
}

func ExampleFinding_String() {
	f := lint.Finding{Code: lint.ExpiryLost, Severity: lint.Warning, VHost: "shop", Kind: "queue", Name: "orders", Text: "…"}
	fmt.Println(f)
	// Output: L014 warning queue 'orders' in virtual host 'shop': …
}

func ExampleExplain() {
	e, err := lint.Explain(orders, leveret.RabbitMQ43, "/", "orders")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Type, e.Settings[0])
	// Output: classic {dead-letter-exchange dlx argument}
}

func ExampleExplanation_String() {
	e := &lint.Explanation{VHost: "/", Queue: "orders", Type: leveret.QueueTypeClassic, Policy: "short",
		Settings: []leveret.Setting{{Key: "message-ttl", Value: int64(60000), Source: leveret.SourcePolicy}},
		Ways:     []lint.Way{{Steps: []lint.Step{{Queue: "orders", Lost: leveret.CauseNoDeadLetterExchange}}}}}
	fmt.Print(e)
	// Output:
	// queue 'orders' in virtual host '/', classic
	//
	// setting      value  from
	// message-ttl  60000  policy 'short'
	//
	// A message that comes with any key and dies:
	//   orders has no dead-letter exchange: what dies here is lost
}

func ExampleStep_String() {
	fmt.Println(lint.Step{Queue: "orders", Exchange: "dlx", Key: "order.new", Queues: []string{"dead"}})
	// Output: orders → exchange 'dlx' with key 'order.new' → dead
}

// The limit of a running queue is lowered.
func ExampleCompare() {
	file := func(limit int) []byte {
		return fmt.Appendf(nil, `{
			"queues": [{"name": "orders", "vhost": "/", "durable": true, "auto_delete": false, "arguments": {}}],
			"policies": [{"vhost": "/", "name": "short", "pattern": "^orders$", "apply-to": "queues", "priority": 0,
				"definition": {"max-length": %d}}]
		}`, limit)
	}
	c, err := lint.Compare(file(1000), file(100), leveret.RabbitMQ43)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range c.Changes[0].Effects {
		fmt.Println(e.Kind)
	}
	// Output: trimmed
}

func ExampleComparison_String() {
	c, _ := lint.Compare([]byte(`{"queues": []}`), orders, leveret.RabbitMQ43)
	fmt.Print(c)
	// Output: + queue 'orders'
}

func ExampleChange_String() {
	fmt.Print(lint.Change{How: lint.Changed, VHost: "shop", Kind: "user", Name: "app",
		Differences: []lint.Difference{{Key: "tags", Old: "", New: "monitoring", AtOnce: true}}})
	// Output:
	// ~ user 'app' in virtual host 'shop'
	//     tags: "" → monitoring
}

func ExampleDifference_String() {
	fmt.Println(lint.Difference{Key: "max-length", Old: nil, New: 100, From: "policy 'short'", AtOnce: true})
	fmt.Println(lint.Difference{Key: "x-max-priority", Old: 5, New: 10})
	// Output:
	// max-length: none → 100 by policy 'short'
	// x-max-priority: 5 → 10, when it is declared anew
}
