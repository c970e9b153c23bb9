package record

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

// Gone are messages that left a queue for good.
type Gone struct {
	Queue  uint64
	Copies []uint64 // ascending
}

// A Back is a message that came back to its queue.
type Back struct {
	Queue, Copy         uint64
	Deliveries, Returns uint32
	Place               uint64 // its number among those that came back; 0: it has its old position
	Until               int64  // ns since 1970, when a delayed retry ends; 0: none
}

// An Out is a message of which a queue has to remember that somebody holds it.
type Out struct{ Queue, Copy uint64 }

// A Pending is a dead letter that not all of its targets have.
type Pending struct {
	Queue, Copy uint64
	Reason      string
	Died        int64    // when it was first tried, in seconds since 1970; 0: not yet
	Confirmed   []uint64 // IDs of the queues that have it
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
	NoPermission      struct{ User, VHost string }
	NoTopicPermission struct{ User, VHost, Exchange string } // no exchange: none at any
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
	5:  func() Item { return new(Back) },
	6:  func() Item { return new(Out) },
	7:  func() Item { return new(Pending) },
	8:  func() Item { return new(Numbers) },
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
func (*Back) kind() uint8              { return 5 }
func (*Out) kind() uint8               { return 6 }
func (*Pending) kind() uint8           { return 7 }
func (*Numbers) kind() uint8           { return 8 }
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
	c := coder{buf: append(buf, item.kind())}
	item.code(&c)
	return c.buf
}

// Items yields the items of an operation or a snapshot. The error, which comes last, is [ErrMalformed].
func Items(data []byte) func(yield func(Item, error) bool) {
	return func(yield func(Item, error) bool) {
		c := coder{reading: true, buf: data}
		for len(c.buf) > 0 {
			kind := c.take(1)[0]
			if int(kind) >= len(makers) || makers[kind] == nil {
				yield(nil, ErrMalformed)
				return
			}
			item := makers[kind]()
			item.code(&c)
			if c.bad {
				yield(nil, ErrMalformed)
				return
			}
			if !yield(item, nil) {
				return
			}
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
	c.uint64(&g.Queue)
	last := uint64(0)
	list(c, &g.Copies, func(c *coder, copy *uint64) {
		step := *copy - last
		c.uint64(&step)
		if last += step; c.reading {
			*copy = last
		}
	})
}

func (b *Back) code(c *coder) {
	c.uint64(&b.Queue)
	c.uint64(&b.Copy)
	unsigned(c, &b.Deliveries)
	unsigned(c, &b.Returns)
	c.uint64(&b.Place)
	c.int64(&b.Until)
}

func (o *Out) code(c *coder) {
	c.uint64(&o.Queue)
	c.uint64(&o.Copy)
}

func (p *Pending) code(c *coder) {
	c.uint64(&p.Queue)
	c.uint64(&p.Copy)
	c.text(&p.Reason)
	c.int64(&p.Died)
	list(c, &p.Confirmed, (*coder).uint64)
}

func (n *Numbers) code(c *coder) {
	c.uint64(&n.Copy)
	c.uint64(&n.Queue)
}
