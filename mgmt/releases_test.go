package mgmt_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A told is a whole answer: its status, and its error and reason if it is a refusal.
type told struct {
	status int
	kind   string
	reason any
}

var (
	done      = told{status: 204}
	noObject  = told{404, "Object Not Found", "Not Found"}
	noAccess  = told{401, "not_authorised", "Access refused."}
	failing   = told{status: 500}
	notHere   = told{status: 405}
	emptyList = told{status: 200}
	noName    = bad("[{key_missing,name}]")
	noSamples = bad("Invalid range parameters: age 60, incr 0")
)

func bad(reason any) told           { return told{400, "bad_request", reason} }
func missing(reason string) told    { return told{404, "not_found", reason} }
func pair(a string, b any) []any    { return []any{a, b} }
func publishing(rest string) string { return `{"routing_key":"",` + rest + `}` }

// What the live brokers answered, 4.3 and then 3.10.
var answers = []struct {
	request, body string
	want, old     told
}{
	{"POST queues/%2F/q/actions", `{"action":"sync"}`, bad(pair("unknown", "sync")), done},
	{"POST queues/%2F/q/actions", `{"action":"cancel_sync"}`, bad(pair("unknown", "cancel_sync")), done},
	{"POST queues/%2F/q/actions", `{"action":"zz"}`, bad(pair("unknown", "zz")), bad(pair("unknown", "zz"))},
	{"POST queues/%2F/q/actions", `{"action":5}`, bad(pair("unknown", 5.0)), bad(pair("unknown", 5.0))},
	{"POST queues/%2F/q/actions", `{}`, bad("[{key_missing,action}]"), bad("[{key_missing,action}]")},
	{"POST queues/%2F/nope/actions", `{"action":"sync"}`, missing("queue_not_found"), failing},
	{"POST queues/%2F/nope/actions", `{}`, missing("queue_not_found"), bad("[{key_missing,action}]")},
	{"POST queues/nope/q/actions", `{"action":"sync"}`, missing("vhost_not_found"), failing},

	{"POST vhosts/%2F/start/rabbit@here", "", done, done},
	{"POST vhosts/%2F/start/nope", "", bad("Unknown node: nope"), bad("Request to node nope failed with nodedown")},
	{"POST vhosts/nope/start/nope", "", bad("Unknown node: nope"), bad("Request to node nope failed with nodedown")},
	{"POST vhosts/mgmtbnope/start/rabbit@here", "", bad(`Request to node rabbit@here failed with {no_such_vhost,<<"mgmtbnope">>}`),
		bad(`Request to node rabbit@here failed with {no_such_vhost,<<"mgmtbnope">>}`)},

	{"POST vhosts/%2F/deletion/protection", "", done, notHere},
	{"DELETE vhosts/%2F/deletion/protection", "", done, notHere},
	{"GET vhosts/%2F/deletion/protection", "", failing, told{status: 400}},
	{"HEAD vhosts/%2F/deletion/protection", "", notHere, told{status: 400}},
	{"DELETE vhosts/nope/deletion/protection", "", noObject, notHere},
	{"POST vhosts/nope/deletion/protection", "",
		missing("Cannot enable deletion protection of virtual host 'nope' because it does not exist"), notHere},

	// The default exchange may have its own name, the empty one; a missing virtual host has no bindings.
	{"POST bindings/%2F/e//q/q", `{}`, noAccess, noAccess},
	{"DELETE bindings/%2F/e//q/q/q", "", noAccess, noAccess},
	{"GET bindings/nope/e/x2/q/q", "", emptyList, emptyList},
	{"GET bindings/%2F/e//e/x", "", emptyList, emptyList},
	{"GET bindings/nope/e/x2/q/q/zz", "", noObject, noObject},
	{"POST bindings/nope/e/x2/q/q", `{}`, missing("vhost_not_found"), missing("vhost_not_found")},
	{"GET bindings/%2F/e/x/zz/q", "", failing, failing},
	{"GET bindings/%2F/e/x/zz/q/~", "", failing, failing},
	{"GET bindings/%2F/e/x2/q/", "", told{status: 400}, told{status: 400}},
	{"PUT exchanges/%2F/", `{"type":"direct"}`, notHere, notHere},
	{"GET queues//q", "", noObject, noObject},
	{"PUT queues//q", `{}`, missing("vhost_not_found"), missing("vhost_not_found")},
	{"DELETE queues//q", "", noObject, noObject},
	{"GET queues//q/bindings", "", emptyList, emptyList},
	{"GET definitions//", "", bad("vhost_not_found"), bad("vhost_not_found")},
	{"DELETE vhost-limits//max-queues", "", missing("vhost_not_found"), failing},

	// What is no path is among the web server's files, of which none has a slash in its name. Dots are those of paths.
	{"GET exchanges/%2F/x2/bindings/x", "", told{status: 400}, told{status: 400}},
	{"OPTIONS exchanges/%2F/x2/bindings/x", "", told{status: 400}, told{status: 400}},
	{"PUT exchanges/%2F/x2/bindings/x", "{}", notHere, notHere},
	{"GET exchanges/nope/x2/bindings/x", "", noObject, noObject},
	{"GET queues/nope/q/x%5Cy", "", told{status: 400}, told{status: 400}},
	{"GET x/../exchanges/./%2F/x2/bindings/source", "", emptyList, emptyList},
	{"GET vhosts//permissions", "", noObject, noObject},

	// Numbers of a document that are no numbers to RabbitMQ, text that is none (4.3), nothing but blanks, a byte order mark.
	{"PUT cluster-name", `{"a":1e400}`, bad("not_json"), bad("not_json")},
	{"PUT cluster-name", "{\"a\":\"\xff\"}", bad("not_json"), noName},
	{"PUT cluster-name", `{"a":"\ud800"}`, bad("not_json"), noName},
	{"PUT cluster-name", " ", bad("not_json"), bad("not_json")},
	{"PUT cluster-name", "\ufeff{}", bad("not_json"), noName},

	// A query is read with the answer, or before it is looked what the request is about.
	{"GET queues?%zz", "", told{status: 400}, told{status: 400}},
	{"GET consumers?a&b=&&c=;", "", emptyList, emptyList},
	{"GET queues?=x", "", told{status: 400}, told{status: 400}},
	{"HEAD queues?%zz", "", told{status: 400}, told{status: 400}},
	{"GET exchanges/%2F/nope?%zz", "", noObject, noObject},
	{"DELETE exchanges/%2F/nope?%zz", "", noObject, noObject},
	{"GET queues/%2F/nope?%zz", "", told{status: 400}, noObject},
	{"GET queues/%2F/nope/bindings?%zz", "", told{status: 400}, told{status: 400}},
	{"GET queues/quorum/%2F/nope/status?=x", "", noObject, told{status: 400}},
	{"DELETE queues/%2F/nope?%zz", "", told{status: 400}, noObject},
	{"DELETE queues/%2F/q?%zz", "", told{status: 400}, told{status: 400}},
	{"PUT queues/nope/q?%zz", `{}`, told{status: 400}, missing("vhost_not_found")},
	{"PUT queues/%2F/q?%zz", `{"node":"x"}`, told{status: 400}, bad("Node x@here could not be contacted")},
	{"PUT queues/%2F/blind?%zz", `{}`, told{status: 400}, told{status: 201}},
	{"DELETE queues/%2F/q/contents?%zz", "", told{status: 400}, done},
	{"DELETE queues/%2F/nope/contents?%zz", "", told{status: 400}, noObject},
	{"POST queues/%2F/nope/get?=x", `{}`, told{status: 400}, bad("[{key_missing,ackmode},{key_missing,count},{key_missing,encoding}]")},
	{"POST queues/%2F/q/actions?=x", `{"action":"zz"}`, told{status: 400}, bad(pair("unknown", "zz"))},
	{"GET nodes/nope/memory?=x", "", noObject, told{status: 400}},
	{"GET nodes/nope/memory/ets?=x", "", noObject, told{status: 400}},
	{"DELETE auth/attempts/nope?=x", "", noObject, told{status: 400}},
	{"DELETE auth/attempts/nope", "", noObject, noObject},
	{"DELETE auth/attempts/nope/source", "", noObject, noObject},
	{"DELETE auth/attempts/rabbit@here", "", done, done},
	{"GET definitions/nope?=x", "", bad("vhost_not_found"), told{status: 400}},
	{"POST users/bulk-delete", `{"users":[[]]}`, failing, bad(pair("no_such_user", []any{}))},
	{"POST users/bulk-delete", `{"users":[{"a":1}]}`, failing, bad(pair("no_such_user", map[string]any{"a": 1.0}))},
	{"POST users/bulk-delete", `{"users":[5]}`, failing, bad(pair("no_such_user", 5.0))},
	{"POST users/bulk-delete", `{"users":[null]}`, failing, bad(pair("no_such_user", nil))},

	{"GET vhosts/nope/deletion/protection", "", noObject, noObject},
	{"GET vhost-limits/%2F?sort", "", failing, failing},
	{"GET vhost-limits/%2F?page=1&columns", "", failing, failing},
	{"PUT global-parameters/x", "{\"value\":\"a\tb\"}", bad("not_json"), told{status: 201}},

	{"PUT policies/%2F/p?%zz", `{"pattern":"^no","definition":{"max-length":1}}`, told{status: 201}, told{status: 201}},
	{"DELETE connections/nope?%zz", "", told{status: 400}, told{status: 400}},
	{"GET connections?data_rates_age=60&data_rates_incr=0", "", noSamples, noSamples},
	{"GET channels?page=1&lengths_age=60&lengths_incr=0", "", noSamples, noSamples},
	{"GET connections/nope?lengths_age=60&lengths_incr=0", "", noSamples, noSamples},
	{"DELETE connections/nope?lengths_age=60&lengths_incr=0", "", noSamples, noSamples},
	{"DELETE connections/nope?lengths_age=60&lengths_incr=0&disable_stats=true", "", noObject, noObject},
	{"GET channels/nope?msg_rates_age=60&msg_rates_incr=0", "", noSamples, noSamples},
	{"GET overview?node_stats_age=60&node_stats_incr=0", "", noSamples, noSamples},
	{"GET connections/nope/channels?lengths_age=60&lengths_incr=0", "", noSamples, noSamples},
	{"GET connections/nope/channels?disable_stats=true", "", failing, failing},
	{"GET connections/nope/channels?page=0", "", failing, failing},

	{"POST exchanges/nope/x/publish", `{}`, missing("vhost_not_found"),
		bad("[{key_missing,routing_key},\n {key_missing,properties},\n {key_missing,payload},\n {key_missing,payload_encoding}]")},
	{"POST exchanges/nope/x/publish", publishing(`"properties":{"priority":"3"},"payload":"","payload_encoding":"zz"`), missing("vhost_not_found"), noAccess},
	{"POST exchanges/%2F/nope/publish", publishing(`"properties":{"priority":"3"},"payload":"","payload_encoding":"zz"`),
		missing("exchange_not_found"), bad(pair("not_int", "priority"))},
	{"POST exchanges/%2F/amq.direct/publish", publishing(`"properties":{"priority":"3"},"payload":"","payload_encoding":"zz"`),
		bad(pair("not_int", "priority")), bad(pair("not_int", "priority"))},
	{"POST exchanges/%2F/amq.direct/publish", publishing(`"properties":{"priority":"3"},"payload":5,"payload_encoding":"string"`),
		bad("payload_not_string"), bad("payload_not_string")},
	{"POST exchanges/%2F/amq.direct/publish", publishing(`"properties":[],"payload":"","payload_encoding":"zz"`), failing, failing},

	{"POST queues/nope/q/get", `{}`, missing("vhost_not_found"), bad("[{key_missing,ackmode},{key_missing,count},{key_missing,encoding}]")},
	{"POST queues/nope/q/get", `{"count":"zz","ackmode":"zz","encoding":"zz"}`, missing("vhost_not_found"), noAccess},
	{"POST queues/%2F/q/get", `{"count":0,"ackmode":"zz","encoding":"auto"}`, bad("Invalid ackmode value: zz. Valid values are: " +
		"ack_requeue_true, ack_requeue_false, reject_requeue_true, reject_requeue_false"), emptyList},
	{"POST queues/%2F/nope/get", `{"count":0,"ackmode":"zz","encoding":"auto"}`, missing("queue_not_found"), emptyList},
	{"POST queues/%2F/q/get", `{"count":"zz","ackmode":"ack_requeue_true","encoding":"zz"}`, bad(pair("not_integer", "zz")), bad(pair("not_integer", "zz"))},

	{"GET connections/nope/sessions", "", noObject, noObject},
	{"GET connections/own/sessions", "", bad("connection does not use AMQP 1.0"), noObject},
	{"GET auth/attempts/rabbit@here/source", "", emptyList, emptyList},
	{"GET auth/attempts/nope/source", "", noObject, noObject},
	{"DELETE login", "", done, notHere},
	{"DELETE reset", "", done, done},
	{"DELETE reset/rabbit@here", "", done, done},
	{"DELETE reset/nope", "", noObject, noObject},
}

// Refusals of paths that are seldom used, release by release.
func TestAnswersOfEachRelease(t *testing.T) {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		for _, c := range answers {
			want := c.want
			if profile == leveret.RabbitMQ310 {
				want = c.old
			}
			b := leveret.New(leveret.WithProfile(profile))
			_, err := b.DeclareQueue("q", leveret.QueueConfig{Durable: true})
			require.NoError(t, err)
			_, err = b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Name: "own"})
			require.NoError(t, err)
			method, path, _ := strings.Cut(c.request, " ")
			r := direct{t, mgmt.Handler(b, mgmt.Config{NodeName: "rabbit@here"})}.send(method, path, c.body)
			what := profile.Version() + " " + c.request + " " + c.body
			assert.Equal(t, want.status, r.status, what)
			switch {
			case method == "HEAD":
			case want.kind != "":
				assert.Equal(t, map[string]any{"error": want.kind, "reason": want.reason}, r.body, what)
			case want == emptyList:
				assert.Equal(t, []any{}, r.body, what)
			default:
				assert.Nil(t, r.body, what)
			}
			b.Close()
		}
	}
}

// A path of one release leads nowhere on the other.
func TestPathsOfOneRelease(t *testing.T) {
	only := map[leveret.Profile][]string{
		leveret.RabbitMQ43: {"version", "health/checks/metadata-store/initialized", "health/checks/metadata-store/initialized/with-data",
			"health/checks/quorum-queues-without-elected-leaders/all-vhosts/", "health/checks/is-in-service",
			"health/checks/quorum-queues-without-elected-leaders/vhost/nope", "health/checks/reached-target-cluster-size",
			"health/checks/quorum-queues-without-elected-leaders/vhost/nope/pattern/.*", "health/checks/below-node-connection-limit", "health/checks/ready-to-serve-clients", "deprecated-features",
			"deprecated-features/used", "auth/hash_password/x", "queues/detailed"},
		leveret.RabbitMQ310: {"auth", "health/checks/node-is-mirror-sync-critical"},
	}
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		b := leveret.New(leveret.WithProfile(profile))
		defer b.Close()
		api := direct{t, mgmt.Handler(b)}
		for of, paths := range only {
			want := 404
			if of == profile {
				want = 200
			}
			for _, path := range paths {
				assert.Equal(t, want, api.send("GET", path, "").status, "%s %s", profile.Version(), path)
			}
		}
	}
}

// 3.10 checks one protocol, and takes a comma for a part of its name. A RabbitMQ always listens for its cluster.
func TestProtocolListener(t *testing.T) {
	cfg := mgmt.Config{Listeners: []mgmt.Listener{{Protocol: "http"}, {Protocol: "amqp"}}}
	all := []any{"amqp", "clustering", "http"}
	passed := func(protocol string) map[string]any { return map[string]any{"status": "ok", "protocol": protocol} }
	passedAll := map[string]any{"status": "ok", "protocols": all}
	refused := func(missing any) map[string]any {
		return map[string]any{"status": "failed", "reason": "No active listener", "missing": missing, "protocols": all}
	}
	refusedOne := func(missing any) map[string]any {
		return map[string]any{"status": "failed", "reason": "No active listener", "missing": missing, "protocols": []any{"http", "clustering", "amqp"}}
	}
	for _, c := range []struct {
		protocol  string
		want, old map[string]any
	}{
		{"amqp", passedAll, passed("amqp")},
		{"AMQP", passedAll, passed("amqp")},
		{"clustering", passedAll, passed("clustering")},
		{"zz", refused([]any{"zz"}), refusedOne("zz")},
		{"amqp,http", passedAll, refusedOne("amqp,http")},
		{"http,zz", refused([]any{"zz"}), refusedOne("http,zz")},
		{"zz,yy,zz,", refused([]any{"", "yy", "zz"}), refusedOne("zz,yy,zz,")},
		{"cli", passedAll, passed("clustering")},
		{"cli%2Ftls", refused([]any{"clustering/ssl"}), refusedOne("cli/tls")},
		{"http_api", passedAll, passed("http")},
		{"http-api", refused([]any{"http-api"}), refusedOne("http-api")},
		{"am-qp091", refused([]any{"am-qp091"}), refusedOne("am-qp091")},
		{"mqtt3_1_1", refused([]any{"mqtt"}), refusedOne("mqtt")},
		{"web_mqtt", refused([]any{"http/web-mqtt"}), refusedOne("http/web-mqtt")},
		{"web_mqtt%2Ftls", refused([]any{"web_mqtt/tls"}), refusedOne("web_mqtt/tls")},
		{"web-stomp+ssl", refused([]any{"https/web-stomp"}), refusedOne("https/web-stomp")},
	} {
		for profile, want := range map[leveret.Profile]map[string]any{leveret.RabbitMQ43: c.want, leveret.RabbitMQ310: c.old} {
			b := leveret.New(leveret.WithProfile(profile))
			r := direct{t, mgmt.Handler(b, cfg)}.send("GET", "health/checks/protocol-listener/"+c.protocol, "")
			assert.Equal(t, want, r.body, "%s %s", profile.Version(), c.protocol)
			assert.Equal(t, want["status"] == "ok", r.status == http.StatusOK, c.protocol)
			b.Close()
		}
	}
}

// The default exchange's bindings are found under its empty name, too.
func TestEmptyNameOfDefaultExchange(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	_, err := b.DeclareQueue("q", leveret.QueueConfig{})
	require.NoError(t, err)
	api := direct{t, mgmt.Handler(b)}
	for _, path := range []string{"bindings/%2F/e/amq.default/q/q", "exchanges/%2F/amq.default/bindings/source"} {
		want := api.send("GET", path, "")
		require.Equal(t, 200, want.status)
		require.Len(t, want.body, 1)
	}
	assert.Equal(t, api.send("GET", "bindings/%2F/e/amq.default/q/q", "").body, api.send("GET", "bindings/%2F/e//q/q", "").body)
	assert.Equal(t, api.send("GET", "bindings/%2F/e/amq.default/q/q/q", "").body, api.send("GET", "bindings/%2F/e//q/q/q", "").body)
	assert.Equal(t, api.send("GET", "exchanges/%2F/amq.default/bindings/source", "").body, api.send("GET", "exchanges/%2F//bindings/source", "").body)
	r := api.send("POST", "exchanges/%2F//publish", `{"properties":{},"routing_key":"q","payload":"","payload_encoding":"string"}`)
	assert.Equal(t, map[string]any{"routed": true}, r.body)
}
