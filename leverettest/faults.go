package leverettest

import (
	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/fault"
)

// A Fault is a rule: at the Nth message On its way that Match accepts, Do something.
//
// Messages are counted from the time that the fault is injected, over all connections of Dial, Dialer, URL and those with
// TLS together. What a program does by the Go API is not counted. Of a message nothing but exchange, routing key,
// properties, body and Redelivered is known. A matcher must not use the broker or a client.
type Fault struct {
	On    Point
	Match Matcher // nil: every message
	Nth   int     // from 1; 0: the first
	Do    Action
	Keep  bool // not only at the Nth message but at each from then on
}

// A Point is where on its way between client and broker a message meets a fault.
type Point uint8

// The points. What a fault prevents has not happened for the side that it was on its way to. OnAck knows messages that were
// delivered after the fault was injected.
const (
	OnPublish = Point(fault.OnPublish) // a client has sent the message (basic.publish); the broker has not got it
	OnConfirm = Point(fault.OnConfirm) // the broker has taken or refused the message; its publisher does not know (basic.ack, basic.nack)
	OnDeliver = Point(fault.OnDeliver) // the broker has delivered the message (basic.deliver, basic.get-ok); the client has not got it
	OnAck     = Point(fault.OnAck)     // a client has settled the message (basic.ack, nack, reject); the broker does not know
)

// An Action is what a fault does.
type Action struct{ do fault.Action }

// Nack refuses a publish: the broker does not get the message, and the client gets basic.nack. Other confirms keep their
// numbers. It is for OnPublish, and leaves channels alone that are not in confirm mode.
func Nack() Action { return Action{fault.Action{Kind: fault.Nack}} }

// Cut ends the connection without a word, in place of what the message was to bring: a publish, a confirm, a delivery or
// an acknowledgement is lost. What was sent before arrives.
func Cut() Action { return Action{fault.Action{Kind: fault.Cut}} }

// CloseChannel closes the message's channel as the broker does (channel.close), in place of what the message was to
// bring. The text is what the client reads, of at most 255 octets, such as "PRECONDITION_FAILED - unknown delivery tag 7".
func CloseChannel(code leveret.Code, text string) Action {
	return Action{fault.Action{Kind: fault.CloseChannel, Code: code, Text: text}}
}

// CloseConnection closes the message's connection as the broker does (connection.close), in place of what the message
// was to bring. The text is what the client reads, of at most 255 octets, such as "CONNECTION_FORCED - shutdown".
func CloseConnection(code leveret.Code, text string) Action {
	return Action{fault.Action{Kind: fault.CloseConnection, Code: code, Text: text}}
}

// Block raises the broker's memory alarm: all connections that publish are blocked from this message on, until the fault
// is lifted. See [leveret.Broker.SetMemoryLimit].
func Block() Action { return Action{fault.Action{Kind: fault.Block}} }

// CancelConsumer ends the consumer that gets the message, as the broker does when the queue has gone (basic.cancel). The
// message arrives, and so does what the broker has delivered before it knows. It is for OnDeliver, and leaves basic.get alone.
func CancelConsumer() Action { return Action{fault.Action{Kind: fault.CancelConsumer}} }

// Stall lets nothing through from this message on, in neither direction, until the fault is lifted or the connection is
// closed. Nobody is told: heartbeats notice in time.
func Stall() Action { return Action{fault.Action{Kind: fault.Stall}} }

// Restart restarts the broker, in place of what the message was to bring: all connections end, and clients that connect
// again, to the same address, find what a RabbitMQ keeps. Whoever connects before the broker is up waits for that. See
// [leveret.Broker.Restart].
func Restart(as leveret.NodeEnd) Action {
	kind := fault.Restart
	if as == leveret.KilledNode {
		kind = fault.KillNode
	}
	return Action{fault.Action{Kind: kind}}
}

// Inject puts a fault between the broker and its clients, until the test ends or lift is called. lift also ends what
// lasts: a stalled connection goes on with all that was kept back, and what Block has blocked is unblocked.
//
// Of several faults at one point the first that is due acts. The test ends if the action is not for the point.
func Inject(t T, b *leveret.Broker, f Fault) (lift func()) {
	t.Helper()
	lift, err := fault.Inject(b, fault.Fault{On: fault.Point(f.On), Match: f.Match, Nth: f.Nth, Do: f.Do.do, Keep: f.Keep})
	if err != nil {
		t.Fatalf("leveret: Inject: %v", err)
	}
	t.Cleanup(func() {
		lookBack(b)
		lift()
	})
	return lift
}
