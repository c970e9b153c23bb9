package main

import (
	"maps"
	"slices"

	amqp "github.com/rabbitmq/amqp091-go"
)

// A queueSpec is a queue that messages are published to. All of them are durable.
type queueSpec struct {
	name   string
	quorum bool
	args   amqp.Table

	deadTo   string // where its dead letters go; empty: nowhere
	dies     bool   // its messages die without anybody's doing
	drops    bool   // it loses messages, as it was told to
	consumed bool   // by ack, nack and reject
	tx       bool   // only transactions publish to it
}

// Queues for dead letters.
const (
	deadClassic = "dead.classic"
	deadQuorum  = "dead.quorum"
)

// many is more than any message is delivered.
const many = 1_000_000

func deadTo(queue string, more amqp.Table) amqp.Table {
	args := amqp.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": queue}
	maps.Copy(args, more)
	return args
}

var queues = []queueSpec{
	{name: "classic", consumed: true},
	{name: "quorum", quorum: true, args: amqp.Table{"x-delivery-limit": many}, consumed: true},
	{name: "order.classic"},
	{name: "order.quorum", quorum: true},
	{name: "dies.classic", args: deadTo(deadClassic, nil), deadTo: deadClassic, consumed: true},
	{name: "dies.once", quorum: true, args: deadTo(deadClassic, amqp.Table{"x-delivery-limit": many}), deadTo: deadClassic, consumed: true},
	{name: "dies.least", quorum: true, args: deadTo(deadQuorum, amqp.Table{
		"x-delivery-limit": many, "x-dead-letter-strategy": "at-least-once", "x-overflow": "reject-publish",
	}), deadTo: deadQuorum, consumed: true},
	{name: "expires", args: deadTo(deadClassic, amqp.Table{"x-message-ttl": 40}), deadTo: deadClassic, dies: true},
	{name: "expires.quorum", quorum: true, args: deadTo(deadQuorum, amqp.Table{"x-message-ttl": 60}), deadTo: deadQuorum, dies: true},
	{name: "limited", quorum: true, args: deadTo(deadQuorum, amqp.Table{"x-delivery-limit": 2}), deadTo: deadQuorum, dies: true, consumed: true},
	{name: "policy", deadTo: deadQuorum, consumed: true},                                                              // by a policy
	{name: "full", args: amqp.Table{"x-max-length": 30, "x-overflow": "reject-publish"}, drops: true, consumed: true}, // when it comes back
	{name: "full.quorum", quorum: true, args: amqp.Table{"x-max-length": 30, "x-overflow": "reject-publish", "x-delivery-limit": many}, consumed: true},
	{name: "short", args: amqp.Table{"x-max-length": 20}, drops: true},
	{name: "overflows", args: deadTo(deadQuorum, amqp.Table{"x-max-length": 10}), deadTo: deadQuorum, dies: true},
	{name: "fan.classic"},
	{name: "fan.quorum", quorum: true, args: amqp.Table{"x-delivery-limit": many}, consumed: true},
	{name: "tx.classic", tx: true},
	{name: "tx.quorum", quorum: true, tx: true},
	{name: "tx.in"},
}

// deadQueues are where dead letters end. The first is consumed, too.
var deadQueues = []queueSpec{
	{name: deadClassic, consumed: true},
	{name: deadQuorum, quorum: true, args: amqp.Table{"x-delivery-limit": many}},
}

// fan is an exchange that leads to the queues fan.classic and fan.quorum.
const fan = "fan"

func specOf(queue string) *queueSpec {
	for i := range queues {
		if queues[i].name == queue {
			return &queues[i]
		}
	}
	return nil
}

// declare declares everything. All of it may be there.
func declare(ch *amqp.Channel) error {
	for _, q := range slices.Concat(deadQueues, queues) {
		args := amqp.Table{"x-queue-type": "classic"}
		if q.quorum {
			args["x-queue-type"] = "quorum"
		}
		maps.Copy(args, q.args)
		if _, err := ch.QueueDeclare(q.name, true, false, false, false, args); err != nil {
			return err
		}
	}
	if err := ch.ExchangeDeclare(fan, "fanout", true, false, false, false, nil); err != nil {
		return err
	}
	for _, queue := range []string{"fan.classic", "fan.quorum"} {
		if err := ch.QueueBind(queue, "", fan, false, nil); err != nil {
			return err
		}
	}
	return nil
}
