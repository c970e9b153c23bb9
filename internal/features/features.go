// Package features has RabbitMQ's feature flags and deprecated features, as the management API and the command line list them.
package features

import (
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
)

// A Flag is a feature flag. All of them are enabled: there is nothing that could be off.
type Flag struct {
	Name, Stability, Provider string
	Level                     string // how much the release requires it; empty: the release does not tell
}

// Flags returns the feature flags of a release in the order of their names.
func Flags(p leveret.Profile) []Flag {
	all := slices.Clone(flags43)
	if p == leveret.RabbitMQ310 {
		all = slices.Clone(flags310)
	}
	slices.SortFunc(all, func(a, b Flag) int { return strings.Compare(a.Name, b.Name) })
	return all
}

const (
	broker = "rabbit"
	agent  = "rabbitmq_management_agent"
)

var flags310 = append(named("classic_mirrored_queue_version implicit_default_bindings maintenance_mode_status quorum_queue stream_queue "+
	"user_limits virtual_host_metadata", "stable", broker, ""),
	named("drop_unroutable_metric empty_basic_get_metric", "stable", agent, "")...)

var flags43 = slices.Concat(
	named("classic_mirrored_queue_version classic_queue_type_delivery_support direct_exchange_routing_v2 feature_flags_v2 "+
		"implicit_default_bindings listener_records_in_ets maintenance_mode_status message_containers quorum_queue restart_streams "+
		"stream_filtering stream_queue stream_sac_coordinator_unblock_group stream_single_active_consumer stream_update_config_command "+
		"tracking_records_in_ets user_limits virtual_host_metadata", "required", broker, "hard"),
	named("drop_unroutable_metric empty_basic_get_metric", "required", agent, "hard"),
	named("khepri_db message_containers_deaths_v2 quorum_queue_non_voters rabbit_exchange_type_local_random rabbitmq_4.0.0 "+
		"rabbitmq_4.1.0 rabbitmq_4.2.0", "required", broker, "soft"),
	named("detailed_queues_endpoint", "required", "rabbitmq_management", "soft"),
	named("rabbitmq_4.3.0 tie_binding_to_dest_with_keep_while_cond topic_binding_projection_v4 topic_binding_projection_v5 "+
		"track_qq_members_uids", "stable", broker, "none"))

// named returns the flags of these names.
func named(names, stability, provider, level string) (all []Flag) {
	for name := range strings.FieldsSeq(names) {
		all = append(all, Flag{name, stability, provider, level})
	}
	return all
}

// A Deprecation is a feature that RabbitMQ 4.3 will not have for ever.
type Deprecation struct{ Name, Phase, State, Page, Provider string }

// The phases of deprecations. A feature is denied but in the first.
const (
	permittedByDefault = "permitted_by_default"
	deniedByDefault    = "denied_by_default"
	removed            = "removed"
)

const announcement = "https://blog.rabbitmq.com/posts/2021/08/4.0-deprecation-announcements/#"

// Deprecations returns all of them, as they are for a broker, in the order of the management API.
func Deprecations(b *leveret.Broker) []Deprecation {
	all := slices.Clone(deprecations)
	for i := range all {
		d := &all[i]
		d.State = "denied"
		if d.Phase == permittedByDefault || d.Name == globalQos && b.PermitsGlobalQos() {
			d.State = "permitted"
		}
	}
	return all
}

const globalQos = "global_qos"

// TransientQueues is the name of the deprecation of queues that are neither durable nor exclusive.
const TransientQueues = "transient_nonexcl_queues"

var deprecations = []Deprecation{
	{Name: "queue_master_locator", Phase: deniedByDefault, Provider: broker},
	{Name: globalQos, Phase: deniedByDefault, Page: announcement + "removal-of-global-qos", Provider: broker},
	{Name: "amqp_filter_set_bug", Phase: deniedByDefault, Provider: broker,
		Page: "https://docs.oasis-open.org/amqp/core/v1.0/os/amqp-core-messaging-v1.0-os.html#type-filter-set"},
	{Name: "amqp_address_v1", Phase: deniedByDefault, Page: "https://www.rabbitmq.com/docs/amqp#addresses", Provider: broker},
	{Name: "management_metrics_collection", Phase: permittedByDefault, Provider: agent,
		Page: announcement + "disable-metrics-delivery-via-the-management-api--ui"},
	{Name: TransientQueues, Phase: permittedByDefault, Page: announcement + "removal-of-transient-non-exclusive-queues", Provider: broker},
	{Name: "classic_queue_mirroring", Phase: removed, Page: announcement + "removal-of-classic-queue-mirroring", Provider: broker},
	{Name: "ram_node_type", Phase: removed, Page: announcement + "removal-of-ram-nodes", Provider: broker},
}
