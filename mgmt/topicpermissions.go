package mgmt

import (
	"slices"

	"github.com/leveretmq/leveret"
)

func (c *call) topicPermissions() (any, error) {
	vhosts, err := c.listed()
	if err != nil {
		return nil, err
	}
	return listTopicPermissions(vhosts, func(leveret.TopicPermissionInfo) bool { return true }), nil
}

func (c *call) topicPermissionsOfUser() (any, error) {
	u, err := c.pathUser()
	if err != nil {
		return nil, err
	}
	return listTopicPermissions(c.vhosts(), func(p leveret.TopicPermissionInfo) bool { return p.User == u.Name }), nil
}

func listTopicPermissions(vhosts []*leveret.VHost, which func(leveret.TopicPermissionInfo) bool) list {
	l := list{}
	for _, v := range vhosts {
		for _, p := range v.TopicPermissions() {
			if which(p) {
				l = append(l, shown(object{"user": p.User, "vhost": p.VHost, "exchange": p.Exchange, "write": p.Write, "read": p.Read}))
			}
		}
	}
	return l
}

// isWanted reports whether topic permissions are those of the user, and of the exchange if the path has one.
func (c *call) isWanted(p leveret.TopicPermissionInfo) bool {
	exchange := c.path("exchange")
	return p.User == c.path("user") && (exchange == "" || exchange == p.Exchange)
}

func (c *call) topicPermission() (any, error) {
	v, _, err := c.ofUserIn()
	if err != nil {
		return nil, err
	}
	l := listTopicPermissions([]*leveret.VHost{v}, c.isWanted)
	if len(l) == 0 {
		return nil, errNoObject
	}
	return l, nil
}

func (c *call) putTopicPermission() (any, error) {
	v, u, err := c.ofUserIn()
	if err != nil {
		return nil, badRequest("vhost_or_user_not_found")
	}
	if err := c.need("exchange", "write", "read"); err != nil {
		return nil, err
	}
	existed := slices.ContainsFunc(v.TopicPermissions(), c.isWanted)
	exchange := c.body.text("exchange")
	err = v.SetTopicPermissions(u.Name, exchange, leveret.TopicPermissions{Write: c.body.text("write"), Read: c.body.text("read")})
	if isCode(err, leveret.NotFound) {
		return nil, badRequest([]string{"no_such_exchange", exchange})
	}
	return put(existed), invalid(err)
}

func (c *call) deleteTopicPermission() (any, error) {
	v, u, err := c.ofUserIn()
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(v.TopicPermissions(), c.isWanted) {
		return nil, errNoObject
	}
	return nil, invalid(v.ClearTopicPermissions(u.Name, c.path("exchange")))
}
