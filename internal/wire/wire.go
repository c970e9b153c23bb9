// Package wire has what two places know of AMQP 0-9-1 as RabbitMQ speaks it: the broker's sessions, which programs use
// directly, and the listener, which serves clients. Limits stand here, and the explanations of errors that both find:
// the listener also counts channels whose close the client has not answered yet, and knows the mechanism of a login.
package wire

import "fmt"

const (
	// MaxShort is the length of the longest short string, in octets: its length is in one octet.
	MaxShort = 255

	// MaxNesting is how many tables and arrays may be one within the other. RabbitMQ is limited by the size of a frame
	// alone; a bound keeps a hostile table from exhausting the stack, and what refers to itself from being walked without
	// end.
	MaxNesting = 100

	// FrameMax is how large a frame may be by default, in octets.
	FrameMax = 128 << 10

	// FrameOverhead is what a frame has besides its payload, in octets: seven in front of it and one behind it.
	FrameOverhead = 8

	// ContentHead is the size of the fixed part of a content header, in octets: class, weight and body size.
	ContentHead = 12

	// ChannelMax is how many channels a connection may have by default.
	ChannelMax = 2047
)

// NodeName is what the broker's node is called.
const NodeName = "leveret@localhost"

// SecondOpen explains a channel.open for a number in use.
const SecondOpen = "second 'channel.open' seen"

// NoDeclaredQueue refuses a method that leaves the name of the queue to a channel which has declared none.
const NoDeclaredQueue = "no previously declared queue"

// TooManyChannels explains a channel.open beyond the limit of channels that the connection has.
func TooManyChannels(open, limit int) string {
	return fmt.Sprintf("number of channels opened (%d) has reached the negotiated channel_max (%d)", open, limit)
}

// LoginRefused explains that a user name or a password is wrong, without telling which.
func LoginRefused(mechanism string) string {
	return "Login was refused using authentication mechanism " + mechanism + ". For details see the broker logfile."
}
