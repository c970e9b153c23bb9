package leveret

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/leveretmq/leveret/internal/erl"
)

// A headers exchange compares the arguments of a binding with the headers of a message. The
// argument x-match says how many have to agree and whether those that begin with x- take part.

const argMatch = "x-match"

// A headersMatch is what a binding of a headers exchange demands of a message's headers.
type headersMatch struct {
	demands Fields // by name; a void value demands that the header is there
	any     bool   // one demand that is met is enough
	numbers comparison
	consume bool // each header satisfies one demand only
}

// compileHeaders returns what binding arguments, which are canonical, demand. Unusable ones
// are refused as at bind time; the caller names the operation in the error.
// Rules.
func compileHeaders(args Fields, r *rules) (*headersMatch, *Error) {
	mode := "all"
	if v, ok := args.Get(argMatch); ok {
		if mode, ok = v.(string); !ok {
			return nil, matchTypeError(v, r)
		}
	}
	m := &headersMatch{numbers: strictlyEqual, consume: r.firstDuplicateHeader}
	if r.looseNumbers {
		m.numbers = equalNumbers
	}
	withX := false
	switch mode {
	case "all":
	case "any":
		m.any = true
	case "all-with-x":
		withX = true
	case "any-with-x":
		m.any, withX = true, true
	default:
		return nil, PreconditionFailed.errorf("", "%s; expected all, any, all-with-x, or any-with-x",
			r.notation().Behind("Invalid x-match field value ", erl.Binary(mode)))
	}
	for _, f := range args {
		if f.Name != argMatch && (withX || !strings.HasPrefix(f.Name, "x-")) {
			m.demands = append(m.demands, f)
		}
	}
	slices.SortStableFunc(m.demands, compareNames)
	return m, nil
}

// Rules: X-26.
func matchTypeError(v any, r *rules) *Error {
	text := fmt.Sprintf("Invalid x-match field type %s (value ", fieldType(v))
	return PreconditionFailed.errorf("", "%s); expected longstr", r.notation().Behind(text, fieldTerm(v)))
}

// matches reports whether a message's headers, as routableHeaders gives them, satisfy m.
// Rules.
func (m *headersMatch) matches(headers Fields) bool {
	for i := range m.demands {
		d := &m.demands[i]
		for len(headers) > 0 && headers[0].Name < d.Name {
			headers = headers[1:]
		}
		met := false
		if len(headers) > 0 && headers[0].Name == d.Name {
			met = d.Value == nil || m.numbers.untyped(d.Value, headers[0].Value)
			if m.consume {
				headers = headers[1:]
			}
		}
		if met == m.any {
			return met
		}
	}
	return !m.any
}

// routableHeaders returns a message's headers, which are canonical, as headers exchanges see
// them: in the order of their names. It returns headers itself where that suffices, so that
// the result of one call should serve all bindings.
//
// RabbitMQ 4.3 lets the last of several headers of a name count and takes a timestamp for its
// number of milliseconds, though in a binding it is one of seconds.
// Rules.
func routableHeaders(headers Fields, r *rules) Fields {
	stamped := !r.secondsTimestamps && slices.ContainsFunc(headers, func(f Field) bool {
		_, ok := f.Value.(time.Time)
		return ok
	})
	if ascending(headers) && !stamped {
		return headers
	}
	h := headers.byName()
	if !r.firstDuplicateHeader {
		h = lastOfEachName(h)
	}
	if stamped {
		for i := range h {
			if t, ok := h[i].Value.(time.Time); ok {
				h[i].Value = milliseconds(t)
			}
		}
	}
	return h
}

// Rules: X-30.
func lastOfEachName(h Fields) Fields {
	n := 0
	for i := range h {
		if i+1 == len(h) || h[i+1].Name != h[i].Name {
			h[n] = h[i]
			n++
		}
	}
	return h[:n]
}

// milliseconds returns a timestamp as a header's value.
// Rules: X-29.
func milliseconds(t time.Time) any {
	const perSecond = int64(time.Second / time.Millisecond)
	if s := t.Unix(); s >= 0 && s <= math.MaxInt64/perSecond {
		return s * perSecond
	}
	seconds := new(big.Int).SetUint64(uint64(t.Unix()))
	return seconds.Mul(seconds, big.NewInt(perSecond))
}
