package jsondoc

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The texts are those of RabbitMQ's management API for a global parameter with such a value.
func TestRewrite(t *testing.T) {
	for given, want := range map[string]string{
		`1e5`: `1.0e5`, `1E5`: `1.0e5`, `100000.0`: `1.0e5`, `1e-7`: `1.0e-7`, `1.50`: `1.5`, `0.1e1`: `1.0`,
		`-0.0`: `-0.0`, `-0`: `0`, `123456.789e3`: `123456789.0`, `0.00001`: `1.0e-5`, `0.0001`: `0.0001`,
		`123456789012345680.0`: `1.2345678901234568e17`, `9007199254740993.0`: `9.007199254740992e15`,
		`12345678901234567890123`: `12345678901234567890123`, `1e2`: `100.0`, `5e-324`: `5.0e-324`, `7`: `7`,
		` [ 1e5 , { "a" : 1e5 } ] `: `[1.0e5,{"a":1.0e5}]`, `{"ä":1,"Z":2,"a":3}`: `{"Z":2,"a":3,"ä":1}`,
		`"x\u00e9y"`: `"xéy"`, `"\/"`: `"/"`, `"\u0001<&>"`: `"\u0001<&>"`, `""`: `""`, `[{}]`: `[{}]`, `null`: `null`,
		`{"b":1e2,"a":{"d":1,"c":[{}]}}`: `{"a":{"c":[{}],"d":1},"b":100.0}`, `[true,null,"x"]`: `[true,null,"x"]`,
	} {
		got, err := Rewrite([]byte(given))
		require.NoError(t, err, given)
		assert.Equal(t, want, string(got), given)
	}
	for _, wrong := range []string{``, `{`, `1e400`, `1 2`} {
		_, err := Rewrite([]byte(wrong))
		assert.Error(t, err, wrong)
	}
}
