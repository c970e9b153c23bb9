package mgmt_test

import (
	"fmt"
	"math"
	"net/http"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
)

// A page far behind the last one is refused, also one whose first item has no number.
func TestPagesFarBehindTheEnd(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	api := direct{t, mgmt.Handler(b)}
	for _, page := range []uint64{1_000_000, math.MaxInt, math.MaxInt/100 + 2, math.MaxUint64} {
		r := api.send("GET", fmt.Sprintf("queues?page=%d", page), "")
		assert.Equal(t, http.StatusBadRequest, r.status, page)
		assert.Equal(t, "page_out_of_range", r.body.(map[string]any)["error"])
		assert.Equal(t, fmt.Sprintf("Page out of range, page: %d page size: 100, len: 0", page), r.body.(map[string]any)["reason"])
	}
}

// A range of samples that is longer than any time has a few samples.
func TestSamplesOfVeryLongRanges(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	_, err := b.DeclareQueue("q", leveret.QueueConfig{})
	assert.NoError(t, err)
	api := direct{t, mgmt.Handler(b)}
	for _, seconds := range []int{math.MaxInt, 1 << 55, 1 << 54, math.MaxInt64/1_000_000_000 + 1} { // 1<<55 seconds are 1<<64 times 5^9 nanoseconds
		path := fmt.Sprintf("queues/%%2F/q?lengths_age=%d&lengths_incr=%d", seconds, seconds)
		samples := api.at(path, "messages_details", "samples").([]any)
		assert.Len(t, samples, 1, seconds)
	}
}
