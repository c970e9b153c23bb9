package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A walker makes random command lines: what creates, changes and deletes things, with arguments that are good, bad, missing or too many,
// and what lists them in any form. It knows nothing of what is there, so some of its commands are about what is not.
//
// It leaves out what only leveret has, what ends a node, two mistakes in one command of which one is a missing virtual host, and what
// docs/differences.md tells: streams, and documents of several entries, of which RabbitMQ takes some and leveret none. Clients use classic
// queues only: RabbitMQ tells what quorum queues have some seconds later.
type walker struct {
	*rand.Rand
	vhosts, users []string
}

// A step is a command line with its standard input, or something that a client does.
type step struct {
	args   []string
	stdin  string
	client string
}

func (s step) String() string {
	if s.client != "" {
		return "@ " + s.client
	}
	line := "$"
	for _, a := range s.args {
		if a == "" || strings.ContainsAny(a, " '\"{}") {
			a = "'" + a + "'"
		}
		line += " " + a
	}
	if s.stdin != "" {
		line += " < " + s.stdin
	}
	return line
}

func newWalker(seed uint64) *walker {
	w := &walker{Rand: rand.New(rand.NewPCG(seed, 0))}
	for _, name := range []string{"walk%d", "walk%d.b"} { // names of their own: RabbitMQ deletes a virtual host little by little
		w.vhosts = append(w.vhosts, fmt.Sprintf(name, seed))
	}
	for _, name := range []string{"walk%d.u", "walk%d u"} {
		w.users = append(w.users, fmt.Sprintf(name, seed))
	}
	return w
}

// begin makes what a walk begins with.
func (w *walker) begin() (all []step) {
	for _, v := range w.vhosts {
		all = append(all, command("add_vhost", v), command("set_permissions", "-p", v, "guest", ".*", ".*", ".*"))
	}
	for _, u := range w.users {
		all = append(all, command("add_user", u, "pw"))
	}
	for _, q := range []string{"q1", "q2"} {
		all = append(all, w.importing("queues", fmt.Sprintf(`{"name":%q,"vhost":%q,"durable":true,"auto_delete":false,"arguments":{}}`, q, w.vhosts[0])))
	}
	return append(all, step{client: "connect"})
}

// end takes away what is left of a walk.
func (w *walker) end() (all []step) {
	all = append(all, step{client: "disconnect"})
	for _, v := range w.vhosts {
		all = append(all, command("trace_off", "-p", v), command("delete_vhost", v))
	}
	for _, u := range w.users {
		all = append(all, command("delete_user", u))
	}
	return append(all, command("trace_off"), command("clear_global_parameter", w.vhosts[0]))
}

func command(args ...string) step { return step{args: args} }

const stepsOfWalk = 40

// steps are those of a walk.
func (w *walker) steps() []step {
	all := w.begin()
	for range stepsOfWalk {
		all = append(all, w.change(), w.list(), w.list())
		if w.IntN(3) == 0 {
			all = append(all, step{client: w.pick("publish q1", "publish q1", "publish q2", "get q1", "get q2", "consume q1", "consume q2", "cancel", "close")})
		}
	}
	return all
}

func (w *walker) pick(of ...string) string   { return of[w.IntN(len(of))] }
func (w *walker) value(values string) string { return w.pick(strings.Fields(values)...) }
func (w *walker) vhost() string              { return w.pick(append(w.vhosts, w.vhosts[0], w.vhosts[0], "nope")...) }
func (w *walker) user() string               { return w.pick(append(w.users, w.users[0], w.users[0], "nope")...) }
func (w *walker) pattern() string            { return w.pick(".*", ".*", "^q", "", "(", "[", "a|b") }
func (w *walker) queue() string              { return w.pick("q1", "q1", "q2", "q 3", "nope") }
func (w *walker) policy() string             { return w.pick("p1", "p1", "p 2") }
func (w *walker) tags() string {
	return w.pick("administrator", "monitoring", "a", "a b", "", "é", "a,b")
}
func (w *walker) number() string               { return w.pick("1", "0", "-1", "100", "1.5", "x", "", "010", "1 ") }
func (w *walker) oneOf(cs ...func() step) step { return cs[w.IntN(len(cs))]() }

const settingsOfPolicies = `{"max-length":1} {"max-length":1} {"max-length":-1} {"max-length":"1"} {"message-ttl":1000} {"message-ttl":"x"} {"expires":0}` +
	` {"overflow":"nope"} {"nope":1} {} {"max-length":1,"dead-letter-routing-key":"k"} {"dead-letter-exchange":1} {"queue-mode":"lazy"} {"delivery-limit":"1"}` +
	` {"alternate-exchange":"x1"} {"consumer-timeout":"1"} {"dead-letter-strategy":"x"} {"max-length":1.5} {"max-length":null} {"expires":1000,"max-length":5}` +
	` [] "x" null 1 true { nope {"max-length":1}} {"a":{"b":[1,"c"]}} {"message-ttl":1,"message-ttl":2}`

const limits = `{"max-queues":1} {"max-queues":-1} {"max-queues":0} {"max-connections":100} {"max-queues":"1"} {"nope":1} {"max-queues":1.5} [] 1 null {` +
	` {"max-channels":1} {"max-channels":-1} {"max-connections":-1,"max-queues":5} {"max-connections":null} {"max-channels":5,"max-connections":6}`

// change is a command that may change something.
func (w *walker) change() step {
	s := w.oneOf(w.setPolicy, w.setPolicy, w.setPolicy, w.clearPolicy, w.setPermissions, w.setTopicPermissions, w.clearPermissions, w.addUser, w.setTags,
		w.deleteUser, w.password, w.addVHost, w.describeVHost, w.vhostLimits, w.userLimits, w.globalParameter, w.parameter, w.deleteQueue, w.purge,
		w.importOne, w.importOne, w.importOne, w.trace)
	return w.spoiled(s)
}

// spoiled has sometimes an argument or an option too many, or one argument less.
func (w *walker) spoiled(s step) step {
	switch w.IntN(24) {
	case 0:
		s.args = append(s.args, w.pick("more", "--nope", "-x", "--vhost", "-t", "--"))
	case 1:
		s.args = s.args[:len(s.args)-1]
	case 2:
		s.args = append(s.args, w.pick("-q", "--quiet", "-s", "--silent", "--timeout=5", "-t", "--dry-run", "--verbose"))
	case 3:
		s.args = append(s.args, "--formatter", w.pick("json", "csv", "table", "pretty_table", "erlang"))
	}
	if len(s.args) == 0 {
		s.args = []string{"list_vhosts"}
	}
	return s
}

// in has the option for a virtual host, which may be missing.
func (w *walker) in(args ...string) step { return w.inOne(w.vhost(), args...) }

// within has the option for a virtual host of the walk.
func (w *walker) within(args ...string) step { return w.inOne(w.pick(w.vhosts...), args...) }

func (w *walker) inOne(vhost string, args ...string) step {
	option := [][]string{{"-p", vhost}, {"--vhost", vhost}, {"--vhost=" + vhost}}[w.IntN(3)]
	if at := 1 + w.IntN(len(args)); w.IntN(2) == 0 {
		return command(append(append(append([]string{}, args[:at]...), option...), args[at:]...)...)
	}
	return command(append(args[:1:1], append(option, args[1:]...)...)...)
}

func (w *walker) setPolicy() step {
	args := []string{w.pick("set_policy", "set_policy", "set_operator_policy"), w.policy(), w.pattern(), w.value(settingsOfPolicies)}
	if w.IntN(3) == 0 {
		args = append(args, "--priority", w.number())
	}
	if w.IntN(3) == 0 {
		args = append(args, "--apply-to", w.pick("all", "queues", "exchanges", "classic_queues", "quorum_queues", "nope"))
	}
	return w.within(args...)
}

func (w *walker) clearPolicy() step {
	return w.in(w.pick("clear_policy", "clear_operator_policy"), w.policy())
}

func (w *walker) setPermissions() step {
	if w.IntN(6) == 0 {
		return command("set_permissions_globally", w.pick("nope", w.users[1]), w.pattern(), w.pattern(), w.pattern())
	}
	return w.within("set_permissions", w.user(), w.pattern(), w.pattern(), w.pattern())
}

func (w *walker) setTopicPermissions() step {
	return w.within("set_topic_permissions", w.user(), w.pick("amq.topic", "x1", ""), w.pattern(), w.pattern())
}

func (w *walker) clearPermissions() step {
	if w.IntN(2) == 0 {
		return w.in("clear_permissions", w.user())
	}
	s := w.in("clear_topic_permissions", w.user())
	if w.IntN(2) == 0 {
		s.args = append(s.args, w.pick("amq.topic", "x1", ""))
	}
	return s
}

func (w *walker) addUser() step {
	s := command("add_user", w.pick(w.users...), w.pick("pw", "", "p w"))
	switch w.IntN(6) {
	case 0:
		s.args[2] = w.pick("kI3GCqW5JLMJa4iX1lo7X4D6XbYqlLgxIs30+P6tENUV2POR", "abc", "")
		s.args = append(s.args, "--pre-hashed-password")
	case 1:
		s.args, s.stdin = s.args[:2], w.pick("pw\n", "", "pw\nmore\n", "\n")
	}
	return s
}

// setTags gives a user no tag beyond ASCII: an import, RabbitMQ's too, takes the octets of such a tag for letters.
func (w *walker) setTags() step {
	s := command("set_user_tags", w.user())
	for range w.IntN(3) {
		s.args = append(s.args, w.pick("administrator", "monitoring", "a", "a b", "", "a,b"))
	}
	return s
}

func (w *walker) deleteUser() step { return command("delete_user", w.user()) }

func (w *walker) password() step {
	s := command(w.pick("change_password", "authenticate_user", "authenticate_user"), w.user(), w.pick("pw", "pw", "p w", ""))
	switch w.IntN(4) {
	case 0:
		return command("clear_password", w.user())
	case 1:
		s.args, s.stdin = s.args[:2], w.pick("pw\n", "", "\n")
	}
	return s
}

func (w *walker) addVHost() step {
	s := command("add_vhost", w.vhosts[1])
	if w.IntN(4) == 0 {
		s = command("delete_vhost", w.pick(w.vhosts[1], "nope"))
		return s
	}
	for _, o := range [][2]string{{"--description", w.pick("d", "", "some text", "é")}, {"--tags", w.tags()}, {"--default-queue-type", w.pick("classic", "quorum", "nope", "")}} {
		if w.IntN(3) == 0 {
			s.args = append(s.args, o[:]...)
		}
	}
	return s
}

func (w *walker) describeVHost() step {
	if w.IntN(3) == 0 {
		s := command("set_vhost_tags", w.vhost())
		for range w.IntN(3) {
			s.args = append(s.args, w.tags())
		}
		return s
	}
	s := command("update_vhost_metadata", w.vhost())
	for _, o := range [][2]string{{"--description", w.pick("d", "", "some text", "é")}, {"--tags", w.tags()}, {"--default-queue-type", w.pick("classic", "quorum", "nope", "")}} {
		if w.IntN(2) == 0 {
			s.args = append(s.args, o[:]...)
		}
	}
	return s
}

func (w *walker) vhostLimits() step {
	if w.IntN(3) == 0 {
		return w.in("clear_vhost_limits")
	}
	return w.within("set_vhost_limits", w.value(limits))
}

func (w *walker) userLimits() step {
	if w.IntN(3) == 0 {
		return command("clear_user_limits", w.user(), w.pick("all", "max-channels", "max-connections", "nope", ""))
	}
	return command("set_user_limits", w.user(), w.value(limits))
}

func (w *walker) globalParameter() step {
	if w.IntN(3) == 0 {
		return command("clear_global_parameter", w.vhosts[0])
	}
	return command("set_global_parameter", w.vhosts[0], w.value(`1 "a" [1] {"a":1} null true 1.5 {"a":{"b":[]}} { x [] {} [{"a":"b"},{"c":1}] "é" ""`))
}

func (w *walker) parameter() step {
	component := w.pick("nope", "policy", "operator_policy", "vhost-limits", "")
	if w.IntN(3) == 0 {
		return w.in("clear_parameter", component, w.pick("limits", "p1"))
	}
	return w.within("set_parameter", component, "limits", w.value(`1 {"max-queues":1} {"max-queues":-1} {"max-queues":"a"} {"pattern":"^q","definition":{"max-length":1}} x {`+
		` {"pattern":"^q","definition":{"max-length":1},"priority":0,"apply-to":"all"}`))
}

func (w *walker) deleteQueue() step {
	s := w.in("delete_queue", w.queue())
	if w.IntN(2) == 0 {
		s.args = append(s.args, w.pick("--if-empty", "-e", "--if-unused", "-u", "--if-empty=false", "--force"))
	}
	return s
}

func (w *walker) purge() step { return w.in("purge_queue", w.queue()) }

func (w *walker) trace() step { return w.in(w.pick("trace_on", "trace_off")) }

// importOne imports a document with one entry, whose members have the types that they have in an export.
func (w *walker) importOne() step {
	vhost := w.vhosts[0]
	section, entry := "queues", fmt.Sprintf(`{"name":%q,"vhost":%q,"durable":%s,"auto_delete":%[3]s,"arguments":%s}`, w.pick("q1", "q2", "q 3", "amq.q"), vhost,
		w.value("true false"), w.value(`{} {} {"x-message-ttl":100000000} {"x-message-ttl":-1} {"x-max-length":5} {"x-max-length":"a"} {"x-queue-type":"quorum"}`+
			` {"x-queue-type":"nope"} {"x-dead-letter-exchange":1} {"x-max-priority":5} {"z":[1,"a"]} {"z":{"b":1}} {"z":true} {"z":1.5} {"x-single-active-consumer":true}`))
	switch w.IntN(7) {
	case 0:
		section, entry = "exchanges", fmt.Sprintf(`{"name":%q,"vhost":%q,"type":%s,"durable":true,"auto_delete":false,"internal":%s,"arguments":%s}`,
			w.pick("x1", "x2", "amq.x"), vhost, w.value(`"direct" "fanout" "topic"`), w.value("true false"), w.value(`{} {"alternate-exchange":"x2"} {"a":1}`))
	case 1:
		section, entry = "policies", fmt.Sprintf(`{"name":"p1","vhost":%q,"pattern":%s,"definition":%s,"priority":1,"apply-to":%s}`, vhost,
			w.value(`"^q" "x" "("`), w.value(strings.Split(settingsOfPolicies, " []")[0]), w.value(`"all" "queues"`))
	case 2, 3:
		section, entry = "bindings", fmt.Sprintf(`{"source":%q,"vhost":%q,"destination":%q,"destination_type":"queue","routing_key":%s,"arguments":%s}`,
			w.pick("x1", "amq.direct", "x2", "amq.headers"), vhost, w.pick("q1", "q2", "q 3"), w.value(`"k" "" "a.#"`), w.value(`{} {} {"x-match":"any"} {"h":1} {"h":[1]} {"h":1.5}`))
	case 4:
		section, entry = "parameters", fmt.Sprintf(`{"component":%s,"name":"limits","vhost":%q,"value":%s}`, w.value(`"vhost-limits" "nope"`), vhost,
			w.value(`{"max-queues":5} {"max-queues":-1} {"nope":1}`))
	case 5:
		section, entry = "users", fmt.Sprintf(`{"name":%q,"password_hash":"","tags":%s}`, w.pick(w.users...), w.value(`"" "administrator" ["monitoring"] [1]`))
	}
	return w.importing(section, entry)
}

func (w *walker) importing(section, entry string) step {
	return step{args: []string{"import_definitions"}, stdin: `{"` + section + `":[` + entry + "]}"}
}

var columnsOf = map[string]string{
	"list_queues": "name arguments auto_delete consumers durable effective_policy_definition exclusive exclusive_consumer_tag message_bytes message_bytes_persistent" +
		" message_bytes_ready message_bytes_unacknowledged messages messages_persistent messages_ready messages_unacknowledged operator_policy policy state type",
	"list_exchanges":   "name type durable auto_delete internal arguments policy",
	"list_bindings":    "arguments destination_kind destination_name routing_key source_kind source_name",
	"list_consumers":   "ack_required active activity_status arguments consumer_tag prefetch_count queue_name",
	"list_vhosts":      "name tracing default_queue_type description tags",
	"list_channels":    "acks_uncommitted confirm consumer_count global_prefetch_count messages_unacknowledged messages_uncommitted messages_unconfirmed number prefetch_count transactional user vhost",
	"list_connections": "auth_mechanism channels channel_max frame_max protocol state timeout user vhost ssl",
}

// list is a command that lists what there is.
func (w *walker) list() step {
	var s step
	switch name := w.pick("list_queues", "list_queues", "list_queues", "list_exchanges", "list_bindings", "list_bindings", "list_consumers", "list_vhosts", "list_channels", "list_connections",
		"list_policies", "list_operator_policies", "list_parameters", "list_permissions", "list_topic_permissions", "list_vhost_limits", "list_user_limits",
		"list_user_permissions", "list_user_topic_permissions", "list_global_parameters", "list_users"); name {
	case "list_user_permissions", "list_user_topic_permissions":
		s = command(name, w.user())
	case "list_user_limits":
		s = command(name, "--user", w.user())
	case "list_users", "list_global_parameters":
		s = command(name)
	case "list_vhosts", "list_channels", "list_connections":
		s = command(name)
	default:
		s = w.in(name)
	}
	if columns := strings.Fields(columnsOf[s.args[0]]); len(columns) > 0 && (w.IntN(2) == 0 || s.args[0] == "list_connections") {
		for range 1 + w.IntN(4) {
			s.args = append(s.args, w.pick(columns...))
		}
		if w.IntN(20) == 0 {
			s.args = append(s.args, w.pick("nope", "name,type", "name"))
		}
	}
	switch w.IntN(6) {
	case 0:
		s.args = append(s.args, w.pick("-q", "-s", "--silent", "--no-table-headers", "--timeout=10"))
	case 1, 2:
		s.args = append(s.args, "--formatter", w.pick("json", "json", "csv", "table", "pretty_table", "erlang"))
	}
	if w.IntN(4) == 0 {
		s = w.spoiled(s)
	}
	return s
}
