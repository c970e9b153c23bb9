package amqpd

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/leveretmq/leveret"
)

// errDrop ends a connection without a word: RabbitMQ's reader crashes on such input.
var errDrop = errors.New("amqpd: unintelligible input")

// errDone ends a connection whose closing handshake is over.
var errDone = errors.New("amqpd: connection closed")

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

// end is to be called when all arguments were read; its error says what was wrong with them.
func (a *args) end() error {
	if a.done() {
		return nil
	}
	switch a.fault {
	case badUTF8:
		return unattributedf(leveret.FrameError, "Malformed UTF-8 in shortstr")
	case badTable:
		return errDrop
	}
	return errorf(leveret.FrameError, "cannot decode %s", rawBinary(a.whole))
}

// A closeReason is what a close frame carries.
type closeReason struct {
	code  leveret.Code
	text  string
	cause methodID // the method to blame; 0: none
}

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
	return closeReason{e.Code, c.srv.Broker.ReplyText(e), cause}
}

// frameProblem describes a frame that should not have come, the way RabbitMQ does.
func frameProblem(code leveret.Code, f frame, problem string) error {
	which, snippet := "all", f.payload
	if len(snippet) > 16 {
		which, snippet = "first 16", snippet[:16]
	}
	text := fmt.Sprintf("type %d, %s octets = ", f.typ, which)
	text += prettyBinary(snippet, len(text))
	if problem != "" {
		text += ": "
		text += prettyTuple(problem, text)
	}
	return unattributedf(code, "%s", text)
}

// lineWidth is the last column, counted from 1, that Erlang's pretty printer fills.
const lineWidth = 79

// prettyBinary prints b as Erlang's ~tp does from the given column on: as text if it is
// printable, else as numbers, broken into lines.
func prettyBinary(b []byte, column int) string {
	if text, ok := printable(b); ok {
		return text
	}
	var out strings.Builder
	out.WriteString("<<")
	indent := column + 2
	at := indent
	for i, c := range b {
		n := strconv.Itoa(int(c))
		width := len(n)
		if i < len(b)-1 {
			n += ","
			width++
		}
		if i > 0 && at+width > lineWidth {
			out.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent
		}
		out.WriteString(n)
		at += width
	}
	out.WriteString(">>")
	return out.String()
}

// printable prints b as Erlang prints a binary that is text.
func printable(b []byte) (string, bool) {
	if len(b) == 0 {
		return "<<>>", true
	}
	if !utf8.Valid(b) {
		return "", false
	}
	var out strings.Builder
	suffix := ""
	for _, r := range string(b) {
		switch {
		case strings.ContainsRune("\b\t\n\v\f\r\x1b\"\\", r):
			out.WriteString(erlangEscapes[r])
		case r < ' ' || r == 0x7f || !unicode.IsPrint(r):
			return "", false
		default:
			out.WriteRune(r)
		}
		if r > unicode.MaxASCII {
			suffix = "/utf8"
		}
	}
	return `<<"` + out.String() + `"` + suffix + ">>", true
}

var erlangEscapes = map[rune]string{
	'\b': `\b`, '\t': `\t`, '\n': `\n`, '\v': `\v`, '\f': `\f`, '\r': `\r`, 0x1b: `\e`, '"': `\"`, '\\': `\\`,
}

// prettyTuple prints a term as it follows the text before it on the line: a tuple that does not fit is
// broken after its comma.
func prettyTuple(term, before string) string {
	column := len(before) - (strings.LastIndexByte(before, '\n') + 1)
	first, rest, isTuple := strings.Cut(term, ",")
	if !isTuple || column+len(term) <= lineWidth {
		return term
	}
	return first + ",\n" + strings.Repeat(" ", column+1) + rest
}

// rawBinary prints b as Erlang's ~w does.
func rawBinary(b []byte) string {
	var out strings.Builder
	out.WriteString("<<")
	for i, c := range b {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(strconv.Itoa(int(c)))
		if out.Len() > 300 { // more than a reply text holds
			break
		}
	}
	out.WriteString(">>")
	return out.String()
}
