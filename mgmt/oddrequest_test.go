package mgmt_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
)

// Requests that no client makes are answered with the status of both releases, 4.3 first.
func TestOddRequests(t *testing.T) {
	for _, c := range []struct {
		request, header string
		status          [2]int
	}{
		{"GET whoami", "Accept: application/json;q=2", [2]int{400, 400}},
		{"GET whoami", "Accept: application/json;q=01", [2]int{400, 400}},
		{"GET whoami", "Accept: application/json;q=0.5;x=y", [2]int{200, 200}},
		{"GET whoami", "If-None-Match: ", [2]int{400, 400}},
		{"GET queues/%2F/nope", "If-Match: *", [2]int{412, 412}},
		{"GET queues?page=1&name", "", [2]int{400, 400}},
		{"GET queues?columns", "", [2]int{400, 400}},
		{"GET queues?sort", "", [2]int{400, 400}},
		{"GET queues/%2F/a|b", "", [2]int{400, 400}},
		{"GET user-limits//", "", [2]int{404, 404}},
		{"GET x/..", "", [2]int{301, 301}},
		{"GET nodes?columns", "", [2]int{500, 500}},
		{"GET consumers?sort", "", [2]int{500, 500}},
		{"GET bindings?sort_reverse", "", [2]int{500, 500}},
		{"POST bindings/%2F/e/nope/q/q", "If-Match: *", [2]int{412, 412}},
		{"GET connections/nope/channels", "", [2]int{500, 500}},
		{"GET nodes/nope", "", [2]int{404, 500}},
		{"GET queues?page=zz", "If-None-Match: *", [2]int{304, 304}},
		{"POST queues/%2F/nope/get", "Content-Type: json", [2]int{404, 415}},
		{"POST exchanges/%2F/nope/publish", "Content-Type: json", [2]int{404, 415}},
	} {
		for n, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
			b := leveret.New(leveret.WithProfile(profile))
			_, err := b.DeclareQueue("q", leveret.QueueConfig{Durable: true})
			assert.NoError(t, err)
			got := negotiate(mgmt.Handler(b), negotiated{request: c.request, header: c.header, body: "{}"})
			assert.Equal(t, c.status[n], got.Code, "%s %s %s", profile.Version(), c.request, c.header)
			b.Close()
		}
	}
}

// A user who may not see all connections is answered otherwise than an administrator.
func TestOddRequestsOfOthers(t *testing.T) {
	for request, status := range map[string][2]int{
		"GET connections/nope":          {500, 500},
		"DELETE connections/nope":       {500, 500},
		"GET connections/nope/channels": {500, 500},
		"GET connections/nope/sessions": {500, 404},
		"GET connections/username/ann":  {200, 500},
		"GET channels/nope":             {500, 500},
		"GET feature-flags":             {200, 401},
	} {
		for n, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
			b := leveret.New(leveret.WithProfile(profile))
			assert.NoError(t, b.AddUser("ann", "pw", "management"))
			method, path, _ := strings.Cut(request, " ")
			req := httptest.NewRequest(method, "/api/"+path, nil)
			req.SetBasicAuth("ann", "pw")
			rec := httptest.NewRecorder()
			mgmt.Handler(b).ServeHTTP(rec, req)
			assert.Equal(t, status[n], rec.Code, "%s %s", profile.Version(), request)
			b.Close()
		}
	}
}

// What RabbitMQ says of a virtual host without definitions may not be kept.
func TestMissingDefinitionsAreNotCached(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	got := negotiate(mgmt.Handler(b), negotiated{request: "GET definitions/none"})
	assert.Equal(t, http.StatusBadRequest, got.Code)
	assert.Equal(t, "no-cache", got.Header().Get("Cache-Control"))
}
