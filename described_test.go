package leveret

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/leveretmq/leveret/internal/journal"
	"github.com/leveretmq/leveret/internal/race"
	"github.com/leveretmq/leveret/internal/record"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// keeping returns a broker with a log that only keeps what is noted, and the log.
func keeping(p Profile) (*Broker, *notesLog) {
	log := &notesLog{}
	b := newBroker([]Option{WithProfile(p)}, func(b *Broker) {
		b.disk = &disk{b: b, log: log}
		b.access.disk = b.disk
	})
	b.disk.on.Store(true)
	return b, log
}

type notesLog struct {
	recordLog
	mu    sync.Mutex
	items []byte
}

func (l *notesLog) Append(_ journal.Kind, _ int, parts ...[]byte) (journal.Pos, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items = append(l.items, slices.Concat(parts...)...)
	return 1, nil
}

func (l *notesLog) Err() error   { return nil }
func (l *notesLog) Close() error { return nil }
func (l *notesLog) Room() error  { return nil }

// ids are the numbers of queues. What was made after the replay has none.
var ids = regexp.MustCompile(`(ID|Queue):\d+ `)

// A step is an operation that does the same to equal brokers.
type step struct {
	name string
	do   func(*Broker) error
}

// some draws one of a few.
func some[T any](t *rapid.T, label string, of ...T) T { return rapid.SampledFrom(of).Draw(t, label) }

func someArgs(t *rapid.T) Fields {
	args := fieldsGen(2).Draw(t, "args")
	if rapid.Bool().Draw(t, "none") {
		return nil
	}
	if rapid.Bool().Draw(t, "big") {
		args = append(args, Field{"n", new(big.Int).Lsh(big.NewInt(-3), 70)})
	}
	return args
}

var (
	exchangeChoices = []string{"x", "y", "z"}
	sourceChoices   = append([]string{"amq.topic", "amq.headers", ""}, exchangeChoices...)
	queueChoices    = []string{"q", "r", "s"}
	keyChoices      = []string{"", "a", "a.*", "#", "q"}
	userChoices     = []string{"guest", "u", "w"}
)

func exchangeStep(t *rapid.T) func(*vhost) error {
	name, kind := some(t, "x", exchangeChoices...), some(t, "type", Direct, Fanout, Topic, Headers, LocalRandom, ModulusHash)
	cfg := ExchangeConfig{Durable: rapid.Bool().Draw(t, "durable"), AutoDelete: rapid.Bool().Draw(t, "auto"),
		Internal: rapid.Bool().Draw(t, "internal"), ArgumentFields: someArgs(t)}
	if rapid.Bool().Draw(t, "alternate") {
		cfg.ArgumentFields = append(cfg.ArgumentFields, Field{ArgAlternateExchange, some(t, "alternate", exchangeChoices...)})
	}
	switch some(t, "by", "program", "client", "import") {
	case "import":
		return func(v *vhost) error { return v.ImportExchange(name, kind, cfg) }
	case "client":
		return asClient(func(ch *Channel) error { return ch.DeclareExchange(name, kind, cfg) })
	}
	return func(v *vhost) error { _, err := v.DeclareExchange(name, kind, cfg); return err }
}

// asClient does something as a client that closes its connection afterwards.
func asClient(f func(*Channel) error) func(*vhost) error {
	return func(v *vhost) error {
		conn, err := v.b.Connect("guest", "guest", v.name)
		if err != nil {
			return err
		}
		defer conn.Close()
		ch, err := conn.Channel()
		if err != nil {
			return err
		}
		return f(ch)
	}
}

func queueStep(t *rapid.T) func(*vhost) error {
	name := some(t, "q", queueChoices...)
	cfg := QueueConfig{Durable: rapid.IntRange(0, 3).Draw(t, "durable") > 0, AutoDelete: rapid.Bool().Draw(t, "auto"),
		ArgumentFields: someArgs(t)}
	set := func(key string, values ...any) {
		if rapid.IntRange(0, 3).Draw(t, key) == 0 {
			cfg.ArgumentFields = append(cfg.ArgumentFields, Field{key, some(t, key, values...)})
		}
	}
	set(ArgMaxLength, int8(5), int64(5), uint16(7))
	set(ArgQueueType, "classic", "quorum", "", "undefined")
	set(ArgMaxPriority, int32(3), uint8(3))
	set(ArgDeadLetterExchange, "x", "")
	switch some(t, "by", "program", "client", "import") {
	case "import":
		return func(v *vhost) error { return v.ImportQueue(name, cfg) }
	case "client":
		cfg.Exclusive = rapid.IntRange(0, 3).Draw(t, "exclusive") == 0
		return asClient(func(ch *Channel) error { _, err := ch.DeclareQueue(name, cfg); return err })
	}
	return func(v *vhost) error { _, err := v.DeclareQueue(name, cfg); return err }
}

func bindStep(t *rapid.T) func(*vhost) error {
	b := Binding{Source: some(t, "source", sourceChoices...), RoutingKey: some(t, "key", keyChoices...)}
	if rapid.IntRange(0, 3).Draw(t, "arguments") == 0 {
		b.Arguments = someArgs(t)
	}
	if rapid.IntRange(0, 2).Draw(t, "to exchange") == 0 {
		b.DestinationType, b.Destination = DestinationExchange, some(t, "x", sourceChoices...)
	} else {
		b.Destination = some(t, "q", queueChoices...)
	}
	switch some(t, "bind", "bind", "bind", "unbind", "import") {
	case "unbind":
		return func(v *vhost) error { return v.system.Unbind(b) }
	case "import":
		return func(v *vhost) error { return v.ImportBinding(b) }
	}
	return func(v *vhost) error { return v.system.Bind(b) }
}

// unbindAnyStep ends a binding that there is.
func unbindAnyStep(t *rapid.T) func(*vhost) error {
	nth := rapid.IntRange(0, 5).Draw(t, "nth")
	return func(v *vhost) error {
		all := slices.DeleteFunc(v.Bindings(), func(b BindingInfo) bool { return b.Source == "" })
		if len(all) == 0 {
			return nil
		}
		b := all[nth%len(all)]
		return v.system.Unbind(Binding{b.Source, b.Destination, b.DestinationType, b.RoutingKey, b.ArgumentFields})
	}
}

func deleteStep(t *rapid.T) func(*vhost) error {
	if rapid.Bool().Draw(t, "queue") {
		name := some(t, "q", queueChoices...)
		return func(v *vhost) error { _, err := v.DeleteQueue(name, DeleteConfig{}); return err }
	}
	name := some(t, "x", exchangeChoices...)
	return func(v *vhost) error { return v.DeleteExchange(name, DeleteConfig{}) }
}

// usedStep has a consumer come and go: an auto-delete queue goes with it.
func usedStep(t *rapid.T) func(*vhost) error {
	name := some(t, "q", queueChoices...)
	return asClient(func(ch *Channel) error { _, err := ch.Consume(name, ConsumeConfig{}); return err })
}

func policyStep(t *rapid.T) func(*vhost) error {
	name, operator := some(t, "policy", "p", "o", "n"), rapid.Bool().Draw(t, "operator")
	if rapid.IntRange(0, 2).Draw(t, "clear") == 0 {
		return func(v *vhost) error {
			if operator {
				return v.ClearOperatorPolicy(name)
			}
			return v.ClearPolicy(name)
		}
	}
	p := Policy{Name: name, Pattern: some(t, "pattern", "", "^q", "x", "[rs]"), ApplyTo: some(t, "to", "", ApplyToQueues, ApplyToExchanges,
		ApplyToQuorumQueues), Priority: some(t, "priority", 0, 1, 1.5)}
	if operator {
		p.Definition = some(t, "definition", Table{"max-length": uint8(9)}, Table{"message-ttl": 5000, "expires": int64(7e6)})
		return func(v *vhost) error { return v.SetOperatorPolicy(p) }
	}
	p.Definition = some(t, "definition", Table{"max-length": 9}, Table{"alternate-exchange": some(t, "alternate", exchangeChoices...)},
		Table{"message-ttl": int64(1e9), "dead-letter-exchange": "y"}, Table{"max-length": "no number"})
	return func(v *vhost) error { return v.SetPolicy(p) }
}

func metaStep(t *rapid.T) func(*vhost) error {
	switch some(t, "meta", "limits", "no limits", "type", "metadata", "protection") {
	case "no limits":
		return (*vhost).ClearLimits
	case "limits":
		l := VHostLimits{some(t, "connections", NoLimit, -3, 5), some(t, "queues", NoLimit, 2, 100)}
		return func(v *vhost) error { return v.SetLimits(l) }
	case "protection":
		on := some(t, "protected", false, true)
		return func(v *vhost) error { return v.SetProtected(on) }
	case "type":
		kind := some[QueueType](t, "type", QueueTypeClassic, QueueTypeQuorum)
		return func(v *vhost) error { return v.SetDefaultQueueType(kind) }
	}
	text, tags := some(t, "text", "", "about"), some(t, "tags", nil, []string{}, []string{"b", "a", "b"})
	return func(v *vhost) error { return v.SetMetadata(text, tags...) }
}

func permissionStep(t *rapid.T) func(*vhost) error {
	user, exchange := some(t, "user", append(userChoices, "")...), some(t, "exchange", append(exchangeChoices, "")...)
	expression := some(t, "expression", "", ".*", "^a", "(", "{username}")
	switch some(t, "permission", "set", "clear", "set topic", "clear topic") {
	case "set":
		return func(v *vhost) error { return v.SetPermissions(user, Permissions{".*", expression, ".*"}) }
	case "clear":
		return func(v *vhost) error { return v.ClearPermissions(user) }
	case "set topic":
		return func(v *vhost) error { return v.SetTopicPermissions(user, exchange, TopicPermissions{expression, "b"}) }
	}
	return func(v *vhost) error { return v.ClearTopicPermissions(user, exchange) }
}

func userStep(t *rapid.T) func(*Broker) error {
	name := some(t, "user", userChoices...)
	switch some(t, "user", "set", "limit", "delete") {
	case "set":
		p := PasswordHash{some(t, "algorithm", "", hashMD5, "unknown"), some(t, "hash", nil, []byte{}, []byte("12345678"))}
		tags := some(t, "tags", nil, []string{"z", "administrator"})
		return func(b *Broker) error { return b.SetUser(name, p, tags...) }
	case "limit":
		l := UserLimits{some(t, "connections", NoLimit, 0, 3), some(t, "channels", NoLimit, -1, 9)}
		return func(b *Broker) error { return b.SetUserLimits(name, l) }
	}
	return func(b *Broker) error { return b.DeleteUser(name) }
}

func brokerStep(t *rapid.T) func(*Broker) error {
	switch name := some(t, "name", "a", "b", "/"); some(t, "broker", "create", "create", "delete", "set", "set", "clear", "restart", "reset") {
	case "create":
		return func(b *Broker) error { _, err := b.CreateVHost(name); return err }
	case "delete":
		return func(b *Broker) error { return b.DeleteVHost(name) }
	case "set":
		p := GlobalParameter{name, some(t, "value", nil, []byte("{}"), []byte("[1, 2]"))}
		return func(b *Broker) error { return b.SetGlobalParameter(p) }
	case "clear":
		return func(b *Broker) error { return b.ClearGlobalParameter(name) }
	case "restart":
		return func(b *Broker) error { return b.Restart(StoppedNode) }
	}
	if rapid.IntRange(0, 3).Draw(t, "reset") > 0 { // it ends all the others did
		return func(*Broker) error { return nil }
	}
	return func(b *Broker) error {
		if err := b.Stop(StoppedNode); err != nil {
			return err
		}
		defer b.Start()
		return b.Reset()
	}
}

func aStep(t *rapid.T) step {
	kinds := map[string]func(*rapid.T) func(*vhost) error{"exchange": exchangeStep, "queue": queueStep, "bind": bindStep,
		"unbind": unbindAnyStep, "delete": deleteStep, "used": usedStep, "policy": policyStep, "meta": metaStep, "permission": permissionStep}
	name := some(t, "step", "exchange", "exchange", "queue", "queue", "bind", "bind", "bind", "bind", "unbind", "delete", "used",
		"policy", "meta", "permission", "user", "broker")
	switch name {
	case "user":
		return step{name, userStep(t)}
	case "broker":
		return step{name, brokerStep(t)}
	}
	where, do := some(t, "vhost", "/", "/", "/", "a"), kinds[name](t)
	return step{name, func(b *Broker) error {
		v, err := b.VHost(where)
		if err != nil {
			return err
		}
		return do(&v.vhost)
	}}
}

func outcome(err error) string { return fmt.Sprint(err) }

// replayed is a broker that was made of what a log has.
func replayed(t require.TestingT, p Profile, log ...[]byte) *Broker {
	b := New(WithProfile(p))
	r, err := newReplay(b)
	require.NoError(t, err)
	for _, data := range log {
		for item, err := range record.Items(data) {
			require.NoError(t, err)
			handled, err := r.item(item)
			require.NoError(t, err)
			switch item.(type) {
			case *record.Node, *record.Killed, *record.Used, *record.Gaps: // the playback's
			default:
				require.True(t, handled, "%T", item)
			}
		}
	}
	require.NoError(t, r.finish())
	require.NoError(t, b.Start())
	return b
}

// picture is everything about a broker that messages, counters and time have no part in.
func picture(t require.TestingT, b *Broker) string {
	require.NoError(t, b.Check())
	var s strings.Builder
	line := func(vs ...any) {
		for _, v := range vs {
			fmt.Fprintf(&s, "%T %+v ", v, v)
		}
		s.WriteByte('\n')
	}
	line(b.Users())
	line(b.GlobalParameters())
	for _, info := range b.VHosts() {
		line(info)
		v, err := b.VHost(info.Name)
		require.NoError(t, err)
		line(v.Policies(), v.OperatorPolicies(), v.Permissions(), v.TopicPermissions())
		for _, x := range v.Exchanges() {
			x.Counters = ExchangeCounters{}
			line(x)
		}
		for _, q := range v.Queues() {
			idle := !q.IdleDeadline.IsZero()
			q.IdleDeadline = instant(0)
			h, err := v.Queue(q.Name)
			require.NoError(t, err)
			line(q, h.Effective(), idle, h.args.singleActive, h.args.maxPriority)
		}
		for _, b := range v.Bindings() {
			line(b)
		}
		writeRoutes(&v.vhost, line)
	}
	for item, err := range record.Items(b.describeAll(nil)) {
		require.NoError(t, err)
		switch item.(type) {
		case *record.Numbers, *record.Used: // of what is gone, and of the time
		default:
			line(item)
		}
	}
	return s.String()
}

// writeRoutes tells where what is published to each exchange goes.
func writeRoutes(v *vhost, line func(...any)) {
	v.lock()
	defer v.unlock()
	for _, x := range v.sortedExchangesLocked() {
		if mayChoose(v, x, map[*Exchange]bool{}) {
			continue
		}
		for _, key := range keyChoices {
			m := &message{exchange: x, key: key, props: &Properties{Headers: Table{"a": int64(1), "b": "a"}}}
			var names []string
			for _, q := range v.routeLocked(x, m) {
				names = append(names, q.name)
			}
			slices.Sort(names)
			line(x.name, key, x.alt, x.hasAlt, names)
		}
	}
}

// mayChoose reports whether what is published to x may come to an exchange that chooses one of several bindings at random.
func mayChoose(v *vhost, x *Exchange, seen map[*Exchange]bool) bool {
	if x == nil || seen[x] {
		return false
	}
	seen[x] = true
	if x.kind == LocalRandom && x.outgoing.live > 1 || x.hasAlt && mayChoose(v, v.exchanges[x.alt], seen) {
		return true
	}
	for _, b := range x.outgoing.all {
		if mayChoose(v, b.exchange, seen) {
			return true
		}
	}
	return false
}

// TestReplayMakesWhatARestartKeeps plays random operations on a broker whose notes are collected, and compares the broker after a
// restart with brokers that are made of snapshots and notes. They stay equal when more is done to both.
func TestReplayMakesWhatARestartKeeps(t *testing.T) {
	if race.Enabled {
		t.Skip("one goroutine does it all, slowly")
	}
	for _, p := range []Profile{RabbitMQ43, RabbitMQ310} {
		t.Run(p.Version(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { checkReplays(t, p) })
		})
	}
}

// Notes that are older than a snapshot are said once more behind it: a topic permission that was set and went with its exchange does
// not stay, though the snapshot knows no such exchange.
func TestOlderNotesBringNoTopicPermission(t *testing.T) {
	a, d := keeping(RabbitMQ43)
	defer a.Close()
	_, err := a.DeclareExchange("x", Topic, ExchangeConfig{Durable: true})
	require.NoError(t, err)
	from := len(d.items)
	require.NoError(t, a.SetTopicPermissions("guest", "x", TopicPermissions{Read: "a"}))
	require.NoError(t, a.DeleteExchange("x", DeleteConfig{}))
	b := replayed(t, RabbitMQ43, a.describeAll(nil), d.items[from:])
	defer b.Close()
	require.Empty(t, b.TopicPermissions())
}

func checkReplays(t *rapid.T, p Profile) {
	a, d := keeping(p)
	defer a.Close()
	n := rapid.IntRange(1, 40).Draw(t, "steps")
	at := rapid.IntRange(0, n).Draw(t, "snapshot")
	from := rapid.IntRange(0, at).Draw(t, "replayed from")
	var snapshot []byte
	var atOffset, fromOffset int
	for i := range n + 1 {
		if i == from {
			fromOffset = len(d.items)
		}
		if i == at {
			atOffset, snapshot = len(d.items), a.describeAll(nil)
			again := a.describeAll(nil)
			require.Equal(t, snapshot, again)
		}
		if i < n {
			s := aStep(t)
			t.Log(s.name, s.do(a))
		}
	}
	notes := slices.Clone(d.items)
	last := a.describeAll(nil)
	require.NoError(t, a.Restart(KilledNode))
	want := picture(t, a)
	made := map[string]*Broker{
		"snapshot at the end":             replayed(t, p, last),
		"snapshot":                        replayed(t, p, snapshot, notes[atOffset:]),
		"snapshot on which older is said": replayed(t, p, snapshot, notes[fromOffset:]),
		"all notes":                       replayed(t, p, notes),
		"all notes on the last snapshot":  replayed(t, p, last, notes),
		"notes of the end, too":           replayed(t, p, d.items),
	}
	for name, b := range made {
		require.Equal(t, want, picture(t, b), name)
	}
	for range rapid.IntRange(0, 10).Draw(t, "further steps") {
		s := aStep(t)
		want := outcome(s.do(a))
		t.Log(s.name, want)
		for name, b := range made {
			require.Equal(t, want, outcome(s.do(b)), name)
		}
	}
	want = ids.ReplaceAllString(picture(t, a), "")
	for name, b := range made {
		require.Equal(t, want, ids.ReplaceAllString(picture(t, b), ""), name)
		require.NoError(t, b.Close())
	}
}

// TestSnapshotsWhileOthersWork describes a broker while operations go on. With what is noted from the beginning on each snapshot
// gives the same.
func TestSnapshotsWhileOthersWork(t *testing.T) {
	a, d := keeping(RabbitMQ43)
	defer a.Close()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				workOn(a, fmt.Sprint(w, i%7))
			}
		})
	}
	var snapshots [][]byte
	for range 5 {
		d.mu.Lock()
		n := len(d.items)
		d.mu.Unlock()
		for { // until something has happened
			d.mu.Lock()
			more := len(d.items) > n+2000
			d.mu.Unlock()
			if more {
				break
			}
		}
		snapshots = append(snapshots, a.describeAll(nil))
	}
	close(stop)
	wg.Wait()
	require.NoError(t, a.Restart(KilledNode))
	want := picture(t, a)
	for _, s := range snapshots {
		b := replayed(t, RabbitMQ43, s, d.items)
		require.Equal(t, want, picture(t, b))
		require.NoError(t, b.Close())
	}
}

// workOn makes and ends things.
func workOn(b *Broker, name string) {
	v, err := b.CreateVHost("v" + name[:1])
	if err != nil {
		return
	}
	_, _ = v.DeclareExchange(name, Topic, ExchangeConfig{AutoDelete: true})
	_, _ = v.DeclareQueue(name, QueueConfig{Durable: true})
	_ = v.BindQueue(name, name, "a.*", Table{"n": int8(1)})
	_ = v.SetPolicy(Policy{Name: name, Definition: Table{"max-length": 5}})
	_ = b.SetUser(name, PasswordHash{})
	_ = v.SetPermissions(name, Permissions{".*", ".*", ".*"})
	_ = v.SetTopicPermissions(name, name, TopicPermissions{"a", "b"})
	_ = b.SetGlobalParameter(GlobalParameter{Name: name})
	switch name[1:] {
	case "0":
		_ = b.DeleteVHost(v.Name())
	case "1":
		_ = b.DeleteUser(name)
	case "2", "3":
		_, _ = v.DeleteQueue(name, DeleteConfig{})
		_ = v.ClearPolicy(name)
	case "4":
		_ = v.DeleteExchange(name, DeleteConfig{})
		_ = b.ClearGlobalParameter(name)
	}
}

// said returns items as a log has them.
func said(items ...record.Item) (data []byte) {
	for _, item := range items {
		data = record.Append(data, item)
	}
	return data
}

// TestOlderNotesKeepTheOrder replays on a snapshot what stands before it in the log. Bindings and parameters have the order in
// which they were made last.
func TestOlderNotesKeepTheOrder(t *testing.T) {
	a, d := keeping(RabbitMQ43)
	defer a.Close()
	_, err := a.DeclareQueue("q", QueueConfig{Durable: true})
	require.NoError(t, err)
	for _, name := range []string{"a", "b", "c"} {
		require.NoError(t, a.BindQueue("q", "amq.direct", name, nil))
		require.NoError(t, a.SetGlobalParameter(GlobalParameter{Name: name}))
	}
	middle := len(d.items)
	require.NoError(t, a.UnbindQueue("q", "amq.direct", "a", nil))
	require.NoError(t, a.ClearGlobalParameter("a"))
	for _, name := range []string{"a", "d", "b"} { // b is there
		require.NoError(t, a.BindQueue("q", "amq.direct", name, nil))
		require.NoError(t, a.SetGlobalParameter(GlobalParameter{name, []byte("1")}))
	}
	snapshot := a.describeAll(nil)
	for _, from := range []int{0, middle, len(d.items)} {
		b := replayed(t, RabbitMQ43, snapshot, d.items[from:])
		require.Equal(t, picture(t, a), picture(t, b))
		require.NoError(t, b.Close())
	}
}

// TestOlderQueueIsNotTheOneOfItsName hears of a queue that was gone when the snapshot was taken.
func TestOlderQueueIsNotTheOneOfItsName(t *testing.T) {
	b := New()
	defer b.Close()
	r, err := newReplay(b)
	require.NoError(t, err)
	for item := range record.Items(said(&record.Queue{ID: 7, Name: "q"}, &record.Queue{ID: 5, Name: "q"},
		&record.Binding{Source: "amq.fanout", Queue: 5}, &record.NoQueue{ID: 5}, &record.Numbers{Copy: 3, Queue: 6})) {
		handled, err := r.item(item)
		require.NoError(t, err)
		require.True(t, handled)
	}
	require.NoError(t, r.finish())
	require.EqualValues(t, 7, b.queues["q"].args.id)
	require.Len(t, b.Bindings(), 1)
	require.EqualValues(t, 7, r.lastQueue)
	require.EqualValues(t, 3, b.stored.lastCopy)
}

// TestPermissionsEndWithTheirVirtualHost stops the log in the middle of a deletion.
func TestPermissionsEndWithTheirVirtualHost(t *testing.T) {
	vhost, permission, topics := &record.VHost{Name: "a"}, &record.Permission{User: "guest", VHost: "a"},
		&record.TopicPermission{User: "guest", VHost: "a", Exchange: "x"}
	for _, log := range [][]byte{
		said(vhost, permission, topics, &record.NoVHost{Name: "a"}, vhost),
		said(permission),
		said(topics),
	} {
		b := replayed(t, RabbitMQ43, log)
		v, err := b.CreateVHost("a")
		require.NoError(t, err)
		require.Empty(t, v.Permissions())
		require.Empty(t, v.TopicPermissions())
		require.NoError(t, b.Close())
	}
}

// TestReplayRefuses has what nobody can have noted.
func TestReplayRefuses(t *testing.T) {
	for _, item := range []record.Item{
		&record.Policy{Name: "p", Pattern: "(", Definition: record.Table{"max-length": int64(1)}},
		&record.Policy{Name: "p", Definition: record.Table{"max-length": "1"}},
		&record.Queue{ID: 1, Name: "q", Type: "classic", Arguments: record.Fields{{Name: ArgMaxLength, Value: "1"}}},
		&record.Queue{ID: 1, Name: "q", Type: "stream", Arguments: record.Fields{{Name: ArgQueueType, Value: "stream"}}},
	} {
		b := New()
		r, err := newReplay(b)
		require.NoError(t, err)
		_, err = r.item(item)
		require.Error(t, err, "%+v", item)
		require.NoError(t, b.Close())
	}
}

// TestReplayIgnores has what is about nothing, and what is about messages.
func TestReplayIgnores(t *testing.T) {
	b := New()
	defer b.Close()
	before := picture(t, b)
	r, err := newReplay(b)
	require.NoError(t, err)
	for item := range record.Items(said(&record.NoQueue{ID: 5}, &record.Binding{Source: "x", Destination: "y"},
		&record.Binding{Source: "amq.topic", Destination: "amq.direct", Key: "#.#.#"},
		&record.NoBinding{Binding: record.Binding{Source: "amq.direct", Queue: 3}}, &record.NoExchange{Name: "x"}, &record.NoPolicy{Name: "p"},
		&record.NoVHost{Name: "none"}, &record.NoUser{Name: "none"}, &record.Permission{User: "none", VHost: "/"}, &record.NoParameter{Name: "none"},
		&record.In{VHost: "none"}, &record.Queue{ID: 1, Name: "q"}, &record.Numbers{})) {
		handled, err := r.item(item)
		require.NoError(t, err)
		require.True(t, handled, "%T", item)
	}
	for _, in := range []string{"/", "none"} {
		_, _ = r.item(&record.In{VHost: in})
		handled, err := r.item(&record.Put{})
		require.NoError(t, err)
		require.False(t, handled)
	}
	require.NoError(t, r.finish())
	require.NoError(t, b.Start())
	require.Equal(t, before, picture(t, b))
}

// TestReplayTellsNobody has a broker with a watcher, who hears of what happens afterwards only.
func TestReplayTellsNobody(t *testing.T) {
	var told []string
	hooks := Events{QueueDeclared: func(e QueueEvent) { told = append(told, "+"+e.Queue) }, QueueDeleted: func(e QueueEvent) { told = append(told, "-"+e.Queue) }}
	b := New(WithEvents(hooks))
	defer b.Close()
	r, err := newReplay(b)
	require.NoError(t, err)
	for item := range record.Items(said(&record.VHost{Name: "a"}, &record.Queue{ID: 1, Name: "q"}, &record.NoQueue{ID: 1},
		&record.Queue{ID: 2, Name: "r"}, &record.In{VHost: "/"}, &record.Queue{ID: 3, Name: "s"})) {
		_, err := r.item(item)
		require.NoError(t, err)
	}
	require.NoError(t, r.finish())
	require.NoError(t, b.Start())
	require.Empty(t, told)
	v, err := b.VHost("a")
	require.NoError(t, err)
	_, err = v.DeleteQueue("r", DeleteConfig{})
	require.NoError(t, err)
	_, err = b.DeleteQueue("s", DeleteConfig{})
	require.NoError(t, err)
	require.Equal(t, []string{"-r", "-s"}, told)
}

// TestQueueKeepsItsSize is about memory that a million queues would take more without a log.
func TestQueueKeepsItsSize(t *testing.T) {
	require.EqualValues(t, 48, unsafe.Sizeof(queueArgs{}))
	require.LessOrEqual(t, unsafe.Sizeof(struct {
		q Queue
		c classic
	}{}), uintptr(576)) // the size class of the allocator
}

// A virtual host keeps its default queue type, whatever the node's is at the next start.
// Rules: A-20.
func TestDefaultQueueTypeIsKept(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		node QueueType
		made string
		want map[string]QueueType
	}{
		{QueueTypeQuorum, "a", map[string]QueueType{"/": QueueTypeQuorum, "a": QueueTypeQuorum}},
		{QueueTypeClassic, "b", map[string]QueueType{"/": QueueTypeQuorum, "a": QueueTypeQuorum, "b": QueueTypeClassic}},
	} {
		b, err := Open(dir, WithDefaultQueueType(c.node))
		require.NoError(t, err)
		_, err = b.CreateVHost(c.made)
		require.NoError(t, err)
		got := map[string]QueueType{}
		for _, v := range b.VHosts() {
			got[v.Name] = v.DefaultQueueType
		}
		require.Equal(t, c.want, got)
		require.NoError(t, b.Close())
	}
}
