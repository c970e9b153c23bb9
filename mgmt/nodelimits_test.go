package mgmt_test

import (
	"net/http"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Rules: A-15.
func TestConnectionLimitOfNode(t *testing.T) {
	b, a, _ := newAPI(t, leveret.WithNodeLimits(leveret.NodeLimits{MaxConnections: 1}))
	checks := []string{"health/checks/below-node-connection-limit", "health/checks/ready-to-serve-clients"}
	for _, path := range checks {
		assert.Equal(t, http.StatusOK, a.do("GET", path, "").status, path)
	}
	_, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	full := map[string]any{"status": "failed", "reason": "node connection limit is reached"}
	got := a.do("GET", checks[0], "")
	assert.Equal(t, []any{http.StatusServiceUnavailable, full}, []any{got.status, got.body})
	full["connections"] = float64(1)
	got = a.do("GET", checks[1], "")
	assert.Equal(t, []any{http.StatusServiceUnavailable, full}, []any{got.status, got.body})
}

// Rules: A-15.
func TestVHostLimitOfNode(t *testing.T) {
	b, a, _ := newAPI(t, leveret.WithNodeLimits(leveret.NodeLimits{MaxVHosts: 2}))
	refused := map[string]any{"error": "bad_request", "reason": "cannot create vhost 'three': vhost limit of 2 is reached"}
	got := a.do("POST", "definitions", `{"vhosts":[{"name":"two"},{"name":"three"}]}`)
	assert.Equal(t, []any{http.StatusBadRequest, refused}, []any{got.status, got.body})
	assert.Len(t, b.VHosts(), 1, "what is refused changes nothing")
	for range 2 {
		assert.Less(t, a.do("PUT", "vhosts/two", "{}").status, 300)
	}
	got = a.do("PUT", "vhosts/three", "{}")
	assert.Equal(t, []any{http.StatusBadRequest, refused}, []any{got.status, got.body})
}
