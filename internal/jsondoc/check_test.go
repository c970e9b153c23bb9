package jsondoc_test

import (
	"testing"

	"github.com/leveretmq/leveret/internal/jsondoc"
	"github.com/stretchr/testify/assert"
)

// What the live brokers took and refused.
func TestCheck(t *testing.T) {
	const fine = -1
	for _, c := range []struct {
		in          string
		first, last int // the offset of the mistake
	}{
		{`{"a":1e400}`, 10, 10},
		{`[1,-1E400]`, 9, 9},
		{`{"a":1e-400}`, fine, fine},
		{`{"a":123456789012345678901234567890}`, fine, fine},
		{"{\"a\":\"\xff\"}", 6, fine},
		{"{\"\xc3\":1}", 2, fine},
		{"[\"\xed\xa0\x80\"]", 2, fine},
		{"[\"\xc0\x80\"]", 2, fine},
		{"[\"\xf4\x90\x80\x80\"]", 2, fine},
		{"[\"\uFFFD é 😀\"]", fine, fine},
		{`["\ud800"]`, 2, fine},
		{`{"\udc00":1}`, 2, fine},
		{`["é\ud800\u0041"]`, 4, fine},
		{`["\ud83d\ude00\n\\ud800 \u00e9"]`, fine, fine},
		{`["\ud800`, fine, fine},
		{``, fine, fine},
	} {
		for which, want := range map[jsondoc.Counts]int{jsondoc.First: c.first, jsondoc.Last: c.last} {
			err := jsondoc.Check([]byte(c.in), which)
			if want == fine {
				assert.NoError(t, err, "%q", c.in)
				continue
			}
			var wrong *jsondoc.Error
			if assert.ErrorAs(t, err, &wrong, "%q", c.in) {
				assert.Equal(t, want, wrong.Offset, "%q", c.in)
			}
		}
	}
}
