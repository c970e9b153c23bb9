package jsondoc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// An Error is what is wrong with a document that package json takes.
type Error struct {
	Offset int // where the mistake is; of a number, where the number ends
	what   string
}

func (e *Error) Error() string { return e.what }

// Check returns an *Error if a release of RabbitMQ refuses a document whose syntax is right. Each release refuses a number that is too
// large for a float64. RabbitMQ 4.3 also refuses octets that are no UTF-8, and half of a surrogate pair. 3.10 takes both for the character
// U+FFFD, as package json does. Check does not look for mistakes of the syntax.
func Check(data []byte, which Counts) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	for token, err := d.Token(); err == nil; token, err = d.Token() {
		if n, ok := token.(json.Number); ok {
			if _, err := Number(n); err != nil {
				return &Error{int(d.InputOffset()), err.Error()}
			}
		}
	}
	if which == Last || !json.Valid(data) {
		return nil
	}
	for i := 0; i < len(data); {
		size, err := character(data[i:])
		if err != nil {
			return &Error{i, err.Error()}
		}
		i += size
	}
	return nil
}

// WithoutMark returns a document without the byte order mark that may stand before it. RabbitMQ takes the mark before definitions, and 3.10
// before any document.
func WithoutMark(data []byte) []byte { return bytes.TrimPrefix(data, []byte("\ufeff")) }

// Lenient returns what RabbitMQ 3.10 reads of a document: without a byte order mark, and in strings any control character stands
// for itself.
func Lenient(data []byte) []byte {
	data = WithoutMark(data)
	if !bytes.ContainsFunc(data, isControl) {
		return data
	}
	out := make([]byte, 0, len(data))
	inString, escaped := false, false
	for _, b := range data {
		switch {
		case inString && !escaped && isControl(rune(b)):
			out = fmt.Appendf(out, `\u%04x`, b)
		case inString && b == '\\':
			escaped = !escaped
			out = append(out, b)
			continue
		case b == '"' && !escaped:
			inString = !inString
			out = append(out, b)
		default:
			out = append(out, b)
		}
		escaped = false
	}
	return out
}

func isControl(r rune) bool { return r < ' ' }

// character returns how many octets the first character of valid JSON takes, or what is wrong with it.
func character(data []byte) (int, error) {
	if data[0] != '\\' {
		r, size := utf8.DecodeRune(data)
		if r == utf8.RuneError && size == 1 {
			return 0, fmt.Errorf("octet 0x%02x is no UTF-8", data[0])
		}
		return size, nil
	}
	r, isUnit := codeUnit(data)
	switch low, follows := codeUnit(data[min(unitSize, len(data)):]); {
	case !isUnit:
		return len(`\n`), nil
	case !utf16.IsSurrogate(r):
		return unitSize, nil
	case !follows || utf16.DecodeRune(r, low) == utf8.RuneError:
		return 0, fmt.Errorf("%s is half of a surrogate pair", data[:unitSize])
	}
	return 2 * unitSize, nil
}

// unitSize is how many octets the escape of a code unit of UTF-16 takes.
const unitSize = len(`\u0000`)

func codeUnit(data []byte) (rune, bool) {
	if len(data) < unitSize || data[0] != '\\' || data[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(data[2:unitSize]), 16, 16)
	return rune(n), err == nil
}
