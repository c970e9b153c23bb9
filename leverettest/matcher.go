package leverettest

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/phrase"
)

// A Matcher says what is wrong with a message; nil means that the message is as it should be. What no matcher names is
// not looked at. Any function of this type is a matcher; a nil one accepts every message.
type Matcher func(leveret.MessageInfo) error

// judge is the matcher, also of a nil one.
func (m Matcher) judge(info leveret.MessageInfo) error {
	if m == nil {
		return nil
	}
	return m(info)
}

// Body accepts a message with this body.
func Body(want string) Matcher {
	return func(m leveret.MessageInfo) error { return same("body", want, string(m.Body)) }
}

// JSON accepts a message whose body is JSON of the same value as want, which is any value that encoding/json encodes.
func JSON(want any) Matcher {
	return func(m leveret.MessageInfo) error {
		text, err := json.Marshal(want)
		if err != nil {
			return fmt.Errorf("the wanted body: %w", err)
		}
		var wanted, got any
		if err := json.Unmarshal(text, &wanted); err != nil {
			return err
		}
		if err := json.Unmarshal(m.Body, &got); err != nil {
			return fmt.Errorf("body %s: %w", phrase.Body(m.Body), err)
		}
		return same("JSON body", wanted, got)
	}
}

// Key accepts a message that was last published with this routing key.
func Key(want string) Matcher {
	return func(m leveret.MessageInfo) error { return same("routing key", want, m.RoutingKey) }
}

// MessageID accepts a message with this property message-id.
func MessageID(want string) Matcher {
	return func(m leveret.MessageInfo) error {
		p := m.Properties
		if p == nil {
			p = &leveret.Properties{}
		}
		return same("message-id", want, p.MessageID)
	}
}

// Header accepts a message that was published with this header. The headers of deaths are not among them: see Died. A
// whole number equals any of its size, whatever its type.
func Header(name string, want any) Matcher {
	return func(m leveret.MessageInfo) error {
		got, there := headers(m.Properties)[name]
		if !there {
			return fmt.Errorf("no header %q", name)
		}
		return same("header "+name, number(want), number(got))
	}
}

// headers are the headers that a message was published with.
func headers(p *leveret.Properties) leveret.Table {
	switch {
	case p == nil:
		return nil
	case p.HeaderFields != nil:
		return p.HeaderFields.Table()
	}
	return p.Headers
}

// number returns whole numbers as int64, and other values as they are.
func number(v any) any {
	switch r := reflect.ValueOf(v); {
	case r.CanInt():
		return r.Int()
	case r.CanUint():
		return int64(r.Uint())
	}
	return v
}

// Died accepts a message that died in a queue for this reason, so many times.
func Died(queue string, reason leveret.Reason, times int) Matcher {
	return func(m leveret.MessageInfo) error {
		var count int64
		for _, d := range m.Deaths {
			if d.Queue == queue && d.Reason == reason {
				count += d.Count
			}
		}
		return same(fmt.Sprintf("deaths in %s (%s)", queue, reason), int64(times), count)
	}
}

// All accepts what all matchers accept.
func All(matchers ...Matcher) Matcher {
	return func(m leveret.MessageInfo) error { return matches(m, matchers) }
}

// Any accepts every message.
func Any() Matcher { return func(leveret.MessageInfo) error { return nil } }

// matches returns the first refusal.
func matches(m leveret.MessageInfo, matchers []Matcher) error {
	for _, match := range matchers {
		if err := match.judge(m); err != nil {
			return err
		}
	}
	return nil
}

func same(what string, want, got any) error {
	if reflect.DeepEqual(want, got) {
		return nil
	}
	return fmt.Errorf("%s: want %#v, got %#v", what, want, got)
}
