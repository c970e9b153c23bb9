package leveret

import (
	"maps"
	"slices"
	"time"
)

// A VHost is a namespace with its own lock: exchanges, queues, bindings and policies. Its
// methods act as an internal superuser: no permission is asked for.
//
// Rules: A-11.
type VHost struct{ vhost }

// vhost is the virtual host itself. VHost and Broker embed it, so that the methods belong to both in every
// documentation tool, as those of testing.T and testing.B do.
type vhost struct {
	handle *VHost // what embeds it
	b      *Broker
	name   string
	rules  *rules

	mu operationLock // guards what follows and everything that hangs on it
	registry
	routes
	deaths worklist
	timing timing
	turns  turnState
	log    *opLog // nil: the broker has no directory
	reports
	figures
	node     nodeState
	recovery recovery
	closed   bool
}

// registry is what there is in a virtual host, by name or number.
// Rules: A-11.
type registry struct {
	meta      VHostInfo
	system    *Channel    // the broker's own
	policies  [2]policies // users' and operators'
	settings  *settings   // of the last queue that was configured, shared by those that equal them
	exchanges map[string]*Exchange
	nameless  *Exchange // the default exchange, also exchanges[""]
	queues    map[string]*Queue
	conns     map[uint64]*Conn
	uncounted int                       // of conns
	replies   map[replyAddress]*Channel // by direct reply-to address: the channel that gets the replies
	lastReply uint32                    // how many channels have consumed replies
	ending    []*Channel                // channels that end in this operation and have not given back what they hold
}

func newVHost(b *Broker, name string) *vhost {
	h := &VHost{}
	v := &h.vhost
	*v = vhost{handle: h, b: b, name: name, rules: b.behaviour.rules, registry: registry{
		exchanges: map[string]*Exchange{}, queues: map[string]*Queue{}, conns: map[uint64]*Conn{},
		replies: map[replyAddress]*Channel{},
	}}
	v.meta = b.newVHostInfo(name)
	v.events, v.effects.idle.L = b.events, &v.mu
	v.timing.epochs.current = 1
	v.timing.clock = newReading(b.clock)
	v.openLogLocked()
	v.predeclareLocked()
	v.system = &Channel{v: v, super: true, consumers: map[string]*Consumer{}}
	v.openSystemLocked()
	return v
}

// openSystemLocked opens the broker's own channel.
func (v *vhost) openSystemLocked() {
	s := v.system
	s.err, s.tally = nil, new(tally)
	s.conn = &Conn{v: v, super: true, done: make(chan struct{}), channels: map[uint16]*Channel{0: s}, numbers: channelNumbers{1}}
	s.conn.cfg.CancelNotify = true
}

// newVHostInfo is what a new virtual host tells of itself. The first one of a node has a description.
func (b *Broker) newVHostInfo(name string) VHostInfo {
	i := VHostInfo{Name: name, DefaultQueueType: b.NodeDefaultQueueType(), Limits: VHostLimits{MaxConnections: NoLimit, MaxQueues: NoLimit}}
	if name == defaultVHost {
		i.Description = "Default virtual host"
	}
	return i
}

// Name returns the virtual host's name.
func (v *vhost) Name() string { return v.name }

// lock begins an operation. Between lock and unlock everything is one step of the virtual host: others see all of it or
// nothing, unless it is so much that they get in between (turns.go). Nothing in it may block, do I/O or call user code.
// Rules: C-18.
func (v *vhost) lock() {
	v.mu.Lock()
	v.timing.turn = turnTaken{}
}

// unlock ends an operation. What the operation has caused happens in this order.
func (v *vhost) unlock() {
	// Messages that died go where they lead, and those that die on the way after them (deadletter.go).
	if v.deaths.len() > 0 {
		v.deadLetterAllLocked()
	}
	// Timers that are due fire, and the clock is armed for the next one (timing.go).
	if v.timing.heap.Len() > 0 {
		v.armLocked()
	}
	// What has become of messages, and what was declared, is one record of the log (oplog.go).
	if v.log != nil {
		v.log.finishLocked()
	}
	// The memory alarm concerns all virtual hosts, so no lock may be held: it comes last, even if a hook panics
	// (memory.go). A function of its own has the defer: with it here BenchmarkReject takes 4 % longer. Without a limit the
	// growth is not looked at, for which BenchmarkCycle takes 4 % more instructions.
	if v.b.memory.limit.Load() != 0 && v.grownLocked() {
		v.releaseAndUpdateAlarm()
		return
	}
	v.release()
}

// release releases the lock. Hooks and handlers run after it, in order, unless another operation is running them
// (effects.go).
func (v *vhost) release() {
	if v.effects.due() {
		v.effects.run(v)
		return
	}
	v.mu.Unlock()
}

func (v *vhost) releaseAndUpdateAlarm() {
	defer v.b.updateAlarm()
	v.release()
}

// nowLocked is the time of the operation that holds the lock. The clock is read at most once in each of its turns.
func (v *vhost) nowLocked() int64 {
	if v.timing.turn.now == 0 {
		v.timing.turn.now = v.timing.clock.now()
	}
	return v.timing.turn.now
}

func (v *vhost) timeLocked() time.Time { return time.Unix(0, v.nowLocked()) }

// close ends the virtual host and its connections. lost is why its messages are lost; if it is empty their loss is not
// reported.
func (v *vhost) close(reason *Error, lost Cause) {
	v.lock()
	v.closed, v.node.down, v.turns.lost = true, false, lost
	if lost == CauseVHostDeleted {
		v.tellConsumersLocked()
	}
	for _, c := range v.sortedConnsLocked() {
		c.endLocked(reason)
	}
	for len(v.ending) > 0 { // of operations that wait for their next turn
		v.ending[0].giveBackLocked(reason)
	}
	v.system.conn.endLocked(reason)
	v.system.err = ErrClosed
	v.loseAllLocked(lost)
	v.timing.end()
	v.timing.epochs.stop()
	v.unlock()
}

// loseAllLocked drops everything in the virtual host, which is closed. If lost, the cause, is empty, nobody is told.
func (v *vhost) loseAllLocked(lost Cause) {
	if lost != "" {
		v.dropAllLocked(lost)
	}
	for _, q := range v.queues {
		// An operation that waits for its next turn finds nothing more.
		q.deleted = true
		q.store.clear()
		v.accountLocked(-q.store.bytes())
	}
	v.reportGrowthLocked()
	v.timing.heap.Clear()
	v.deaths = worklist{}
	v.exchanges, v.queues = map[string]*Exchange{}, map[string]*Queue{}
	v.topology++
}

// tellConsumersLocked tells the clients of all consumers that their queues are gone: the queues of a virtual host are deleted
// before its connections are closed.
// Rules: A-11.
func (v *vhost) tellConsumersLocked() {
	for _, name := range slices.Sorted(maps.Keys(v.queues)) {
		all := v.queues[name].consumers.list()
		slices.SortFunc(all, compareTags)
		for _, c := range all {
			c.tellCancelledLocked()
		}
	}
}

// accountLocked counts bytes for the broker's memory figure, which is brought up to date when it is read.
func (v *vhost) accountLocked(bytes int64) { v.stored.growth += bytes }

// sharedLocked returns a pointer to settings equal to s: most queues have the same as the one before.
func (v *vhost) sharedLocked(s settings) *settings {
	if v.settings == nil || *v.settings != s {
		v.settings = &s
	}
	return v.settings
}
