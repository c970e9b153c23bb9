package main

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"github.com/leveretmq/leveret"
)

// dice decide what a client does.
type dice struct{ *rand.Rand }

// one returns one of the choices.
func one[T any](d dice, choices ...T) T { return choices[d.IntN(len(choices))] }

// chance is true once in n times.
func (d dice) chance(n int) bool { return d.IntN(n) == 0 }

func (d dice) queue() string { return fmt.Sprint("q", d.IntN(6)) }

// arguments are those of a queue to be declared. Dead letters go round in circles. A death in q0 makes several: with two
// such queues a message takes every path there is, and nothing else happens.
func (d dice) arguments(queue string) leveret.Table {
	args := leveret.Table{"x-dead-letter-exchange": one(d, "", "", "", "missing"), "x-dead-letter-routing-key": d.queue()}
	if queue == "q0" && d.chance(3) {
		args["x-dead-letter-exchange"] = "amq.topic"
	}
	if d.chance(2) {
		args["x-queue-type"] = "quorum"
		args["x-delivery-limit"] = d.IntN(4)
	}
	if d.chance(3) {
		args["x-message-ttl"] = d.IntN(20)
	}
	if d.chance(8) {
		args["x-expires"] = 1 + d.IntN(300)
	}
	if d.chance(3) {
		args["x-dead-letter-strategy"] = "at-least-once"
		args["x-overflow"] = "reject-publish"
	}
	if d.chance(2) {
		args["x-max-length"] = d.IntN(40)
		args["x-overflow"] = one(d, "drop-head", "reject-publish", "reject-publish-dlx")
	}
	if d.chance(6) {
		args["x-single-active-consumer"] = true
	}
	if d.chance(8) {
		args["x-max-priority"] = 3
	}
	return args
}

// policy is a definition that changes what queues do.
func (d dice) policy() leveret.Table {
	return one(d, leveret.Table{"max-length": d.IntN(20)}, leveret.Table{"message-ttl": d.IntN(10)}, leveret.Table{"expires": 50 + d.IntN(500)},
		leveret.Table{"dead-letter-exchange": "", "dead-letter-routing-key": d.queue()}, leveret.Table{"delivery-limit": d.IntN(3)},
		leveret.Table{"overflow": "reject-publish", "max-length": 10}, leveret.Table{"max-length-bytes": d.IntN(5000)})
}

// target is where a message is published to.
func (d dice) target() (exchange, key string) {
	return one(d, "", "", "amq.fanout", "amq.topic", "amq.direct"), d.queue()
}

func (d dice) expiration() string { return one(d, "", "", "", "0", "1", "15", "60000") }

// body is that of the message with an id: its reader can tell whether it is whole.
func body(id string) []byte {
	h := fnv.New32a()
	h.Write([]byte(id))
	size := int(h.Sum32() % 1500)
	if size%100 == 0 {
		size *= 200 // a body in several frames, now and then
	}
	return bytes.Repeat([]byte(id), size/len(id))
}

// ids gives out message ids.
type ids struct {
	name string
	last int
}

func (i *ids) next() string {
	i.last++
	return fmt.Sprintf("%s-%d", i.name, i.last)
}
