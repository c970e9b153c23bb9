package ctl

import (
	"testing"

	"github.com/leveretmq/leveret/internal/jsondoc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What rabbitmqctl 4.3.6 printed of values that should have been objects.
func TestBadMap(t *testing.T) {
	for in, want := range map[string]string{
		`null`: ":null", `true`: "true", `[]`: "[]", `"x"`: `"x"`, `1.5`: "1.5",
		`[{"a":1,"b":[true,null]}]`:               "[%{\"a\" => 1, \"b\" => [true, :null]}]",
		`["é\n\"#{x}"]`:                           `["é\n\"\#{x}"]`,
		`[1.0e30,100000000000000000000,-0.0,1e2]`: "[1.0e30, 100000000000000000000, -0.0, 100.0]",
		`"\u0001"`: "<<1>>", `"a\u0001"`: "<<97, 1>>", `"\u0085"`: "<<194, 133>>", `"\u007f"`: `"\d"`, `"\u001b"`: `"\e"`,
	} {
		v, err := jsondoc.Decode([]byte(in), jsondoc.First)
		require.NoError(t, err, in)
		assert.Equal(t, "{:badmap, "+want+"}", badMap(v), in)
	}
}
