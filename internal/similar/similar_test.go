package similar_test

import (
	"testing"

	"github.com/leveretmq/leveret/internal/similar"
	"github.com/stretchr/testify/assert"
)

func TestName(t *testing.T) {
	names := []string{"x-message-ttl", "x-max-length", "x-max-length-bytes", "ab", "aa"}
	for name, want := range map[string]string{
		"x-mesage-ttl":       "x-message-ttl",
		"x-max-lenght":       "x-max-length",
		"max-length":         "x-max-length",
		"x-max-length":       "x-max-length",
		"x-max-length-octet": "x-max-length-bytes",
		"unheard of":         "",
		"":                   "",
		"ac":                 "",
		"aac":                "aa",
		"axx":                "",
		"abcd":               "",
	} {
		assert.Equal(t, want, similar.Name(name, names), name)
	}
	assert.Equal(t, "aaa", similar.Name("aax", []string{"aab", "aaa"}), "the first of those that are equally near")
}
