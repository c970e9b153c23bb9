package definitions

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/limits"
)

// Export returns the users, permissions, policies and topology of all virtual hosts in the format
// of RabbitMQ's definitions files. RabbitMQ imports it, and so does Import. The user guest is among them, with the
// password that it has: a broker without guest has guest after the import.
// Rules: J-1.
func Export(b *leveret.Broker) ([]byte, error) { return json.Marshal(Of(b)) }

// ExportVHost returns the virtual host's policies and topology in the format of RabbitMQ's
// definitions files for one virtual host.
// Rules: J-2.
func ExportVHost(v *leveret.VHost) ([]byte, error) { return json.Marshal(OfVHost(v)) }

// clusterName is the name of the one-node cluster that a broker is.
const clusterName = "leveret"

// Of returns the definitions of a broker, as Export writes them.
func Of(b *leveret.Broker) *Definitions {
	x := newExporter(b)
	version := b.Profile().Version()
	x.out.Header = Header{
		RabbitVersion: version, RabbitMQVersion: version, ProductName: "RabbitMQ", ProductVersion: version,
	}
	if !x.oldShape {
		x.out.Format, x.out.ClusterName = "cluster", clusterName
		x.out.Explanation = "Definitions of cluster '" + clusterName + "'"
	}
	x.out.VHosts, x.out.Permissions, x.out.TopicPermissions = []VHost{}, []Permission{}, []TopicPermission{}
	x.users(b)
	x.globalParameters(b)
	for _, info := range b.VHosts() {
		v, err := b.VHost(info.Name)
		if err != nil {
			continue // deleted meanwhile
		}
		x.out.VHosts = append(x.out.VHosts, x.vhost(v, info))
		x.permissions(v)
		x.contents(v, info)
	}
	return x.out
}

// OfVHost returns the definitions of a virtual host, as ExportVHost writes them.
func OfVHost(v *leveret.VHost) *Definitions {
	x := newExporter(v.Broker())
	info, version := v.Info(), v.Broker().Profile().Version()
	x.out.RabbitVersion = version
	if !x.oldShape {
		self := x.vhost(v, info)
		x.out.Header = Header{
			RabbitVersion: version, RabbitMQVersion: version, ProductName: "RabbitMQ", ProductVersion: version,
			Format: "single_virtual_host", VHostName: info.Name, Explanation: "Definitions of virtual host '" + info.Name + "'",
			Description: self.Metadata.Description, Metadata: self.Metadata, Limits: self.Limits,
		}
	}
	x.contents(v, info)
	x.forgetVHost()
	return x.out
}

// forgetVHost takes the virtual host's name out of the entries that do not have it in the
// definitions of a single virtual host.
// Rules: J-2.
func (x *exporter) forgetVHost() {
	d := x.out
	for i := range d.Queues {
		d.Queues[i].VHost = ""
	}
	for i := range d.Exchanges {
		d.Exchanges[i].VHost = ""
	}
	for i := range d.Bindings {
		d.Bindings[i].VHost = ""
	}
	if x.oldShape {
		return
	}
	for i := range d.Policies {
		d.Policies[i].VHost = ""
	}
	for i := range d.Parameters {
		d.Parameters[i].VHost = ""
	}
}

// An exporter fills a document.
type exporter struct {
	*release
	out *Definitions
}

// newExporter begins a document with the sections that every export has.
func newExporter(b *leveret.Broker) *exporter {
	return &exporter{releases[b.Profile()], &Definitions{
		Parameters: []Parameter{}, Policies: []Policy{}, Queues: []Queue{}, Exchanges: []Exchange{}, Bindings: []Binding{},
	}}
}

// users adds the users with the hashes of their passwords.
// Rules: J-5.
func (x *exporter) users(b *leveret.Broker) {
	x.out.Users = []User{}
	for _, u := range b.Users() {
		hash := base64.StdEncoding.EncodeToString(u.Password.Hash)
		x.out.Users = append(x.out.Users, User{
			Name: u.Name, PasswordHash: &hash, Algorithm: u.Password.Algorithm, Tags: newTags(u.Tags),
			Limits: newLimits(limits.MaxConnections, u.Limits.MaxConnections, limits.MaxChannels, u.Limits.MaxChannels),
		})
	}
}

func (x *exporter) globalParameters(b *leveret.Broker) {
	x.out.GlobalParameters = []GlobalParameter{}
	for _, p := range b.GlobalParameters() {
		x.out.GlobalParameters = append(x.out.GlobalParameters, GlobalParameter(p))
	}
}

func (x *exporter) vhost(v *leveret.VHost, info leveret.VHostInfo) VHost {
	if x.oldShape {
		return VHost{Name: info.Name}
	}
	var protected *bool
	if info.HasProtection {
		protected = &info.Protected
	}
	return VHost{Name: info.Name, Limits: limitsOf(info),
		Metadata: &Metadata{
			Description: &info.Description, Tags: newTags(info.Tags), QueueType: string(info.DefaultQueueType), Protected: protected,
		}}
}

func limitsOf(info leveret.VHostInfo) Limits {
	return newLimits(limits.MaxConnections, info.Limits.MaxConnections, limits.MaxQueues, info.Limits.MaxQueues)
}

func (x *exporter) permissions(v *leveret.VHost) {
	for _, p := range v.Permissions() {
		x.out.Permissions = append(x.out.Permissions, Permission{p.User, p.VHost, &p.Configure, &p.Write, &p.Read})
	}
	for _, p := range v.TopicPermissions() {
		x.out.TopicPermissions = append(x.out.TopicPermissions,
			TopicPermission{p.User, p.VHost, &p.Exchange, &p.Write, &p.Read})
	}
}

// contents adds what is in a virtual host.
func (x *exporter) contents(v *leveret.VHost, info leveret.VHostInfo) {
	x.policies(v)
	x.vhostLimits(info)
	x.queues(v)
	x.exchanges(v)
	x.bindings(v)
}

func (x *exporter) policies(v *leveret.VHost) {
	for _, p := range v.Policies() {
		e := policyEntry(p)
		e.VHost, e.Name = v.Name(), p.Name
		x.out.Policies = append(x.out.Policies, e)
	}
	for _, p := range v.OperatorPolicies() {
		x.parameter(v.Name(), "operator_policy", p.Name, policyEntry(p))
	}
}

// vhostLimits adds the parameter with the limits of a virtual host. One without a limit is an empty list, as in RabbitMQ.
func (x *exporter) vhostLimits(info leveret.VHostInfo) {
	if !info.HasLimits {
		return
	}
	var value any = []any{}
	if l := limitsOf(info); len(l) > 0 {
		value = l
	}
	x.parameter(info.Name, "vhost-limits", "limits", value)
}

func (x *exporter) parameter(vhost, component, name string, value any) {
	data, _ := json.Marshal(value)
	x.out.Parameters = append(x.out.Parameters, Parameter{component, name, vhost, data})
}

func policyEntry(p leveret.Policy) Policy {
	priority := Priority(p.Priority)
	return Policy{Pattern: &p.Pattern, ApplyTo: string(p.ApplyTo),
		Definition: Arguments{p.Definition}, Priority: &priority}
}

// queues adds the queues. Exclusive ones are not exported, transient ones are.
// Rules: J-4.
func (x *exporter) queues(v *leveret.VHost) {
	for _, q := range v.Queues() {
		if q.Exclusive {
			continue
		}
		e := Queue{Name: q.Name, VHost: q.VHost, Durable: &q.Durable, AutoDelete: &q.AutoDelete,
			Arguments: ArgumentsOf(q.ArgumentFields)}
		if !x.oldShape {
			e.Type = string(q.Type)
		}
		x.out.Queues = append(x.out.Queues, e)
	}
}

// exchanges adds the exchanges. The default exchange, the predeclared ones and, in 4.3, internal ones
// are not exported.
// Rules: J-4.
func (x *exporter) exchanges(v *leveret.VHost) {
	for _, info := range v.Exchanges() {
		if info.Name == "" || isReserved(info.Name) {
			continue
		}
		if info.Internal && !x.exportsInternal {
			continue
		}
		e := Exchange{Name: info.Name, VHost: info.VHost, Type: string(info.Type), Durable: &info.Durable,
			AutoDelete: info.AutoDelete, Arguments: ArgumentsOf(info.ArgumentFields)}
		if x.exportsInternal {
			e.Internal = &info.Internal
		}
		x.out.Exchanges = append(x.out.Exchanges, e)
	}
}

// bindings adds the bindings, also those of internal exchanges and, in 4.3, of exclusive queues and to the default
// exchange. The implicit ones are left out: the first of each queue.
// Rules: J-4.
func (x *exporter) bindings(v *leveret.VHost) {
	implicit := map[string]bool{}
	for _, b := range v.Bindings() {
		toQueue := b.DestinationType == leveret.DestinationQueue
		if b.Source == "" && toQueue && !implicit[b.Destination] {
			implicit[b.Destination] = true
			continue
		}
		toDefault := !toQueue && b.Destination == ""
		if x.hidesExclusive && (toDefault || isExclusive(v, b)) {
			continue
		}
		x.out.Bindings = append(x.out.Bindings,
			Binding{b.Source, b.VHost, b.Destination, string(b.DestinationType), b.RoutingKey,
				ArgumentsOf(b.ArgumentFields)})
	}
}

// isExclusive reports whether a binding leads to an exclusive queue.
func isExclusive(v *leveret.VHost, b leveret.BindingInfo) bool {
	if b.DestinationType != "queue" {
		return false
	}
	q, err := v.Queue(b.Destination)
	return err == nil && q.Info().Exclusive
}

// isReserved reports whether a name is one that only the broker gives.
func isReserved(name string) bool { return strings.HasPrefix(name, "amq.") }
