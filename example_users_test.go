package leveret_test

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/leveretmq/leveret"
)

func ExampleBroker_User() {
	b := leveret.New()
	defer b.Close()

	guest := try(b.User("guest"))
	fmt.Println(guest.Name, guest.Tags, guest.Password.Algorithm)
	_, err := b.User("nobody")
	fmt.Println(err)
	// Output:
	// guest [administrator] rabbit_password_hashing_sha256
	// NOT_FOUND - user 'nobody' does not exist
}

// A user moves to another broker without anybody knowing the password.
func ExampleBroker_SetUser() {
	b, other := leveret.New(), leveret.New()
	defer b.Close()
	defer other.Close()

	check(b.AddUser("ann", "secret", "monitoring"))
	ann := try(b.User("ann"))
	check(other.SetUser(ann.Name, ann.Password, ann.Tags...))
	fmt.Println(other.Authenticate("ann", "secret"))
	// Output: <nil>
}

func ExampleBroker_HashPassword() {
	b := leveret.New()
	defer b.Close()

	hash := b.HashPassword("secret")
	fmt.Println(hash.Algorithm, len(hash.Hash), "bytes")
	check(b.SetUser("ann", hash))
	fmt.Println(b.Authenticate("ann", "secret"))
	// Output:
	// rabbit_password_hashing_sha256 36 bytes
	// <nil>
}

func ExampleBroker_SetGlobalParameter() {
	b := leveret.New()
	defer b.Close()

	check(b.SetGlobalParameter(leveret.GlobalParameter{Name: "cluster_name", Value: json.RawMessage(`"staging"`)}))
	for _, p := range b.GlobalParameters() {
		fmt.Println(p.Name, string(p.Value))
	}
	// Output: cluster_name "staging"
}

func ExampleBroker_GlobalParameters() {
	b := leveret.New()
	defer b.Close()

	fmt.Println(len(b.GlobalParameters()))
	check(b.SetGlobalParameter(leveret.GlobalParameter{Name: "owner", Value: json.RawMessage(`{"team": "mail"}`)}))
	var owner struct{ Team string }
	check(json.Unmarshal(b.GlobalParameters()[0].Value, &owner))
	fmt.Println(owner.Team)
	// Output:
	// 0
	// mail
}

func ExampleBroker_ClearGlobalParameter() {
	b := leveret.New()
	defer b.Close()

	check(b.SetGlobalParameter(leveret.GlobalParameter{Name: "owner", Value: json.RawMessage(`"mail"`)}))
	check(b.ClearGlobalParameter("owner"))
	fmt.Println(b.ClearGlobalParameter("owner"))
	// Output: NOT_FOUND - global parameter 'owner' does not exist
}

func ExampleVHost_Info() {
	b := leveret.New()
	defer b.Close()

	shop := try(b.CreateVHost("shop"))
	try(shop.DeclareQueue("orders", leveret.QueueConfig{}))
	check(shop.SetMetadata("what customers buy", "production"))
	info := shop.Info()
	fmt.Println(info.Name, "-", info.Description, info.Tags, info.DefaultQueueType, info.Queues)
	// Output: shop - what customers buy [production] classic 1
}

func ExampleVHost_Broker() {
	b := leveret.New()
	defer b.Close()

	shop := try(b.CreateVHost("shop"))
	check(shop.Broker().AddUser("ann", "secret"))
	fmt.Println(b.Authenticate("ann", "secret"))
	// Output: <nil>
}

func ExampleWithCredentialValidator() {
	b := leveret.New(leveret.WithCredentialValidator(func(user, password string) error {
		if user == password {
			return errors.New("the password is the name")
		}
		return nil
	}))
	defer b.Close()

	fmt.Println(b.AddUser("ann", "ann"))
	// Output: PRECONDITION_FAILED - the password is the name
}

func ExampleBroker_ValidateCredentials() {
	b := leveret.New()
	defer b.Close()

	fmt.Println(b.ValidateCredentials("ann", "ann"))
	// Output: <nil>
}

// As default_queue_type of rabbitmq.conf.
func ExampleWithDefaultQueueType() {
	b := leveret.New(leveret.WithDefaultQueueType(leveret.QueueTypeQuorum))
	defer b.Close()

	fmt.Println(try(b.DeclareQueue("q", leveret.QueueConfig{Durable: true})).Info().Type)
	fmt.Println(try(b.CreateVHost("shop")).Info().DefaultQueueType, b.NodeDefaultQueueType())
	// Output:
	// quorum
	// quorum quorum
}

func ExampleBroker_NodeDefaultQueueType() {
	b := leveret.New()
	defer b.Close()

	fmt.Println(b.NodeDefaultQueueType())
	// Output: classic
}

func ExampleBroker_AuthAttempts() {
	b := leveret.New()
	defer b.Close()

	b.CountAuthAttempt("amqp091", true) // as a server of package amqpd does
	try(b.Connect("guest", "guest", "/"))
	fmt.Printf("%+v\n", b.AuthAttempts())
	// Output: map[amqp091:{Succeeded:1 Failed:0}]
}

// A listener of another protocol counts its clients.
func ExampleBroker_CountAuthAttempt() {
	b := leveret.New()
	defer b.Close()

	err := b.Authenticate("guest", "wrong")
	b.CountAuthAttempt("stomp", err == nil)
	fmt.Printf("%+v\n", b.AuthAttempts())
	// Output: map[stomp:{Succeeded:0 Failed:1}]
}

func ExampleBroker_ResetAuthAttempts() {
	b := leveret.New()
	defer b.Close()

	b.CountAuthAttempt("http", true)
	b.ResetAuthAttempts()
	fmt.Println(len(b.AuthAttempts()))
	// Output: 0
}
