package lint

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
)

// What a file has, as things with settings, so that two files can be compared.

// The kinds of things, in the order in which they are told.
const (
	kindVHost            = "virtual host"
	kindQueue            = "queue"
	kindExchange         = "exchange"
	kindBinding          = "binding"
	kindPolicy           = "policy"
	kindOperatorPolicy   = "operator policy"
	kindPermissions      = "permissions"
	kindTopicPermissions = "topic permissions"
	kindUser             = "user"
	kindGlobalParameter  = "global parameter"
)

var kinds = []string{kindVHost, kindQueue, kindExchange, kindBinding, kindPolicy, kindOperatorPolicy, kindPermissions,
	kindTopicPermissions, kindUser, kindGlobalParameter}

// An inventory has the settings of each thing. A setting that is not there is nil.
type inventory map[subject]leveret.Table

// things lists what is in force, but for what every broker has.
func things(s *site) inventory {
	all := inventory{}
	all.addUsers(s)
	for _, g := range s.b.GlobalParameters() {
		all[subject{"", kindGlobalParameter, g.Name}] = leveret.Table{"value": string(g.Value)}
	}
	for _, v := range s.vhosts() {
		all.addVHost(v)
		all.addTopology(v)
		all.addAccess(s, v)
	}
	return all
}

// addUsers lists the users of the file: guest, whom every broker has, only if the file has that user.
func (all inventory) addUsers(s *site) {
	for _, entry := range s.defs.Users {
		u, err := s.b.User(entry.Name)
		if err != nil {
			continue // only a user who is refused, of which was told
		}
		all[subject{"", kindUser, u.Name}] = leveret.Table{"tags": strings.Join(u.Tags, ","), "max-connections": limit(u.Limits.MaxConnections),
			"max-channels": limit(u.Limits.MaxChannels), "password": passwordOf(entry)}
	}
}

// A secret is compared, and not told.
type secret string

// passwordOf is what the file says: in force a password is a hash, which is another one each time.
func passwordOf(u definitions.User) secret {
	text, _ := json.Marshal([]any{u.Password, u.PasswordHash, cmp.Or(u.Algorithm, "rabbit_password_hashing_sha256")})
	return secret(text)
}

func limit(n int) any {
	if n == leveret.NoLimit {
		return nil
	}
	return n
}

func (all inventory) addVHost(v vhost) {
	i := v.Info()
	all[subject{v.Name(), kindVHost, v.Name()}] = leveret.Table{"description": i.Description, "tags": strings.Join(i.Tags, ","),
		"default_queue_type": string(i.DefaultQueueType), "max-connections": limit(i.Limits.MaxConnections), "max-queues": limit(i.Limits.MaxQueues)}
}

func (all inventory) addTopology(v vhost) {
	for _, q := range v.queues {
		all[subject{v.Name(), kindQueue, q.Name}] = with(leveret.Table{"type": string(q.Type), "durable": q.Durable, "auto_delete": q.AutoDelete},
			q.Arguments)
	}
	for name, x := range v.exchanges {
		if name != "" && !isReserved(name) {
			all[subject{v.Name(), kindExchange, name}] = with(leveret.Table{"type": string(x.Type), "durable": x.Durable,
				"auto_delete": x.AutoDelete, "internal": x.Internal}, x.Arguments)
		}
	}
	for _, b := range v.bindings {
		all[subject{v.Name(), kindBinding, bindingText(b)}] = leveret.Table{}
	}
	for kind, policies := range map[string][]leveret.Policy{kindPolicy: v.Policies(), kindOperatorPolicy: v.OperatorPolicies()} {
		for _, p := range policies {
			all[subject{v.Name(), kind, p.Name}] = with(leveret.Table{"pattern": p.Pattern, "apply-to": string(p.ApplyTo), "priority": p.Priority},
				p.Definition)
		}
	}
}

func (all inventory) addAccess(s *site, v vhost) {
	for _, p := range v.Permissions() {
		inFile := slices.ContainsFunc(s.defs.Permissions, func(e definitions.Permission) bool {
			return e.User == p.User && e.VHost == p.VHost
		})
		if !inFile {
			continue // guest's, which every broker has
		}
		all[subject{v.Name(), kindPermissions, p.User}] = leveret.Table{"configure": p.Configure, "write": p.Write, "read": p.Read}
	}
	for _, p := range v.TopicPermissions() {
		name := p.User + " at " + p.Exchange
		all[subject{v.Name(), kindTopicPermissions, name}] = leveret.Table{"write": p.Write, "read": p.Read}
	}
}

// with returns settings with those of another table besides.
func with(settings, more leveret.Table) leveret.Table {
	maps.Copy(settings, more)
	delete(settings, leveret.ArgQueueType) // the type says it
	return settings
}

// bindingText names a binding by all that makes it one.
func bindingText(b leveret.BindingInfo) string {
	text := fmt.Sprintf("%s → %s %s with key '%s'", b.Source, b.DestinationType, b.Destination, b.RoutingKey)
	var args []string
	for _, name := range slices.Sorted(maps.Keys(b.Arguments)) {
		args = append(args, fmt.Sprintf("%s=%v", name, b.Arguments[name]))
	}
	if args != nil {
		text += " and " + strings.Join(args, " ")
	}
	return text
}

// changes are the things that only one inventory has, and those whose settings differ.
func (all inventory) changes(next inventory) (changes []Change) {
	for about, settings := range all {
		other, there := next[about]
		if !there {
			changes = append(changes, change(Removed, about))
			continue
		}
		c := change(Changed, about)
		c.Differences = differences(settings, other, about.kind != kindQueue && about.kind != kindExchange)
		if len(c.Differences) > 0 {
			changes = append(changes, c)
		}
	}
	for about := range next {
		if _, there := all[about]; !there {
			changes = append(changes, change(Added, about))
		}
	}
	return changes
}

func change(how How, about subject) Change {
	return Change{How: how, VHost: about.vhost, Kind: about.kind, Name: about.name, Differences: []Difference{}, Effects: []Effect{}}
}

// differences are those of two tables of settings, by key.
func differences(old, next leveret.Table, atOnce bool) []Difference {
	keys := leveret.Table{}
	maps.Copy(keys, old)
	maps.Copy(keys, next)
	found := []Difference{}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		d := Difference{Key: key, Old: old[key], New: next[key], AtOnce: atOnce}
		if same(d.Old, d.New) {
			continue
		}
		_, hidden := d.Old.(secret)
		if _, alsoHidden := d.New.(secret); hidden || alsoHidden {
			d.Old, d.New = "one", "another"
		}
		found = append(found, d)
	}
	return found
}

// same reports whether two values of settings are the same in JSON: a number of any type is one.
func same(a, b any) bool {
	return (a == nil) == (b == nil) && fmt.Sprint(a) == fmt.Sprint(b)
}
