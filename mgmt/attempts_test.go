package mgmt_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What counts as an attempt to log in, and as one that failed: as both releases of RabbitMQ answered.
// Rules: A-19.
func TestAuthAttempts(t *testing.T) {
	const succeeds, fails, isNone = "succeeds", "fails", "is none"
	none := func(r *http.Request) { r.Header.Del("Authorization") }
	header := func(value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", value) }
	}
	as := func(user, password string) func(*http.Request) {
		return func(r *http.Request) { r.SetBasicAuth(user, password) }
	}
	guest := as("guest", "guest")
	form := func(r *http.Request) {
		none(r)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, c := range []struct {
		method, path, body string
		change             func(*http.Request)
		want               string
	}{
		{"GET", "overview", "", guest, succeeds},
		{"HEAD", "overview", "", guest, succeeds},
		{"GET", "overview", "", as("guest", "x"), fails},
		{"GET", "overview", "", as("nobody", "x"), fails},
		{"GET", "overview", "", none, isNone},
		{"GET", "overview", "", header("Bearer x"), fails},
		{"GET", "overview", "", header("Basic !!"), isNone},
		{"GET", "overview", "", header("Basic Z3Vlc3Q="), isNone},
		{"GET", "overview", "", as("none", "p"), fails},
		{"GET", "whoami", "", as("man", "p"), succeeds},
		{"GET", "users", "", as("mon", "p"), fails},
		{"GET", "nodes", "", as("man", "p"), fails},
		{"GET", "queues/%2F", "", as("man", "p"), fails},
		{"GET", "queues/no", "", as("man", "p"), succeeds}, // the virtual host is looked for later
		{"GET", "queues/%2F/no", "", guest, succeeds},
		{"GET", "nonesuch", "", as("guest", "x"), isNone},
		{"POST", "overview", "", as("guest", "x"), isNone},
		{"OPTIONS", "overview", "", as("guest", "x"), isNone},
		{"GET", "overview", "", func(r *http.Request) { r.Header.Set("Accept", "text/plain") }, succeeds},
		{"PUT", "vhosts/%2F", "{", guest, succeeds},
		{"POST", "login", "username=guest&password=guest", form, succeeds},
		{"POST", "login", "username=guest&password=x", form, fails},
		{"GET", "auth", "", guest, isNone},
	} {
		for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
			b := leveret.New(leveret.WithProfile(profile))
			for user, tag := range map[string]string{"none": "", "man": "management", "mon": "monitoring"} {
				require.NoError(t, b.AddUser(user, "p", tag))
			}
			direct{t, mgmt.Handler(b)}.send(c.method, c.path, c.body, c.change)
			want := map[string]map[string]leveret.AuthAttempts{succeeds: {"http": {Succeeded: 1}}, fails: {"http": {Failed: 1}}, isNone: {}}[c.want]
			assert.Equal(t, want, b.AuthAttempts(), "%v: %s %s", profile, c.method, c.path)
			b.Close()
		}
	}
}

// The attempts are shown, the request that asks for them among them, until they are forgotten.
// Rules: A-19.
func TestAuthAttemptsAreShown(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	api := direct{t, mgmt.Handler(b, mgmt.Config{NodeName: "n@h"})}
	b.CountAuthAttempt("amqp091", true)
	b.CountAuthAttempt("amqp091", false)
	b.CountAuthAttempt("amqp091", true)
	shown := func() string {
		r := api.send("GET", "auth/attempts/n@h?columns=protocol", "")
		text, err := json.Marshal(r.body)
		require.NoError(t, err)
		return string(text)
	}
	assert.JSONEq(t, `[{"protocol":"http","auth_attempts":1,"auth_attempts_failed":0,"auth_attempts_succeeded":1},
		{"protocol":"amqp091","auth_attempts":3,"auth_attempts_failed":1,"auth_attempts_succeeded":2}]`, shown())
	assert.Equal(t, []any{}, api.send("GET", "auth/attempts/n@h/source", "").body)

	assertValues(t, api.scrape("/metrics").values, map[string]float64{
		`rabbitmq_auth_attempts_total{protocol="http"}`: 2, `rabbitmq_auth_attempts_total{protocol="amqp091"}`: 3,
		`rabbitmq_auth_attempts_succeeded_total{protocol="http"}`: 2, `rabbitmq_auth_attempts_succeeded_total{protocol="amqp091"}`: 2,
		`rabbitmq_auth_attempts_failed_total{protocol="http"}`: 0, `rabbitmq_auth_attempts_failed_total{protocol="amqp091"}`: 1,
	})

	require.Equal(t, http.StatusNotFound, api.send("DELETE", "auth/attempts/nope", "").status)
	require.Equal(t, http.StatusNoContent, api.send("DELETE", "auth/attempts/n@h", "").status)
	assert.JSONEq(t, `[{"protocol":"http","auth_attempts":1,"auth_attempts_failed":0,"auth_attempts_succeeded":1}]`, shown())
	require.NoError(t, b.Restart(leveret.StoppedNode))
	assert.Empty(t, b.AuthAttempts())
}
