package mgmt_test

import (
	"net/http"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
)

// The header X-Vhost names the virtual host of a list whose path names none: the answer is that of the path with the virtual host, as
// the live brokers give it.
func TestHeaderXVhost(t *testing.T) {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		api := furnished(t, profile)
		for _, put := range [][2]string{
			{"vhosts/v2", `{}`}, {"permissions/v2/guest", `{"configure":".*","write":".*","read":".*"}`}, {"queues/v2/q2", `{}`},
			{"policies/v2/p2", `{"pattern":"zz","definition":{"max-length":5}}`},
			{"users/lim", `{"password":"lim","tags":"policymaker"}`}, {"permissions/%2F/lim", `{"configure":"","write":"","read":""}`},
		} {
			assert.Less(t, api.send("PUT", put[0], put[1]).status, 300, put[0])
		}
		limit := api.send("PUT", "vhost-limits/v2/max-queues", `{"value":50}`, func(r *http.Request) { r.Header.Set("Content-Type", "application/json") })
		assert.Less(t, limit.status, 300)
		get := func(path, vhost, user string) result {
			r := api.send("GET", path, "", func(r *http.Request) {
				r.SetBasicAuth(user, user)
				r.Header.Set("X-Vhost", vhost)
			})
			r.header = nil
			return r
		}
		lists := []string{"queues", "exchanges", "bindings", "policies", "operator-policies", "vhost-limits", "parameters/policy", "definitions"}
		if profile == leveret.RabbitMQ43 {
			lists = append(lists, "consumers")
		}
		for _, path := range lists {
			for _, user := range []string{"guest", "lim"} {
				for vhost, escaped := range map[string]string{"v2": "v2", "/": "%2F"} {
					want, got := get(path+"/"+escaped, "", user), get(path, vhost, user)
					assert.Equal(t, want, got, "%s: %s as %s in %s", profile.Version(), path, user, vhost)
				}
			}
		}
		assert.NotEqual(t, get("queues", "", "guest").body, get("queues", "v2", "guest").body)
		for _, path := range []string{"vhosts", "users", "permissions", "queues/%2F", "channels"} {
			assert.Equal(t, get(path, "", "guest").body, get(path, "v2", "guest").body, "%s: %s", profile.Version(), path)
		}
		if profile == leveret.RabbitMQ43 {
			for _, path := range lists {
				assert.Equal(t, get(path+"/none", "", "guest"), get(path, "none", "guest"), path)
			}
			assert.Len(t, get("queues/detailed", "v2", "guest").body, 1)
		}
		for _, user := range []string{"guest", "lim"} {
			assert.Equal(t, 500, get("bindings/none/e/a/x/b", "", user).status)
			assert.Equal(t, 404, get("bindings/none/e/a/x/b/~", "", user).status)
		}
		assert.Equal(t, 500, get("bindings/%2F/e/a/x/b/~", "", "guest").status)
		assert.Equal(t, 501, api.send("TRACE", "", "").status)
	}
}
