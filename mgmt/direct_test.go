package mgmt_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A direct API is a handler that is called without a network, in a bubble of testing/synctest for example.
type direct struct {
	t *testing.T
	http.Handler
}

// send sends a request for guest from this machine, as change alters it.
func (d direct) send(method, path, body string, change ...func(*http.Request)) result {
	req := httptest.NewRequest(method, "/api/"+path, strings.NewReader(body))
	req.RemoteAddr = "127.0.0.1:50000"
	req.SetBasicAuth("guest", "guest")
	for _, f := range change {
		f(req)
	}
	rec := httptest.NewRecorder()
	d.ServeHTTP(rec, req)
	r := result{status: rec.Code, header: rec.Header()}
	if strings.HasPrefix(rec.Header().Get("Content-Type"), "application/json") {
		require.NoError(d.t, json.Unmarshal(rec.Body.Bytes(), &r.body))
	}
	return r
}

// at returns a value in the answer to a GET, at a path of names.
func (d direct) at(path string, names ...string) any {
	r := d.send("GET", path, "")
	require.Equal(d.t, http.StatusOK, r.status, "%v", r.body)
	v := r.body
	for _, name := range names {
		o, ok := v.(map[string]any)
		require.True(d.t, ok, "%s of %v", name, v)
		v = o[name]
	}
	return v
}
