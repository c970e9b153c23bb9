package leveret

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// A plainHistory is what a history is, without any art: the most recent entry first.
type plainHistory []Death

func (h plainHistory) record(queue string, reason Reason) (plainHistory, bool) {
	i := slices.IndexFunc(h, func(d Death) bool { return d.Queue == queue && d.Reason == reason })
	if i < 0 {
		return slices.Insert(slices.Clone(h), 0, Death{Queue: queue, Reason: reason, Count: 1}), false
	}
	d := h[i]
	d.Count++
	return slices.Insert(slices.Delete(slices.Clone(h), i, i+1), 0, d), true
}

// automatic reports whether there is a death in the queue that is not behind a rejection.
func (h plainHistory) automatic(queue string) bool {
	for _, d := range h {
		if d.Reason == Rejected {
			return false
		}
		if d.Queue == queue {
			return true
		}
	}
	return false
}

// Long histories, which have an index, are what short ones are, also when several messages go on with one.
// Rules: DL-18, DL-24.
func TestLongHistories(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	reasons := []Reason{Expired, MaxLength, DeliveryLimit, Expired, MaxLength, DeliveryLimit, Rejected}
	type lineage struct {
		x     extra
		plain plainHistory
	}
	lineages := make([]lineage, 1)
	indexed := 0
	for step := range 6 * longHistory {
		n := rng.IntN(len(lineages))
		l := &lineages[n]
		if step > longHistory && rng.IntN(longHistory/2) == 0 && len(lineages) < 4 {
			lineages = append(lineages, *l) // a message that two queues get
			l = &lineages[n]
		}
		queue, reason := fmt.Sprint("queue-", rng.IntN(2*longHistory)), reasons[0]
		if rng.IntN(20) == 0 {
			reason = reasons[rng.IntN(len(reasons))]
		}
		if rng.IntN(10) == 0 && len(l.plain) > 0 { // again
			d := l.plain[rng.IntN(len(l.plain))]
			queue, reason = d.Queue, d.Reason
		}
		plain, want := l.plain.record(queue, reason)
		again, _ := l.x.record(&death{queue: queue, reason: reason, count: 1})
		require.Equal(t, want, again, "step %d: %s in %s", step, reason, queue)
		l.plain = plain
		index := l.x.index.of(l.x.deaths)
		if index == nil {
			continue
		}
		indexed++
		for range 5 {
			q := fmt.Sprint("queue-", rng.IntN(2*longHistory))
			there, _ := l.x.deaths.automatic(q)
			require.Equal(t, plain.automatic(q), there)
			require.Equal(t, there, index.automatic(q), "step %d: %s", step, q)
		}
	}
	require.Greater(t, indexed, longHistory)
	for _, l := range lineages {
		d := l.x.deaths
		for _, want := range l.plain {
			require.Equal(t, want, Death{Queue: d.queue, Reason: d.reason, Count: d.count})
			d = d.next
		}
		require.Nil(t, d)
	}
}
