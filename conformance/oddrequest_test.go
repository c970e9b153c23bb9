package conformance

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
)

// An asker makes odd requests about a virtual host and a user of the same name, which has its things only:
// the queues q1 and q2, the exchange x1, bindings between them, a message in q1 and a policy.
//
// It leaves out what docs/differences.md tells: streams, the format BERT, the header Expect, characters beyond ASCII where a refusal
// would have them.
type asker struct {
	*oddWriter
	v       string // the name of the virtual host and of the user
	profile leveret.Profile
}

func (a *asker) begin() []oddRequest {
	v := a.v
	return []oddRequest{
		ask("PUT", "vhosts/"+v, ""),
		ask("PUT", "users/"+v, `{"password":"pw","tags":"management,policymaker"}`),
		ask("PUT", "permissions/"+v+"/"+v, `{"configure":".*","write":".*","read":".*"}`),
		ask("PUT", "permissions/"+v+"/guest", `{"configure":".*","write":".*","read":".*"}`),
		ask("PUT", "queues/"+v+"/q1", `{"durable":true}`),
		ask("PUT", "queues/"+v+"/q2", `{"durable":true,"arguments":{"x-max-length":5,"z":{"b":[1]}}}`),
		ask("PUT", "exchanges/"+v+"/x1", `{"type":"topic"}`),
		ask("POST", "bindings/"+v+"/e/x1/q/q1", `{"routing_key":"k","arguments":{}}`),
		ask("POST", "bindings/"+v+"/e/x1/q/q2", `{"routing_key":"a.#","arguments":{"h":1}}`),
		ask("PUT", "policies/"+v+"/p1", `{"pattern":"^none","definition":{"max-length":9},"priority":1,"apply-to":"queues"}`),
		ask("POST", "exchanges/"+v+"/amq.default/publish", `{"properties":{"type":"t"},"routing_key":"q1","payload":"one","payload_encoding":"string"}`),
	}
}

func (a *asker) end() []oddRequest {
	return []oddRequest{ask("PUT", "vhosts/"+a.v, `{"tracing":false}`), ask("DELETE", "vhosts/"+a.v+"/deletion/protection", ""), ask("DELETE", "vhosts/"+a.v, ""),
		ask("DELETE", "users/"+a.v, ""), ask("DELETE", "global-parameters/"+a.v, "")}
}

func (a *asker) requests() (all []oddRequest) {
	for range 1 + a.IntN(6) {
		all = append(all, a.request())
	}
	return all
}

// An oddPlace is a path with the methods that go well there, and what a body of PUT or POST has.
type oddPlace struct {
	path    string // with @ for the virtual host, $ for names of its things
	methods string
	members []oddMember
	whole   bool // it shows guest more than the sequence's own things
}

// An oddMember of an object has one of the values, separated by blanks; ␣ is a blank in a value. The first is a good one.
type oddMember struct{ name, values string }

const (
	oddTruths = `true false "true" "false" "yes" 1 0 null [] {} 1.5`
	oddTexts  = `"q1" "" "␣" 1 0 -1 1.5 1e3 null true [] {} [1] ["a"] [97,98] "a\u0000b" "\u0041" "a\"b" "%71" "a/b"`
	oddNumber = `1 0 -1 "1" "01" "+1" "␣1" "" 1.0 1.5 1e2 -0 null true [] {} 99999999999999999999 "x"`
	oddTable  = `{} {"x-message-ttl":1000} {"a":1} {"a":null} {"a":true} {"a":[1,"b",{"c":2}]} {"a":1.5} {"":1} {"a":1e400} {"a":-0} {"a":1E5} [] [1] ["a"] [{}] null 1 "x" ""` +
		` {"a":99999999999999999999} {"a":{"b":{"c":[]}}} {"a":1,"a":2} {"x-max-length":"5"} {"x-max-length":5.0} {"x-expires":1e3} {"x-match":"any"} {"x-queue-type":null}` +
		` {"x-queue-type":"classic"} {"x-queue-type":""} {"alternate-exchange":"x1"} {"alternate-exchange":null} {"x-dead-letter-routing-key":"a"} {"x-max-priority":"1"} {"x-overflow":""} {"x-queue-mode":"x"}`
	oddSettings = `{"max-length":1} {"max-length":"1"} {"max-length":1.0} {"max-length":1e2} {"max-length":null} {"max-length":true} {} [] [1] null 1 "x" "{}" {"nope":1} {"":1} {"expires":1}` +
		` {"max-length":1,"max-length":2} {"message-ttl":-1,"expires":0} {"dead-letter-exchange":null} {"overflow":[]} {"queue-mode":"default"} {"alternate-exchange":""} {"max-length":{}} {"queue-version":1}`
)

var oddPlaces = []oddPlace{
	{"queues/@", "GET", nil, false}, {"queues/@", "GET", nil, false}, {"exchanges/@", "GET", nil, false}, {"bindings/@", "GET", nil, false}, {"policies/@", "GET", nil, false},
	{"operator-policies/@", "GET", nil, false}, {"vhost-limits/@", "GET", nil, false}, {"consumers/@", "GET", nil, false}, {"vhosts/@/permissions", "GET", nil, false},
	{"vhosts/@/topic-permissions", "GET", nil, false}, {"vhosts/@/connections", "GET", nil, false}, {"vhosts/@/channels", "GET", nil, false},
	{"queues", "GET", nil, true}, {"exchanges", "GET", nil, true}, {"bindings", "GET", nil, true}, {"policies", "GET", nil, true}, {"vhosts", "GET", nil, true},
	{"parameters", "GET", nil, true}, {"operator-policies", "GET", nil, true}, {"vhost-limits", "GET", nil, true}, {"user-limits", "GET", nil, true},
	{"consumers", "GET", nil, true}, {"connections", "GET", nil, true}, {"channels", "GET", nil, true}, {"users", "GET", nil, true}, {"permissions", "GET", nil, true},
	{"topic-permissions", "GET", nil, true}, {"definitions", "GET", nil, true}, {"all-configuration", "GET", nil, true}, {"nodes", "GET", nil, true},
	{"overview", "GET", nil, true}, {"extensions", "GET", nil, true}, {"feature-flags", "GET", nil, true}, {"global-parameters", "GET", nil, true}, {"users/without-permissions", "GET", nil, true},
	{"cluster-name", "GET", nil, false}, {"whoami", "GET", nil, false}, {"auth", "GET", nil, false}, {"version", "GET", nil, false}, {"health/checks/alarms", "GET", nil, false},
	{"health/checks/port-listener/$", "GET", nil, false}, {"health/checks/protocol-listener/$", "GET", nil, false},
	{"health/checks/certificate-expiration/1/$", "GET", nil, false}, {"connections/$", "GET,DELETE", nil, false}, {"connections/$/channels", "GET", nil, false},
	{"connections/username/@", "GET,DELETE", nil, false}, {"channels/$", "GET", nil, false}, {"aliveness-test/@", "GET", nil, false}, {"users/@/queues", "GET", nil, false},
	{"queues/detailed", "GET", nil, true}, {"queues/quorum/@/$/status", "GET", nil, false}, {"nodes/$", "GET", nil, false}, {"nodes/$/memory", "GET", nil, false},
	{"users/@/permissions", "GET", nil, false}, {"users/@/topic-permissions", "GET", nil, false}, {"parameters/policy", "GET", nil, true}, {"parameters/$", "GET", nil, true},
	{"parameters/policy/@", "GET", nil, false}, {"user-limits/@", "GET", nil, false}, {"deprecated-features", "GET", nil, true},
	{"exchanges/@/$/bindings/source", "GET", nil, false}, {"exchanges/@/$/bindings/destination", "GET", nil, false}, {"queues/@/$/bindings", "GET", nil, false},
	{"queues/@/$/contents", "DELETE", nil, false}, {"bindings/@/e/$/q/$/k", "GET,DELETE", nil, false}, {"bindings/@/e/$/q/$/$", "GET,DELETE", nil, false},
	{"vhosts/@/start/$", "POST", nil, false}, {"vhosts/@/deletion/protection", "GET,POST,DELETE", nil, false},
	{"definitions/@", "GET", nil, false}, {"topic-permissions/@/@/amq.topic", "GET,DELETE", nil, false},
	{"login", "POST", nil, false}, {"auth/hash_password/$", "GET", nil, true}, {"auth/attempts/$", "GET", nil, true},

	{"queues/@/$", "GET,PUT,PUT,PUT,DELETE", []oddMember{{"durable", oddTruths}, {"auto_delete", oddTruths}, {"arguments", oddTable}, {"exclusive", "false true"}}, false},
	{"queues/@/q1", "GET,PUT", []oddMember{{"durable", oddTruths}, {"auto_delete", "false " + oddTruths}, {"arguments", oddTable}, {"node", `"x" 1 null [] ""`}}, false},
	{"queues/@/new", "PUT", []oddMember{{"durable", oddTruths}, {"auto_delete", oddTruths}, {"arguments", oddTable}, {"node", `"x" 1 null [] ""`}}, false},
	{"queues/@/q1/get", "POST", []oddMember{{"count", oddNumber}, {"ackmode", `"ack_requeue_true" "ack_requeue_false" "reject_requeue_true" "" 1 null [] {}`},
		{"encoding", `"auto" "base64" "" null 1 [] {}`}, {"truncate", oddNumber}}, false},
	{"queues/@/$/get", "POST", []oddMember{{"count", oddNumber}, {"ackmode", `"ack_requeue_true" "reject_requeue_false"`}, {"encoding", `"auto"`}}, false},
	{"queues/@/$/actions", "POST", []oddMember{{"action", `"sync" "cancel_sync" "" null 1 []`}}, false},
	{"exchanges/@/$", "GET,PUT,PUT,DELETE", []oddMember{{"type", `"topic" "direct" "fanout" "" 1 null true [] {} "x-nope"`}, {"durable", oddTruths}, {"auto_delete", oddTruths},
		{"internal", oddTruths}, {"arguments", oddTable}}, false},
	{"exchanges/@/new", "PUT", []oddMember{{"type", `"topic" "direct" "headers" "" 1`}, {"durable", oddTruths}, {"auto_delete", oddTruths}, {"internal", oddTruths}, {"arguments", oddTable}}, false},
	{"exchanges/@/amq.default/publish", "POST", oddPublish, false}, {"exchanges/@/$/publish", "POST", oddPublish, false},
	{"bindings/@/e/x1/q/q1", "GET,POST,POST", []oddMember{{"routing_key", `"k" "" "a.#" [] {} "%6b" "k~x" "a␣b" "a/b"`}, {"arguments", oddTable}}, false},
	{"bindings/@/e/$/$/$", "GET,POST", []oddMember{{"routing_key", `"k" ""`}, {"arguments", oddTable}}, false},
	{"policies/@/$", "GET,PUT,PUT,PUT,DELETE", oddPolicy, false}, {"operator-policies/@/$", "GET,PUT,PUT,DELETE", oddPolicy, false},
	{"parameters/policy/@/$", "GET,PUT,DELETE", []oddMember{{"value", oddSettings}, {"name", `"x"`}}, false},
	{"parameters/$/@/$", "GET,PUT,DELETE", []oddMember{{"value", oddSettings}, {"component", `"x"`}}, false},
	{"global-parameters/@", "GET,PUT,DELETE", []oddMember{{"value", oddTable}, {"name", `"x"`}}, false},
	{"users/@", "GET,PUT,PUT", []oddMember{{"password", `"pw" "pw" "pw" "pw" 1 null`}, {"tags", `"management" ["management"] "" [] null 1 "a,b" "␣a␣,␣b␣" [1] {} true "," ["a","a"]`}, {"password_hash", `"" "abc" null 1`},
		{"hashing_algorithm", `"rabbit_password_hashing_sha256" "x" null 1`}}, false},
	{"users/bulk-delete", "POST", []oddMember{{"users", `[] ["oddreqnone"] "x" null 1 {} [1] [null] [[]]`}}, false},
	{"permissions/@/@", "GET,PUT,PUT,DELETE", []oddMember{{"configure", `".*" "" "(" 1 null true [] {}`}, {"write", `".*" "" "[" 1 null`}, {"read", `".*" "" "*" 1 null`}}, false},
	{"permissions/@/$", "GET,PUT,DELETE", []oddMember{{"configure", `".*"`}, {"write", `".*"`}, {"read", `".*"`}}, false},
	{"topic-permissions/@/@", "GET,PUT,DELETE", []oddMember{{"exchange", `"amq.topic" "x1" "" "nope" 1 null [] {}`}, {"write", `".*" "" "[" 1 null`}, {"read", `".*" "" "(" 1 null`}}, false},
	{"vhost-limits/@/$", "PUT,DELETE", []oddMember{{"value", oddNumber}, {"name", `"x"`}}, false}, {"vhost-limits/@/max-queues", "PUT,DELETE", []oddMember{{"value", oddNumber}}, false},
	{"user-limits/@/$", "PUT,DELETE", []oddMember{{"value", oddNumber}}, false}, {"user-limits/@/max-channels", "PUT,DELETE", []oddMember{{"value", oddNumber}}, false},
	{"vhosts/@", "GET,PUT,PUT", []oddMember{{"description", `"d" "" "a␣b"`}, {"tags", `"a,b" "" ["a"] []`}, {"tracing", oddTruths}, {"default_queue_type", `"classic" "quorum" "" "nope" 1 null`},
		{"protected_from_deletion", oddTruths}}, false},
	{"definitions/@", "POST", []oddMember{{"queues", `[]`}, {"exchanges", `[]`}, {"bindings", `[]`}, {"policies", `[]`}, {"rabbit_version", `"4.0.0" 1 null`}, {"vhosts", `[]`}, {"users", `[]`},
		{"parameters", `[]`}, {"nope", `[] 1`}}, false},
	{"definitions", "POST", []oddMember{{"queues", `[]`}, {"vhosts", `[]`}, {"users", `[]`}, {"global_parameters", `[]`}, {"rabbit_version", `"4.0.0" 1 null`}}, false},
}

var oddPublish = []oddMember{
	{"properties", `{} {"delivery_mode":2} {"delivery_mode":"2"} {"delivery_mode":2.0} {"headers":{"a":1}} {"headers":[]} {"headers":null} {"headers":{"a":null}} {"headers":{"a":1e400}} [] null 1 "x" {"type":null}` +
		` {"timestamp":1.5} {"timestamp":-1} {"priority":-1} {"expiration":""} {"expiration":"01"} {"expiration":"-1"} {"expiration":1} {"nope":1} {"user_id":"guest"} {"user_id":"x"} {"app_id":"a\u0000"} {"type":"a","type":"b"} {"":1}`},
	{"routing_key", `"q1" "q1" "" "nope" "a/b" [] {}`}, {"payload", `"p" "" "aGk=" "aGk" 1 null true [] {} "\u0000"`}, {"payload_encoding", `"string" "base64" "" "String" null 1 [] {}`}}

var oddPolicy = []oddMember{{"pattern", `"^q" "" "(" "[" "*" "a{2" "\\" "(?i)x" 1 null true [] {} ["a"]`}, {"definition", oddSettings},
	{"priority", oddNumber}, {"apply-to", `"all" "queues" "exchanges" "" null 1 "Queues" [] {} "classic_queues" "streams"`}, {"vhost", `"x"`}, {"name", `"x"`}}

// figuresAt are paths of which the answers have figures, or are about the node.
var figuresAt = []string{"overview", "nodes", "global-parameters", "feature-flags", "deprecated-features", "extensions"}

func oddLogin(login string) string {
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(login))
}

// request is a request of which some parts are odd.
func (a *asker) request() oddRequest {
	p := oneOf(a.oddWriter, oddPlaces...)
	r := oddRequest{method: oneOf(a.oddWriter, strings.Split(p.methods, ",")...), whole: p.whole}
	var login string
	r.headers, login = a.login()
	r.whole = r.whole && (login != a.v || slices.Contains(figuresAt, p.path))
	path := a.path(p.path)
	if a.chance(0.12) {
		r.method = oneOf(a.oddWriter, "GET", "PUT", "POST", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "FOO", "get", "HEAD", "OPTIONS")
	}
	if a.chance(0.12) {
		path = a.oddPath(path)
	}
	r.target = "/api/" + path + a.query(&r)
	if r.method == "PUT" || r.method == "POST" || a.chance(0.05) {
		r.body = a.object(p.members)
		r.chunked = a.chance(0.1)
		if a.chance(0.8) {
			r.headers = append(r.headers, "Content-Type: application/json")
		}
	}
	if a.chance(0.25) {
		r.headers = append(r.headers, a.header(r.method))
	}
	return a.harmless(r)
}

// harmless leaves nothing to a request that would change what is not the sequence's own.
func (a *asker) harmless(r oddRequest) oddRequest {
	isLook := r.method == "GET" || r.method == "HEAD" || r.method == "OPTIONS" || r.method == "TRACE" || r.method == "FOO" || r.method == "get" || r.method == "PATCH"
	if !isLook && !strings.Contains(strings.Split(r.target, "?")[0], a.v) && !strings.HasPrefix(r.target, "/api/definitions") && !strings.HasPrefix(r.target, "/api/users/bulk") &&
		!strings.HasPrefix(r.target, "/api/login") {
		r.method = "GET"
		r.whole = true
	}
	return r
}

func (a *asker) login() ([]string, string) {
	switch {
	case a.chance(0.2):
		return []string{oddLogin(a.v + ":pw")}, a.v
	case a.chance(0.05):
		return oneOf(a.oddWriter, nil, []string{oddLogin("guest:no")}, []string{oddLogin("guest")}, []string{oddLogin(":")}, []string{oddLogin("")},
			[]string{"Authorization: Basic !!!"}, []string{"Authorization: basic Z3Vlc3Q6Z3Vlc3Q="}, []string{"Authorization: Bearer abc"}, []string{"Authorization: Basic"},
			[]string{"Authorization:"}, []string{"Authorization: Basic Z3Vlc3Q6Z3Vlc3Q"}, []string{"Authorization: Basic  Z3Vlc3Q6Z3Vlc3Q="}, []string{"authorization: Basic Z3Vlc3Q6Z3Vlc3Q="},
			[]string{oddLogin("guest:guest:")}, []string{oddLogin("guest:guest\x00")}, []string{oddLogin("gu\xffest:guest")}, []string{"Authorization: Digest username=\"guest\""}), ""
	}
	return []string{oddLogin("guest:guest")}, ""
}

// path fills the names into a path.
func (a *asker) path(path string) string {
	var b strings.Builder
	for _, c := range path {
		switch c {
		case '@':
			b.WriteString(oneOf(a.oddWriter, a.v, a.v, a.v, a.v, a.v, a.v, a.v, a.v, a.v, a.v, a.v+"-none"))
		case '$':
			b.WriteString(oneOf(a.oddWriter, "q1", "q1", "q2", "x1", "x1", "p1", "new", "k", "amq.direct", "amq.default", "amq.topic", "amq.new", "nope", "%20", "a%2Fb", "1", "max-queues",
				"max-connections", "vhost-limits", "q", "e", "~", "a.%23~h", "k~", "limits", "5672", "amqp", "operator_policy", a.v, "guest", "%00", "%22"))
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// oddPath changes a path a little.
func (a *asker) oddPath(path string) string {
	segments := strings.Split(path, "/")
	at := a.IntN(len(segments))
	s := segments[at]
	if at > 0 && a.chance(0.1) { // dots at the beginning lead to the pages of RabbitMQ's console
		segments[at] = oneOf(a.oddWriter, ".", "..")
		return strings.Join(segments, "/")
	}
	segments[at] = oneOf(a.oddWriter, "", s+"/", s+"/.", "./"+s, "x/../"+s, s+"%20", s+"+", s+"%", s+"%zz", s+"%2", strings.ToUpper(s), s+";x=1", s+"%2f", s+"%2F..", s+"%00",
		s+"%ff", s+"%C3%A9", s+"//", "%2e", "%2E%2e", s+"/more", s+":", a.encoded(s), s+"@", s+"&", s+"=", s+"$", s+"!", s+"'", s+"*", s+",", s+"(", s+"|", s+"~", s+"%7E")
	return strings.Join(segments, "/")
}

// query is that of a request; most have none.
func (a *asker) query(r *oddRequest) string {
	if !a.chance(0.35) {
		return ""
	}
	var all []string
	for range oneOf(a.oddWriter, 1, 1, 2, 2, 3, 4) {
		m := oneOf(a.oddWriter, oddParameters...)
		all = append(all, m.name+"="+oneOf(a.oddWriter, strings.Split(m.values, " ")...))
	}
	if a.chance(0.15) {
		all = append(all, oneOf(a.oddWriter, "", "x", "=", "=x", "x==y", "%zz=1", "x=%", "a=%ff", "+", "name", "page", "columns", "sort", "x=%00", "page[]=1", "?", "/", "disable_stats", "use_regex", "%70age=1", "a;b", "page=1;page_size=1"))
	}
	q := "?" + strings.Join(all, "&")
	r.ordered = (strings.Contains(q, "sort=") || strings.Contains(q, "page=")) && !strings.Contains(r.target, "definitions")
	return q
}

var oddParameters = []oddMember{
	{"page", "1 1 1 2 0 -1 x  1.0 01 +1 %2B1 1%20 99 99999999999999999999"}, {"page", "1"}, {"page_size", "1 2 100 500 501 0 x  -1 01 1.5"}, {"name", "q x %5Eq .* ( 1 amq  Q %5C %5B q%5Cd (%3Fi)Q q%7C(x) %C3%A9 %ff a%20b"},
	{"use_regex", "true true false x  1 TRUE"}, {"sort", "name vhost durable type nope arguments arguments.z  name,vhost arguments. .name arguments.z.b node routing_key source destination properties_key auto_delete"},
	{"sort_reverse", "true false  x 1 True"}, {"columns", "name name,vhost nope arguments name,arguments.x-max-length arguments.z.b vhost,  , name, ,name .name name. name.x arguments.. Name name,name arguments,arguments.z %6eame name%2Cvhost node,rabbitmq_version source,destination"},
	{"disable_stats", "true false x  1"}, {"enable_queue_totals", "true false x  1"}, {"if-unused", "true false x"}, {"if-empty", "true false x"},
	{"msg_rates_age", "60 0 x  -1 5"}, {"msg_rates_incr", "5 0 x  -1 60"}, {"lengths_age", "60 x 0"}, {"lengths_incr", "5 x 0"}, {"data_rates_age", "60 x"}, {"data_rates_incr", "5"},
	{"download", "x  a%20b a%22b"}, {"auth", "x Z3Vlc3Q6Z3Vlc3Q="}, {"vhost", "x"}, {"_", "1"}, {"pagination", "true"},
}

// header is an odd one.
func (a *asker) header(method string) string {
	return oneOf(a.oddWriter, "Accept: application/json", "Accept: */*", "Accept: text/html", "Accept: application/*", "Accept: text/*, application/json;q=0.1", "Accept: application/json;q=0", "Accept: application/json;v=1",
		"Accept: ", "Accept: x", "Accept: application/json, ", "Accept: application/json; charset=utf-8", "Accept: APPLICATION/JSON", "Accept: ;", "Accept: */*;q=2", "Accept: */json", "Accept: text/plain", "Accept: application/octet-stream",
		"Accept: application/json;q=x", "Accept: */*;q=", "Accept: application/json;q=0.5;ext=1",
		"Content-Type: text/plain", "Content-Type: ", "Content-Type: x", "Content-Type: application/json; charset=utf-8", "Content-Type: application/x-www-form-urlencoded", "Content-Type: Application/JSON", "Content-Type: application/json;",
		"Content-Type: */*", "Content-Type: application/json; charset", "Content-Type: application/json, text/plain", "Content-Type: multipart/form-data", "Content-Type: application/octet-stream",
		"Content-Encoding: gzip", "Content-Language: de", "Accept-Encoding: gzip", "Accept-Encoding: gzip;q=0", "Accept-Encoding: identity", "Accept-Encoding: *", "Accept-Encoding: deflate, gzip", "Accept-Encoding: GZIP", "Accept-Encoding: gzip;q=x",
		"Accept-Encoding: identity;q=0", "Accept-Encoding: ", "Accept-Encoding: ,", "Accept-Encoding: x;;",
		"Accept-Language: de", "Accept-Language: *", "Accept-Language: ", "Accept-Language: 1", "Accept-Charset: utf-8", "Accept-Charset: iso-8859-1", "Accept-Charset: ", "Accept-Charset: ;", "Accept-Charset: utf-8;q=0",
		"If-Match: *", "If-Match: \"x\"", "If-Match: x", "If-Match: ", "If-Match: \"x\", \"y\"", "If-Match: W/\"x\"", "If-None-Match: *", "If-None-Match: \"x\"", "If-None-Match: x", "If-None-Match: ", "If-None-Match: W/\"x\"",
		"If-None-Match: *, \"x\"", "If-Match: \"x\",", "If-Match: \"x", "If-None-Match: \"x\" \"y\"",
		"If-Modified-Since: Sat, 29 Oct 1994 19:43:31 GMT", "If-Modified-Since: x", "If-Modified-Since: ", "If-Unmodified-Since: Sat, 29 Oct 1994 19:43:31 GMT", "If-Unmodified-Since: x", "If-Unmodified-Since: Sat, 29 Oct 2094 19:43:31 GMT",
		"If-Range: \"x\"", "Range: bytes=0-1", "Range: x", "X-HTTP-Method-Override: DELETE", "X-Reason: why", "Cookie: auth=Z3Vlc3Q6Z3Vlc3Q=", "Cookie: ;", "Access-Control-Request-Method: GET", "Access-Control-Request-Headers: x",
		"X-Vhost: x", "Upgrade: h2c", "Cache-Control: no-cache", "Pragma: no-cache", "TE: trailers", "Max-Forwards: 0", "X-Empty:", "Referer: x", "User-Agent: ", "Via: 1.1 x", "Forwarded: for=x")
}

// object is a body: an object with most of the members, one of them odd, or something else.
func (a *asker) object(members []oddMember) string {
	if a.chance(0.04) {
		return oneOf(a.oddWriter, "", " ", "[]", "null", "1", `"a"`, "{", "}", `{"a":1,"a":2}`, "true", "false", "undefined", "{}x", "{} {}", "\ufeff{}", "{,}", "{\"a\":}", "{'a':1}", "[{}]", "nul", "\x00", "-", "{\"a\":01}", "{\"a\":\"\x01\"}",
			`"{}"`, "{}\n", "\t{}", "1.5", "//x\n{}", "{\"a\":NaN}", "{\"a\":.5}", "{\"a\":1.}", "{\"a\":+1}", "{\"a\":\"\\x\"}", "{\"a\":\"\\ud800\"}", "{\"a\":\"\xff\"}", "[[[[[[]]]]]]", "{\"\":1}", "{1:2}", "a=b")
	}
	var all []string
	for _, m := range members {
		values := strings.Split(m.values, " ")
		value := values[0]
		if a.chance(0.3) {
			value = oneOf(a.oddWriter, values...)
		}
		if a.chance(0.9) {
			all = append(all, a.quoted(m.name)+":"+strings.ReplaceAll(value, "␣", " "))
		}
	}
	if a.chance(0.1) {
		all = append(all, oneOf(a.oddWriter, `"foo":1`, `"name":null`, `"vhost":"x"`, `"node":null`, `"":1`, `"a\u0000":1`, `"arguments":{}`, `"durable":false`, `"tags":""`))
	}
	if a.chance(0.1) {
		a.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	text := "{" + strings.Join(all, ",") + "}"
	if a.chance(0.03) {
		at := a.IntN(len(text))
		text = text[:at] + oneOf(a.oddWriter, "", ",", " ", "\"", "\n", "}", "{", "\\", "\x01") + text[min(len(text), at+a.IntN(2)):]
	}
	return text
}

func (a *asker) quoted(name string) string {
	if a.chance(0.02) {
		return oneOf(a.oddWriter, `"`+strings.ToUpper(name)+`"`, fmt.Sprintf(`"\u%04x%s"`, name[0], name[1:]), `"`+name+` "`, `" `+name+`"`)
	}
	return `"` + name + `"`
}

// encoded is a segment of a path whose first octet is written in hexadecimal digits.
func (a *asker) encoded(s string) string {
	if s == "" || s[0] == '%' {
		return s
	}
	return fmt.Sprintf(oneOf(a.oddWriter, "%%%02x", "%%%02X")+"%s", s[0], s[1:])
}
