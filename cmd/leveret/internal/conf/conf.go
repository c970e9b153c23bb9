// Package conf reads files in the format of rabbitmq.conf: a key and a value on each line, with = between them. A value in
// single quotes is taken as it is; otherwise # begins a comment. A dot in a part of a key is written \. there.
package conf

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// An Entry is a line with a setting.
type Entry struct {
	Key   []string // the parts between the dots
	Value string
	Line  int // the first is 1
}

// Name is the key as it is written.
func (e Entry) Name() string {
	parts := make([]string, len(e.Key))
	for i, part := range e.Key {
		parts[i] = strings.ReplaceAll(part, ".", `\.`)
	}
	return strings.Join(parts, ".")
}

// An Error is what is wrong with a line.
type Error struct {
	Line int
	Text string
}

// Error returns the number of the line and the text.
func (e *Error) Error() string { return fmt.Sprintf("%d: %s", e.Line, e.Text) }

// Parse returns the settings in their order. The error joins an Error for each line that has none and should.
func Parse(data []byte) (entries []Entry, err error) {
	var faults []error
	line := 0
	for text := range strings.Lines(string(data)) {
		line++
		e, fault := parseLine(strings.TrimRight(text, "\r\n"))
		switch {
		case fault != "":
			faults = append(faults, &Error{line, fault})
		case e != nil:
			e.Line = line
			entries = append(entries, *e)
		}
	}
	return entries, errors.Join(faults...)
}

var (
	setting = regexp.MustCompile(`^[ \t]*((?:\\\.|[A-Za-z0-9_-])+(?:\.(?:\\\.|[A-Za-z0-9_-])+)*)[ \t]*=[ \t]*(.*)$`)
	include = regexp.MustCompile(`^[ \t]*include[ \t]`)
)

// parseLine returns nil for a line without a setting, and the fault of a line that is none of the format.
func parseLine(line string) (e *Entry, fault string) {
	if text := strings.TrimLeft(line, " \t"); text == "" || text[0] == '#' {
		return nil, ""
	}
	if !utf8.ValidString(line) {
		return nil, "the line is not UTF-8"
	}
	if include.MatchString(line) {
		return nil, "leveret does not include other files"
	}
	m := setting.FindStringSubmatch(line)
	if m == nil {
		return nil, fmt.Sprintf("%q is not KEY = VALUE", line)
	}
	value, fault := parseValue(m[2])
	if fault != "" {
		return nil, fault
	}
	return &Entry{Key: splitKey(m[1]), Value: value}, ""
}

func parseValue(text string) (value, fault string) {
	if quoted, ok := strings.CutPrefix(text, "'"); ok {
		value, rest, ok := strings.Cut(quoted, "'")
		rest = strings.TrimLeft(rest, " \t")
		if !ok || rest != "" && rest[0] != '#' {
			return "", "a value that begins with a quotation mark must end with one"
		}
		return value, ""
	}
	value, _, _ = strings.Cut(text, "#")
	if value = strings.TrimRight(value, " \t"); value == "" {
		return "", "there is no value"
	}
	return value, ""
}

// splitKey splits a key at the dots without a backslash.
func splitKey(key string) (parts []string) {
	const escaped = "\x00"
	for part := range strings.SplitSeq(strings.ReplaceAll(key, `\.`, escaped), ".") {
		parts = append(parts, strings.ReplaceAll(part, escaped, "."))
	}
	return parts
}
