package record

// A VHost is a virtual host without what is in it.
type VHost struct {
	Name, Description         string
	Tags                      []string
	DefaultQueueType          string
	HasLimits                 bool
	MaxConnections, MaxQueues int64
	HasProtection, Protected  bool
}

// An Exchange is a declared exchange.
type Exchange struct {
	Name, Type                    string
	Durable, AutoDelete, Internal bool
	User                          string // who declared it
	Arguments                     Fields
	Bound                         bool // it is auto-delete and has a binding, if only one that the log does not have
}

// A Queue is a declared queue. ID is its number, which no other queue of the log has, also none of the same name.
type Queue struct {
	ID         uint64
	Name, Type string
	AutoDelete bool
	User       string // who declared it
	Arguments  Fields
}

// A Binding leads from a source to a queue or an exchange. The queue has its ID here: a record that is heard again after another
// queue has the name is not about that one.
type Binding struct {
	Source      string
	Queue       uint64 // 0: it leads to an exchange
	Destination string // that exchange
	Key         string
	Arguments   Fields
}

// A Policy is one of users, or of operators.
type Policy struct {
	Operator               bool
	Name, Pattern, ApplyTo string
	Definition             Table
	Priority               float64
}

// A User is a user with the hash of the password.
type User struct {
	Name                        string
	Tags                        []string
	MaxConnections, MaxChannels int64
	Algorithm                   string
	Hash                        []byte
}

// A Permission is what a user may do in a virtual host.
type Permission struct{ User, VHost, Configure, Write, Read string }

// A TopicPermission is what a user may do at a topic exchange.
type TopicPermission struct{ User, VHost, Exchange, Write, Read string }

// A Parameter is a global parameter. Value is JSON; nil is null. One that is there keeps its place in the order: a new one
// stands behind its NoParameter.
type Parameter struct {
	Name  string
	Value []byte
}

func (c *coder) vhost(v *VHost) {
	c.text(&v.Name)
	c.text(&v.Description)
	c.texts(&v.Tags)
	c.text(&v.DefaultQueueType)
	c.flag(&v.HasLimits)
	c.int64(&v.MaxConnections)
	c.int64(&v.MaxQueues)
	c.flag(&v.HasProtection)
	c.flag(&v.Protected)
}

func (c *coder) exchange(x *Exchange) {
	c.text(&x.Name)
	c.text(&x.Type)
	c.flag(&x.Durable)
	c.flag(&x.AutoDelete)
	c.flag(&x.Internal)
	c.text(&x.User)
	c.fields(&x.Arguments)
	c.flag(&x.Bound)
}

func (c *coder) queue(q *Queue) {
	c.uint64(&q.ID)
	c.text(&q.Name)
	c.text(&q.Type)
	c.flag(&q.AutoDelete)
	c.text(&q.User)
	c.fields(&q.Arguments)
}

func (c *coder) binding(b *Binding) {
	c.text(&b.Source)
	c.uint64(&b.Queue)
	c.text(&b.Destination)
	c.text(&b.Key)
	c.fields(&b.Arguments)
}

func (c *coder) policy(p *Policy) {
	c.flag(&p.Operator)
	c.text(&p.Name)
	c.text(&p.Pattern)
	c.text(&p.ApplyTo)
	c.table(&p.Definition)
	c.float(&p.Priority)
}

func (c *coder) user(u *User) {
	c.text(&u.Name)
	c.texts(&u.Tags)
	c.int64(&u.MaxConnections)
	c.int64(&u.MaxChannels)
	c.text(&u.Algorithm)
	c.octets(&u.Hash)
}

func (c *coder) permission(p *Permission) {
	for _, s := range [...]*string{&p.User, &p.VHost, &p.Configure, &p.Write, &p.Read} {
		c.text(s)
	}
}

func (c *coder) topicPermission(p *TopicPermission) {
	for _, s := range [...]*string{&p.User, &p.VHost, &p.Exchange, &p.Write, &p.Read} {
		c.text(s)
	}
}

func (c *coder) parameter(p *Parameter) {
	c.text(&p.Name)
	c.octets(&p.Value)
}
