package page

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A rate that is shown is not 0.
func TestPerSecond(t *testing.T) {
	for rate, want := range map[float64]string{0: "", 0.004: "", 0.006: "0.01/s", 0.2: "0.20/s", 0.996: "1.0/s", 1: "1.0/s", 9.94: "9.9/s", 9.96: "10/s", 12345: "12\u2009345/s"} {
		assert.Equal(t, want, perSecond(rate), rate)
	}
}
