package fault

import (
	"sync"

	"github.com/leveretmq/leveret"
)

// A restarts tells who connects while faults restart a broker when it is up again.
type restarts struct {
	under int           // way
	over  chan struct{} // closed when none is under way
}

// restarting are the brokers that faults restart. A leaf: nothing else is locked while it is.
var restarting struct {
	mu sync.Mutex
	of map[*leveret.Broker]*restarts
}

// restart restarts a broker for a fault. Whoever was told of the end and connects again at once is served when the node is up:
// a program that connects once finds the broker, however long the restart takes.
func restart(b *leveret.Broker, as leveret.NodeEnd) {
	r := restartBegins(b)
	defer r.ends(b)
	_ = b.Restart(as) // one that is closed is not restarted
}

func restartBegins(b *leveret.Broker) *restarts {
	restarting.mu.Lock()
	defer restarting.mu.Unlock()
	if restarting.of == nil {
		restarting.of = map[*leveret.Broker]*restarts{}
	}
	r := restarting.of[b]
	if r == nil {
		r = &restarts{over: make(chan struct{})}
		restarting.of[b] = r
	}
	r.under++
	return r
}

func (r *restarts) ends(b *leveret.Broker) {
	restarting.mu.Lock()
	defer restarting.mu.Unlock()
	if r.under--; r.under == 0 {
		delete(restarting.of, b)
		close(r.over)
	}
}

// untilRestarted returns when no fault restarts the broker.
func untilRestarted(b *leveret.Broker) {
	restarting.mu.Lock()
	r := restarting.of[b]
	restarting.mu.Unlock()
	if r != nil {
		<-r.over
	}
}
