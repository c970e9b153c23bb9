package ctl

import (
	"errors"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/erl"
	"github.com/leveretmq/leveret/internal/firehose"
)

// Virtual hosts.

func vhostCommands() []*command {
	return []*command{
		{
			name: "add_vhost",
			usage: `add_vhost <vhost> [--description <description> --tags "<tag1>,<tag2>,<...>" ` +
				`--default-queue-type <quorum|classic|stream>]`,
			about: "Adds a virtual host.", min: 1, max: 1,
			switches: map[string]kind{"description": text, "tags": text, "default-queue-type": text},
			aliases:  map[byte]string{'d': "description"},
			validate: validateQueueType, run: addVHost,
			banner: func(c *call) string { return `Adding vhost "` + c.args[0] + `" ...` },
		},
		{
			name: "update_vhost_metadata",
			usage: `update_vhost_metadata <vhost> [--description=<description>] [--tags="<tag1>,<tag2>,<...>"] ` +
				`[--default-queue-type=<quorum|classic|stream>] [--protected-from-deletion=<true|false>]`,
			about: "Changes what a virtual host is described by, and whether it is protected from deletion.", min: 1, max: 1,
			switches: map[string]kind{"description": text, "tags": text, "default-queue-type": text,
				"protected-from-deletion": boolean},
			validate: validateMetadata, run: updateVHost,
			banner: func(c *call) string { return `Updating metadata of vhost "` + c.args[0] + `" ...` },
		},
		{
			name: "enable_vhost_deletion_protection", usage: "enable_vhost_deletion_protection <vhost>",
			about: "Protects a virtual host from deletion until the node stops.", min: 1, max: 1, run: protector(true),
			banner: func(c *call) string {
				return `Protecting virtual host "` + c.args[0] + `" from removal by updating its metadata...`
			},
		},
		{
			name: "disable_vhost_deletion_protection", usage: "disable_vhost_deletion_protection <vhost>",
			about: "Lifts the protection of a virtual host from deletion.", min: 1, max: 1, run: protector(false),
			banner: func(c *call) string {
				return `Removing deletion protection from virtual host "` + c.args[0] + `" by updating its metadata...`
			},
		},
		{
			name: "delete_vhost", usage: "delete_vhost <vhost>", about: "Deletes a virtual host and all in it.",
			min: 1, max: 1, run: deleteVHost,
			banner: func(c *call) string { return `Deleting vhost "` + c.args[0] + `" ...` },
		},
		{
			name: "list_vhosts", usage: "list_vhosts [--no-table-headers] [<column> ...]", timeout: true,
			about: "Lists virtual hosts.", table: true, run: listVHosts,
			columns: []string{
				"name", "description", "tags", "default_queue_type", "protected_from_deletion", "tracing",
				"cluster_state", "metadata",
			},
			banner: func(*call) string { return "Listing vhosts ..." },
		},
	}
}

func validateQueueType(c *call) error {
	switch t, ok := c.options["default-queue-type"]; {
	case !ok, t == "quorum", t == "stream", t == "classic":
		return nil
	case t == "":
		return badArgument("Default queue type must not be an empty string")
	default:
		return badArgument("Default queue type must be one of: quorum, stream, classic. Provided: " + t)
	}
}

// addVHost leaves a virtual host that exists as it is, and succeeds.
func addVHost(c *call) (result, error) {
	b, name := c.node.Broker, c.args[0]
	if _, err := b.VHost(name); err == nil {
		return result{}, nil
	}
	v, err := b.CreateVHost(name)
	if err != nil {
		return result{}, err
	}
	return result{}, c.describe(v, leveret.VHostInfo{})
}

// describe sets what the options say of a virtual host and leaves the rest as it is.
func (c *call) describe(v *leveret.VHost, info leveret.VHostInfo) error {
	if tags, ok := c.options["tags"]; ok {
		info.Tags = splitTags(tags)
	}
	if err := v.SetMetadata(c.text("description", info.Description), info.Tags...); err != nil {
		return err
	}
	if t := c.text("default-queue-type", ""); t != "" {
		return v.SetDefaultQueueType(leveret.QueueType(t))
	}
	return nil
}

func validateMetadata(c *call) error {
	for option := range c.command.switches {
		if _, ok := c.options[option]; ok {
			return validateQueueType(c)
		}
	}
	return &misuse{exitUsage, "not enough arguments."}
}

func updateVHost(c *call) (result, error) {
	v, err := c.node.Broker.VHost(c.args[0])
	if err != nil {
		return result{}, noSuchVHost(c.args[0])
	}
	if _, given := c.options["protected-from-deletion"]; given {
		if err := v.SetProtected(c.is("protected-from-deletion", false)); err != nil {
			return result{}, err
		}
	}
	return result{}, c.describe(v, v.Info())
}

// vhostInfo describes a virtual host.
func (c *call) vhostInfo(name string) (leveret.VHostInfo, error) {
	v, err := c.node.Broker.VHost(name)
	if err != nil {
		return leveret.VHostInfo{}, noSuchVHost(name)
	}
	return v.Info(), nil
}

func noSuchVHost(name string) error {
	return &failure{exitData, "Virtual host '" + name + "' does not exist", nil}
}

func splitTags(s string) []string {
	var tags []string
	for tag := range strings.SplitSeq(s, ",") {
		if tag != "" {
			tags = append(tags, strings.TrimSpace(tag))
		}
	}
	return tags
}

// protector protects a virtual host from deletion, or lifts the protection.
func protector(on bool) func(*call) (result, error) {
	return func(c *call) (result, error) {
		v, err := c.node.Broker.VHost(c.args[0])
		if err != nil {
			return result{}, noSuchVHost(c.args[0])
		}
		return result{}, v.SetProtected(on)
	}
}

func deleteVHost(c *call) (result, error) {
	err := c.node.Broker.DeleteVHost(c.args[0])
	switch {
	case errors.Is(err, leveret.ErrNotFound):
		return result{}, noSuchVHost(c.args[0])
	case errors.Is(err, leveret.ErrPreconditionFailed):
		return result{}, failed(exitData, "Cannot delete this virtual host: it is protected from deletion. "+
			"To lift the protection, inspect and update its metadata")
	}
	return result{}, err
}

func listVHosts(c *call) (result, error) {
	var rows []row
	for _, info := range c.node.Broker.VHosts() {
		rows = append(rows, pick(c.columnsOr("name"), func(column string) any { return c.vhostItem(info, column) }))
	}
	return result{rows: rows, listing: true, blank: true}, nil
}

func (c *call) vhostItem(info leveret.VHostInfo, column string) any {
	queueType := string(info.DefaultQueueType)
	if queueType == "" {
		queueType = "classic"
	}
	switch column {
	case "name":
		return info.Name
	case "description":
		return info.Description
	case "tags":
		return names(info.Tags)
	case "default_queue_type":
		return queueType
	case "protected_from_deletion":
		return info.Protected
	case "tracing":
		return firehose.Traces(c.node.Broker, info.Name)
	case "cluster_state":
		return states{c.node.Name}
	case "metadata":
		m := metadata{{"default_queue_type", queueType}, {"description", info.Description}}
		if info.HasProtection {
			m = append(m, item{"protected_from_deletion", info.Protected})
		}
		return append(m, item{"tags", names(info.Tags)})
	}
	panic("no such column of a virtual host: " + column)
}

// states shows which nodes a virtual host runs on.
type states []string

func (s states) plain() string { return "[{" + strings.Join(s, ", running}, {") + ", running}]" }

func (s states) json() any {
	object := map[string]any{}
	for _, node := range s {
		object[node] = "running"
	}
	return object
}

func (s states) term() any {
	pairs := erl.List{}
	for _, node := range s {
		pairs = append(pairs, erl.Tuple{erl.Atom(node), erl.Atom("running")})
	}
	return pairs
}

// metadata shows as a map.
type metadata row

func (m metadata) plain() string {
	pairs := make([]string, len(m))
	for i, it := range m {
		pairs[i] = it.key + " => " + plainText(it.value)
	}
	return "#{" + strings.Join(pairs, ", ") + "}"
}

func (m metadata) json() any { return row(m) }

func (m metadata) term() any {
	pairs := make([]string, len(m))
	for i, it := range m {
		pairs[i] = it.key + " => " + oneLine(valueTerm(it.value))
	}
	return erl.Text("#{" + strings.Join(pairs, ",") + "}")
}

// columnsOr returns the columns that were asked for, or else those a listing has by default.
func (c *call) columnsOr(defaults ...string) []string {
	if len(c.columns) > 0 {
		return c.columns
	}
	return defaults
}

// pick makes a row of the columns.
func pick(columns []string, get func(column string) any) row {
	r := make(row, len(columns))
	for i, column := range columns {
		r[i] = item{column, get(column)}
	}
	return r
}
