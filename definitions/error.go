package definitions

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/erl"
)

// An Error is the refusal of a document because of one entry or one section.
type Error struct {
	Section string // the section's name in the document, such as "queues"
	Index   int    // the entry's position in the section, from 0; -1: the section as a whole
	Name    string // the entry's name, if it has one

	// Err is the reason. It is a *leveret.Error with RabbitMQ's explanation, which names no position,
	// or leveret.ErrClosed.
	Err error
}

// Error returns the entry's place and name and the explanation.
func (e *Error) Error() string {
	if e.Index < 0 {
		return e.Section + ": " + explanation(e.Err)
	}
	return fmt.Sprintf("%s[%d] '%s': %s", e.Section, e.Index, e.Name, explanation(e.Err))
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// A SyntaxError is the refusal of a document that is no JSON, or no JSON object.
type SyntaxError struct {
	Line, Column int   // where in the document, in lines and characters, from 1
	Err          error // a *leveret.Error with RabbitMQ's explanation
}

// Error returns the place and the explanation.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, explanation(e.Err))
}

// Unwrap returns the reason.
func (e *SyntaxError) Unwrap() error { return e.Err }

// syntaxError is the refusal of a document at an offset.
func syntaxError(data []byte, offset int64, reason string) *SyntaxError {
	before := data[:max(0, min(offset, int64(len(data))))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return &SyntaxError{line, column, refuse("failed_to_parse_json: %s", reason)}
}

// refuse is the refusal of an entry in RabbitMQ's words.
func refuse(format string, args ...any) error {
	return &leveret.Error{Code: leveret.PreconditionFailed, Reason: fmt.Sprintf(format, args...)}
}

// A termError is a refusal that is a term of Erlang. RabbitMQ 3.10's management API shows it as JSON.
type termError struct {
	error
	term erl.Tuple
}

// Term is the term of Erlang that the text prints.
func (e *termError) Term() erl.Tuple { return e.term }

// Unwrap returns the refusal as others are.
func (e *termError) Unwrap() error { return e.error }

// refuseTerm is the refusal of an entry by a term.
func (im *importer) refuseTerm(term erl.Tuple) error {
	return &termError{refuse("%s", im.terms.Format(term, 0)), term}
}

// explanation is the broker's explanation of an error without the reply code.
func explanation(err error) string {
	var e *leveret.Error
	if errors.As(err, &e) && e.Reason != "" {
		return e.Reason
	}
	return err.Error()
}

// refused turns the broker's refusal of an operation into that of an entry. An error that is no
// refusal stays as it is.
func refused(err error) error {
	var e *leveret.Error
	if !errors.As(err, &e) {
		return err
	}
	entry := refuse("%s", e.Reason)
	var t interface {
		error
		Term() erl.Tuple
	}
	if errors.As(err, &t) {
		return &termError{entry, t.Term()}
	}
	return entry
}

// refusedByCode is refused where RabbitMQ puts the name of the reply code in front: for virtual
// hosts, exchanges, queues and bindings.
// Rules: J-9.
func refusedByCode(err error) error {
	var e *leveret.Error
	if !errors.As(err, &e) {
		return err
	}
	return refuse("%s: %s", strings.ToLower(e.Code.String()), e.Reason)
}

// An entry is a pointer to an element of a section. Its label is how errors name it.
type entry[E any] interface {
	*E
	label() string
}

func (e *User) label() string            { return e.Name }
func (e *VHost) label() string           { return e.Name }
func (e *Permission) label() string      { return e.User }
func (e *TopicPermission) label() string { return e.User }
func (e *Parameter) label() string       { return e.Name }
func (e *GlobalParameter) label() string { return e.Name }
func (e *Policy) label() string          { return e.Name }
func (e *Queue) label() string           { return e.Name }
func (e *Exchange) label() string        { return cmp.Or(e.Name, "amq.default") }

func (e *Binding) label() string { return e.Source + " -> " + e.Destination }
