package page

import (
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// A cell is one place of a table.
type cell struct {
	Text, Href, Class string
}

// at returns what stands in an object at a path of names with dots between; nil if nothing does.
func at(o any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		object, ok := o.(Object)
		if !ok {
			return nil
		}
		o = object[name]
	}
	return o
}

// text is a value as a person reads it: nothing for what is not there, and JSON for what is no plain value.
func text(v any) string {
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Invalid:
		return ""
	case reflect.String:
		return r.String()
	case reflect.Struct, reflect.Map, reflect.Slice, reflect.Pointer:
		data, err := json.Marshal(v)
		if err != nil || string(data) == "{}" || string(data) == "[]" || string(data) == "null" {
			return ""
		}
		return string(data)
	}
	return fmt.Sprint(v)
}

// number is a value that is a number; 0 for all others.
func number(v any) float64 {
	switch r := reflect.ValueOf(v); {
	case !r.IsValid():
	case r.CanInt():
		return float64(r.Int())
	case r.CanUint():
		return float64(r.Uint())
	case r.CanFloat():
		return r.Float()
	}
	return 0
}

// count writes a whole number in groups of three digits.
func count(n float64) string {
	digits := strconv.FormatFloat(n, 'f', 0, 64)
	sign, digits := digits[:len(digits)-len(strings.TrimPrefix(digits, "-"))], strings.TrimPrefix(digits, "-")
	var groups []string
	for len(digits) > 3 {
		groups = append([]string{digits[len(digits)-3:]}, groups...)
		digits = digits[:len(digits)-3]
	}
	return sign + strings.Join(append([]string{digits}, groups...), "\u2009")
}

// perSecond writes a rate; one that would be written as 0.00 is none.
func perSecond(rate float64) string {
	switch {
	case rate < 0.005:
		return ""
	case rate < 0.995:
		return strconv.FormatFloat(rate, 'f', 2, 64) + "/s"
	case rate < 9.95:
		return strconv.FormatFloat(rate, 'f', 1, 64) + "/s"
	}
	return count(rate) + "/s"
}

// size writes octets.
func size(n float64) string {
	unit := 0
	for ; n >= 1000 && unit < len(units)-1; unit++ {
		n /= 1000
	}
	if unit == 0 || n >= 100 {
		return count(n) + " " + units[unit]
	}
	return strconv.FormatFloat(n, 'f', 1, 64) + " " + units[unit]
}

var units = []string{"B", "kB", "MB", "GB", "TB"}

// moment writes a time of milliseconds since 1970.
func moment(ms float64) string {
	if ms == 0 {
		return ""
	}
	return time.UnixMilli(int64(ms)).UTC().Format("2006-01-02 15:04:05 UTC")
}

// longest is how many characters of a text stand in a table; the rest is cut.
const longest = 80

// shorten cuts a text that is too long for a table, between two characters.
func shorten(s string) string {
	if r := []rune(s); len(r) > longest {
		return string(r[:longest]) + "…"
	}
	return s
}

// to returns the URL of the view of an object.
func to(path, vhost, name string) string {
	return link(path, url.Values{"vhost": {vhost}, "name": {name}})
}
