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

// ofUser reports whether topic permissions are those of the user in the path. RabbitMQ does not look at the exchange
// there, but when it deletes.
func (c *call) ofUser(p leveret.TopicPermissionInfo) bool { return p.User == c.path("user") }

func (c *call) topicPermission() (any, error) {
	v, _, err := c.ofUserIn()
	if err != nil {
		return nil, err
	}
	l := listTopicPermissions([]*leveret.VHost{v}, c.ofUser)
	if len(l) == 0 {
		return nil, errNoObject
	}
	all := make([]object, len(l))
	for i, item := range l {
		all[i] = item.show()
	}
	return all, nil
}

func (c *call) putTopicPermission() (any, error) {
	v, u, err := c.ofUserIn()
	if err != nil {
		return nil, badRequest("vhost_or_user_not_found")
	}
	if err := c.need("exchange", "write", "read"); err != nil {
		return nil, err
	}
	of, err := c.expressions(c.body.textOrList, func(source string) any { return source }, "write", "read")
	if err != nil {
		return nil, err
	}
	existed := slices.ContainsFunc(v.TopicPermissions(), c.ofUser)
	err = v.SetTopicPermissions(u.Name, c.body.word("exchange"), leveret.TopicPermissions{Write: of[0], Read: of[1]})
	if isCode(err, leveret.NotFound) {
		return nil, badRequest([]any{"no_such_exchange", c.body["exchange"]})
	}
	return put(existed), invalid(err)
}

func (c *call) deleteTopicPermission() (any, error) {
	v, u, err := c.ofUserIn()
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(v.TopicPermissions(), c.ofUser) {
		return nil, errNoObject
	}
	exchange := c.path("exchange")
	isSet := func(p leveret.TopicPermissionInfo) bool { return c.ofUser(p) && p.Exchange == exchange }
	if exchange != "" && !slices.ContainsFunc(v.TopicPermissions(), isSet) {
		return nil, nil
	}
	return nil, invalid(v.ClearTopicPermissions(u.Name, exchange))
}
