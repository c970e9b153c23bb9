package graph

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text as it is drawn: harmless, on one line, not too long, and with a width that it does not exceed.

// printable replaces what is no visible character: control characters, changes of the direction of writing, octets that
// are no UTF-8.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r) {
			return utf8.RuneError
		}
		return r
	}, s)
}

// shorten makes a text printable and at most so many characters long. What is left out is in the middle: names that
// begin alike mostly differ at their end.
func shorten(s string, most int) string {
	runes := []rune(printable(s))
	if len(runes) <= most {
		return string(runes)
	}
	tail := (most - 1) / 3
	return string(runes[:most-1-tail]) + "…" + string(runes[len(runes)-tail:])
}

// limit returns at most so many lines; the last says how many more there are.
func limit(lines []string, most int) []string {
	if len(lines) <= most {
		return lines
	}
	kept := append([]string{}, lines[:most-1]...)
	return append(kept, fmt.Sprintf("and %d more", len(lines)-most+1))
}

// The widths of characters in hundredths of the font size: at least those of the widest fonts that are likely to be
// taken for sans-serif (Verdana, DejaVu Sans).
const (
	thinWidth   = 30
	narrowWidth = 40
	middleWidth = 48
	commonWidth = 64
	broadWidth  = 82
	widestWidth = 102
)

// textWidth returns the width that a text has at most, in pixels. For other characters than ASCII it is a guess: see
// fits.
func textWidth(s string, size int) int {
	sum := 0
	for _, r := range s {
		sum += runeWidth(r)
	}
	return (sum*size + 99) / 100
}

func runeWidth(r rune) int {
	switch {
	case strings.ContainsRune("il", r):
		return thinWidth
	case strings.ContainsRune(" .,'jft", r):
		return narrowWidth
	case strings.ContainsRune("rI-:;!|()[]/\\\"`·", r):
		return middleWidth
	case strings.ContainsRune("mMWO@%Q", r), r >= utf8.RuneSelf:
		return widestWidth
	case r >= 'A' && r <= 'Z', strings.ContainsRune("w#+=<>~^&", r):
		return broadWidth
	}
	return commonWidth
}

// fits reports whether textWidth knows all the characters. A text that does not fit for sure is squeezed to its width.
func fits(s string) bool {
	for _, r := range s {
		if r >= utf8.RuneSelf && r != '·' && r != '…' {
			return false
		}
	}
	return true
}
