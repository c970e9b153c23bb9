package scenario

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/leveretmq/leveret"
)

// A renderer writes what a client saw in its canonical form.
type renderer struct {
	release    string
	vhost      string
	started    time.Time // x-death times before the run began are shown, later ones are not
	fieldOrder bool      // show x-death as it is, field by field
}

// delivery writes a message that came from queue.
func (r *renderer) delivery(d *Delivery, queue string) string {
	words := []string{body(d.Body)}
	if d.Exchange != "" || d.RoutingKey != queue {
		words = append(words, "from "+quoteEmpty(d.Exchange)+"/"+quoteKey(d.RoutingKey))
	}
	if d.Redelivered {
		words = append(words, "redelivered")
	}
	words = append(words, properties(d.Properties)...)
	return strings.Join(append(words, r.headers(d.Fields)...), " ")
}

func quoteEmpty(s string) string {
	if s == "" {
		return `""`
	}
	return Quote(s)
}

func quoteKey(s string) string {
	s = hideGenerated(s)
	if s == "" {
		return `""`
	}
	if plainWord.MatchString(s) {
		return s
	}
	return strconv.QuoteToASCII(s)
}

func body(b []byte) string {
	switch {
	case len(b) == 0:
		return `""`
	case len(b) > 64:
		return fmt.Sprintf("<%d bytes>", len(b))
	case plainWord.Match(b):
		return string(b)
	}
	return strconv.QuoteToASCII(string(b))
}

func properties(p *leveret.Properties) []string {
	var out []string
	has := p.Has()
	for _, f := range propertyList(p) {
		if has&f.bit != 0 {
			out = append(out, f.name+"="+f.text)
		}
	}
	return out
}

type property struct {
	name string
	bit  leveret.Property
	text string
}

func propertyList(p *leveret.Properties) []property {
	if p == nil {
		return nil
	}
	return []property{
		{"content-type", leveret.PropContentType, Quote(p.ContentType)},
		{"content-encoding", leveret.PropContentEncoding, Quote(p.ContentEncoding)},
		{"delivery-mode", leveret.PropDeliveryMode, strconv.Itoa(int(p.DeliveryMode))},
		{"priority", leveret.PropPriority, strconv.Itoa(int(p.Priority))},
		{"correlation-id", leveret.PropCorrelationID, quoteKey(p.CorrelationID)},
		{"reply-to", leveret.PropReplyTo, quoteKey(p.ReplyTo)},
		{"expiration", leveret.PropExpiration, quoteKey(p.Expiration)},
		{"message-id", leveret.PropMessageID, quoteKey(p.MessageID)},
		{"timestamp", leveret.PropTimestamp, strconv.FormatUint(uint64(p.Timestamp.Unix()), 10)},
		{"type", leveret.PropType, quoteKey(p.Type)},
		{"user-id", leveret.PropUserID, quoteKey(p.UserID)},
		{"app-id", leveret.PropAppID, quoteKey(p.AppID)},
		{"cluster-id", leveret.PropClusterID, quoteKey(p.ClusterID)},
	}
}

func (r *renderer) headers(f leveret.Fields) []string {
	if f == nil {
		return nil
	}
	if len(f) == 0 {
		return []string{"headers={}"}
	}
	deaths, known := r.deaths(f)
	if r.fieldOrder || !known {
		return []string{"headers=" + r.hideTimes(Format(f))}
	}
	var rest leveret.Fields
	for _, e := range f {
		if !strings.HasPrefix(e.Name, "x-first-death-") && !strings.HasPrefix(e.Name, "x-last-death-") &&
			e.Name != "x-death" {
			rest = append(rest, e)
		}
	}
	if len(rest) == 0 {
		return deaths
	}
	return append([]string{"headers=" + Format(rest)}, deaths...)
}

// deaths writes the dead-letter headers in their short form, if they look as the broker makes them.
func (r *renderer) deaths(f leveret.Fields) ([]string, bool) {
	v, ok := lookup(f, "x-death")
	if !ok {
		_, first := lookup(f, "x-first-death-reason")
		_, last := lookup(f, "x-last-death-reason")
		return nil, !first && !last
	}
	array, ok := v.([]any)
	if !ok || len(array) == 0 {
		return nil, false
	}
	var out, trios []string
	for _, e := range array {
		text, trio, ok := r.death(e)
		if !ok {
			return nil, false
		}
		out = append(out, text)
		trios = append(trios, trio)
	}
	first, ok1 := trio(f, "x-first-death-")
	last, ok2 := trio(f, "x-last-death-")
	if !ok1 || !ok2 {
		return nil, false
	}
	if first != trios[len(trios)-1] {
		out = append(out, "first("+first+")")
	}
	if last != trios[0] && !(last == "" && r.release == "3.10") {
		out = append(out, "last("+last+")")
	}
	return out, true
}

func trio(f leveret.Fields, prefix string) (string, bool) {
	var words []string
	for _, name := range []string{"reason", "queue", "exchange"} {
		v, ok := lookup(f, prefix+name)
		s, isString := v.(string)
		if ok && !isString {
			return "", false
		}
		if ok {
			words = append(words, quoteEmpty(s))
		}
	}
	return strings.Join(words, " "), len(words) == 3 || len(words) == 0
}

// death writes one entry of x-death; it must have exactly the broker's fields and types.
func (r *renderer) death(v any) (text, trio string, ok bool) {
	f, ok := FieldsOf(v)
	if !ok {
		return "", "", false
	}
	t := TableOf(f)
	count, ok1 := t["count"].(int64)
	reason, ok2 := t["reason"].(string)
	queue, ok3 := t["queue"].(string)
	at, ok4 := t["time"].(time.Time)
	exchange, ok5 := t["exchange"].(string)
	keys, ok6 := stringArray(t["routing-keys"])
	expiration, has := t["original-expiration"]
	fields := 6
	words := fmt.Sprintf("death(%s %s x%d %s %s", reason, quoteEmpty(queue), count, quoteEmpty(exchange), Format(keys))
	if has {
		fields++
		words += " expiration=" + Format(expiration)
	}
	if ok4 && !r.during(at) {
		words += " time=" + strconv.FormatInt(at.Unix(), 10)
	}
	trio = quoteEmpty(reason) + " " + quoteEmpty(queue) + " " + quoteEmpty(exchange)
	return words + ")", trio, ok1 && ok2 && ok3 && ok4 && ok5 && ok6 && len(t) == fields && len(f) == fields
}

func stringArray(v any) ([]string, bool) {
	switch a := v.(type) {
	case []string:
		return a, true
	case []any:
		out := []string{}
		for _, e := range a {
			s, ok := e.(string)
			if !ok {
				return nil, false
			}
			out = append(out, s)
		}
		return out, true
	}
	return nil, false
}

// during reports whether a time lies in the run, give or take the second that timestamps are rounded to.
func (r *renderer) during(t time.Time) bool { return t.After(r.started.Add(-2 * time.Second)) }

// hideTimes replaces times of the run, which differ each time, by time(now).
func (r *renderer) hideTimes(s string) string {
	var b strings.Builder
	for {
		i := strings.Index(s, "time(")
		if i < 0 {
			return b.String() + s
		}
		end := i + strings.IndexByte(s[i:], ')')
		n, err := strconv.ParseInt(s[i+5:end], 10, 64)
		b.WriteString(s[:i])
		if err == nil && r.during(time.Unix(n, 0)) {
			b.WriteString("time(now)")
		} else {
			b.WriteString(s[i : end+1])
		}
		s = s[end+1:]
	}
}

// failure writes a refusal. The name of the run's virtual host reads as /.
func (r *renderer) failure(e *leveret.Error, scope string) string {
	text := cutAlike(r.plain(r.hideTerm(e.Text())))
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\\", `\\`), "\n", `\n`)
	text = cutCharacters(text)
	return fmt.Sprintf("%s closed: %d %s", scope, e.Code, text)
}

// plain replaces the name of the run's virtual host, also in other names. Of a virtual host that is deleted RabbitMQ says that it is
// down to a connection that notices this first, which is left to chance.
func (r *renderer) plain(text string) string {
	text = strings.ReplaceAll(text, r.vhost, "/")
	return endOfVHost.ReplaceAllString(text, "$1 deleted")
}

var endOfVHost = regexp.MustCompile(`(vhost '[^']*' is) down`)

// hideTerm replaces the run's virtual host where it stands as an Erlang term, and puts the text on one line: where
// Erlang breaks lines depends on the name's length.
func (r *renderer) hideTerm(text string) string {
	term := `<<"` + r.vhost + `">>`
	if !strings.Contains(text, term) {
		return text
	}
	return brokenTerm.ReplaceAllString(strings.ReplaceAll(text, term, `<<"/">>`), "")
}

// alike is the length, in octets, to which a cut text is cut further.
const alike = 128

// cutAlike cuts a reply text further that names the virtual host and ends in "...", as it had more than 255 octets: where it was
// cut depends on the length of the virtual host's name.
func cutAlike(text string) string {
	named := strings.Contains(text, `<<"/">>`) || strings.Contains(text, "vhost '/'")
	if !named || len(text) <= alike || !strings.HasSuffix(text, "...") {
		return text
	}
	return text[:alike] + "..."
}

// cutCharacters writes the bytes of a character that a reply text has only a part of as \xc3.
func cutCharacters(text string) string {
	var b strings.Builder
	for i, r := range text {
		if _, size := utf8.DecodeRuneInString(text[i:]); r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, `\x%02x`, text[i])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func generated(name string) string { return hideGenerated(quoteEmpty(name)) }

// generatedName matches names that the broker makes up, which differ each time.
var generatedName = regexp.MustCompile(`(amq\.gen-|amq\.ctag-|amq\.rabbitmq\.reply-to\.)[-A-Za-z0-9+/=_.]{20,}`)

var brokenTerm = regexp.MustCompile(`\n +`)

func hideGenerated(s string) string { return generatedName.ReplaceAllString(s, "${1}*") }
