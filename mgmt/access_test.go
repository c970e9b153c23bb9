package mgmt_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func reasonOf(r result) any {
	o, _ := r.body.(map[string]any)
	return o["reason"]
}

// What each tag lets a user see and do, as RabbitMQ's documentation of the tags has it.
func TestTags(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	api := direct{t, mgmt.Handler(b)}
	_, err := b.CreateVHost("other")
	require.NoError(t, err)
	for user, tag := range map[string]string{"none": "impersonator", "man": "management", "pol": "policymaker", "mon": "monitoring", "adm": "administrator"} {
		require.NoError(t, b.AddUser(user, user, tag))
		require.NoError(t, b.SetPermissions(user, leveret.Permissions{Configure: ".*", Write: ".*", Read: ".*"}))
	}
	const policy = `{"pattern":"x","definition":{"max-length":1}}`
	for _, c := range []struct {
		method, path, body string
		allowed            []string // others get a 401 or 404
	}{
		{"GET", "whoami", "", []string{"man", "pol", "mon", "adm"}},
		{"GET", "overview", "", []string{"man", "pol", "mon", "adm"}},
		{"GET", "queues/%2F", "", []string{"man", "pol", "mon", "adm"}},
		{"GET", "queues/other", "", []string{"adm"}},
		{"GET", "vhost-limits/other", "", []string{"mon", "adm"}},
		{"GET", "nodes", "", []string{"mon", "adm"}},
		{"PUT", "policies/%2F/p", policy, []string{"pol", "adm"}},
		{"PUT", "operator-policies/%2F/p", policy, []string{"adm"}},
		{"PUT", "global-parameters/p", `{"value":1}`, []string{"pol", "adm"}},
		{"GET", "parameters", "", []string{"pol", "adm"}},
		{"GET", "users", "", []string{"adm"}},
		{"GET", "definitions", "", []string{"adm"}},
		{"PUT", "vhosts/new", `{}`, []string{"adm"}},
		{"PUT", "cluster-name", `{"name":"c"}`, []string{"adm"}},
	} {
		for _, user := range []string{"none", "man", "pol", "mon", "adm"} {
			r := api.send(c.method, c.path, c.body, func(req *http.Request) {
				req.SetBasicAuth(user, user)
				req.Header.Set("Content-Type", "application/json")
			})
			assert.Equal(t, contains(c.allowed, user), r.status < 300, "%s %s as %s: %d %v", c.method, c.path, user, r.status, r.body)
		}
	}
	r := api.send("GET", "whoami", "", func(req *http.Request) { req.SetBasicAuth("none", "none") })
	assert.Equal(t, "Not management user", reasonOf(r))
	seen := func(user, path string) int {
		r := api.send("GET", path, "", func(req *http.Request) { req.SetBasicAuth(user, user) })
		return len(r.body.([]any))
	}
	assert.Equal(t, 3, seen("mon", "vhosts"), "a monitor sees all virtual hosts")
	assert.Equal(t, 1, seen("man", "vhosts"), "others see those that they may enter")
}

func contains(all []string, one string) bool {
	for _, s := range all {
		if s == one {
			return true
		}
	}
	return false
}

// Users see and close their own connections, monitors see all, administrators close all.
func TestOwnConnections(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	api := direct{t, mgmt.Handler(b)}
	for user, tag := range map[string]string{"man": "management", "mon": "monitoring"} {
		require.NoError(t, b.AddUser(user, user, tag))
		require.NoError(t, b.SetPermissions(user, leveret.Permissions{Configure: ".*", Write: ".*", Read: ".*"}))
	}
	theirs, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Name: "theirs"})
	require.NoError(t, err)
	own, err := b.Open(leveret.ConnConfig{User: "man", VHost: "/", Name: "own"})
	require.NoError(t, err)
	as := func(user, method, path string) int {
		return api.send(method, path, "", func(req *http.Request) { req.SetBasicAuth(user, user) }).status
	}
	assert.Equal(t, 401, as("man", "GET", "connections/theirs"))
	assert.Equal(t, 401, as("man", "DELETE", "connections/theirs"))
	assert.Equal(t, 401, as("man", "DELETE", "connections/username/guest"))
	assert.Equal(t, 200, as("mon", "GET", "connections/theirs"))
	assert.Equal(t, 401, as("mon", "DELETE", "connections/theirs"))
	assert.Equal(t, 200, as("man", "GET", "connections/own"))
	assert.Equal(t, 204, as("man", "DELETE", "connections/own"))
	assert.ErrorContains(t, own.Err(), "Closed via management plugin")
	assert.NoError(t, theirs.Err())
	r := api.send("DELETE", "connections/username/guest", "", func(req *http.Request) { req.Header.Set("X-Reason", "tidying") })
	assert.Equal(t, 204, r.status)
	assert.ErrorContains(t, theirs.Err(), "tidying")
}

func TestLogin(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	for _, c := range []struct {
		from  string
		users []string
		in    bool
	}{
		{"127.0.0.1:1", nil, true}, {"[::1]:1", nil, true}, {"[::ffff:127.0.0.1]:1", nil, true},
		{"10.1.2.3:1", nil, false}, {"10.1.2.3:1", []string{}, true},
		// These do not tell where the far end is.
		{"", nil, false}, {"@", nil, false}, {"websocket", nil, false}, {"tunnel:1", nil, false}, {"localhost:1", nil, false},
		{"127.0.0.1", nil, false},
	} {
		api := direct{t, mgmt.Handler(b, mgmt.Config{LoopbackUsers: c.users})}
		r := api.send("GET", "whoami", "", func(req *http.Request) { req.RemoteAddr = c.from })
		assert.Equal(t, c.in, r.status == 200, "%q %v", c.from, c.users)
		if !c.in {
			assert.Equal(t, "User can only log in via localhost", reasonOf(r))
		}
	}
}

// Who reaches a Unix socket is on this machine.
func TestLoginOverAUnixSocket(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	dir, err := os.MkdirTemp("", "mgmt") // t.TempDir may be too long for a socket
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	require.NoError(t, err)
	server := &http.Server{Handler: mgmt.Handler(b)}
	go server.Serve(l)
	defer server.Close()
	client := http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return net.Dial("unix", l.Addr().String())
	}}}
	defer client.CloseIdleConnections()
	resp, err := client.Get("http://guest:guest@node/api/whoami")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, http.StatusOK, resp.StatusCode)
}

// A page of another site cannot use the credentials that a browser keeps.
func TestCrossOrigin(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	api := direct{t, mgmt.Handler(b)}
	from := func(site string) func(*http.Request) {
		return func(req *http.Request) { req.Header.Set("Sec-Fetch-Site", site) }
	}
	assert.Equal(t, 403, api.send("PUT", "queues/%2F/q", "{}", from("cross-site")).status)
	assert.Empty(t, b.Queues())
	assert.Equal(t, 201, api.send("PUT", "queues/%2F/q", "{}", from("same-origin")).status)
	assert.Equal(t, 204, api.send("DELETE", "queues/%2F/q", "", from("none")).status)
}

// A closed broker has nothing in it, and nobody can log in.
func TestClosedBroker(t *testing.T) {
	b := leveret.New()
	api := direct{t, mgmt.Handler(b)}
	require.NoError(t, b.Close())
	for _, path := range []string{"overview", "queues", "queues/%2F", "vhosts", "nodes", "definitions"} {
		assert.NotEqual(t, 500, api.send("GET", path, "").status, path)
	}
}
