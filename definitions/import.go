package definitions

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/erl"
	"github.com/leveretmq/leveret/internal/firehose"
	"github.com/leveretmq/leveret/internal/jsondoc"
	"github.com/leveretmq/leveret/internal/wire"
)

// Import adds what the document says to what is there, as Apply does. The error is a *SyntaxError or an *Error. Either wraps a
// *leveret.Error with RabbitMQ's explanation: mostly one that is leveret.ErrPreconditionFailed, for an entry whose virtual host
// does not exist one that is leveret.ErrNotFound.
func Import(b *leveret.Broker, data []byte) error {
	d, err := parseFor(b, data)
	if err != nil {
		return err
	}
	return d.Apply(b)
}

// ImportVHost imports the policies, parameters and topology of a document into a virtual host, as
// ApplyToVHost does.
func ImportVHost(v *leveret.VHost, data []byte) error {
	d, err := parse(data, releases[v.Broker().Profile()].memberThatCounts, (*Definitions).sectionsOfOne)
	if err != nil {
		return err
	}
	return d.ApplyToVHost(v)
}

// Apply adds the definitions to what the broker has. Users, permissions, policies and parameters
// replace those of the same name; queues and exchanges that exist are left as they are, and names
// that begin with amq. are passed over. If any entry is refused nothing is changed, and the error is
// an *Error.
// Rules: J-9, J-10.
func (d *Definitions) Apply(b *leveret.Broker) error { return d.applyAs(b, (*importer).steps) }

// A plan is the order in which an import goes through the sections.
type plan func(*importer) []func(*Definitions) error

func (d *Definitions) applyAs(b *leveret.Broker, p plan) error {
	rehearsal, err := rehearse(b, d)
	if err != nil {
		return err
	}
	defer rehearsal.b.Close()
	if err := rehearsal.apply(d, p); err != nil {
		return err
	}
	if err := newImporter(b, b).apply(d, p); err != nil {
		return err
	}
	d.trace(b)
	return nil
}

// trace turns the firehose of virtual hosts on or off whose entries say so.
// Rules: J-3, O-6.
func (d *Definitions) trace(b *leveret.Broker) {
	for _, e := range d.VHosts {
		switch {
		case e.Tracing == nil:
		case *e.Tracing:
			firehose.Start(b, wire.NodeName, e.Name)
		default:
			firehose.Stop(b, e.Name)
		}
	}
}

// ApplyToVHost is Apply for one virtual host: what the definitions say of queues, exchanges,
// bindings, policies and parameters, of whichever virtual host. The other sections are passed over.
func (d *Definitions) ApplyToVHost(v *leveret.VHost) error {
	return d.confined(v.Name()).applyAs(v.Broker(), (*importer).stepsOfOne)
}

// confined returns the sections of a virtual host, with all entries moved to the given one.
func (d *Definitions) confined(vhost string) *Definitions {
	return &Definitions{
		Header:     d.Header,
		Parameters: moved(d.Parameters, func(e *Parameter) { e.VHost = vhost }),
		Policies:   moved(d.Policies, func(e *Policy) { e.VHost = vhost }),
		Queues:     moved(d.Queues, func(e *Queue) { e.VHost = vhost }),
		Exchanges:  moved(d.Exchanges, func(e *Exchange) { e.VHost = vhost }),
		Bindings:   moved(d.Bindings, func(e *Binding) { e.VHost = vhost }),
	}
}

// moved returns a copy of the entries, each changed by move.
func moved[E any](entries []E, move func(*E)) []E {
	all := append([]E(nil), entries...)
	for i := range all {
		move(&all[i])
	}
	return all
}

// An importer applies definitions to a broker.
type importer struct {
	*release
	b  *leveret.Broker
	of *leveret.Broker // whose definitions they will be; it is another one in a rehearsal
}

func newImporter(b, of *leveret.Broker) *importer {
	return &importer{release: releases[b.Profile()], b: b, of: of}
}

// steps are the sections of a broker, in RabbitMQ's order.
// Rules: J-8.
func (im *importer) steps() []func(*Definitions) error {
	return []func(*Definitions) error{
		im.users, im.vhosts, im.queueLimits, im.permissions, im.exchanges, im.topicPermissions,
		im.globalParameters, im.policies, im.parameters, im.queues, im.bindings,
	}
}

// stepsOfOne are the sections of one virtual host, in RabbitMQ's order: parameters come before policies.
// Rules: J-8.
func (im *importer) stepsOfOne() []func(*Definitions) error {
	return []func(*Definitions) error{im.queueLimits, im.exchanges, im.parameters, im.policies, im.queues, im.bindings}
}

// apply makes all changes, up to the first that is refused.
// Rules: J-8.
func (im *importer) apply(d *Definitions, p plan) error {
	for _, step := range p(im) {
		if err := step(d); err != nil {
			return err
		}
	}
	return nil
}

func (im *importer) users(d *Definitions) error {
	algorithm := d.hashingAlgorithm()
	return each("users", d.Users, func(e *User) error { return im.user(e, algorithm) })
}

func (im *importer) vhosts(d *Definitions) error { return each("vhosts", d.VHosts, im.vhost) }
func (im *importer) permissions(d *Definitions) error {
	return each("permissions", d.Permissions, im.permission)
}
func (im *importer) exchanges(d *Definitions) error {
	return each("exchanges", d.Exchanges, im.exchange)
}
func (im *importer) policies(d *Definitions) error { return each("policies", d.Policies, im.policy) }
func (im *importer) parameters(d *Definitions) error {
	return each("parameters", d.Parameters, im.parameter)
}
func (im *importer) queues(d *Definitions) error   { return each("queues", d.Queues, im.queue) }
func (im *importer) bindings(d *Definitions) error { return each("bindings", d.Bindings, im.binding) }

func (im *importer) topicPermissions(d *Definitions) error {
	return each("topic_permissions", d.TopicPermissions, im.topicPermission)
}

func (im *importer) globalParameters(d *Definitions) error {
	return each("global_parameters", d.GlobalParameters, im.globalParameter)
}

// each applies the entries of a section in their order.
func each[E any, P entry[E]](section string, entries []E, apply func(*E) error) error {
	for i := range entries {
		if err := apply(&entries[i]); err != nil {
			return &Error{section, i, P(&entries[i]).label(), err}
		}
	}
	return nil
}

// find returns the virtual host that an entry names.
func (im *importer) find(name string) (*leveret.VHost, error) {
	if name == "" {
		return nil, refuse("the virtual host is missing: if the document is of a single virtual host, use ImportVHost or POST /api/definitions/VHOST")
	}
	v, err := im.b.VHost(name)
	if err != nil {
		return nil, &leveret.Error{Code: leveret.NotFound, Name: name, Reason: fmt.Sprintf("Please create virtual host \"%s\" prior to importing definitions.", name)}
	}
	return v, nil
}

// vhost creates a virtual host and sets what its entry says. What the entry does not say is as it is in a new virtual host.
// RabbitMQ does not look at the limits there, nor at a default queue type that is not in the metadata.
// Rules: J-3.
func (im *importer) vhost(e *VHost) error {
	if im.keepsQueueType && e.Metadata.hasOddType() {
		return nil // 3.10 fails to make the virtual host, and does not say so
	}
	if e.nullTracing {
		return im.refuseTerm(erl.Tuple{erl.Atom("case_clause"), erl.Atom("null")})
	}
	v, err := im.b.CreateVHost(e.Name)
	if err != nil {
		return err
	}
	info := leveret.VHostInfo{DefaultQueueType: im.b.NodeDefaultQueueType()}
	if im.keepsQueueType {
		info.DefaultQueueType = v.Info().DefaultQueueType
	}
	im.merge(e, &info)
	if err := setDefaultQueueType(v, info.DefaultQueueType); err != nil {
		return err
	}
	if err := im.protect(e, v); err != nil {
		return err
	}
	return refusedByCode(v.SetMetadata(info.Description, info.Tags...))
}

// protect protects a virtual host from deletion, or lifts the protection, if the entry says so. 3.10 does not know it.
// Rules: J-3.
func (im *importer) protect(e *VHost, v *leveret.VHost) error {
	if m := e.Metadata; !im.oldShape && m != nil && m.Protected != nil {
		return v.SetProtected(*m.Protected)
	}
	return nil
}

// merge puts what the entry says in the place of what a new virtual host has. Of what is both in "metadata" and
// beside it, as in older files, the metadata count; in 3.10 what is beside them.
// Rules: J-3.
func (im *importer) merge(e *VHost, info *leveret.VHostInfo) {
	if !im.topFirst {
		e.mergeTop(info)
		info.Tags = im.trimmed(info.Tags) // those of metadata stay as they are
	}
	if m := e.Metadata; m != nil {
		m.merge(info)
	}
	if im.topFirst {
		e.mergeTop(info)
		info.Tags = im.trimmed(info.Tags)
	}
}

func (im *importer) trimmed(tags []string) []string {
	all := make([]string, len(tags))
	for i, tag := range tags {
		if im.tagsOfOctets {
			tag = jsondoc.Latin1(tag)
		}
		all[i] = jsondoc.TrimTag(tag)
	}
	return all
}

func (e *VHost) mergeTop(info *leveret.VHostInfo) {
	info.Description = cmp.Or(e.Description, info.Description)
	if e.Tags != nil {
		info.Tags = *e.Tags
	}
}

func (m *Metadata) merge(info *leveret.VHostInfo) {
	info.DefaultQueueType = cmp.Or(leveret.QueueType(m.QueueType), info.DefaultQueueType)
	if m.Description != nil {
		info.Description = *m.Description
	}
	if m.Tags != nil {
		info.Tags = *m.Tags
	}
}

func setDefaultQueueType(v *leveret.VHost, kind leveret.QueueType) error {
	switch {
	case kind == undefinedType:
		return refusedByCode(v.SetDefaultQueueType(v.Broker().NodeDefaultQueueType()))
	case isQueueType(string(kind)):
		return refusedByCode(v.SetDefaultQueueType(kind))
	}
	return refuse("%s is not a valid queue type", kind)
}

// undefinedType is how RabbitMQ exports a default queue type that is not set.
const undefinedType = "undefined"

// hasOddType reports whether there is a default queue type that RabbitMQ does not have.
func (m *Metadata) hasOddType() bool {
	return m != nil && m.QueueType != "" && m.QueueType != undefinedType && !isQueueType(m.QueueType)
}

// isQueueType reports whether RabbitMQ has a type of queues.
func isQueueType(name string) bool {
	return name == leveret.QueueTypeClassic || name == leveret.QueueTypeQuorum || name == stream
}

// permission sets what a user may do in a virtual host.
// Rules: J-10.
func (im *importer) permission(e *Permission) error {
	v, err := im.findFor(e.User, e.VHost)
	if err != nil {
		return err
	}
	if err := required(key{"configure", e.Configure}, key{"write", e.Write}, key{"read", e.Read}); err != nil {
		return err
	}
	granted := leveret.Permissions{Configure: *e.Configure, Write: *e.Write, Read: *e.Read}
	return im.grantRefused(v.SetPermissions(e.User, granted), e.User)
}

// topicPermission sets which keys a user may use with a topic exchange.
// Rules: J-10.
func (im *importer) topicPermission(e *TopicPermission) error {
	v, err := im.findFor(e.User, e.VHost)
	if err != nil {
		return err
	}
	if err := required(key{"write", e.Write}, key{"read", e.Read}); err != nil {
		return err
	}
	var term any = erl.Atom("undefined") // without an exchange the user and the expressions are looked at, too
	if e.Exchange != nil {
		term = erl.Binary(*e.Exchange)
	}
	err = v.SetTopicPermissions(e.User, e.exchange(), leveret.TopicPermissions{Write: *e.Write, Read: *e.Read})
	_, noUser := im.b.User(e.User)
	isMissing := err == nil && e.Exchange == nil || noUser == nil && errors.Is(err, leveret.ErrNotFound)
	if isMissing {
		return im.refuseTerm(erl.Tuple{erl.Atom("no_such_exchange"), term})
	}
	return im.grantRefused(err, e.User)
}

// findFor returns the virtual host of a permission. Where the user is missing, too, RabbitMQ misses the user first.
func (im *importer) findFor(user, vhost string) (*leveret.VHost, error) {
	v, err := im.find(vhost)
	if _, noUser := im.b.User(user); err != nil && noUser != nil && vhost != "" {
		return nil, im.refuseTerm(erl.Tuple{erl.Atom("no_such_user"), erl.Binary(user)})
	}
	return v, err
}

// A key is one of an entry's texts; nil if the entry does not have it.
type key struct {
	name  string
	value *string
}

// required refuses an entry without one of the keys.
func required(keys ...key) error {
	for _, k := range keys {
		if k.value == nil {
			return refuse("key \"%s\" is missing", k.name)
		}
	}
	return nil
}

// grantRefused turns the refusal of a permission into that of its entry.
func (im *importer) grantRefused(err error, user string) error {
	if errors.Is(err, leveret.ErrNotFound) {
		return im.refuseTerm(erl.Tuple{erl.Atom("no_such_user"), erl.Binary(user)})
	}
	return refused(err)
}

// globalParameter sets a global parameter. The value of one without a value is undefined, which RabbitMQ shows as a text.
// Rules: J-10.
func (im *importer) globalParameter(e *GlobalParameter) error {
	value := e.Value
	if value == nil {
		value = json.RawMessage(`"undefined"`)
	}
	return refused(im.b.SetGlobalParameter(leveret.GlobalParameter{Name: e.Name, Value: value}))
}
