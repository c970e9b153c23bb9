package jsondoc_test

import (
	"testing"

	"github.com/leveretmq/leveret/internal/jsondoc"
	"github.com/stretchr/testify/assert"
)

// The tags are those that RabbitMQ 4.3.6 and 3.10.8 showed; without any they failed.
func TestUserTags(t *testing.T) {
	for given, want := range map[string][]string{
		`""`: {}, `","`: {}, `"a,,b"`: {"a", "b"}, `" a , b"`: {"a", "b"}, `" "`: {""}, `"Δ"`: {"Î\u0094"},
		`[]`: {}, `["a,b"," c"]`: {"a,b", "c"}, `["é"]`: {"Ã©"}, `[0,-1,1180591620717411303424]`: {"0", "-1", "1180591620717411303424"},
		`[true,false,null]`: {"true", "false", "null"}, `[[97,98],[300],[]]`: {"ab", "Ĭ", ""}, `[{}]`: {""},
	} {
		tags, ok := jsondoc.UserTags([]byte(given))
		assert.True(t, ok, given)
		assert.Equal(t, want, tags, given)
	}
	for _, given := range []string{`1`, `null`, `true`, `{}`, `[1.5]`, `[10.0]`, `[["a"]]`, `[[[97]]]`, `[[-1]]`, `[[1.5]]`, `[[97,null]]`, `[[55296]]`,
		`[[1114112]]`, `[{"a":1}]`, `["a",1.5]`, `x`} {
		_, ok := jsondoc.UserTags([]byte(given))
		assert.False(t, ok, given)
	}
}
