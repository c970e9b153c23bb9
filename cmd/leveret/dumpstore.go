package main

import (
	"bufio"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"math/big"
	"os"
	"reflect"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/leveretmq/leveret/internal/ctl"
	"github.com/leveretmq/leveret/internal/journal"
	"github.com/leveretmq/leveret/internal/record"
)

// leveret dump DIR prints what is in the directory of a broker. A line is a JSON object and has one item.

// isStore reports whether a dump is to print a directory.
func isStore(from, file string) bool {
	info, err := os.Stat(file)
	return from == "" && err == nil && info.IsDir()
}

func dumpStore(path string, f *flag.FlagSet, std ctl.Streams) int {
	var other string
	f.Visit(func(g *flag.Flag) { other = g.Name })
	if other != "" {
		return refuseArguments("dump", dumpUsage, fmt.Errorf("--%s is not for a directory", other), std)
	}
	w := bufio.NewWriter(std.Out)
	err := cmp.Or(printStore(w, path), w.Flush())
	if err == nil {
		return 0
	}
	unread := notChecked(path, err)
	return refuseFile("dump", cmp.Or(unread, fmt.Errorf("%s: %w", path, shortened{err})), std)
}

// printStore prints up to the first record that cannot be read.
func printStore(w io.Writer, path string) error {
	for r, err := range records(path) {
		if err != nil {
			return err
		}
		for item, err := range record.Items(r.Data) {
			if err != nil {
				return &journal.Error{Op: "read", File: r.File, Offset: r.Offset, Err: err}
			}
			line, err := json.Marshal(itemObject(r, item))
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(w, "%s\n", line); err != nil {
				return err
			}
		}
	}
	return nil
}

// itemObject is an item as the members of an object. Those of the place come first.
func itemObject(r journal.Record, item record.Item) object {
	v := reflect.ValueOf(item).Elem()
	o := object{{"file", r.File}, {"offset", r.Offset}, {"kind", v.Type().Name()}}
	if r.Kind == journal.KindSnapshot {
		o = append(o, member{"snapshot", true})
	}
	if p, ok := item.(*record.Parameter); ok {
		return append(o, member{"name", jsonText(p.Name)}, member{"value", parameterValue(p.Value)})
	}
	return append(o, fieldsObject(v)...)
}

// parameterValue is the value of a global parameter, which is JSON already.
func parameterValue(value []byte) any {
	if json.Valid(value) {
		return json.RawMessage(value)
	}
	return jsonOctets(value)
}

// stateNames are the states of copies. The index is the state.
var stateNames = [...]string{record.InPlace: "in place", record.AtTail: "at tail", record.Returned: "returned", record.Held: "held",
	record.Delayed: "delayed", record.Over: "over", record.Dying: "dying"}

// fieldsObject is a struct without the fields that have their zero value.
func fieldsObject(v reflect.Value) (o object) {
	for i := range v.NumField() {
		switch field := v.Type().Field(i); {
		case v.Field(i).IsZero():
		case field.Anonymous:
			o = append(o, fieldsObject(v.Field(i))...)
		default:
			o = append(o, member{snakeCase(field.Name), jsonValue(v.Field(i))})
		}
	}
	return o
}

// jsonValue is a value in a form that encoding/json writes without a loss.
func jsonValue(v reflect.Value) any {
	switch value := v.Interface().(type) {
	case time.Time:
		return value.Format(time.RFC3339)
	case *big.Int:
		return json.RawMessage(value.String())
	case record.Fields:
		o := object{}
		for _, f := range value {
			o = append(o, member{f.Name, jsonAny(f.Value)})
		}
		return o
	case record.State:
		return stateNames[value]
	case []byte:
		return jsonOctets(value)
	}
	switch v.Kind() {
	case reflect.String:
		return jsonText(v.String())
	case reflect.Float32, reflect.Float64:
		return jsonFloat(v.Float())
	case reflect.Pointer:
		return jsonValue(v.Elem())
	case reflect.Struct:
		return fieldsObject(v)
	case reflect.Slice:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = jsonElement(v.Index(i))
		}
		return list
	case reflect.Map:
		m := make(map[string]any, v.Len())
		for _, key := range v.MapKeys() {
			m[key.String()] = jsonElement(v.MapIndex(key))
		}
		return m
	}
	return v.Interface()
}

// jsonElement is jsonValue for what may be an interface.
func jsonElement(v reflect.Value) any {
	if v.Kind() == reflect.Interface {
		return jsonAny(v.Interface())
	}
	return jsonValue(v)
}

func jsonAny(v any) any {
	if v == nil {
		return nil
	}
	return jsonValue(reflect.ValueOf(v))
}

// jsonFloat is a float, or its name if JSON has no form for it.
func jsonFloat(f float64) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Sprint(f)
	}
	return f
}

func jsonText(s string) any { return jsonOctets([]byte(s)) }

// jsonOctets are octets as a text, or, if they are not UTF-8, as an object with their base64.
func jsonOctets(b []byte) any {
	if utf8.Valid(b) {
		return string(b)
	}
	return object{{"base64", base64.StdEncoding.EncodeToString(b)}}
}

// snakeCase is the name of a field in JSON: ReplyTo is reply_to, MessageID is message_id.
func snakeCase(name string) string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		if unicode.IsUpper(r) && lower {
			b.WriteByte('_')
		}
		lower = unicode.IsLower(r)
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// An object is a JSON object whose members have an order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, name...), ':'), value...)
	}
	return append(b, '}'), nil
}
