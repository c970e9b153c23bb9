package leveret

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/google/btree"
	"github.com/leveretmq/leveret/internal/erl"
	"github.com/leveretmq/leveret/internal/pcre"
	"github.com/leveretmq/leveret/internal/record"
)

// Users, and what they may do. A user has for each virtual host three regular expressions, for
// configuring, writing and reading, which have to be found in the name of a resource; without
// them the user has no access to the virtual host at all. For topic exchanges there may be
// expressions for routing and binding keys in addition.
//
// All of it is one table, which every check reads without a lock; see access.

// UserInfo describes a user.
type UserInfo struct {
	Name     string       `json:"name"`
	Tags     []string     `json:"tags"` // only "impersonator" has a meaning here: any user-id may be published
	Limits   UserLimits   `json:"limits"`
	Password PasswordHash `json:"-"`
}

// UserLimits are the limits of a user; a negative one is none. See NoLimit.
type UserLimits struct{ MaxConnections, MaxChannels int }

// Permissions are a user's regular expressions for one virtual host. Access to a queue or an
// exchange is given if the expression is found in its name; the default exchange goes by
// amq.default. An empty expression gives no access.
type Permissions struct {
	Configure string `json:"configure"`
	Write     string `json:"write"`
	Read      string `json:"read"`
}

// TopicPermissions are a user's regular expressions for one topic exchange: Write for the
// routing keys of messages, Read for the keys of bindings. {username} and {vhost} in them
// stand for those names.
type TopicPermissions struct {
	Write string `json:"write"`
	Read  string `json:"read"`
}

// PermissionInfo describes what a user may do in a virtual host.
type PermissionInfo struct {
	User  string `json:"user"`
	VHost string `json:"vhost"`
	Permissions
}

// TopicPermissionInfo describes what a user may do at a topic exchange.
type TopicPermissionInfo struct {
	User     string `json:"user"`
	VHost    string `json:"vhost"`
	Exchange string `json:"exchange"`
	TopicPermissions
}

// permission is a kind of access.
type permission uint8

const (
	configure permission = iota
	write
	read
)

func (p permission) String() string { return [...]string{"configure", "write", "read"}[p] }

// accessTable is all users with their permissions.
type accessTable struct {
	users       *btree.BTreeG[*UserInfo] // by name
	permissions grants[*grant]
	topics      grants[*topicGrant]
	disk        *disk // told of each change to this copy; nil: nothing is kept
}

// A grant is a user's permissions for a virtual host, compiled.
type grant struct {
	Permissions
	patterns [3]*pcre.Pattern
}

// A topicGrant has the expressions as set; they are matched with the names put in.
type topicGrant struct {
	TopicPermissions
	patterns [3]*pcre.Pattern // nil for configure, and where the names make the expression invalid
}

// guest is the user whom a new node has, and that user's password.
const guest = "guest"

// initialAccess is what a new node has: the user guest with password guest, who may do
// anything in the default virtual host. The salt need not be secret, nor can this password be.
func initialAccess() *accessTable {
	everything, _ := newGrant(Permissions{".*", ".*", ".*"}, RabbitMQ43.rules())
	byName := func(a, b *UserInfo) bool { return a.Name < b.Name }
	t := &accessTable{btree.NewG(grantsDegree, byName), newGrants[*grant](), newGrants[*topicGrant](), nil}
	t.users.ReplaceOrInsert(&UserInfo{
		Name: guest, Tags: []string{"administrator"}, Limits: UserLimits{NoLimit, NoLimit},
		Password: hashPassword(0, guest),
	})
	t.permissions.set(grantKey{user: guest, vhost: defaultVHost}, everything)
	return t
}

// clone returns a copy that the caller may change. It costs nothing: what changes is copied then.
func (t *accessTable) clone() *accessTable {
	return &accessTable{t.users.Clone(), t.permissions.clone(), t.topics.clone(), nil}
}

// What changes a table goes through the following functions. A change that refuses has called none of them.

func (t *accessTable) put(u *UserInfo) {
	t.users.ReplaceOrInsert(u)
	if t.disk != nil {
		t.disk.note(u.record())
	}
}

func (t *accessTable) remove(u *UserInfo) {
	t.users.Delete(u)
	t.permissions.delete(t.permissions.ofUser(u.Name))
	t.topics.delete(t.topics.ofUser(u.Name))
	if t.disk != nil {
		t.disk.note(&record.NoUser{Name: u.Name}) // without permissions
	}
}

func (t *accessTable) grant(key grantKey, g *grant) {
	t.permissions.set(key, g)
	if t.disk != nil {
		t.disk.note(g.record(key))
	}
}

func (t *accessTable) grantTopics(key grantKey, g *topicGrant) {
	t.topics.set(key, g)
	if t.disk != nil {
		t.disk.note(g.record(key))
	}
}

// user returns the user of that name, nil if there is none.
func (t *accessTable) user(name string) *UserInfo {
	u, _ := t.users.Get(&UserInfo{Name: name})
	return u
}

func (t *accessTable) authenticate(user, password string) bool {
	a := t.user(user)
	return a != nil && a.Password.accepts(password)
}

// Rules: A-3.
func (t *accessTable) hasVHost(user, vhost string) bool {
	return t.permissions.get(grantKey{user: user, vhost: vhost}) != nil
}

// pattern returns the expression that is looked for in the name of a queue or exchange which the user wants to access;
// for the default exchange that is amq.default. Without one there is no access.
// Rules: A-1.
func (t *accessTable) pattern(who grantKey, perm permission) (p *pcre.Pattern, some bool) {
	g := t.permissions.get(who)
	if g == nil {
		return nil, false
	}
	return g.patterns[perm], true
}

// topicPattern returns the expression that is looked for in the key which the user wants to use with the topic exchange.
// It is nil where no key may be used. Without an entry every key may.
// Rules: A-9.
func (t *accessTable) topicPattern(at grantKey, perm permission) (p *pcre.Pattern, some bool) {
	g := t.topics.get(at)
	if g == nil {
		return nil, false
	}
	return g.patterns[perm], true
}

// Rules: A-13.
func (t *accessTable) isImpersonator(user string) bool {
	a := t.user(user)
	return a != nil && slices.Contains(a.Tags, "impersonator")
}

func (t *accessTable) limits(user string) UserLimits {
	if a := t.user(user); a != nil {
		return a.Limits
	}
	return UserLimits{NoLimit, NoLimit}
}

// compileAccess compiles an expression of a permission, or returns the term for what is wrong with it. The empty
// expression is for the empty name only.
// Rules: A-1.
func compileAccess(source string, r *rules) (p *pcre.Pattern, fault any) {
	if source == "" {
		source = "^$"
	}
	if !r.oldPatterns && len(source) > maxPatternLength {
		return nil, erl.Atom("pattern_too_long")
	}
	p, bad := pcre.Compile(source, r.dialect())
	if bad != nil {
		return nil, faultTerm(bad)
	}
	return p, nil
}

// A termError is a refusal that is a term of Erlang, which RabbitMQ 3.10 shows as JSON in places.
type termError struct {
	refusal *Error
	term    erl.Tuple
}

// Term is the term of Erlang that the reason prints.
func (e *termError) Term() erl.Tuple { return e.term }
func (e *termError) Error() string   { return e.refusal.Error() }
func (e *termError) Unwrap() error   { return e.refusal }

// invalidExpression is the refusal of an expression.
func invalidExpression(expression, fault any, n erl.Notation) error {
	term := erl.Tuple{erl.Atom("invalid_regexp"), expression, fault}
	return &termError{&Error{Code: PreconditionFailed, Reason: n.Format(term, 0)}, term}
}

func newGrant(p Permissions, r *rules) (*grant, error) {
	g := &grant{Permissions: p}
	for perm, source := range [...]string{configure: p.Configure, write: p.Write, read: p.Read} {
		compiled, fault := compileAccess(source, r)
		if fault != nil {
			return nil, invalidExpression(erl.Characters(source), fault, erl.Octets)
		}
		g.patterns[perm] = compiled
	}
	return g, nil
}

// Rules.
func newTopicGrant(key grantKey, p TopicPermissions, r *rules) (*topicGrant, error) {
	g := &topicGrant{TopicPermissions: p}
	for _, perm := range [...]permission{write, read} {
		source := [...]string{write: p.Write, read: p.Read}[perm]
		if _, fault := compileAccess(source, r); fault != nil {
			return nil, invalidExpression(erl.Binary(source), fault, r.notation())
		}
		user, vhost := key.user, key.vhost
		if !r.rawTopicVars {
			user, vhost = escapeExpression(user), escapeExpression(vhost)
		}
		source = strings.ReplaceAll(strings.ReplaceAll(source, "{username}", user), "{vhost}", vhost)
		g.patterns[perm], _ = compileAccess(source, r)
	}
	return g, nil
}

// escapeExpression makes an expression that matches s alone.
func escapeExpression(s string) string {
	var b bytes.Buffer
	for i := range len(s) {
		if strings.IndexByte(`\^$.|?*+()[]{}-`, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// A change replaces something in a table that no check has seen, or refuses and leaves it as it is.
type change func(t *accessTable) error

func noSuchUser(name string) error {
	return NotFound.errorf(name, "user '%s' does not exist", name)
}

// addUser adds a user without limits. A name that is taken is refused.
func addUser(name string, password PasswordHash, tags []string) change {
	return func(t *accessTable) error {
		if t.user(name) != nil {
			return PreconditionFailed.errorf(name, "user '%s' already exists", name)
		}
		return setUser(name, password, tags)(t)
	}
}

// setUser sets the password and the tags of a user, who is added if there is none of that name.
// The limits and the permissions of an existing user stay.
func setUser(name string, password PasswordHash, tags []string) change {
	return func(t *accessTable) error {
		if name == "" {
			return PreconditionFailed.errorf("", "user cannot be an empty string")
		}
		t.put(&UserInfo{Name: name, Tags: slices.Clone(tags), Limits: t.limits(name), Password: password})
		return nil
	}
}

// changeUser has f change a copy of the user.
func changeUser(name string, f func(*UserInfo)) change {
	return func(t *accessTable) error {
		old := t.user(name)
		if old == nil {
			return noSuchUser(name)
		}
		u := *old
		f(&u)
		t.put(&u)
		return nil
	}
}

func deleteUser(name string) change {
	return func(t *accessTable) error {
		u := t.user(name)
		if u == nil {
			return noSuchUser(name)
		}
		t.remove(u)
		return nil
	}
}

func setPermissions(key grantKey, p Permissions, r *rules) change {
	return func(t *accessTable) error {
		g, err := newGrant(p, r)
		if err != nil {
			return err
		}
		if t.user(key.user) == nil {
			return noSuchUser(key.user)
		}
		t.grant(key, g)
		return nil
	}
}

// setTopicPermissions sets a user's expressions for a topic exchange. Of what can be wrong the expressions come first,
// then the user, then the exchange: missing is the error if that must exist and does not.
// Rules: A-9.
func setTopicPermissions(key grantKey, p TopicPermissions, missing error, r *rules) change {
	return func(t *accessTable) error {
		g, err := newTopicGrant(key, p, r)
		switch {
		case err != nil:
			return err
		case t.user(key.user) == nil:
			return noSuchUser(key.user)
		case missing != nil:
			return missing
		}
		t.grantTopics(key, g)
		return nil
	}
}

// revokePermissions takes a user's permissions for a virtual host; without a user everybody's.
func revokePermissions(user, vhost string) change {
	return func(t *accessTable) error {
		t.permissions.delete(t.permissions.of(user, vhost))
		if t.disk != nil {
			t.disk.note(&record.NoPermission{User: user, VHost: vhost})
		}
		return nil
	}
}

// revokeTopicPermissions takes a user's topic permissions for an exchange. Without a user those of everybody are meant, without
// an exchange those for any.
func revokeTopicPermissions(user, vhost, exchange string) change {
	return func(t *accessTable) error {
		t.topics.delete(slices.DeleteFunc(t.topics.of(user, vhost), func(k grantKey) bool {
			return exchange != "" && k.exchange != exchange
		}))
		if t.disk != nil {
			t.disk.note(&record.NoTopicPermission{User: user, VHost: vhost, Exchange: exchange})
		}
		return nil
	}
}

// ofUser is a change for one user. Nobody has the empty name.
func ofUser(user string, c change) change {
	if user == "" {
		return func(*accessTable) error { return nil }
	}
	return c
}

// forgetVHost removes the permissions for a virtual host.
func forgetVHost(vhost string) change {
	return func(t *accessTable) error {
		return cmp.Or(revokePermissions("", vhost)(t), revokeTopicPermissions("", vhost, "")(t))
	}
}

// hasTopics reports whether there are topic permissions for an exchange.
func (t *accessTable) hasTopics(vhost, exchange string) bool {
	return len(t.topics.atExchange(vhost, exchange)) > 0
}

// describe returns a copy of what is known of a user.
func (i *UserInfo) describe() UserInfo {
	u := *i
	u.Tags, u.Password.Hash = append([]string{}, u.Tags...), slices.Clone(u.Password.Hash)
	return u
}

// permissionsIn lists the permissions for a virtual host, by user.
func (t *accessTable) permissionsIn(vhost string) []PermissionInfo {
	var infos []PermissionInfo
	for _, k := range t.permissions.inVHost(vhost) { // by user, for none has an exchange
		infos = append(infos, PermissionInfo{k.user, k.vhost, t.permissions.get(k).Permissions})
	}
	return infos
}

// topicPermissionsIn lists the topic permissions for a virtual host, by user and exchange.
func (t *accessTable) topicPermissionsIn(vhost string) []TopicPermissionInfo {
	var infos []TopicPermissionInfo
	for _, k := range t.topics.inVHost(vhost) {
		infos = append(infos, TopicPermissionInfo{k.user, k.vhost, k.exchange, t.topics.get(k).TopicPermissions})
	}
	slices.SortFunc(infos, func(a, b TopicPermissionInfo) int {
		return cmp.Or(cmp.Compare(a.User, b.User), cmp.Compare(a.Exchange, b.Exchange))
	})
	return infos
}
