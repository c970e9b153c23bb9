package mgmt

import (
	"github.com/leveretmq/leveret/internal/pcre"
)

// expressions reads the expressions of permissions, one after the other. Of one that does not compile the refusal has what
// RabbitMQ has before it makes a text: texts of Erlang are lists of numbers in JSON. shown is how it has the expression.
func (c *call) expressions(read func(key string) (string, error), shown func(source string) any, keys ...string) ([]string, error) {
	all := make([]string, len(keys))
	for i, key := range keys {
		source, err := read(key)
		if err != nil {
			return nil, err
		}
		if _, fault := pcre.Compile(source, c.regexes); fault != nil {
			return nil, badRequest([]any{"invalid_regexp", shown(source), []any{octetList([]byte(fault.Message)), fault.Offset}})
		}
		all[i] = source
	}
	return all, nil
}

// octetList is how JSON shows a text that is a list of octets to Erlang.
func octetList(text []byte) []int {
	list := make([]int, len(text))
	for i, octet := range text {
		list[i] = int(octet)
	}
	return list
}
