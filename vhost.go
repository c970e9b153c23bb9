package leveret

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/leveretmq/leveret/internal/schedule"
)

// A VHost is a namespace with its own lock: exchanges, queues, bindings and policies. Its
// methods act as an internal superuser: no permission is asked for.
type VHost struct{ vhost }

// vhost is the virtual host itself. VHost and Broker embed it, so that the methods belong to both in every documentation
// tool, as those of testing.T and testing.B do.
type vhost struct {
	handle *VHost // what embeds it
	b      *Broker
	name   string
	rules  *rules
	traits [len(kinds)]traits // of each type of queue

	mu sync.Mutex // guards what follows and everything that hangs on it
	registry
	system    *Channel
	policies  [2]map[string]*policy // users' and operators'
	meta      VHostInfo
	topology  uint64 // counts changes that may change a route
	router    router
	deaths    worklist
	lastDeath lastDeath
	timing    timing
	effects   effects
	counters  Counters
	settings  *settings // the last queue's, shared by those that equal it
	growth    int64     // bytes of bodies added and not yet reported to the broker
	closed    bool
}

// registry is what there is in a virtual host, by name or number.
type registry struct {
	exchanges map[string]*Exchange
	nameless  *Exchange // the default exchange, also exchanges[""]
	queues    map[string]*Queue
	conns     map[uint64]*Conn
	replies   map[string]*Channel // direct reply-to names and who they lead to
}

// timing is the one heap of everything that happens by itself, and the one armed wake-up.
type timing struct {
	now     int64 // the operation's time in ns since 1970, read when first asked for; 0: not yet
	heap    schedule.Heap[wakeable]
	armed   Timer
	armedAt int64
}

// A wakeable is woken when its time has come. It looks again whether there is anything to
// do: a timer may be earlier than what it was set for.
type wakeable interface {
	wake(now int64)
	// nextWake is when it really has to be woken next; ok is false for not at all.
	nextWake() (at int64, ok bool)
	// actsWhenStale reports whether a timer has an effect at its time even if what it was set for has gone.
	actsWhenStale() bool
}

func newVHost(b *Broker, name string) *vhost {
	h := &VHost{}
	v := &h.vhost
	*v = vhost{handle: h, b: b, name: name, rules: b.rules, registry: registry{
		exchanges: map[string]*Exchange{}, queues: map[string]*Queue{}, conns: map[uint64]*Conn{},
		replies: map[string]*Channel{},
	}}
	v.meta = VHostInfo{Name: name, DefaultQueueType: "classic", Limits: VHostLimits{MaxConnections: -1, MaxQueues: -1}}
	v.policies = [2]map[string]*policy{{}, {}}
	v.effects.idle.L = &v.mu
	for kind, t := range queueTypes {
		v.traits[kind] = t.traits(b.rules)
	}
	v.predeclare()
	v.system = &Channel{v: v, super: true, consumers: map[string]*Consumer{}}
	v.system.conn = &Conn{v: v, super: true, done: make(chan struct{}), channels: map[uint16]*Channel{0: v.system}}
	v.system.conn.cfg.CancelNotify = true
	return v
}

// Name returns the virtual host's name.
func (v *vhost) Name() string { return v.name }

// lock begins an operation.
func (v *vhost) lock() {
	v.mu.Lock()
	v.timing.now = 0
}

// unlock ends an operation: dead letters go where they lead, the wake-up is armed, and what
// others are to be told is told after the lock is released.
func (v *vhost) unlock() {
	if v.deaths.len() > 0 {
		v.deadLetterAll()
	}
	if v.timing.heap.Len() > 0 {
		v.arm()
	}
	alarm := v.grown()
	if len(v.effects.pending) == 0 || v.effects.running {
		v.mu.Unlock()
	} else {
		v.effects.run(v)
	}
	if alarm {
		v.b.updateAlarm()
	}
}

// now is the time of the operation that holds the lock. The clock is read at most once an operation.
func (v *vhost) now() int64 {
	if v.timing.now == 0 {
		v.timing.now = v.b.clock.Now().UnixNano()
	}
	return v.timing.now
}

func (v *vhost) time() time.Time { return time.Unix(0, v.now()) }

// arm sets the one wake-up if the earliest timer is due before it. What is due already happens
// at once: a head that is uncovered may have expired long ago.
func (v *vhost) arm() {
	t := &v.timing
	for {
		_, at, ok := t.heap.Min()
		if !ok || v.closed || t.armed != nil && t.armedAt <= at {
			return
		}
		if v.fireNext() {
			continue
		}
		if t.armed != nil {
			t.armed.Stop()
		}
		t.armedAt = at
		t.armed = v.b.clock.AfterFunc(time.Duration(at-v.now()), func() { v.onTimer(at) })
		return
	}
}

func (v *vhost) onTimer(armedAt int64) {
	v.lock()
	if v.timing.armedAt == armedAt {
		v.timing.armed, v.timing.armedAt = nil, 0
	}
	v.unlock()
	v.fireDue()
}

// fireDue wakes everything that is due, letting others take the lock now and then. Dead letters are
// settled after each wake-up, so that the worklist stays short however much expires at once.
func (v *vhost) fireDue() {
	const batch = 64
	for more := true; more; {
		v.lock()
		for n := 0; more && n < batch; n++ {
			more = v.fireNext()
		}
		v.unlock()
	}
}

// fireNext wakes what is due next and reports false if nothing is.
func (v *vhost) fireNext() bool {
	t, at, ok := v.timing.heap.Min()
	if !ok || v.closed || at > v.now() {
		return false
	}
	v.timing.heap.Remove(t)
	t.Value.wake(v.now())
	v.deadLetterAll()
	return true
}

// nextDeadline is exact. Timers that were set for something that has gone are put right first, but for those that matter
// to what comes later: those it looks past.
func (v *vhost) nextDeadline() (time.Time, bool) {
	for {
		t, at, ok := v.timing.heap.Min()
		if !ok {
			return time.Time{}, false
		}
		real, ok := t.Value.nextWake()
		switch {
		case ok && real <= at:
			return time.Unix(0, at), true
		case t.Value.actsWhenStale():
			at, ok := v.timing.heap.Earliest(wakeable.nextWake)
			return instant(at), ok
		case ok:
			v.timing.heap.Set(t, real)
		default:
			v.timing.heap.Remove(t)
		}
	}
}

// wakeAt makes t fire at the given time or before.
func (v *vhost) wakeAt(t *schedule.Timer[wakeable], at int64) {
	if was, set := t.At(); !set || at < was {
		v.timing.heap.Set(t, at)
	}
}

func (v *vhost) catchUp() {
	v.fireDue()
	v.mu.Lock()
	for v.effects.running {
		v.effects.idle.Wait()
	}
	v.mu.Unlock()
}

func (v *vhost) close(reason *Error) {
	v.lock()
	v.closed = true
	for _, c := range v.sortedConns() {
		c.end(reason)
	}
	v.system.conn.end(reason)
	v.system.err = ErrClosed
	if t := v.timing.armed; t != nil {
		t.Stop()
	}
	for _, q := range v.queues {
		v.account(-q.store.bytes())
	}
	v.reportGrowth()
	v.timing.heap = schedule.Heap[wakeable]{}
	v.deaths = worklist{}
	v.exchanges, v.queues = map[string]*Exchange{}, map[string]*Queue{}
	v.topology++
	v.unlock()
}

// account keeps the broker's memory figure, which is brought up to date when somebody looks.
func (v *vhost) account(bytes int64) { v.growth += bytes }

// shared returns a pointer to settings equal to s: most queues have the same as the one before.
func (v *vhost) shared(s settings) *settings {
	if v.settings == nil || *v.settings != s {
		v.settings = &s
	}
	return v.settings
}

func (v *vhost) sortedConns() []*Conn {
	all := make([]*Conn, 0, len(v.conns))
	for _, c := range v.conns {
		all = append(all, c)
	}
	slices.SortFunc(all, func(x, y *Conn) int { return cmp.Compare(x.id, y.id) })
	return all
}

// effects are what others are to be told, in order. They run after the lock is released,
// by one goroutine at a time.
type effects struct {
	pending []func()
	spare   []func()
	running bool
	idle    sync.Cond
}

func (v *vhost) after(f func()) { v.effects.pending = append(v.effects.pending, f) }

// run is called with the lock held and returns without it.
func (e *effects) run(v *vhost) {
	e.running = true
	defer func() { // also when a hook panics: the broker stays usable
		e.running = false
		e.idle.Broadcast()
		v.mu.Unlock()
	}()
	for len(e.pending) > 0 {
		batch := e.pending
		e.pending = e.spare[:0]
		e.spare = nil
		func() {
			v.mu.Unlock()
			defer v.mu.Lock()
			for _, f := range batch {
				f()
			}
		}()
		clear(batch)
		e.spare = batch[:0]
	}
}
