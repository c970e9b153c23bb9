package mgmt

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/erl"
	"github.com/leveretmq/leveret/internal/jsondoc"
)

// A call is one request of a user.
type call struct {
	*node
	request   *http.Request
	user      leveret.UserInfo
	ofVHost   bool            // the path names a virtual host
	order     order           // of the list that is the answer
	params    url.Values      // of the query
	valueless map[string]bool // parameters of the query whose first one has no "="
	body      body
	header    http.Header          // of the answer
	looked    map[string]*contents // of virtual hosts, by name

	malformed error // errMalformed if the query cannot be read
}

// defaultExchange is the name of the default exchange in paths.
const defaultExchange = "amq.default"

// path returns a name in the path; empty if the route has none of that kind.
func (c *call) path(kind string) string { return c.request.PathValue(kind) }

// exchangeName is path for an exchange.
func (c *call) exchangeName(kind string) string {
	if name := c.path(kind); name != defaultExchange {
		return name
	}
	return ""
}

// query returns a parameter of the query; empty if there is none.
func (c *call) query(name string) string { return c.params.Get(name) }

// parseQuery reads a query as RabbitMQ's web server does, for which a semicolon is a character like others. It refuses a value without
// a name, and a percent sign without hexadecimal digits.
func parseQuery(query string) (params url.Values, valueless map[string]bool, malformed error) {
	params, valueless = url.Values{}, map[string]bool{}
	for param := range strings.SplitSeq(query, "&") {
		name, value, hasValue := strings.Cut(param, "=")
		name, wrongName := url.QueryUnescape(name)
		value, wrongValue := url.QueryUnescape(value)
		switch {
		case wrongName != nil, wrongValue != nil, name == "" && hasValue:
			return params, valueless, errMalformed
		case name != "":
			valueless[name] = valueless[name] || !hasValue && !params.Has(name)
			params.Add(name, value)
		}
	}
	return params, valueless, nil
}

// vhost returns the virtual host in the path, nil if the route has none.
func (c *call) vhost() (*leveret.VHost, error) {
	if !c.ofVHost {
		return nil, nil
	}
	v, err := c.broker.VHost(c.path("vhost"))
	if err != nil {
		return nil, errNoObject
	}
	return v, nil
}

// A body is the JSON object of a request.
type body map[string]json.RawMessage

// maxBody is how many bytes a body may have.
const maxBody = 20 << 20

// readBody reads the request's body, an empty one as an empty object.
func (c *call) readBody() error {
	data, err := c.readAll()
	if err != nil {
		return err
	}
	if c.readsLeniently {
		data = jsondoc.Lenient(data)
	}
	if text := string(bytes.TrimSpace(data)); len(data) == 0 || text == "null" || text == "undefined" {
		c.body = body{}
		return nil
	}
	if c.trueIsEmpty && string(bytes.TrimSpace(data)) == "true" {
		c.body = body{}
		return nil
	}
	var text string
	if json.Unmarshal(data, &text) == nil {
		return badRequest("invalid payload: the request body JSON-decoded to a string. Is the input doubly-JSON-encoded?")
	}
	if jsondoc.Check(data, c.memberThatCounts) != nil || json.Unmarshal(jsondoc.Unique(data, c.memberThatCounts), &c.body) != nil {
		return badRequest("not_json")
	}
	return nil
}

func (c *call) readAll() ([]byte, error) {
	data, err := io.ReadAll(http.MaxBytesReader(nil, c.request.Body, maxBody))
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		return nil, badRequest("Exceeded HTTP request body size limit")
	}
	return data, err
}

// need reads the body, which must have the keys.
func (c *call) need(keys ...string) error {
	if err := c.readBody(); err != nil {
		return err
	}
	var missing erl.List
	for _, key := range keys {
		if _, ok := c.body[key]; !ok {
			missing = append(missing, erl.Tuple{erl.Atom("key_missing"), erl.Atom(key)})
		}
	}
	if missing != nil {
		return badRequest(c.notation.Format(missing, 0))
	}
	return nil
}

// read decodes a value of the body into to; a value that is missing or null leaves it as it is.
func (b body) read(key string, to any) error {
	data, ok := b[key]
	if !ok || string(data) == "null" {
		return nil
	}
	if json.Unmarshal(data, to) != nil {
		return badRequest("invalid value of " + key)
	}
	return nil
}

// text returns a string of the body; a number or a truth value as it is written.
func (b body) text(key string) string {
	var s string
	if json.Unmarshal(b[key], &s) == nil {
		return s
	}
	return string(b[key])
}

// word is text, and of null as it is written, too.
func (b body) word(key string) string {
	if data := string(b[key]); data == "null" {
		return data
	}
	return b.text(key)
}

// textOnly returns a string of the body, which RabbitMQ's handler fails at if it is anything else; empty if it is missing.
func (b body) textOnly(key string) (string, error) {
	given, ok := b[key]
	var s *string
	if ok && (json.Unmarshal(given, &s) != nil || s == nil) {
		return "", errCrash
	}
	if s == nil {
		return "", nil
	}
	return *s, nil
}

// textOrList is textOnly for a member that may be a list of characters and texts, too.
func (b body) textOrList(key string) (string, error) {
	v, _ := jsondoc.Decode(b[key], jsondoc.First)
	if list, isList := v.([]any); isList {
		text, ok := printedList(list)
		if !ok {
			return "", errCrash
		}
		return text, nil
	}
	return b.textOnly(key)
}

// truth returns a truth value of the body, which may be a string.
func (b body) truth(key string) (bool, error) {
	given, ok := b[key]
	switch text := b.word(key); {
	case !ok, text == "false":
		return false, nil
	case text == "true":
		return true, nil
	}
	return false, badRequest([]any{"not_boolean", given})
}

// number returns a number of the body without its fraction, or an integer of a string there.
func (b body) number(key string) (int, error) {
	if f := 0.0; json.Unmarshal(b[key], &f) == nil && string(b[key]) != "null" {
		return int(f), nil
	}
	n, err := strconv.Atoi(b.text(key))
	if err != nil {
		return 0, badRequest([]any{"not_integer", b[key]})
	}
	return n, nil
}

// decodeAny returns what a JSON value is, nil for none.
func decodeAny(data []byte) (v any) {
	if json.Unmarshal(data, &v) != nil {
		return nil
	}
	return v
}
