package ctl

import (
	"cmp"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/limits"
)

// Limits of virtual hosts and of users. A negative one is none, but is kept and shown.

func limitCommands() []*command {
	return []*command{
		{
			name: "set_vhost_limits", usage: "set_vhost_limits [--vhost <vhost>] <definition>",
			about: "Replaces the limits of a virtual host: max-connections, max-queues.", min: 1, max: 1, run: setVHostLimits,
			banner: func(c *call) string {
				return `Setting vhost limits to "` + c.args[0] + `" for vhost "` + c.vhostName() + `" ...`
			},
		},
		{
			name: "clear_vhost_limits", usage: "clear_vhost_limits [--vhost <vhost>]",
			about: "Removes all limits of a virtual host.", run: clearVHostLimits,
			banner: func(c *call) string { return `Clearing vhost "` + c.vhostName() + `" limits ...` },
		},
		{
			name: "list_vhost_limits", usage: "list_vhost_limits [--vhost <vhost>] [--global] [--no-table-headers]", table: true,
			about: "Lists the limits of a virtual host, or of all.", switches: map[string]kind{"global": boolean},
			run: listVHostLimits,
			banner: func(c *call) string {
				return "Listing limits for " + c.allOr("vhosts", `vhost "`+c.vhostName()+`"`) + " ..."
			},
		},
		{
			name: "set_user_limits", usage: "set_user_limits <username> <definition>",
			about: "Sets limits of a user: max-connections, max-channels. Others stay.", min: 2, max: 2, run: setUserLimits,
			banner: func(c *call) string {
				return `Setting user limits to "` + c.args[1] + `" for user "` + c.args[0] + `" ...`
			},
		},
		{
			name: "clear_user_limits", usage: "clear_user_limits <username> <limit_type> | all",
			about: "Removes one limit of a user, or all.", min: 2, max: 2, run: clearUserLimits,
			banner: func(c *call) string {
				if c.args[1] == "all" {
					return `Clearing all limits for user "` + c.args[0] + `" ...`
				}
				return `Clearing "` + c.args[1] + `" limit for user "` + c.args[0] + `" ...`
			},
		},
		{
			name: "list_user_limits", usage: "list_user_limits [--user <username>] [--global]", table: true,
			about: "Lists the limits of a user, or of all.", switches: map[string]kind{"global": boolean, "user": text},
			run: listUserLimits,
			banner: func(c *call) string {
				return "Listing limits for " + c.allOr("users", `user "`+c.text("user", "guest")+`"`) + " ..."
			},
		},
	}
}

func (c *call) allOr(all, one string) string {
	if c.is("global", false) {
		return "all " + all
	}
	return one
}

// shownLimits is the JSON object of the limits that are set.
func shownLimits(l limits.Limits) string {
	object := map[string]any{}
	for name, n := range l {
		if n != leveret.NoLimit {
			object[name] = n
		}
	}
	return marshal(object)
}

func setVHostLimits(c *call) (result, error) {
	definition, err := c.parseDefinition(c.args[0])
	if err != nil {
		return result{}, err
	}
	given, wrong := limits.Parse(definition, "limits", limits.MaxQueues, limits.MaxConnections)
	if wrong != nil {
		return result{}, failed(exitUnavailable, validationFailed+limits.Text(wrong, c.notation())+"\n")
	}
	v, err := c.vhost()
	if err != nil {
		return result{}, err
	}
	return result{}, v.SetLimits(given.OfVHost(limits.NoneOfVHost))
}

func clearVHostLimits(c *call) (result, error) {
	v, err := c.node.Broker.VHost(c.vhostName())
	if err != nil || !v.Info().HasLimits {
		return result{}, errNoParameter
	}
	return result{}, v.ClearLimits()
}

func vhostLimits(info leveret.VHostInfo) string {
	return shownLimits(limits.Limits{limits.MaxConnections: info.Limits.MaxConnections, limits.MaxQueues: info.Limits.MaxQueues})
}

func listVHostLimits(c *call) (result, error) {
	if c.is("global", false) {
		var rows []row
		for _, info := range c.node.Broker.VHosts() {
			if info.HasLimits {
				rows = append(rows, row{{"vhost", info.Name}, {"limits", vhostLimits(info)}})
			}
		}
		return result{rows: rows, listing: true, blank: true}, nil
	}
	info, err := c.vhostInfo(c.vhostName())
	if err != nil {
		return result{}, err
	}
	if l := vhostLimits(info); l != "{}" {
		return result{message: l, done: true}, nil
	}
	return result{listing: true, blank: true}, nil
}

// user describes a user.
func (c *call) user(name string) (leveret.UserInfo, error) {
	u, err := c.node.Broker.User(name)
	if err == nil {
		return u, nil
	}
	return u, failed(exitUnavailable, "{:no_such_user, "+quoted(name)+"}")
}

func userLimits(u leveret.UserInfo) string {
	return shownLimits(limits.Limits{limits.MaxConnections: u.Limits.MaxConnections, limits.MaxChannels: u.Limits.MaxChannels})
}

func setUserLimits(c *call) (result, error) {
	const kind = "user-limits"
	definition, err := c.parseJSON(c.args[1])
	if err != nil {
		return result{}, err
	}
	object, isObject := definition.(map[string]any)
	if !isObject {
		_, wrong := limits.Members(definition, kind, c.notation())
		return result{}, failed(exitUnavailable, cmp.Or(wrong, badMap(definition))) // an empty list passes the first check
	}
	given, wrong := limits.Parse(object, kind, limits.MaxChannels, limits.MaxConnections)
	if wrong != nil {
		return result{}, failed(exitUnavailable, limits.Text(wrong[:1], c.notation()))
	}
	u, err := c.user(c.args[0])
	if err != nil {
		return result{}, err
	}
	return result{}, c.node.Broker.SetUserLimits(u.Name, given.OfUser(u.Limits))
}

func clearUserLimits(c *call) (result, error) {
	u, err := c.user(c.args[0])
	if err != nil {
		return result{}, err
	}
	what := c.args[1]
	if what == limits.MaxConnections || what == "all" {
		u.Limits.MaxConnections = leveret.NoLimit
	}
	if what == limits.MaxChannels || what == "all" {
		u.Limits.MaxChannels = leveret.NoLimit
	}
	return result{}, c.node.Broker.SetUserLimits(u.Name, u.Limits)
}

func listUserLimits(c *call) (result, error) {
	if c.is("global", false) {
		var rows []row
		for _, u := range c.node.Broker.Users() {
			if l := userLimits(u); l != "{}" {
				rows = append(rows, row{{"user", u.Name}, {"limits", l}})
			}
		}
		return result{rows: rows, listing: true, blank: true}, nil
	}
	u, err := c.user(c.text("user", "guest"))
	if err != nil {
		return result{}, err
	}
	return result{message: userLimits(u)}, nil
}
