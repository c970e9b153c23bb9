// Package features has RabbitMQ's feature flags and deprecated features, as the management API and the command line list them.
package features

import (
	"slices"

	"github.com/leveretmq/leveret"
)

// Flags returns the names of the feature flags that tools look for, in order. All of them are enabled: there is nothing that could be off.
func Flags(p leveret.Profile) []string {
	if p == leveret.RabbitMQ310 {
		return slices.DeleteFunc(slices.Clone(flags), func(name string) bool { return slices.Contains(newFlags, name) })
	}
	return slices.Clone(flags)
}

var flags = []string{"classic_mirrored_queue_version", "classic_queue_type_delivery_support", "direct_exchange_routing_v2",
	"drop_unroutable_metric", "empty_basic_get_metric", "feature_flags_v2", "implicit_default_bindings", "maintenance_mode_status",
	"quorum_queue", "stream_queue", "user_limits", "virtual_host_metadata"}

// newFlags are those that RabbitMQ 3.10 has not.
var newFlags = []string{"classic_queue_type_delivery_support", "direct_exchange_routing_v2", "feature_flags_v2"}

// A Deprecation is a feature that RabbitMQ 4.3 will not have for ever.
type Deprecation struct{ Name, Phase, Page, Provider string }

// The phases of deprecations. A feature is denied but in the first.
const (
	permittedByDefault = "permitted_by_default"
	deniedByDefault    = "denied_by_default"
	removed            = "removed"
)

// State is that of a RabbitMQ whose configuration says nothing of the feature, but for the global prefetch, which leveret
// permits.
func (d Deprecation) State() string {
	if d.Phase == permittedByDefault || d.Name == "global_qos" {
		return "permitted"
	}
	return "denied"
}

const announcement = "https://blog.rabbitmq.com/posts/2021/08/4.0-deprecation-announcements/#"

// Deprecations returns all of them in the order of the management API.
func Deprecations() []Deprecation { return slices.Clone(deprecations) }

var deprecations = []Deprecation{
	{"queue_master_locator", deniedByDefault, "", "rabbit"},
	{"global_qos", deniedByDefault, announcement + "removal-of-global-qos", "rabbit"},
	{"amqp_filter_set_bug", deniedByDefault,
		"https://docs.oasis-open.org/amqp/core/v1.0/os/amqp-core-messaging-v1.0-os.html#type-filter-set", "rabbit"},
	{"amqp_address_v1", deniedByDefault, "https://www.rabbitmq.com/docs/amqp#addresses", "rabbit"},
	{"management_metrics_collection", permittedByDefault,
		announcement + "disable-metrics-delivery-via-the-management-api--ui", "rabbitmq_management_agent"},
	{"transient_nonexcl_queues", permittedByDefault, announcement + "removal-of-transient-non-exclusive-queues", "rabbit"},
	{"classic_queue_mirroring", removed, announcement + "removal-of-classic-queue-mirroring", "rabbit"},
	{"ram_node_type", removed, announcement + "removal-of-ram-nodes", "rabbit"},
}
