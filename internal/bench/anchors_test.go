package bench_test

import (
	"sync"

	"github.com/leveretmq/leveret"
)

// A note is the message of the anchors, as large as the engine's.
type note struct {
	_, key string
	body   []byte
	_      *leveret.Properties
}

// A ring is the anchor: a mutex around a ring buffer.
type ring struct {
	mu         sync.Mutex
	buf        []*note
	head, tail int
}

func (r *ring) put(m *note) {
	r.mu.Lock()
	if r.tail-r.head == len(r.buf) {
		wider := make([]*note, max(64, 2*len(r.buf)))
		for i := r.head; i < r.tail; i++ {
			wider[i&(len(wider)-1)] = r.buf[i&(len(r.buf)-1)]
		}
		r.buf = wider
	}
	r.buf[r.tail&(len(r.buf)-1)] = m
	r.tail++
	r.mu.Unlock()
}

// take returns nil if the ring is empty.
func (r *ring) take() (m *note) {
	r.mu.Lock()
	if r.head < r.tail {
		p := &r.buf[r.head&(len(r.buf)-1)]
		m, *p = *p, nil
		r.head++
	}
	r.mu.Unlock()
	return m
}
