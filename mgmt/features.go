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

func (c *call) deprecatedFeatures() (any, error) {
	l := list{}
	for _, name := range []string{"amqp_address_v1", "amqp_filter_set_bug", "global_qos", "management_metrics_collection",
		"queue_master_locator", "ram_node_type", "transient_nonexcl_queues"} {
		l = append(l, shown(object{"name": name, "desc": "", "doc_url": "", "state": "permitted",
			"deprecation_phase": "permitted_by_default", "provided_by": "rabbit"}))
	}
	return l, nil
}

func (c *call) usedDeprecatedFeatures() (any, error) { return list{}, nil }

// authAttempts counts nothing: RabbitMQ counts attempts to log in if it is told to.
func (c *call) authAttempts() (any, error) {
	if c.path("node") != c.NodeName {
		return nil, errNoObject
	}
	return list{}, nil
}

func (c *call) forgetAuthAttempts() (any, error) { return nil, nil }
