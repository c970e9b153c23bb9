package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
)

// words are the arguments of a statement as its verb takes them.
type words struct {
	step  *Step
	pos   []Arg
	named leveret.Fields
}

// newWords takes the arguments of a step. A word or a value that begins with $reply-to begins with the reply-to of the message
// received last.
func newWords(st *Step, replyTo string) *words {
	w := &words{step: st}
	for _, a := range st.Args {
		if rest, ok := strings.CutPrefix(a.Text, "$reply-to"); ok && a.slash < 0 {
			a.Text = replyTo + rest
		}
		if a.Name == "" {
			w.pos = append(w.pos, a)
		} else {
			w.named = append(w.named, leveret.Field{Name: a.Name, Value: withReplyTo(a.Value, replyTo)})
		}
	}
	return w
}

func withReplyTo(v any, replyTo string) any {
	switch v := v.(type) {
	case string:
		if rest, ok := strings.CutPrefix(v, "$reply-to"); ok {
			return replyTo + rest
		}
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = withReplyTo(v[i], replyTo)
		}
		return all
	case leveret.Fields:
		all := slices.Clone(v)
		for i := range all {
			all[i].Value = withReplyTo(v[i].Value, replyTo)
		}
		return all
	}
	return v
}

// next takes the next positional argument.
func (w *words) next(what string) Arg {
	if len(w.pos) == 0 {
		fail("%s needs %s", w.step.Verb, what)
	}
	a := w.pos[0]
	w.pos = w.pos[1:]
	return a
}

func (w *words) word(what string) string { return w.next(what).Text }

// duration takes the next positional argument as a time that passes.
func (w *words) duration() time.Duration {
	d, err := time.ParseDuration(w.word("a duration"))
	if err != nil {
		fail("%v", err)
	}
	if d < 0 {
		fail("%s: time does not go back", w.step.Verb)
	}
	return d
}

// words takes all words that are left, of which there is at least one.
func (w *words) words(what string) []string {
	list := []string{w.word(what)}
	for len(w.pos) > 0 {
		list = append(list, w.word(what))
	}
	w.done()
	return list
}

// target takes EXCHANGE/KEY, or a name, which is a key of the default exchange.
func (w *words) target() (exchange, key string) {
	a := w.next("a target")
	if a.slash < 0 {
		return "", a.Text
	}
	return a.Text[:a.slash], a.Text[a.slash+1:]
}

// flag takes a word if it is among those left.
func (w *words) flag(name string) bool {
	i := slices.IndexFunc(w.pos, func(a Arg) bool { return a.Text == name })
	if i < 0 {
		return false
	}
	w.pos = slices.Delete(slices.Clone(w.pos), i, i+1)
	return true
}

// take takes a named argument.
func (w *words) take(name string) (any, bool) {
	i := slices.IndexFunc(w.named, func(f leveret.Field) bool { return f.Name == name })
	if i < 0 {
		return nil, false
	}
	v := w.named[i].Value
	w.named = slices.Delete(slices.Clone(w.named), i, i+1)
	return v, true
}

func (w *words) str(name string) string {
	v, ok := w.take(name)
	if !ok {
		return ""
	}
	if s, ok := v.(string); ok {
		return s
	}
	return fmt.Sprint(v)
}

func (w *words) number(name string, absent int) int {
	v, ok := w.take(name)
	if !ok {
		return absent
	}
	n, ok := whole(v)
	if !ok {
		fail("%s must be a number", name)
	}
	return int(n)
}

// rest takes all named arguments that are left: the arguments of a declaration.
func (w *words) rest() leveret.Table {
	t := TableOf(w.named)
	w.named = nil
	return t
}

// done refuses words that nobody took.
func (w *words) done() {
	if len(w.pos) > 0 {
		fail("%s: what is %s?", w.step.Verb, w.pos[0].Text)
	}
	if len(w.named) > 0 {
		fail("%s: what is %s=?", w.step.Verb, w.named[0].Name)
	}
}

// message takes the properties of a publish.
func (w *words) message() leveret.Message {
	m := leveret.Message{Mandatory: w.has("mandatory"), Immediate: w.has("immediate")}
	before := len(w.named)
	var present leveret.Property
	for _, p := range propertyList(&leveret.Properties{}) {
		if _, ok := lookup(w.named, p.name); ok {
			present |= p.bit
		}
	}
	p := &leveret.Properties{
		ContentType: w.str("content-type"), ContentEncoding: w.str("content-encoding"),
		CorrelationID: w.str("correlation-id"), ReplyTo: w.str("reply-to"), Expiration: w.str("expiration"),
		MessageID: w.str("message-id"), Type: w.str("type"), UserID: w.str("user-id"), AppID: w.str("app-id"),
		ClusterID: w.str("cluster-id"), DeliveryMode: uint8(w.number("delivery-mode", 0)),
		Priority: uint8(w.number("priority", 0)),
		Present:  present,
	}
	if s := w.str("timestamp"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			fail("timestamp: %v", err)
		}
		p.Timestamp = time.Unix(int64(n), 0).UTC()
	}
	if v, ok := w.take("headers"); ok {
		f, ok := FieldsOf(v)
		if !ok {
			fail("headers must be a table")
		}
		p.Headers, p.HeaderFields = TableOf(f), f
	}
	if len(w.named) < before {
		m.Properties = p
	}
	return m
}

func (w *words) has(name string) bool {
	v, _ := w.take(name)
	return v == true
}
