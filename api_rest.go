package leveret

func (b *Broker) AddUser(name, password string, tags ...string) error { return nil }
func (b *Broker) DeleteUser(name string) error { return nil }
func (b *Broker) SetUserTags(name string, tags ...string) error { return nil }
func (b *Broker) ChangePassword(name, password string) error { return nil }
func (b *Broker) SetUserLimits(name string, l UserLimits) error { return nil }
func (b *Broker) Users() []UserInfo                                                  { panic(nil) }
func (b *Broker) Authenticate(user, password string) error { return nil }
func (b *Broker) ExportDefinitions() ([]byte, error) { return nil, nil }
func (b *Broker) ImportDefinitions(data []byte) error { return nil }
func (v *VHost) SetPermissions(user string, p Permissions) error { return nil }
func (v *VHost) ClearPermissions(user string) error { return nil }
func (v *VHost) SetTopicPermissions(user, exchange string, p TopicPermissions) error { return nil }
func (v *VHost) ClearTopicPermissions(user, exchange string) error { return nil } // exchange "": all
func (v *VHost) Permissions() []PermissionInfo                                       { panic(nil) }
func (v *VHost) TopicPermissions() []TopicPermissionInfo                             { panic(nil) }
func (v *VHost) ExportDefinitions() ([]byte, error) { return nil, nil }
func (v *VHost) ImportDefinitions(data []byte) error { return nil }

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
