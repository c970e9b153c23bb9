package conformance

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// restarts restarts a broker for scenarios. To boot a node takes long, so the runs that take part share each restart: the node is
// restarted when every run waits for that or has ended. Those that want a clean stop come before those that want a kill.
type restarts struct {
	commands map[bool][]string // by whether the node is killed

	mu      sync.Mutex
	taking  int // runs that take part
	waiting map[bool][]chan error
	busy    bool
}

// restartsFromEnvironment reads the commands from two variables: LEVERET_CONFORMANCE_RESTART stops the node and starts it again,
// LEVERET_CONFORMANCE_KILL kills it and starts it again. Each returns when the node takes connections.
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

// Together calls f for each of n runs at once, which share the restarts of the broker. It returns when all have ended.
func (b *Broker) Together(n int, f func(i int)) {
	b.restarts.join(n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			defer b.restarts.leave()
			f(i)
		})
	}
	wg.Wait()
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
func (r *restarts) wait(killed bool) error {
	done := make(chan error, 1)
	r.mu.Lock()
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
	r.busy = true
	go func() {
		err := r.run(killed)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.busy = false
		for _, done := range waiting {
			done <- err
		}
	}()
}

func (r *restarts) run(killed bool) error {
	c := r.commands[killed]
	out, err := exec.Command(c[0], c[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(c, " "), err, out)
	}
	return nil
}
