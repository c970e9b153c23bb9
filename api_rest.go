package leveret

func (b *Broker) AddUser(name, password string, tags ...string) error                { panic("todo") }
func (b *Broker) DeleteUser(name string) error                                       { panic("todo") }
func (b *Broker) SetUserTags(name string, tags ...string) error                      { panic("todo") }
func (b *Broker) ChangePassword(name, password string) error                         { panic("todo") }
func (b *Broker) SetUserLimits(name string, l UserLimits) error                      { panic("todo") }
func (b *Broker) Users() []UserInfo                                                  { panic("todo") }
func (b *Broker) Authenticate(user, password string) error { return nil }
func (b *Broker) ExportDefinitions() ([]byte, error)                                 { panic("todo") }
func (b *Broker) ImportDefinitions(data []byte) error                                { panic("todo") }
func (v *VHost) SetPermissions(user string, p Permissions) error                     { panic("todo") }
func (v *VHost) ClearPermissions(user string) error                                  { panic("todo") }
func (v *VHost) SetTopicPermissions(user, exchange string, p TopicPermissions) error { panic("todo") }
func (v *VHost) ClearTopicPermissions(user, exchange string) error                   { panic("todo") } // exchange "": all
func (v *VHost) Permissions() []PermissionInfo                                       { panic("todo") }
func (v *VHost) TopicPermissions() []TopicPermissionInfo                             { panic("todo") }
func (v *VHost) ExportDefinitions() ([]byte, error)                                  { panic("todo") }
func (v *VHost) ImportDefinitions(data []byte) error                                 { panic("todo") }

type UserLimits struct{ MaxConnections, MaxChannels int }
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
