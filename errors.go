package leveret

import (
	"fmt"
	"unicode/utf8"

	"github.com/leveretmq/leveret/internal/erl"
)

// A Code is an AMQP 0-9-1 reply code. It says what went wrong and, by its number, what a
// remote client loses: its channel or its whole connection.
// Rules: E-1.
type Code uint16

// The reply codes of AMQP 0-9-1 that a broker sends.
const (
	ContentTooLarge    Code = 311
	NoRoute            Code = 312
	NoConsumers        Code = 313
	ConnectionForced   Code = 320
	InvalidPath        Code = 402
	AccessRefused      Code = 403
	NotFound           Code = 404
	ResourceLocked     Code = 405
	PreconditionFailed Code = 406
	FrameError         Code = 501
	SyntaxError        Code = 502
	CommandInvalid     Code = 503
	ChannelError       Code = 504
	UnexpectedFrame    Code = 505
	ResourceError      Code = 506
	NotAllowed         Code = 530
	NotImplemented     Code = 540
	InternalError      Code = 541
)

var codeNames = map[Code]string{
	ContentTooLarge: "CONTENT_TOO_LARGE", NoRoute: "NO_ROUTE", NoConsumers: "NO_CONSUMERS",
	ConnectionForced: "CONNECTION_FORCED", InvalidPath: "INVALID_PATH", AccessRefused: "ACCESS_REFUSED",
	NotFound: "NOT_FOUND", ResourceLocked: "RESOURCE_LOCKED", PreconditionFailed: "PRECONDITION_FAILED",
	FrameError: "FRAME_ERROR", SyntaxError: "SYNTAX_ERROR", CommandInvalid: "COMMAND_INVALID",
	ChannelError: "CHANNEL_ERROR", UnexpectedFrame: "UNEXPECTED_FRAME", ResourceError: "RESOURCE_ERROR",
	NotAllowed: "NOT_ALLOWED", NotImplemented: "NOT_IMPLEMENTED", InternalError: "INTERNAL_ERROR",
}

// String returns the code's name as it stands in reply texts, such as PRECONDITION_FAILED.
func (c Code) String() string {
	if s, ok := codeNames[c]; ok {
		return s
	}
	return fmt.Sprintf("CODE_%d", uint16(c))
}

// ClosesConnection reports whether an error of this code ends the whole connection rather
// than one channel.
// Rules: E-1, C-20.
func (c Code) ClosesConnection() bool {
	switch c {
	case ContentTooLarge, NoRoute, NoConsumers, AccessRefused, NotFound, ResourceLocked, PreconditionFailed:
		return false
	}
	return true
}

// An Error is a refusal by the broker, with the reply code and the reply text that a client
// of RabbitMQ would see.
//
//	var e *leveret.Error
//	if errors.As(err, &e) && e.Code == leveret.NotFound { … }
//
// Every Error matches its code in errors.Is, under either of its names: errors.Is(err, leveret.ErrNotFound).
type Error struct {
	Code   Code   // the AMQP reply code
	Op     string // the AMQP method that failed, such as "queue.declare"; empty where AMQP has none, as for SetPolicy
	Name   string // the exchange, queue, user, policy or virtual host that the text names; empty if none
	Reason string // RabbitMQ's explanation, without the code's name in front

	// Connection is set when the error ends the connection although its code usually ends a
	// channel only; a refused login is the one case.
	Connection bool

	// HangUp is set when the broker closes the socket right behind the error, and waits for no answer; a deleted virtual
	// host is the one case.
	HangUp bool

	// Cut is set when the stream ends without the error, because the broker's node was killed.
	Cut bool
}

// Error returns the operation and the reply text.
func (e *Error) Error() string {
	if e.Op == "" {
		return e.Text()
	}
	return e.Op + ": " + e.Text()
}

// maxReplyText is the longest reply text: the protocol carries it as a short string. RabbitMQ 3.10 counts bytes, 4.3
// characters: a text of up to 255 characters but more than 255 bytes it fails to send. Then the connection ends.
const maxReplyText = 255

// cutMark ends a reply text that was too long.
const cutMark = "..."

// Text returns the reply text as a client of RabbitMQ 4.3 sees it: the code's name and the
// explanation, cut to 255 characters. Broker.ReplyText cuts as the broker's release does.
// Rules: E-4.
func (e *Error) Text() string { return e.replyText(RabbitMQ43.rules()) }

// ReplyText returns the reply text as a client of the broker's release sees it: the code's name and the
// explanation. RabbitMQ 4.3 cuts it to 255 characters, 3.10 to 255 bytes and possibly inside a character.
func (b *Broker) ReplyText(e *Error) string { return e.replyText(b.behaviour.rules) }

// replyText is the reply text as a release sends it.
// Rules: E-4.
func (e *Error) replyText(r *rules) string {
	if e.Reason == "" {
		return e.Code.String()
	}
	s := e.Code.String() + " - " + e.Reason
	switch {
	case len(s) <= maxReplyText:
		return s
	case r.byteCutReplyTexts:
		return s[:maxReplyText-len(cutMark)] + cutMark
	case utf8.RuneCountInString(s) <= maxReplyText:
		return s
	}
	return string([]rune(s)[:maxReplyText-len(cutMark)]) + cutMark
}

// ClosesConnection reports whether the error ends the connection it happened on.
func (e *Error) ClosesConnection() bool { return e.Connection || e.Code.ClosesConnection() }

// errorf returns an Error about something of that name, or about nothing that has one.
func (c Code) errorf(name, format string, args ...any) *Error {
	return &Error{Code: c, Name: name, Reason: fmt.Sprintf(format, args...)}
}

// notation is how error texts print terms.
// Rules: E-6.
func (r *rules) notation() erl.Notation {
	if r.octetTexts {
		return erl.Octets
	}
	return erl.Unicode
}

// text returns octets that a client sent as they stand in an error text: in 4.3 those that are not UTF-8 are characters
// of Latin-1.
// Rules: E-6.
func (r *rules) text(octets string) string {
	if r.octetTexts || utf8.ValidString(octets) {
		return octets
	}
	return string(erl.Characters(octets))
}

// A subject is the queue or the exchange that an error is about. Its text is how RabbitMQ writes it, such as
// "queue 'q' in vhost '/'".
type subject struct{ name, text string }

func (s subject) String() string { return s.text }

func (v *vhost) queueSubject(name string) subject { return subject{name, v.queueText(name)} }

func (v *vhost) exchangeSubject(name string) subject { return subject{name, v.exchangeText(name)} }
