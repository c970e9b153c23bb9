package leveret

import (
	"iter"
	"math/bits"

	"github.com/leveretmq/leveret/internal/fifo"
)

// A backlog holds a queue's ready messages in the order in which they leave.
//
// A classic queue puts a returned message back to its old position. Whatever was handed out
// left from the head, so returned messages are always older than all that never left: a lane
// is a FIFO and, before it, a heap of returned messages by age. A quorum queue serves returned
// messages before all others, in the order in which they came back.
type backlog struct {
	levels   int // how many priorities; 0 or 1: none
	absent   int // the priority of a message that has none
	quorum   bool
	lane     lane              // the only lane of a queue without priorities
	lanes    *lanes            // by priority
	returned fifo.Queue[entry] // quorum queues only
}

const quorumLevels, quorumAbsentLevel = 32, 4

func (b *backlog) init(q *Queue) {
	b.quorum = q.quorum != nil
	switch n := q.args.maxPriority; {
	case b.quorum && !q.v.rules.quorumFIFO:
		b.levels, b.absent = quorumLevels, quorumAbsentLevel
	case b.quorum || n < 0 || n == 0 && q.v.rules.plainPriorityZero:
		return
	default:
		b.levels = max(n, 1) + 1
	}
}

func (b *backlog) level(m *message) int { return min(m.priority(b.absent), b.levels-1) }

// laneOf returns the lane for m. Lanes are made when a second priority occurs: most queues never see one.
func (b *backlog) laneOf(m *message) *lane {
	if b.levels <= 1 {
		return &b.lane
	}
	level := b.level(m)
	if b.lanes == nil {
		b.lanes = &lanes{by: make([]*lane, b.levels)}
	}
	return b.lanes.use(level)
}

func (b *backlog) push(e entry) {
	b.laneOf(e.m).fifo.PushBack(e)
}

// giveBack puts back a message that had left.
func (b *backlog) giveBack(e entry, toTail bool) {
	switch {
	case !b.quorum:
		b.laneOf(e.m).back.push(e)
	case toTail:
		b.push(e)
	default:
		b.returned.PushBack(e)
	}
}

// head returns the message that leaves next, nil if there is none.
func (b *backlog) head() *entry {
	if e := b.returned.Front(); e != nil {
		return e
	}
	if l := b.top(); l != nil {
		return l.head()
	}
	return nil
}

// top is the lane whose head leaves next, returned messages aside.
func (b *backlog) top() *lane {
	if b.levels <= 1 {
		return &b.lane
	}
	if b.lanes == nil {
		return nil
	}
	return b.lanes.highest()
}

func (b *backlog) pop() entry {
	if b.levels <= 1 && !b.quorum {
		return b.lane.pop()
	}
	if b.returned.Len() > 0 {
		return b.returned.PopFront()
	}
	return b.top().pop()
}

// heads yields each place of a quorum queue whose head expires by itself: the first returned
// message and the head of each priority; without priorities there is one head only.
func (b *backlog) heads() iter.Seq[head] {
	return func(yield func(head) bool) {
		if e := b.returned.Front(); e != nil && (!yield(head{e, nil}) || b.levels <= 1) {
			return
		}
		if b.levels <= 1 {
			if e := b.lane.head(); e != nil {
				yield(head{e, &b.lane})
			}
			return
		}
		if b.lanes == nil {
			return
		}
		for l := range b.lanes.occupied() {
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

// all yields every message, in the order in which they would leave.
func (b *backlog) all() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for e := range b.returned.All() {
			if !yield(e) {
				return
			}
		}
		if b.levels <= 1 {
			b.lane.all(yield)
			return
		}
		if b.lanes == nil {
			return
		}
		for l := range b.lanes.occupied() {
			if !l.all(yield) {
				return
			}
		}
	}
}

func (b *backlog) clear() {
	b.returned.Clear()
	b.lane = lane{}
	b.lanes = nil
}

// A lane holds the messages of one priority.
type lane struct {
	fifo fifo.Queue[entry]
	back returnHeap
}

func (l *lane) head() *entry {
	if len(l.back) > 0 {
		return &l.back[0]
	}
	return l.fifo.Front()
}

func (l *lane) pop() entry {
	if len(l.back) > 0 {
		return l.back.pop()
	}
	return l.fifo.PopFront()
}

func (l *lane) len() int { return len(l.back) + l.fifo.Len() }

func (l *lane) all(yield func(*entry) bool) bool {
	for _, e := range l.back.sorted() {
		if !yield(&e) {
			return false
		}
	}
	for e := range l.fifo.All() {
		if !yield(e) {
			return false
		}
	}
	return true
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
				if l.len() == 0 {
					ls.used[w] &^= 1 << bit
				} else if !yield(l) {
					return
				}
			}
		}
	}
}

// A returnHeap is a binary min-heap of returned messages by position. Messages mostly come
// back in order, and then a push costs one comparison.
type returnHeap []entry

func (h *returnHeap) push(e entry) {
	s := append(*h, e)
	i := len(s) - 1
	for i > 0 {
		p := (i - 1) / 2
		if s[p].seq <= e.seq {
			break
		}
		s[i] = s[p]
		i = p
	}
	s[i] = e
	*h = s
}

func (h *returnHeap) pop() entry {
	s := *h
	top, last := s[0], s[len(s)-1]
	s[len(s)-1] = entry{}
	s = s[:len(s)-1]
	*h = s
	if len(s) == 0 {
		return top
	}
	i := 0
	for {
		c := 2*i + 1
		if c >= len(s) {
			break
		}
		if c+1 < len(s) && s[c+1].seq < s[c].seq {
			c++
		}
		if s[c].seq >= last.seq {
			break
		}
		s[i] = s[c]
		i = c
	}
	s[i] = last
	return top
}

func (h returnHeap) sorted() []entry {
	c := append(returnHeap(nil), h...)
	out := make([]entry, 0, len(c))
	for len(c) > 0 {
		out = append(out, c.pop())
	}
	return out
}
