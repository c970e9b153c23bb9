// Package scenario reads and runs scenario scripts: small texts that say what a client does to a broker and
// what it must see. One script runs unchanged on the engine's Go API, on its AMQP listener and on a real RabbitMQ: each
// has a Driver. docs/scenarios.md lists the statements, for users.
//
// # A script
//
//	rule: DL-8, DL-12
//
//	# A rejected message moves to the dead-letter exchange's queue.
//	declare queue q x-dead-letter-exchange="" x-dead-letter-routing-key=dl
//	declare queue dl
//	publish q hello
//	get q -> hello
//	reject hello discard
//	get dl -> hello death(rejected q x1 "" [q])
//
// The head names the rules that the script shows (rule:), the release it is restricted to (profile: 4.3), the
// driver it needs (driver: go, or driver: amqp), and what it does not compare, with the reason (loose:).
// A line that begins with # is a comment.
//
// Each statement is a verb with its arguments, positional or name=value. It may be preceded by a release in
// brackets, [4.3] or [3.10], which restricts it to that release, and by @NAME, the channel it happens on.
// A channel opens when it is first named; @CONN.NAME is a channel of another connection. A channel or
// connection that was closed by an error is opened afresh by the next statement that names it.
//
// What a statement must show follows "->": observations, separated by " | ". They may also stand on indented
// lines of their own, there too restricted to one release:
//
//	get q
//	  [4.3]  -> a expiration=7000
//	  [3.10] -> a expiration=007000
//
// A statement without observations must succeed and show nothing. "-> ok" says the same.
//
// # Values
//
// 5 is an AMQP signedint, 1.5 a double, true a bool, void a void, abc or "abc" a longstr, [1 2] an array and
// {a=1 b=2} a table. The other types are written like calls: byte(5) ubyte(5) short(5) ushort(5) uint(5)
// long(5) float(1.5) dec(2 314) time(1234567890) bin("ab").
//
// # Observations
//
// An observation is complete: what it does not name was not there. A message reads
//
//	BODY [from EXCHANGE/KEY] [redelivered] [property=value …] [headers] [death(…) …]
//
// where "from" is left out if the message came over the default exchange under the queue's own name. The
// entries of x-death stand in order as death(REASON QUEUE xCOUNT EXCHANGE [KEYS] [expiration=MS]); an array that is
// not shaped as the broker shapes it is shown as it is. x-first-death-* is left out if it tells the same as the last
// entry, x-last-death-* if the release has none or it tells the same as the first entry; first(…) and last(…)
// show them otherwise.
package scenario
