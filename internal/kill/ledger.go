package main

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/leveretmq/leveret"
)

// A ledger is what the clients know: of each message, in each queue that it was published to, and of all that they declare. After
// a kill it is compared with what is in the directory.
//
//   - A message that was confirmed, and that nobody took, is there once: in its queue or, if it may have died, where its death leads.
//   - Of a message whose publisher was told nothing there is at most one, and of a refused one none.
//   - What was acknowledged or rejected is as it was or settled. It is settled if a later confirm has come on the same connection.
//   - Transactions are there as a whole or not at all.
//   - What no consumer has had has the order in which it was published.
//   - A dead letter tells where and why it died.
//
// What was found is known: in the next round it has to be there again.
type ledger struct {
	mu       sync.Mutex
	copies   map[place]*copyState
	groups   []*group
	declared map[string]certainty // exchanges, queues, bindings and policies, by what they are called in describe
	problems []string
	kinds    map[string]int // how many problems there are of each kind
	totals
}

// A place is a message in a queue that it was published to.
type place struct{ id, queue string }

// A copyState is what is known of a message in a queue.
type copyState struct {
	number             int  // in the order of its publisher; -1: none
	transient          bool // a kill may take it
	confirmed, refused bool
	seen               bool // by a consumer
	mayGo, gone        bool
	mayDie, dead       bool
	found              bool // in this comparison
	publisher          string
	closed             bool // there is nothing to find any more
}

// A group is what a transaction does.
type group struct {
	published []place
	acked     []place
	outcome   certainty // that it was committed
}

// A certainty is what is known of something that was asked for.
type certainty uint8

const (
	unknown certainty = iota
	sure
	surelyNot
)

// totals are what was seen in all.
type totals struct {
	kills, confirmed, refused, settled, covered, committed, declarations, found, died int
	recovery                                                                          time.Duration
}

func (t totals) String() string {
	return fmt.Sprintf("%d kills: %d confirmed, %d refused, %d settled (%d of them for certain), %d committed, %d declared, %d found, %d of them dead letters; recovery took %v",
		t.kills, t.confirmed, t.refused, t.settled, t.covered, t.committed, t.declarations, t.found, t.died, t.recovery.Round(time.Millisecond))
}

// add takes what a round has counted.
func (t *totals) add(l *ledger) {
	o := &l.totals
	t.kills++
	t.confirmed += o.confirmed
	t.refused += o.refused
	t.settled += o.settled
	t.covered += o.covered
	t.committed += o.committed
	t.declarations += o.declarations
	t.found += o.found
	t.died += o.died
	t.recovery += o.recovery
	*o = totals{}
}

func newLedger() *ledger {
	return &ledger{copies: map[place]*copyState{}, declared: map[string]certainty{}, kinds: map[string]int{}}
}

// locked calls f with the lock held. The clients change the ledger by it.
func (l *ledger) locked(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

// problem notes something that is wrong. A few of each kind are enough.
func (l *ledger) problem(format string, args ...any) {
	if l.kinds[format]++; l.kinds[format] <= 5 {
		l.problems = append(l.problems, fmt.Sprintf(format, args...))
	}
}

// publish notes that a message is about to be sent.
func (l *ledger) publish(s copyState, at ...place) {
	l.locked(func() {
		for _, p := range at {
			own := s
			l.copies[p] = &own
		}
	})
}

func (l *ledger) confirm(at []place, ack bool) {
	l.locked(func() {
		for _, p := range at {
			c := l.copies[p]
			c.confirmed, c.refused = ack, !ack
			if ack {
				l.totals.confirmed++
			} else {
				l.totals.refused++
			}
		}
	})
}

// ask notes that something will be there, or not, unless the process is killed before; answer that it is so.
func (l *ledger) ask(what string) { l.locked(func() { l.declared[what] = unknown }) }

func (l *ledger) answer(what string, there certainty) {
	l.locked(func() {
		l.declared[what] = there
		l.declarations++
	})
}

// compare opens a directory and compares what is there with what is known.
func (l *ledger) compare(dir string) {
	began := time.Now()
	b, err := leveret.Open(dir, leveret.WithClock(leveret.NewManualClock(began)))
	l.recovery += time.Since(began)
	if err != nil {
		l.problem("open: %v", err)
		return
	}
	defer b.Close()
	if !b.Recovered().Killed {
		l.problem("the broker does not know that its process was killed: %+v", b.Recovered())
	}
	if err := b.Check(); err != nil {
		l.problem("check: %v", err)
	}
	for _, c := range l.copies {
		c.found = false
	}
	for _, q := range slices.Concat(queues, deadQueues) {
		l.compareQueue(b, q)
	}
	for at, c := range l.copies {
		if !c.found && !c.closed {
			l.compareMissing(at, c)
		}
	}
	l.compareGroups()
	for at, c := range l.copies {
		if c.closed = !c.found; !c.found {
			continue
		}
		c.confirmed, c.transient = true, c.transient && !specOf(at.queue).quorum
		c.mayGo, c.mayDie = false, c.dead
	}
	l.compareDeclared(b)
}

// compareQueue finds the messages of a queue in the ledger.
func (l *ledger) compareQueue(b *leveret.Broker, spec queueSpec) {
	q, err := b.Queue(spec.name)
	if err != nil {
		if l.declared["all"] == sure {
			l.problem("queue %s: %v", spec.name, err)
		}
		return
	}
	last := map[string]int{}
	for i, list := range [][]leveret.MessageInfo{q.Messages(), q.Waiting()} {
		for _, m := range list {
			at := place{m.Properties.MessageID, spec.name}
			died := specOf(spec.name) == nil
			if died {
				if len(m.Deaths) != 1 {
					l.problem("%s in %s has died %d times", at.id, spec.name, len(m.Deaths))
					continue
				}
				at.queue = m.Deaths[0].Queue
				l.died++
			}
			c := l.copies[at]
			if c == nil {
				l.problem("%s in %s is from %s, where nobody sent it", at.id, spec.name, at.queue)
				continue
			}
			l.found++
			l.compareFound(at, c, m, died, i > 0)
			untouched := !c.seen && !(spec.quorum && m.Redelivered) // a quorum queue takes back what its consumers held one consumer after the other
			if n, known := last[c.publisher]; !died && untouched && i == 0 {
				if known && n > c.number {
					l.problem("%s is behind number %d of the same publisher in %s", at.id, n, spec.name)
				}
				last[c.publisher] = c.number
			}
		}
	}
}

func (l *ledger) compareFound(at place, c *copyState, m leveret.MessageInfo, died, waiting bool) {
	spec := specOf(at.queue)
	switch {
	case c.found:
		l.problem("%v is there twice: %+v", at, *c)
	case c.closed:
		l.problem("%v is there again: %+v", at, *c)
	case c.gone:
		l.problem("%v was acknowledged for certain and is there: %+v", at, *c)
	case c.refused:
		l.problem("%v was refused and is there: %+v", at, *c)
	case c.dead && !died && !waiting:
		l.problem("%v was rejected for certain and is still in its queue: %+v", at, *c)
	case died && !c.mayDie && !spec.dies:
		l.problem("%v has died of nothing: %+v", at, *c)
	case !died && len(m.Deaths) > 0:
		l.problem("%v has died and is in its queue: %+v", at, m.Deaths)
	}
	c.found = true
	if !died {
		return
	}
	c.dead = true
	l.compareDeath(at, c, m.Deaths[0])
}

// compareDeath verifies where and why a message died.
func (l *ledger) compareDeath(at place, c *copyState, d leveret.Death) {
	spec := specOf(at.queue)
	possible := map[leveret.Reason]bool{
		leveret.Rejected:      c.mayDie,
		leveret.Expired:       spec.args["x-message-ttl"] != nil,
		leveret.MaxLength:     spec.args["x-max-length"] != nil,
		leveret.DeliveryLimit: spec.name == "limited",
	}
	if !possible[d.Reason] || d.Count != 1 || d.Exchange != "" || len(d.RoutingKeys) != 1 || d.RoutingKeys[0] != at.queue {
		l.problem("%v has died so: %+v", at, d)
	}
}

func (l *ledger) compareMissing(at place, c *copyState) {
	spec := specOf(at.queue)
	if c.confirmed && !c.transient && !c.mayGo && !c.gone && !spec.drops {
		l.problem("LOST: %v was confirmed: %+v", at, *c)
	}
}

// compareGroups verifies that transactions are there as a whole.
func (l *ledger) compareGroups() {
	for _, g := range l.groups {
		there, left, acked := 0, 0, 0
		for _, p := range g.published {
			if l.copies[p].found {
				there++
			}
		}
		for _, p := range g.acked {
			switch c := l.copies[p]; {
			case c.found:
				left++
				acked++
			case c.confirmed: // another one may have gone with its publish
				acked++
			}
		}
		whole := there == len(g.published) && left == 0
		nothing := there == 0 && left == acked
		if !whole && !nothing || g.outcome == sure && !whole || g.outcome == surelyNot && !nothing {
			l.problem("of a transaction %d of %d publishes are there and %d of %d acknowledgements took place: %+v",
				there, len(g.published), acked-left, acked, *g)
		}
	}
	l.groups = nil
}

// compareDeclared verifies what was declared and deleted.
func (l *ledger) compareDeclared(b *leveret.Broker) {
	there := map[string]bool{"all": true}
	for _, q := range b.Queues() {
		there["queue "+q.Name] = true
	}
	for _, x := range b.Exchanges() {
		there["exchange "+x.Name] = true
	}
	for _, p := range b.Policies() {
		there[fmt.Sprintf("policy %s %v", p.Name, p.Definition["max-length"])] = true
	}
	for _, x := range b.Bindings() {
		there["binding "+x.Source+" "+x.RoutingKey+" "+x.Destination] = true
	}
	for what, known := range l.declared {
		if known == sure && !there[what] || known == surelyNot && there[what] {
			l.problem("%s: there is %v, and clients were told otherwise", what, there[what])
		}
		if what != "all" {
			l.declared[what] = surelyNot
			if there[what] {
				l.declared[what] = sure
			}
		}
	}
}
