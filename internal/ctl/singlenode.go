package ctl

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/leveretmq/leveret/internal/features"
)

// What rabbitmqctl asks of a cluster, on a node that is alone, and the features that a release has or gives up.

func clusterCommands() []*command {
	return []*command{
		{name: "cluster_status", usage: "cluster_status", timeout: true, about: "Shows the cluster, which is this node.", run: clusterStatus,
			banner: func(c *call) string { return "Cluster status of node " + c.node.Name + " ..." }},
		{name: "await_online_nodes", usage: "await_online_nodes <count>", timeout: true, min: 1, max: 1, validate: validateNodes,
			about: "Succeeds for one node; there will not be more.", run: awaitNodes,
			banner: func(c *call) string {
				return "Will wait for at least " + c.args[0] + " nodes to join the cluster of " + c.node.Name + ". Timeout: " +
					strconv.Itoa(int(c.patience().Seconds())) + " seconds."
			}},
		{name: "restart_vhost", usage: "restart_vhost [--vhost <vhost>]", timeout: true, about: "Finds the virtual host running, as it always is.",
			run: restartVHost,
			banner: func(c *call) string {
				return "Trying to restart vhost '" + c.vhostName() + "' on node '" + c.node.Name + "' ..."
			}},
		{name: "list_feature_flags", usage: "list_feature_flags [<column> ...]", timeout: true, table: true,
			columns: []string{"desc", "doc_url", "name", "provided_by", "stability", "state"},
			about:   "Lists the feature flags, all of them enabled.", run: listFeatureFlags,
			banner: func(*call) string { return "Listing feature flags ..." }},
		{name: "enable_feature_flag", usage: "enable_feature_flag [--opt-in] <all | feature_flag>", min: 1, max: 1,
			switches: map[string]kind{"opt-in": boolean}, about: "Finds the feature flag enabled.", run: enableFeatureFlag,
			banner: func(c *call) string {
				if c.args[0] == "all" {
					return "Enabling all feature flags ..."
				}
				return `Enabling feature flag "` + c.args[0] + `" ...`
			}},
		{name: "list_deprecated_features", usage: "list_deprecated_features [--used] [<column> ...]", validate: prettyByDefault,
			switches: map[string]kind{"used": boolean}, columns: []string{"deprecation_phase", "desc", "doc_url", "name", "provided_by", "state"},
			about: "Lists what RabbitMQ will not have for ever, and whether it may be used.", run: listDeprecatedFeatures,
			banner: func(c *call) string {
				if c.is("used", false) {
					return "Listing deprecated features in use ..."
				}
				return "Listing deprecated features ..."
			}},
		passing{"Checking if any deprecated features are used ...", "Cluster reported no deprecated features in use",
			func(string) row { return ok() }}.command("check_if_any_deprecated_features_are_used", "Succeeds: nobody counts their use."),
		passing{"Checking if target cluster size has been reached on node %s ...", "Target cluster size has been reached on node %s",
			func(string) row { return ok() }}.command("has_reached_target_cluster_size", "Succeeds: there is one node."),
	}
}

func validateNodes(c *call) error {
	if n, err := strconv.Atoi(c.args[0]); err != nil || n <= 0 {
		return &misuse{exitData, "Bad argument: Argument must be a positive integer"}
	}
	return nil
}

// awaitNodes does not wait for nodes that cannot come.
func awaitNodes(c *call) (result, error) {
	if n, _ := strconv.Atoi(c.args[0]); n > 1 {
		return result{}, failed(exitSoftware, "Error: timed out while waiting. Not enough nodes joined "+c.node.Name+"'s cluster.")
	}
	return result{}, nil
}

func restartVHost(c *call) (result, error) {
	name := c.vhostName()
	if _, err := c.node.Broker.VHost(name); err != nil {
		return result{}, failed(exitSoftware, "Failed to start vhost '"+name+"' on node '"+c.node.Name+
			"'Reason: {:no_such_vhost, "+strconv.Quote(name)+"}")
	}
	message := "Vhost '" + name + "' is already running on node '" + c.node.Name + "'"
	return result{message: message, object: row{{"message", message}}}, nil
}

func listFeatureFlags(c *call) (result, error) {
	var rows []row
	for _, f := range features.Flags(c.node.Broker.Profile()) {
		rows = append(rows, pick(c.columnsOr("name", "state"), func(column string) any {
			return map[string]string{"name": f.Name, "state": "enabled", "stability": f.Stability, "provided_by": f.Provider}[column]
		}))
	}
	return result{rows: rows, listing: true}, nil
}

func enableFeatureFlag(c *call) (result, error) {
	name := c.args[0]
	if name == "all" {
		return c.okOf(nil)
	}
	if slices.ContainsFunc(features.Flags(c.node.Broker.Profile()), func(f features.Flag) bool { return f.Name == name }) {
		return c.okOf(nil)
	}
	return result{}, failed(exitUsage, "This feature flag is not supported by node "+c.node.Name)
}

func listDeprecatedFeatures(c *call) (result, error) {
	var rows []row
	all := features.Deprecations(c.node.Broker)
	if c.is("used", false) {
		all = nil // nobody counts their use
	}
	slices.SortFunc(all, func(a, b features.Deprecation) int { return strings.Compare(a.Name, b.Name) })
	for _, d := range all {
		rows = append(rows, pick(c.columnsOr("name", "deprecation_phase", "state"), func(column string) any {
			return map[string]string{"name": d.Name, "deprecation_phase": d.Phase, "state": d.State, "doc_url": d.Page,
				"provided_by": d.Provider}[column]
		}))
	}
	return result{rows: rows, listing: true, blank: true}, nil
}

// clusterName is the name that set_cluster_name has given, or else the node's.
func (c *call) clusterName() string {
	for _, p := range c.node.Broker.GlobalParameters() {
		if name, ok := strings.CutPrefix(string(p.Value), `"`); ok && p.Name == "cluster_name" {
			return strings.TrimSuffix(name, `"`)
		}
	}
	return c.node.Name
}

func clusterStatus(c *call) (result, error) {
	n, name := c.node, c.node.Name
	version := release[n.Broker.Profile()]
	text := []string{"Basics\n", "Cluster name: " + c.clusterName(), fmt.Sprintf("Total CPU cores available cluster-wide: %d", runtime.NumCPU()),
		"\nCluster Tags\n", "(none)", "\nDisk Nodes\n", name, "\nRunning Nodes\n", name,
		"\nVersions\n", name + ": RabbitMQ " + version + " on " + runtime.Version(),
		"\nCPU Cores\n", fmt.Sprintf("Node: %s, available CPU cores: %d", name, runtime.NumCPU()),
		"\nMaintenance status\n", "Node: " + name + ", status: not under maintenance", "\nAlarms\n"}
	alarms := c.alarmLines()
	if alarms == nil {
		alarms = []string{"(none)"}
	}
	text = append(append(text, alarms...), "\nNetwork Partitions\n", "(none)", "\nListeners\n")
	for _, l := range n.Listeners {
		text = append(text, "Node: "+name+", "+strings.Replace(l.line(), "Interface", "interface", 1))
	}
	flags := []any{}
	text = append(text, "\nFeature flags\n")
	for _, f := range features.Flags(n.Broker.Profile()) {
		text = append(text, "Flag: "+f.Name+", state: enabled")
		flags = append(flags, row{{"name", f.Name}, {"state", "enabled"}})
	}
	of := func(v any) row { return row{{name, v}} }
	object := row{{"alarms", n.alarmObjects()}, {"cluster_tags", []any{}}, {"listeners", of(n.listenerObjects())}, {"cpu_cores", of(runtime.NumCPU())},
		{"cluster_name", c.clusterName()}, {"disk_nodes", []any{name}}, {"running_nodes", []any{name}},
		{"versions", of(row{{"erlang_version", runtime.Version()}, {"rabbitmq_name", "RabbitMQ"}, {"rabbitmq_version", version}})},
		{"partitions", row{}}, {"maintenance_status", of("not under maintenance")}, {"feature_flags", flags}}
	return result{message: strings.Join(text, "\n"), object: object, report: true}, nil
}
