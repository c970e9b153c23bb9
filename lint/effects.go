package lint

import (
	"fmt"

	"github.com/leveretmq/leveret"
)

// What settings that change mean for messages. The sentences are those of docs/rules.md; TestEffectsAreTrue asks the engine
// whether they hold.

// number returns the value of a setting that is a number.
func (v vhost) number(queue, key string) (n int64, set bool) {
	n, set = v.setting(queue, key).(int64)
	return n, set
}

// lowered reports whether a number is set that was not, or is lower than it was.
func (p *pair) lowered(queue, key string) bool {
	was, had := p.old.number(queue, key)
	is, has := p.next.number(queue, key)
	return has && (!had || is < was)
}

func (p *pair) differs(queue, key string) bool {
	return !same(p.old.setting(queue, key), p.next.setting(queue, key))
}

// limits is what new limits of length mean.
// Rules: L-9, L-10, L-11, L-13.
func (p *pair) limits(queue string) Effect {
	lowered := p.lowered(queue, "max-length") || p.lowered(queue, "max-length-bytes")
	is := p.next.limitText(queue)
	switch {
	case is == "":
		return Effect{}
	case p.trimsAtOnce(queue, lowered):
		return Effect{Trimmed, fmt.Sprintf("What the queue holds over %s is trimmed at once, the head first, and %s. %s", is, p.next.end(queue), p.next.whenFull(queue))}
	case lowered || p.next.trims(queue) != p.old.trims(queue) && p.old.limitText(queue) != "":
		return Effect{Bounded, fmt.Sprintf("What the queue holds over %s stays. %s", is, p.next.whenFull(queue))}
	}
	return Effect{}
}

// trimsAtOnce reports whether a queue that holds more than its new limits is trimmed when these come into force. In a
// classic queue a limit takes effect before the overflow that comes with it.
// Rules: L-9, L-13, L-17.
func (p *pair) trimsAtOnce(queue string, lowered bool) bool {
	if p.next.trims(queue) {
		return lowered || !p.old.trims(queue)
	}
	refused := p.old.setting(queue, "overflow") == leveret.OverflowRejectPublish || p.old.setting(queue, "overflow") == leveret.OverflowRejectPublishDLX
	return lowered && !refused && p.next.kindOf(queue) == leveret.QueueTypeClassic
}

// limitText names the limits of length, empty if there are none.
func (v vhost) limitText(queue string) string {
	messages, some := v.number(queue, "max-length")
	octets, size := v.number(queue, "max-length-bytes")
	switch {
	case some && size:
		return fmt.Sprintf("%d messages or %d bytes", messages, octets)
	case some:
		return fmt.Sprintf("%d messages", messages)
	case size:
		return fmt.Sprintf("%d bytes", octets)
	}
	return ""
}

// whenFull says what a full queue does with what comes.
func (v vhost) whenFull(queue string) string {
	switch {
	case v.trims(queue):
		return "From then on a message that comes to the full queue has its head dropped."
	case v.overflows(queue):
		return "From then on a message that comes to the full queue is refused and dead-lettered, and its publisher gets a nack."
	}
	return "From then on a message that comes to the full queue is refused, and its publisher gets a nack."
}

// end says what becomes of a message that dies by itself.
func (v vhost) end(queue string) string {
	if v.setting(queue, "dead-letter-exchange") == nil {
		return "is lost: the queue has no dead-letter exchange"
	}
	return "is dead-lettered"
}

// expiry is what another time to live means.
// Rules: T-2, P-19.
func (p *pair) expiry(queue string) Effect {
	if !p.differs(queue, "message-ttl") {
		return Effect{}
	}
	const rest = "What is in the queue keeps its time."
	is, has := p.next.number(queue, "message-ttl")
	if !has {
		return Effect{Expires, "Messages that come from now on do not expire by the queue's time to live any more. " + rest}
	}
	return Effect{Expires, fmt.Sprintf("A message that comes from now on expires after %d ms and %s. %s", is, p.next.end(queue), rest)}
}

// deliveryLimit is what another delivery limit means.
// Rules: P-19.
func (p *pair) deliveryLimit(queue string) Effect {
	if !p.differs(queue, "delivery-limit") {
		return Effect{}
	}
	is, has := p.next.number(queue, "delivery-limit")
	if !has || is < 0 {
		return Effect{DiesAfter, "A message may come back as often as it likes: there is no delivery limit any more."}
	}
	return Effect{DiesAfter, fmt.Sprintf("A message that has come back %d times dies when it comes back again, and %s. What has come back before counts.", is, p.next.end(queue))}
}

// strategy is what the beginning or the end of the at-least-once strategy means.
// Rules: DL-28, DL-34.
func (p *pair) strategy(queue string) Effect {
	switch was, is := p.old.isAtLeastOnce(queue), p.next.isAtLeastOnce(queue); {
	case was && !is:
		return Effect{Discarded, "Dead letters that wait for their target are discarded, because the at-least-once strategy is not in force any more."}
	case is && !was:
		return Effect{Elsewhere, "What dies from now on stays in the queue until each target has it: the at-least-once strategy is in force."}
	}
	return Effect{}
}

// idle is what another x-expires means.
// Rules: P-19.
func (p *pair) idle(queue string) Effect {
	if !p.differs(queue, "expires") {
		return Effect{}
	}
	is, has := p.next.number(queue, "expires")
	if !has {
		return Effect{QueueLife, "The queue is not deleted any more when nobody uses it."}
	}
	from := "counted from the change"
	if p.next.kindOf(queue) == leveret.QueueTypeQuorum {
		from = "in 4.3 counted from its last use, which may be over"
	}
	return Effect{QueueLife, fmt.Sprintf("The queue is deleted with its messages when nobody has used it for %d ms, %s.", is, from)}
}

// explainRest tells what follows when what is not in the new file is deleted, which an import does not do.
func explainRest(c *Change) {
	if c.How != Removed {
		return
	}
	switch c.Kind {
	case kindQueue:
		c.effect(Effect{QueueLife, "Whoever deletes the queue loses its messages: they are not dead-lettered."})
	case kindExchange:
		c.effect(Effect{Disconnects, "When the exchange has been deleted, a publish to it closes the publisher's channel."})
	case kindUser:
		c.effect(Effect{Disconnects, "When the user is deleted, the user's connections are closed."})
	case kindVHost:
		c.effect(Effect{QueueLife, "When the virtual host is deleted, its messages are lost and its connections are closed."})
	}
}
