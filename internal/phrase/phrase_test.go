package phrase

import (
	"strings"
	"testing"
)

func TestPhrases(t *testing.T) {
	for got, want := range map[string]string{
		Body([]byte("a\n")):                   `"a\n"`,
		Body([]byte(strings.Repeat("x", 61))): `"` + strings.Repeat("x", 60) + `"… (61 bytes)`,
		Exchange(""):                          "the default exchange",
		Exchange("x"):                         `exchange "x"`,
		Queues(nil):                           "no queue",
		Queues([]string{"a", "b"}):            "a, b",
		WithEmptyApplyTo("apply-to '" + EmptyApplyTo + "' unrecognised"): "apply-to '' unrecognised",
	} {
		if got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}
