package definitions_test

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// importAll imports documents one after the other.
func importAll(t *testing.T, b *leveret.Broker, documents ...string) {
	for _, document := range documents {
		require.NoError(t, definitions.Import(b, []byte(document)), document)
	}
}

// What the entry of a virtual host does not say gets its default, as in 4.3 and 3.10.
// Rules: J-3.
func TestVirtualHostsAreReplaced(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	importAll(t, b, `{"vhosts":[{"name":"v","metadata":{"description":"d","tags":["a"],"default_queue_type":"quorum"}}]}`,
		`{"vhosts":[{"name":"v"}]}`)
	v, err := b.VHost("v")
	require.NoError(t, err)
	info := v.Info()
	assert.Empty(t, info.Description)
	assert.Empty(t, info.Tags)
	assert.EqualValues(t, leveret.QueueTypeClassic, info.DefaultQueueType)
}

// Limits that an entry does not name stay, and all of them if the entry has no password.
// Rules: J-3.
func TestLimitsOfAUserStay(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	importAll(t, b, `{"users":[{"name":"u","password_hash":"eA==","tags":[],"limits":{"max-connections":3}}]}`,
		`{"users":[{"name":"u","password_hash":"eA==","tags":[],"limits":{"max-channels":4}}]}`,
		`{"users":[{"name":"u","tags":[],"limits":{"max-channels":9}}]}`)
	u, err := b.User("u")
	require.NoError(t, err)
	assert.Equal(t, leveret.UserLimits{MaxConnections: 3, MaxChannels: 4}, u.Limits)
	assert.Empty(t, u.Password.Hash)
}

// A hash that does not say its algorithm is one of MD5 in documents of RabbitMQ before 3.6.
// Rules: J-5.
func TestHashesOfOldDocuments(t *testing.T) {
	const md5, sha256 = "rabbit_password_hashing_md5", "rabbit_password_hashing_sha256"
	for head, want := range map[string]string{
		`"rabbit_version":"3.5.4"`:                            md5,
		`"rabbitmq_version":"3.0.1"`:                          md5,
		`"rabbitmq_version":"3.6.0","rabbit_version":"3.5.4"`: sha256,
		`"rabbit_version":"3.10.8"`:                           sha256,
		`"rabbit_version":3.5`:                                sha256,
	} {
		b := leveret.New()
		importAll(t, b, `{`+head+`,"users":[{"name":"u","password_hash":"eA==","tags":[]}]}`)
		u, err := b.User("u")
		assert.NoError(t, err, head)
		assert.Equal(t, want, u.Password.Algorithm, head)
		assert.NoError(t, b.Close())
	}
}

// A user who is new gets the permissions of the entry, another one does not.
// Rules: J-3.
func TestFirstPermissions(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	const entry = `{"users":[{"name":"u","password_hash":"eA==","administrator":"true","permissions":{"/":{"configure":"a","write":"","read":""}}}]}`
	importAll(t, b, entry)
	u, err := b.User("u")
	require.NoError(t, err)
	assert.Equal(t, []string{"administrator"}, u.Tags)
	permitted := func() (users []string) {
		v, err := b.VHost("/")
		require.NoError(t, err)
		for _, p := range v.Permissions() {
			users = append(users, p.User+" "+p.Configure)
		}
		return users
	}
	assert.Equal(t, []string{"guest .*", "u a"}, permitted())
	v, err := b.VHost("/")
	require.NoError(t, err)
	require.NoError(t, v.ClearPermissions("u"))
	importAll(t, b, entry)
	assert.Equal(t, []string{"guest .*"}, permitted())

	for entry, reason := range map[string]string{
		`"administrator":"yes"`:                           `{not_boolean,<<"yes">>}`,
		`"tags":[],"permissions":1`:                       "function_clause",
		`"tags":[],"permissions":{"no":{}}`:               `Please create virtual host "no" prior to importing definitions.`,
		`"tags":null,"administrator":"true"`:              "tags_not_present",
		`"tags":[],"limits":{"max-channels":"x"}`:         `{errors,[{"~ts should be a number, actually was ~tp",` + "\n          " + `[<<"max-channels">>,<<"x">>]}]}`,
		`"tags":[],"password":"x","password_hash":"eA=="`: "both_password_and_password_hash_are_provided",
		`"tags":[],"permissions":{"/":{"configure":"("}}`: `key "write" is missing`,
		`"tags":[],"password_hash":"#"`:                   `{not_base64,<<"#">>}`,
	} {
		err := definitions.Import(b, []byte(`{"users":[{"name":"w",`+entry+`}]}`))
		assert.ErrorContains(t, err, reason, entry)
	}
}

// In 3.10 an exchange must say whether it is durable, after its type was looked at.
// Rules: J-9.
func TestExchangesThatDoNotSayWhetherTheyAreDurable(t *testing.T) {
	document := func(kind string) []byte {
		return []byte(`{"exchanges":[{"name":"x","vhost":"/","type":"` + kind + `"}]}`)
	}
	b := leveret.New(leveret.WithProfile(leveret.RabbitMQ310))
	defer b.Close()
	assert.ErrorContains(t, definitions.Import(b, document("direct")), "exchanges[0] 'x': function_clause")
	assert.ErrorContains(t, definitions.Import(b, document("nope")), "exchange type 'nope'")
	b43 := leveret.New()
	defer b43.Close()
	assert.NoError(t, definitions.Import(b43, document("direct")))
}
