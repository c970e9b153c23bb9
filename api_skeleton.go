package leveret

// This file is a scaffold: the signatures of everything exported, to compile against while the engine is being
// written. Every declaration moves to the file that design.md names and gets its real body.

import (
	"context"
	"iter"
	"time"
)

type Option func(*Broker)

func WithClock(c Clock) Option        { panic("todo") }
func WithProfile(p Profile) Option    { panic("todo") }
func WithEvents(e *Events) Option     { panic("todo") }
func WithSeed(seed uint64) Option     { panic("todo") } // generated names and every random choice
func WithMemoryLimit(n int64) Option  { panic("todo") } // bytes of message bodies; 0: none
func WithMaxMessageSize(n int) Option { panic("todo") }

// time
type Clock interface {
	Now() time.Time
	AfterFunc(d time.Duration, f func()) Timer
}
type Timer interface{ Stop() bool }
type ManualClock struct{}

func NewManualClock(start time.Time) *ManualClock                { panic("todo") }
func (c *ManualClock) Now() time.Time                            { panic("todo") }
func (c *ManualClock) AfterFunc(d time.Duration, f func()) Timer { panic("todo") }
func (c *ManualClock) Advance(d time.Duration)                   { panic("todo") }

type Events struct{} // struct of optional funcs; see events.go later

// Broker
type Broker struct{ *vhost }

// vhost is VHost under a name that, embedded, leaves Broker.VHost free.
type vhost = VHost

func New(opts ...Option) *Broker                                      { panic("todo") }
func (b *Broker) Close() error                                        { panic("todo") }
func (b *Broker) Profile() Profile                                    { panic("todo") }
func (b *Broker) CreateVHost(name string) (*VHost, error)             { panic("todo") }
func (b *Broker) VHost(name string) (*VHost, error)                   { panic("todo") }
func (b *Broker) DeleteVHost(name string) error                       { panic("todo") }
func (b *Broker) VHosts() []VHostInfo                                 { panic("todo") }
func (b *Broker) AddUser(name, password string, tags ...string) error { panic("todo") }
func (b *Broker) DeleteUser(name string) error                        { panic("todo") }
func (b *Broker) SetUserTags(name string, tags ...string) error       { panic("todo") }
func (b *Broker) ChangePassword(name, password string) error          { panic("todo") }
func (b *Broker) SetUserLimits(name string, l UserLimits) error       { panic("todo") }
func (b *Broker) Users() []UserInfo                                   { panic("todo") }
func (b *Broker) Authenticate(user, password string) error            { panic("todo") } // nil, or *Error 403 (Connection set)
func (b *Broker) Connect(user, password, vhost string) (*Conn, error) { panic("todo") } // Authenticate + Open
func (b *Broker) Open(cfg ConnConfig) (*Conn, error)                  { panic("todo") } // user already authenticated
func (b *Broker) Connections() []ConnInfo                             { panic("todo") } // all vhosts
func (b *Broker) CloseConnection(id uint64, reason string) error      { panic("todo") } // 320 CONNECTION_FORCED - reason
func (b *Broker) NextDeadline() (time.Time, bool)                     { panic("todo") }
func (b *Broker) Settle()                                             { panic("todo") }
func (b *Broker) SetMemoryLimit(n int64)                              { panic("todo") } // 0: none
func (b *Broker) Memory() MemoryInfo                                  { panic("todo") }
func (b *Broker) Counters() Counters                                  { panic("todo") }
func (b *Broker) Check() error                                        { panic("todo") } // invariants
func (b *Broker) ExportDefinitions() ([]byte, error)                  { panic("todo") }
func (b *Broker) ImportDefinitions(data []byte) error                 { panic("todo") }

type MemoryInfo struct {
	Used, Limit int64
	Alarm       bool
}
type Counters struct{ Published, Confirmed, Routed, UnroutableDropped, UnroutableReturned uint64 } // more later
type UserLimits struct{ MaxConnections, MaxChannels int }                                          // -1 or 0... nil semantics later
type UserInfo struct {
	Name string
	Tags []string
}
type Permissions struct{ Configure, Write, Read string }
type TopicPermissions struct{ Write, Read string }
type PermissionInfo struct {
	User, VHost string
	Permissions
}
type TopicPermissionInfo struct {
	User, VHost, Exchange string
	TopicPermissions
}
type VHostInfo struct {
	Name             string
	Description      string
	Tags             []string
	DefaultQueueType string
	Limits           VHostLimits
}
type VHostLimits struct{ MaxConnections, MaxQueues int }

// VHost: calls act as an internal superuser.
type VHost struct{}

func (v *VHost) Name() string { panic("todo") }
func (v *VHost) DeclareExchange(name string, kind ExchangeType, cfg ExchangeConfig) (*Exchange, error) {
	panic("todo")
}
func (v *VHost) Exchange(name string) (*Exchange, error)                             { panic("todo") }
func (v *VHost) DeleteExchange(name string, cfg DeleteConfig) error                  { panic("todo") }
func (v *VHost) BindExchange(destination, source, key string, args Table) error      { panic("todo") }
func (v *VHost) UnbindExchange(destination, source, key string, args Table) error    { panic("todo") }
func (v *VHost) DeclareQueue(name string, cfg QueueConfig) (*Queue, error)           { panic("todo") }
func (v *VHost) Queue(name string) (*Queue, error)                                   { panic("todo") }
func (v *VHost) DeleteQueue(name string, cfg DeleteConfig) (int, error)              { panic("todo") }
func (v *VHost) PurgeQueue(name string) (int, error)                                 { panic("todo") }
func (v *VHost) BindQueue(queue, exchange, key string, args Table) error             { panic("todo") }
func (v *VHost) UnbindQueue(queue, exchange, key string, args Table) error           { panic("todo") }
func (v *VHost) Publish(exchange, key string, m Message) (Outcome, error)            { panic("todo") }
func (v *VHost) SetPolicy(p Policy) error                                            { panic("todo") }
func (v *VHost) ClearPolicy(name string) error                                       { panic("todo") }
func (v *VHost) SetOperatorPolicy(p Policy) error                                    { panic("todo") }
func (v *VHost) ClearOperatorPolicy(name string) error                               { panic("todo") }
func (v *VHost) Policies() []Policy                                                  { panic("todo") }
func (v *VHost) OperatorPolicies() []Policy                                          { panic("todo") }
func (v *VHost) SetPermissions(user string, p Permissions) error                     { panic("todo") }
func (v *VHost) ClearPermissions(user string) error                                  { panic("todo") }
func (v *VHost) SetTopicPermissions(user, exchange string, p TopicPermissions) error { panic("todo") }
func (v *VHost) ClearTopicPermissions(user, exchange string) error                   { panic("todo") } // exchange "": all
func (v *VHost) Permissions() []PermissionInfo                                       { panic("todo") }
func (v *VHost) TopicPermissions() []TopicPermissionInfo                             { panic("todo") }
func (v *VHost) SetLimits(l VHostLimits) error                                       { panic("todo") }
func (v *VHost) SetDefaultQueueType(t string) error                                  { panic("todo") }
func (v *VHost) SetMetadata(description string, tags ...string) error                { panic("todo") }
func (v *VHost) Queues() []QueueInfo                                                 { panic("todo") }
func (v *VHost) Exchanges() []ExchangeInfo                                           { panic("todo") }
func (v *VHost) Bindings() []BindingInfo                                             { panic("todo") }
func (v *VHost) Consumers() []ConsumerInfo                                           { panic("todo") }
func (v *VHost) Connections() []ConnInfo                                             { panic("todo") }
func (v *VHost) ExportDefinitions() ([]byte, error)                                  { panic("todo") }
func (v *VHost) ImportDefinitions(data []byte) error                                 { panic("todo") }

type ExchangeType string

const (
	Direct      ExchangeType = "direct"
	Fanout      ExchangeType = "fanout"
	Topic       ExchangeType = "topic"
	Headers     ExchangeType = "headers"
	LocalRandom ExchangeType = "x-local-random"
	ModulusHash ExchangeType = "x-modulus-hash"
)

type ExchangeConfig struct {
	Durable, AutoDelete, Internal bool
	Arguments                     Table
}
type QueueConfig struct {
	Durable, Exclusive, AutoDelete bool
	Arguments                      Table
	NoWait                         bool // the client expects no declare-ok: a redeclare does not restart x-expires
}
type DeleteConfig struct{ IfUnused, IfEmpty bool } // IfEmpty: queues only

type Exchange struct{}

func (x *Exchange) Name() string       { panic("todo") }
func (x *Exchange) Info() ExchangeInfo { panic("todo") }

type Queue struct{}

func (q *Queue) Name() string                                 { panic("todo") }
func (q *Queue) Get() (*Delivery, bool, error)                { panic("todo") }
func (q *Queue) Consume(cfg ConsumeConfig) (*Consumer, error) { panic("todo") }
func (q *Queue) Purge() (int, error)                          { panic("todo") }
func (q *Queue) Delete(cfg DeleteConfig) (int, error)         { panic("todo") }
func (q *Queue) Effective() Effective                         { panic("todo") }
func (q *Queue) Info() QueueInfo                              { panic("todo") }
func (q *Queue) Messages() []MessageInfo                      { panic("todo") }

type QueueInfo struct {
	Name                            string
	VHost                           string
	Type                            string // "classic", "quorum"
	Durable                         bool
	AutoDelete                      bool
	Exclusive                       bool
	Owner                           uint64 // connection id, for exclusive queues
	Arguments                       Table
	Ready, Unacked, Messages        int // Messages counts delayed and pending dead letters too
	Bytes, BytesReady, BytesUnacked int64
	Consumers                       int
	SingleActiveConsumer            string // tag
	Policy, OperatorPolicy          string
	EffectivePolicy                 Table
	HeadDeadline                    time.Time // zero: none
}
type ExchangeInfo struct {
	Name, VHost                   string
	Type                          ExchangeType
	Durable, AutoDelete, Internal bool
	Arguments                     Table
	Policy                        string
}
type BindingInfo struct {
	VHost, Source, Destination string
	DestinationType            string // "queue", "exchange"
	RoutingKey                 string
	Arguments                  Table
}
type ConsumerInfo struct {
	VHost, Queue, Tag string
	Conn              uint64
	Channel           uint16
	AckRequired       bool
	Exclusive         bool
	Prefetch          int
	Active            bool
	Priority          int64
	Arguments         Table
}
type ConnInfo struct {
	ID                uint64
	Name, User, VHost string
	ClientProperties  Table
	ConnectedAt       time.Time
	Channels          []ChannelInfo
	Blocked           bool
}
type ChannelInfo struct {
	Number                                    uint16
	Consumers                                 int
	Unacked                                   int
	Prefetch                                  int
	Confirm, Tx                               bool
	Unconfirmed, Uncommitted, AcksUncommitted int
}
type MessageInfo struct {
	Exchange, RoutingKey string
	*Properties
	Body     []byte
	Unacked  bool
	Deadline time.Time
	Deaths   []Death
}

// Sessions. Everything a remote client can do goes through Conn and Channel. All methods return *Error; a
// channel-level error has closed the channel, a connection-level one the connection, by the time it is returned.
type ConnConfig struct {
	User, VHost      string
	Name             string // as list_connections shows it: "127.0.0.1:50000 -> 127.0.0.1:5672"
	ClientProperties Table
	CancelNotify     bool   // the client announced consumer_cancel_notify
	ChannelMax       int    // 0: 2047
	Inbox            *Inbox // where the connection's notifications go; nil: consumers have inboxes of their own
}
type Conn struct{}

func (c *Conn) ID() uint64                                  { panic("todo") }
func (c *Conn) User() string                                { panic("todo") }
func (c *Conn) VHost() *VHost                               { panic("todo") }
func (c *Conn) Channel() (*Channel, error)                  { panic("todo") }
func (c *Conn) OpenChannel(number uint16) (*Channel, error) { panic("todo") }
func (c *Conn) Close() error                                { panic("todo") } // returns when exclusive queues are gone and messages requeued
func (c *Conn) Done() <-chan struct{}                       { panic("todo") } // closed when the connection has ended, also by the broker
func (c *Conn) Err() error                                  { panic("todo") } // why it ended

type Channel struct{}

func (ch *Channel) Number() uint16 { panic("todo") }
func (ch *Channel) Close() error   { panic("todo") }
func (ch *Channel) DeclareExchange(name string, kind ExchangeType, cfg ExchangeConfig) error {
	panic("todo")
}
func (ch *Channel) CheckExchange(name string) error                                  { panic("todo") } // passive declare
func (ch *Channel) DeleteExchange(name string, cfg DeleteConfig) error               { panic("todo") }
func (ch *Channel) BindExchange(destination, source, key string, args Table) error   { panic("todo") }
func (ch *Channel) UnbindExchange(destination, source, key string, args Table) error { panic("todo") }
func (ch *Channel) DeclareQueue(name string, cfg QueueConfig) (QueueState, error)    { panic("todo") }
func (ch *Channel) CheckQueue(name string) (QueueState, error)                       { panic("todo") } // passive declare
func (ch *Channel) DeleteQueue(name string, cfg DeleteConfig) (int, error)           { panic("todo") }
func (ch *Channel) PurgeQueue(name string) (int, error)                              { panic("todo") }
func (ch *Channel) BindQueue(queue, exchange, key string, args Table) error          { panic("todo") }
func (ch *Channel) UnbindQueue(queue, exchange, key string, args Table) error        { panic("todo") }

// Publish: Outcome tells everything a client is to be told: first Return (basic.return), then, on a confirming
// channel, ack or nack (Rejected) of Sequence. In a transaction all of that comes from Commit.
func (ch *Channel) Publish(exchange, key string, m Message) (Outcome, error)   { panic("todo") }
func (ch *Channel) Get(queue string, cfg GetConfig) (*Delivery, bool, error)   { panic("todo") }
func (ch *Channel) Consume(queue string, cfg ConsumeConfig) (*Consumer, error) { panic("todo") }
func (ch *Channel) Cancel(tag string) error                                    { panic("todo") }
func (ch *Channel) Ack(tag uint64, multiple bool) error                        { panic("todo") }
func (ch *Channel) Nack(tag uint64, multiple, requeue bool) error              { panic("todo") }
func (ch *Channel) Reject(tag uint64, requeue bool) error                      { panic("todo") }
func (ch *Channel) Recover(requeue bool) error                                 { panic("todo") }
func (ch *Channel) Qos(cfg QosConfig) error                                    { panic("todo") }
func (ch *Channel) Confirm() error                                             { panic("todo") }
func (ch *Channel) Tx() error                                                  { panic("todo") }
func (ch *Channel) Commit() ([]*Return, error)                                 { panic("todo") }
func (ch *Channel) Rollback() error                                            { panic("todo") }
func (ch *Channel) Flow(active bool) error                                     { panic("todo") }

type QueueState struct {
	Name                string
	Messages, Consumers int // ready messages
}
type QosConfig struct {
	PrefetchCount int
	PrefetchSize  uint32
	Global        bool
}
type GetConfig struct {
	NoAck       bool
	LazyHeaders bool // leave Delivery.Headers as published; HeaderFields and Deaths render the broker's on demand
}
type ConsumeConfig struct {
	Tag         string
	NoAck       bool
	Exclusive   bool
	Arguments   Table
	Prefetch    int // 0: what the channel's Qos says
	LazyHeaders bool
	Handler     func(*Delivery) // called in order after the lock is released; nil: Deliveries
}
type Consumer struct{}

func (c *Consumer) Tag() string                                        { panic("todo") }
func (c *Consumer) Cancel() error                                      { panic("todo") }
func (c *Consumer) Deliveries(ctx context.Context) iter.Seq[*Delivery] { panic("todo") }
func (c *Consumer) Receive(ctx context.Context) (*Delivery, error)     { panic("todo") }

// An Inbox collects what a connection's client is to be told without having asked, in order, for any number of
// consumers. When it holds more than its limit, its consumers get nothing more until it is taken.
type Inbox struct{}
type InboxConfig struct {
	MaxDeliveries int // 0: no limit
	MaxBytes      int // bytes of bodies; 0: no limit
}

func NewInbox(cfg InboxConfig) *Inbox                    { panic("todo") }
func (in *Inbox) Ready() <-chan struct{}                 { panic("todo") } // receives after something was put in
func (in *Inbox) Take(buf []Notification) []Notification { panic("todo") } // appends all there is to buf

type NotificationKind uint8

const (
	Delivered         NotificationKind = iota // Delivery
	ConsumerCancelled                         // ConsumerTag (server-sent basic.cancel)
	ChannelClosed                             // Err (server-sent channel.close, class and method 0)
	ConnClosed                                // Err (server-sent connection.close)
	ConnBlocked                               // Reason: connection.blocked
	ConnUnblocked
)

type Notification struct {
	Kind        NotificationKind
	Channel     *Channel
	Delivery    *Delivery
	ConsumerTag string
	Err         *Error
	Reason      string
}

type Delivery struct {
	Exchange     string
	RoutingKey   string
	ConsumerTag  string
	DeliveryTag  uint64
	Redelivered  bool
	MessageCount int // ready messages that remain, for Get
	*Properties      // never nil; shared, read only
	Body         []byte
}

func (d *Delivery) Ack() error                { panic("todo") }
func (d *Delivery) Nack(requeue bool) error   { panic("todo") }
func (d *Delivery) Reject(requeue bool) error { panic("todo") }
func (d *Delivery) Deaths() []Death           { panic("todo") }
func (d *Delivery) HeaderFields() Fields      { panic("todo") } // all headers, the broker's included, in wire order; nil: absent

type Death struct {
	Queue              string
	Reason             Reason
	Count              int64
	Time               time.Time
	Exchange           string
	RoutingKeys        []string
	OriginalExpiration string
}
type Reason string

const (
	Rejected      Reason = "rejected"
	Expired       Reason = "expired"
	MaxLength     Reason = "maxlen"
	DeliveryLimit Reason = "delivery_limit"
)

// Policy
type ApplyTo string

const (
	ApplyToAll           ApplyTo = "all"
	ApplyToQueues        ApplyTo = "queues"
	ApplyToExchanges     ApplyTo = "exchanges"
	ApplyToClassicQueues ApplyTo = "classic_queues"
	ApplyToQuorumQueues  ApplyTo = "quorum_queues"
	ApplyToStreams       ApplyTo = "streams"
)

type Policy struct {
	Name, Pattern string
	ApplyTo       ApplyTo // "": all
	Definition    Table
	Priority      float64
}

// Argument names
const (
	ArgMessageTTL           = "x-message-ttl"
	ArgExpires              = "x-expires"
	ArgDeadLetterExchange   = "x-dead-letter-exchange"
	ArgDeadLetterRoutingKey = "x-dead-letter-routing-key"
	ArgDeadLetterStrategy   = "x-dead-letter-strategy"
	ArgMaxLength            = "x-max-length"
	ArgMaxLengthBytes       = "x-max-length-bytes"
	ArgOverflow             = "x-overflow"
	ArgMaxPriority          = "x-max-priority"
	ArgSingleActiveConsumer = "x-single-active-consumer"
	ArgQueueType            = "x-queue-type"
	ArgDeliveryLimit        = "x-delivery-limit"
	ArgConsumerTimeout      = "x-consumer-timeout"
	ArgDelayedRetryType     = "x-delayed-retry-type"
	ArgDelayedRetryMin      = "x-delayed-retry-min"
	ArgDelayedRetryMax      = "x-delayed-retry-max"
	ArgAlternateExchange    = "alternate-exchange"
	ArgConsumerPriority     = "x-priority"
)
