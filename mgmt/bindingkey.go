package mgmt

import (
	"encoding/base64"
	"encoding/binary"
	"math/big"
	"net/url"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/erl"
	"github.com/leveretmq/leveret/internal/phash"
)

// propertiesKey tells a binding from the others between the same two ends: its routing key and, if it has arguments, a
// hash of them.
func propertiesKey(key string, args leveret.Fields) string {
	hash := hashOf(args)
	if hash == "" && key != "" {
		return quoted(key)
	}
	return quoted(key) + "~" + hash
}

// hashOf is the hash of a binding's arguments; empty: it has none.
func hashOf(args leveret.Fields) string {
	if len(args) == 0 {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(nil, phash.Term(tableTerm(args))))
}

// readKey takes a propertiesKey apart. A client that has not quoted the routing key a second time, for the path, is understood.
func readKey(properties string) (key, hash string, ok bool) {
	parts := strings.Split(properties, "~")
	key, err := url.QueryUnescape(parts[0])
	if len(parts) > 1 {
		hash = parts[1]
	}
	return key, hash, err == nil && len(parts) <= 2
}

// shownKey is propertiesKey for an answer: RabbitMQ fails at putting a hash behind a routing key with a tilde.
func shownKey(key string, args leveret.Fields) (string, error) {
	if len(args) > 0 && strings.Contains(key, "~") {
		return "", errCrash
	}
	return propertiesKey(key, args), nil
}

func quoted(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "~", "%7E") }

// location returns where what a request has made is, from the request's own path, for names below /api: what both paths
// begin with is left out. RabbitMQ writes the names in its own way. Of a path that has them in another it keeps nothing
// from there on.
func (c *call) location(names ...string) string {
	from := strings.FieldsFunc(strings.TrimPrefix(c.request.URL.EscapedPath(), "/api/"), isSlash)
	to := make([]string, 0, len(names))
	for _, name := range names {
		if name != "" {
			to = append(to, url.QueryEscape(name))
		}
	}
	for len(from) > 1 && len(to) > 0 && from[0] == to[0] {
		from, to = from[1:], to[1:]
	}
	return strings.Repeat("../", max(len(from)-1, 0)) + strings.Join(to, "/")
}

func isSlash(r rune) bool { return r == '/' }

// tableTerm is the term that RabbitMQ keeps of a table: names, types and values.
func tableTerm(fields leveret.Fields) erl.List {
	list := make(erl.List, len(fields))
	for i, f := range fields {
		kind, value := fieldTerm(f.Value)
		list[i] = erl.Tuple{erl.Binary(f.Name), kind, value}
	}
	return list
}

// fieldTerm returns the type and the value that RabbitMQ keeps of a field. Timestamps and decimals have no sign there.
func fieldTerm(v any) (kind erl.Atom, value any) {
	switch v := v.(type) {
	case string:
		return "longstr", erl.Binary(v)
	case []byte:
		return "binary", erl.Binary(v)
	case bool:
		if v {
			return "bool", erl.Atom("true")
		}
		return "bool", erl.Atom("false")
	case float32:
		return "float", float64(v)
	case float64:
		return "double", v
	case leveret.Decimal:
		return "decimal", erl.Tuple{int64(v.Scale), int64(uint32(v.Value))}
	case time.Time:
		return "timestamp", new(big.Int).SetUint64(uint64(v.Unix()))
	case leveret.Fields:
		return "table", tableTerm(v)
	case []any:
		return "array", arrayTerm(v)
	case nil:
		return "void", erl.Atom("undefined")
	}
	return integerTerm(v)
}

func arrayTerm(values []any) erl.List {
	list := make(erl.List, len(values))
	for i, v := range values {
		kind, value := fieldTerm(v)
		list[i] = erl.Tuple{kind, value}
	}
	return list
}

func integerTerm(v any) (kind erl.Atom, value any) {
	switch v := v.(type) {
	case int8:
		return "byte", int64(v)
	case uint8:
		return "unsignedbyte", int64(v)
	case int16:
		return "short", int64(v)
	case uint16:
		return "unsignedshort", int64(v)
	case int32:
		return "signedint", int64(v)
	case uint32:
		return "unsignedint", int64(v)
	}
	return "long", v
}
