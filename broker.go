package leveret

import (
	crand "crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// A Broker is one RabbitMQ node in this process: virtual hosts, users and time. Every method of
// VHost is a method of Broker too and acts on the virtual host "/". Calls on Broker, VHost,
// Exchange and Queue check no permissions; Connect and Open make connections with the permissions
// of a user. All methods may be called by any number of goroutines.
type Broker struct {
	// Lock order: Broker.mu or an ownInbox.mu, then one VHost.mu; never two virtual hosts at once.
	*vhost

	clock          Clock
	behaviour      behaviour
	maxMessageSize int
	queueType      QueueType // of queues in new virtual hosts; empty: classic
	globalQos      bool      // basic.qos may set a window for the channel
	ackTimeout     int64     // D-35, D-36: ms that a delivery may stay unacknowledged where nothing else says it
	random         random
	memory         memory
	space          diskSpace
	alarmsSet      atomic.Uint32 // by SetAlarm
	access         access
	attempts       authAttempts
	sessions       sessions
	limits         NodeLimits
	setup          func(*VHost) error                // of a new virtual host; nil: nothing
	validate       func(user, password string) error // nil: every password is good
	lastConn       atomic.Uint64
	down           atomic.Bool // the node is stopped, or killed; changed with mu
	sync           SyncLevel
	disk           *disk // nil: the broker has no directory

	mu       sync.Mutex // guards what follows
	vhosts   map[string]*VHost
	global   []GlobalParameter
	watchers []*watcher // in the order in which they were added
	events   *hooks     // all watchers together; nil: nobody watches
	leaving  []*vhost   // virtual hosts that are being deleted
	gone     Counters   // of deleted virtual hosts
	closed   bool
}

const defaultVHost = "/"

// New returns a broker with the virtual host "/", its predeclared exchanges, and the user guest
// with the password guest, an administrator with all permissions. Close ends the broker. New panics at an option that
// is nil or out of range.
func New(opts ...Option) *Broker { return newBroker(opts, func(*Broker) {}) }

// newBroker makes a broker. prepare is called when the options have been applied.
func newBroker(opts []Option, prepare func(*Broker)) *Broker {
	b := &Broker{clock: realClock{}, globalQos: true, ackTimeout: defaultAckTimeout, vhosts: map[string]*VHost{}}
	WithProfile(RabbitMQ43)(b)
	b.sessions.init()
	b.space.init()
	for i, o := range opts {
		demand(o != nil, "New: option %d is nil", i)
		o(b)
	}
	if b.maxMessageSize == 0 {
		b.maxMessageSize = b.behaviour.rules.maxMessageSize
	}
	if b.random.source == nil {
		b.random.seedFromSystem()
	}
	prepare(b)
	b.access.table.Store(initialAccess())
	b.events = merge(b.watchers)
	b.vhost = newVHost(b, defaultVHost)
	b.vhosts[defaultVHost] = b.vhost.handle
	b.updateAlarm() // a negative limit
	return b
}

// Close ends the broker: every connection is closed, every wait ends, every timer is stopped.
// Messages are gone, unless the broker has a directory. Later operations return ErrClosed. Close itself returns nil.
//
// A broker with a directory stops its node before, so that what its queues know is written. Close returns an error only if that
// could not be done: see Err.
func (b *Broker) Close() (err error) {
	if b.disk != nil {
		err = b.disk.close()
	}
	b.mu.Lock()
	b.closed = true
	all := b.sortedVHosts()
	b.mu.Unlock()
	defer b.memory.stopClearing()
	each(all, func(v *vhost) {
		v.close(&Error{Code: ConnectionForced, Reason: "broker forced connection closure with reason 'shutdown'"}, "")
	})
	return err
}

// Profile returns the RabbitMQ release the broker behaves as.
func (b *Broker) Profile() Profile { return b.behaviour.profile }

// PermitsGlobalQos reports whether basic.qos with Global sets one window for the channel, as [WithGlobalQos] has decided.
func (b *Broker) PermitsGlobalQos() bool { return b.globalQos }

// CreateVHost adds a virtual host with its own predeclared exchanges. If it exists already it
// is returned as it is. A name of more than 255 bytes is ErrSyntax. See [WithVHostSetup] and [WithNodeLimits].
func (b *Broker) CreateVHost(name string) (*VHost, error) {
	if err := checkShort("the name of a virtual host", name); err != nil {
		return nil, err
	}
	v, made, err := b.addVHost(name)
	if err := b.settled(err); err != nil {
		return nil, err
	}
	if made && b.setup != nil {
		if err := b.setup(v); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (b *Broker) addVHost(name string) (v *VHost, made bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.usable(); err != nil {
		return nil, false, err
	}
	if v, ok := b.vhosts[name]; ok {
		return v, false, nil
	}
	if err := b.admitVHostLocked(name); err != nil {
		return nil, false, err
	}
	v = newVHost(b, name).handle
	b.vhosts[name] = v
	if b.disk != nil {
		b.disk.note(v.meta.record())
	}
	return v, true, nil
}

// VHost returns the virtual host of that name, or an error that is ErrNotFound.
func (b *Broker) VHost(name string) (*VHost, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if v, ok := b.vhosts[name]; ok {
		return v, nil
	}
	return nil, NotFound.errorf(name, "vhost %s not found", name)
}

// Broker returns the broker that the virtual host belongs to.
func (v *VHost) Broker() *Broker { return v.b }

// DeleteVHost deletes a virtual host, everything in it and all permissions for it, and closes
// its connections. A missing one is ErrNotFound, and one that [VHost.SetProtected] protects is ErrPreconditionFailed. After the virtual host "/" has been
// deleted, the broker's own methods of VHost return ErrClosed.
func (b *Broker) DeleteVHost(name string) error {
	b.mu.Lock()
	if b.down.Load() {
		b.mu.Unlock()
		return ErrClosed
	}
	v, ok := b.vhosts[name]
	if ok && v.describe().Protected {
		b.mu.Unlock()
		return PreconditionFailed.errorf(name, "refusing to delete vhost '%s' because it is protected from deletion", name)
	}
	if ok {
		delete(b.vhosts, name)
		b.leaving = append(b.leaving, &v.vhost)
		if b.disk != nil {
			b.noteNoVHostLocked(&v.vhost)
		}
	}
	b.mu.Unlock()
	if !ok {
		return NotFound.errorf(name, "vhost %s not found", name)
	}
	defer b.keepCounters(&v.vhost)
	reason := ConnectionForced.errorf(name, "vhost '%s' is deleted", name)
	reason.HangUp = true
	v.close(reason, CauseVHostDeleted)
	return b.changeAccess(forgetVHost(name))
}

// VHosts describes all virtual hosts, sorted by name.
func (b *Broker) VHosts() []VHostInfo {
	b.mu.Lock()
	all := b.sortedVHosts()
	b.mu.Unlock()
	infos := make([]VHostInfo, len(all))
	for i, v := range all {
		infos[i] = v.describe()
	}
	return infos
}

func (b *Broker) sortedVHosts() []*vhost {
	all := make([]*vhost, 0, len(b.vhosts))
	for _, name := range slices.Sorted(maps.Keys(b.vhosts)) {
		all = append(all, &b.vhosts[name].vhost)
	}
	return all
}

func (b *Broker) eachVHost(f func(*vhost)) {
	b.mu.Lock()
	all := b.sortedVHosts()
	b.mu.Unlock()
	each(all, f)
}

// each calls f for each of vs, even if an event hook that f runs panics or ends its goroutine.
func each(vs []*vhost, f func(*vhost)) {
	if len(vs) == 0 {
		return
	}
	defer each(vs[1:], f)
	f(vs[0])
}

// Connections describes the open connections of all virtual hosts, by id.
func (b *Broker) Connections() []ConnInfo {
	var infos []ConnInfo
	b.eachVHost(func(v *vhost) { infos = append(infos, v.Connections()...) })
	slices.SortFunc(infos, func(x, y ConnInfo) int { return int(int64(x.ID) - int64(y.ID)) })
	return infos
}

// CloseConnection closes the connection of that id as an operator does: its client is told
// CONNECTION_FORCED with the reason. An unknown id is ErrNotFound.
func (b *Broker) CloseConnection(id uint64, reason string) error {
	found := false
	b.eachVHost(func(v *vhost) {
		v.lock()
		if c := v.conns[id]; c != nil {
			found = true
			c.endLocked(&Error{Code: ConnectionForced, Reason: reason})
		}
		v.unlock()
	})
	if !found {
		return NotFound.errorf("", "connection %d not found", id)
	}
	return nil
}

func (b *Broker) closeUserConnections(user string) {
	b.eachVHost(func(v *vhost) {
		v.lock()
		for _, c := range v.sortedConnsLocked() {
			if c.cfg.User == user {
				c.endLocked(ConnectionForced.errorf(user, "user '%s' is deleted", user))
			}
		}
		v.unlock()
	})
}

// NextDeadline returns when the next timer fires: a message or a queue expires, a dead letter is
// tried again, a consumer times out. ok is false if no timer is set.
func (b *Broker) NextDeadline() (at time.Time, ok bool) {
	b.eachVHost(func(v *vhost) {
		v.lock()
		if next, set := v.nextDeadlineLocked(); set && (!ok || next.Before(at)) {
			at, ok = next, true
		}
		v.unlock()
	})
	return at, ok
}

// Settle fires all timers that are due at the clock's present time, and returns when their events
// and handlers have run. It must not be called from an event hook or a handler.
func (b *Broker) Settle() {
	b.eachVHost((*vhost).catchUp)
}

func (b *Broker) seed(seed uint64) {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	b.random.source = rand.NewChaCha8(key)
}

// random is the broker's source of every generated name and random choice.
type random struct {
	mu     sync.Mutex
	source *rand.ChaCha8
}

func (r *random) seedFromSystem() {
	var key [32]byte
	crand.Read(key[:])
	r.source = rand.NewChaCha8(key)
}

// name returns prefix and 22 characters of URL-safe base64, 128 random bits, as RabbitMQ
// forms the names it gives.
func (r *random) name(prefix string) string {
	b := r.bits()
	return prefix + base64.RawURLEncoding.EncodeToString(b[:])
}

// key returns 24 characters of base64, 128 random bits.
func (r *random) key() string {
	b := r.bits()
	return base64.StdEncoding.EncodeToString(b[:])
}

func (r *random) bits() (b [16]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.source.Read(b[:])
	return b
}

func (r *random) intN(n int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return rand.New(r.source).IntN(n)
}
