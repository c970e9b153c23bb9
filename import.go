package leveret

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/leveretmq/leveret/internal/erl"
)

// Importing definitions. A document is applied first to a rehearsal: a broker that has what
// the document refers to and nothing else. Only if every entry is accepted there is anything
// changed here, so that a bad document changes nothing, and every rule of declarations,
// policies and permissions has its one place.

// ImportDefinitions adds what the definitions, as exported by RabbitMQ or by
// ExportDefinitions, say to what is there. Users, permissions, policies and parameters replace
// those of the same name; queues and exchanges that exist are left as they are, and names that
// begin with amq. are passed over. If any entry is refused nothing is changed, and the error,
// which is ErrPreconditionFailed, names the section, the position and the entry.
func (b *Broker) ImportDefinitions(data []byte) error {
	d, err := parseDefinitions(data)
	if err != nil {
		return err
	}
	return b.importDefinitions(d)
}

// ImportDefinitions imports the policies, parameters and topology of definitions into this
// virtual host, whichever they are from. The rest of the document is passed over.
func (v *vhost) ImportDefinitions(data []byte) error {
	d, err := parseDefinitions(data)
	if err != nil {
		return err
	}
	d.confine(v.name)
	return v.b.importDefinitions(d)
}

// confine leaves the sections of a virtual host and makes that the given one.
func (d *definitions) confine(vhost string) {
	d.Users, d.VHosts, d.Permissions, d.Topics, d.Global = nil, nil, nil, nil, nil
	for i := range d.Parameters {
		d.Parameters[i].VHost = vhost
	}
	for i := range d.Policies {
		d.Policies[i].VHost = vhost
	}
	for i := range d.Queues {
		d.Queues[i].VHost = vhost
	}
	for i := range d.Exchanges {
		d.Exchanges[i].VHost = vhost
	}
	for i := range d.Bindings {
		d.Bindings[i].VHost = vhost
	}
}

// badEntry is the refusal of a document because of one entry.
func badEntry(section string, i int, name, reason string) *Error {
	return errorf(PreconditionFailed, "", name, "%s[%d] '%s': %s", section, i, name, reason)
}

// parseDefinitions reads a document and checks that every entry has the form it must have.
func parseDefinitions(data []byte) (*definitions, error) {
	var sections map[string]json.RawMessage
	if err := json.Unmarshal(data, &sections); err != nil || sections == nil {
		reason := "failed_to_parse_json"
		if err != nil {
			reason += ": " + err.Error()
		}
		return nil, &Error{Code: PreconditionFailed, Reason: reason}
	}
	d := &definitions{}
	return d, first(
		parseSection(sections, "users", &d.Users, func(e *userEntry) string { return e.Name }),
		parseSection(sections, "vhosts", &d.VHosts, func(e *vhostEntry) string { return e.Name }),
		parseSection(sections, "permissions", &d.Permissions, func(e *permissionEntry) string { return e.User }),
		parseSection(sections, "topic_permissions", &d.Topics, func(e *topicEntry) string { return e.User }),
		parseSection(sections, "parameters", &d.Parameters, func(e *parameterEntry) string { return e.Name }),
		parseSection(sections, "global_parameters", &d.Global, func(e *globalParameter) string { return e.Name }),
		parseSection(sections, "policies", &d.Policies, func(e *policyEntry) string { return e.Name }),
		parseSection(sections, "queues", &d.Queues, func(e *queueEntry) string { return e.Name }),
		parseSection(sections, "exchanges", &d.Exchanges, func(e *exchangeEntry) string { return cmp.Or(e.Name, "amq.default") }),
		parseSection(sections, "bindings", &d.Bindings, func(e *bindingEntry) string { return e.Destination }),
	)
}

// parseSection reads one list; every entry must have a name.
func parseSection[E any](sections map[string]json.RawMessage, section string, to *[]E, name func(*E) string) error {
	raw, given := sections[section]
	if !given {
		return nil
	}
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil || items == nil {
		return errorf(PreconditionFailed, "", section, "%s: not a list", section)
	}
	entries := make([]E, len(items))
	for i, item := range items {
		e := &entries[i]
		if item[0] != '{' {
			return badEntry(section, i, "", "not an object")
		}
		if err := json.Unmarshal(item, e); err != nil {
			return badEntry(section, i, name(e), formReason(err))
		}
		if name(e) == "" {
			return badEntry(section, i, "", "the name is missing")
		}
	}
	*to = entries
	return nil
}

// formReason says without words of this program what a value should have been.
func formReason(err error) string {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err.Error()
	}
	expected := wrong.Type.String()
	switch wrong.Type.Kind() {
	case reflect.Map, reflect.Struct:
		expected = "an object"
	case reflect.Slice:
		expected = "a list"
	case reflect.Bool:
		expected = "true or false"
	case reflect.String:
		expected = "a string"
	case reflect.Float64:
		expected = "a number"
	}
	return fmt.Sprintf("%s should be %s, actually was a %s", wrong.Field, expected, wrong.Value)
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *Broker) importDefinitions(d *definitions) error {
	rehearsal, err := b.rehearsal(d)
	if err != nil {
		return err
	}
	defer rehearsal.b.Close()
	if err := rehearsal.apply(d); err != nil {
		return err
	}
	return (&importer{b: b}).apply(d)
}

// An importer applies definitions to a broker.
type importer struct {
	b *Broker

	// unseen is, in a rehearsal, how many queues of a virtual host it was not given; they
	// count towards the host's limit all the same.
	unseen map[string]int

	live *Broker // in a rehearsal, the broker itself; else nil
}

// rehearsal makes a broker with the users and virtual hosts of b and with those of its queues
// and exchanges that the definitions name. Its time stands still.
func (b *Broker) rehearsal(d *definitions) (*importer, error) {
	b.mu.Lock()
	closed, vhosts := b.closed, b.sortedVHosts()
	b.mu.Unlock()
	if closed {
		return nil, ErrClosed
	}
	im := &importer{b: New(WithProfile(b.profile), WithClock(NewManualClock(time.Unix(0, 0)))), unseen: map[string]int{}, live: b}
	names := d.names()
	hasDefault := false
	for _, v := range vhosts {
		hasDefault = hasDefault || v.name == defaultVHost
		if err := im.copyVHost(v, names[v.name]); err != nil {
			im.b.Close()
			return nil, err
		}
	}
	if !hasDefault {
		if err := im.b.DeleteVHost(defaultVHost); err != nil {
			return nil, err
		}
	}
	im.b.access.Store(b.access.Load())
	return im, nil
}

// names are the queues and the exchanges, those marked, that definitions refer to, by virtual host.
func (d *definitions) names() map[string]map[string]bool {
	names := map[string]map[string]bool{}
	add := func(vhost, name string) {
		if names[vhost] == nil {
			names[vhost] = map[string]bool{}
		}
		names[vhost][name] = true
	}
	for _, e := range d.Queues {
		add(e.VHost, withoutLineBreaks(e.Name))
	}
	for _, e := range d.Exchanges {
		add(e.VHost, exchangeMark+withoutLineBreaks(e.Name))
	}
	for _, e := range d.Topics {
		add(e.VHost, exchangeMark+e.Exchange)
	}
	for _, e := range d.Bindings {
		add(e.VHost, exchangeMark+withoutLineBreaks(e.Source))
		add(e.VHost, withoutLineBreaks(e.Destination))
		add(e.VHost, exchangeMark+withoutLineBreaks(e.Destination))
	}
	return names
}

func (im *importer) copyVHost(from *vhost, names map[string]bool) error {
	to, err := im.b.CreateVHost(from.name)
	if err != nil {
		return err
	}
	info, queues := from.describe(), 0
	if err := to.SetDefaultQueueType(info.DefaultQueueType); err != nil {
		return err
	}
	for name := range names {
		if name, isExchange := strings.CutPrefix(name, exchangeMark); isExchange {
			err = copyExchange(from, &to.vhost, name)
		} else if q, missing := from.Queue(name); missing == nil {
			queues++
			err = copyQueue(q, &to.vhost)
		}
		if err != nil {
			return err
		}
	}
	im.unseen[from.name] = from.queueCount() - queues
	return im.setLimits(&to.vhost, info.Limits)
}

func (v *vhost) queueCount() int {
	v.lock()
	defer v.unlock()
	return len(v.queues)
}

func copyExchange(from, to *vhost, name string) error {
	x, missing := from.Exchange(name)
	if missing != nil || name == "" || isReserved(name) {
		return nil
	}
	info := x.Info()
	_, err := to.DeclareExchange(name, info.Type, ExchangeConfig{
		Durable: info.Durable, AutoDelete: info.AutoDelete, Internal: info.Internal, Arguments: info.Arguments})
	return err
}

// copyQueue makes a queue of the same name, so that it exists. Nothing more is asked of it.
func copyQueue(q *Queue, to *vhost) error {
	info := q.Info()
	if isReserved(info.Name) {
		return nil // nobody can declare it; its bindings are looked up in the live broker
	}
	_, err := to.DeclareQueue(info.Name, QueueConfig{Durable: true, Arguments: Table{ArgQueueType: info.Type}})
	return err
}

// setLimits sets a host's limits, less what a rehearsal does not have.
func (im *importer) setLimits(v *vhost, l VHostLimits) error {
	if l.MaxQueues >= 0 {
		l.MaxQueues = max(0, l.MaxQueues-im.unseen[v.name])
	}
	return v.SetLimits(l)
}

// apply makes all changes, in RabbitMQ's order, up to the first that is refused.
func (im *importer) apply(d *definitions) error {
	for _, step := range []func(*definitions) error{
		im.users, im.vhosts, im.permissions, im.exchanges, im.topics, im.global, im.policies, im.parameters, im.queues, im.bindings,
	} {
		if err := step(d); err != nil {
			return err
		}
	}
	return nil
}

// vhost returns the virtual host of an entry.
func (im *importer) vhost(name string) (*vhost, string) {
	if name == "" {
		return nil, "the virtual host is missing; definitions of a single virtual host are imported into one"
	}
	v, err := im.b.VHost(name)
	if err != nil {
		return nil, fmt.Sprintf("Please create virtual host \"%s\" prior to importing definitions.", name)
	}
	return &v.vhost, ""
}

// reasonText is RabbitMQ's explanation for an error of an operation.
func reasonText(err error) string {
	var e *Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	return strings.ToLower(e.Code.String()) + ": " + e.Reason
}

func (im *importer) users(d *definitions) error {
	var changes []change
	for i := range d.Users {
		e := &d.Users[i]
		a, reason := im.account(e)
		if reason != "" {
			return badEntry("users", i, e.Name, reason)
		}
		changes = append(changes, func(t *accessTable) error {
			if old := t.users[e.Name]; old != nil && e.Limits == nil {
				a.Limits = old.Limits
			}
			return addUser(a, true)(t)
		})
	}
	return im.b.changeAccess(changes...)
}

func (im *importer) account(e *userEntry) (*account, string) {
	a := &account{UserInfo: UserInfo{Name: e.Name, Limits: UserLimits{-1, -1}}}
	if e.Tags == nil {
		return nil, "tags_not_present"
	}
	a.Tags = *e.Tags
	limits, reason := parseLimits(e.Limits, "user-limits", "max-connections", "max-channels")
	if reason != "" {
		return nil, reason
	}
	a.Limits = UserLimits{limits[0], limits[1]}
	if e.Password != nil {
		a.password = im.b.hashPassword(*e.Password)
		return a, ""
	}
	a.password.algorithm = cmp.Or(e.Algorithm, hashSHA256)
	switch a.password.algorithm {
	case hashSHA256, hashSHA512, hashMD5:
	default:
		return nil, "unknown hashing_algorithm '" + e.Algorithm + "'"
	}
	if e.PasswordHash == nil {
		return a, ""
	}
	hash, err := base64.StdEncoding.DecodeString(*e.PasswordHash)
	if err != nil {
		return nil, erl.Format(erl.Tuple{erl.Atom("not_base64"), erl.Binary(*e.PasswordHash)}, 0)
	}
	a.password.hash = hash
	return a, ""
}

// parseLimits returns the limits of those names; -1 for what is not there.
func parseLimits(given map[string]any, what string, names ...string) (limits []int, reason string) {
	var unknown erl.List
	for _, key := range sortedKeys(given) {
		if !slices.Contains(names, key) {
			unknown = append(unknown, erl.Tuple{erl.Binary(key), policyTerm(policyValue(given[key]))})
		}
	}
	if unknown != nil {
		return nil, "Unrecognised terms " + erl.Format(unknown, 0) + " in " + what
	}
	for _, name := range names {
		limit := -1
		if v, ok := given[name]; ok {
			n, isNumber := wholeNumber(policyValue(v))
			if !isNumber {
				return nil, name + " should be a number, actually was " + policyTermText(policyValue(v))
			}
			limit = int(max(n, -1))
		}
		limits = append(limits, limit)
	}
	return limits, ""
}

func (im *importer) vhosts(d *definitions) error {
	for i, e := range d.VHosts {
		if reason := im.oneVHost(e); reason != "" {
			return badEntry("vhosts", i, e.Name, reason)
		}
	}
	return nil
}

func (im *importer) oneVHost(e vhostEntry) string {
	v, err := im.b.CreateVHost(e.Name)
	if err != nil {
		return reasonText(err)
	}
	info := v.describe()
	description, tags, kind := info.Description, info.Tags, cmp.Or(e.QueueType, info.DefaultQueueType)
	description = cmp.Or(e.Description, description)
	if e.Tags != nil {
		tags = *e.Tags
	}
	if m := e.Metadata; m != nil {
		if m.Description != nil {
			description = *m.Description
		}
		if m.Tags != nil {
			tags = *m.Tags
		}
		kind = cmp.Or(m.QueueType, kind)
	}
	if kind != "undefined" && !im.b.rules.plainQueueType {
		if _, known := parseKind(kind); !known {
			return kind + " is not a valid queue type"
		}
		if err := v.SetDefaultQueueType(kind); err != nil {
			return reasonText(err)
		}
	}
	if e.Limits != nil {
		limits, reason := parseLimits(e.Limits, "limits", "max-connections", "max-queues")
		if reason != "" {
			return reason
		}
		if err := im.setLimits(&v.vhost, VHostLimits{limits[0], limits[1]}); err != nil {
			return reasonText(err)
		}
	}
	if err := v.SetMetadata(description, tags...); err != nil {
		return reasonText(err)
	}
	return ""
}

// missing names the first expression that an entry does not have.
func missing(expressions map[string]*string) string {
	for _, name := range []string{"configure", "write", "read"} {
		if e, needed := expressions[name]; needed && e == nil {
			return "key \"" + name + "\" is missing"
		}
	}
	return ""
}

func (im *importer) permissions(d *definitions) error {
	var changes []change
	for i, e := range d.Permissions {
		_, reason := im.vhost(e.VHost)
		if reason == "" {
			reason = missing(map[string]*string{"configure": e.Configure, "write": e.Write, "read": e.Read})
		}
		if reason != "" {
			return badEntry("permissions", i, e.User, reason)
		}
		set := setPermissions(grantKey{e.User, e.VHost}, Permissions{*e.Configure, *e.Write, *e.Read}, im.b.rules)
		changes = append(changes, func(t *accessTable) error {
			if err := set(t); err != nil {
				return badEntry("permissions", i, e.User, accessReason(err, e.User))
			}
			return nil
		})
	}
	return im.b.changeAccess(changes...)
}

// accessReason is RabbitMQ's explanation why permissions could not be set.
func accessReason(err error, user string) string {
	var e *Error
	switch {
	case errors.Is(err, ErrNotFound):
		return erl.Format(erl.Tuple{erl.Atom("no_such_user"), erl.Binary(user)}, 0)
	case errors.As(err, &e):
		return e.Reason
	}
	return err.Error()
}

func (im *importer) topics(d *definitions) error {
	var changes []change
	for i, e := range d.Topics {
		v, reason := im.vhost(e.VHost)
		if reason == "" {
			reason = missing(map[string]*string{"write": e.Write, "read": e.Read})
		}
		if reason == "" && e.Exchange != "" && !im.b.rules.anyTopicExchange {
			if _, err := v.Exchange(e.Exchange); err != nil {
				reason = erl.Format(erl.Tuple{erl.Atom("no_such_exchange"), erl.Binary(e.Exchange)}, 0)
			}
		}
		if reason != "" {
			return badEntry("topic_permissions", i, e.User, reason)
		}
		set := setTopicPermissions(topicKey{e.User, e.VHost, e.Exchange}, TopicPermissions{*e.Write, *e.Read}, im.b.rules)
		changes = append(changes, func(t *accessTable) error {
			if err := set(t); err != nil {
				return badEntry("topic_permissions", i, e.User, accessReason(err, e.User))
			}
			return nil
		})
	}
	return im.b.changeAccess(changes...)
}

func (im *importer) global(d *definitions) error {
	im.b.mu.Lock()
	defer im.b.mu.Unlock()
	for _, e := range d.Global {
		i := slices.IndexFunc(im.b.global, func(g globalParameter) bool { return g.Name == e.Name })
		if i < 0 {
			i = len(im.b.global)
			im.b.global = append(im.b.global, e)
		}
		im.b.global[i] = e
	}
	return nil
}
