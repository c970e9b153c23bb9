// Package record is how a broker's log says things: what an operation did to messages, queues, exchanges and policies, and
// what a snapshot has of them. It turns values of plain types into octets and back. It knows neither a broker nor a log.
//
// # Layout
//
// An operation is a list of items, each an octet that names its type and then the item's fields, in the order in which the
// item's function names them. That one function writes and reads: what is written is what is read.
//
//	number            a varint; with a sign in zigzag
//	flag              an octet, 0 or 1
//	text, octets      the length, then the octets
//	list              1 + the length, then the elements; 0 is no list at all, which is not an empty one
//	value             an octet that names its type, then the value
//
// # What is read
//
// Nothing that is read makes a reader panic, or allocate more than in proportion to what it was given. There is one way to write
// each item. What was not written in that way is [ErrMalformed]: a type or a flag that does not exist, a number that is longer
// than it has to be, a length beyond the end. The log has checksums, so that is a mistake of the program or another format, not
// a broken disk.
//
// Texts and octets that are read are copies: the log's buffer is used again.
package record
