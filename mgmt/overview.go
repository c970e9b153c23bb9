package mgmt

import (
	"encoding/json"
	"runtime"
	"slices"
	"strconv"

	"github.com/leveretmq/leveret"
)

func (c *call) whoami() (any, error) { return c.whoIs(c.user), nil }

func (n *node) whoIs(u leveret.UserInfo) object {
	o := object{"name": u.Name, "tags": tags(u.Tags)}
	if !n.hidesFields {
		o["is_internal_user"] = true
	}
	return o
}

// tags returns a list that is [] and not null in JSON.
func tags(t []string) []string { return append([]string{}, t...) }

func (c *call) getVersion() (any, error) { return c.version(), nil }

func (c *call) overview() (any, error) {
	if err := c.checkStatistics(); err != nil {
		return nil, err
	}
	o := object{
		"management_version": c.version(), "rabbitmq_version": c.version(), "product_version": c.version(), "product_name": "RabbitMQ",
		"rates_mode": "basic", "sample_retention_policies": retention(), "exchange_types": c.exchangeTypes(),
		"cluster_name": c.clusterName(), "cluster_tags": object{}, "node_tags": object{},
		"erlang_version": erlangVersion(), "erlang_full_version": goVersion(), "crypto_lib_version": goVersion(),
		"disable_stats": c.statsDisabled(), "enable_queue_totals": c.query("enable_queue_totals") == "true", "default_queue_type": c.broker.NodeDefaultQueueType(),
		"is_op_policy_updating_enabled": true, "require_definition_json_extension": false, "statistics_db_event_queue": 0,
		"node": c.NodeName, "listeners": c.listeners(), "contexts": c.contexts(),
	}
	if c.oldFeatures {
		for _, name := range newInOverview {
			delete(o, name)
		}
		o["release_series_support_status"] = "supported"
	}
	if !c.statsDisabled() {
		if !c.isMonitor() {
			for _, name := range ofNode {
				delete(o, name)
			}
		}
		return o, c.overviewStats(o)
	}
	for _, name := range []string{"contexts", "listeners", "statistics_db_event_queue"} {
		delete(o, name)
	}
	totals := c.objectTotals()
	delete(totals, "channels")
	delete(totals, "consumers")
	if !c.isMonitor() {
		delete(totals, "connections")
	}
	o["object_totals"] = totals
	return o, nil
}

// newInOverview is what 3.10 does not tell.
var newInOverview = []string{"cluster_tags", "node_tags", "crypto_lib_version", "default_queue_type", "is_op_policy_updating_enabled",
	"require_definition_json_extension"}

// ofNode is what only monitors are told.
var ofNode = []string{"node", "listeners", "contexts"}

// overviewStats adds the sums over the virtual hosts that the user may see. There are no lengths before there was a queue. Columns do not
// cut the sums.
func (c *call) overviewStats(o object) error {
	s, f := c.sum()
	if err := c.messageStats(o, s, f, sumStats); err != nil {
		return err
	}
	stats, _ := o["message_stats"].(object)
	if stats == nil {
		stats = object{}
	}
	totals, churned, counts := object{}, object{}, c.objectTotals()
	c.churn.show(churned)
	if !c.isMonitor() {
		delete(counts, "consumers")
	}
	if counts["queues"] != 0 || len(stats) > 0 {
		if err := c.show(totals, s, f, lengths); err != nil {
			return err
		}
	}
	o["message_stats"], o["queue_totals"], o["churn_rates"], o["object_totals"] = whole(stats), whole(totals), whole(churned), counts
	return nil
}

// sum returns the figures of all virtual hosts together that the user may see. Rates of the sum are known for those who
// see everything.
func (c *call) sum() (subject, figures) {
	if c.isMonitor() {
		f := brokerFigures(c.broker.Counters())
		for _, info := range c.broker.VHosts() {
			c.addVHost(&f, info.Name)
		}
		return subject{kind: theNode}, f
	}
	var f figures
	for _, v := range c.vhosts() {
		of := brokerFigures(v.Counters())
		for i := range f {
			f[i] += of[i]
		}
		c.addVHost(&f, v.Name())
	}
	return subject{kind: theNode, name: c.user.Name}, f
}

func (c *call) addVHost(f *figures, name string) {
	if v, err := c.broker.VHost(name); err == nil {
		for _, q := range v.Queues() {
			f.addLengths(q)
		}
	}
}

func (c *call) objectTotals() object {
	n := map[string]int{}
	for _, v := range c.visible() {
		n["queues"] += v.Info().Queues
		n["exchanges"] += len(v.Exchanges())
		n["consumers"] += len(v.Consumers())
		for _, conn := range v.Connections() {
			if c.isMonitor() || conn.User == c.user.Name {
				n["connections"]++
				n["channels"] += len(conn.Channels)
			}
		}
	}
	return object{"queues": n["queues"], "exchanges": n["exchanges"], "consumers": n["consumers"],
		"connections": n["connections"], "channels": n["channels"]}
}

// visible returns the virtual hosts that the user may know of: all for a monitor.
func (c *call) visible() (all []*leveret.VHost) {
	if !c.isMonitor() {
		return c.vhosts()
	}
	for _, info := range c.broker.VHosts() {
		if v, err := c.broker.VHost(info.Name); err == nil {
			all = append(all, v)
		}
	}
	return all
}

// retention is for how many seconds samples are kept.
func retention() object {
	seconds := []int{int(window.Seconds())}
	return object{"global": seconds, "basic": seconds, "detailed": seconds}
}

func (n *node) exchangeTypes() (types []object) {
	names := []leveret.ExchangeType{leveret.Direct, leveret.Fanout, leveret.Headers, leveret.Topic}
	if !n.oldFeatures {
		names = append(names, leveret.LocalRandom, leveret.ModulusHash)
	}
	for _, name := range names {
		types = append(types, object{"name": name, "description": "AMQP " + string(name) + " exchange", "enabled": true})
	}
	return types
}

// erlangVersion stands where clients look for the version of the runtime.
func erlangVersion() string { return runtime.Version() }

func goVersion() string { return runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH }

func (c *call) listeners() []object {
	all := []object{}
	for _, l := range c.Listeners {
		all = append(all, object{"node": c.NodeName, "protocol": l.Protocol, "ip_address": l.Address, "port": l.Port,
			"tls": l.isTLS(), "socket_opts": object{}})
	}
	return all
}

func (l Listener) isTLS() bool { return slices.Contains([]string{"amqp/ssl", "https"}, l.Protocol) }

// contexts are the HTTP listeners.
func (c *call) contexts() []object {
	all := []object{}
	for _, l := range c.Listeners {
		if l.Protocol == "http" || l.Protocol == "https" {
			all = append(all, object{"node": c.NodeName, "description": "RabbitMQ Management", "path": "/", "ip": l.Address,
				"port": strconv.Itoa(l.Port), "ssl_opts": []any{}})
		}
	}
	return all
}

func (c *call) getClusterName() (any, error) { return object{"name": c.clusterName()}, nil }

func (c *call) putClusterName() (any, error) {
	if err := c.need("name"); err != nil {
		return nil, err
	}
	text, err := c.body.textOrList("name")
	if err != nil {
		return nil, err
	}
	name, err := json.Marshal(text)
	if err != nil {
		return nil, err
	}
	return put(true), invalid(c.broker.SetGlobalParameter(leveret.GlobalParameter{Name: clusterNameParameter, Value: name}))
}

// extensions names the script by which RabbitMQ's page knows that the management plugin is there.
func (c *call) extensions() (any, error) { return []object{{"javascript": "dispatcher.js"}}, nil }
