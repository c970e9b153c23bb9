package leveret

import (
	"iter"
	"math/bits"

	"github.com/google/btree"
	"github.com/leveretmq/leveret/internal/fifo"
)

// A backlog holds a queue's ready messages in the order in which they leave.
//
// Each priority has a lane: first in, first out. A message that comes back can go to one of two places, and the
// queue's type decides to which: to its old position in its lane, or to the returned list, which leaves before all
// lanes.
type backlog struct {
	levels int16 // how many priorities; 0 or 1: none
	absent int16 // the priority of a message that has none

	// headUnchecked: a message of a higher priority has become the head, and the queue, a classic one, has not looked yet
	// whether the new head expires. It looks when it next delivers, trims or is woken.
	headUnchecked bool

	lane     lane               // the only lane of a queue without priorities
	lanes    *lanes             // by priority; nil until a message arrives
	returned *fifo.Queue[entry] // in the order in which the messages came back; nil until one does
}

// An entry is a message's place in one queue.
type entry struct {
	m          *message
	seq        uint64 // the number of this copy, which is its position in the queue, too; kept through a requeue
	deadline   int64  // ns since 1970 when it expires; 0: never
	deliveries uint32 // the message's delivery count: failed deliveries, kept through dead-lettering
	returns    uint32 // how often it came back to this queue
}

// level is the priority of m in this queue. A priority above the highest counts as the highest.
// Rules: D-38, D-39.
func (b *backlog) level(m *message) int { return min(m.priority(int(b.absent)), int(b.levels)-1) }

// precedes reports whether e leaves before other, if neither comes back to the returned list.
func (b *backlog) precedes(e, other *entry) bool {
	x, y := b.level(e.m), b.level(other.m)
	return x > y || x == y && e.seq < other.seq
}

func (b *backlog) laneOf(m *message) *lane {
	if b.levels <= 1 {
		return &b.lane
	}
	if b.lanes == nil {
		b.lanes = &lanes{by: make([]*lane, b.levels)}
	}
	return b.lanes.use(b.level(m))
}

// pushBack puts a message at the tail of its lane.
func (b *backlog) pushBack(e entry) { b.laneOf(e.m).fifo.PushBack(e) }

// putBack puts a message that had left to its old position.
func (b *backlog) putBack(e entry) { b.laneOf(e.m).putBack(e) }

// pushReturned puts a message that had left behind those that came back before.
func (b *backlog) pushReturned(e entry) {
	if b.returned == nil {
		b.returned = new(fifo.Queue[entry])
	}
	b.returned.PushBack(e)
}

// firstReturned is the first message of the returned list, nil if the list is empty.
func (b *backlog) firstReturned() *entry {
	if b.returned == nil {
		return nil
	}
	return b.returned.Front()
}

// head returns the message that leaves next, nil if there is none.
// Rules: D-1.
func (b *backlog) head() *entry {
	if e := b.firstReturned(); e != nil {
		return e
	}
	if l := b.top(); l != nil {
		return l.head()
	}
	return nil
}

// top returns the lane that leaves next, returned messages aside.
func (b *backlog) top() *lane {
	switch {
	case b.levels <= 1:
		return &b.lane
	case b.lanes == nil:
		return nil
	}
	return b.lanes.highest()
}

// pop removes the head. There must be one.
// Rules: D-1.
func (b *backlog) pop() entry {
	if b.firstReturned() != nil {
		return b.returned.PopFront()
	}
	return b.top().pop()
}

// heads yields the first returned message and the first of each lane. A queue without priorities is one list, with one
// head.
// Rules: T-6.
func (b *backlog) heads() iter.Seq[head] {
	return func(yield func(head) bool) {
		if e := b.firstReturned(); e != nil && (!yield(head{e, nil}) || b.levels <= 1) {
			return
		}
		for l := range b.occupied() {
			if !yield(head{l.head(), l}) {
				return
			}
		}
	}
}

// A head is a first message and the lane it stands in, nil for the returned list.
type head struct {
	entry *entry
	lane  *lane
}

func (b *backlog) popHead(h head) entry {
	if h.lane == nil {
		return b.returned.PopFront()
	}
	return h.lane.pop()
}

// occupied yields the lanes that have messages, highest priority first.
func (b *backlog) occupied() iter.Seq[*lane] {
	return func(yield func(*lane) bool) {
		switch {
		case b.levels <= 1:
			if b.lane.head() != nil {
				yield(&b.lane)
			}
		case b.lanes != nil:
			b.lanes.occupied()(yield)
		}
	}
}

// all yields every message, in the order in which they would leave.
func (b *backlog) all() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		if b.returned != nil {
			for e := range b.returned.All() {
				if !yield(e) {
					return
				}
			}
		}
		for l := range b.occupied() {
			if !l.all(yield) {
				return
			}
		}
	}
}

// byLevel counts the messages of each priority, without those of the returned list; nil: there are no priorities.
func (b *backlog) byLevel() map[int]int {
	if b.levels <= 1 {
		return nil
	}
	counts := map[int]int{}
	for l := range b.occupied() {
		counts[b.level(l.head().m)] = l.len()
	}
	return counts
}

func (b *backlog) clear() {
	b.lane, b.lanes, b.returned = lane{}, nil, nil
}

// A lane holds the messages of one priority. What was handed out had left from the head, so messages that came back to
// their old position are older than all that never left: they stand before the FIFO, by age.
type lane struct {
	fifo fifo.Queue[entry]
	back *putBacks // nil: no message is back at its old position
}

func (l *lane) putBack(e entry) {
	if l.back == nil {
		l.back = &putBacks{first: e, tree: btree.NewWithFreeListG(treeDegree, byPosition, treeNodes)}
	}
	l.back.add(e)
}

func (l *lane) head() *entry {
	if l.back != nil {
		return &l.back.first
	}
	return l.fifo.Front()
}

func (l *lane) len() int {
	if l.back == nil {
		return l.fifo.Len()
	}
	return l.fifo.Len() + l.back.tree.Len()
}

func (l *lane) pop() entry {
	if l.back != nil {
		return l.popBack()
	}
	return l.fifo.PopFront()
}

func (l *lane) popBack() entry {
	e := l.back.pop()
	if l.back.tree.Len() == 0 {
		l.back = nil
	}
	return e
}

func (l *lane) all(yield func(*entry) bool) (more bool) {
	more = true
	if l.back != nil {
		l.back.tree.Ascend(func(e entry) bool {
			more = yield(&e)
			return more
		})
	}
	for e := range l.fifo.All() {
		if !more {
			return false
		}
		more = yield(e)
	}
	return more
}

// putBacks are the messages of a lane that are back at their old position. It is never empty.
type putBacks struct {
	first entry // of the tree: looked at far more often than it changes
	tree  *btree.BTreeG[entry]
}

// treeDegree is how many entries a node of a tree has, roughly: as many as are moved faster than a further node is
// found.
const treeDegree = 16

var treeNodes = btree.NewFreeListG[entry](btree.DefaultFreeListSize) // shared by all lanes

func byPosition(a, b entry) bool { return a.seq < b.seq }

func (p *putBacks) add(e entry) {
	p.tree.ReplaceOrInsert(e)
	if e.seq < p.first.seq {
		p.first = e
	}
}

func (p *putBacks) pop() entry {
	e, _ := p.tree.DeleteMin()
	p.first, _ = p.tree.Min()
	return e
}

// lanes finds the highest priority with messages in a few instructions: a bit for each lane
// that may have any.
type lanes struct {
	used [4]uint64
	by   []*lane
}

func (ls *lanes) use(level int) *lane {
	ls.used[level/64] |= 1 << (level % 64)
	if ls.by[level] == nil {
		ls.by[level] = new(lane)
	}
	return ls.by[level]
}

func (ls *lanes) highest() *lane {
	for l := range ls.occupied() {
		return l
	}
	return nil
}

// occupied yields the lanes that have messages, highest priority first, and forgets empty ones.
func (ls *lanes) occupied() iter.Seq[*lane] {
	return func(yield func(*lane) bool) {
		for w := len(ls.used) - 1; w >= 0; w-- {
			for left := ls.used[w]; left != 0; {
				bit := bits.Len64(left) - 1
				left &^= 1 << bit
				l := ls.by[w*64+bit]
				if l.head() == nil {
					ls.used[w] &^= 1 << bit
				} else if !yield(l) {
					return
				}
			}
		}
	}
}
