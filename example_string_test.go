package leveret_test

import (
	"fmt"

	"github.com/leveretmq/leveret"
)

// What is printed are names, so that a log line costs no lock.
func ExampleQueue_String() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("work", leveret.QueueConfig{}))
	fmt.Println(q)
	fmt.Printf("%v\n", q)
	// Output:
	// queue 'work' in vhost '/'
	// queue 'work' in vhost '/'
}

func ExampleBroker_String() {
	b := leveret.New(leveret.WithProfile(leveret.RabbitMQ310))
	defer b.Close()

	fmt.Println(b)
	fmt.Println(try(b.VHost("/")))
	// Output:
	// leveret broker as RabbitMQ 3.10
	// virtual host '/'
}

func ExampleExchange_String() {
	b := leveret.New()
	defer b.Close()

	fmt.Println(try(b.Exchange("amq.topic")))
	// Output: exchange 'amq.topic' in vhost '/'
}

func ExampleConn_String() {
	b := leveret.New()
	defer b.Close()

	fmt.Println(try(b.Connect("guest", "guest", "/")))
	// Output: connection 1 of user 'guest' to vhost '/'
}

func ExampleChannel_String() {
	b := leveret.New()
	defer b.Close()

	fmt.Println(try(try(b.Connect("guest", "guest", "/")).Channel()))
	// Output: channel 1 of connection 1 of user 'guest' to vhost '/'
}

func ExampleConsumer_String() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("work", leveret.QueueConfig{}))
	fmt.Println(try(q.Consume(leveret.ConsumeConfig{Tag: "worker"})))
	// Output: consumer 'worker' of queue 'work' in vhost '/'
}

func ExampleDelivery_String() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("work", leveret.QueueConfig{}))
	try(b.Publish("", "work", leveret.Message{Body: []byte("job")}))
	fmt.Println(taken(q.Get()))
	// Output: delivery 1: 3 bytes published to exchange '' with routing key 'work'
}

func ExampleProfile_String() {
	fmt.Println(leveret.RabbitMQ43, leveret.RabbitMQ310)
	// Output: RabbitMQ 4.3 RabbitMQ 3.10
}

func ExampleNotificationKind_String() {
	fmt.Println(leveret.ConsumerCancelled)
	// Output: consumer cancelled
}

func ExampleProperty_String() {
	p := leveret.Properties{ContentType: "text/plain", DeliveryMode: 2}
	fmt.Println(p.Has())
	// Output: content-type|delivery-mode
}

func ExampleEffective_String() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("work", leveret.QueueConfig{Arguments: leveret.Table{leveret.ArgMaxLength: 100}}))
	check(b.SetPolicy(leveret.Policy{Name: "ttl", Pattern: "work", Definition: leveret.Table{"message-ttl": 1000}}))
	fmt.Println(q.Effective())
	// Output:
	// policy: ttl
	// max-length: 100 (argument)
	// message-ttl: 1000 (policy)
	// overflow: drop-head (default)
}
