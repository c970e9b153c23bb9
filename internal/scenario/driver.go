package scenario

import (
	"time"

	"github.com/leveretmq/leveret"
)

// A Driver runs scripts on a broker through one API: Go's, or AMQP. The broker has an empty virtual host for
// the run. What the broker refuses is a *leveret.Error with the code and reason that a client sees. Any other
// error means that the run itself failed.
type Driver interface {
	Kind() string // how the head of a script names it (driver:): go or amqp
	Profile() leveret.Profile

	// Connect opens a connection. An empty User is the administrator guest, an empty VHost the run's own.
	Connect(Login) (Conn, error)

	// Advance lets time pass: virtually, or by waiting.
	Advance(d time.Duration)

	// Now is the broker's time.
	Now() time.Time

	// MaxDelay is how long an effect may take to become visible; 0: all effects are there when a call returns.
	MaxDelay() time.Duration

	// VHost is the name of the run's virtual host in reply texts.
	VHost() string

	Admin

	// In returns the operator of another virtual host, which need not be there yet.
	In(vhost string) Admin

	Close() error
}

// A Restarter is a Driver that can restart its broker. Restart returns when the broker takes connections again. A broker with
// virtual time is down for exactly the time given, another one for at least so long.
type Restarter interface {
	Restart(killed bool, down time.Duration) error
}

// Admin is what an operator does from outside AMQP.
type Admin interface {
	CreateVHost() error // with all permissions for the administrator
	DeleteVHost() error
	DeleteUser(name string) error
	SetPolicy(p leveret.Policy, operator bool) error
	ClearPolicy(name string, operator bool) error
	AddUser(name, password string, tags []string) error
	SetPermissions(user string, p leveret.Permissions) error
	ClearPermissions(user string) error

	// SetTopicPermissions refuses with the engine's code, and with the exchange's name if that is missing.
	SetTopicPermissions(user, exchange string, p leveret.TopicPermissions) error

	SetVHostLimits(leveret.VHostLimits) error
	SetUserLimits(user string, l leveret.UserLimits) error
	SetDefaultQueueType(string) error
	Import(definitions string) error
	Export() ([]byte, error)
	Queue(name string) (QueueView, error)
	VHostLimits() (leveret.VHostLimits, error)
	Consumers(queue string) ([]ConsumerView, error)
}

// A QueueView is what an operator sees of a queue.
type QueueView struct {
	Type            string
	Arguments       leveret.Table
	Policy          string
	OperatorPolicy  string
	EffectivePolicy leveret.Table
	SingleActive    string
}

// A ConsumerView is what an operator sees of a consumer.
type ConsumerView struct {
	Tag       string
	Arguments leveret.Fields
}

// A Login is how to connect.
type Login struct {
	User, Password, VHost string
	NoCancelNotify        bool // without the capability consumer_cancel_notify
	ChannelMax            int
}

// A Conn is one client's connection.
type Conn interface {
	Channel() (Channel, error)
	Close() error
	Kill() error // cuts the connection, without connection.close
	UpdateSecret() error
	Err() error // why the broker ended the connection; nil: it is open, or the client has closed it
}

// Framed is a Conn that leads over a network and knows what the broker sent, each frame written with all its fields and
// types.
type Framed interface {
	Frames() []string
}

// A Channel is one channel of a client. Every method returns when the broker has dealt with it.
type Channel interface {
	Close() error
	DeclareExchange(name string, kind leveret.ExchangeType, cfg leveret.ExchangeConfig) error
	CheckExchange(name string) error
	DeleteExchange(name string, cfg leveret.DeleteConfig) error
	Bind(leveret.Binding) error
	Unbind(leveret.Binding) error
	DeclareQueue(name string, cfg leveret.QueueConfig) (leveret.QueueState, error)
	CheckQueue(name string) (leveret.QueueState, error)
	DeleteQueue(name string, cfg leveret.DeleteConfig) (int, error)
	PurgeQueue(name string) (int, error)
	Publish(exchange, key string, m leveret.Message) (Published, error)
	// PublishTogether publishes all messages before it waits for the first confirm. It tells of confirms, not of returns.
	PublishTogether(exchange, key string, messages []leveret.Message) ([]Published, error)
	Get(queue string, noAck bool) (*Delivery, error) // nil: empty
	Consume(queue string, cfg leveret.ConsumeConfig) (tag string, err error)
	Cancel(tag string) error
	Ack(tag uint64, multiple bool) error
	Nack(tag uint64, multiple, requeue bool) error
	Reject(tag uint64, requeue bool) error
	Recover(requeue bool) error
	Qos(leveret.QosConfig) error
	Confirm() error
	Tx() error
	Commit() ([]*leveret.Return, error)
	Rollback() error
	Flow(active bool) error

	// Take returns what the broker sent unasked since the last call: deliveries and consumer cancellations.
	Take() []Event
	Err() error // why the broker closed the channel; nil: it is open, or the client has closed it

	// NoWait has the next request ask for no answer, where AMQP lets it.
	NoWait()
}

// Published is what the broker answers to a publish.
type Published struct {
	Return  *leveret.Return
	Confirm string // ack or nack; empty: the channel has no confirms
}

// A Delivery is a message as a consumer gets it. Its headers are in the order in which the broker sends them.
type Delivery struct {
	Exchange, RoutingKey string
	ConsumerTag          string
	Tag                  uint64
	Redelivered          bool
	MessageCount         int
	Properties           *leveret.Properties // Headers are in Fields
	Fields               leveret.Fields      // nil: no headers
	Body                 []byte
}

// An Event is something the broker sent unasked.
type Event struct {
	Delivery  *Delivery
	Cancelled string // a consumer that the broker cancelled
}
