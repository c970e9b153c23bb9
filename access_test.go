package leveret

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// changed returns a copy of a table with the changes made, or the first refusal.
func changed(t *accessTable, changes ...change) (*accessTable, error) {
	t = t.clone()
	for _, c := range changes {
		if err := c(t); err != nil {
			return nil, err
		}
	}
	return t, nil
}

func granted(t testing.TB, r *rules, p Permissions) *accessTable {
	t.Helper()
	table, err := changed(initialAccess(), addUser("u.x", PasswordHash{}, nil), setPermissions(grantKey{user: "u.x", vhost: "v"}, p, r))
	require.NoError(t, err)
	return table
}

func TestPermissionExpressions(t *testing.T) {
	for _, c := range []struct {
		expression, name string
		want             bool
	}{
		{".*", "anything", true},
		{"", "anything", false},
		{"", "", true},
		{"work", "my-work-queue", true},
		{"^work", "my-work-queue", false},
		{`^amq\.gen.*`, "amq.gen-x", true},
		{`^(amq\.default|q)$`, "amq.default", true},
		{`^(?!secret).*$`, "secret-q", false},
		{`^(?!secret).*$`, "q", true},
	} {
		for perm, p := range map[permission]Permissions{
			configure: {c.expression, "^$", "^$"}, write: {"^$", c.expression, "^$"}, read: {"^$", "^$", c.expression},
		} {
			table := granted(t, RabbitMQ43.rules(), p)
			assert.Equal(t, c.want, isAllowed(table, grantKey{user: "u.x", vhost: "v"}, perm, c.name), "%s %q for %q", perm,
				c.expression, c.name)
			other := (perm + 1) % 3
			assert.Equal(t, c.name == "", isAllowed(table, grantKey{user: "u.x", vhost: "v"}, other, c.name))
			assert.False(t, isAllowed(table, grantKey{user: "u.x", vhost: "w"}, perm, c.name), "another vhost")
			assert.False(t, isAllowed(table, grantKey{user: "nobody", vhost: "v"}, perm, c.name))
		}
	}
	table := granted(t, RabbitMQ43.rules(), Permissions{})
	assert.True(t, table.hasVHost("u.x", "v"), "three empty expressions still open the vhost")
	assert.False(t, table.hasVHost("u.x", "w"))
	without, err := changed(table, forgetVHost("v"))
	require.NoError(t, err)
	assert.False(t, without.hasVHost("u.x", "v"))
	assert.True(t, table.hasVHost("u.x", "v"), "tables do not change")
}

func TestBrokenExpressions(t *testing.T) {
	for _, c := range []struct {
		r          *rules
		expression string
		want       string
	}{
		{RabbitMQ43.rules(), "(", `{invalid_regexp,"(",{"missing closing parenthesis",1}}`},
		{RabbitMQ310.rules(), "(", `{invalid_regexp,"(",{"missing )",1}}`},
		{RabbitMQ43.rules(), strings.Repeat("x", 1025), "pattern_too_long"},
	} {
		for _, p := range []Permissions{{c.expression, "", ""}, {"", c.expression, ""}, {"", "", c.expression}} {
			_, err := changed(initialAccess(), setPermissions(grantKey{user: "guest", vhost: "/"}, p, c.r))
			require.ErrorIs(t, err, ErrPreconditionFailed)
			var refused *Error
			require.ErrorAs(t, err, &refused)
			assert.Contains(t, refused.Reason, c.want)
		}
		_, err := changed(initialAccess(), setTopicPermissions(grantKey{"guest", "/", "x"},
			TopicPermissions{Write: c.expression}, nil, c.r))
		assert.ErrorIs(t, err, ErrPreconditionFailed)
	}
}

func isAllowed(t *accessTable, who grantKey, perm permission, name string) bool {
	p, some := t.pattern(who, perm)
	return some && p.Match(name)
}

func isTopicAllowed(t *accessTable, at grantKey, perm permission, key string) bool {
	p, some := t.topicPattern(at, perm)
	return !some || p != nil && p.Match(key)
}

func TestTopicPermissions(t *testing.T) {
	set := func(r *rules, p TopicPermissions) *accessTable {
		table, err := changed(granted(t, r, Permissions{}), setTopicPermissions(grantKey{"u.x", "v", "amq.topic"}, p, nil, r))
		require.NoError(t, err)
		return table
	}
	now, old := RabbitMQ43.rules(), RabbitMQ310.rules()
	table := set(now, TopicPermissions{Write: `^a\.{username}$`, Read: `^{vhost}\.{other}`})
	assert.True(t, isTopicAllowed(table, grantKey{"u.x", "v", "amq.topic"}, write, "a.u.x"))
	assert.False(t, isTopicAllowed(table, grantKey{"u.x", "v", "amq.topic"}, write, "a.uAx"), "names are put in as they are")
	assert.True(t, isTopicAllowed(set(old, TopicPermissions{Write: `^a\.{username}$`}), grantKey{"u.x", "v", "amq.topic"}, write, "a.uAx"))
	assert.False(t, isTopicAllowed(table, grantKey{"u.x", "v", "amq.topic"}, write, "a.b"))
	assert.True(t, isTopicAllowed(table, grantKey{"u.x", "v", "amq.topic"}, read, "v.{other}"), "unknown variables stay")
	assert.True(t, isTopicAllowed(table, grantKey{"u.x", "v", "other"}, write, "a.b"), "no entry for the exchange")
	assert.True(t, isTopicAllowed(table, grantKey{"guest", "v", "amq.topic"}, write, "a.b"), "no entry for the user")
	empty := set(now, TopicPermissions{})
	assert.True(t, isTopicAllowed(empty, grantKey{"u.x", "v", "amq.topic"}, write, ""))
	assert.False(t, isTopicAllowed(empty, grantKey{"u.x", "v", "amq.topic"}, write, "k"))
}

func TestRefusalTexts(t *testing.T) {
	assert.Equal(t, "write access to exchange 'x' in vhost '/' refused for user 'u'",
		refusal(write, "exchange 'x' in vhost '/'", "u", RabbitMQ43.rules()))
	assert.Equal(t, "access to exchange 'x' in vhost '/' refused for user 'u'",
		refusal(write, "exchange 'x' in vhost '/'", "u", RabbitMQ310.rules()))
	assert.Equal(t, "read access to topic 'k' in exchange 'x' in vhost '/' refused for user 'u'",
		topicRefusal(read, "k", grantKey{"u", "/", "x"}, RabbitMQ43.rules()))
}

func TestPasswordHashes(t *testing.T) {
	salt := []byte{1, 2, 3, 4}
	for _, algorithm := range []string{hashSHA256, hashSHA512, hashMD5, ""} {
		p := PasswordHash{Algorithm: algorithm, Hash: salt}
		p.Hash = append(p.Hash, p.digest(salt, "sesame")...)
		assert.True(t, p.accepts("sesame"), algorithm)
		assert.False(t, p.accepts("Sesame"), algorithm)
		assert.False(t, p.accepts(""), algorithm)
	}
	assert.False(t, hashPassword(5, "").accepts(""), "blank passwords cannot log in")
	assert.False(t, PasswordHash{}.accepts("x"))
	// As RabbitMQ stored it for the password "x".
	known, err := base64.StdEncoding.DecodeString("TJFYrAEviTi8Fcsa0kClkE2vHyqlxzxYk3T+O1WcePjsRfMh")
	require.NoError(t, err)
	assert.True(t, PasswordHash{hashSHA256, known}.accepts("x"))
}

func TestPermissionCache(t *testing.T) {
	b := New()
	defer b.Close()
	ch := &Channel{v: newVHost(b, "v"), conn: &Conn{cfg: ConnConfig{User: "u.x"}}}
	cached := func(table *accessTable, a grantedAccess) bool {
		b.access.table.Store(table)
		allowed, err := ch.allowedLocked(a)
		require.Nil(t, err)
		return allowed
	}
	all, revoked := granted(t, RabbitMQ43.rules(), Permissions{Read: ".*"}), initialAccess()
	ask := func(table *accessTable, name string) bool {
		return cached(table, grantedAccess{read, queueResource, name})
	}
	assert.True(t, ask(all, "q0"))
	assert.True(t, ask(revoked, "q0"), "what was granted stays granted on this channel")
	assert.False(t, cached(revoked, grantedAccess{read, exchangeResource, "q0"}),
		"an exchange is something else")
	assert.False(t, cached(revoked, grantedAccess{write, queueResource, "q0"}))
	for _, name := range strings.Fields("q1 q2 q3 q4 q5 q6 q7 q8 q9 q10 q11") {
		assert.True(t, ask(all, name))
		assert.True(t, ask(revoked, "q0"))
	}
	assert.True(t, ask(all, "q12"))
	assert.False(t, ask(revoked, "q0"), "the thirteenth drops the first, although it was used since")
	assert.True(t, ask(revoked, "q1"))
	assert.False(t, ask(revoked, "unknown"), "refusals are not remembered")
	assert.True(t, ask(all, "unknown"))
}

func TestUsers(t *testing.T) {
	b := New()
	defer b.Close()
	guest, err := b.User("guest")
	require.NoError(t, err)
	assert.Equal(t, []UserInfo{guest}, b.Users())
	assert.Equal(t, UserInfo{"guest", []string{"administrator"}, UserLimits{NoLimit, NoLimit}, guest.Password}, guest)
	assert.True(t, guest.Password.accepts("guest"))
	require.NoError(t, b.Authenticate("guest", "guest"))

	require.NoError(t, b.AddUser("ann", "secret", "impersonator", "monitoring"))
	assert.ErrorIs(t, b.AddUser("ann", "other"), ErrPreconditionFailed)
	assert.Error(t, b.AddUser("", "x"))
	require.NoError(t, b.Authenticate("ann", "secret"))
	for _, wrong := range [][2]string{{"ann", "other"}, {"ann", ""}, {"nobody", "secret"}} {
		var e *Error
		require.True(t, errors.As(b.Authenticate(wrong[0], wrong[1]), &e))
		assert.Equal(t, "ACCESS_REFUSED - Login was refused using authentication mechanism PLAIN. For details see the broker logfile.", e.Text())
		assert.True(t, e.ClosesConnection())
	}
	assert.True(t, b.access.Load().isImpersonator("ann"))
	require.NoError(t, b.SetUserTags("ann", "monitoring"))
	assert.False(t, b.access.Load().isImpersonator("ann"))
	require.NoError(t, b.ChangePassword("ann", "other"))
	assert.Error(t, b.Authenticate("ann", "secret"))
	require.NoError(t, b.SetUserLimits("ann", UserLimits{MaxConnections: 1, MaxChannels: -1}))
	ann, err := b.User("ann")
	require.NoError(t, err)
	assert.Equal(t, UserInfo{"ann", []string{"monitoring"}, UserLimits{1, -1}, ann.Password}, ann)
	assert.Equal(t, ann, b.Users()[0])
	_, err = b.User("no")
	assert.ErrorIs(t, err, ErrNotFound)
	for _, err := range []error{b.SetUserTags("no"), b.ChangePassword("no", "x"), b.SetUserLimits("no", UserLimits{}), b.DeleteUser("no"), b.SetPermissions("no", Permissions{})} {
		assert.ErrorIs(t, err, ErrNotFound)
	}

	_, err = b.Connect("ann", "other", "/")
	require.ErrorIs(t, err, ErrNotAllowed)
	assert.Equal(t, "access to vhost '/' refused for user 'ann'", err.(*Error).Reason)
	require.NoError(t, b.SetPermissions("ann", Permissions{Read: ".*"}))
	c, err := b.Connect("ann", "other", "/")
	require.NoError(t, err)
	_, err = b.Connect("ann", "other", "/")
	require.ErrorIs(t, err, ErrNotAllowed)
	assert.Equal(t, "connection refused for user 'ann': user connection limit (1) is reached", err.(*Error).Reason)
	ch, err := c.Channel()
	require.NoError(t, err)
	_, err = ch.DeclareQueue("q", QueueConfig{})
	require.ErrorIs(t, err, ErrAccessRefused)
	assert.Equal(t, "configure access to queue 'q' in vhost '/' refused for user 'ann'", err.(*Error).Reason)

	require.NoError(t, b.DeleteUser("ann"))
	<-c.Done()
	assert.Empty(t, b.Permissions()[1:], "permissions go with the user")
}

func TestWhatGoesWithUsersAndVirtualHosts(t *testing.T) {
	b := New()
	defer b.Close()
	inAll := TopicPermissions{Write: "a", Read: "b"}
	give := func(user, vhost string) {
		t.Helper()
		v, err := b.VHost(vhost)
		require.NoError(t, err)
		require.NoError(t, v.SetPermissions(user, Permissions{Read: ".*"}))
		require.NoError(t, v.SetTopicPermissions(user, "amq.topic", inAll))
	}
	left := func() (permissions, topics []string) {
		t.Helper()
		for _, name := range []string{"/", "other"} {
			v, err := b.VHost(name)
			require.NoError(t, err)
			for _, p := range v.Permissions() {
				permissions = append(permissions, p.User+" "+p.VHost)
			}
			for _, p := range v.TopicPermissions() {
				topics = append(topics, p.User+" "+p.VHost)
			}
		}
		return permissions, topics
	}
	_, err := b.CreateVHost("other")
	require.NoError(t, err)
	for _, user := range []string{"ann", "bob"} {
		require.NoError(t, b.AddUser(user, "x"))
		give(user, "/")
		give(user, "other")
	}

	require.NoError(t, b.DeleteUser("ann"))
	require.NoError(t, b.AddUser("ann", "x"))
	permissions, topics := left()
	assert.Equal(t, []string{"bob /", "guest /", "bob other"}, permissions)
	assert.Equal(t, []string{"bob /", "bob other"}, topics)

	require.NoError(t, b.DeleteVHost("other"))
	_, err = b.CreateVHost("other")
	require.NoError(t, err)
	permissions, topics = left()
	assert.Equal(t, []string{"bob /", "guest /"}, permissions)
	assert.Equal(t, []string{"bob /"}, topics)

	give("bob", "other")
	v, err := b.VHost("other")
	require.NoError(t, err)
	require.NoError(t, v.ClearTopicPermissions("bob", ""))
	_, topics = left()
	assert.Equal(t, []string{"bob /"}, topics, "those of another virtual host stay")
}

func TestSetUser(t *testing.T) {
	b := New()
	defer b.Close()
	require.NoError(t, b.AddUser("ann", "old", "monitoring"))
	require.NoError(t, b.SetUserLimits("ann", UserLimits{MaxConnections: 5, MaxChannels: 6}))
	require.NoError(t, b.SetPermissions("ann", Permissions{Read: ".*"}))
	known, err := base64.StdEncoding.DecodeString("TJFYrAEviTi8Fcsa0kClkE2vHyqlxzxYk3T+O1WcePjsRfMh")
	require.NoError(t, err)
	require.NoError(t, b.SetUser("ann", PasswordHash{Hash: known}, "policymaker"))

	ann, err := b.User("ann")
	require.NoError(t, err)
	want := UserInfo{"ann", []string{"policymaker"}, UserLimits{MaxConnections: 5, MaxChannels: 6},
		PasswordHash{hashSHA256, known}}
	assert.Equal(t, want, ann, "limits stay")
	assert.Len(t, b.Permissions(), 2, "permissions stay")
	assert.NoError(t, b.Authenticate("ann", "x"))
	assert.Error(t, b.Authenticate("ann", "old"))

	ann.Tags[0], ann.Password.Hash[0], known[1] = "changed", 0, 0
	assert.NoError(t, b.Authenticate("ann", "x"), "neither what was given nor what was returned is shared")
	again, err := b.User("ann")
	require.NoError(t, err)
	assert.Equal(t, "policymaker", again.Tags[0])

	require.NoError(t, b.SetUser("bob", b.HashPassword("secret")))
	assert.NoError(t, b.Authenticate("bob", "secret"))
	bob, err := b.User("bob")
	require.NoError(t, err)
	assert.Equal(t, UserLimits{NoLimit, NoLimit}, bob.Limits)
	assert.NotEqual(t, bob.Password, b.HashPassword("secret"), "the salt differs")
	require.NoError(t, b.SetUser("locked", PasswordHash{}))
	assert.Error(t, b.Authenticate("locked", ""))

	assert.ErrorIs(t, b.SetUser("", b.HashPassword("x")), ErrPreconditionFailed)
	require.NoError(t, b.SetUser("eve", PasswordHash{Algorithm: "rot13", Hash: []byte("saltr")}))
	assert.Error(t, b.Authenticate("eve", "e"), "no password is accepted with an unknown algorithm")
	b.Close()
	assert.ErrorIs(t, b.SetUser("ann", PasswordHash{}), ErrClosed)
}

func TestTableThatWasSeenDoesNotChange(t *testing.T) {
	var a access
	a.table.Store(initialAccess())
	seen := a.Load()
	require.NoError(t, a.change(addUser("ann", PasswordHash{}, nil)))
	assert.Nil(t, seen.user("ann"))
	assert.NotNil(t, a.Load().user("ann"))

	seen = a.Load()
	require.Error(t, a.change(addUser("ann", PasswordHash{}, nil)))
	assert.Same(t, seen, a.Load(), "a refusal changes nothing")
	require.NoError(t, a.change(deleteUser("ann")))
	assert.NotNil(t, seen.user("ann"))
	assert.Nil(t, a.Load().user("ann"))
}
