package mgmt

import (
	"slices"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/features"
)

// There are no feature flags that could be off.

func (c *call) featureFlags() (any, error) {
	l := list{}
	for _, f := range features.Flags(c.broker.Profile()) {
		o := object{"name": f.Name, "desc": "", "doc_url": "", "state": "enabled", "stability": f.Stability, "provided_by": f.Provider}
		if f.Level != "" {
			o["require_level"], o["experiment_level"], o["callbacks"] = f.Level, "supported", []any{}
		}
		l = append(l, shown(o))
	}
	return l, nil
}

// enableFeatureFlag finds every flag enabled already.
func (c *call) enableFeatureFlag() (any, error) {
	if !slices.ContainsFunc(features.Flags(c.broker.Profile()), func(f features.Flag) bool { return f.Name == c.path("name") }) {
		return nil, badRequest("unsupported")
	}
	return nil, nil
}

// deprecatedFeatures lists the deprecations. Columns do not cut the list.
func (c *call) deprecatedFeatures() (any, error) {
	all := uncut{}
	for _, d := range features.Deprecations(c.broker) {
		o := describeDeprecation(d)
		o["state"] = d.State
		all = append(all, o)
	}
	if c.query("sort_reverse") == "true" {
		slices.Reverse(all)
	}
	return all, nil
}

// usedDeprecatedFeatures lists the only deprecated feature of which RabbitMQ looks whether it is used.
func (c *call) usedDeprecatedFeatures() (any, error) {
	used := uncut{}
	for _, d := range features.Deprecations(c.broker) {
		if d.Name == features.TransientQueues && c.hasTransientQueues() {
			used = append(used, describeDeprecation(d))
		}
	}
	return used, nil
}

func describeDeprecation(d features.Deprecation) object {
	return object{"name": d.Name, "desc": "", "doc_url": d.Page, "deprecation_phase": d.Phase, "provided_by": d.Provider}
}

// hasTransientQueues reports whether there is a queue that is neither durable nor exclusive.
func (c *call) hasTransientQueues() bool {
	for _, info := range c.broker.VHosts() {
		v, err := c.broker.VHost(info.Name)
		if err == nil && slices.ContainsFunc(v.Queues(), func(q leveret.QueueInfo) bool { return !q.Durable && !q.Exclusive }) {
			return true
		}
	}
	return false
}

// authAttempts lists the attempts to log in over each protocol.
// Rules: A-19.
func (c *call) authAttempts() (any, error) {
	all := uncut{}
	for _, a := range c.attempts() {
		all = append(all, object{"protocol": a.protocol, "auth_attempts": a.Succeeded + a.Failed,
			"auth_attempts_failed": a.Failed, "auth_attempts_succeeded": a.Succeeded})
	}
	return all, c.checkPathNode()
}

// authAttemptsBySource lists nothing: RabbitMQ keeps the clients' addresses only if a setting without a key in rabbitmq.conf says so.
func (c *call) authAttemptsBySource() (any, error) { return uncut{}, c.checkPathNode() }

func (c *call) forgetAuthAttempts() (any, error) {
	if err := c.checkPathNode(); err != nil {
		return nil, err
	}
	c.broker.ResetAuthAttempts()
	return nil, nil
}

// authSettings tells that nobody logs in by OAuth.
func (c *call) authSettings() (any, error) {
	return object{"enable_uaa": false, "uaa_client_id": "", "uaa_location": ""}, nil
}
