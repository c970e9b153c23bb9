package leveret

import (
	"strconv"

	"github.com/leveretmq/leveret/internal/erl"
)

// A queue or exchange may be declared again, with the same properties. What must be the same
// is compared in a fixed order, and the first difference is the one reported. Policies are no
// part of it, and arguments that the existing queue's type does not know are ignored.

// A queueShape is what a queue's declaration says, the type already added to its arguments.
type queueShape struct {
	kind                queueKind // of the existing queue; not looked at in a redeclaration
	durable, autoDelete bool      // an exclusive queue is never durable
	args                Fields
}

// equivalentQueue compares a redeclaration with the queue that exists. That the queue is not
// exclusive to another connection has been checked before.
// Rules.
func equivalentQueue(current, received queueShape, r *rules, about subject) *Error {
	if err := equivalentFlag("durable", current.durable, received.durable, about); err != nil {
		return err
	}
	if err := equivalentFlag("auto_delete", current.autoDelete, received.autoDelete, about); err != nil {
		return err
	}
	for _, key := range kinds[current.kind].arguments {
		if !current.kind.supports(key, r) {
			continue
		}
		if err := r.equivalentArg(key, current.args, received.args, about); err != nil {
			return err
		}
	}
	return nil
}

// An exchangeShape is what an exchange's declaration says.
type exchangeShape struct {
	kind                          ExchangeType
	durable, autoDelete, internal bool
	args                          Fields
}

// equivalentExchange compares a redeclaration with the exchange that exists.
// Rules: X-6.
func equivalentExchange(current, received exchangeShape, r *rules, about subject) *Error {
	if current.kind != received.kind {
		return inequivalent("type", about, quote(exchangeTypeTerm(received.kind)), quote(exchangeTypeTerm(current.kind)))
	}
	if err := equivalentFlag("durable", current.durable, received.durable, about); err != nil {
		return err
	}
	if err := equivalentFlag("auto_delete", current.autoDelete, received.autoDelete, about); err != nil {
		return err
	}
	if err := equivalentFlag("internal", current.internal, received.internal, about); err != nil {
		return err
	}
	return r.equivalentArg(ArgAlternateExchange, current.args, received.args, about)
}

// exchangeTypeTerm prints a type as the symbol it is to the broker, with quotes of its own if
// it has a hyphen.
func exchangeTypeTerm(t ExchangeType) string { return erl.Format(erl.Atom(t), 0) }

func equivalentFlag(key string, current, received bool, about subject) *Error {
	if current == received {
		return nil
	}
	return inequivalent(key, about, quote(strconv.FormatBool(received)), quote(strconv.FormatBool(current)))
}

// equivalentArg compares one argument. A missing argument differs from every value, also from the default.
// Rules.
func (r *rules) equivalentArg(key string, current, received Fields, about subject) *Error {
	c, hasC := current.Get(key)
	n, hasN := received.Get(key)
	switch {
	case !hasC && !hasN, hasC && hasN && equivalentValues(c, n):
		return nil
	case hasC && hasN:
		if isDecimal(c) || isDecimal(n) {
			return &Error{Code: InternalError} // the broker fails to print its explanation
		}
		return inequivalent(key, about, r.bothGiven(n), r.bothGiven(c))
	case key == ArgQueueType && (n == "classic" || c == "classic"):
		return nil // only a release that does not add the type gets here
	}
	return inequivalent(key, about, r.oneGiven(n, hasN), r.oneGiven(c, hasC))
}

func isDecimal(v any) bool {
	_, ok := v.(Decimal)
	return ok
}

func (r *rules) bothGiven(v any) string {
	if v == nil {
		return "none"
	}
	return quote(r.plainValue(v, 1))
}

func (r *rules) oneGiven(v any, given bool) string {
	if !given {
		return "none"
	}
	const start = "the value '"
	return start + r.plainValue(v, len(start)) + "' of type '" + fieldType(v) + "'"
}

func quote(s string) string { return "'" + s + "'" }

// plainValue prints a value without its type, starting at the given column.
func (r *rules) plainValue(v any, column int) string {
	if s, ok := asBytes(v); ok {
		return r.text(s)
	}
	return r.notation().Format(fieldTerm(v), column)
}

func inequivalent(key string, about subject, received, current string) *Error {
	return PreconditionFailed.errorf(about.name,
		"inequivalent arg '%s' for %s: received %s but current is %s", key, about, received, current)
}
