package leveret

import (
	"math"
	"time"
)

// What descriptions have. The functions that make them stand in inspect.go; what differs from the fields in JSON, in
// infojson.go.

// VHostInfo describes a virtual host.
type VHostInfo struct {
	Name             string      `json:"name"`
	Description      string      `json:"description"`
	Tags             []string    `json:"tags"`
	DefaultQueueType QueueType   `json:"default_queue_type"` // of queues declared without x-queue-type
	Limits           VHostLimits `json:"limits"`
	HasLimits        bool        `json:"-"`                       // limits were set, if only to none, and not cleared since
	Protected        bool        `json:"protected_from_deletion"` // Broker.DeleteVHost refuses
	HasProtection    bool        `json:"-"`                       // whether it is protected was set, if only to false
	Queues           int         `json:"queues"`                  // how many queues there are, exclusive ones included
}

// NoLimit is a limit that is not set. Any other negative number is no limit either, but is kept and exported.
const NoLimit = math.MinInt

// VHostLimits are the limits of a virtual host; a negative one is none. See NoLimit.
type VHostLimits struct{ MaxConnections, MaxQueues int }

// QueueInfo describes a queue.
type QueueInfo struct {
	Name       string    `json:"name"`
	VHost      string    `json:"vhost"`
	Type       QueueType `json:"type"`
	Durable    bool      `json:"durable"`
	AutoDelete bool      `json:"auto_delete"`
	Exclusive  bool      `json:"exclusive"`
	Owner      uint64    `json:"owner"` // the connection of an exclusive queue; 0: the broker itself
	Arguments  Table     `json:"arguments"`
	Ready      int       `json:"messages_ready"`          // messages that wait to be delivered
	Unacked    int       `json:"messages_unacknowledged"` // messages that were delivered and not yet acknowledged
	// Messages counts those that are ready, unacknowledged or delayed for a retry, and pending dead letters.
	Messages     int   `json:"messages"`
	BytesReady   int64 `json:"message_bytes_ready"` // also of messages that are delayed for a retry
	BytesUnacked int64 `json:"message_bytes_unacknowledged"`
	Bytes        int64 `json:"message_bytes"`
	// Persistent counts the messages that are written to the disk of a RabbitMQ node: all of a quorum queue, and those of a durable classic
	// queue that were published as persistent, ready or unacknowledged.
	Persistent      int   `json:"messages_persistent"`
	BytesPersistent int64 `json:"message_bytes_persistent"`
	// ByPriority counts the ready messages of each priority, without those that came back to a quorum queue: these are Returned. nil: the
	// queue has no priorities.
	ByPriority map[int]int `json:"messages_by_priority,omitempty"`
	Returned   int         `json:"messages_ready_returned,omitempty"`
	Publishers int         `json:"publishers,omitempty"` // channels, and queues whose dead letters come, that a quorum queue knows
	Consumers  int         `json:"consumers"`

	SingleActive    string `json:"single_active_consumer_tag"`  // tag of the single active consumer
	Policy          string `json:"policy"`                      // name of the policy in force; empty: none
	OperatorPolicy  string `json:"operator_policy"`             // name of the operator policy in force; empty: none
	EffectivePolicy Table  `json:"effective_policy_definition"` // both policies' definitions, merged
	// HeadDeadline is when the first message at the head of the queue, or of a priority, expires; zero: never.
	HeadDeadline time.Time `json:"head_deadline,omitzero"`
	IdleDeadline time.Time `json:"idle_deadline,omitzero"` // when the queue expires if it is not used before; zero: never

	// ArgumentFields are the arguments as they were given: in their order, and with duplicates.
	ArgumentFields Fields `json:"-"`

	// User declared it: the user of a connection. Empty is the broker itself, for a program or an import.
	User string `json:"-"`

	// Lazy is the mode of a classic queue of RabbitMQ 3.10 that keeps its ready messages on the disk.
	Lazy bool `json:"-"`
}

// ExchangeInfo describes an exchange.
type ExchangeInfo struct {
	Name       string       `json:"name"`
	VHost      string       `json:"vhost"`
	Type       ExchangeType `json:"type"`
	Durable    bool         `json:"durable"`
	AutoDelete bool         `json:"auto_delete"`
	Internal   bool         `json:"internal"`
	Arguments  Table        `json:"arguments"`
	Policy     string       `json:"policy"` // name of the policy in force; empty: none

	Counters ExchangeCounters `json:"counters"`

	// ArgumentFields are the arguments as they were given: in their order, and with duplicates.
	ArgumentFields Fields `json:"-"`

	// User declared it: the user of a connection. Empty is the broker itself, for a program or an import.
	User string `json:"-"`
}

// BindingInfo describes a binding.
type BindingInfo struct {
	VHost           string          `json:"vhost"`
	Source          string          `json:"source"`
	Destination     string          `json:"destination"`
	DestinationType DestinationType `json:"destination_type"`
	RoutingKey      string          `json:"routing_key"`
	Arguments       Table           `json:"arguments"`

	// ArgumentFields are the arguments in the order of their names, with duplicates in theirs.
	ArgumentFields Fields `json:"-"`
}

// ConsumerInfo describes a consumer.
type ConsumerInfo struct {
	VHost       string `json:"vhost"`
	Queue       string `json:"queue"`
	Tag         string `json:"consumer_tag"`
	Conn        uint64 `json:"connection"`
	Channel     uint16 `json:"channel"`
	AckRequired bool   `json:"ack_required"`
	Exclusive   bool   `json:"exclusive"`
	Prefetch    int    `json:"prefetch_count"`
	Unacked     int    `json:"messages_unacknowledged"`
	Active      bool   `json:"active"` // false: waits to become the single active consumer
	// Blocked tells that the consumer holds all that it may, and that its queue knows. A quorum queue knows at once, a classic queue when
	// there is one more message for the consumer.
	Blocked bool `json:"blocked"`
	// TimedOut tells that the consumer did not acknowledge in time. Its queue cancelled the consumer, and lists it
	// until the client cancels it as well or closes its channel.
	TimedOut  bool  `json:"timed_out"`
	Priority  int64 `json:"priority"`
	Arguments Table `json:"arguments"`

	// ArgumentFields are the arguments as they were given: in their order, and with duplicates.
	ArgumentFields Fields `json:"-"`
}

// ConnInfo describes a connection.
type ConnInfo struct {
	ID               uint64 `json:"id"`
	Name             string `json:"name"`
	User             string `json:"user"`
	VHost            string `json:"vhost"`
	ClientProperties Table  `json:"client_properties"`
	// ClientPropertyFields are the client properties as they were given: in their order, and with duplicates.
	ClientPropertyFields Fields        `json:"-"`
	ChannelMax           int           `json:"channel_max"` // how many channels may be open; 0: any number
	Transport            Transport     `json:"-"`           // zero without ConnConfig.Describe
	ConnectedAt          time.Time     `json:"-"`
	Channels             []ChannelInfo `json:"channel_details"`
	Blocked              bool          `json:"blocked"`
}

// ChannelInfo describes a channel.
type ChannelInfo struct {
	Number          uint16 `json:"number"`
	Consumers       int    `json:"consumer_count"`
	Unacked         int    `json:"messages_unacknowledged"` // without AcksUncommitted
	Prefetch        int    `json:"prefetch_count"`          // of consumers to come
	GlobalPrefetch  int    `json:"global_prefetch_count"`   // of the whole channel
	Confirm         bool   `json:"confirm"`
	Tx              bool   `json:"transactional"`
	Uncommitted     int    `json:"messages_uncommitted"` // publishes
	AcksUncommitted int    `json:"acks_uncommitted"`

	Counters ChannelCounters `json:"counters"` // since the channel was opened
}

// MessageInfo describes a message in a queue. Properties and Body are shared: read only.
type MessageInfo struct {
	Exchange    string      `json:"exchange"`
	RoutingKey  string      `json:"routing_key"`
	Properties  *Properties `json:"-"` // as published: a program's Headers or a client's HeaderFields; nil: none
	Body        []byte      `json:"-"`
	Redelivered bool        `json:"redelivered"`
	Deadline    time.Time   `json:"deadline,omitzero"` // when it expires at the head of the queue; zero: never
	Deaths      []Death     `json:"deaths,omitempty"`
	DueAt       time.Time   `json:"due_at,omitzero"`       // for Waiting: when the wait ends; zero: when there is room
	DeadLetter  Reason      `json:"dead_letter,omitempty"` // for Waiting: why it died; empty: it waits for a retry
}
