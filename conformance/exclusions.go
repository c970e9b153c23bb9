package conformance

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
)

// An exclusion is something that RabbitMQ leaves to chance, or to how busy a machine is, or that makes it fail in ways
// nobody wants of a broker. A random program contains none of it: a statement that leads to it is taken back.
type exclusion struct {
	name, why  string
	experiment string // the programs of testdata/chance that show it, and what go run ./conformance/cmd/chance counted
	applies    func(*program) bool
}

// exclusions is the complete list of what is taken back. What the generator never makes in the first place:
//
//   - policies of equal priority (equal-priority, equal-priority-reversed): which of them applies depends on a hash of the virtual host's name, one of two in
//     20 of 40 virtual hosts on 4.3.6
//   - exchanges that choose at random (local-random): each of two queues in about half of 40 runs
//   - consumers of several queues in a virtual host that is deleted (vhost-deleted): the queues are deleted in any order, the later one
//     first in 7 of 24 runs on 4.3.6 and in 11 on 3.10.8. That all are cancelled before their connection is closed is followed. A connection
//     says that its virtual host is down, not deleted, in 11 of 72 cases on each: scripts show both as the same.
//
// The same in all 40 runs on both releases, and followed, are the experiments no-ack, no-ack-commit, no-ack-drop-head
// (messages for a consumer without acknowledgements), soft-limit-apart, soft-limit-confirms, soft-limit-together (a
// queue that refuses what is sent together, or one by one), pending-limit (a limit and pending dead letters) and
// other-type-consumed.
var exclusions = []exclusion{
	{"two sources, one target",
		"Queues work concurrently: what two queues, or a queue and a publisher, send to one queue at the " +
			"same time arrives in any order.",
		"two-sources: the one first in 24 of 40 runs on 4.3.6 and in 29 on 3.10.8, the other in the rest.",
		(*program).twoSources},
	{"two queues, one channel",
		"Queues deliver concurrently: what two queues deliver to one channel at the same time is numbered " +
			"in any order. Each queue's deliveries are compared apart. Which messages are settled by one of these numbers, " +
			"or with the messages before one of them, is left to chance.",
		"two-queues: the queue that gets its message later delivers first in 38 of 40 runs on 4.3.6, in 39 on " +
			"3.10.8.",
		(*program).settlesAnyQueues},
	{"close to a deadline",
		"A real broker needs time for the statements themselves: what is due soon after a statement, or " +
			"has been due only just before one, may have happened on the wrong side of it.",
		"deadline: a message that is asked for 1 ms before its deadline is there in 16 of 40 runs on 4.3.6, " +
			"in 7 on 3.10.8. deadline-after: a queue is still there 1 ms after its deadline in 2 of 40 runs on " +
			"4.3.6, in 4 on 3.10.8.",
		(*program).closeToDeadline},
	{"expiry and arrival",
		"What expires in a queue while dead letters arrive there may go before or after them, or not at " +
			"all because one of a higher priority came in front of it.",
		"expiry-and-arrival: the message that expires is gone in 31 of 40 runs on 4.3.6 and in 30 on 3.10.8, " +
			"else it waits behind what has arrived.",
		(*program).meetsExpiry},
	{"expiry in two priorities",
		"A quorum queue lets the heads of its priorities expire one by one: of two that are due almost at " +
			"once the earlier goes first, or, if the queue looks late, the one of the higher priority.",
		"two-priorities-apart: in 37 of 40 runs on 4.3.6 the earlier first; two-priorities-late: in 32. 3.10 " +
			"has no such priorities.",
		(*program).twoHeads},
	{"a history that is no history",
		"RabbitMQ 3.10 crashes over an x-death of which an element is no table: a queue when it " +
			"dead-letters the message, and all at-least-once dead-lettering on the node for good.",
		"not played: it would end the dead-lettering of everybody on the node.",
		(*program).badHistory},
	{"a circle without end",
		"RabbitMQ 3.10 reverses a history that a client made up with each death: a rejection in it can " +
			"hide a circle, in which the message then goes round for ever.",
		"not played: it would not end.",
		func(g *program) bool { return g.effects.endless }},
	{"a policy on its way",
		"A policy reaches its queues one after the other, in any order: what one of them dead-letters " +
			"over it may come to another before the policy does.",
		"policy, policy-quorum: the same in all 40 runs on both. But of 70 programs that it changes 5 show now this, now " +
			"that on 4.3.6, of 74 on 3.10.8 3.",
		(*program).policyArrives},
	{"a consumer that is ending",
		"A queue that hears of something else before it hears that a consumer's channel has ended may " +
			"hand the consumer a message, which then comes back once more.",
		"ending-consumer: in 13 of 40 runs on 4.3.6 and in 12 on 3.10.8 a consumer of an ending connection " +
			"gets what another of its channels held; ending-consumer-quorum: in 23 and in 12. Two consumers of a quorum queue that " +
			"acknowledge (ending-consumers-quorum): in all, the first gets what the second held in 15 and in 21.",
		(*program).endingConsumer},
	{"a consumer that was to be replaced",
		"A quorum queue's single active consumer that ends with messages in hand, while one of a higher " +
			"priority waits for them to be settled, or did, stays in RabbitMQ's list of waiting consumers for " +
			"good, and gets messages for nobody.",
		"replaced: a message is with nobody in all 40 runs on 4.3.6. docs/differences.md names it.",
		(*program).replacedConsumer},
	{"a cancel that leaves messages",
		"A classic queue of RabbitMQ 3.10 crashes on what comes after its single active consumer was " +
			"cancelled with a full prefetch, while messages and other consumers waited: it loses its " +
			"consumers and messages.",
		"cancel-leaves: all messages are lost in all 40 runs on 3.10.8. docs/differences.md names it.",
		(*program).cancelLeaves},
	{"a message of a former queue",
		"A channel of RabbitMQ 3.10 settles by the queue's name. If the queue was deleted and the name is another's, a message that is " +
			"rejected makes that queue dead-letter what it does not have: it crashes and loses its consumers, or one of its own messages goes.",
		"former-queue: the consumer is lost in all 40 runs on 3.10.8. docs/differences.md names it.",
		(*program).formerQueue},
	{"a former queue's message given back",
		"A channel that consumes from a classic queue settles in it what the channel holds of a deleted queue of that name. What is given " +
			"back is then another message, which had the same place in its queue, and which another consumer may hold.",
		"former-requeue: a message that another channel holds is delivered again in all 40 runs on 4.3.6 and 3.10.8. docs/differences.md names it.",
		(*program).formerMessage},
	{"a timeout too long for timers",
		"A quorum queue of RabbitMQ 4.3 crashes again and again when it sets a timer for a consumer timeout of 2^45 ms, a thousand years, or more.",
		"huge-timeout: with 2^45 ms the message is not there again in all 20 runs on 4.3.6; with 8640000000000 ms it is in all 3.",
		(*program).hugeTimeout},
	{"many messages, one soft limit",
		"A quorum queue with reject-publish refuses only from when a publisher has heard of it: of dead letters that " +
			"expire one soon after the other any number may get in.",
		"soft-limit-expired: of 8 messages 2 get in 30 of 40 times on 4.3.6 and 23 times on 3.10.8, else any " +
			"number up to all. What is sent together gets in in all runs: that is followed.",
		(*program).softLimit},
	{"several channels end",
		"The channels of a connection end in any order, and give back what they hold in that order: to an " +
			"auto-delete queue only if a consumer of another channel is still there.",
		"channels-end: the first channel gives back first in 19 of 40 runs on 4.3.6, in 17 on 3.10.8. An " +
			"error of one channel that ends the connection is another matter (failing-channel, failing-channel-quorum: that channel is " +
			"first in 38 of 40 runs on 4.3.6, in 40 on 3.10.8) and followed.",
		(*program).channelsEnd},
	{"deliveries of a lost connection",
		"What a commit that ends its channel or its connection has delivered there before: amqp091-go drops " +
			"what it has not passed on yet when the connection or the channel ends.",
		"lost-deliveries: the message is seen in 16 of 40 runs on 4.3.6. refused-commit, refused-commit-quorum: in " +
			"27 and 28 of 40 on 4.3.6, in 26 and 31 on 3.10.8; the frame comes before channel.close in 39 of 40 and in 29.",
		(*program).deliversTooLate},
	{"an exclusive queue's last messages",
		"When a connection ends, its exclusive queues end while its channels give back: what is given " +
			"back may still expire or be trimmed, and be dead-lettered, or not.",
		"last-messages: the message that is given back is dead-lettered in 32 of 40 runs on 4.3.6, in 35 on " +
			"3.10.8.",
		(*program).lastMessages},
	{"another type under a known name",
		"RabbitMQ's channels remember the type of a queue by its name, and fail with an internal error if " +
			"it is another queue now.",
		"other-type, other-type-back: basic.get of a name that was a quorum queue's is a 541 in all 40 runs " +
			"on both, of one that was a classic queue's on 3.10.8. docs/differences.md names it.",
		(*program).changesType},
	{"two queues, one window",
		"Which of several queues is the first to deliver to a channel whose window (3.10) has room for one of them is left to chance.",
		"window-two-queues: the one goes on first in 21 of 40 runs on 3.10.8, the other in 19. window-reached: the one takes the room " +
			"in 45 of 60 runs, the other in 15.",
		(*program).twoQueuesOneWindow},
	{"two consumers without acknowledgements go on",
		"A consumer of a quorum queue that needs no acknowledgements, and has a prefetch, goes on when its channel has settled what it " +
			"was sent. Of several such consumers any is the first.",
		"no-ack-two: as leveret in 17 of 40 runs on 4.3.6 and in 16 on 3.10.8, else one of a dozen other ways.",
		(*program).goOnTogether},
	{"a consumer without acknowledgements, and what is sent together",
		"Such a consumer with a prefetch goes on when its channel has settled what it was sent. What a publisher sends together comes to " +
			"the queue before, may be too much for its limits, and goes to other consumers.",
		"no-ack-together: of 8 messages the consumer gets the first and as many as the limit leaves in 36 of 40 runs on 4.3.6 and in all " +
			"on 3.10.8, else more. no-ack-line: another consumer is the next in all 40 runs on 4.3.6 and in 39 on 3.10.8. " +
			"docs/differences.md names it.",
		(*program).goesOnBehind},
	{"no time to live, a limit, and what is sent together",
		"A message without time to live expires in a quorum queue in the next millisecond. Of what is sent together as much is there in " +
			"the same millisecond as RabbitMQ has taken by then, and may be too much for the queue's limit.",
		"zero-together: of 20 messages 18 exceed the limit in 15 of 40 runs on 4.3.6 and in 29 on 3.10.8, else 13 to 17. docs/differences.md " +
			"names it.",
		(*program).zeroTogether},
	{"what a channel gives back makes room in its window",
		"A channel gives back a message, or all that it holds, and so has room in its window (3.10): the queue may hear of the room before " +
			"it has the message back, or after.",
		"window-requeue: the message that is given back is delivered first in 170 of 200 runs on 3.10.8, the one behind it in 30. " +
			"window-recover: three different ways in 24, 10 and 6 of 40 runs, of which leveret has the first.",
		(*program).requeuesIntoWindow},
	{"a dead letter and a window",
		"A queue may not know yet that a settlement has made room in a channel's window (3.10) when the dead letter of it arrives.",
		"window-death: the consumer of that channel gets it in 24 of 40 runs on 3.10.8, another channel's in 16. window-death-limit: the " +
			"letter exceeds the limit in 26 of 40 runs on 3.10.8 and in 33 on 4.3.6, else the message that it would drop is delivered before. " +
			"window-death-priority: the letter is delivered first in 15 of 20 runs on 3.10.8.",
		(*program).deathOpensWindow},
	{"a commit that makes room",
		"A quorum queue hears mostly, not always, of a transaction's settlements before it hears of its publishes, a classic queue of its " +
			"acknowledgements: whether what was published finds a consumer's window full, exceeds a limit, is over its time to live, comes before what the transaction gives back, or goes to " +
			"a consumer that the settlements would have brought behind another one in line, is left to chance.",
		"commit-limit: the settlement is first in 32 of 40 runs on 4.3.6 and in 28 on 3.10.8; commit-trims: in 37 and in 36, one way or another; " +
			"commit-expires: the message is delivered in all 40 runs on 4.3.6 and in 38 on 3.10.8; commit-requeues: what comes back is first in 27 " +
			"and 26; commit-line: another consumer is first in 31 and 28. Of a classic queue the acknowledgement is first in 38 and 30 (commit-classic-expires), " +
			"37 and 28 (commit-classic-limit), 36 and 29 (commit-classic-refuses). leveret takes the more frequent order.",
		(*program).commitMakesRoom},
	{"delayed retries beyond a limit",
		"A quorum queue of RabbitMQ 4.3 with drop-head crashes when messages that wait for a retry exceed its limit: it drops " +
			"its head, of which there is none, and is gone for consumers from then on.",
		"retry-over-limit: in all 8 runs on 4.3.6.",
		(*program).retriesExceedLimit},
	{"a quorum queue that expires",
		"RabbitMQ looks every five seconds whether a quorum queue has been idle. leveret deletes it at its time.",
		"quorum-expires: a queue with x-expires=1000 is there after 3.5 s in all 40 runs on both; of 40 with 1700 all were " +
			"there after 3.4 s, and none after 6.4 s.",
		(*program).quorumExpires},
	{"getters in a list",
		"RabbitMQ lists what basic.get took from a quorum queue, and nobody settled, among the queue's consumers: the tag is the " +
			"delivery tag.",
		"list-getters: the same in all runs on both, with a rabbitmqctl. docs/differences.md names it.",
		(*program).listsGetters},
	{"a refused import",
		"RabbitMQ keeps what stood before the mistake in definitions, leveret nothing.",
		"none: it is the same each time. docs/differences.md names it.",
		(*program).importRefused},
	{"another program's user",
		"Users belong to the node. One that this program has not made may be there.",
		"none: it depends on what else runs.",
		(*program).strangeUser},
	{"clearing no policy",
		"The refusal is the management API's own: its text is not the broker's.",
		"none: it is the same each time, and not the broker's.",
		(*program).clearsNothing},
}

// excluded names the exclusion that the last statement's effects fall under; empty: none.
func (g *program) excluded() string {
	for _, x := range exclusions {
		if !x.applies(g) {
			continue
		}
		if x.name != g.without {
			return x.name
		}
		g.met = true
	}
	return ""
}

const (
	statementTime = 600 * time.Millisecond // what the statements after this one may take on a real broker
	brokerDelay   = 200 * time.Millisecond // by how much a busy broker may be late
)

func (g *program) twoSources() bool {
	e := g.effects
	for i, a := range e.arrivals {
		for _, b := range e.arrivals[:i] {
			if a.queue == b.queue && a.origin != b.origin && a.at.Sub(b.at) < statementTime {
				return true
			}
		}
		for _, queue := range e.requeued {
			if a.queue == queue {
				return true
			}
		}
	}
	return false
}

func (g *program) closeToDeadline() bool {
	if at, ok := g.driver.Broker.NextDeadline(); ok && at.Sub(g.now()) < statementTime {
		return true
	}
	return g.advances() && g.now().Sub(g.effects.last) < brokerDelay
}

func (g *program) badHistory() bool {
	return g.profile == leveret.RabbitMQ310 && strings.Contains(g.statements[len(g.statements)-1], "x-death=[1]")
}

// policyArrives reports whether messages came to a queue while a policy did. The queues of a policy that was
// cleared are not known any more: then every arrival counts.
func (g *program) policyArrives() bool {
	verb, rest, _ := strings.Cut(g.statements[len(g.statements)-1], " ")
	name, _, _ := strings.Cut(rest, " ")
	if !strings.HasSuffix(verb, "policy") {
		return false
	}
	for _, a := range g.effects.arrivals {
		q, err := g.driver.Broker.Queue(a.queue)
		if err == nil && (strings.HasPrefix(verb, "clear") || q.Info().Policy == name || q.Info().OperatorPolicy == name) {
			return true
		}
	}
	return false
}

func (g *program) endingConsumer() bool {
	for _, l := range g.effects.left {
		for _, a := range g.effects.arrivals {
			if a.queue == l.queue && a.origin != "" {
				return true
			}
		}
		// The connections two and sam have one channel that consumes and gets.
		if actor := actorOf(l.tag); g.connectionEnds() && actor != "two.o1" && actor != samActor && slices.Contains(g.effects.requeued, l.queue) {
			return true
		}
	}
	return false
}

func (g *program) replacedConsumer() bool {
	for _, l := range g.effects.left {
		q, err := g.driver.Broker.Queue(l.queue)
		if err != nil || q.Info().Type != "quorum" || q.Info().Arguments[leveret.ArgSingleActiveConsumer] != true {
			continue
		}
		left := g.subscribed[l.tag]
		for _, c := range g.subscribed {
			switch {
			case c.Queue != l.queue:
			case c.Priority > left.Priority && slices.Contains(g.effects.requeued, l.queue):
				return true
			case c.Priority < left.Priority && c.Active && c.Unacked > 0: // it may still end
				return true
			}
		}
	}
	return false
}

func (g *program) cancelLeaves() bool {
	for _, l := range g.effects.left {
		q, err := g.driver.Broker.Queue(l.queue)
		if err != nil || g.profile != leveret.RabbitMQ310 {
			continue
		}
		if i := q.Info(); i.Type == "classic" && i.Arguments[leveret.ArgSingleActiveConsumer] == true && i.Ready > 0 &&
			i.Consumers > 0 {
			return true
		}
	}
	return false
}

func (g *program) clearsNothing() bool { return g.refused("clear-") }

func (g *program) softLimit() bool {
	if !g.advances() {
		return false // what one statement sends is sent before anybody hears
	}
	n := map[string]int{}
	for _, a := range g.effects.arrivals {
		n[a.queue]++
	}
	for name, times := range n {
		q, err := g.driver.Broker.Queue(name)
		if err != nil || times < 2 || q.Info().Type != "quorum" {
			continue
		}
		if o, ok := q.Effective().Get("overflow"); ok && fmt.Sprint(o.Value) == "reject-publish" {
			return true
		}
	}
	return false
}

func (g *program) channelsEnd() bool {
	goes := func(queue string) bool { return g.unacked[queue] > 0 && !isExclusive(queue) }
	return g.connectionEnds() && (len(g.effects.requeued) > 1 || slices.ContainsFunc(g.effects.deleted, goes))
}

func (g *program) deliversTooLate() bool {
	return (g.connectionEnds() || g.commitFails()) && slices.ContainsFunc(g.effects.left, func(l departure) bool {
		return len(g.effects.served[actorOf(l.tag)]) > 0
	})
}

// commitFails reports whether the last statement was a commit that has ended its channel.
func (g *program) commitFails() bool {
	last := g.stage.Script.Steps[len(g.stage.Script.Steps)-1]
	return last.Verb == "tx" && slices.ContainsFunc(last.Want("4.3"), closesChannel)
}

// commitMakesRoom reports whether the last statement was a commit that has settled messages of a queue and published there, and the
// order of the two may show: in what comes back, at a consumer, or at a limit. Of a classic queue only acknowledgements may come first.
func (g *program) commitMakesRoom() bool {
	last := g.stage.Script.Steps[len(g.stage.Script.Steps)-1]
	return last.Verb == "tx" && slices.ContainsFunc(g.effects.arrivals, func(a arrival) bool {
		acked := slices.Contains(g.effects.acked, a.queue)
		returned := slices.Contains(g.effects.requeued, a.queue)
		rejected := slices.ContainsFunc(g.effects.deaths, func(d death) bool { return d.queue == a.queue && d.reason == leveret.Rejected })
		dies := func(d death) bool { return d.queue == a.queue && d.reason != leveret.Rejected }
		shows := returned || g.consumersNow(a.queue) > 0 || g.limited(a.queue) || slices.ContainsFunc(g.effects.deaths, dies)
		return a.origin == "" && shows && (acked || g.types[a.queue] == "quorum" && (returned || rejected))
	})
}

func closesChannel(shown string) bool { return strings.HasPrefix(shown, "channel closed") }

func (g *program) lastMessages() bool { return g.connectionEnds() && len(g.effects.deaths) > 0 }

// connectionEnds reports whether the last statement has ended a connection.
func (g *program) connectionEnds() bool {
	last := g.stage.Script.Steps[len(g.stage.Script.Steps)-1]
	if last.Verb == "connect" {
		return false // a refused connection was never open
	}
	return slices.Contains([]string{"kill", "disconnect", "delete-user"}, last.Verb) || slices.ContainsFunc(last.Want("4.3"), closesConnection)
}

func closesConnection(shown string) bool { return strings.HasPrefix(shown, "connection closed") }

func (g *program) changesType() bool {
	for _, q := range g.queues() {
		if was, ok := g.types[q.Name]; ok && was != string(q.Type) {
			return true
		}
		g.types[q.Name] = string(q.Type)
	}
	return false
}

// formerQueue reports whether a queue with dead letters has the name of one that was deleted while channels held its messages.
func (g *program) formerQueue() bool {
	for _, name := range g.effects.deleted {
		if g.unacked[name] > 0 {
			g.former[name] = true
		}
	}
	return g.profile == leveret.RabbitMQ310 && slices.ContainsFunc(g.queues(), func(q leveret.QueueInfo) bool {
		return g.former[q.Name] && g.setting(q.Name, "dead-letter-exchange") != nil
	})
}

// formerMessage reports whether the last statement may have settled a message of a deleted queue, on a channel that consumes from a
// classic queue of that name while clients hold messages of the queue.
func (g *program) formerMessage() bool {
	last := g.stage.Script.Steps[len(g.stage.Script.Steps)-1]
	settles := slices.Contains([]string{"ack", "nack", "reject", "recover", "tx"}, last.Verb)
	return settles && slices.ContainsFunc(g.queues(), func(q leveret.QueueInfo) bool {
		return g.formerly[q.Name][last.Actor] && q.Type == leveret.QueueTypeClassic && g.unacked[q.Name] > 0 && g.consumes(last.Actor, q.Name)
	})
}

// noteTakers notes which channels may hold messages of queues that the last statement deleted: those that took any of them.
func (g *program) noteTakers() {
	last := g.stage.Script.Steps[len(g.stage.Script.Steps)-1]
	switch last.Verb {
	case "consume", "get":
		if len(last.Args) > 0 {
			note(g.takers, last.Args[0].Text, last.Actor)
		}
	case "close":
		for _, takers := range []map[string]map[string]bool{g.takers, g.formerly} {
			for _, actors := range takers {
				delete(actors, last.Actor)
			}
		}
	}
	for _, name := range g.effects.deleted {
		if g.unacked[name] > 0 {
			for actor := range g.takers[name] {
				note(g.formerly, name, actor)
			}
		}
		delete(g.takers, name)
	}
}

func note(actors map[string]map[string]bool, queue, actor string) {
	if actors[queue] == nil {
		actors[queue] = map[string]bool{}
	}
	actors[queue][actor] = true
}

// consumes reports whether a channel had a consumer of the queue before the last statement.
func (g *program) consumes(actor, queue string) bool {
	for tag, c := range g.subscribed {
		if c.Queue == queue && actorOf(tag) == actor {
			return true
		}
	}
	return false
}

// hugeTimeout reports whether a consumer of a quorum queue has a timeout that RabbitMQ's timers do not have.
func (g *program) hugeTimeout() bool {
	const most = 1 << 43 // ms
	return slices.ContainsFunc(g.driver.Broker.Consumers(), func(c leveret.ConsumerInfo) bool {
		timeout, _ := c.Arguments[leveret.ArgConsumerTimeout].(int64)
		return timeout > most && g.types[c.Queue] == string(leveret.QueueTypeQuorum)
	})
}

func near(a, b time.Time) bool { return a.Sub(b).Abs() < statementTime }

func (g *program) meetsExpiry() bool {
	if !g.advances() {
		return false
	}
	for _, a := range g.effects.arrivals {
		if g.ready[a.queue] > 0 && g.prioritized(a.queue) {
			return true
		}
		for _, d := range g.effects.deaths {
			if a.queue == d.queue && near(a.at, d.at) && (d.reason == leveret.Expired || d.expires || g.expires(a.queue)) {
				return true
			}
		}
	}
	return false
}

// prioritized reports whether a queue is a classic one with priorities.
func (g *program) prioritized(queue string) bool {
	q, err := g.driver.Broker.Queue(queue)
	if err != nil {
		return false
	}
	_, ok := q.Info().Arguments[leveret.ArgMaxPriority]
	return ok
}

// expires reports whether a queue has a TTL for its messages.
func (g *program) expires(queue string) bool { return g.setting(queue, "message-ttl") != nil }

func (g *program) twoHeads() bool {
	if g.profile == leveret.RabbitMQ310 {
		return false
	}
	for i, a := range g.effects.deaths {
		for _, b := range g.effects.deaths[:i] {
			if g.advances() && a.queue == b.queue && a.priority != b.priority && near(a.at, b.at) &&
				g.types[a.queue] == "quorum" {
				return true
			}
		}
	}
	return false
}

// advances reports whether the last statement lets time pass.
func (g *program) advances() bool {
	return strings.HasPrefix(g.statements[len(g.statements)-1], "advance")
}
