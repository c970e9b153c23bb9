package mgmt_test

import (
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Where RabbitMQ's web server has come to when it answers: the answer has headers accordingly.
type stage int

const (
	bare   stage = iota // its handler failed: no headers
	early               // before Accept was looked at
	late                // after that
	single              // after that, where there is one kind of answer only
)

// headersAt are the headers of both releases' answers, but Allow, at a stage.
func headersAt(s stage, profile leveret.Profile) map[string]string {
	isOld := profile == leveret.RabbitMQ310
	h := map[string]string{"Content-Security-Policy": "script-src 'self'; object-src 'self'", "Vary": "origin, accept-encoding",
		"Cache-Control": "public, max-age=0, must-revalidate"}
	if isOld {
		h = map[string]string{"Content-Security-Policy": "script-src 'self' 'unsafe-eval' 'unsafe-inline'; object-src 'self'", "Vary": "origin"}
	}
	switch s {
	case bare:
		return map[string]string{}
	case late:
		h["Vary"] = "accept, accept-encoding, origin"
	case single:
		h["Vary"] = "accept-encoding, origin"
	}
	return h
}

// A negotiated is a request and what both releases of RabbitMQ answered.
type negotiated struct {
	request string // method and path
	header  string // "Name: value"; empty: none
	body    string
	status  int
	at      stage
}

const gettingOne = `{"count":1,"ackmode":"ack_requeue_true","encoding":"auto"}`

var negotiations = []negotiated{
	{"GET whoami", "", "", 200, late},
	{"HEAD whoami", "", "", 200, late},
	{"OPTIONS whoami", "", "", 200, early},
	{"POST whoami", "", "{}", 405, early},
	{"GET queues/%2F/nope", "", "", 404, late},
	{"PUT queues/%2F/q", "", `{"durable":true}`, 204, late},
	{"PUT queues/%2F/q", "", `{"durable":false}`, 400, late},
	{"DELETE queues/%2F/q/contents", "", "", 204, single},
	{"DELETE vhost-limits/%2F/max-queues", "", "", 204, single},
	{"GET operator-policies/%2F", "", "", 200, single},
	{"GET vhost-limits/%2F", "", "", 200, single},
	{"GET user-limits", "", "", 200, single},
	{"GET topic-permissions", "", "", 200, single},
	{"POST rebalance/queues", "", "", 204, single},

	// A path that there is not is a file that there is not.
	{"GET nope", "", "", 404, early},
	{"OPTIONS nope", "", "", 200, early},
	{"POST nope", "", "{}", 405, early},
	{"FOO nope", "", "", 501, early},
	{"GET nope", "Accept: application/json", "", 406, early},
	{"GET nope", "Authorization: Basic !!!", "", 404, early},
	{"OPTIONS traces/%2F", "", "", 400, early},
	{"OPTIONS ebtree", "", "", 200, early},
	{"GET reset/zz", "", "", 405, early},
	{"OPTIONS reset/zz", "", "", 200, early},
	{"GET reset", "", "", 405, early},

	{"FOO whoami", "", "", 501, early},
	{"get whoami", "", "", 501, early},
	{"TRACE whoami", "", "", 501, bare},
	{"TRACE nope", "", "", 501, bare},
	{"PATCH whoami", "", "", 405, early},

	{"GET whoami", "Accept: text/plain", "", 406, early},
	{"GET whoami", "Accept: ", "", 406, early},
	{"GET whoami", "Accept: text/html", "", 406, early},
	{"GET whoami", "Accept: text/*", "", 406, early},
	{"GET whoami", "Accept: a/b,", "", 406, early},
	{"GET whoami", "Accept: application/json; charset=utf-8", "", 406, early},
	{"GET whoami", "Accept: zzz", "", 400, early},
	{"GET whoami", "Accept: */*", "", 200, late},
	{"GET whoami", "Accept: */*;q=0", "", 200, late},
	{"GET whoami", "Accept: application/*", "", 200, late},
	{"GET whoami", "Accept: application/JSON;q=0.1", "", 200, late},
	{"GET whoami", "Accept: text/plain, */*;q=0.1", "", 200, late},
	{"POST whoami", "Accept: text/plain", "", 405, early},
	{"OPTIONS queues/%2F/q", "Accept: text/plain", "", 200, early},
	{"PUT queues/%2F/q", "Accept: text/html", `{"durable":true}`, 406, early},
	{"POST queues/%2F/q/get", "Accept: text/html", gettingOne, 406, early},
	{"GET queues/%2F/nope", "Accept: text/plain", "", 406, early},
	{"DELETE queues/%2F/q/contents", "Accept: application/json", "", 406, early},
	{"DELETE queues/%2F/q/contents", "Accept: text/html;level=1", "", 204, single},

	{"GET whoami", "Authorization: Basic Z3Vlc3Q=", "", 400, bare},
	{"GET whoami", "Authorization: Basic !!!", "", 400, bare},
	{"GET whoami", "Authorization: Basic Z3Vlc3Q6Z3Vlc3Q", "", 400, bare},
	{"GET whoami", "Authorization: Basic", "", 400, bare},
	{"GET whoami", "Authorization: Digest x", "", 400, bare},
	{"GET whoami", "Authorization: Negotiate abc", "", 400, bare},
	{"GET whoami", "Authorization: Bearer", "", 400, bare},
	{"GET whoami", "Authorization: ", "", 400, bare},
	{"GET whoami", "Authorization: Basic  Z3Vlc3Q6Z3Vlc3Q=", "", 200, late},
	{"GET whoami", "Authorization: basic Z3Vlc3Q6Z3Vlc3Q=", "", 200, late},
	{"OPTIONS whoami", "Authorization: Basic !!!", "", 200, early},

	{"PUT queues/%2F/q", "Content-Type: application/json;", `{"durable":true}`, 415, late},
	{"PUT queues/%2F/q", `Content-Type: a/b;c="d e"`, `{"durable":true}`, 204, late},

	{"GET whoami", "If-None-Match: *", "", 304, late},
	{"GET whoami", `If-None-Match: "x"`, "", 412, late},
	{"GET whoami", "If-None-Match: zz", "", 400, bare},
	{"GET whoami", "If-Match: *", "", 200, late},
	{"GET whoami", `If-Match: "x"`, "", 412, late},
	{"GET queues/%2F/nope", "If-None-Match: *", "", 404, late},
	{"GET queues/%2F/nope", "If-None-Match: zz", "", 404, late},
	{"GET queues/%2F/nope", "If-Match: *", "", 412, late},
	{"DELETE queues/%2F/nope", `If-Match: "x"`, "", 412, late},
	{"DELETE queues/%2F/nope", "If-None-Match: *", "", 404, late},
	{"PUT queues/%2F/q", "If-None-Match: *", `{"durable":true}`, 412, late},
	{"PUT queues/%2F/q", `If-None-Match: "x"`, `{"durable":true}`, 412, late},
	{"PUT queues/%2F/q", "If-Match: *", `{"durable":true}`, 204, late},
	{"POST queues/%2F/q/get", "If-None-Match: *", gettingOne, 412, late},
	{"GET whoami", "If-Modified-Since: Sat, 29 Oct 1994 19:43:31 GMT", "", 200, late},

	{"PUT queues/%2F/q", "Content-Type: ", `{"durable":true}`, 415, late},
	{"PUT queues/%2F/q", "Content-Type: json", `{"durable":true}`, 415, late},
	{"PUT queues/%2F/q", "Content-Type: a/b/c", `{"durable":true}`, 415, late},
	{"PUT queues/%2F/q", "Content-Type: application/json; charset", `{"durable":true}`, 415, late},
	{"PUT queues/%2F/q", "Content-Type: application/json;charset=utf-8", `{"durable":true}`, 204, late},
	{"PUT queues/%2F/q", "Content-Type: text/plain", `{"durable":true}`, 204, late},
	{"PUT queues/%2F/q", "Content-Type: */*", `{"durable":true}`, 204, late},
	{"POST queues/%2F/q/get", "Content-Type: json", gettingOne, 415, late},
	{"DELETE queues/%2F/nope", "Content-Type: json", "", 404, late},
	{"PUT vhost-limits/%2F/max-queues", "Content-Type: text/plain", `{"value":5}`, 415, single},
	{"POST definitions", "Content-Type: application/json", "{}", 204, late},
	{"POST definitions/%2F", "Content-Type: application/xml", "[]", 415, late},
	{"POST definitions", "", "{}", 415, late},
	{"POST login", "Content-Type: application/json", "username=guest&password=guest", 415, late},
	{"PUT vhost-limits/%2F/max-queues", "", `{"value":5}`, 415, single},
}

// What a request wants besides its path is looked at in the order of RabbitMQ's web server.
func TestNegotiation(t *testing.T) {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		for _, c := range negotiations {
			b := leveret.New(leveret.WithProfile(profile))
			_, err := b.DeclareQueue("q", leveret.QueueConfig{Durable: true})
			assert.NoError(t, err)
			got := negotiate(mgmt.Handler(b), c)
			what := profile.Version() + " " + c.request + " " + c.header
			assert.Equal(t, c.status, got.Code, what)
			want := headersAt(c.at, profile)
			if got.Body.Len() > 0 && c.status == 200 || c.request[:4] == "HEAD" {
				want["Cache-Control"] = "no-cache"
			}
			found := map[string]string{}
			for name := range got.Header() {
				found[name] = got.Header().Get(name)
			}
			maps.DeleteFunc(found, func(name, _ string) bool { return name == "Allow" || name == "Content-Type" })
			assert.Equal(t, want, found, what)
			b.Close()
		}
	}
}

// negotiate sends a request of guest's.
func negotiate(h http.Handler, c negotiated) *httptest.ResponseRecorder {
	method, path, _ := strings.Cut(c.request, " ")
	req := httptest.NewRequest(method, "/api/"+path, strings.NewReader(c.body))
	req.RemoteAddr = "127.0.0.1:50000"
	req.SetBasicAuth("guest", "guest")
	if name, value, ok := strings.Cut(c.header, ": "); ok {
		req.Header.Set(name, value)
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	return rec
}

// A token and a digest are read, and are of no user.
func TestOtherCredentials(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	h := mgmt.Handler(b)
	token := negotiate(h, negotiated{request: "GET whoami", header: "Authorization: Bearer abc"})
	assert.Equal(t, 401, token.Code)
	assert.JSONEq(t, `{"error":"not_authorized","reason":"Not_Authorized"}`, token.Body.String())
	digest := negotiate(h, negotiated{request: "GET whoami", header: `Authorization: Digest username="a", realm="b"`})
	assert.Equal(t, 401, digest.Code)
	assert.Empty(t, digest.Body.String())
	assert.Equal(t, `Basic realm="RabbitMQ Management"`, digest.Header().Get("WWW-Authenticate"))
}

// The root of the API leads to its description, whatever the method.
func TestRootOfTheAPI(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	h := mgmt.Handler(b)
	for _, method := range []string{"GET", "HEAD", "POST", "OPTIONS"} {
		for _, path := range []string{"/api", "/api/"} {
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, httptest.NewRequest(method, path, nil))
			assert.Equal(t, 301, rec.Code, method+path)
			assert.Equal(t, "/api/index.html", rec.Header().Get("Location"), method+path)
		}
	}
}

// The description has the paths of the release, for whoever asks.
func TestIndex(t *testing.T) {
	for profile, has := range map[leveret.Profile]bool{leveret.RabbitMQ43: true, leveret.RabbitMQ310: false} {
		b := leveret.New(leveret.WithProfile(profile))
		defer b.Close()
		rec := httptest.NewRecorder()
		req := httptest.NewRequest("GET", "/api/index.html", nil)
		req.Header.Set("Accept", "text/html,*/*;q=0.8")
		mgmt.Handler(b).ServeHTTP(rec, req)
		assert.Equal(t, 200, rec.Code)
		assert.Contains(t, rec.Body.String(), "<td>HEAD GET PUT DELETE OPTIONS</td><td>/api/queues/{vhost}/{queue}</td>")
		assert.Contains(t, rec.Body.String(), "RabbitMQ "+profile.Version())
		assert.Equal(t, has, strings.Contains(rec.Body.String(), "/api/deprecated-features<"))
	}
}

// Nobody may keep an answer about the state of the node.
func TestUncached(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	h := mgmt.Handler(b)
	for _, path := range []string{"version", "health/checks/is-in-service", "health/checks/reached-target-cluster-size", "health/checks/ready-to-serve-clients", "health/checks/below-node-connection-limit"} {
		look := negotiate(h, negotiated{request: "GET " + path}).Header()
		assert.Equal(t, []string{"no-cache", "no-cache", "0"}, []string{look.Get("Cache-Control"), look.Get("Pragma"), look.Get("Expires")}, path)
		options := negotiate(h, negotiated{request: "OPTIONS " + path}).Header()
		assert.Equal(t, "no-cache, no-store, max-age=0, must-revalidate", options.Get("Cache-Control"), path)
	}
}

// What the user may not do the broker finds out last: the answer varies with Accept, as others do. Whom a route does not let in is found
// out before. RabbitMQ 4.3 and 3.10 agree.
func TestVaryOfRefusals(t *testing.T) {
	for p, early := range map[leveret.Profile]string{leveret.RabbitMQ43: "origin, accept-encoding", leveret.RabbitMQ310: "origin"} {
		b := leveret.New(leveret.WithProfile(p))
		defer b.Close()
		require.NoError(t, errors.Join(b.AddUser("ann", "pw", "management"), b.SetPermissions("ann", leveret.Permissions{Configure: "^a"})))
		api := direct{t, mgmt.Handler(b)}
		ann := func(r *http.Request) { r.SetBasicAuth("ann", "pw") }
		require.Equal(t, http.StatusCreated, api.send("PUT", "queues/%2F/a", "{}", ann, sentAsJSON).status)
		for _, r := range [][3]string{{"PUT", "queues/%2F/z", "{}"}, {"DELETE", "exchanges/%2F/amq.direct", ""},
			{"POST", "queues/%2F/a/get", `{"count":1,"ackmode":"ack_requeue_false","encoding":"auto"}`}} {
			got := api.send(r[0], r[1], r[2], ann, sentAsJSON)
			assert.Equal(t, []any{http.StatusUnauthorized, "accept, accept-encoding, origin"}, []any{got.status, got.header.Get("Vary")}, r)
		}
		got := api.send("GET", "users", "", ann)
		assert.Equal(t, []any{http.StatusUnauthorized, early}, []any{got.status, got.header.Get("Vary")})
	}
}
