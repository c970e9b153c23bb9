package definitions_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
)

// A file that RabbitMQ exported loads unchanged.
func ExampleImport() {
	b := leveret.New()
	defer b.Close()

	err := definitions.Import(b, []byte(`{
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
func ExampleImport_mistake() {
	b := leveret.New()
	defer b.Close()

	err := definitions.Import(b, []byte(`{
		"queues":   [{"name": "orders", "vhost": "/", "durable": true, "auto_delete": false, "arguments": {}}],
		"bindings": [{"source": "nowhere", "vhost": "/", "destination": "orders", "destination_type": "queue",
			"routing_key": "", "arguments": {}}]
	}`))
	fmt.Println(err)
	var mistake *definitions.Error
	if errors.As(err, &mistake) {
		fmt.Println(mistake.Section, mistake.Index)
	}
	fmt.Println(len(b.Queues()))
	// Output:
	// bindings[0] 'nowhere -> orders': {resources_missing,[{not_found,{resource,<<"/">>,exchange,<<"nowhere">>}}]}
	// bindings 0
	// 0
}

// What a RabbitMQ with plugins has, and leveret has not, is left out and told.
func ExampleImportSupported() {
	b := leveret.New()
	defer b.Close()

	leftOut, err := definitions.ImportSupported(b, []byte(`{
		"queues":    [{"name": "orders", "vhost": "/"}, {"name": "log", "vhost": "/", "arguments": {"x-queue-type": "stream"}}],
		"exchanges": [{"name": "later", "vhost": "/", "type": "x-delayed-message"}],
		"bindings":  [{"source": "later", "vhost": "/", "destination": "orders", "destination_type": "queue", "routing_key": ""}]
	}`))
	fmt.Println(len(b.Queues()), err)
	for _, e := range leftOut {
		fmt.Println(e)
	}
	// Output:
	// 1 <nil>
	// exchanges[0] 'later': there are no exchanges of type 'x-delayed-message'
	// queues[1] 'log': there are no streams
	// bindings[0] 'later -> orders': exchange 'later' is left out
}

// A program can look at what is left out before it decides.
func ExampleDefinitions_Supported() {
	d := try(definitions.Parse([]byte(`{"policies": [
		{"name": "keep", "vhost": "/", "pattern": "", "apply-to": "streams", "definition": {"max-age": "7D"}},
		{"name": "dead", "vhost": "/", "pattern": "", "definition": {"dead-letter-exchange": "amq.fanout"}}]}`)))
	supported, leftOut := d.Supported(leveret.RabbitMQ43)
	fmt.Println(len(supported.Policies), leftOut[0])
	// Output:
	// 1 policies[0] 'keep': there are no streams
}

func ExampleExport() {
	b := leveret.New()
	defer b.Close()

	try(b.DeclareQueue("orders", leveret.QueueConfig{Durable: true}))
	check(b.BindQueue("orders", "amq.topic", "order.#", nil))
	data := try(definitions.Export(b))

	other := leveret.New()
	defer other.Close()
	check(definitions.Import(other, data))
	fmt.Println(try(other.Publish("amq.topic", "order.new", leveret.Message{})).Queues)
	// Output: 1
}

// The definitions of one virtual host can be loaded into another.
func ExampleImportVHost() {
	b := leveret.New()
	defer b.Close()

	v := try(b.VHost("/"))
	try(v.DeclareQueue("orders", leveret.QueueConfig{Durable: true}))
	staging := try(b.CreateVHost("staging"))
	check(definitions.ImportVHost(staging, try(definitions.ExportVHost(v))))
	for _, q := range staging.Queues() {
		fmt.Println(q.VHost, q.Name)
	}
	// Output: staging orders
}

func ExampleExportVHost() {
	b := leveret.New()
	defer b.Close()

	v := try(b.VHost("/"))
	try(v.DeclareQueue("orders", leveret.QueueConfig{Durable: true}))
	var document struct {
		Queues []struct{ Name string }
	}
	check(json.Unmarshal(try(definitions.ExportVHost(v)), &document))
	fmt.Println(document.Queues)
	// Output: [{orders}]
}

// A parsed document is a value that a program may look at and change.
func ExampleParse() {
	d := try(definitions.Parse([]byte(`{"queues": [{"name": "orders", "vhost": "/", "arguments": {"x-max-length": 10}}]}`)))
	for _, q := range d.Queues {
		fmt.Println(q.Name, q.Arguments.Table[leveret.ArgMaxLength])
	}
	_, err := definitions.Parse([]byte("{\n  \"queues\": [}\n}"))
	fmt.Println(err)
	// Output:
	// orders 10
	// line 2, column 14: failed_to_parse_json: invalid character '}' looking for beginning of value
}

func ExampleDefinitions_Apply() {
	b := leveret.New()
	defer b.Close()

	d := try(definitions.Parse([]byte(`{"queues": [{"name": "orders", "vhost": "/"}, {"name": "debug", "vhost": "/"}]}`)))
	d.Queues = d.Queues[:1]
	fmt.Println(d.Apply(b))
	for _, q := range b.Queues() {
		fmt.Println(q.Name)
	}
	// Output:
	// <nil>
	// orders
}

func ExampleDefinitions_ApplyToVHost() {
	b := leveret.New()
	defer b.Close()

	check(b.BindExchange("amq.fanout", "amq.topic", "order.#", nil))
	for _, name := range []string{"test", "staging"} {
		v := try(b.CreateVHost(name))
		check(definitions.Of(b).ApplyToVHost(v))
		fmt.Println(len(v.Bindings()))
	}
	// Output:
	// 1
	// 1
}

func ExampleOf() {
	b := leveret.New()
	defer b.Close()

	check(b.SetPolicy(leveret.Policy{Name: "limit", Pattern: "^orders", Definition: leveret.Table{"max-length": 10}}))
	for _, p := range definitions.Of(b).Policies {
		fmt.Println(p.VHost, p.Name, *p.Pattern, p.Definition.Table)
	}
	// Output: / limit ^orders map[max-length:10]
}

func ExampleOfVHost() {
	b := leveret.New()
	defer b.Close()

	v := try(b.CreateVHost("shop"))
	try(v.DeclareQueue("orders", leveret.QueueConfig{Durable: true}))
	d := definitions.OfVHost(v)
	fmt.Println(d.VHostName, len(d.Queues), d.Users == nil)
	// Output: shop 1 true
}

func ExampleArgumentsOf() {
	twice := leveret.Fields{{Name: "x-max-length", Value: 5}, {Name: "x-max-length", Value: 7}}
	fmt.Println(string(try(json.Marshal(definitions.ArgumentsOf(twice)))))
	// Output: {"x-max-length":7}
}

func try[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
