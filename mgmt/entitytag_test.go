package mgmt_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
)

// Definitions have an entity tag in 4.3. The answers are those of the live broker.
func TestEntityTag(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	ask := func(b *leveret.Broker, method, header, condition string) *httptest.ResponseRecorder {
		req := httptest.NewRequest(method, "/api/definitions", strings.NewReader("{}"))
		req.RemoteAddr = "127.0.0.1:1"
		req.SetBasicAuth("guest", "guest")
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept-Encoding", "gzip")
		req.Header.Set(header, condition)
		got := httptest.NewRecorder()
		mgmt.Handler(b).ServeHTTP(got, req)
		return got
	}
	whole := ask(b, "GET", "X-None", "")
	tag := whole.Header().Get("ETag")
	assert.Regexp(t, `^"[0-9a-f]+"$`, tag)
	assert.Empty(t, whole.Header().Get("Content-Encoding"), "what has a tag is not compressed")
	assert.Equal(t, tag, ask(b, "GET", "X-None", "").Header().Get("ETag"))

	for _, c := range []struct {
		method, header, condition string
		want                      int
	}{
		{"GET", "If-None-Match", tag, 304},
		{"GET", "If-None-Match", "*", 304},
		{"GET", "If-None-Match", "W/" + tag, 304},
		{"GET", "If-None-Match", `"x", ` + tag, 304},
		{"GET", "If-None-Match", `"x"`, 200},
		{"GET", "If-None-Match", `x`, 400},
		{"GET", "If-Match", tag, 200},
		{"GET", "If-Match", "*", 200},
		{"GET", "If-Match", `"x"`, 412},
		{"POST", "If-Match", `"x"`, 412},
		{"POST", "If-None-Match", `"x"`, 204},
		{"POST", "If-None-Match", "*", 412},
	} {
		got := ask(b, c.method, c.header, c.condition)
		assert.Equal(t, c.want, got.Code, "%v", c)
		if c.want == 304 {
			assert.Equal(t, tag, got.Header().Get("ETag"), "%v", c)
		}
	}

	_, err := b.DeclareQueue("q", leveret.QueueConfig{Durable: true})
	assert.NoError(t, err)
	assert.Equal(t, 200, ask(b, "GET", "If-None-Match", tag).Code, "the definitions are others now")

	old := leveret.New(leveret.WithProfile(leveret.RabbitMQ310))
	defer old.Close()
	assert.Empty(t, ask(old, "GET", "X-None", "").Header().Get("ETag"))
}
