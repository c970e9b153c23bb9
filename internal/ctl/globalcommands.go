package ctl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
)

// What is done to a user in all virtual hosts, and to what describes users and virtual hosts.

func globalCommands() []*command {
	return []*command{
		{name: "set_permissions_globally", usage: "set_permissions_globally <username> <conf> <write> <read>", min: 4, max: 4,
			about: "Sets a user's permissions in all virtual hosts.", run: setPermissionsGlobally,
			banner: func(c *call) string {
				return `Setting permissions for user "` + c.args[0] + `" in all virtual hosts ...`
			}},
		{name: "list_user_topic_permissions", usage: "list_user_topic_permissions [--no-table-headers] <username>", min: 1, max: 1, timeout: true, table: true,
			about: "Lists a user's topic permissions in all virtual hosts.", run: listUserTopicPermissions,
			banner: func(c *call) string { return `Listing topic permissions for user "` + c.args[0] + `" ...` }},
		{name: "clear_password", usage: "clear_password <username>", min: 1, max: 1, about: "Takes a user's password away: nobody can log in with one.",
			run: clearPassword, banner: func(c *call) string { return `Clearing password for user "` + c.args[0] + `" ...` }},
		{name: "close_all_user_connections", usage: "close_all_user_connections <username> <explanation>", min: 2, max: 2,
			about: "Closes a user's connections.", run: closeUserConnections,
			banner: func(c *call) string {
				return "Closing connections of user " + c.args[0] + ", reason: " + c.args[1] + "..."
			}},
		{name: "set_vhost_tags", usage: "set_vhost_tags <vhost> <tag> [...]", min: 1, max: -1, about: "Replaces a virtual host's tags.",
			run: setVHostTags,
			banner: func(c *call) string {
				return `Setting tags for virtual host "` + c.args[0] + `" to ` + names(c.args[1:]).plain() + ` ...`
			}},
	}
}

func setPermissionsGlobally(c *call) (result, error) {
	p := leveret.Permissions{Configure: c.args[1], Write: c.args[2], Read: c.args[3]}
	for _, v := range c.vhosts() {
		if err := v.SetPermissions(c.args[0], p); err != nil {
			return result{}, c.granted(err)
		}
	}
	return result{}, nil
}

// vhosts are all that there are.
func (c *call) vhosts() (all []*leveret.VHost) {
	for _, info := range c.node.Broker.VHosts() {
		if v, err := c.node.Broker.VHost(info.Name); err == nil {
			all = append(all, v)
		}
	}
	return all
}

func listUserTopicPermissions(c *call) (result, error) {
	if _, err := c.user(c.args[0]); err != nil {
		return result{}, err
	}
	var rows []row
	for _, v := range c.vhosts() {
		for _, p := range v.TopicPermissions() {
			if p.User == c.args[0] {
				rows = append(rows, row{{"vhost", p.VHost}, {"exchange", p.Exchange}, {"write", p.Write}, {"read", p.Read}})
			}
		}
	}
	return result{rows: rows, listing: true, blank: true, bare: true}, nil
}

func clearPassword(c *call) (result, error) {
	u, err := c.user(c.args[0])
	if err != nil {
		return result{}, err
	}
	return result{}, c.node.Broker.SetUser(u.Name, leveret.PasswordHash{}, u.Tags...)
}

// closeUserConnections succeeds when there is nothing to close, be it that there is no such user.
func closeUserConnections(c *call) (result, error) {
	var errs []error
	for _, info := range c.node.Broker.Connections() {
		if info.User == c.args[0] {
			errs = append(errs, ignoreMissing(c.node.Broker.CloseConnection(info.ID, c.args[1])))
		}
	}
	return result{}, errors.Join(errs...)
}

func setVHostTags(c *call) (result, error) {
	v, err := c.node.Broker.VHost(c.args[0])
	if err != nil {
		return result{}, failed(exitData, fmt.Sprintf("Virtual host %s does not exist", quoted(c.args[0])))
	}
	var tags []string
	for _, arg := range c.args[1:] {
		tags = append(tags, strings.TrimSpace(arg))
	}
	if !c.isOld() { // 4.3 sorts them here, and nowhere else
		slices.Sort(tags)
		tags = slices.Compact(tags)
	}
	return result{}, v.SetMetadata(v.Info().Description, tags...)
}
