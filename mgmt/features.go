package mgmt

// There are no feature flags that could be off, and no deprecated features to be counted. The list has those flags
// that tools look for.

var featureNames = []string{"classic_mirrored_queue_version", "classic_queue_type_delivery_support", "direct_exchange_routing_v2",
	"drop_unroutable_metric", "empty_basic_get_metric", "feature_flags_v2", "implicit_default_bindings", "maintenance_mode_status",
	"quorum_queue", "stream_queue", "user_limits", "virtual_host_metadata"}

func (c *call) featureFlags() (any, error) {
	l := list{}
	for _, name := range featureNames {
		l = append(l, shown(object{"name": name, "desc": "", "doc_url": "", "state": "enabled", "stability": "required",
			"require_level": "hard", "experiment_level": "supported", "callbacks": []any{}, "provided_by": "rabbit"}))
	}
	return l, nil
}

// enableFeatureFlag finds every flag enabled already.
func (c *call) enableFeatureFlag() (any, error) { return nil, nil }

// A deprecation is a feature that RabbitMQ will not have for ever.
type deprecation struct{ name, phase, page, provider string }

// The phases of deprecations. A feature is denied but in the first.
const (
	permittedByDefault = "permitted_by_default"
	deniedByDefault    = "denied_by_default"
	removed            = "removed"
)

const announcement = "https://blog.rabbitmq.com/posts/2021/08/4.0-deprecation-announcements/#"

var deprecations = []deprecation{
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

// deprecatedFeatures lists the deprecations as a RabbitMQ has them whose configuration says nothing of them, but for the
// global prefetch, which leveret permits. Columns do not cut the list.
func (c *call) deprecatedFeatures() (any, error) {
	all := make(uncut, len(deprecations))
	for i, d := range deprecations {
		state := "denied"
		if d.phase == permittedByDefault || d.name == "global_qos" {
			state = "permitted"
		}
		all[i] = object{"name": d.name, "desc": "", "doc_url": d.page, "state": state, "deprecation_phase": d.phase, "provided_by": d.provider}
	}
	return all, nil
}

func (c *call) usedDeprecatedFeatures() (any, error) { return uncut{}, nil }

// authAttempts counts nothing: RabbitMQ counts attempts to log in if it is told to.
func (c *call) authAttempts() (any, error) {
	if c.path("node") != c.NodeName {
		return nil, errNoObject
	}
	return list{}, nil
}

func (c *call) forgetAuthAttempts() (any, error) { return nil, nil }

// authSettings tells that nobody logs in by OAuth.
func (c *call) authSettings() (any, error) {
	return object{"enable_uaa": false, "uaa_client_id": "", "uaa_location": ""}, nil
}
