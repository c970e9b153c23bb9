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
