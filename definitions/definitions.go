package definitions

import "encoding/json"

// Definitions are a document, with all sections or with those of one virtual host. A section that
// the document does not have is nil.
// Rules: J-1, J-2, J-3.
type Definitions struct {
	Header
	Users            []User            `json:"users,omitzero"`
	VHosts           []VHost           `json:"vhosts,omitzero"`
	Permissions      []Permission      `json:"permissions,omitzero"`
	TopicPermissions []TopicPermission `json:"topic_permissions,omitzero"`
	Parameters       []Parameter       `json:"parameters,omitzero"`
	GlobalParameters []GlobalParameter `json:"global_parameters,omitzero"`
	Policies         []Policy          `json:"policies,omitzero"`
	Queues           []Queue           `json:"queues,omitzero"`
	Exchanges        []Exchange        `json:"exchanges,omitzero"`
	Bindings         []Binding         `json:"bindings,omitzero"`
}

// A Header says where a document comes from. An import looks at the versions only, for the hashes of old documents.
type Header struct {
	RabbitVersion   string    `json:"rabbit_version,omitzero"`
	RabbitMQVersion string    `json:"rabbitmq_version,omitzero"`
	ProductName     string    `json:"product_name,omitzero"`
	ProductVersion  string    `json:"product_version,omitzero"`
	Format          string    `json:"rabbitmq_definition_format,omitzero"` // cluster or single_virtual_host
	ClusterName     string    `json:"original_cluster_name,omitzero"`
	VHostName       string    `json:"original_vhost_name,omitzero"`
	Explanation     string    `json:"explanation,omitzero"`
	Description     *string   `json:"description,omitzero"` // this and what follows: of a single virtual host
	Metadata        *Metadata `json:"metadata,omitzero"`
	Limits          Limits    `json:"limits,omitzero"`
}

// A User is an entry of "users".
// Rules: J-5.
type User struct {
	Name         string  `json:"name"`
	PasswordHash *string `json:"password_hash"`     // in base64; nil: nobody can log in
	Password     *string `json:"password,omitzero"` // written by hand, instead of a hash
	Algorithm    string  `json:"hashing_algorithm"` // empty: rabbit_password_hashing_sha256; in a document of RabbitMQ before 3.6 MD5
	Tags         *Tags   `json:"tags"`
	Limits       Limits  `json:"limits"` // max-connections and max-channels; those that are not there stay

	legacy
}

// A VHost is an entry of "vhosts".
// Rules: J-3.
type VHost struct {
	Name        string    `json:"name"`
	Description string    `json:"description,omitzero"` // older files have this and the tags
	Tags        *Tags     `json:"tags,omitzero"`        // here, newer ones in Metadata
	Limits      Limits    `json:"limits,omitzero"`      // for readers; an import sets those of Parameters
	Metadata    *Metadata `json:"metadata,omitzero"`
	Tracing     *bool     `json:"tracing,omitzero"` // whether its messages are copied to amq.rabbitmq.trace; nil: it stays as it is; not exported

	nullTracing bool // the entry has a tracing that is null
}

// Metadata are the part of a virtual host's entry under "metadata".
type Metadata struct {
	Description *string `json:"description,omitzero"`
	Tags        *Tags   `json:"tags,omitzero"`
	QueueType   string  `json:"default_queue_type,omitzero"`
	Protected   *bool   `json:"protected_from_deletion,omitzero"` // nil: it stays as it is
}

// A Permission is an entry of "permissions". All three expressions must be there.
type Permission struct {
	User      string  `json:"user"`
	VHost     string  `json:"vhost"`
	Configure *string `json:"configure"`
	Write     *string `json:"write"`
	Read      *string `json:"read"`
}

// A TopicPermission is an entry of "topic_permissions". Both expressions must be there.
type TopicPermission struct {
	User     string  `json:"user"`
	VHost    string  `json:"vhost"`
	Exchange *string `json:"exchange"`
	Write    *string `json:"write"`
	Read     *string `json:"read"`
}

// exchange is the exchange's name; empty, the default exchange's, if there is none.
func (e *TopicPermission) exchange() string {
	if e.Exchange == nil {
		return ""
	}
	return *e.Exchange
}

// A Parameter is an entry of "parameters". Those that mean something here are operator policies,
// component "operator_policy", and limits of virtual hosts, component "vhost-limits".
type Parameter struct {
	Component string          `json:"component"`
	Name      string          `json:"name"`
	VHost     string          `json:"vhost,omitzero"`
	Value     json.RawMessage `json:"value"`
}

// A GlobalParameter is an entry of "global_parameters".
type GlobalParameter struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

// A Policy is an entry of "policies", or the value of an operator policy.
type Policy struct {
	VHost      string    `json:"vhost,omitzero"`
	Name       string    `json:"name,omitzero"`
	Pattern    *string   `json:"pattern"`
	ApplyTo    string    `json:"apply-to"` // empty: all
	Definition Arguments `json:"definition"`
	Priority   *Priority `json:"priority"` // nil: 0, of an operator policy an error

	odd map[string]any // what a document has besides, or of another type
}

// A Queue is an entry of "queues".
type Queue struct {
	Name       string    `json:"name"`
	VHost      string    `json:"vhost,omitzero"`
	Type       string    `json:"type,omitzero"` // for readers; the argument x-queue-type decides
	Durable    *bool     `json:"durable"`       // nil: true; an error in 3.10
	AutoDelete *bool     `json:"auto_delete"`   // nil: false; an error in 3.10
	Arguments  Arguments `json:"arguments"`
}

// An Exchange is an entry of "exchanges".
type Exchange struct {
	Name       string    `json:"name"`
	VHost      string    `json:"vhost,omitzero"`
	Type       string    `json:"type"`
	Durable    *bool     `json:"durable"` // nil: true; an error in 3.10
	AutoDelete bool      `json:"auto_delete"`
	Internal   *bool     `json:"internal,omitzero"` // nil: false
	Arguments  Arguments `json:"arguments"`

	typeless string // what RabbitMQ takes for the type of an entry in a document without one
}

// A Binding is an entry of "bindings".
type Binding struct {
	Source          string    `json:"source"`
	VHost           string    `json:"vhost,omitzero"`
	Destination     string    `json:"destination"`
	DestinationType string    `json:"destination_type"` // queue or exchange
	RoutingKey      string    `json:"routing_key"`
	Arguments       Arguments `json:"arguments"`
}
