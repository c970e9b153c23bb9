package leveret

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Definitions are a broker's users, permissions, policies and topology as a JSON document in
// RabbitMQ's format, so that they move between leveret and RabbitMQ. Messages, exclusive
// queues and the predeclared exchanges are no part of them.

// definitions is the document, with all sections or with those of one virtual host. What is
// not there is nil.
type definitions struct {
	definitionsOrigin
	Description *string           `json:"description,omitzero"`
	Metadata    *vhostMetadata    `json:"metadata,omitzero"`
	Limits      map[string]any    `json:"limits,omitzero"`
	Users       []userEntry       `json:"users,omitzero"`
	VHosts      []vhostEntry      `json:"vhosts,omitzero"`
	Permissions []permissionEntry `json:"permissions,omitzero"`
	Topics      []topicEntry      `json:"topic_permissions,omitzero"`
	Parameters  []parameterEntry  `json:"parameters,omitzero"`
	Global      []globalParameter `json:"global_parameters,omitzero"`
	Policies    []policyEntry     `json:"policies,omitzero"`
	Queues      []queueEntry      `json:"queues,omitzero"`
	Exchanges   []exchangeEntry   `json:"exchanges,omitzero"`
	Bindings    []bindingEntry    `json:"bindings,omitzero"`
}

// definitionsOrigin says where a document comes from.
type definitionsOrigin struct {
	RabbitVersion   string `json:"rabbit_version,omitzero"`
	RabbitMQVersion string `json:"rabbitmq_version,omitzero"`
	ProductName     string `json:"product_name,omitzero"`
	ProductVersion  string `json:"product_version,omitzero"`
	Format          string `json:"rabbitmq_definition_format,omitzero"`
	ClusterName     string `json:"original_cluster_name,omitzero"`
	VHostName       string `json:"original_vhost_name,omitzero"`
	Explanation     string `json:"explanation,omitzero"`
}

type userEntry struct {
	Name         string         `json:"name"`
	PasswordHash *string        `json:"password_hash"`
	Password     *string        `json:"password,omitzero"` // written by hand, instead of a hash
	Algorithm    string         `json:"hashing_algorithm"`
	Tags         *tagList       `json:"tags"`
	Limits       map[string]any `json:"limits"`
}

type vhostEntry struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"` // older files have these three
	Tags        *tagList       `json:"tags,omitzero"`        // here, newer ones in metadata
	QueueType   string         `json:"default_queue_type,omitzero"`
	Limits      map[string]any `json:"limits,omitzero"`
	Metadata    *vhostMetadata `json:"metadata,omitzero"`
}

type vhostMetadata struct {
	Description *string  `json:"description,omitzero"`
	Tags        *tagList `json:"tags,omitzero"`
	QueueType   string   `json:"default_queue_type,omitzero"`
}

type permissionEntry struct {
	User      string  `json:"user"`
	VHost     string  `json:"vhost"`
	Configure *string `json:"configure"`
	Write     *string `json:"write"`
	Read      *string `json:"read"`
}

type topicEntry struct {
	User     string  `json:"user"`
	VHost    string  `json:"vhost"`
	Exchange string  `json:"exchange"`
	Write    *string `json:"write"`
	Read     *string `json:"read"`
}

type parameterEntry struct {
	Component string          `json:"component"`
	Name      string          `json:"name"`
	VHost     string          `json:"vhost,omitzero"`
	Value     json.RawMessage `json:"value"`
}

// A globalParameter belongs to no virtual host and means nothing here; it is kept for export.
type globalParameter struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

type policyEntry struct {
	VHost      string        `json:"vhost,omitzero"`
	Name       string        `json:"name"`
	Pattern    *string       `json:"pattern"`
	ApplyTo    ApplyTo       `json:"apply-to"`
	Definition argumentTable `json:"definition"`
	Priority   *jsonNumber   `json:"priority"`
}

type queueEntry struct {
	Name       string        `json:"name"`
	VHost      string        `json:"vhost,omitzero"`
	Type       string        `json:"type,omitzero"` // for readers; the argument decides
	Durable    *bool         `json:"durable"`
	AutoDelete bool          `json:"auto_delete"`
	Arguments  argumentTable `json:"arguments"`
}

type exchangeEntry struct {
	Name       string        `json:"name"`
	VHost      string        `json:"vhost,omitzero"`
	Type       ExchangeType  `json:"type"`
	Durable    *bool         `json:"durable"`
	AutoDelete bool          `json:"auto_delete"`
	Internal   *bool         `json:"internal,omitzero"`
	Arguments  argumentTable `json:"arguments"`
}

type bindingEntry struct {
	Source          string        `json:"source"`
	VHost           string        `json:"vhost,omitzero"`
	Destination     string        `json:"destination"`
	DestinationType string        `json:"destination_type"`
	RoutingKey      string        `json:"routing_key"`
	Arguments       argumentTable `json:"arguments"`
}

// ExportDefinitions returns the users, permissions, policies and topology of all virtual hosts
// in the format of RabbitMQ's definitions files. RabbitMQ imports it, and so does ImportDefinitions.
func (b *Broker) ExportDefinitions() ([]byte, error) {
	d := &definitions{
		definitionsOrigin: definitionsOrigin{
			RabbitVersion: b.rules.version, RabbitMQVersion: b.rules.version, ProductName: "RabbitMQ", ProductVersion: b.rules.version,
		},
		Users: []userEntry{}, VHosts: []vhostEntry{}, Permissions: []permissionEntry{}, Topics: []topicEntry{},
		Global: []globalParameter{},
	}
	if !b.rules.oldDefinitions {
		d.Format, d.ClusterName, d.Explanation = "cluster", clusterName, "Definitions of cluster '"+clusterName+"'"
	}
	d.exportAccess(b.access.Load())
	d.emptyTopology()
	b.mu.Lock()
	d.Global = append(d.Global, b.global...)
	b.mu.Unlock()
	b.eachVHost(func(v *vhost) {
		d.VHosts = append(d.VHosts, v.exportSelf())
		d.exportVHost(v, v.name)
	})
	return json.Marshal(d)
}

// ExportDefinitions returns the virtual host's policies and topology in the format of
// RabbitMQ's definitions files for one virtual host.
func (v *vhost) ExportDefinitions() ([]byte, error) {
	d := &definitions{definitionsOrigin: definitionsOrigin{RabbitVersion: v.rules.version}}
	inner := v.name
	if !v.rules.oldDefinitions {
		self := v.exportSelf()
		d.RabbitMQVersion, d.ProductName, d.ProductVersion = v.rules.version, "RabbitMQ", v.rules.version
		d.Format, d.VHostName, d.Explanation = "single_virtual_host", v.name, "Definitions of virtual host '"+v.name+"'"
		d.Description, d.Metadata, d.Limits = self.Metadata.Description, self.Metadata, self.Limits
		inner = ""
	}
	d.emptyTopology()
	d.exportVHost(v, inner)
	if v.rules.oldDefinitions { // which names the virtual host in parameters and policies only
		for i := range d.Queues {
			d.Queues[i].VHost = ""
		}
		for i := range d.Exchanges {
			d.Exchanges[i].VHost = ""
		}
		for i := range d.Bindings {
			d.Bindings[i].VHost = ""
		}
	}
	return json.Marshal(d)
}

const clusterName = "leveret"

// emptyTopology makes the sections that every export has.
func (d *definitions) emptyTopology() {
	d.Parameters, d.Policies = []parameterEntry{}, []policyEntry{}
	d.Queues, d.Exchanges, d.Bindings = []queueEntry{}, []exchangeEntry{}, []bindingEntry{}
}

func (d *definitions) exportAccess(t *accessTable) {
	for _, a := range t.sortedUsers() {
		encoded := base64.StdEncoding.EncodeToString(a.password.hash)
		tags := tagList(append([]string{}, a.Tags...))
		d.Users = append(d.Users, userEntry{
			Name: a.Name, PasswordHash: &encoded, Algorithm: a.password.algorithm, Tags: &tags,
			Limits: limitMap(map[string]int{"max-connections": a.Limits.MaxConnections, "max-channels": a.Limits.MaxChannels}),
		})
	}
	for _, p := range t.permissionsIn("") {
		d.Permissions = append(d.Permissions, permissionEntry{p.User, p.VHost, &p.Configure, &p.Write, &p.Read})
	}
	for _, p := range t.topicPermissionsIn("") {
		d.Topics = append(d.Topics, topicEntry{p.User, p.VHost, p.Exchange, &p.Write, &p.Read})
	}
}

// limitMap drops limits that are none.
func limitMap(limits map[string]int) map[string]any {
	m := map[string]any{}
	for name, n := range limits {
		if n >= 0 {
			m[name] = n
		}
	}
	return m
}

func (l VHostLimits) definition() map[string]any {
	return limitMap(map[string]int{"max-connections": l.MaxConnections, "max-queues": l.MaxQueues})
}

func (v *vhost) exportSelf() vhostEntry {
	info := v.describe()
	if v.rules.oldDefinitions {
		return vhostEntry{Name: v.name}
	}
	tags := tagList(append([]string{}, info.Tags...))
	return vhostEntry{Name: v.name, Limits: info.Limits.definition(),
		Metadata: &vhostMetadata{Description: &info.Description, Tags: &tags, QueueType: info.DefaultQueueType}}
}

// exportVHost adds what is in a virtual host; the entries name it as vhost.
func (d *definitions) exportVHost(v *vhost, vhost string) {
	d.exportPolicies(v, vhost)
	private := map[string]bool{}
	for _, q := range v.Queues() {
		if q.Exclusive {
			private[q.Name] = true
			continue
		}
		e := queueEntry{Name: q.Name, VHost: vhost, Durable: &q.Durable, AutoDelete: q.AutoDelete, Arguments: argumentTable{q.Arguments}}
		if !v.rules.oldDefinitions {
			e.Type = q.Type
		}
		d.Queues = append(d.Queues, e)
	}
	for _, x := range v.Exchanges() {
		if x.Name == "" || isReserved(x.Name) {
			continue
		}
		e := exchangeEntry{Name: x.Name, VHost: vhost, Type: x.Type, Durable: &x.Durable, AutoDelete: x.AutoDelete, Arguments: argumentTable{x.Arguments}}
		if v.rules.oldDefinitions {
			e.Internal = &x.Internal
		} else if x.Internal {
			private[exchangeMark+x.Name] = true
			continue
		}
		d.Exchanges = append(d.Exchanges, e)
	}
	for _, bind := range v.Bindings() {
		destination := bind.Destination
		if bind.DestinationType == "exchange" {
			destination = exchangeMark + destination
		}
		if bind.Source == "" || private[destination] || private[exchangeMark+bind.Source] {
			continue // it could not be imported without what it refers to
		}
		d.Bindings = append(d.Bindings, bindingEntry{bind.Source, vhost, bind.Destination, bind.DestinationType, bind.RoutingKey, argumentTable{bind.Arguments}})
	}
}

// exchangeMark tells names of exchanges from names of queues.
const exchangeMark = "\x00"

func (d *definitions) exportPolicies(v *vhost, vhost string) {
	for _, p := range v.Policies() {
		d.Policies = append(d.Policies, policyDefinition(p, vhost))
	}
	for _, p := range v.OperatorPolicies() {
		e := policyDefinition(p, "")
		value, _ := json.Marshal(map[string]any{
			"pattern": e.Pattern, "definition": e.Definition, "priority": e.Priority, "apply-to": e.ApplyTo,
		})
		d.Parameters = append(d.Parameters, parameterEntry{"operator_policy", p.Name, vhost, value})
	}
	if limits := v.describe().Limits.definition(); len(limits) > 0 {
		value, _ := json.Marshal(limits)
		d.Parameters = append(d.Parameters, parameterEntry{"vhost-limits", "limits", vhost, value})
	}
}

func policyDefinition(p Policy, vhost string) policyEntry {
	if p.ApplyTo == "" {
		p.ApplyTo = ApplyToAll
	}
	normal := make(Table, len(p.Definition))
	for key, v := range p.Definition {
		normal[key] = policyValue(v)
	}
	priority := jsonNumber(p.Priority)
	return policyEntry{vhost, p.Name, &p.Pattern, p.ApplyTo, argumentTable{normal}, &priority}
}

// tagList is a list of tags; older files have them in one string, separated by commas.
type tagList []string

// jsonNumber is a priority: without a fraction where there is none.
type jsonNumber float64

// MarshalJSON writes whole numbers as RabbitMQ does.
func (n jsonNumber) MarshalJSON() ([]byte, error) {
	if f := float64(n); f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return fmt.Appendf(nil, "%d", int64(f)), nil
	}
	return json.Marshal(float64(n))
}

// argumentTable is a table of arguments in the form that definitions have it.
type argumentTable struct{ Table }

// MarshalJSON writes the values without their types.
func (t argumentTable) MarshalJSON() ([]byte, error) {
	m := make(map[string]any, len(t.Table))
	for _, key := range slices.Sorted(maps.Keys(t.Table)) {
		m[key] = definitionValue(t.Table[key])
	}
	return json.Marshal(m)
}
