package conformance

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/leveretmq/leveret/internal/scenario"
)

// restarts restarts a broker for scenarios. To boot a node takes long, so the runs that take part share each restart: the node is
// restarted when every run waits for that or has ended. Runs that take part together want the same kinds of restart.
type restarts struct {
	commands map[bool][]string // by whether the node is killed

	mu      sync.Mutex
	taking  int // runs that take part
	waiting map[bool][]chan error
	down    time.Duration // the longest that a waiting run wants the node to be down
	busy    bool
}

// restartsFromEnvironment reads the commands from two variables: LEVERET_CONFORMANCE_RESTART stops the node and starts it again,
// LEVERET_CONFORMANCE_KILL kills it and starts it again. A last argument says how many seconds the node has to be down, at least.
// Each returns when the node takes connections.
func restartsFromEnvironment() *restarts {
	r := &restarts{commands: map[bool][]string{}, waiting: map[bool][]chan error{}}
	for killed, name := range map[bool]string{false: "LEVERET_CONFORMANCE_RESTART", true: "LEVERET_CONFORMANCE_KILL"} {
		command := strings.Fields(os.Getenv(name))
		if len(command) == 0 {
			return nil
		}
		r.commands[killed] = command
	}
	return r
}

// Together calls f for each script that restarts the broker. Those that want the same restarts, as far as they go, run at once and
// share them. It returns when all have ended.
func (b *Broker) Together(scripts []*scenario.Script, f func(*scenario.Script)) {
	for _, group := range together(scripts) {
		b.restarts.join(len(group))
		var wg sync.WaitGroup
		for _, s := range group {
			wg.Go(func() {
				defer b.restarts.leave()
				f(s)
			})
		}
		wg.Wait()
	}
}

// together groups scripts: the restarts of each are the first of those of the one with the most.
func together(scripts []*scenario.Script) (groups [][]*scenario.Script) {
	most := slices.SortedStableFunc(slices.Values(scripts), func(a, b *scenario.Script) int {
		return cmp.Compare(len(b.Restarts()), len(a.Restarts()))
	})
	for _, s := range most {
		i := slices.IndexFunc(groups, func(g []*scenario.Script) bool { return strings.HasPrefix(g[0].Restarts(), s.Restarts()) })
		if i < 0 {
			groups = append(groups, nil)
			i = len(groups) - 1
		}
		groups[i] = append(groups[i], s)
	}
	return groups
}

// join announces n runs that take part; leave ends one.
func (r *restarts) join(n int) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taking += n
}

func (r *restarts) leave() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.taking--
	r.startLocked()
}

// wait returns when the node has been restarted. A run that has not joined waits for nobody.
func (r *restarts) wait(killed bool, down time.Duration) error {
	done := make(chan error, 1)
	r.mu.Lock()
	r.down = max(r.down, down)
	r.waiting[killed] = append(r.waiting[killed], done)
	r.startLocked()
	r.mu.Unlock()
	return <-done
}

// startLocked restarts the node if everybody waits for that.
func (r *restarts) startLocked() {
	all := len(r.waiting[false]) + len(r.waiting[true])
	if r.busy || all == 0 || all < r.taking {
		return
	}
	killed := len(r.waiting[false]) == 0
	waiting := r.waiting[killed]
	r.waiting[killed] = nil
	down := r.down
	r.down = 0
	r.busy = true
	go func() {
		err := r.run(killed, down)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.busy = false
		for _, done := range waiting {
			done <- err
		}
	}()
}

func (r *restarts) run(killed bool, down time.Duration) error {
	c := append(slices.Clone(r.commands[killed]), strconv.Itoa(int(math.Ceil(down.Seconds()))))
	out, err := exec.Command(c[0], c[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(c, " "), err, out)
	}
	return nil
}
