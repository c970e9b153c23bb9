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

func as(user, password string) func(*http.Request) {
	return func(r *http.Request) {
		r.SetBasicAuth(user, password)
		r.Header.Set("Content-Type", "application/json")
	}
}

// A wrong password and an unknown name are the same to RabbitMQ; 3.10 asks for others.
func TestFailedLogins(t *testing.T) {
	for profile, reason := range map[leveret.Profile]string{leveret.RabbitMQ43: "Not_Authorized", leveret.RabbitMQ310: "Login failed"} {
		b := leveret.New(leveret.WithProfile(profile))
		defer b.Close()
		api := direct{t, mgmt.Handler(b)}
		for _, credentials := range [][2]string{{"guest", "bad"}, {"nobody", "bad"}} {
			for _, method := range []string{"GET", "DELETE"} {
				r := api.send(method, "queues/%2F/nope", "", as(credentials[0], credentials[1]))
				assert.Equal(t, 401, r.status)
				assert.Equal(t, map[string]any{"error": "not_authorized", "reason": reason}, r.body)
				assert.Equal(t, reason == "Login failed", r.header.Get("WWW-Authenticate") == `Basic realm="RabbitMQ Management"`)
			}
		}
	}
}

// 3.10 tells which methods a path has only if another one is tried, or to OPTIONS.
func TestAllowedMethods(t *testing.T) {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		b := leveret.New(leveret.WithProfile(profile))
		defer b.Close()
		api := direct{t, mgmt.Handler(b)}
		for _, c := range []struct {
			method, path, body string
			status             int
		}{
			{"PUT", "queues/%2F/q", "{}", 201}, {"PUT", "queues/%2F/q", "{}", 204}, {"GET", "queues/%2F/q", "", 200}, {"GET", "queues/%2F/nope", "", 404},
			{"PUT", "queues/%2F/q", "{", 400}, {"OPTIONS", "queues/%2F/q", "", 200}, {"PATCH", "queues/%2F/q", "", 405},
		} {
			r := api.send(c.method, c.path, c.body)
			assert.Equal(t, c.status, r.status, c)
			told := profile == leveret.RabbitMQ43 || c.method == "OPTIONS" || c.status == 405
			assert.Equal(t, told, r.header.Get("Allow") == "HEAD, GET, PUT, DELETE, OPTIONS", c)
		}
	}
}

// The limits of a virtual host are a parameter, which stays when the last limit goes.
func TestLimitsThatAreGone(t *testing.T) {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		b := leveret.New(leveret.WithProfile(profile))
		defer b.Close()
		api := direct{t, mgmt.Handler(b)}
		assert.Equal(t, 201, api.send("PUT", "vhosts/v", "{}").status)
		parameter := map[string]any{"component": "vhost-limits", "name": "limits", "value": []any{}, "vhost": "v"}
		exists := func(want bool) {
			t.Helper()
			list, status := []any{}, 404
			if want {
				list, status = []any{parameter}, 200
			}
			assert.Equal(t, list, api.at("parameters/vhost-limits/v"))
			r := api.send("GET", "parameters/vhost-limits/v/limits", "")
			assert.Equal(t, status, r.status)
			if want {
				assert.Equal(t, any(parameter), r.body)
				exported := api.at("definitions/v", "parameters").([]any)
				assert.Len(t, exported, 1)
				assert.Equal(t, []any{}, exported[0].(map[string]any)["value"])
				assert.Len(t, api.at("definitions", "parameters"), 1)
			}
			assert.Empty(t, api.at("vhost-limits/v"))
		}
		exists(false)
		for _, gone := range []string{"vhost-limits/v/max-queues", "vhost-limits/v/zz"} {
			assert.Equal(t, 204, api.send("DELETE", gone, "").status)
			exists(true)
			assert.Equal(t, 204, api.send("DELETE", "parameters/vhost-limits/v/limits", "").status)
			exists(false)
			assert.Equal(t, 404, api.send("DELETE", "parameters/vhost-limits/v/limits", "").status)
		}
		assert.Equal(t, 201, api.send("PUT", "parameters/vhost-limits/v/limits", `{"value":{}}`).status)
		exists(true)
		assert.Equal(t, 204, api.send("PUT", "vhost-limits/v/max-queues", `{"value":-1}`, as("guest", "guest")).status)
		assert.Equal(t, map[string]any{"max-queues": -1.0}, api.at("parameters/vhost-limits/v/limits", "value"))
		assert.Equal(t, 204, api.send("DELETE", "vhost-limits/v/max-queues", "").status)
		exists(true)
		assert.Equal(t, 204, api.send("PUT", "parameters/vhost-limits/v/limits", `{"value":[]}`).status)
		exists(true)
		assert.Equal(t, 204, api.send("DELETE", "vhosts/v", "").status)
		assert.Equal(t, 201, api.send("PUT", "vhosts/v", "{}").status)
		exists(false)
	}
}

// RabbitMQ does not look at an exchange in the path of topic permissions, but to delete those for it.
func TestTopicPermissionsOfAnotherExchange(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	api := direct{t, mgmt.Handler(b)}
	const path = "topic-permissions/%2F/guest"
	assert.Equal(t, 404, api.send("GET", path+"/amq.topic", "").status)
	assert.Equal(t, 404, api.send("DELETE", path+"/amq.topic", "").status)
	assert.Equal(t, 201, api.send("PUT", path, `{"exchange":"","write":"b","read":"c"}`).status)
	own := map[string]any{"user": "guest", "vhost": "/", "exchange": "", "write": "b", "read": "c"}
	for _, exchange := range []string{"", "/amq.topic", "/nope", "/amq.default"} {
		assert.Equal(t, []any{own}, api.at(path+exchange), exchange)
	}
	assert.Equal(t, 204, api.send("PUT", path, `{"exchange":"amq.topic","write":[],"read":["a"]}`).status)
	assert.Len(t, api.at(path), 2)
	assert.Equal(t, 204, api.send("DELETE", path+"/nope", "").status)
	assert.Len(t, api.at(path), 2)
	assert.Equal(t, 204, api.send("DELETE", path+"/amq.topic", "").status)
	assert.Equal(t, []any{own}, api.at(path))
	assert.Equal(t, 204, api.send("DELETE", path, "").status)
	assert.Equal(t, 404, api.send("GET", path, "").status)
}

// Users see their own limits, monitors all. In 3.10 everybody sees those of all.
func TestWhoSeesTheLimitsOfUsers(t *testing.T) {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		b := leveret.New(leveret.WithProfile(profile))
		defer b.Close()
		api := direct{t, mgmt.Handler(b)}
		for user, tag := range map[string]string{"man": "management", "pol": "policymaker", "mon": "monitoring", "none": ""} {
			assert.NoError(t, b.AddUser(user, user, tag))
		}
		isOld := profile == leveret.RabbitMQ310
		for _, c := range []struct {
			user, path string
			reason     any // of 4.3
		}{
			{"pol", "user-limits/pol", nil}, {"man", "user-limits/man", nil}, {"mon", "user-limits/man", nil},
			{"man", "user-limits/mon", "User not authorised to access object"}, {"pol", "user-limits/man", "User not authorised to access object"},
			{"man", "user-limits", "Not administrator user"}, {"mon", "user-limits", "Not administrator user"}, {"guest", "user-limits", nil},
		} {
			r := api.send("GET", c.path, "", as(c.user, c.user))
			if c.reason == nil || isOld {
				assert.Equal(t, 200, r.status, c)
				assert.Equal(t, []any{}, r.body, c)
			} else {
				assert.Equal(t, 401, r.status, c)
				assert.Equal(t, c.reason, reasonOf(r), c)
			}
		}
		assert.Equal(t, 401, api.send("GET", "user-limits/none", "", as("none", "none")).status)
		for _, method := range []string{"PUT", "DELETE"} {
			r := api.send(method, "user-limits/pol/max-channels", `{"value":1}`, as("pol", "pol"))
			assert.Equal(t, 401, r.status)
			assert.Equal(t, "Not administrator user", reasonOf(r))
		}
	}
}

// octets is how JSON shows a text that is a list to Erlang.
func octets(text string) (list []any) {
	for _, octet := range []byte(text) {
		list = append(list, float64(octet))
	}
	return list
}

func TestInvalidExpressions(t *testing.T) {
	fault := func(source any, message string, at int) answered {
		return answered{400, []any{"invalid_regexp", source, []any{octets(message), float64(at)}}}
	}
	const bracket = "missing terminating ] for character class"
	permission := func(members string, want, old answered) refused {
		return refused{"permissions/%2F/guest", members, want, old}
	}
	topic := func(members string, want, old answered) refused {
		return refused{"topic-permissions/%2F/guest", members, want, old}
	}
	compareRefused(t, "PUT", []refused{
		permission(`{"configure":"[","write":"","read":""}`, fault(octets("["), bracket, 1), unchanged),
		permission(`{"configure":"","write":"(é","read":"["}`, fault(octets("(é"), "missing closing parenthesis", 3), fault(octets("(é"), "missing )", 3)),
		permission(`{"configure":"","write":"+","read":"["}`, fault(octets("+"), "quantifier does not follow a repeatable item", 1),
			fault(octets("+"), "nothing to repeat", 0)),
		topic(`{"exchange":"amq.topic","write":"[","read":"c"}`, fault("[", bracket, 1), unchanged),
		topic(`{"exchange":"nope","write":"","read":"("}`, fault("(", "missing closing parenthesis", 1), fault("(", "missing )", 1)),
	})
}

// An import shows such a refusal as a text, but 3.10 the same term as elsewhere.
func TestInvalidExpressionsInDefinitions(t *testing.T) {
	entry := func(section, members, want string, source any, message string, at int) refused {
		return refused{"definitions", `{"` + section + `":[{"user":"guest","vhost":"/",` + members + `}]}`, answered{400, want},
			answered{400, []any{"invalid_regexp", source, []any{octets(message), float64(at)}}}}
	}
	compareRefused(t, "POST", []refused{
		entry("permissions", `"configure":"","write":"[é","read":""`,
			`{invalid_regexp,"[é",{"missing terminating ] for character class",3}}`, octets("[é"), "missing terminating ] for character class", 3),
		entry("topic_permissions", `"exchange":"amq.topic","write":"","read":"*"`,
			`{invalid_regexp,<<"*">>,{"quantifier does not follow a repeatable item",1}}`, "*", "nothing to repeat", 0),
	})
}

func TestParametersOfWrongTypes(t *testing.T) {
	parameter := func(path, value string, lines ...string) refused {
		want, old := report(lines...), unchanged
		if escaped := strings.NewReplacer("<", "&lt;", ">", "&gt;", applyTo43, applyTo310).Replace(want.reason.(string)); escaped != want.reason {
			old = answered{400, escaped}
		}
		return refused{"parameters/" + path, `{"value":` + value + `}`, want, old}
	}
	operator := func(value string, lines ...string) refused {
		return parameter("operator_policy/%2F/o", value, lines...)
	}
	limits := func(value string, lines ...string) refused {
		return parameter("vhost-limits/%2F/limits", value, lines...)
	}
	missing := func(key string) string { return "Key \"" + key + "\" not found in o" }
	noPriority, noPattern, noDefinition := missing("priority"), missing("pattern"), missing("definition")
	const notADefinition = "parse error while reading policy definition: "
	all := []refused{
		operator(`{}`, noDefinition, noPattern, noPriority),
		operator(`[]`, noDefinition, noPattern, noPriority),
		operator(`{"pattern":"x"}`, noDefinition, noPriority),
		operator(`{"definition":{"max-length":5}}`, noPattern, noPriority),
		operator(`{"priority":1}`, noDefinition, noPattern),
		operator(`{"pattern":"x","definition":{"max-length":5}}`, noPriority),
		operator(`{"pattern":"x","definition":{"max-length":5},"priority":0,"zz":1}`, `Unrecognised terms [{<<"zz">>,1}] in o`),
		operator(`{"pattern":5,"definition":{"max-length":-5},"zz":1}`, `Unrecognised terms [{<<"zz">>,1}] in o`, "-5 is not a valid maximum length",
			"pattern should be a binary but was 5", noPriority),
		operator(`{"priority":"x","zz":{"a":[1]},"apply-to":"nope"}`, `Unrecognised terms [{<<"zz">>,#{<<"a">> => [1]}}] in o`, noDefinition,
			"apply-to 'nope' unrecognised; "+applyTo43, noPattern, `priority should be a number, actually was <<"x">>`),
		operator(`{"pattern":"x","definition":{"max-length":5},"name":"n","vhost":"v"}`,
			`Unrecognised terms [{<<"name">>,<<"n">>},{<<"vhost">>,<<"v">>}] in o`, noPriority),
		operator(`1`, "o not a list 1"), operator(`"x"`, `o not a list <<"x">>`), operator(`null`, "o not a list null"),
		operator(`true`, "o not a list true"), operator(`1.5`, "o not a list 1.5"),
		operator(`[1]`, "Unrecognised terms [1] in o", noDefinition, noPattern, noPriority),
		operator(`{"pattern":"x","definition":5}`, notADefinition+"5. Validator: operator_policy_validator.", noPriority),
		operator(`{"pattern":"x","definition":null}`, notADefinition+"null. Validator: operator_policy_validator.", noPriority),
		operator(`{"pattern":"x","definition":"x"}`, notADefinition+`<<"x">>. Validator: operator_policy_validator.`, noPriority),
		operator(`{"pattern":"x","definition":[1]}`, "definition must be a dictionary: [1]", noPriority),
		operator(`{"pattern":"x","definition":{}}`, "no policy provided", noPriority),
		{"parameters/operator_policy/%2F/o", `{"value":{"pattern":"x","definition":{"max-length":5},"priority":0}}`, created, unchanged},
		{"policies/%2F/p", `{"pattern":"x","definition":{"max-length":5},"zz":1}`, created, unchanged},
		limits(`1`, "limits not a list 1"), limits(`"x"`, `limits not a list <<"x">>`), limits(`null`, "limits not a list null"),
		limits(`[1]`, "Unrecognised terms [1] in limits"), limits(`{"zz":1}`, `Unrecognised terms [{<<"zz">>,1}] in limits`),
		limits(`{"max-queues":"x","zz":1}`, `Unrecognised terms [{<<"zz">>,1}] in limits`, `max-queues should be a number, actually was <<"x">>`),
		limits(`{"max-queues":1.5}`, "max-queues should be a number, actually was 1.5"),
	}
	compareRefused(t, "PUT", all)
}

func TestTypesOfExchangesThatAreNoTexts(t *testing.T) {
	exchange := func(kind string, want, old answered) refused {
		return refused{"exchanges/%2F/x", `{"type":` + kind + `}`, want, old}
	}
	invalid := func(kind string) answered { return answered{400, "invalid exchange type '" + kind + "'"} }
	compareRefused(t, "PUT", []refused{
		exchange(`1.5`, channelEnd("function_clause"), unchanged), exchange(`{}`, channelEnd("function_clause"), unchanged),
		exchange(`1`, channelEnd("badarg"), unchanged), exchange(`100000000000000000000`, channelEnd("badarg"), unchanged),
		exchange(`true`, invalid("true"), unchanged), exchange(`null`, invalid("null"), unchanged), exchange(`[]`, invalid(""), unchanged),
		exchange(`["direct"]`, created, unchanged), exchange(`""`, invalid(""), unchanged),
	})
}

func TestBodiesOfBindingsThatAreNoObjects(t *testing.T) {
	var all []refused
	for _, body := range []string{`[]`, `[1]`, `1`, `"x"`, `1.5`, `{`} {
		all = append(all, refused{"bindings/%2F/e/amq.topic/q/q", body, crash, unchanged})
	}
	all = append(all, refused{"bindings/%2F/e/amq.topic/q/q", `true`, crash, created},
		refused{"bindings/%2F/e/amq.topic/q/q", `null`, created, unchanged}, refused{"bindings/%2F/e/amq.topic/q/q", ``, created, unchanged})
	compareRefused(t, "POST", all)
}

// Numbers lose their fractions; a message cannot be cut before its beginning.
func TestNumbersOfGetting(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	api := direct{t, mgmt.Handler(b)}
	q, err := b.DeclareQueue("q", leveret.QueueConfig{})
	assert.NoError(t, err)
	_, err = b.Publish("", "q", leveret.Message{Body: []byte("abc")})
	assert.NoError(t, err)
	get := func(count, more string) result {
		return api.send("POST", "queues/%2F/q/get", `{"count":`+count+`,"ackmode":"ack_requeue_true","encoding":"auto"`+more+`}`)
	}
	payload := func(r result) any {
		list, _ := r.body.([]any)
		if !assert.Len(t, list, 1) {
			return nil
		}
		return list[0].(map[string]any)["payload"]
	}
	assert.Equal(t, "abc", payload(get("1.5", "")))
	assert.Equal(t, []any{}, get("0.9", "").body)
	assert.Equal(t, "a", payload(get("1", `,"truncate":1.5`)))
	assert.Equal(t, "", payload(get("1", `,"truncate":0`)))
	assert.Equal(t, "ab", payload(get("1.0", `,"truncate":"2"`)))
	assert.Equal(t, []any{"not_integer", "1.5"}, reasonOf(get(`"1.5"`, "")))
	assert.Equal(t, []any{"not_integer", nil}, reasonOf(get("1", `,"truncate":null`)))
	failed := get("1", `,"truncate":-1`)
	assert.Equal(t, 500, failed.status)
	assert.Nil(t, failed.body)
	assert.Equal(t, 1, q.Info().Messages)
	q.Purge()
	assert.Equal(t, []any{}, get("1", `,"truncate":-1`).body)
}

// The list is that of a RabbitMQ 4.3.6.
func TestDeprecatedFeatures(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	api := direct{t, mgmt.Handler(b)}
	all := api.at("deprecated-features?columns=zz").([]any)
	found := map[string]any{}
	for _, f := range all {
		o := f.(map[string]any)
		assert.Len(t, o, 6)
		found[o["name"].(string)] = o["deprecation_phase"].(string) + " " + o["state"].(string)
	}
	assert.Equal(t, map[string]any{"queue_master_locator": "denied_by_default denied", "global_qos": "denied_by_default permitted",
		"amqp_filter_set_bug": "denied_by_default denied", "amqp_address_v1": "denied_by_default denied",
		"management_metrics_collection": "permitted_by_default permitted", "transient_nonexcl_queues": "permitted_by_default permitted",
		"classic_queue_mirroring": "removed denied", "ram_node_type": "removed denied"}, found)

	denying := leveret.New(leveret.WithGlobalQos(false))
	defer denying.Close()
	assert.Equal(t, "denied", direct{t, mgmt.Handler(denying)}.at("deprecated-features").([]any)[1].(map[string]any)["state"])
}

// Queues that are neither durable nor exclusive are the deprecated feature that RabbitMQ 4.3 finds used. The list of all is reversed on demand.
func TestUsedDeprecatedFeatures(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	api := direct{t, mgmt.Handler(b)}
	names := func(path string) (all []any) {
		for _, feature := range api.at(path).([]any) {
			all = append(all, feature.(map[string]any)["name"])
		}
		return all
	}
	for _, queue := range []leveret.QueueConfig{{Durable: true}, {Exclusive: true}} {
		_, err := b.DeclareQueue("q", queue)
		require.NoError(t, err)
		assert.Empty(t, names("deprecated-features/used"))
		_, err = b.DeleteQueue("q", leveret.DeleteConfig{})
		require.NoError(t, err)
	}
	_, err := b.DeclareQueue("q", leveret.QueueConfig{AutoDelete: true})
	require.NoError(t, err)
	assert.Equal(t, []any{"transient_nonexcl_queues"}, names("deprecated-features/used"))

	assert.Equal(t, "queue_master_locator", names("deprecated-features")[0])
	assert.Equal(t, "ram_node_type", names("deprecated-features?sort_reverse=true")[0])
}
