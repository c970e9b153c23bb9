package record

import "sync"

// An Item is one thing that an operation did, or that a snapshot has: a pointer to one of the types below. Each says what is,
// not what changed: to hear it twice is to hear it once.
//
// The virtual host of an item is the one that the last [In] before it names.
type Item interface {
	kind() uint8
	code(c *coder)
}

// In says in which virtual host is what follows.
type In struct{ VHost string }

// A Put is a message that a queue has taken, with everything that the queue knows of it. The message is the last [Message]
// before it in the operation.
type Put struct {
	Queue      uint64 // its ID
	Copy       uint64 // the number of the message's place, which orders the queue
	Deadline   int64  // ns since 1970; 0: never
	Deliveries uint32 // failed deliveries, kept through dead-lettering
	Returns    uint32 // how often it came back to the queue
	Charge     uint32 // octets of the log that the copy keeps alive
}

// Gone are copies that left their queues for good.
type Gone struct{ Copies []uint64 } // ascending

// A Turn is what has become of a copy since its queue took it: the last one counts.
type Turn struct {
	Copy                uint64
	Now                 State
	Deliveries, Returns uint32
	Behind              uint64 // AtTail: the copy behind which it stands. Held: orders those who have copies
	Order               uint64 // among those that turned, the later the larger
	Until               int64  // Delayed: ns since 1970, when it is ready again. Held: orders them, too, behind Reason
	Reason              string // Dying: how it died. Held: orders them, behind Behind
}

// A State says where a copy is.
type State uint8

// The states of copies. They stand in logs: a number is never used again.
const (
	InPlace  State = iota // it is ready, at the place of its number
	AtTail                // ready, behind those that were there
	Returned              // ready, behind those that came back before
	Held                  // somebody has it, and has to settle it
	Delayed               // it waits for its next delivery
	Over                  // it dies, because it was delivered too often
	Dying                 // it is a dead letter that its targets do not have
	states
)

// Killed says that the node was killed when a copy was the last one. Classic queues take all copies up to it that have not turned
// since for delivered.
type Killed struct{ Copy uint64 }

// Used says when a queue that expires was used last.
type Used struct {
	Queue uint64
	At    int64 // ns since 1970
}

// Gaps are, by priority, the copies that a stop of the node has lost in a classic queue before anybody had them: see rule R-15. 0: none.
type Gaps struct {
	Queue  uint64
	Copies []uint64
}

// A Node says whether the broker's node is up. If the last record of a log does not say that it is not, the node was killed.
type Node struct {
	Profile string
	Up      bool
}

// These say that something is no longer there.
type (
	NoVHost    struct{ Name string }
	NoExchange struct{ Name string }
	NoQueue    struct{ ID uint64 }
	NoBinding  struct{ Binding }
	NoPolicy   struct {
		Operator bool
		Name     string
	}
	NoUser            struct{ Name string }
	NoPermission      struct{ User, VHost string }           // no user: of any
	NoTopicPermission struct{ User, VHost, Exchange string } // no user: of any; no exchange: at any
	NoParameter       struct{ Name string }
)

// Numbers are the last that were given to a copy and to a queue, so that none is given twice.
type Numbers struct{ Copy, Queue uint64 }

// makers make an empty item of each type. The index is the octet that names the type. It stands in logs: a number is
// never used again.
var makers = [...]func() Item{
	1:  func() Item { return new(In) },
	2:  func() Item { return new(Message) },
	3:  func() Item { return new(Put) },
	4:  func() Item { return new(Gone) },
	5:  func() Item { return new(Turn) },
	6:  func() Item { return new(Node) },
	7:  func() Item { return new(Killed) },
	8:  func() Item { return new(Numbers) },
	9:  func() Item { return new(Used) },
	10: func() Item { return new(Gaps) },
	16: func() Item { return new(VHost) },
	17: func() Item { return new(NoVHost) },
	18: func() Item { return new(Exchange) },
	19: func() Item { return new(NoExchange) },
	20: func() Item { return new(Queue) },
	21: func() Item { return new(NoQueue) },
	22: func() Item { return new(Binding) },
	23: func() Item { return new(NoBinding) },
	24: func() Item { return new(Policy) },
	25: func() Item { return new(NoPolicy) },
	32: func() Item { return new(User) },
	33: func() Item { return new(NoUser) },
	34: func() Item { return new(Permission) },
	35: func() Item { return new(NoPermission) },
	36: func() Item { return new(TopicPermission) },
	37: func() Item { return new(NoTopicPermission) },
	38: func() Item { return new(Parameter) },
	39: func() Item { return new(NoParameter) },
}

func (*In) kind() uint8                { return 1 }
func (*Message) kind() uint8           { return 2 }
func (*Put) kind() uint8               { return 3 }
func (*Gone) kind() uint8              { return 4 }
func (*Turn) kind() uint8              { return 5 }
func (*Node) kind() uint8              { return 6 }
func (*Killed) kind() uint8            { return 7 }
func (*Numbers) kind() uint8           { return 8 }
func (*Used) kind() uint8              { return 9 }
func (*Gaps) kind() uint8              { return 10 }
func (*VHost) kind() uint8             { return 16 }
func (*NoVHost) kind() uint8           { return 17 }
func (*Exchange) kind() uint8          { return 18 }
func (*NoExchange) kind() uint8        { return 19 }
func (*Queue) kind() uint8             { return 20 }
func (*NoQueue) kind() uint8           { return 21 }
func (*Binding) kind() uint8           { return 22 }
func (*NoBinding) kind() uint8         { return 23 }
func (*Policy) kind() uint8            { return 24 }
func (*NoPolicy) kind() uint8          { return 25 }
func (*User) kind() uint8              { return 32 }
func (*NoUser) kind() uint8            { return 33 }
func (*Permission) kind() uint8        { return 34 }
func (*NoPermission) kind() uint8      { return 35 }
func (*TopicPermission) kind() uint8   { return 36 }
func (*NoTopicPermission) kind() uint8 { return 37 }
func (*Parameter) kind() uint8         { return 38 }
func (*NoParameter) kind() uint8       { return 39 }

// Append appends an item to an operation or a snapshot. A value of a type that no header has panics.
func Append(buf []byte, item Item) []byte {
	c := writers.Get().(*coder)
	c.buf = append(buf, item.kind())
	item.code(c)
	buf, c.buf = c.buf, nil
	writers.Put(c)
	return buf
}

// writers are coders that write. A coder escapes: with a new one for each item BenchmarkPut has two allocations.
var writers = sync.Pool{New: func() any { return new(coder) }}

// Items yields the items of an operation or a snapshot. The error, which comes last, is [ErrMalformed].
func Items(data []byte) func(yield func(Item, error) bool) {
	return func(yield func(Item, error) bool) {
		c := coder{reading: true, buf: data}
		c.items(yield)
	}
}

func (c *coder) items(yield func(Item, error) bool) {
	for len(c.buf) > 0 {
		kind := c.take(1)[0]
		if int(kind) >= len(makers) || makers[kind] == nil {
			yield(nil, ErrMalformed)
			return
		}
		item := c.item(kind)
		item.code(c)
		if c.bad {
			yield(nil, ErrMalformed)
			return
		}
		if !yield(item, nil) {
			return
		}
	}
}

func (i *In) code(c *coder)              { c.text(&i.VHost) }
func (m *Message) code(c *coder)         { c.message(m) }
func (v *VHost) code(c *coder)           { c.vhost(v) }
func (x *Exchange) code(c *coder)        { c.exchange(x) }
func (q *Queue) code(c *coder)           { c.queue(q) }
func (b *Binding) code(c *coder)         { c.binding(b) }
func (p *Policy) code(c *coder)          { c.policy(p) }
func (u *User) code(c *coder)            { c.user(u) }
func (p *Permission) code(c *coder)      { c.permission(p) }
func (p *TopicPermission) code(c *coder) { c.topicPermission(p) }
func (p *Parameter) code(c *coder)       { c.parameter(p) }
func (n *NoVHost) code(c *coder)         { c.text(&n.Name) }
func (n *NoExchange) code(c *coder)      { c.text(&n.Name) }
func (n *NoQueue) code(c *coder)         { c.uint64(&n.ID) }
func (n *NoBinding) code(c *coder)       { c.binding(&n.Binding) }
func (n *NoUser) code(c *coder)          { c.text(&n.Name) }
func (n *NoParameter) code(c *coder)     { c.text(&n.Name) }

func (n *NoPolicy) code(c *coder) {
	c.flag(&n.Operator)
	c.text(&n.Name)
}

func (n *NoPermission) code(c *coder) {
	c.text(&n.User)
	c.text(&n.VHost)
}

func (n *NoTopicPermission) code(c *coder) {
	c.text(&n.User)
	c.text(&n.VHost)
	c.text(&n.Exchange)
}

func (p *Put) code(c *coder) {
	c.uint64(&p.Queue)
	c.uint64(&p.Copy)
	c.int64(&p.Deadline)
	unsigned(c, &p.Deliveries)
	unsigned(c, &p.Returns)
	unsigned(c, &p.Charge)
}

// Copies are written as distances, most of which are 1.
func (g *Gone) code(c *coder) {
	last := uint64(0)
	list(c, &g.Copies, func(c *coder, copy *uint64) {
		step := *copy - last
		c.uint64(&step)
		if last += step; c.reading {
			*copy = last
		}
	})
}

func (t *Turn) code(c *coder) {
	c.uint64(&t.Copy)
	unsigned(c, &t.Now)
	unsigned(c, &t.Deliveries)
	unsigned(c, &t.Returns)
	c.uint64(&t.Behind)
	c.uint64(&t.Order)
	c.int64(&t.Until)
	c.text(&t.Reason)
	if c.reading && t.Now >= states {
		c.fail()
	}
}

func (k *Killed) code(c *coder) { c.uint64(&k.Copy) }

func (u *Used) code(c *coder) {
	c.uint64(&u.Queue)
	c.int64(&u.At)
}

func (g *Gaps) code(c *coder) {
	c.uint64(&g.Queue)
	list(c, &g.Copies, func(c *coder, copy *uint64) { c.uint64(copy) })
}

func (n *Node) code(c *coder) {
	c.text(&n.Profile)
	c.flag(&n.Up)
}

func (n *Numbers) code(c *coder) {
	c.uint64(&n.Copy)
	c.uint64(&n.Queue)
}
