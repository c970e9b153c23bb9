package leveret_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/leveretmq/leveret"
)

func ExampleVHost_ClearPermissions() {
	b := leveret.New()
	defer b.Close()

	check(b.ClearPermissions("guest"))
	_, err := b.Connect("guest", "guest", "/")
	fmt.Println(errors.Is(err, leveret.ErrNotAllowed))
	// Output: true
}

func ExampleVHost_Permissions() {
	b := leveret.New()
	defer b.Close()

	for _, p := range b.Permissions() {
		fmt.Println(p.User, p.Configure, p.Write, p.Read)
	}
	// Output: guest .* .* .*
}

func ExampleVHost_SetTopicPermissions() {
	b := leveret.New()
	defer b.Close()

	check(b.AddUser("eu", "secret"))
	check(b.SetPermissions("eu", leveret.Permissions{Configure: ".*", Write: ".*", Read: ".*"}))
	check(b.SetTopicPermissions("eu", "amq.topic", leveret.TopicPermissions{Write: `^{username}\.`, Read: ".*"}))
	ch := try(try(b.Connect("eu", "secret", "/")).Channel())
	_, err := ch.Publish("amq.topic", "eu.orders", leveret.Message{})
	fmt.Println(err)
	_, err = ch.Publish("amq.topic", "us.orders", leveret.Message{})
	fmt.Println(err)
	// Output:
	// <nil>
	// basic.publish: ACCESS_REFUSED - write access to topic 'us.orders' in exchange 'amq.topic' in vhost '/' refused for user 'eu'
}

func ExampleVHost_ClearTopicPermissions() {
	b := leveret.New()
	defer b.Close()

	check(b.SetTopicPermissions("guest", "amq.topic", leveret.TopicPermissions{Write: "^eu", Read: ".*"}))
	check(b.ClearTopicPermissions("guest", "amq.topic"))
	fmt.Println(len(b.TopicPermissions()))
	// Output: 0
}

func ExampleVHost_TopicPermissions() {
	b := leveret.New()
	defer b.Close()

	check(b.SetTopicPermissions("guest", "amq.topic", leveret.TopicPermissions{Write: "^eu", Read: ".*"}))
	for _, p := range b.TopicPermissions() {
		fmt.Println(p.User, p.Exchange, p.Write, p.Read)
	}
	// Output: guest amq.topic ^eu .*
}

func ExampleBroker_AddUser() {
	b := leveret.New()
	defer b.Close()

	check(b.AddUser("shop", "secret", "monitoring"))
	for _, u := range b.Users() {
		fmt.Println(u.Name, u.Tags)
	}
	// Output:
	// guest [administrator]
	// shop [monitoring]
}

func ExampleBroker_DeleteUser() {
	b := leveret.New()
	defer b.Close()

	conn := try(b.Connect("guest", "guest", "/"))
	check(b.DeleteUser("guest"))
	fmt.Println(conn.Err())
	// Output: leveret: closed: CONNECTION_FORCED - user 'guest' is deleted
}

func ExampleBroker_Users() {
	b := leveret.New()
	defer b.Close()

	for _, u := range b.Users() {
		fmt.Println(u.Name, u.Tags)
	}
	// Output: guest [administrator]
}

func ExampleBroker_SetUserTags() {
	b := leveret.New()
	defer b.Close()

	check(b.SetUserTags("guest", "monitoring", "policymaker"))
	fmt.Println(b.Users()[0].Tags)
	// Output: [monitoring policymaker]
}

func ExampleBroker_SetUserLimits() {
	b := leveret.New()
	defer b.Close()

	check(b.SetUserLimits("guest", leveret.UserLimits{MaxConnections: 1, MaxChannels: -1}))
	try(b.Connect("guest", "guest", "/"))
	_, err := b.Connect("guest", "guest", "/")
	fmt.Println(err)
	// Output: connection.open: NOT_ALLOWED - connection refused for user 'guest': user connection limit (1) is reached
}

func ExampleBroker_Authenticate() {
	b := leveret.New()
	defer b.Close()

	fmt.Println(b.Authenticate("guest", "guest"))
	fmt.Println(errors.Is(b.Authenticate("guest", "guess"), leveret.ErrAccessRefused))
	// Output:
	// <nil>
	// true
}

func ExampleBroker_ChangePassword() {
	b := leveret.New()
	defer b.Close()

	check(b.ChangePassword("guest", "better"))
	fmt.Println(b.Authenticate("guest", "better"))
	// Output: <nil>
}

func ExampleBroker_ReplyText() {
	b := leveret.New(leveret.WithProfile(leveret.RabbitMQ310))
	defer b.Close()

	_, err := b.Queue(strings.Repeat("ü", 120))
	var refusal *leveret.Error
	if errors.As(err, &refusal) {
		fmt.Println(len(b.ReplyText(refusal)), len(refusal.Text()))
	}
	// Output: 255 276
}

func ExampleConn_UpdateSecret() {
	b := leveret.New()
	defer b.Close()

	check(b.AddUser("clerk", "secret"))
	check(b.SetPermissions("clerk", leveret.Permissions{Configure: ".*", Write: ".*", Read: ".*"}))
	conn := try(b.Connect("clerk", "secret", "/"))
	ch := try(conn.Channel())
	try(ch.DeclareQueue("orders", leveret.QueueConfig{}))
	consumer := try(ch.Consume("orders", leveret.ConsumeConfig{}))

	check(b.SetPermissions("clerk", leveret.Permissions{Write: ".*"}))
	fmt.Println(consumer.Err())
	check(conn.UpdateSecret())
	fmt.Println(errors.Is(consumer.Err(), leveret.ErrCancelled))
	// Output:
	// <nil>
	// true
}
