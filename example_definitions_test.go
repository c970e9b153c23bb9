package leveret_test

import (
	"encoding/json"
	"fmt"

	"github.com/leveretmq/leveret"
)

// A file that RabbitMQ exported loads unchanged.
func ExampleBroker_ImportDefinitions() {
	b := leveret.New()
	defer b.Close()

	err := b.ImportDefinitions([]byte(`{
		"vhosts":   [{"name": "/"}],
		"queues":   [{"name": "orders", "vhost": "/", "durable": true, "auto_delete": false, "arguments": {"x-max-length": 10}}],
		"policies": [{"name": "dead", "vhost": "/", "pattern": "^orders", "apply-to": "queues", "priority": 0,
			"definition": {"dead-letter-exchange": "amq.fanout"}}]
	}`))
	fmt.Println(err)
	for _, s := range try(b.Queue("orders")).Effective().Settings {
		if s.Source != leveret.SourceDefault {
			fmt.Println(s.Key, s.Value, s.Source)
		}
	}
	// Output:
	// <nil>
	// dead-letter-exchange amq.fanout policy
	// max-length 10 argument
}

// A file with a mistake changes nothing.
func ExampleBroker_ImportDefinitions_mistake() {
	b := leveret.New()
	defer b.Close()

	err := b.ImportDefinitions([]byte(`{
		"queues":   [{"name": "orders", "vhost": "/", "durable": true, "auto_delete": false, "arguments": {}}],
		"bindings": [{"source": "nowhere", "vhost": "/", "destination": "orders", "destination_type": "queue",
			"routing_key": "", "arguments": {}}]
	}`))
	fmt.Println(err)
	fmt.Println(len(b.Queues()))
	// Output:
	// PRECONDITION_FAILED - bindings[0] 'nowhere -> orders': {resources_missing,[{not_found,{resource,<<"/">>,exchange,<<"nowhere">>}}]}
	// 0
}

func ExampleBroker_ExportDefinitions() {
	b := leveret.New()
	defer b.Close()

	try(b.DeclareQueue("orders", leveret.QueueConfig{Durable: true}))
	check(b.BindQueue("orders", "amq.topic", "order.#", nil))
	data := try(b.ExportDefinitions())

	other := leveret.New()
	defer other.Close()
	check(other.ImportDefinitions(data))
	fmt.Println(try(other.Publish("amq.topic", "order.new", leveret.Message{})).Queues)
	// Output: 1
}

// The definitions of one virtual host can be loaded into another.
func ExampleVHost_ImportDefinitions() {
	b := leveret.New()
	defer b.Close()

	v := try(b.VHost("/"))
	try(v.DeclareQueue("orders", leveret.QueueConfig{Durable: true}))
	staging := try(b.CreateVHost("staging"))
	check(staging.ImportDefinitions(try(v.ExportDefinitions())))
	for _, q := range staging.Queues() {
		fmt.Println(q.VHost, q.Name)
	}
	// Output: staging orders
}

func ExampleVHost_ExportDefinitions() {
	b := leveret.New()
	defer b.Close()

	v := try(b.VHost("/"))
	try(v.DeclareQueue("orders", leveret.QueueConfig{Durable: true}))
	var definitions struct {
		Queues []struct{ Name string }
	}
	check(json.Unmarshal(try(v.ExportDefinitions()), &definitions))
	fmt.Println(definitions.Queues)
	// Output: [{orders}]
}
