package main

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const defaultsOfVHosts = `
default_limits.vhosts.b.pattern = ^test
default_limits.vhosts.b.max_connections = 7
default_limits.vhosts.a.pattern = test-small
default_limits.vhosts.a.max_queues = 2
default_policies.operator.p.vhost_pattern = ^test
default_policies.operator.p.queue_pattern = ^x
default_policies.operator.p.apply_to = queues
default_policies.operator.p.expires = 1h
default_policies.operator.p.max_length_bytes = 1KB
default_policies.operator.q.vhost_pattern = ^nothing
default_policies.operator.q.message_ttl = 5s
default_users.ann.vhost_pattern = ^test
default_users.ann.password = pw
default_users.ann.tags = management, monitoring
default_users.ann.read = ^r
default_users.bob.vhost_pattern = ^/$
`

// Rules: A-16.
func TestDefaultsOfVHosts(t *testing.T) {
	s, err := settingsOf(t, defaultsOfVHosts)
	require.NoError(t, err)
	b, _, err := openBroker(s, nil)
	require.NoError(t, err)
	defer b.Close()
	require.NoError(t, s.setUp(b))
	assert.Equal(t, "bob", b.Permissions()[0].User, "/ is new at the first start")
	assert.Error(t, b.Authenticate("bob", ""), "a user without a password")

	small, err := b.CreateVHost("test-small")
	require.NoError(t, err)
	assert.Equal(t, leveret.VHostLimits{MaxConnections: leveret.NoLimit, MaxQueues: 2}, small.Info().Limits, "those of the first ID")
	policies := small.OperatorPolicies()
	require.Len(t, policies, 1)
	assert.Equal(t, leveret.Policy{Name: "p", Pattern: "^x", ApplyTo: leveret.ApplyToQueues, Definition: policies[0].Definition}, policies[0])
	assert.EqualValues(t, 3600000, policies[0].Definition["expires"])
	assert.EqualValues(t, 1024, policies[0].Definition["max-length-bytes"])
	assert.Equal(t, leveret.Permissions{Configure: ".*", Write: ".*", Read: "^r"}, small.Permissions()[0].Permissions)
	require.NoError(t, b.Authenticate("ann", "pw"))
	ann, err := b.User("ann")
	require.NoError(t, err)
	assert.Equal(t, []string{"management", "monitoring"}, ann.Tags)

	require.NoError(t, b.ChangePassword("ann", "other"))
	require.NoError(t, definitions.Import(b, []byte(`{"vhosts":[{"name":"test-small"},{"name":"test"},{"name":"z"}]}`)))
	require.NoError(t, b.Authenticate("ann", "other"), "a user who is there already")
	other, err := b.VHost("test")
	require.NoError(t, err)
	assert.Equal(t, leveret.VHostLimits{MaxConnections: 7, MaxQueues: leveret.NoLimit}, other.Info().Limits)
	plain, err := b.VHost("z")
	require.NoError(t, err)
	assert.Empty(t, plain.Permissions())
	assert.Empty(t, plain.OperatorPolicies())
	assert.False(t, plain.Info().HasLimits)
}

func TestDefaultsOfVHostsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"default_limits.vhosts.a.pattern = (":            `default_limits.vhosts.a.pattern: "(" is not a regular expression`,
		"default_limits.vhosts.a.max_queues = 0":         "default_limits.vhosts.a.max_queues: 0 is not positive",
		"default_limits.vhosts.a.max_queue = 1":          "is not known; probably default_limits.vhosts.a.max_queues is meant",
		"default_policies.operator.p.queue_pattern = x":  "default_policies.operator.p: ",
		"default_policies.operator.p.expires = soon":     `default_policies.operator.p.expires: "soon" is not a time such as 1h30m`,
		"default_policies.operator.p.delivery_limit = x": `"x" is not a whole number`,
		"default_users.ann.read = (":                     "default_users.ann: ",
	} {
		_, err := settingsOf(t, text)
		assert.ErrorContains(t, err, want, text)
	}
}

// An operator policy of the file has RabbitMQ's units.
func TestUnitsOfDefaultPolicies(t *testing.T) {
	for text, want := range map[string]int{
		"max_length_bytes = 1000": 1000, "max_length_bytes = 0": 0, "max_in_memory_bytes = 10kb": 10 << 10, "max_length_bytes = 1MB": 1 << 20,
		"max_length_bytes = 2gb": 2 << 30, "max_length = 1": 1, "delivery_limit = 1": 1,
		"expires = 5000ms": 5000, "expires = 1h30m": 5400000, "expires = 1m1h": 3660000, "expires = 1.5h": 5400000, "expires = 1W2D": 777600000,
		"expires = 1f": 1209600000, "expires = .5h": 1800000, "expires = 1.5ms": 2, "message_ttl = 0.0001s": 1,
	} {
		s, err := settingsOf(t, "default_policies.operator.a."+text)
		require.NoError(t, err, text)
		for _, n := range s.vhosts.policies["a"].Definition {
			assert.Equal(t, want, n, text)
		}
	}
	for _, text := range []string{
		"max_length_bytes = 1MiB", "max_length_bytes = 1kB", "max_length_bytes = 1M", "max_length_bytes = 1TB", "max_length_bytes = 1 MB",
		"max_length_bytes = -1", "max_length_bytes = 99999999999GB", "max_length_bytes = 99999999999999999999",
		"max_length = 0", "max_in_memory_length = 0", "delivery_limit = 0", "max_length = 10k",
		"expires = 5000", "message_ttl = 0s", "expires = 500us", "expires = 5.h", "expires = 1h 5m", "expires = ms", "expires = 99999999999w",
	} {
		_, err := settingsOf(t, "default_policies.operator.a."+text)
		assert.ErrorContains(t, err, "leveret.conf:1: default_policies.operator.a.", text)
	}
}

// A broker that is reset is set up as at the first start.
// Rules.
func TestResetSetsUpAgain(t *testing.T) {
	s := testSettings(t)
	file, err := settingsOf(t, defaultsOfVHosts+"default_user = eve\ndefault_pass = secret\ncluster_name = farm\ndefault_policies.operator.all.max_length = 9")
	require.NoError(t, err)
	s.vhosts, s.users, s.clusterName = file.vhosts, file.users, file.clusterName
	srv := startForTest(t, s)
	before := func() []any {
		first, err := srv.broker.VHost("/")
		require.NoError(t, err)
		return []any{first.OperatorPolicies(), srv.broker.Permissions(), len(srv.broker.GlobalParameters())}
	}
	want := before()
	require.NoError(t, srv.broker.AddUser("other", "x"))
	for _, command := range []string{"stop_app", "reset", "start_app"} {
		_, stderr, status := controlOf(s)([]string{command}, "")
		require.Zero(t, status, stderr)
	}
	assert.Equal(t, want, before())
	assert.NoError(t, srv.broker.Authenticate("eve", "secret"))
	assert.Error(t, srv.broker.Authenticate("guest", "guest"))
	_, err = srv.broker.User("other")
	assert.Error(t, err)
}
