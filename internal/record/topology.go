package record

// A VHost is a virtual host without what is in it.
type VHost struct {
	Name, Description         string
	Tags                      []string
	DefaultQueueType          string
	MaxConnections, MaxQueues int64
}

// An Exchange is a declared exchange.
type Exchange struct {
	Name, Type                    string
	Durable, AutoDelete, Internal bool
	Arguments                     Fields
}

// A Queue is a declared queue. ID is its number, which no other queue of the log has, also none of the same name.
type Queue struct {
	ID         uint64
	Name       string
	AutoDelete bool
	Arguments  Fields
}

// A Binding leads from a source to a queue or an exchange.
type Binding struct {
	Source, Destination string
	ToQueue             bool
	Key                 string
	Arguments           Fields
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

// A Parameter is a global parameter. Value is JSON; nil is null.
type Parameter struct {
	Name  string
	Value []byte
}

func (c *coder) vhost(v *VHost) {
	c.text(&v.Name)
	c.text(&v.Description)
	c.texts(&v.Tags)
	c.text(&v.DefaultQueueType)
	c.int64(&v.MaxConnections)
	c.int64(&v.MaxQueues)
}

func (c *coder) exchange(x *Exchange) {
	c.text(&x.Name)
	c.text(&x.Type)
	c.flag(&x.Durable)
	c.flag(&x.AutoDelete)
	c.flag(&x.Internal)
	c.fields(&x.Arguments)
}

func (c *coder) queue(q *Queue) {
	c.uint64(&q.ID)
	c.text(&q.Name)
	c.flag(&q.AutoDelete)
	c.fields(&q.Arguments)
}

func (c *coder) binding(b *Binding) {
	c.text(&b.Source)
	c.text(&b.Destination)
	c.flag(&b.ToQueue)
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
