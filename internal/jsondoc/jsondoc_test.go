package jsondoc_test

import (
	"math/big"
	"testing"

	"github.com/leveretmq/leveret/internal/jsondoc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUnique(t *testing.T) {
	for _, c := range []struct{ in, first, last string }{
		{`5`, `5`, `5`},
		{` {"b" : 1, "a":[ 2 ]} `, `{"b" : 1, "a":[ 2 ]}`, `{"b" : 1, "a":[ 2 ]}`},
		{`{"a":1,"b":2,"a":{"x":[]}}`, `{"a":1,"b":2}`, `{"a":{"x":[]},"b":2}`},
		{`{"l":[1,{"a":1,"a":1.0}],"m":{}}`, `{"l":[1,{"a":1}],"m":{}}`, `{"l":[1,{"a":1.0}],"m":{}}`},
		{`{"a\u0062":1,"ab":2}`, `{"ab":1}`, `{"ab":2}`},
		{`{"a":1,"a":2`, `{"a":1,"a":2`, `{"a":1,"a":2`},
	} {
		assert.Equal(t, c.first, string(jsondoc.Unique([]byte(c.in), jsondoc.First)), c.in)
		assert.Equal(t, c.last, string(jsondoc.Unique([]byte(c.in), jsondoc.Last)), c.in)
	}
}

func TestDecode(t *testing.T) {
	large, _ := new(big.Int).SetString("-99999999999999999999", 10)
	v, err := jsondoc.Decode([]byte(`{"n":[5,-99999999999999999999,1.0,1e3],"n":null,"t":{"x":"y"}}`), jsondoc.First)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"n": []any{int64(5), large, 1.0, 1000.0}, "t": map[string]any{"x": "y"}}, v)

	for _, in := range []string{``, `{"a":1} 5`, `{"a":[1E400]}`, `[1,`} {
		_, err := jsondoc.Decode([]byte(in), jsondoc.First)
		assert.Error(t, err, in)
	}
}

// TestLenient demands that control characters in strings stand for themselves, and that all else stays.
func TestLenient(t *testing.T) {
	for document, want := range map[string]string{
		"{\"a\tb\":\t\"c\n\x00\"}":            "{\"a\\u0009b\":\t\"c\\u000a\\u0000\"}",
		"\ufeff[\n\"a\\\"\n\", \"\\\\\",\n1]": "[\n\"a\\\"\\u000a\", \"\\\\\",\n1]",
		"[\"\\\n\"]":                          "[\"\\\n\"]", // no escape
		`{"é": "\\"}`:                         `{"é": "\\"}`,
		"\"\t":                                "\"\\u0009",
	} {
		assert.Equal(t, want, string(jsondoc.Lenient([]byte(document))), "%q", document)
	}
}
