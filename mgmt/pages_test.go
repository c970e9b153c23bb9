package mgmt_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
)

// paths of lists and objects, with those lists that have pages.
var (
	pagedPaths = []string{"connections", "connections/username/guest", "channels", "exchanges", "exchanges/%2F", "queues", "queues/%2F", "vhosts"}
	userPaths  = []string{"users", "users/without-permissions"} // have pages in 4.3
	wholePaths = []string{"overview", "nodes", "extensions", "vhosts/%2F/connections", "vhosts/%2F/channels", "consumers", "consumers/%2F",
		"exchanges/%2F/amq.topic", "exchanges/%2F/amq.topic/bindings/source", "exchanges/%2F/amq.topic/bindings/destination",
		"queues/%2F/q", "queues/%2F/q/bindings", "bindings", "bindings/%2F", "bindings/%2F/e/amq.topic/q/q",
		"bindings/%2F/e/amq.default/q/q/q", "vhosts/%2F", "vhosts/%2F/permissions", "vhosts/%2F/topic-permissions", "users/guest",
		"users/guest/permissions", "users/guest/topic-permissions", "user-limits", "user-limits/guest", "whoami", "permissions",
		"permissions/%2F/guest", "topic-permissions", "topic-permissions/%2F/guest", "topic-permissions/%2F/guest/amq.topic",
		"parameters", "parameters/operator_policy", "parameters/nope/%2F", "parameters/operator_policy/%2F",
		"parameters/operator_policy/%2F/p", "global-parameters", "global-parameters/internal_cluster_id", "policies", "policies/%2F",
		"policies/%2F/p", "operator-policies", "operator-policies/%2F", "operator-policies/%2F/p", "vhost-limits", "vhost-limits/%2F",
		"feature-flags", "cluster-name"}
	checkPaths = []string{"aliveness-test/%2F", "health/checks/alarms", "health/checks/node-is-quorum-critical", "health/checks/port-listener/5672",
		"health/checks/protocol-listener/amqp", "health/checks/virtual-hosts", "health/checks/certificate-expiration/1/weeks"}
)

// sentAsJSON says that the body of a request is JSON, as some paths want it.
func sentAsJSON(r *http.Request) { r.Header.Set("Content-Type", "application/json") }

// furnished is an API with one thing in most lists.
func furnished(t *testing.T, profile leveret.Profile) direct {
	b := leveret.New(leveret.WithProfile(profile))
	t.Cleanup(func() { b.Close() })
	api := direct{t, mgmt.Handler(b, mgmt.Config{Listeners: []mgmt.Listener{{Protocol: "amqp", Port: 5672}}})}
	policy := `{"pattern":"q","definition":{"max-length":5}}`
	for path, body := range map[string]string{
		"queues/%2F/q": `{"durable":true}`, "policies/%2F/p": policy, "operator-policies/%2F/p": policy, "vhosts/v": `{}`,
		"vhost-limits/%2F/max-queues": `{"value":10}`, "user-limits/guest/max-channels": `{"value":10}`,
		"topic-permissions/%2F/guest": `{"exchange":"amq.topic","write":"","read":""}`,
	} {
		assert.Less(t, api.send("PUT", path, body, sentAsJSON).status, 300, path)
	}
	return api
}

// Few lists have pages. For all other answers the parameters of a page are looked at only so far that RabbitMQ fails at
// wrong ones.
func TestWhatHasPages(t *testing.T) {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		api := furnished(t, profile)
		paged, whole := pagedPaths, append(wholePaths, userPaths...)
		if profile == leveret.RabbitMQ43 {
			paged, whole = append(append(paged, userPaths...), "queues/detailed"), wholePaths
		}
		for _, path := range paged {
			o, ok := api.at(path + "?page=1&page_size=2").(map[string]any)
			assert.True(t, ok && o["page_size"] == 2.0, path)
			for _, wrong := range []string{"page=a", "page=0", "page=1&page_size=0"} {
				r := api.send("GET", path+"?"+wrong, "")
				assert.Equal(t, 400, r.status, "%s?%s", path, wrong)
			}
		}
		for _, path := range whole {
			if path != "overview" && path != "nodes" && path != "queues/%2F/q" {
				assert.Equal(t, api.at(path), api.at(path+"?page=2&page_size=1"), path)
			}
			for _, wrong := range []string{"page=a", "page=0", "page=1&page_size=0"} {
				r := api.send("GET", path+"?"+wrong, "")
				assert.Equal(t, 500, r.status, "%s?%s", path, wrong)
				assert.Nil(t, r.body, path)
			}
		}
		for _, path := range checkPaths {
			want := 500
			if profile == leveret.RabbitMQ310 {
				want = 200
			}
			assert.Equal(t, want, api.send("GET", path+"?page=1", "").status, path)
			assert.Equal(t, 500, api.send("GET", path+"?page=a", "").status, path)
		}
	}
}

// What has none of the columns is an empty list. An object is cut only if no page is asked for, a list in any case.
func TestColumns(t *testing.T) {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		api := furnished(t, profile)
		isOld := profile == leveret.RabbitMQ310
		for _, path := range append(append(pagedPaths, userPaths...), wholePaths...) {
			cut, isList := api.at(path + "?columns=zz").([]any)
			assert.True(t, isList, path)
			if (strings.HasPrefix(path, "vhost-limits") || path == "vhosts") && !isOld {
				assert.Equal(t, api.at(path), api.at(path+"?columns=zz"), path)
				continue
			}
			if all, isList := api.at(path).([]any); isList {
				assert.Len(t, cut, len(all), path)
			} else {
				assert.Empty(t, cut, path)
			}
			for _, item := range cut {
				assert.Equal(t, []any{}, item, path)
			}
		}
		for _, path := range checkPaths {
			want := api.at(path)
			if isOld {
				want = []any{}
			}
			assert.Equal(t, want, api.at(path+"?columns=zz"), path)
		}
		failing := api.send("GET", "health/checks/port-listener/1?columns=zz", "")
		assert.Equal(t, 503, failing.status)
		definitions := api.at("definitions/%2F?columns=zz&page=1")
		assert.NotEmpty(t, definitions)
		if isOld {
			assert.Equal(t, []any{}, failing.body)
			assert.Equal(t, []any{}, api.at("definitions/%2F?columns=zz"))
			assert.Equal(t, 500, api.send("GET", "definitions/%2F?page=a", "").status)
		} else {
			assert.Equal(t, "failed", failing.body.(map[string]any)["status"])
			assert.Equal(t, definitions, api.at("definitions/%2F?columns=zz"))
			assert.Equal(t, definitions, api.at("definitions/%2F?page=a"))
		}
		assert.Equal(t, map[string]any{"name": "q"}, api.at("queues/%2F/q?columns=name"))
		assert.Equal(t, map[string]any{"metadata": api.at("vhosts/%2F", "metadata")}, api.at("vhosts/%2F?columns=metadata.zz"))
		assert.Len(t, api.at("overview?columns=object_totals.zz", "object_totals"), 5)
		assert.Equal(t, []any{map[string]any{"port": 5672.0}}, api.at("overview?columns=listeners.port", "listeners"))
		assert.Equal(t, []any{[]any{}}, api.at("overview?columns=listeners.zz", "listeners"))
		assert.Contains(t, api.at("queues/%2F/q?page=1&columns=name"), "durable")
		assert.Equal(t, []any{map[string]any{"name": "p"}}, api.at("policies/%2F?page=1&columns=name"))
		assert.Len(t, api.at("topic-permissions/%2F/guest?page=1&columns=user").([]any)[0], 5)
		assert.Equal(t, []any{map[string]any{"user": "guest"}}, api.at("topic-permissions/%2F/guest?columns=user"))
		assert.Contains(t, api.at("queues/%2F?page=1&columns=name", "items"), map[string]any{"name": "q"})
	}
}
