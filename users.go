package leveret

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/leveretmq/leveret/internal/wire"
)

// The operations on users and permissions.

// access is the table of users that is in force. Every check reads it without a lock, so a table never changes: a change works on
// a copy, which shares with the table all that stays.
type access struct {
	table atomic.Pointer[accessTable]
	mu    sync.Mutex // held by changes; a leaf but for the disk's
	disk  *disk      // nil: nothing is kept
}

// Load returns the table in force.
func (a *access) Load() *accessTable { return a.table.Load() }

// change makes a change, unless the change itself refuses.
func (a *access) change(c change) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.table.Load().clone()
	t.disk = a.disk
	if err := c(t); err != nil {
		return err
	}
	a.table.Store(t)
	return nil
}

// reset puts the table of a new node in force.
func (a *access) reset() {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := initialAccess()
	if a.disk != nil {
		a.noteResetLocked(t)
	}
	a.table.Store(t)
}

// changeAccess makes a change to the users and permissions.
func (b *Broker) changeAccess(c change) error {
	return b.settled(b.withLock(func() error { return b.access.change(c) }))
}

// withLock changes the broker itself.
func (b *Broker) withLock(change func() error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.usable(); err != nil {
		return err
	}
	return change()
}

// HashPassword returns the hash of a password with a new salt, for SetUser.
func (b *Broker) HashPassword(password string) PasswordHash {
	return hashPassword(uint32(b.random.intN(1<<16)<<16|b.random.intN(1<<16)), password)
}

// ValidateCredentials returns why a user may not have a password, as [WithCredentialValidator] has it: an error that is
// ErrPreconditionFailed.
//
// Rules: A-17.
func (b *Broker) ValidateCredentials(user, password string) error {
	if b.validate == nil {
		return nil
	}
	if err := b.validate(user, password); err != nil {
		return &Error{Code: PreconditionFailed, Name: user, Reason: err.Error()}
	}
	return nil
}

// AddUser adds a user, who may do nothing before SetPermissions. A user with a blank password
// cannot log in. A name that is empty or taken is ErrPreconditionFailed, and a password that ValidateCredentials refuses.
func (b *Broker) AddUser(name, password string, tags ...string) error {
	if err := b.ValidateCredentials(name, password); err != nil {
		return err
	}
	return b.changeAccess(addUser(name, b.HashPassword(password), tags))
}

// SetUser sets the password and the tags of a user, who is added if there is none of that name.
// The limits and the permissions of an existing user stay, as do the connections. An empty name is
// ErrPreconditionFailed. An unknown algorithm is kept, as RabbitMQ keeps it, and nobody can log in with it.
func (b *Broker) SetUser(name string, password PasswordHash, tags ...string) error {
	return b.changeAccess(setUser(name, password.clone(), tags))
}

// DeleteUser deletes a user with all permissions and closes the user's connections. A missing
// user is ErrNotFound.
func (b *Broker) DeleteUser(name string) error {
	if err := b.changeAccess(deleteUser(name)); err != nil {
		return err
	}
	b.closeUserConnections(name)
	return nil
}

// SetUserTags replaces a user's tags. A missing user is ErrNotFound.
func (b *Broker) SetUserTags(name string, tags ...string) error {
	return b.changeAccess(changeUser(name, func(u *UserInfo) { u.Tags = slices.Clone(tags) }))
}

// ChangePassword sets the password for later logins. A password that ValidateCredentials refuses is ErrPreconditionFailed, a missing
// user ErrNotFound.
func (b *Broker) ChangePassword(name, password string) error {
	if err := b.ValidateCredentials(name, password); err != nil {
		return err
	}
	hash := b.HashPassword(password)
	return b.changeAccess(changeUser(name, func(u *UserInfo) { u.Password = hash }))
}

// SetUserLimits sets a user's limits for connections and channels that are opened later. A
// missing user is ErrNotFound.
func (b *Broker) SetUserLimits(name string, l UserLimits) error {
	return b.changeAccess(changeUser(name, func(u *UserInfo) { u.Limits = l }))
}

// User describes the user of that name. A missing user is ErrNotFound.
func (b *Broker) User(name string) (UserInfo, error) {
	u := b.access.Load().user(name)
	if u == nil {
		return UserInfo{}, noSuchUser(name)
	}
	return u.describe(), nil
}

// Users describes all users, sorted by name.
func (b *Broker) Users() []UserInfo {
	var infos []UserInfo
	b.access.Load().users.Ascend(func(u *UserInfo) bool {
		infos = append(infos, u.describe())
		return true
	})
	return infos
}

// Authenticate checks a password. The error is an *Error that ends a connection; it does not
// tell whether there is such a user.
func (b *Broker) Authenticate(user, password string) error {
	if b.access.Load().authenticate(user, password) {
		return nil
	}
	return &Error{Code: AccessRefused, Connection: true, Reason: wire.LoginRefused("PLAIN")}
}

// SetPermissions sets what a user may do in the virtual host. An expression that does not
// compile is ErrPreconditionFailed, a missing user ErrNotFound.
func (v *vhost) SetPermissions(user string, p Permissions) error {
	return v.b.changeAccess(setPermissions(grantKey{user: user, vhost: v.name}, p, v.rules))
}

// ClearPermissions takes all access to the virtual host from a user. Open connections stay.
func (v *vhost) ClearPermissions(user string) error {
	return v.b.changeAccess(ofUser(user, revokePermissions(user, v.name)))
}

// SetTopicPermissions sets which keys a user may use with a topic exchange of the virtual
// host. Errors are those of SetPermissions; in RabbitMQ 4.3 a missing exchange is ErrNotFound, too.
//
// Rules: A-9.
func (v *vhost) SetTopicPermissions(user, exchange string, p TopicPermissions) error {
	// The lock is held until the permissions are there, so that an exchange that is deleted meanwhile takes them with it.
	v.lock()
	defer v.unlock()
	if v.closed {
		return ErrClosed
	}
	var missing error
	if exchange != "" && !v.rules.anyTopicExchange && v.exchanges[exchange] == nil {
		missing = v.noExchange(exchange)
	}
	return v.b.access.change(setTopicPermissions(grantKey{user, v.name, exchange}, p, missing, v.rules))
}

// ClearTopicPermissions has a user's keys for an exchange no longer checked, or for all
// exchanges of the virtual host if exchange is "".
func (v *vhost) ClearTopicPermissions(user, exchange string) error {
	return v.b.changeAccess(ofUser(user, revokeTopicPermissions(user, v.name, exchange)))
}

// Permissions lists who may do what in the virtual host, sorted by user.
func (v *vhost) Permissions() []PermissionInfo { return v.b.access.Load().permissionsIn(v.name) }

// TopicPermissions lists the topic permissions in the virtual host, sorted by user and exchange.
func (v *vhost) TopicPermissions() []TopicPermissionInfo {
	return v.b.access.Load().topicPermissionsIn(v.name)
}
