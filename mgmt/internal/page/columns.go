package page

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
)

// The columns of all lists.

// plain is a column with what stands at a path.
func plain(title, key, class string) column {
	return column{title, key, class, func(o Object) cell { return short(text(at(o, key))) }}
}

// short is a cell with a text, cut if it is long.
func short(s string) cell { return cell{Text: shorten(s)} }

// counted is a column with a whole number.
func counted(title, key, class string) column {
	return column{title, key, "n " + class, func(o Object) cell {
		if at(o, key) == nil {
			return cell{}
		}
		return cell{Text: count(number(at(o, key)))}
	}}
}

// rated is a column with the rate of a figure.
func rated(title, figure, class string) column {
	key := figure + "_details.rate"
	return column{title, key, "n " + class, func(o Object) cell { return cell{Text: perSecond(number(at(o, key)))} }}
}

// sized is rated for octets.
func sized(title, figure, class string) column {
	key := figure + "_details.rate"
	return column{title, key, "n " + class, func(o Object) cell {
		if rate := number(at(o, key)); rate >= 1 {
			return cell{Text: size(rate) + "/s"}
		}
		return cell{}
	}}
}

// linked is a column with the name of an object that has a view of its own.
func linked(title, path string) column {
	return column{title, "name", "name", func(o Object) cell {
		return cell{Text: nameOf(text(o["name"])), Href: to(path, text(o["vhost"]), text(o["name"]))}
	}}
}

// nameOf is the name of an exchange or queue; that of the default exchange is empty.
func nameOf(name string) string { return cmp.Or(shorten(name), "(default exchange)") }

// flags is a column with what is unusual about an object.
var flags = column{title: "Features", class: "wide", cell: func(o Object) cell {
	var words []string
	for _, f := range []struct{ key, word string }{{"durable", "durable"}, {"auto_delete", "auto-delete"}, {"exclusive", "exclusive"}, {"internal", "internal"}} {
		if o[f.key] == true {
			words = append(words, f.word)
		}
	}
	return cell{Text: strings.Join(append(words, argumentsOf(o)...), ", ")}
}}

// argumentsOf lists the arguments of an object without the type of a queue, which has a column of its own.
func argumentsOf(o Object) (all []string) {
	var args map[string]any
	if json.Unmarshal([]byte(text(o["arguments"])), &args) != nil {
		return nil
	}
	delete(args, leveret.ArgQueueType)
	for _, name := range slices.Sorted(maps.Keys(args)) {
		value, _ := json.Marshal(args[name]) // it comes from JSON
		all = append(all, shorten(name+": "+strings.Trim(string(value), `"`)))
	}
	return all
}

// policiesInForce is a column with the names of the policies in force.
var policiesInForce = column{"Policy", "policy", "wide", func(o Object) cell {
	return short(strings.Join(nonEmpty(text(o["policy"]), text(o["operator_policy"])), " + "))
}}

func nonEmpty(all ...string) (some []string) {
	for _, s := range all {
		if s != "" {
			some = append(some, s)
		}
	}
	return some
}

// end is a column with one end of a binding.
func end(title, key string) column {
	return column{title, key, "name", func(o Object) cell {
		name, path := text(o[key]), "/exchange"
		if key == "destination" && text(o["destination_type"]) == leveret.DestinationQueue {
			path = "/queue"
		}
		return cell{Text: nameOf(name), Href: to(path, text(o["vhost"]), name)}
	}}
}

var (
	vhostColumn     = plain("Virtual host", "vhost", "wide")
	argumentsColumn = plain("Arguments", "arguments", "wide json")
)

var queueTable = table{"Queues", "queues", []column{
	vhostColumn, linked("Name", "/queue"), plain("Type", "type", "wide"), flags, policiesInForce,
	counted("Ready", "messages_ready", ""), counted("Unacked", "messages_unacknowledged", ""), counted("Total", "messages", "wide"),
	rated("In", "message_stats.publish", ""), rated("Out", "message_stats.deliver_get", ""), rated("Ack", "message_stats.ack", "wide"),
	counted("Consumers", "consumers", ""),
}}

var exchangeTable = table{"Exchanges", "exchanges", []column{
	vhostColumn, linked("Name", "/exchange"), plain("Type", "type", ""), flags, policiesInForce,
	rated("In", "message_stats.publish_in", ""), rated("Out", "message_stats.publish_out", ""),
}}

var bindingTable = table{"Bindings", "bindings", []column{
	vhostColumn, end("From", "source"), end("To", "destination"), plain("Kind", "destination_type", "wide"), plain("Routing key", "routing_key", ""),
	argumentsColumn,
}}

var connectionTable = table{"Connections", "connections", []column{
	plain("Virtual host", "vhost", "wide"), plain("Name", "name", "name"), plain("Client's name", "user_provided_name", "wide"), plain("User", "user", ""),
	plain("State", "state", ""), counted("Channels", "channels", ""), sized("From client", "recv_oct", ""), sized("To client", "send_oct", ""),
	{"Since", "connected_at", "wide", func(o Object) cell { return cell{Text: moment(number(o["connected_at"]))} }},
}}

var channelTable = table{"Channels", "channels", []column{
	plain("Virtual host", "vhost", "wide"), plain("Name", "name", "name"), plain("User", "user", "wide"),
	{"Mode", "confirm", "", func(o Object) cell {
		switch {
		case o["confirm"] == true:
			return cell{Text: "confirms"}
		case o["transactional"] == true:
			return cell{Text: "transactions"}
		}
		return cell{}
	}},
	counted("Consumers", "consumer_count", ""), counted("Prefetch", "prefetch_count", "wide"), counted("Unacked", "messages_unacknowledged", ""),
	rated("Publish", "message_stats.publish", ""), rated("Deliver", "message_stats.deliver_get", ""), rated("Ack", "message_stats.ack", "wide"),
}}

var consumerTable = table{"Consumers", "consumers", []column{
	plain("Virtual host", "queue.vhost", "wide"),
	{"Queue", "queue.name", "name", func(o Object) cell {
		vhost, name := text(at(o, "queue.vhost")), text(at(o, "queue.name"))
		return cell{Text: shorten(name), Href: to("/queue", vhost, name)}
	}},
	plain("Tag", "consumer_tag", ""), plain("Channel", "channel_details.name", "wide"),
	{"Acks", "ack_required", "", func(o Object) cell {
		return cell{Text: map[bool]string{true: "by client", false: "automatic"}[o["ack_required"] == true]}
	}},
	{"Exclusive", "exclusive", "wide", func(o Object) cell { return cell{Text: map[bool]string{true: "exclusive"}[o["exclusive"] == true]} }},
	counted("Prefetch", "prefetch_count", ""), plain("State", "activity_status", ""), argumentsColumn,
}}

// policyColumns are those of a kind of policies.
func policyColumns(kind string) []column {
	return []column{vhostColumn,
		{"Name", "name", "name", func(o Object) cell {
			q := url.Values{"vhost": {text(o["vhost"])}, "name": {text(o["name"])}, "kind": {kind}}
			return cell{Text: shorten(text(o["name"])), Href: link("/policy", q)}
		}},
		plain("Pattern", "pattern", ""), plain("Applies to", "apply-to", ""), plain("Definition", "definition", "json"), counted("Priority", "priority", "")}
}

var (
	policyTable         = table{"Policies", userPolicies, policyColumns(userPolicies)}
	operatorPolicyTable = table{"Operator policies", operatorPolicies, policyColumns(operatorPolicies)}
)
