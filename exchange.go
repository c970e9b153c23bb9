package leveret

import (
	"strings"

	"github.com/leveretmq/leveret/internal/topic"
)

// An ExchangeType says how an exchange chooses among its bindings.
type ExchangeType string

// The exchange types. LocalRandom and ModulusHash do not exist in the RabbitMQ310 profile.
const (
	Direct      ExchangeType = "direct"         // binding key equals a routing key
	Fanout      ExchangeType = "fanout"         // every binding
	Topic       ExchangeType = "topic"          // binding key is a pattern of words: * one word, # any number
	Headers     ExchangeType = "headers"        // binding arguments match the message's headers
	LocalRandom ExchangeType = "x-local-random" // one bound queue at random
	ModulusHash ExchangeType = "x-modulus-hash" // one bound queue by a hash of the routing key
)

// An Exchange routes messages to the queues and exchanges bound to it.
type Exchange struct {
	v        *vhost
	name     string
	kind     ExchangeType
	user     string // who declared it; empty: the broker itself
	cfg      ExchangeConfig
	args     Fields
	policy   *policy
	alt      string // the alternate exchange in force, by argument or policy
	hasAlt   bool
	deleted  bool
	outgoing outgoing
	incoming *incoming
	visited  uint64 // the number of the last routing that visited the exchange, see router
	counters PublishCounters
	spread   spread // of what was published to the exchange
}

// ExchangeConfig are the properties of an exchange.
// Rules: X-9.
type ExchangeConfig struct {
	Durable    bool  // survives a restart: see Broker.Restart
	AutoDelete bool  // is deleted with its last outgoing binding
	Internal   bool  // takes no publishes, only bindings, dead letters and alternates
	Arguments  Table // alternate-exchange

	// ArgumentFields are the arguments in the order and with the duplicates that a client sent. When they are not nil,
	// Arguments is ignored.
	ArgumentFields Fields
}

// DeleteConfig restricts a deletion.
type DeleteConfig struct {
	IfUnused bool // only without consumers (queue) or outgoing bindings (exchange)
	IfEmpty  bool // only without ready messages; queues only
}

// Name returns the exchange's name.
func (x *Exchange) Name() string { return x.name }

// defaultExchangeName is how permissions and texts call the exchange "".
const defaultExchangeName = "amq.default"

// Rules: M-4, X-1.
func (v *vhost) predeclareLocked() {
	add := func(name string, kind ExchangeType, internal bool) {
		_, _ = v.addExchangeLocked(name, kind, ExchangeConfig{Durable: true, Internal: internal}, nil) // no policy is there yet
	}
	add("", Direct, false)
	add("amq.direct", Direct, false)
	add("amq.fanout", Fanout, false)
	add("amq.topic", Topic, false)
	add("amq.headers", Headers, false)
	add("amq.match", Headers, false)
	add("amq.rabbitmq.trace", Topic, true)
	v.nameless = v.exchanges[""]
}

// isPredeclared reports whether every virtual host has an exchange of that name.
// Rules: X-1.
func isPredeclared(name string) bool {
	switch name {
	case "", "amq.direct", "amq.fanout", "amq.topic", "amq.headers", "amq.match", "amq.rabbitmq.trace":
		return true
	}
	return false
}

func (v *vhost) addExchangeLocked(name string, kind ExchangeType, cfg ExchangeConfig, args Fields) (*Exchange, *Error) {
	x := &Exchange{v: v, name: name, kind: kind, cfg: cfg, args: args}
	x.outgoing.init(kind)
	if err := x.findPolicyLocked(); err != nil {
		return nil, err
	}
	v.exchanges[name] = x
	v.topology++
	return x, nil
}

// findPolicyLocked looks up the policy that applies, and puts it in force.
// Rules: P-13, P-20.
func (x *Exchange) findPolicyLocked() *Error {
	p, err := bestPolicy(x.v.policies[userPolicies], x.matchedBy)
	if err == nil {
		x.setPolicyLocked(p)
	}
	return err
}

// setPolicyLocked puts a policy in force, which with the exchange's arguments names its alternate exchange; nil: none
// applies. An argument that is no string names none, and keeps a policy's from counting.
// Rules, P-13.
func (x *Exchange) setPolicyLocked(p *policy) {
	x.policy = p
	arg, given := x.args.Get(ArgAlternateExchange)
	name, isText := arg.(string)
	x.alt, x.hasAlt = alternateExchange(name, given, p)
	x.hasAlt = x.hasAlt && (isText || !given)
}

func (x *Exchange) matchedBy(p *policy) (bool, *Error) { return p.matchesExchange(x.name, x.v) }

func exchangeText(name, vhost string) string {
	return "exchange '" + name + "' in vhost '" + vhost + "'"
}

func (v *vhost) exchangeText(name string) string { return exchangeText(name, v.name) }

func (v *vhost) noExchange(name string) *Error {
	return NotFound.errorf(name, "no %s", v.exchangeText(name))
}

// withoutLineBreaks is what RabbitMQ makes of names in declarations, deletions and bindings.
// Rules: M-20.
func withoutLineBreaks(name string) string {
	if !strings.ContainsAny(name, "\r\n") {
		return name
	}
	return strings.NewReplacer("\r", "", "\n", "").Replace(name)
}

var errDefaultExchange = Error{Code: AccessRefused, Reason: "operation not permitted on the default exchange"}

// Rules.
func (r *rules) checkExchangeType(kind ExchangeType) *Error {
	switch kind {
	case Direct, Fanout, Topic, Headers:
		return nil
	case LocalRandom, ModulusHash:
		if !r.noNewExchangeTypes {
			return nil
		}
	}
	code, word := PreconditionFailed, "unknown"
	if r.unknownTypeClosesConnection {
		code = CommandInvalid
	}
	if r.isAtom(string(kind)) {
		word = "invalid"
	}
	return code.errorf("", "%s exchange type '%s'", word, kind)
}

// Rules.
func (ch *Channel) declareExchangeLocked(name string, kind ExchangeType, cfg ExchangeConfig) (*Exchange, *Error) {
	v := ch.v
	if err := checkShort("the name of an exchange", name); err != nil {
		return nil, err
	}
	if err := v.rules.checkExchangeType(kind); err != nil {
		return nil, err
	}
	if name == "" {
		err := errDefaultExchange
		return nil, &err
	}
	if err := ch.checkLocked(configure, exchangeResource, name); err != nil {
		return nil, err
	}
	args, err := canonicalArguments(cfg.Arguments, cfg.ArgumentFields)
	if err != nil {
		return nil, err
	}
	if x := v.exchanges[name]; x != nil {
		received := exchangeShape{kind, cfg.Durable, cfg.AutoDelete, cfg.Internal, args}
		return x, equivalentExchange(x.shape(), received, v.rules, v.exchangeSubject(name))
	}
	if strings.HasPrefix(name, "amq.") {
		return nil, AccessRefused.errorf(name, "exchange name '%s' contains reserved prefix 'amq.*'", name)
	}
	if err := ch.checkAlternateLocked(name, args); err != nil {
		return nil, err
	}
	x, err := v.addExchangeLocked(name, kind, cfg, args)
	if err != nil {
		return nil, err
	}
	x.user = ch.conn.cfg.User
	v.exchangeMadeLocked(x)
	return x, nil
}

// exchangeMadeLocked says everywhere that there is a new exchange.
func (v *vhost) exchangeMadeLocked(x *Exchange) {
	if v.log != nil {
		v.noteExchangeLocked(x)
	}
	v.exchangeEventLocked(x.name, true)
	v.ignoredExchangeArgumentsLocked(x)
}

func (x *Exchange) shape() exchangeShape {
	return exchangeShape{x.kind, x.cfg.Durable, x.cfg.AutoDelete, x.cfg.Internal, x.args}
}

// checkAlternateLocked checks the argument alternate-exchange of a new exchange.
// Rules.
func (ch *Channel) checkAlternateLocked(name string, args Fields) *Error {
	to, given, err := alternateExchangeArg(args, ch.v.exchangeSubject(name))
	if err != nil || !given {
		return err
	}
	if err := ch.checkLocked(read, exchangeResource, name); err != nil {
		return err
	}
	return ch.checkLocked(write, exchangeResource, to)
}

// Rules: X-7.
func (ch *Channel) checkExchangeLocked(name string) *Error {
	if name == "" {
		err := errDefaultExchange
		return &err
	}
	if err := ch.checkPassiveLocked(exchangeResource, name); err != nil {
		return err
	}
	if ch.v.exchanges[name] == nil {
		return ch.v.noExchange(name)
	}
	return nil
}

// Rules: X-10.
func (ch *Channel) deleteExchangeLocked(name string, cfg DeleteConfig) *Error {
	v := ch.v
	if name == "" {
		err := errDefaultExchange
		return &err
	}
	if strings.HasPrefix(name, "amq.") {
		return AccessRefused.errorf(name, "deletion of system %s not allowed", v.exchangeText(name))
	}
	if err := ch.checkLocked(configure, exchangeResource, name); err != nil {
		return err
	}
	x := v.exchanges[name]
	if x == nil {
		return nil
	}
	if cfg.IfUnused && x.outgoing.live > 0 {
		return PreconditionFailed.errorf(name, "%s in use", v.exchangeText(name))
	}
	v.removeExchangeLocked(x)
	return nil
}

// removeExchangeLocked deletes x and, in turn, the auto-delete exchanges that lose their last
// outgoing binding by it. A chain of them may be long, so it is worked off in a loop.
// Rules.
func (v *vhost) removeExchangeLocked(x *Exchange) {
	doomed := []*Exchange{x}
	for len(doomed) > 0 {
		x := doomed[0]
		doomed = doomed[1:]
		v.endOutgoingLocked(&x.outgoing) // those to x itself are among them
		x.deleted, x.visited = true, unreachable
		delete(v.exchanges, x.name)
		v.topology++
		if v.log != nil {
			v.noteNoExchangeLocked(x)
		}
		v.endIncomingLocked(x.incoming, func(source *Exchange) { doomed = append(doomed, source) })
		v.forgetTopics(x.name)
		v.exchangeEventLocked(x.name, false)
	}
}

// forgetTopics removes the topic permissions for an exchange that was deleted.
// Rules: A-9.
func (v *vhost) forgetTopics(exchange string) {
	if v.rules.anyTopicExchange || !v.b.access.Load().hasTopics(v.name, exchange) {
		return
	}
	// The log is told: read behind a later snapshot, the end of an exchange that is not in it says nothing of permissions.
	v.b.access.change(revokeTopicPermissions("", v.name, exchange)) // refuses nothing
}

// outgoing are an exchange's bindings, arranged for its way of routing. Only the arrangement
// of the type is in use, and the set of all.
type outgoing struct {
	all    map[bindingName]*binding
	direct map[string]*bindingList
	words  *topic.Trie[*binding]
	list   bindingList // fanout, headers, random, hash
	live   int         // how many there are, without those that lead nowhere any more (unbound.go)

	byDestination []*binding // list in the order of x-modulus-hash; nil: not known
}

func (o *outgoing) init(kind ExchangeType) {
	o.all = map[bindingName]*binding{}
	switch kind {
	case Direct:
		o.direct = map[string]*bindingList{}
	case Topic:
		o.words = &topic.Trie[*binding]{}
	}
}

// find returns the binding of that identity, nil if there is none.
func (o *outgoing) find(id bindingName) *binding {
	if b := o.all[id]; b != nil && !b.leadsNowhere() {
		return b
	}
	return nil
}

func (o *outgoing) add(b *binding) {
	if o.live < len(o.all) {
		o.forgetForerunner(b)
	}
	o.all[b.id] = b
	o.live++
	o.byDestination = nil
	switch {
	case o.direct != nil:
		l := o.direct[b.id.key]
		if l == nil {
			l = new(bindingList)
			o.direct[b.id.key] = l
		}
		l.add(b)
	case o.words != nil:
		o.words.Add(b.id.key, b)
	default:
		o.list.add(b)
	}
}

// forgetForerunner removes the binding that was as b to something that had the name before, if it is still there.
func (o *outgoing) forgetForerunner(b *binding) {
	if old := o.all[b.id]; old != nil {
		o.remove(old)
	}
}

// lose counts one binding less. It may stay in the tables for a while, if it leads nowhere.
func (o *outgoing) lose() {
	o.live--
	o.byDestination = nil
}

// remove takes a binding out of the tables.
func (o *outgoing) remove(b *binding) {
	delete(o.all, b.id)
	switch {
	case o.direct != nil:
		l := o.direct[b.id.key]
		if l.remove(b); len(l.b) == 0 {
			delete(o.direct, b.id.key)
		}
	case o.words != nil:
		o.words.Remove(b.id.key, b)
	default:
		o.list.remove(b)
	}
}

// living returns the bindings that lead somewhere, in no order.
func (o *outgoing) living() []*binding {
	all := make([]*binding, 0, o.live)
	for _, b := range o.all {
		if !b.leadsNowhere() {
			all = append(all, b)
		}
	}
	return all
}

// A bindingList removes in constant time: each binding knows its place, and the last one
// takes the place of the one removed.
type bindingList struct{ b []*binding }

func (l *bindingList) add(b *binding) {
	b.place = len(l.b)
	l.b = append(l.b, b)
}

func (l *bindingList) remove(b *binding) {
	last := len(l.b) - 1
	l.b[b.place] = l.b[last]
	l.b[b.place].place = b.place
	l.b[last] = nil
	l.b = l.b[:last]
}
