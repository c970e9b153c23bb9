package mgmt_test

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
)

// A walker makes random requests: what creates, changes and deletes things, with members that are good, of other types, missing, or too
// many, and what looks at them. It knows nothing of what is there, so some of its requests are about what is not.
//
// It leaves out what docs/differences.md tells: streams, characters beyond ASCII where a refusal would have them, documents of several
// entries, of which RabbitMQ takes some and leveret none.
type walker struct {
	*rand.Rand
	vhosts, users []string
}

// A request is one of a walk.
type request struct{ user, method, path, body string }

func (r request) String() string {
	return strings.TrimSpace(strings.Join([]string{r.user, r.method, r.path, r.body}, " "))
}

func newWalker(seed uint64) *walker {
	w := &walker{Rand: rand.New(rand.NewPCG(seed, 0))}
	for _, name := range []string{"walk%d", "walk%d.b", "w/%d"} { // names of their own: RabbitMQ deletes a virtual host little by little
		w.vhosts = append(w.vhosts, fmt.Sprintf(name, seed))
	}
	for _, name := range []string{"walk%d.u", "walk%d u"} {
		w.users = append(w.users, fmt.Sprintf(name, seed))
	}
	return w
}

func (w *walker) pick(of ...string) string { return of[w.IntN(len(of))] }

// name is pick for a path.
func (w *walker) name(of ...string) string { return url.PathEscape(w.pick(of...)) }

func (w *walker) vhost() string { return w.name(append(w.vhosts, w.vhosts[0], w.vhosts[0])...) }
func (w *walker) user() string  { return w.name(append(w.users, w.users[0])...) }
func (w *walker) queue() string { return w.name("q1", "q1", "q2", "amq.q", "q/1", " ") }
func (w *walker) exchange() string {
	return w.name("x1", "x1", "x2", "amq.direct", "amq.default", "x/1")
}
func (w *walker) policy() string { return w.name("p1", "p1", "p/2") }

// A member of an object has one of these values, as JSON has them, separated by blanks.
type member struct{ name, values string }

// object has most of the members, and sometimes another one; or it is none.
func (w *walker) object(members ...member) string {
	var all []string
	for _, m := range members {
		if w.IntN(4) > 0 {
			all = append(all, `"`+m.name+`":`+w.value(m.values))
		}
	}
	if w.IntN(16) == 0 {
		all = append(all, w.pick(`"foo":1`, `"name":null`, `"vhost":"x"`, `"node":1`, `"node":"x"`))
	}
	if w.IntN(32) == 0 {
		return w.pick("[]", "null", "1", `"a"`, "{", `{"a":1,"a":2}`)
	}
	return "{" + strings.Join(all, ",") + "}"
}

func (w *walker) value(values string) string { return w.pick(strings.Fields(values)...) }

const (
	truths    = ` true false true false "true" "false" "yes" 1 null`
	arguments = ` {} {} {} {"x-message-ttl":1000} {"x-message-ttl":-1} {"x-message-ttl":"5"} {"x-message-ttl":1.5} {"x-max-length":1} {"x-max-length":"a"}` +
		` {"x-queue-type":"classic"} {"x-queue-type":"quorum"} {"x-queue-type":"nope"} {"x-queue-type":1} {"x-queue-type":"quorum","x-delivery-limit":-1}` +
		` {"x-dead-letter-exchange":1} {"x-max-priority":256} {"x-max-priority":5} {"x-expires":0} {"z":[1,"a"]} {"z":{"b":1}} {"z":true} {"z":1.5}` +
		` {"x-overflow":"nope"} {"x-single-active-consumer":"true"} {"alternate-exchange":"x2"} [] {"z":null} "x" null 1`
	settings = ` {"max-length":1} {"max-length":-1} {"max-length":"1"} {"message-ttl":1000} {"message-ttl":"x"} {"expires":0} {"dead-letter-exchange":1}` +
		` {"overflow":"nope"} {"nope":1} {} {"max-length":1,"dead-letter-routing-key":"k"} {"ha-mode":"all"} {"queue-mode":"lazy"} {"delivery-limit":"1"}` +
		` {"alternate-exchange":"x1"} {"consumer-timeout":"1"} {"dead-letter-strategy":"x"} [] "x" null`
	numbers = ` 1 0 -1 100 "1" 1.5 null true`
)

// change is a request that may change something.
func (w *walker) change() request {
	r := w.changes()[w.IntN(len(w.changes()))]()
	if w.IntN(3) == 0 {
		r.user = w.pick(w.users...) + ":pw"
	}
	return r
}

func (w *walker) changes() []func() request {
	return []func() request{w.putQueue, w.putQueue, w.putQueue, w.putExchange, w.putExchange, w.putPolicy, w.putPolicy, w.putUser, w.putUser, w.putVHost,
		w.putPermission, w.putTopicPermission, w.bind, w.bind, w.putVHostLimit, w.putUserLimit, w.putGlobalParameter, w.putParameter, w.publish, w.publish,
		w.get, w.importOne, w.importOne, w.delete, w.delete, w.delete, w.delete, w.delete, w.delete}
}

func (w *walker) putQueue() request {
	return request{"", "PUT", "queues/" + w.vhost() + "/" + w.queue(), w.object(member{"durable", truths + " true true"}, member{"auto_delete", truths + " false false"},
		member{"exclusive", "true false"}, member{"arguments", arguments})}
}

func (w *walker) putExchange() request {
	return request{"", "PUT", "exchanges/" + w.vhost() + "/" + w.exchange(), w.object(
		member{"type", ` "direct" "direct" "fanout" "topic" "headers" 1.5`}, member{"durable", truths},
		member{"auto_delete", truths}, member{"internal", truths}, member{"arguments", ` {} {} {"alternate-exchange":"x2"} {"alternate-exchange":1} [] null`})}
}

func (w *walker) putPolicy() request {
	return request{"", "PUT", w.pick("policies/", "operator-policies/") + w.vhost() + "/" + w.policy(), w.object(
		member{"pattern", ` "^q" "^q" ".*" "x" "(" "" null 1`}, member{"definition", settings}, member{"priority", ` 0 1 -1 "1" 1.5 null`},
		member{"apply-to", ` "all" "queues" "exchanges" "classic_queues" "quorum_queues" "nope" null 1`})}
}

func (w *walker) putUser() request {
	login := member{"password", ` "pw" "pw" "pw" "" 1 null`}
	if w.IntN(4) == 0 {
		login = member{"password_hash", ` "" "abc" 1 true null "kI3GCqW5JLMJa4iX1lo7X4D6XbYqlLgxIs30+P6tENUV2POR"`}
	}
	return request{"", "PUT", "users/" + w.user(), w.object(login, member{"hashing_algorithm", ` "rabbit_password_hashing_sha512" 1 null`},
		member{"tags", ` "" "administrator" "management,policymaker" "monitoring" "a,b" ["monitoring"] [] [1] null 1 "impersonator" [1.5] [[97]] {}`})}
}

func (w *walker) putVHost() request {
	return request{"", "PUT", "vhosts/" + w.vhost(), w.object(member{"description", ` "d" "é" ""`}, member{"tags", ` "a,b" ["a","b"] "" []`}, member{"tracing", truths},
		member{"default_queue_type", ` "classic" "quorum" "nope" "" null 1`})}
}

func (w *walker) putPermission() request {
	return request{"", "PUT", "permissions/" + w.vhost() + "/" + w.user(), w.object(member{"configure", ` ".*" ".*" "" "^q" "(" 1 null`},
		member{"write", ` ".*" ".*" "" "("`}, member{"read", ` ".*" ".*" "" "["`})}
}

func (w *walker) putTopicPermission() request {
	return request{"", "PUT", "topic-permissions/" + w.vhost() + "/" + w.user(), w.object(member{"exchange", ` "x1" "" "amq.topic"`},
		member{"write", ` ".*" "" "("`}, member{"read", ` ".*" "" "[" 1`})}
}

func (w *walker) bind() request {
	kind, to := "/q/", w.queue()
	if w.IntN(3) == 0 {
		kind, to = "/e/", w.exchange()
	}
	return request{"", "POST", "bindings/" + w.vhost() + "/e/" + w.exchange() + kind + to, w.object(member{"routing_key", ` "k" "k" "" "a.#"`},
		member{"arguments", ` {} {} {"x-match":"any"} {"x-match":"x"} {"h":1} {"h":null} {"h":[1]} {"h":1.5} [] null`})}
}

func (w *walker) putVHostLimit() request {
	return request{"", "PUT", "vhost-limits/" + w.vhost() + "/" + w.pick("max-queues", "max-queues", "max-connections", "nope"), w.object(member{"value", numbers})}
}

func (w *walker) putUserLimit() request {
	return request{"", "PUT", "user-limits/" + w.user() + "/" + w.pick("max-channels", "max-connections", "nope"), w.object(member{"value", numbers})}
}

func (w *walker) putGlobalParameter() request {
	return request{"", "PUT", "global-parameters/" + url.PathEscape(w.vhosts[0]), w.object(member{"value", ` 1 "a" [1] {"a":1} null true 1.5 {"a":{"b":[]}}`})}
}

func (w *walker) putParameter() request {
	return request{"", "PUT", "parameters/" + w.pick("nope", "policy", "operator_policy", "vhost-limits") + "/" + w.vhost() + "/limits", w.object(
		member{"value", ` 1 {} [] {"max-queues":1} {"max-queues":-1} {"max-queues":"a"} {"pattern":"^q","definition":{"max-length":1}}` +
			` {"pattern":"^q","definition":{"max-length":1},"priority":0,"apply-to":"all"}`})}
}

func (w *walker) publish() request {
	if w.IntN(2) == 0 {
		return request{"", "POST", "exchanges/" + w.vhost() + "/" + w.pick("amq.default", "x1", "amq.direct") + "/publish",
			`{"properties":` + w.value(`{} {"delivery_mode":2,"headers":{"a":1}} {"type":"t","app_id":""}`) + `,"routing_key":` + w.value(`"q1" "q1" "q2" "k"`) +
				`,"payload":"aGVsbG8=","payload_encoding":` + w.value(`"string" "base64"`) + "}"}
	}
	return request{"", "POST", "exchanges/" + w.vhost() + "/" + w.exchange() + "/publish", w.object(
		member{"properties", ` {} {"delivery_mode":3} {"delivery_mode":"2"} {"headers":{"a":null}} {"headers":1} {"expiration":"x"} {"expiration":""} {"expiration":5}` +
			` {"priority":256} {"priority":"1"} {"content_type":1} {"timestamp":-1} {"nope":1} {"user_id":""} {"type":1,"priority":"x"} [] null`},
		member{"routing_key", ` "k" "q1"`}, member{"payload", ` "p" "" 1 null`}, member{"payload_encoding", ` "string" "base64" "nope" null`})}
}

func (w *walker) get() request {
	return request{"", "POST", "queues/" + w.vhost() + "/" + w.queue() + "/get", w.object(member{"count", ` 1 3 5 0 "2" 1.5 null`},
		member{"ackmode", ` "ack_requeue_true" "ack_requeue_false" "reject_requeue_true" "reject_requeue_false" "nope"`},
		member{"encoding", ` "auto" "base64" "nope" null`}, member{"truncate", ` 2 0 "3"`})}
}

// importOne imports a document with one entry, whose members have the types that they have in an export.
func (w *walker) importOne() request {
	vhost := w.pick(w.vhosts...)
	section, entry := "queues", fmt.Sprintf(`{"name":%q,"vhost":%q,"durable":%s,"auto_delete":%[3]s,"arguments":%s}`,
		w.pick("q1", "q2", "amq.q"), vhost, w.value("true false"), w.value(strings.Split(arguments, " []")[0]))
	switch w.IntN(7) {
	case 0:
		section, entry = "exchanges", fmt.Sprintf(`{"name":%q,"vhost":%q,"type":%s,"durable":true,"auto_delete":false,"internal":false,"arguments":{}}`,
			w.pick("x1", "x2", "amq.x"), vhost, w.value(`"direct" "fanout" "topic"`))
	case 1:
		section, entry = "policies", fmt.Sprintf(`{"name":"p1","vhost":%q,"pattern":%s,"definition":%s,"priority":1,"apply-to":%s}`, vhost,
			w.value(`"^q" "x" "("`), w.value(strings.Split(settings, " []")[0]), w.value(`"all" "queues"`))
	case 2:
		section, entry = "bindings", fmt.Sprintf(`{"source":%q,"vhost":%q,"destination":%q,"destination_type":"queue","routing_key":"k","arguments":{}}`,
			w.pick("x1", "amq.direct", "x2"), vhost, w.pick("q1", "q2"))
	case 3:
		section, entry = "parameters", fmt.Sprintf(`{"component":%s,"name":"limits","vhost":%q,"value":%s}`, w.value(`"vhost-limits" "nope"`), vhost,
			w.value(`{} [] {"max-queues":5} {"max-queues":-1} {"nope":1}`))
	case 4:
		section, entry = "users", fmt.Sprintf(`{"name":%q,"password_hash":"","tags":%s}`, w.pick(w.users...), w.value(`"" "administrator" ["monitoring"] [1]`))
	}
	return request{"", "POST", w.pick("definitions", "definitions", "definitions/"+url.PathEscape(vhost)), `{"` + section + `":[` + entry + "]}"}
}

func (w *walker) delete() request {
	v := w.vhost()
	return request{"", "DELETE", w.pick("queues/"+v+"/"+w.queue()+w.pick("", "", "?if-empty=true", "?if-unused=true"),
		"exchanges/"+v+"/"+w.exchange()+w.pick("", "", "?if-unused=true"), "policies/"+v+"/"+w.policy(), "operator-policies/"+v+"/"+w.policy(), "users/"+w.user(),
		"permissions/"+v+"/"+w.user(), "topic-permissions/"+v+"/"+w.user()+w.pick("", "/x1", "/amq.topic"),
		"vhost-limits/"+v+"/"+w.pick("max-queues", "max-connections", "nope"), "user-limits/"+w.user()+"/"+w.pick("max-channels", "nope"),
		"parameters/"+w.pick("policy", "vhost-limits", "nope", "operator_policy")+"/"+v+"/limits", "global-parameters/"+url.PathEscape(w.vhosts[0]),
		"bindings/"+v+"/e/"+w.exchange()+"/q/"+w.queue()+"/"+w.pick("k", "~", "a.%23", "k~x"), "queues/"+v+"/"+w.queue()+"/contents"), ""}
}

// look is a request for things that a walk has made.
func (w *walker) look() request {
	v, u := w.vhost(), w.user()
	path := w.pick("policies/"+v, "operator-policies/"+v, "queues/"+v, "exchanges/"+v, "bindings/"+v, "exchanges/"+v, "queues/"+v, "vhosts/"+v, "users/"+u,
		"users/"+u+"/permissions", "users/"+u+"/topic-permissions", "vhosts/"+v+"/permissions", "vhosts/"+v+"/topic-permissions", "permissions/"+v+"/"+u,
		"topic-permissions/"+v+"/"+u, "policies/"+v+"/"+w.policy(), "operator-policies/"+v+"/"+w.policy(), "vhost-limits/"+v, "user-limits/"+u,
		"parameters/policy/"+v, "parameters/vhost-limits/"+v, "parameters/operator_policy/"+v, "parameters/vhost-limits/"+v+"/limits",
		"exchanges/"+v+"/"+w.exchange(), "exchanges/"+v+"/"+w.exchange()+"/bindings/"+w.pick("source", "destination"), "queues/"+v+"/"+w.queue(),
		"queues/"+v+"/"+w.queue()+"/bindings", "bindings/"+v+"/e/"+w.exchange()+"/q/"+w.queue(), "whoami", "consumers/"+v,
		"vhosts/"+v+"/channels", "vhosts/"+v+"/connections") + w.parameters()
	if w.IntN(30) == 0 {
		path = "definitions/" + v
	}
	r := request{"", "GET", path, ""}
	if w.IntN(4) == 0 {
		r.user = w.pick(w.users[0]+":pw", w.users[1]+":pw", w.users[0]+":wrong", "nobody:x")
	}
	return r
}

// parameters are those of a query, of which most requests have none.
func (w *walker) parameters() string {
	if w.IntN(2) == 0 {
		return ""
	}
	var all []string
	for _, p := range []member{{"page", "1 1 2 0 -1 x 99"}, {"page_size", "1 2 100 500 501 0 x"}, {"name", "q x %5Eq .* ( 1 amq"}, {"use_regex", "true false x"},
		{"sort", "name vhost durable type nope arguments arguments.z policy"}, {"sort_reverse", "true false true x"},
		{"columns", "name name,vhost nope arguments name,arguments.x-queue-type vhost, durable,type"}, {"disable_stats", "true false x"},
		{"enable_queue_totals", "true false"}} {
		if w.IntN(4) == 0 {
			all = append(all, p.name+"="+w.value(p.values))
		}
	}
	return "?" + strings.Join(all, "&")
}
