package mgmt_test

import (
	"compress/gzip"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What is compressed, as the live brokers do.
func TestCompression(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	api := mgmt.Handler(b)
	for _, c := range []struct {
		method, path, takes string
		compressed          bool
	}{
		{"GET", "overview", "gzip", true},
		{"GET", "overview", "x;q=1,GZIP;q=0.5", true},
		{"GET", "overview", "deflate, gzip", true},
		{"GET", "overview", "gzip,", true},
		{"GET", "overview", "", false},
		{"GET", "overview", "*", false},
		{"GET", "overview", "x-gzip", false},
		{"GET", "overview", "gzip;q=0", false},
		{"GET", "overview", "gzip;q=2", false},
		{"GET", "overview", "gzip, br;q=x", false},
		{"HEAD", "overview", "gzip", false},
		{"GET", "whoami", "gzip", false},
		{"GET", "nope", "gzip", false},
	} {
		req := httptest.NewRequest(c.method, "/api/"+c.path, nil)
		req.RemoteAddr = "127.0.0.1:1"
		req.SetBasicAuth("guest", "guest")
		if c.takes != "" {
			req.Header.Set("Accept-Encoding", c.takes)
		}
		got := httptest.NewRecorder()
		api.ServeHTTP(got, req)
		want := ""
		if c.compressed {
			want = "gzip"
		}
		assert.Equal(t, want, got.Header().Get("Content-Encoding"), "%v", c)
	}
}

func TestCompressedAnswerIsWhole(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	for i := range 100 {
		_, err := b.DeclareQueue("queue"+strconv.Itoa(i), leveret.QueueConfig{})
		require.NoError(t, err)
	}
	server := httptest.NewServer(mgmt.Handler(b))
	defer server.Close()
	req, err := http.NewRequest(http.MethodGet, server.URL+"/api/queues", nil)
	require.NoError(t, err)
	req.SetBasicAuth("guest", "guest")
	req.Header.Set("Accept-Encoding", "gzip") // given by hand, so the client leaves the answer as it is
	got, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer got.Body.Close()
	plain, err := gzip.NewReader(got.Body)
	require.NoError(t, err)
	var queues []any
	require.NoError(t, json.NewDecoder(plain).Decode(&queues))
	assert.Len(t, queues, 100)
}
