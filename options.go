package leveret

// An Option configures a broker when it is made.
type Option func(*Broker)

// WithClock makes the broker take all time from c. The default is the real clock.
func WithClock(c Clock) Option { return func(b *Broker) { b.clock = c } }

// WithProfile makes the broker behave as another RabbitMQ release. The default is RabbitMQ43.
func WithProfile(p Profile) Option {
	return func(b *Broker) { b.behaviour = newBehaviour(p, p.rules()) }
}

// WithEvents makes the broker call the functions of e from its beginning, as [Broker.Watch] does later. Several add up.
func WithEvents(e Events) Option {
	return func(b *Broker) { b.watchers = append(b.watchers, &watcher{events: e}) }
}

// WithSeed makes generated names and every random choice a function of seed. The default is
// a random seed.
func WithSeed(seed uint64) Option { return func(b *Broker) { b.seed(seed) } }

// WithMemoryLimit sets the memory limit, as [Broker.SetMemoryLimit] does.
func WithMemoryLimit(bytes int64) Option { return func(b *Broker) { b.memory.limit.Store(bytes) } }

// WithMaxMessageSize sets the largest body a publisher may send, in bytes, up to 512 MiB. The
// default is the release's own: 16 MiB in RabbitMQ 4.3, 128 MiB in 3.10.
func WithMaxMessageSize(bytes int) Option { return func(b *Broker) { b.maxMessageSize = bytes } }
