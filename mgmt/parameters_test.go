package mgmt_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Parameters are listed by virtual host and name, whatever their components are.
func TestParametersAreListedByName(t *testing.T) {
	_, a, _ := newAPI(t)
	for _, vhost := range []string{"b", "a"} {
		assert.Equal(t, 201, a.do("PUT", "vhosts/"+vhost, "{}").status)
		for _, policy := range []string{"o", "b"} {
			body := `{"pattern":"","definition":{"max-length":1}}`
			assert.Equal(t, 201, a.do("PUT", "operator-policies/"+vhost+"/"+policy, body).status)
		}
		assert.Equal(t, 204, a.do("PUT", "vhost-limits/"+vhost+"/max-queues", `{"value":1}`).status)
	}
	assert.Equal(t, []string{"b", "limits", "o", "b", "limits", "o"}, a.names("parameters"))
}
