package leveret

import (
	"cmp"
	"slices"
	"strings"

	"github.com/leveretmq/leveret/internal/erl"
	"github.com/leveretmq/leveret/internal/ring"
)

// A binding leads from a source exchange to a queue or an exchange. Its identity is source,
// destination, key and arguments; binding the same again changes nothing.
type binding struct {
	source   *Exchange
	queue    *Queue // the destination: a queue or
	exchange *Exchange
	id       bindingName
	args     Fields
	headers  *headersMatch        // compiled arguments, for a headers exchange
	place    int                  // index in the source's bindingList
	in       ring.Place[*binding] // among those that lead to the destination
	seq      uint64               // age, for a stable order
}

// A bindingName is a binding's identity within its source.
// Rules: X-14.
type bindingName struct {
	toQueue   bool
	name, key string
	args      string
}

func (b *binding) info() BindingInfo {
	i := BindingInfo{VHost: b.source.v.name, Source: b.source.name, Destination: b.id.name,
		DestinationType: DestinationExchange, RoutingKey: b.id.key,
		Arguments: tableOf(b.args), ArgumentFields: b.args.byName()}
	if b.id.toQueue {
		i.DestinationType = DestinationQueue
	}
	return i
}

func sortByAge(all []*binding) { slices.SortFunc(all, byAge) }

func byAge(x, y *binding) int { return cmp.Compare(x.seq, y.seq) }

// A bindRequest is one of the four methods: queue or exchange, bind or unbind.
type bindRequest struct {
	toQueue             bool
	destination, source string
	key                 string
	arguments           Table
	args                Fields // the arguments; prepareBind puts arguments here
}

// prepareBindLocked fills in the channel's last declared queue for an empty name, and makes the checks that need no
// binding.
// Rules: M-20, X-13, Q-33.
func (ch *Channel) prepareBindLocked(r *bindRequest) *Error {
	if r.args == nil {
		var err *Error
		if r.args, err = canonicalArguments(r.arguments, nil); err != nil {
			return err
		}
	}
	if err := checkShort("a routing key", r.key); err != nil {
		return err
	}
	r.destination, r.source = withoutLineBreaks(r.destination), withoutLineBreaks(r.source)
	if r.toQueue && r.destination == "" {
		if ch.lastQueue == "" {
			return errNoDeclaredQueue()
		}
		r.destination = ch.lastQueue
		if r.key == "" {
			r.key = ch.lastQueue
		}
	}
	if err := ch.v.refuseVolatile(r); err != nil {
		return err
	}
	return ch.checkBindLocked(r)
}

// checkBindLocked makes the checks that binding and unbinding share, in RabbitMQ's order.
// Rules.
func (ch *Channel) checkBindLocked(r *bindRequest) *Error {
	kind := exchangeResource
	if r.toQueue {
		kind = queueResource
	}
	// Write permission on the destination.
	if err := ch.checkLocked(write, kind, r.destination); err != nil {
		return err
	}
	// Neither side may be the default exchange. This is checked behind the permission on the destination, which it has
	// too.
	toDefault := !r.toQueue && r.destination == ""
	if r.source == "" || toDefault {
		err := errDefaultExchange
		return &err
	}
	// Read permission on the source.
	if err := ch.checkLocked(read, exchangeResource, r.source); err != nil {
		return err
	}
	// Topic permission for the binding key. Whether the source exists is looked at later.
	if x := ch.v.exchanges[r.source]; x != nil && x.kind == Topic {
		return ch.checkTopicLocked(read, x.name, r.key)
	}
	return nil
}

// bindLocked makes a binding. The request has passed checkBindLocked; what else can be wrong is checked here: source,
// destination, what the source's type demands, owner.
// Rules.
func (ch *Channel) bindLocked(r *bindRequest) *Error {
	v := ch.v
	b := &binding{source: v.exchanges[r.source], args: r.args,
		id: bindingName{r.toQueue, r.destination, r.key, bindingID(r.args)}}
	if b.source == nil {
		return v.noExchange(r.source)
	}
	if r.toQueue {
		if b.queue = v.queues[r.destination]; b.queue == nil {
			return v.noQueue(r.destination)
		}
	} else if b.exchange = v.exchanges[r.destination]; b.exchange == nil {
		return v.noExchange(r.destination)
	}
	if err := b.validate(); err != nil {
		return err
	}
	if err := ch.checkOwner(b.queue); err != nil {
		return err
	}
	if b.source.outgoing.find(b.id) == nil {
		v.attachLocked(b)
	}
	return nil
}

// validate makes the checks of the source's type.
// Rules.
func (b *binding) validate() *Error {
	switch r := b.source.v.rules; b.source.kind {
	case Topic:
		return validateTopicKey(b.id.key, r)
	case Headers:
		m, err := compileHeaders(b.args, r)
		b.headers = m
		return err
	case LocalRandom:
		switch {
		case b.id.key != "":
			return PreconditionFailed.errorf(b.id.name, "Non empty binding '%s' key not permitted", erl.Characters(b.id.key))
		case b.queue == nil:
			return PreconditionFailed.errorf(b.id.name, "Destination not found")
		case b.queue.args.kind != classicQueue:
			return PreconditionFailed.errorf(b.id.name,
				"Queue type %s not valid for this exchange type", b.queue.args.kind.module())
		}
	}
	return nil
}

func (v *vhost) attachLocked(b *binding) {
	v.topology++
	b.seq = v.topology
	b.source.outgoing.add(b)
	in := b.incoming()
	if *in == nil {
		*in = new(incoming)
	}
	b.in.Value = b
	(*in).PushBack(&b.in)
	if v.log != nil {
		v.noteBindingLocked(b)
	}
	v.bindingEventLocked(b, true)
}

func (b *binding) incoming() **incoming {
	if b.queue != nil {
		return &b.queue.incoming
	}
	return &b.exchange.incoming
}

// detachLocked removes a binding and reports whether its source must go with it.
// Rules: X-12.
func (v *vhost) detachLocked(b *binding) (sourceEnds bool) {
	v.topology++
	b.source.outgoing.lose()
	b.source.outgoing.remove(b)
	b.in.Leave()
	if v.log != nil {
		v.noteNoBindingLocked(b)
	}
	v.bindingEventLocked(b, false)
	return b.source.unusedLocked()
}

// unbindLocked removes the one binding that is identical to the request. It succeeds if the binding, or what it would
// connect, does not exist.
// Rules: X-15.
func (ch *Channel) unbindLocked(r *bindRequest) *Error {
	v := ch.v
	x := v.exchanges[r.source]
	if x == nil {
		return nil
	}
	b := x.outgoing.find(bindingName{r.toQueue, r.destination, r.key, bindingID(r.args)})
	if b == nil {
		return nil
	}
	if err := ch.checkOwner(b.queue); err != nil {
		return err
	}
	if v.detachLocked(b) {
		v.removeExchangeLocked(x)
	}
	return nil
}

// A topic exchange's binding keys are patterns: words with dots between them, where * stands
// for one word and # for any number of words.

// maxHashWords is how many words of a binding key may be #.
const maxHashWords = 2

// validateTopicKey refuses a binding key with more # words than the release allows.
// Rules: X-20.
func validateTopicKey(key string, r *rules) *Error {
	if r.manyHashWords || strings.Count(key, "#") <= maxHashWords {
		return nil
	}
	n := 0
	for word := range strings.SplitSeq(key, ".") {
		if word == "#" {
			n++
		}
	}
	if n <= maxHashWords {
		return nil
	}
	return PreconditionFailed.errorf("",
		"Topic binding key '%s' uses %d '#' wildcards, at most %d are allowed", key, n, maxHashWords)
}

// BindExchange is exchange.bind: what source routes by key goes to destination.
func (ch *Channel) BindExchange(destination, source, key string, args Table) error {
	return ch.binding("exchange.bind", bindRequest{false, destination, source, key, args, nil}, ch.bindLocked)
}

// UnbindExchange is exchange.unbind. Removing a missing binding succeeds.
func (ch *Channel) UnbindExchange(destination, source, key string, args Table) error {
	return ch.binding("exchange.unbind", bindRequest{false, destination, source, key, args, nil}, ch.unbindLocked)
}

// BindQueue is queue.bind. An empty queue name means the queue declared last on this channel.
func (ch *Channel) BindQueue(queue, exchange, key string, args Table) error {
	return ch.binding("queue.bind", bindRequest{true, queue, exchange, key, args, nil}, ch.bindLocked)
}

// UnbindQueue is queue.unbind. Removing a missing binding succeeds.
func (ch *Channel) UnbindQueue(queue, exchange, key string, args Table) error {
	return ch.binding("queue.unbind", bindRequest{true, queue, exchange, key, args, nil}, ch.unbindLocked)
}

// A Binding is a binding as AMQP carries it. Arguments may have a name twice; of such fields the order counts, and each
// is a demand of its own at a headers exchange.
type Binding struct {
	Source, Destination string
	DestinationType     DestinationType // empty: DestinationQueue
	RoutingKey          string
	Arguments           Fields
}

// Bind is queue.bind or exchange.bind, as BindQueue and BindExchange.
//
// Rules: X-14.
func (ch *Channel) Bind(b Binding) error {
	r, err := b.request()
	if err != nil {
		return err
	}
	if r.toQueue {
		return ch.binding("queue.bind", r, ch.bindLocked)
	}
	return ch.binding("exchange.bind", r, ch.bindLocked)
}

// Unbind is queue.unbind or exchange.unbind. Removing a missing binding succeeds.
func (ch *Channel) Unbind(b Binding) error {
	r, err := b.request()
	if err != nil {
		return err
	}
	if r.toQueue {
		return ch.binding("queue.unbind", r, ch.unbindLocked)
	}
	return ch.binding("exchange.unbind", r, ch.unbindLocked)
}

func (b Binding) request() (bindRequest, error) {
	args, err := b.Arguments.canonical()
	if err != nil {
		return bindRequest{}, &Error{Code: SyntaxError, Reason: err.Error()}
	}
	return bindRequest{b.DestinationType != DestinationExchange, b.Destination, b.Source, b.RoutingKey, nil, args}, nil
}

func (ch *Channel) binding(op string, r bindRequest, f func(*bindRequest) *Error) error {
	return ch.do(op, func() *Error {
		if err := ch.prepareBindLocked(&r); err != nil {
			return err
		}
		return f(&r)
	})
}
