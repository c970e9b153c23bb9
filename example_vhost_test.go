package leveret_test

import (
	"encoding/json"
	"fmt"

	"github.com/leveretmq/leveret"
)

func ExampleVHost_Name() {
	b := leveret.New()
	defer b.Close()

	fmt.Println(b.Name(), try(b.CreateVHost("staging")).Name())
	// Output: / staging
}

func ExampleVHost_DeclareExchange() {
	b := leveret.New()
	defer b.Close()

	x := try(b.DeclareExchange("events", leveret.Topic, leveret.ExchangeConfig{Durable: true}))
	fmt.Println(x.Name())
	_, err := b.DeclareExchange("events", leveret.Fanout, leveret.ExchangeConfig{Durable: true})
	fmt.Println(err)
	// Output:
	// events
	// exchange.declare: PRECONDITION_FAILED - inequivalent arg 'type' for exchange 'events' in vhost '/': received 'fanout' but current is 'topic'
}

func ExampleVHost_Exchange() {
	b := leveret.New()
	defer b.Close()

	fmt.Println(try(b.Exchange("amq.topic")).Info().Type)
	_, err := b.Exchange("missing")
	fmt.Println(err)
	// Output:
	// topic
	// exchange.declare: NOT_FOUND - no exchange 'missing' in vhost '/'
}

func ExampleVHost_Exchanges() {
	b := leveret.New()
	defer b.Close()

	try(b.DeclareExchange("events", leveret.Topic, leveret.ExchangeConfig{}))
	fmt.Println(len(b.Exchanges()), "exchanges, seven of them predeclared")
	// Output: 8 exchanges, seven of them predeclared
}

func ExampleVHost_DeleteExchange() {
	b := leveret.New()
	defer b.Close()

	try(b.DeclareExchange("events", leveret.Fanout, leveret.ExchangeConfig{}))
	try(b.DeclareQueue("q", leveret.QueueConfig{}))
	check(b.BindQueue("q", "events", "", nil))
	fmt.Println(b.DeleteExchange("events", leveret.DeleteConfig{IfUnused: true}))
	fmt.Println(b.DeleteExchange("events", leveret.DeleteConfig{}))
	// Output:
	// exchange.delete: PRECONDITION_FAILED - exchange 'events' in vhost '/' in use
	// <nil>
}

func ExampleVHost_DeclareQueue() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("orders", leveret.QueueConfig{Durable: true, Arguments: leveret.Table{
		leveret.ArgQueueType: "quorum",
		leveret.ArgMaxLength: 10_000,
	}}))
	fmt.Println(q.Name(), q.Info().Type)
	_, err := b.DeclareQueue("orders", leveret.QueueConfig{})
	fmt.Println(err)
	// Output:
	// orders quorum
	// queue.declare: PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'orders' in vhost '/': received 'false' but current is 'true'
}

func ExampleVHost_Queue() {
	b := leveret.New()
	defer b.Close()

	try(b.DeclareQueue("q", leveret.QueueConfig{}))
	fmt.Println(try(b.Queue("q")).Name())
	_, err := b.Queue("missing")
	fmt.Println(err)
	// Output:
	// q
	// queue.declare: NOT_FOUND - no queue 'missing' in vhost '/'
}

func ExampleVHost_Queues() {
	b := leveret.New()
	defer b.Close()

	try(b.DeclareQueue("b", leveret.QueueConfig{}))
	try(b.DeclareQueue("a", leveret.QueueConfig{}))
	try(b.Publish("", "b", leveret.Message{}))
	for _, q := range b.Queues() {
		fmt.Println(q.Name, q.Ready)
	}
	// Output:
	// a 0
	// b 1
}

func ExampleVHost_DeleteQueue() {
	b := leveret.New()
	defer b.Close()

	try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{}))
	_, err := b.DeleteQueue("q", leveret.DeleteConfig{IfEmpty: true})
	fmt.Println(err)
	fmt.Println(b.DeleteQueue("q", leveret.DeleteConfig{}))
	// Output:
	// queue.delete: PRECONDITION_FAILED - queue 'q' in vhost '/' not empty
	// 1 <nil>
}

func ExampleVHost_PurgeQueue() {
	b := leveret.New()
	defer b.Close()

	try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{}))
	fmt.Println(b.PurgeQueue("q"))
	// Output: 1 <nil>
}

func ExampleVHost_UnbindQueue() {
	b := leveret.New()
	defer b.Close()

	try(b.DeclareQueue("q", leveret.QueueConfig{}))
	check(b.BindQueue("q", "amq.direct", "key", nil))
	check(b.UnbindQueue("q", "amq.direct", "key", nil))
	fmt.Println(try(b.Publish("amq.direct", "key", leveret.Message{})).Queues)
	// Output: 0
}

func ExampleVHost_BindExchange() {
	b := leveret.New()
	defer b.Close()

	try(b.DeclareQueue("q", leveret.QueueConfig{}))
	check(b.BindExchange("amq.fanout", "amq.direct", "key", nil)) // to amq.fanout from amq.direct
	check(b.BindQueue("q", "amq.fanout", "", nil))
	fmt.Println(try(b.Publish("amq.direct", "key", leveret.Message{})).Queues)
	// Output: 1
}

func ExampleVHost_UnbindExchange() {
	b := leveret.New()
	defer b.Close()

	check(b.BindExchange("amq.fanout", "amq.direct", "key", nil))
	check(b.UnbindExchange("amq.fanout", "amq.direct", "key", nil))
	fmt.Println(len(b.Bindings()))
	// Output: 0
}

func ExampleVHost_Bindings() {
	b := leveret.New()
	defer b.Close()

	try(b.DeclareQueue("q", leveret.QueueConfig{}))
	check(b.BindQueue("q", "amq.topic", "#", nil))
	for _, bind := range b.Bindings() {
		fmt.Printf("%q to %s %s by %q\n", bind.Source, bind.DestinationType, bind.Destination, bind.RoutingKey)
	}
	// Output:
	// "" to queue q by "q"
	// "amq.topic" to queue q by "#"
}

func ExampleVHost_Consumers() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(q.Consume(leveret.ConsumeConfig{Tag: "worker", Prefetch: 10}))
	for _, c := range b.Consumers() {
		fmt.Println(c.Queue, c.Tag, c.Prefetch)
	}
	// Output: q worker 10
}

func ExampleVHost_Connections() {
	b := leveret.New()
	defer b.Close()

	try(b.Connect("guest", "guest", "/"))
	for _, c := range b.Connections() {
		fmt.Println(c.User, c.VHost)
	}
	// Output: guest /
}

func ExampleVHost_Counters() {
	b := leveret.New()
	defer b.Close()

	staging := try(b.CreateVHost("staging"))
	try(staging.DeclareQueue("q", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgMaxLength: 1, leveret.ArgDeadLetterExchange: "amq.fanout",
	}}))
	for range 3 {
		try(staging.Publish("", "q", leveret.Message{}))
	}
	c := staging.Counters()
	fmt.Println(c.Published, "published,", c.DeadLetteredAtMostOnce.MaxLength, "dead-lettered over the limit")
	// Output: 3 published, 2 dead-lettered over the limit
}

func ExampleVHost_SetDefaultQueueType() {
	b := leveret.New()
	defer b.Close()

	check(b.SetDefaultQueueType("quorum"))
	fmt.Println(try(b.DeclareQueue("q", leveret.QueueConfig{Durable: true})).Info().Type)
	// Output: quorum
}

func ExampleVHost_SetLimits() {
	b := leveret.New()
	defer b.Close()

	check(b.SetLimits(leveret.VHostLimits{MaxQueues: 1, MaxConnections: -1}))
	conn := try(b.Connect("guest", "guest", "/"))
	ch := try(conn.Channel())
	try(ch.DeclareQueue("one", leveret.QueueConfig{}))
	_, err := ch.DeclareQueue("two", leveret.QueueConfig{})
	fmt.Println(err)
	// Output: queue.declare: PRECONDITION_FAILED - cannot declare queue 'two': queue limit in vhost '/' (1) is reached
}

func ExampleVHost_ClearLimits() {
	b := leveret.New()
	defer b.Close()

	check(b.SetLimits(leveret.VHostLimits{MaxQueues: leveret.NoLimit, MaxConnections: leveret.NoLimit}))
	fmt.Println(b.VHosts()[0].HasLimits)
	check(b.ClearLimits())
	fmt.Println(b.VHosts()[0].HasLimits)
	// Output:
	// true
	// false
}

func ExampleVHost_SetProtected() {
	b := leveret.New()
	defer b.Close()

	orders := try(b.CreateVHost("orders"))
	check(orders.SetProtected(true))
	fmt.Println(b.DeleteVHost("orders"))
	check(orders.SetProtected(false))
	fmt.Println(b.DeleteVHost("orders"))
	// Output:
	// PRECONDITION_FAILED - refusing to delete vhost 'orders' because it is protected from deletion
	// <nil>
}

func ExampleVHost_SetMetadata() {
	b := leveret.New()
	defer b.Close()

	check(b.SetMetadata("where orders go", "production"))
	fmt.Println(b.VHosts()[0].Description, b.VHosts()[0].Tags)
	// Output: where orders go [production]
}

func ExampleVHost_ClearPolicy() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	check(b.SetPolicy(leveret.Policy{Name: "p", Pattern: ".*", Definition: leveret.Table{"max-length": 1}}))
	fmt.Printf("%q\n", q.Info().Policy)
	check(b.ClearPolicy("p"))
	fmt.Printf("%q\n", q.Info().Policy)
	// Output:
	// "p"
	// ""
}

func ExampleVHost_Policies() {
	b := leveret.New()
	defer b.Close()

	check(b.SetPolicy(leveret.Policy{Name: "p", Pattern: "^a", Priority: 5, Definition: leveret.Table{"max-length": 1}}))
	for _, p := range b.Policies() {
		fmt.Println(p.Name, p.Pattern, p.ApplyTo, p.Priority, p.Definition)
	}
	// Output: p ^a all 5 map[max-length:1]
}

// An operator policy and what users set: the smaller limit is in force.
func ExampleVHost_SetOperatorPolicy() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{Arguments: leveret.Table{leveret.ArgMaxLength: 100}}))
	check(b.SetOperatorPolicy(leveret.Policy{
		Name: "guard", Pattern: ".*", ApplyTo: leveret.ApplyToQueues,
		Definition: leveret.Table{"max-length": 10},
	}))
	limit, _ := q.Effective().Get("max-length")
	fmt.Println(limit.Value, limit.Source)
	// Output: 10 operator policy
}

func ExampleVHost_ClearOperatorPolicy() {
	b := leveret.New()
	defer b.Close()

	check(b.SetOperatorPolicy(leveret.Policy{
		Name: "guard", Pattern: ".*", ApplyTo: leveret.ApplyToQueues,
		Definition: leveret.Table{"max-length": 10},
	}))
	check(b.ClearOperatorPolicy("guard"))
	fmt.Println(len(b.OperatorPolicies()))
	// Output: 0
}

func ExampleVHost_OperatorPolicies() {
	b := leveret.New()
	defer b.Close()

	check(b.SetOperatorPolicy(leveret.Policy{
		Name: "guard", Pattern: ".*", ApplyTo: leveret.ApplyToQueues,
		Definition: leveret.Table{"expires": 3_600_000},
	}))
	for _, p := range b.OperatorPolicies() {
		fmt.Println(p.Name, p.Definition)
	}
	// Output: guard map[expires:3600000]
}

func ExampleVHostLimits_MarshalJSON() {
	document, err := json.Marshal(leveret.VHostLimits{MaxConnections: 5, MaxQueues: leveret.NoLimit})
	fmt.Println(string(document), err)
	// Output: {"max-connections":5} <nil>
}

func ExampleUserLimits_MarshalJSON() {
	document, err := json.Marshal(leveret.UserLimits{MaxConnections: leveret.NoLimit, MaxChannels: 0})
	fmt.Println(string(document), err)
	// Output: {"max-channels":0} <nil>
}

func ExampleVHost_ImportQueue() {
	b := leveret.New()
	defer b.Close()

	check(b.ImportQueue("", leveret.QueueConfig{Durable: true})) // DeclareQueue would make up a name
	check(b.ImportQueue("", leveret.QueueConfig{}))              // there already
	try(b.Publish("", "", leveret.Message{Body: []byte("hello")}))
	q := b.Queues()[0]
	fmt.Printf("%q durable=%t ready=%d\n", q.Name, q.Durable, q.Ready)
	// Output: "" durable=true ready=1
}

func ExampleVHost_ImportExchange() {
	b := leveret.New()
	defer b.Close()

	check(b.ImportExchange("events", leveret.Topic, leveret.ExchangeConfig{Arguments: leveret.Table{leveret.ArgAlternateExchange: 5}}))
	fmt.Println(try(b.Exchange("events")).Info().Arguments)
	// Output: map[alternate-exchange:5]
}

func ExampleVHost_ImportBinding() {
	b := leveret.New()
	defer b.Close()

	try(b.DeclareQueue("q", leveret.QueueConfig{}))
	fmt.Println(b.BindQueue("q", "", "k", nil))
	fmt.Println(b.ImportBinding(leveret.Binding{Destination: "q", RoutingKey: "k"}))
	fmt.Println(len(b.Bindings()), "bindings, one of them implicit")
	// Output:
	// queue.bind: ACCESS_REFUSED - operation not permitted on the default exchange
	// <nil>
	// 2 bindings, one of them implicit
}

// Each new virtual host has at most ten queues.
func ExampleWithVHostSetup() {
	b := leveret.New(leveret.WithVHostSetup(func(v *leveret.VHost) error {
		return v.SetLimits(leveret.VHostLimits{MaxConnections: leveret.NoLimit, MaxQueues: 10})
	}))
	defer b.Close()

	fmt.Println(try(b.CreateVHost("orders")).Info().Limits.MaxQueues)
	// Output: 10
}

func ExampleBroker_VHostSetup() {
	b := leveret.New(leveret.WithVHostSetup(func(v *leveret.VHost) error { return v.SetMetadata("made by setup") }))
	defer b.Close()

	v := try(leveret.New(leveret.WithVHostSetup(b.VHostSetup())).CreateVHost("orders"))
	fmt.Println(v.Info().Description)
	// Output: made by setup
}
