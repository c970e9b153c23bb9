// Package trace sends one message through a topology, on virtual time, and tells what becomes of it: through which queues
// it goes, what consumers do with it as a script says, where its dead letters lead, and where it is lost.
//
// [Run] does so in a virtual host of a broker whose clock is a [leveret.ManualClock], and returns the message's
// [journey.Journey]. A [Plan] names the message and the consumers; [ParseConsumer] reads one from a line such as
// "work: reject x3, 10s ack".
package trace
