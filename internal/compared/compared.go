// Package compared has what tests need to compare answers of two brokers' management APIs.
package compared

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// uncompared are members that are figures, that are up to the node, or that RabbitMQ tells some seconds later.
var uncompared = regexp.MustCompile(`^(leader|members|online|slave_nodes|synchronised_slave_nodes|recoverable_slaves|state|memory|idle_since|` +
	`message_stats|messages?_.*|messages|consumer.*|.*_details|deliveries|incoming|outgoing|garbage_collection|reductions.*|backing_queue_status|` +
	`storage_version|head_message_timestamp|single_active_consumer_c?tag|exclusive_consumer_tag|open_files|cluster_state|password_hash|delivery_limit|` +
	`delayed_retry|publishers|(recv|send)_oct.*|rabbit(mq)?_version|product_.*|original_.*|explanation|rabbitmq_definition_format|` +
	`effective_policy_definition|internal(_owner)?|total_count|default_queue_type|policy|operator_policy)$`)

var (
	crashText = regexp.MustCompile(`(?s)Request to node \S+ failed with \{'EXIT',.*`) // RabbitMQ prints its stack behind
	typeText  = regexp.MustCompile(`(invalid|unknown) exchange type`)                 // by what atoms the node has met
)

// JSON returns JSON as it is compared: without members that differ by chance, without the others that are named, and with lists
// without order unless an order was asked for.
func JSON(v any, ordered bool, but ...string) any {
	switch v := v.(type) {
	case string:
		return typeText.ReplaceAllString(crashText.ReplaceAllString(v, "the channel ends"), "$$ exchange type")
	case map[string]any:
		o := map[string]any{}
		for name, member := range v {
			if !uncompared.MatchString(name) && !slices.Contains(but, name) {
				o[name] = JSON(member, ordered || name == "error" || name == "reason", but...)
			}
		}
		return o
	case []any:
		l := make([]any, len(v))
		for i := range v {
			l[i] = JSON(v[i], ordered, but...)
		}
		if !ordered {
			slices.SortStableFunc(l, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
		return l
	}
	return v
}
