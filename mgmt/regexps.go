package mgmt

import (
	"strings"

	"github.com/leveretmq/leveret/internal/pcre"
)

// invalidRegexp is invalid for the expressions of permissions. Of the first that does not compile the refusal has what
// RabbitMQ has before it makes a text: texts of Erlang are lists of numbers in JSON. shown is how it has the expression.
func (c *call) invalidRegexp(err error, shown func(source string) any, sources ...string) error {
	err = invalid(err)
	f, ok := err.(*failure)
	if !ok {
		return err
	}
	if text, _ := f.reason.(string); !strings.HasPrefix(text, "{invalid_regexp,") {
		return err
	}
	for _, source := range sources {
		if _, fault := pcre.Compile(source, c.regexes); fault != nil {
			return badRequest([]any{"invalid_regexp", shown(source), []any{octetList([]byte(fault.Message)), fault.Offset}})
		}
	}
	return err
}

// octetList is how JSON shows a text that is a list of octets to Erlang.
func octetList(text []byte) []int {
	list := make([]int, len(text))
	for i, octet := range text {
		list[i] = int(octet)
	}
	return list
}
