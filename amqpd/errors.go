package amqpd

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/erl"
	"github.com/leveretmq/leveret/internal/wire"
)

// errDrop ends a connection without a word: RabbitMQ's reader crashes on such input.
var errDrop = errors.New("amqpd: unintelligible input")

// errDone ends a connection whose closing handshake is over.
var errDone = errors.New("amqpd: connection closed")

// errAnswered is errDone when the client has answered the server's close: the client has read everything.
var errAnswered = fmt.Errorf("%w, the client has answered", errDone)

// An unattributed error names no method in the close frame.
type unattributed struct{ e *leveret.Error }

func (u unattributed) Error() string { return u.e.Error() }
func (u unattributed) Unwrap() error { return u.e }

func errorf(code leveret.Code, format string, args ...any) *leveret.Error {
	return &leveret.Error{Code: code, Reason: fmt.Sprintf(format, args...)}
}

func unattributedf(code leveret.Code, format string, args ...any) error {
	return unattributed{errorf(code, format, args...)}
}

// internalError is what a crash inside RabbitMQ looks like to the client.
// Rules: E-3.
func internalError() error { return unattributed{&leveret.Error{Code: leveret.InternalError}} }

const malformedUTF8 = "Malformed UTF-8 in shortstr"

// end is to be called when all arguments were read; its error says what was wrong with them.
func (a *args) end() error {
	if a.done() {
		return nil
	}
	switch a.fault {
	case badUTF8:
		return unattributedf(leveret.FrameError, malformedUTF8)
	case badTable:
		return errDrop
	}
	return errorf(leveret.FrameError, "cannot decode %s", erl.Bytes(a.whole))
}

// A closeReason is what a close frame carries.
type closeReason struct {
	code   leveret.Code
	text   string
	cause  methodID // the method to blame; 0: none
	hangUp bool     // no answer is waited for
	cut    bool     // nothing is sent
}

// sendable reports whether the text fits into a close frame. One that RabbitMQ 4.3 has cut to 255 characters may have
// more bytes than fit; 4.3 then drops the connection.
// Rules: E-4.
func (r closeReason) sendable() bool { return len(r.text) <= wire.MaxShort && !r.cut }

// closeReason returns what the client is told about an error of the method cause.
// Rules: E-2, E-3.
func (c *conn) closeReason(err error, cause methodID) closeReason {
	var e *leveret.Error
	if !errors.As(err, &e) {
		e = &leveret.Error{Code: leveret.InternalError}
	}
	var u unattributed
	crashed := e.Code == leveret.InternalError && e.Reason == ""
	if crashed || errors.As(err, &u) {
		cause = 0
	}
	if c.release.latin1Names {
		e = nameAsLatin1(e)
	}
	return closeReason{e.Code, c.srv.Broker.ReplyText(e), cause, e.HangUp, e.Cut}
}

// nameAsLatin1 returns the error with the octets of a name that is not UTF-8 as characters of Latin-1.
// Rules: E-12.
func nameAsLatin1(e *leveret.Error) *leveret.Error {
	if utf8.ValidString(e.Name) {
		return e
	}
	own := *e
	own.Reason = strings.ReplaceAll(e.Reason, e.Name, string(erl.Characters(e.Name)))
	return &own
}

// snippetLength is how many octets of a frame's payload an error text shows.
// Rules: E-6.
const snippetLength = 16

// frameProblem describes a frame that should not have come, the way RabbitMQ does. The problem is an
// Erlang term, nil if there is no more to say.
// Rules: E-6.
func (r *release) frameProblem(code leveret.Code, f frame, problem any) error {
	which, snippet := "all", f.payload
	if len(snippet) > snippetLength {
		which, snippet = fmt.Sprintf("first %d", snippetLength), snippet[:snippetLength]
	}
	text := fmt.Sprintf("type %d, %s octets = ", f.typ, which)
	text = r.terms.Behind(text, erl.Binary(snippet))
	if problem != nil {
		text = r.terms.Behind(text+": ", problem)
	}
	return unattributedf(code, "%s", text)
}
