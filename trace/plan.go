package trace

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
)

// A Plan is a message to publish, and what consumers do.
type Plan struct {
	Exchange   string // empty: the default exchange
	RoutingKey string
	Message    leveret.Message
	Consumers  []Consumer
	// For is how much time may pass at most; 0: a day. Nothing passes when nothing is due.
	For time.Duration
}

// A Consumer is there from before the publish, takes one message at a time, and does one act after the other. After its
// last act it is cancelled, unless that is Hold.
type Consumer struct {
	Queue string
	Acts  []Act
}

// An Act is what a consumer does with one delivery.
type Act struct {
	Do    Deed
	After time.Duration // how long the consumer works before; 0: it acts at once
}

// A Deed is one of the following.
type Deed string

// What a consumer can do with a delivery.
const (
	Ack     Deed = "ack"
	Reject  Deed = "reject"  // without requeue: the message dies
	Requeue Deed = "requeue" // by basic.nack
	Hold    Deed = "hold"    // nothing: the delivery stays unacknowledged, until the consumer's timeout
)

// maxActs is how many acts a consumer may have: each may be some lines of the journey.
const maxActs = 10_000

// ParseConsumer reads a consumer from a line: the name of the queue, a colon, and acts, separated by commas. An act is
// ack, reject, requeue or hold. Before it may stand how long the consumer works, and after it how often it does so:
//
//	work: reject x3, 10s ack
func ParseConsumer(line string) (Consumer, error) {
	colon := strings.LastIndexByte(line, ':') // names of queues may have colons, too
	if colon < 0 {
		return Consumer{}, fmt.Errorf("%q is not a queue, a colon and what its consumer does, such as %q", line, "work: reject, ack")
	}
	c := Consumer{Queue: strings.TrimSpace(line[:colon])}
	for part := range strings.SplitSeq(line[colon+1:], ",") {
		act, times, err := parseAct(strings.Fields(part))
		if err != nil {
			return Consumer{}, fmt.Errorf("%q: %w", strings.TrimSpace(line), err)
		}
		if times > maxActs-len(c.Acts) {
			return Consumer{}, fmt.Errorf("%q: more than %d acts", strings.TrimSpace(line), maxActs)
		}
		for range times {
			c.Acts = append(c.Acts, act)
		}
	}
	return c, nil
}

// parseAct reads one act: a duration, if there is one, the deed, and how often, if it is not once.
func parseAct(words []string) (act Act, times int, err error) {
	times = 1
	rest := words
	if len(rest) > 0 {
		if after, err := time.ParseDuration(rest[0]); err == nil && after >= 0 {
			act.After, rest = after, rest[1:]
		}
	}
	if n := len(rest); n > 1 {
		if number, found := strings.CutPrefix(rest[n-1], "x"); found {
			if times, err = strconv.Atoi(number); err != nil || times < 1 {
				return act, 0, fmt.Errorf("%s is not how often", rest[n-1])
			}
			rest = rest[:n-1]
		}
	}
	if len(rest) == 1 {
		act.Do = Deed(rest[0])
	}
	switch act.Do {
	case Ack, Reject, Requeue, Hold:
		return act, times, nil
	}
	return act, 0, fmt.Errorf("%q is not ack, reject, requeue or hold", strings.Join(words, " "))
}
