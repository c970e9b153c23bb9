package move

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	amqp "github.com/rabbitmq/amqp091-go"
)

// The form of messages in a dump. JSON has fewer types than AMQP, so each property and header is a pair: the letter of the
// AMQP field type, and the value.

// A line is a message in a dump.
type line struct {
	Queue       string            `json:"queue"`
	Exchange    string            `json:"exchange"`
	RoutingKey  text              `json:"routing_key"`
	Redelivered bool              `json:"redelivered,omitempty"`
	Properties  map[string]value  `json:"properties,omitempty"`
	Headers     *map[string]value `json:"headers,omitempty"`
	Body        *string           `json:"body,omitempty"`
	Octets      []byte            `json:"body_base64,omitempty"` // a body that is no UTF-8
}

// A text is a string in JSON, or an array with its octets in base64 if it is no UTF-8.
type text string

func (t text) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(t)) {
		return json.Marshal(string(t))
	}
	return json.Marshal([]string{base64.StdEncoding.EncodeToString([]byte(t))})
}

func (t *text) UnmarshalJSON(data []byte) error {
	var octets [1][]byte
	if err := json.Unmarshal(data, &octets); err == nil {
		*t = text(octets[0])
		return nil
	}
	return json.Unmarshal(data, (*string)(t))
}

// MarshalJSON writes the letter as a line of a dump.
func (l Letter) MarshalJSON() ([]byte, error) {
	out := line{Queue: l.Queue, Exchange: l.Exchange, RoutingKey: text(l.RoutingKey), Redelivered: l.Redelivered, Properties: properties(l.Message)}
	if l.Message.Headers != nil {
		headers := tableValues(l.Message.Headers)
		out.Headers = &headers
	}
	if body := string(l.Message.Body); utf8.ValidString(body) {
		out.Body = &body
	} else {
		out.Octets = l.Message.Body
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads a line of a dump.
func (l *Letter) UnmarshalJSON(data []byte) error {
	var in line
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	*l = Letter{Queue: in.Queue, Exchange: in.Exchange, RoutingKey: string(in.RoutingKey), Redelivered: in.Redelivered}
	for name, v := range in.Properties {
		if err := setProperty(&l.Message, name, v.of); err != nil {
			return err
		}
	}
	if in.Headers != nil {
		l.Message.Headers = tableOf(*in.Headers)
	}
	if l.Message.Body = in.Octets; in.Body != nil {
		l.Message.Body = []byte(*in.Body)
	}
	return nil
}

// textProperties are the properties that are texts, by their names in a dump.
func textProperties(p *amqp.Publishing) map[string]*string {
	return map[string]*string{
		"content_type": &p.ContentType, "content_encoding": &p.ContentEncoding, "correlation_id": &p.CorrelationId, "reply_to": &p.ReplyTo,
		"expiration": &p.Expiration, "message_id": &p.MessageId, "type": &p.Type, "user_id": &p.UserId, "app_id": &p.AppId,
	}
}

func properties(p amqp.Publishing) map[string]value {
	all := map[string]value{}
	for name, text := range textProperties(&p) {
		if *text != "" {
			all[name] = value{*text}
		}
	}
	if p.DeliveryMode != 0 {
		all["delivery_mode"] = value{p.DeliveryMode}
	}
	if p.Priority != 0 {
		all["priority"] = value{p.Priority}
	}
	if !p.Timestamp.IsZero() {
		all["timestamp"] = value{p.Timestamp}
	}
	return all
}

func setProperty(p *amqp.Publishing, name string, of any) error {
	var ok bool
	switch name {
	case "delivery_mode":
		p.DeliveryMode, ok = of.(uint8)
	case "priority":
		p.Priority, ok = of.(uint8)
	case "timestamp":
		p.Timestamp, ok = of.(time.Time)
	default:
		if to := textProperties(p)[name]; to != nil {
			*to, ok = of.(string)
		}
	}
	if !ok {
		return fmt.Errorf("property %q: %v is not expected", name, of)
	}
	return nil
}

// A value is that of a property or header.
type value struct{ of any }

// A decimal is the JSON form of an AMQP decimal.
type decimal struct {
	Scale uint8 `json:"scale"`
	Value int32 `json:"value"`
}

// MarshalJSON writes the letter of the type and the value. Numbers with a fraction are texts, because JSON has no NaN.
func (v value) MarshalJSON() ([]byte, error) {
	pair := func(letter string, of any) ([]byte, error) { return json.Marshal([]any{letter, of}) }
	switch x := v.of.(type) {
	case nil:
		return pair("V", nil)
	case bool:
		return pair("t", x)
	case float32:
		return pair("f", strconv.FormatFloat(float64(x), 'g', -1, 32))
	case float64:
		return pair("d", strconv.FormatFloat(x, 'g', -1, 64))
	case string:
		return pair("S", text(x))
	case []byte:
		return pair("x", x)
	case time.Time:
		return pair("T", x.Unix())
	case amqp.Decimal:
		return pair("D", decimal{x.Scale, x.Value})
	case amqp.Table:
		return pair("F", tableValues(x))
	case []any:
		all := make([]value, len(x))
		for i := range x {
			all[i].of = x[i]
		}
		return pair("A", all)
	}
	if letter := integerLetter(v.of); letter != "" {
		return pair(letter, v.of)
	}
	return nil, fmt.Errorf("AMQP has no field type for %T", v.of)
}

// integerLetter is the letter of the AMQP field type of a Go integer.
func integerLetter(of any) string {
	switch of.(type) {
	case int8:
		return "b"
	case uint8:
		return "B"
	case int16:
		return "s"
	case uint16:
		return "u"
	case int32:
		return "I"
	case uint32:
		return "i"
	case int64:
		return "l"
	}
	return ""
}

// readers parse the values of each type.
var readers = map[string]func([]byte) (any, error){}

func init() {
	readers["V"] = func([]byte) (any, error) { return nil, nil }
	readers["t"], readers["x"] = read[bool], read[[]byte]
	readers["b"], readers["B"], readers["s"], readers["u"] = read[int8], read[uint8], read[int16], read[uint16]
	readers["I"], readers["i"], readers["l"] = read[int32], read[uint32], read[int64]
	readers["f"] = func(data []byte) (any, error) { x, err := readFloat(data, 32); return float32(x), err }
	readers["d"] = func(data []byte) (any, error) { return readFloat(data, 64) }
	readers["S"] = func(data []byte) (any, error) { var t text; err := json.Unmarshal(data, &t); return string(t), err }
	readers["T"] = func(data []byte) (any, error) {
		var s int64
		err := json.Unmarshal(data, &s)
		return time.Unix(s, 0), err
	}
	readers["D"] = func(data []byte) (any, error) {
		var d decimal
		err := json.Unmarshal(data, &d)
		return amqp.Decimal{Scale: d.Scale, Value: d.Value}, err
	}
	readers["F"] = func(data []byte) (any, error) {
		var t map[string]value
		err := json.Unmarshal(data, &t)
		return tableOf(t), err
	}
	readers["A"] = func(data []byte) (any, error) {
		var all []value
		err := json.Unmarshal(data, &all)
		list := make([]any, len(all))
		for i := range all {
			list[i] = all[i].of
		}
		return list, err
	}
}

func read[T any](data []byte) (any, error) {
	var x T
	err := json.Unmarshal(data, &x)
	return x, err
}

func readFloat(data []byte, bits int) (float64, error) {
	var digits string
	if err := json.Unmarshal(data, &digits); err != nil {
		return 0, err
	}
	return strconv.ParseFloat(digits, bits)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (v *value) UnmarshalJSON(data []byte) error {
	var pair []json.RawMessage
	var letter string
	if err := json.Unmarshal(data, &pair); err != nil || len(pair) != 2 || json.Unmarshal(pair[0], &letter) != nil {
		return fmt.Errorf("%s is no pair of a type and a value", data)
	}
	read := readers[letter]
	if read == nil {
		return fmt.Errorf("%q is the letter of no field type", letter)
	}
	var err error
	v.of, err = read(pair[1])
	return err
}

func tableValues(t amqp.Table) map[string]value {
	all := make(map[string]value, len(t))
	for name, of := range t {
		all[name] = value{of}
	}
	return all
}

func tableOf(values map[string]value) amqp.Table {
	t := make(amqp.Table, len(values))
	for name, v := range values {
		t[name] = v.of
	}
	return t
}
