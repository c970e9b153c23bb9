package ctl

import (
	"errors"
	"regexp"

	"github.com/leveretmq/leveret"
)

// Permissions: who may do what in a virtual host.

func accessCommands() []*command {
	return []*command{
		{
			name: "set_permissions", usage: "set_permissions [--vhost <vhost>] <username> <conf> <write> <read>",
			about: "Sets a user's permissions in a virtual host.", min: 4, max: 4, run: setPermissions,
			banner: func(c *call) string {
				return `Setting permissions for user "` + c.args[0] + `" in vhost "` + c.vhostName() + `" ...`
			},
		},
		{
			name: "clear_permissions", usage: "clear_permissions [--vhost <vhost>] <username>",
			about: "Takes a user's permissions in a virtual host away.", min: 1, max: 1, run: clearPermissions,
			banner: func(c *call) string {
				return `Clearing permissions for user "` + c.args[0] + `" in vhost "` + c.vhostName() + `" ...`
			},
		},
		{
			name: "set_topic_permissions", usage: "set_topic_permissions [--vhost <vhost>] <username> <exchange> <write> <read>",
			about: "Sets a user's topic permissions for an exchange.", min: 4, max: 4, run: setTopicPermissions,
			banner: func(c *call) string {
				return `Setting topic permissions on "` + c.args[1] + `" for user "` + c.args[0] + `" in vhost "` +
					c.vhostName() + `" ...`
			},
		},
		{
			name: "clear_topic_permissions", usage: "clear_topic_permissions [--vhost <vhost>] <username> [<exchange>]",
			about: "Takes a user's topic permissions away, for one exchange or all.", min: 1, max: 2,
			run: clearTopicPermissions, banner: clearTopicBanner,
		},
		{
			name: "list_permissions", usage: "list_permissions [--vhost <vhost>] [--no-table-headers]", timeout: true,
			about: "Lists the permissions in a virtual host.", table: true, run: listPermissions,
			banner: func(c *call) string { return `Listing permissions for vhost "` + c.vhostName() + `" ...` },
		},
		{
			name: "list_topic_permissions", usage: "list_topic_permissions [--vhost <vhost>] [--no-table-headers]",
			timeout: true,
			about:   "Lists the topic permissions in a virtual host.", table: true, run: listTopicPermissions,
			banner: func(c *call) string { return `Listing topic permissions for vhost "` + c.vhostName() + `" ...` },
		},
		{
			name: "list_user_permissions", usage: "list_user_permissions [--no-table-headers] <username>", timeout: true,
			about: "Lists a user's permissions in all virtual hosts.", min: 1, max: 1, table: true, run: listUserPermissions,
			banner: func(c *call) string { return `Listing permissions for user "` + c.args[0] + `" ...` },
		},
	}
}

func clearTopicBanner(c *call) string {
	on := ""
	if len(c.args) == 2 {
		on = ` on "` + c.args[1] + `"`
	}
	return "Clearing topic permissions" + on + ` for user "` + c.args[0] + `" in vhost "` + c.vhostName() + `" ...`
}

// granted returns the refusal of a grant, as rabbitmqctl words what the broker refused. Of a user and a virtual host that are both missing
// the user is told.
func (c *call) granted(err error) error {
	if err == nil {
		return nil
	}
	if !errors.Is(err, leveret.ErrNotFound) {
		return badPattern(err)
	}
	if user := c.args[0]; !c.userExists(user) {
		text := "User " + user + " does not exist"
		return c.failedOn(exitNoUser, text, text)
	}
	what := "Virtual host " + c.vhostName()
	if _, missing := c.node.Broker.VHost(c.vhostName()); missing == nil {
		what = "Exchange " + c.args[1]
	}
	return c.failedOn(exitUnavailable, what+" does not exist", what+" does not exist")
}

func setPermissions(c *call) (result, error) {
	v, err := c.node.Broker.VHost(c.vhostName())
	if err == nil {
		err = v.SetPermissions(c.args[0], leveret.Permissions{Configure: c.args[1], Write: c.args[2], Read: c.args[3]})
	}
	return result{}, c.granted(err)
}

var invalidPattern = regexp.MustCompile(`^\{invalid_regexp,(<<)?("(?:[^"\\]|\\.)*")(?:>>)?,\{("(?:[^"\\]|\\.)*"),([0-9]+)\}\}$`)

// badPattern shows the refusal of a regular expression in Elixir's notation instead of Erlang's. A binary is written
// there as Erlang writes a list of characters; a list has a sigil.
func badPattern(err error) error {
	if m := invalidPattern.FindStringSubmatch(reason(err)); m != nil {
		expression := m[2]
		if m[1] == "" {
			expression = "~c" + expression
		}
		return failed(exitUnavailable, "{:invalid_regexp, "+expression+", {~c"+m[3]+", "+m[4]+"}}")
	}
	return err
}

// clearPermissions succeeds when there is nothing to clear, be it that the user or the
// virtual host does not exist.
func clearPermissions(c *call) (result, error) {
	v, err := c.node.Broker.VHost(c.vhostName())
	if err == nil {
		err = v.ClearPermissions(c.args[0])
	}
	return result{}, ignoreMissing(err)
}

func ignoreMissing(err error) error {
	if errors.Is(err, leveret.ErrNotFound) {
		return nil
	}
	return err
}

func setTopicPermissions(c *call) (result, error) {
	v, err := c.node.Broker.VHost(c.vhostName())
	if err == nil {
		err = v.SetTopicPermissions(c.args[0], c.args[1], leveret.TopicPermissions{Write: c.args[2], Read: c.args[3]})
	}
	return result{}, c.granted(err)
}

func clearTopicPermissions(c *call) (result, error) {
	exchange := ""
	if len(c.args) == 2 {
		exchange = c.args[1]
	}
	v, err := c.node.Broker.VHost(c.vhostName())
	if err == nil {
		err = v.ClearTopicPermissions(c.args[0], exchange)
	}
	return result{}, ignoreMissing(err)
}

func listPermissions(c *call) (result, error) {
	v, err := c.vhost()
	if err != nil {
		return result{}, err
	}
	var rows []row
	for _, p := range v.Permissions() {
		rows = append(rows, append(row{{"user", p.User}}, expressions(p.Permissions)...))
	}
	return result{rows: rows, listing: true, blank: true}, nil
}

func expressions(p leveret.Permissions) row {
	return row{{"configure", p.Configure}, {"write", p.Write}, {"read", p.Read}}
}

func listTopicPermissions(c *call) (result, error) {
	v, err := c.vhost()
	if err != nil {
		return result{}, err
	}
	var rows []row
	for _, p := range v.TopicPermissions() {
		rows = append(rows, row{{"user", p.User}, {"exchange", p.Exchange}, {"write", p.Write}, {"read", p.Read}})
	}
	return result{rows: rows, listing: true, blank: true}, nil
}

func listUserPermissions(c *call) (result, error) {
	if !c.userExists(c.args[0]) {
		return result{}, failed(exitUnavailable, "{:no_such_user, "+quoted(c.args[0])+"}")
	}
	var rows []row
	for _, info := range c.node.Broker.VHosts() {
		v, err := c.node.Broker.VHost(info.Name)
		if err != nil {
			continue // deleted meanwhile
		}
		for _, p := range v.Permissions() {
			if p.User == c.args[0] {
				rows = append(rows, append(row{{"vhost", p.VHost}}, expressions(p.Permissions)...))
			}
		}
	}
	return result{rows: rows, listing: true, blank: true}, nil
}

func (c *call) userExists(name string) bool {
	_, err := c.node.Broker.User(name)
	return err == nil
}
