package leveret

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// What a virtual host reads lies between two looks at the system's clock: when the reading has just been made, when it
// compares, and after that. The system may stop the process between two looks, so one of ten tries is enough.
func TestReadingOfTheSystemClock(t *testing.T) {
	r := newReading(realClock{})
	isExact := func() bool {
		for range 10 {
			before := time.Now().UnixNano()
			shown := r.now()
			if before <= shown && shown <= time.Now().UnixNano() {
				return true
			}
			r.compare()
		}
		return false
	}
	assert.True(t, isExact(), "just made")
	r.compared -= comparedEvery
	assert.True(t, isExact(), "comparing")
	assert.True(t, isExact(), "having compared")
}
