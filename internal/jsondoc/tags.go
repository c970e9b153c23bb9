package jsondoc

import (
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"
)

// UserTags returns the tags of a user: a list, or a text with the tags between commas. Blanks around a tag are not part of
// it, and a tag may be nothing but blanks. ok is false for what RabbitMQ fails at.
//
// In a list a tag may be a word, an integer, a list of characters or an object without members, too. RabbitMQ takes the
// octets of a text for characters of Latin-1.
func UserTags(data []byte) (tags []string, ok bool) {
	v, _ := Decode(data, First)
	switch v := v.(type) {
	case string:
		tags = betweenCommas(Latin1(v))
	case []any:
		tags = make([]string, len(v))
		for i := range v {
			if tags[i], ok = userTag(v[i]); !ok {
				return nil, false
			}
		}
	default:
		return nil, false
	}
	for i, tag := range tags {
		tags[i] = strings.Trim(tag, " ")
	}
	return tags, true
}

func userTag(v any) (tag string, ok bool) {
	switch v := v.(type) {
	case nil:
		return "null", true
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case *big.Int:
		return v.String(), true
	case string:
		return Latin1(v), true
	case []any:
		return characters(v)
	case map[string]any:
		return "", len(v) == 0
	}
	return "", false
}

// CountUserTags returns how many tags RabbitMQ counts before it looks at them: the members of a list, or the texts between
// commas.
func CountUserTags(data []byte) int {
	v, _ := Decode(data, First)
	switch v := v.(type) {
	case string:
		return len(betweenCommas(v))
	case []any:
		return len(v)
	}
	return 0
}

func betweenCommas(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' })
}

// VHostTags returns the tags in a text of a virtual host, which are what is between its commas, also nothing; an empty text has
// none.
func VHostTags(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// TrimTag returns a tag of a virtual host without the white space around it: what is white space in patterns to Unicode.
func TrimTag(tag string) string {
	return strings.Trim(tag, "\t\n\v\f\r \u0085\u200e\u200f\u2028\u2029")
}

// TooLongForTag reports whether a tag is longer than an atom of Erlang can be.
func TooLongForTag(tag string) bool { return utf8.RuneCountInString(tag) > 255 }

// Latin1 is a text whose characters are the octets of s.
func Latin1(s string) string {
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}

// characters returns the text that a list of code points is.
func characters(list []any) (text string, ok bool) {
	for _, member := range list {
		n, isInteger := member.(int64)
		if !isInteger || n < 0 || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
			return "", false
		}
		text += string(rune(n))
	}
	return text, true
}
