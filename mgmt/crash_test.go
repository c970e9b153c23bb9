package mgmt_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
)

// A refused is a request and what both releases of RabbitMQ answered, an old one too where 3.10 answered something else.
type refused struct {
	path, body string
	want, old  answered
}

// An answered is a status, and the reason of a refusal.
type answered struct {
	status int
	reason any
}

var (
	crash     = answered{status: 500} // and nothing else
	created   = answered{status: 201}
	unchanged = answered{}
)

func report(findings ...string) answered {
	return answered{400, "Validation failed\n\n" + strings.Join(findings, "\n") + "\n"}
}

func channelEnd(class string) answered {
	return answered{400, "Request to node rabbit@here failed with {'EXIT'," + class + "}"}
}

// compareRefused sends requests to a broker of each release, each to a new one.
func compareRefused(t *testing.T, method string, all []refused) {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		for _, c := range all {
			want := c.want
			if profile == leveret.RabbitMQ310 && c.old != unchanged {
				want = c.old
			}
			b := leveret.New(leveret.WithProfile(profile))
			api := direct{t, mgmt.Handler(b, mgmt.Config{NodeName: "rabbit@here"})}
			asJSON := func(r *http.Request) { r.Header.Set("Content-Type", "application/json") }
			api.send("PUT", "queues/%2F/q", `{"durable":true}`, asJSON)
			r := api.send(method, c.path, c.body, asJSON)
			what := profile.Version() + " " + c.path + " " + c.body
			assert.Equal(t, want.status, r.status, what)
			if want.reason != nil {
				assert.Equal(t, map[string]any{"error": "bad_request", "reason": want.reason}, r.body, what)
			} else if want.status >= 400 {
				assert.Nil(t, r.body, what)
			}
			b.Close()
		}
	}
}

// Null is a value that no policy key has; RabbitMQ fails at it where it takes it for a text.
func TestNullInPolicies(t *testing.T) {
	policy := func(definition string, want, old answered) refused {
		return refused{"policies/%2F/p", `{"pattern":"q","definition":` + definition + `}`, want, old}
	}
	operator := func(definition string, want, old answered) refused {
		return refused{"operator-policies/%2F/p", `{"pattern":"q","definition":` + definition + `}`, want, old}
	}
	notKnown := func(key string) answered {
		return report(`[{<<"` + key + `">>,null}] are not recognised policy settings`)
	}
	escaped := func(key string) answered {
		return report(`[{&lt;&lt;"` + key + `"&gt;&gt;,null}] are not recognised policy settings`)
	}
	all := []refused{
		policy(`{"max-age":null}`, crash, unchanged),
		policy(`{"max-age":5}`, crash, unchanged),
		policy(`{"max-age":[1]}`, report("[1] is not a valid max age"), crash),
		policy(`{"max-age":"x"}`, report(`<<"x">> is not a valid max age`), crash),
		policy(`{"max-age":"5x"}`, report(`<<"5x">> is not a valid max age`), report(`&lt;&lt;"5x"&gt;&gt; is not a valid max age`)),
		policy(`{"max-age":"\n5h"}`, report(`<<"\n5h">> is not a valid max age`), crash),
		policy(`{"max-age":["x"]}`, report(`[<<"x">>] is not a valid max age`), crash),
		policy(`{"max-age":[{}]}`, crash, unchanged),
		policy(`{"max-age":[300]}`, crash, unchanged),
		policy(`{"max-age":"5h\nx"}`, created, unchanged),
		policy(`{"max-age":[["5"],104]}`, created, unchanged),
		policy(`{"ha-mode":null}`, notKnown("ha-mode"), crash),
		policy(`{"ha-mode":"all","ha-sync-mode":null}`,
			report(`[{<<"ha-mode">>,<<"all">>},{<<"ha-sync-mode">>,null}] are not recognised policy settings`),
			report(`ha-sync-mode must be "manual" or "automatic", got null`)),
		policy(`{"ha-mode":"all","ha-params":null}`,
			report(`[{<<"ha-mode">>,<<"all">>},{<<"ha-params">>,null}] are not recognised policy settings`),
			report(`ha-mode="all" does not take parameters`)),
		policy(`{"queue-master-locator":null}`, report("use of deprecated queue-master-locator argument is not permitted"),
			report("null invalid queue-master-locator value")),
		policy(`{"unknown":null}`, notKnown("unknown"), escaped("unknown")),
		operator(`{"alternate-exchange":null}`, notKnown("alternate-exchange"), unchanged),
		operator(`{"overflow":null}`, report("null is not a valid overflow value"), notKnown("overflow")),
		operator(`{"max-age":null}`, notKnown("max-age"), unchanged),
		operator(`{"max-length":null}`, report("null is not a valid maximum length"), unchanged),
		policy(`{"max-length":5,"max-length":null}`, created, report("null is not a valid maximum length")),
	}
	for key, what := range map[string]string{
		"alternate-exchange": "alternate exchange name", "dead-letter-exchange": "dead letter exchange name",
		"dead-letter-routing-key": "dead letter routing key", "dead-letter-strategy": "dead letter strategy",
		"message-ttl": "message TTL", "expires": "queue expiry", "max-length": "maximum length",
		"max-length-bytes": "maximum length in bytes", "max-in-memory-length": "maximum memory in bytes",
		"max-in-memory-bytes": "maximum memory in bytes", "overflow": "overflow value", "delivery-limit": "delivery limit",
		"queue-mode": "queue-mode value", "queue-version": "queue-version value", "queue-leader-locator": "queue leader locator value",
		"initial-cluster-size": "cluster size", "stream-max-segment-size-bytes": "segment size",
	} {
		all = append(all, policy(`{"`+key+`":null}`, report("null is not a valid "+what), unchanged))
	}
	for key, what := range map[string]string{
		"consumer-timeout": "consumer timeout", "consumer-disconnected-timeout": "consumer disconnected timeout",
		"stream-filter-size-bytes": "filter size. Valid range is 16-255", "target-group-size": "qq target count value",
		"delayed-retry-min":  "delayed retry minimum delay. Must be a positive integer",
		"delayed-retry-max":  "delayed retry maximum delay. Must be a positive integer",
		"delayed-retry-type": "delayed retry type. Must be one of: all, failed, returned, disabled",
	} {
		all = append(all, policy(`{"`+key+`":null}`, report("null is not a valid "+what), escaped(key)))
	}
	compareRefused(t, "PUT", all)
}

// A report has one finding about each of definition, apply-to, pattern and priority, in this order.
func TestSeveralFindings(t *testing.T) {
	const parenthesis = "pattern should be regular expression but is invalid: {\"missing )\",1}"
	priority, escaped := `priority should be a number, actually was <<"x">>`, `priority should be a number, actually was &lt;&lt;"x"&gt;&gt;`
	quoted := func(name, list string) string { return "apply-to '" + name + "' unrecognised; " + list }
	compareRefused(t, "PUT", []refused{
		{"policies/%2F/p", `{"priority":"x","apply-to":"","definition":{"max-length":-1,"message-ttl":-1},"pattern":[1]}`,
			report("-1 is not a valid maximum length", quoted("", applyTo43), "pattern should be a binary but was [1]", priority),
			report("-1 is not a valid maximum length", quoted("", applyTo310), "pattern should be a binary but was [1]", escaped)},
		{"policies/%2F/p", `{"priority":"x","apply-to":"foo","definition":{},"pattern":5}`,
			report("no policy provided", quoted("foo", applyTo43), "pattern should be a binary but was 5", priority),
			report("no policy provided", quoted("foo", applyTo310), "pattern should be a binary but was 5", escaped)},
		{"operator-policies/%2F/p", `{"priority":null,"definition":{"max-length":null},"pattern":"q"}`,
			report("null is not a valid maximum length", "priority should be a number, actually was null"), unchanged},
		{"policies/%2F/p", `{"pattern":"q","definition":{"max-length":5},"apply-to":["queues"]}`,
			report(quoted("queues", applyTo43)), report(quoted("queues", applyTo310))},
		{"policies/%2F/p", `{"pattern":"q","definition":{"max-length":5},"apply-to":[1]}`,
			report(quoted("\x01", applyTo43)), report(quoted("\x01", applyTo310))},
		{"policies/%2F/p", `{"pattern":5,"definition":{"max-length":-1},"priority":null,"apply-to":5}`, crash, unchanged},
		{"policies/%2F/p", `{"pattern":"q","definition":{"max-length":5},"apply-to":{}}`, crash, unchanged},
		{"policies/%2F/p", `{"pattern":5,"definition":5}`, crash, unchanged},
		{"policies/%2F/p", `{"pattern":"q","definition":[]}`, crash, unchanged},
		{"operator-policies/%2F/p", `{"pattern":"q","definition":null}`, crash, unchanged},
		{"parameters/operator_policy/%2F/p", `{"value":{"priority":"x","apply-to":"foo","definition":[],"pattern":"("}}`,
			report("no policy provided", quoted("foo", applyTo43),
				"pattern should be regular expression but is invalid: {\"missing closing parenthesis\",\n"+strings.Repeat(" ", 54)+"1}", priority),
			report("no policy provided", quoted("foo", applyTo310), parenthesis, escaped)},
	})
}

// A list is no arguments, but for a queue. Whatever else is no object ends RabbitMQ's handler.
func TestArgumentsOfWrongTypes(t *testing.T) {
	var puts, posts []refused
	for _, list := range []string{`[1]`, `[]`, `["x"]`, `[["a",1]]`, `[{"a":1}]`} {
		queue := channelEnd("badarg")
		if list == "[]" {
			queue = created
		}
		posts = append(posts, refused{"bindings/%2F/e/amq.direct/q/q", `{"routing_key":"k","arguments":` + list + `}`, created, unchanged})
		puts = append(puts, refused{"exchanges/%2F/x", `{"type":"direct","arguments":` + list + `}`, created, unchanged},
			refused{"queues/%2F/new", `{"arguments":` + list + `}`, queue, unchanged})
	}
	for _, v := range []string{`"x"`, `""`, `5`, `1.5`, `null`, `true`} {
		posts = append(posts, refused{"bindings/%2F/e/amq.direct/q/q", `{"routing_key":"k","arguments":` + v + `}`, crash, unchanged})
		puts = append(puts, refused{"exchanges/%2F/x", `{"type":"direct","arguments":` + v + `}`, crash, unchanged},
			refused{"queues/%2F/new", `{"arguments":` + v + `}`, crash, unchanged})
	}
	null := answered{400, "null_not_allowed"}
	posts = append(posts, refused{"bindings/%2F/e/amq.direct/q/q", `{"arguments":{"a":[null]}}`, crash, unchanged})
	puts = append(puts, refused{"exchanges/%2F/x", `{"arguments":{"a":[null]}}`, null, unchanged},
		refused{"queues/%2F/new", `{"arguments":{"a":null}}`, null, unchanged})
	compareRefused(t, "POST", posts)
	compareRefused(t, "PUT", puts)
}

func TestRoutingKeysOfWrongTypes(t *testing.T) {
	bind := func(key string, want, old answered) refused {
		return refused{"bindings/%2F/e/amq.direct/q/q", `{"routing_key":` + key + `}`, want, old}
	}
	publish := func(members string, want, old answered) refused {
		return refused{"exchanges/%2F/amq.direct/publish", `{` + members + `,"payload_encoding":"string"}`, want, old}
	}
	end := channelEnd("function_clause")
	compareRefused(t, "POST", []refused{
		bind(`5`, end, created), bind(`1.5`, end, created), bind(`[]`, end, created), bind(`[97]`, end, created),
		bind(`["a"]`, end, crash), bind(`["a",98]`, end, crash), bind(`{}`, end, crash), bind(`{"a":1}`, end, crash),
		bind(`null`, created, unchanged), bind(`true`, created, unchanged), bind(`false`, created, unchanged),
		publish(`"routing_key":5,"properties":{},"payload":"m"`, crash, answered{status: 200}),
		publish(`"routing_key":null,"properties":{},"payload":"m"`, crash, answered{status: 200}),
		publish(`"routing_key":"k","properties":[],"payload":"m"`, crash, unchanged),
		publish(`"routing_key":"k","properties":{"delivery_mode":256},"payload":"m"`, answered{status: 200},
			answered{400, "406 PRECONDITION_FAILED - invalid message: {delivery_mode_unknown,256}"}),
		publish(`"routing_key":"k","properties":null,"payload":"m"`, crash, unchanged),
		publish(`"routing_key":"k","properties":5,"payload":"m"`, crash, unchanged),
		publish(`"routing_key":"k","properties":{},"payload":null`, answered{400, "payload_not_string"}, unchanged),
	})
}

func TestOtherMembersThatRabbitMQFailsAt(t *testing.T) {
	var puts, posts []refused
	for _, v := range []string{`5`, `1.5`, `null`, `true`, `{}`} {
		puts = append(puts,
			refused{"users/u", `{"tags":"","password":` + v + `}`, crash, unchanged},
			refused{"users/u", `{"tags":` + v + `,"password":"p"}`, crash, unchanged},
			refused{"permissions/%2F/guest", `{"configure":` + v + `,"write":"","read":""}`, crash, unchanged},
			refused{"permissions/%2F/guest", `{"configure":"","write":"","read":` + v + `}`, crash, unchanged},
			refused{"topic-permissions/%2F/guest", `{"exchange":"amq.topic","write":` + v + `,"read":""}`, crash, unchanged},
			refused{"queues/%2F/new", `{"node":` + v + `}`, crash, unchanged})
		posts = append(posts, refused{"users/bulk-delete", `{"users":` + v + `}`, crash, unchanged})
	}
	for _, v := range []string{`5`, `1.5`, `true`, `{}`} {
		puts = append(puts, refused{"vhosts/v", `{"tags":` + v + `}`, crash, unchanged})
	}
	invalid := answered{400, "Invalid ackmode value: x. Valid values are: ack_requeue_true, ack_requeue_false, reject_requeue_true, reject_requeue_false"}
	posts = append(posts,
		refused{"queues/%2F/q/get", `{"count":1,"encoding":"auto","ackmode":"x"}`, invalid, crash},
		refused{"queues/%2F/q/get", `{"count":1,"encoding":"auto","ackmode":[[120],""]}`, invalid, crash},
		refused{"queues/%2F/q/get", `{"count":1,"encoding":"auto","ackmode":120}`, invalid, crash},
		refused{"queues/%2F/q/get", `{"count":1,"encoding":"auto","ackmode":128}`, crash, unchanged},
		refused{"queues/%2F/q/get", `{"count":1,"encoding":"auto","ackmode":1.5}`, crash, unchanged},
		refused{"queues/%2F/q/get", `{"count":1,"encoding":"auto","ackmode":[null]}`, crash, unchanged},
		refused{"queues/%2F/q/get", `{"count":1,"encoding":"auto","ackmode":null}`, crash, unchanged})
	notBoolean := answered{400, []any{"not_boolean", ""}}
	puts = append(puts,
		refused{"queues/%2F/new", `{"arguments":{"x-queue-master-locator":"x"}}`, answered{400, "Feature `queue_master_locator` is deprecated.\n" +
			"By default, this feature is not permitted anymore.\n" +
			"The feature will be removed from a future major RabbitMQ version, regardless of the configuration; actual version to be determined.\n" +
			"To continue using this feature when it is not permitted by default, set the following parameter in your configuration:\n" +
			"    \"deprecated_features.permit.queue_master_locator = true\""}, channelEnd("case_clause")},
		refused{"queues/%2F/new", `{"durable":""}`, notBoolean, unchanged},
		refused{"exchanges/%2F/x", `{"internal":""}`, notBoolean, unchanged})
	compareRefused(t, "PUT", puts)
	compareRefused(t, "POST", posts)
}

// RabbitMQ 3.10 takes a list for no arguments if the queue is there.
func TestListsAsArguments(t *testing.T) {
	compareRefused(t, "PUT", []refused{
		{"queues/%2F/new", `{"durable":true,"arguments":[1]}`, channelEnd("badarg"), unchanged},
		{"queues/%2F/q", `{"durable":true,"arguments":[1]}`, channelEnd("badarg"), answered{status: 204}},
		{"queues/%2F/q", `{"arguments":[1]}`, channelEnd("badarg"),
			answered{400, "inequivalent arg 'durable' for queue 'q' in vhost '/': received 'false' but current is 'true'"}},
	})
}

// A queue becomes not durable if it is to be exclusive, but no connection owns it.
func TestExclusiveQueues(t *testing.T) {
	exclusive := func(given string, want answered) refused {
		return refused{"queues/%2F/new", `{"durable":true,"exclusive":` + given + `}`, want, unchanged}
	}
	all := []refused{exclusive(`true`, created), exclusive(`false`, created),
		{"queues/%2F/new", `{"exclusive":1,"arguments":[1]}`, channelEnd("{case_clause,1}"), unchanged}}
	for given, term := range map[string]string{`"true"`: `<<"true">>`, `1`: "1", `null`: "null", `[]`: "[]", `[97]`: `"a"`} {
		all = append(all, exclusive(given, channelEnd("{case_clause,"+term+"}")))
	}
	compareRefused(t, "PUT", all)

	b := leveret.New()
	defer b.Close()
	api := direct{t, mgmt.Handler(b)}
	assert.Equal(t, 201, api.send("PUT", "queues/%2F/new", `{"durable":true,"exclusive":true}`).status)
	assert.Equal(t, false, api.at("queues/%2F/new", "durable"))
	assert.Equal(t, false, api.at("queues/%2F/new", "exclusive"))
}

// Of members with one name 4.3 takes the first, 3.10 the last.
func TestMembersThatAreThereTwice(t *testing.T) {
	for profile, want := range map[leveret.Profile]string{leveret.RabbitMQ43: "zz", leveret.RabbitMQ310: "yy"} {
		b := leveret.New(leveret.WithProfile(profile))
		defer b.Close()
		api := direct{t, mgmt.Handler(b)}
		asJSON := func(r *http.Request) { r.Header.Set("Content-Type", "application/json") }
		api.send("PUT", "policies/%2F/p", `{"pattern":"zz","pattern":"yy","definition":{"max-length":5}}`, asJSON)
		assert.Equal(t, want, api.at("policies/%2F/p", "pattern"), profile)
	}
}
