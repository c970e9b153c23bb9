// Package replytext has RabbitMQ's explanations of errors that are found in two places: by the broker's sessions, for programs that
// use the Go API, and by the listener, which also counts channels whose close the client has not answered yet and which
// knows the mechanism of a login.
package replytext

import "fmt"

// SecondOpen explains a channel.open for a number in use.
const SecondOpen = "second 'channel.open' seen"

// ChannelMax explains a channel.open beyond the limit of channels that the connection has.
func ChannelMax(open, limit int) string {
	return fmt.Sprintf("number of channels opened (%d) has reached the negotiated channel_max (%d)", open, limit)
}

// LoginRefused explains that a user name or a password is wrong, without telling which.
func LoginRefused(mechanism string) string {
	return "Login was refused using authentication mechanism " + mechanism + ". For details see the broker logfile."
}
