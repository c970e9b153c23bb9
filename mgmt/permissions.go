package mgmt

import (
	"github.com/leveretmq/leveret"
)

func (c *call) permissions() (any, error) {
	vhosts, err := c.listed()
	if err != nil {
		return nil, err
	}
	var l list
	for _, v := range vhosts {
		for _, p := range v.Permissions() {
			l = append(l, shown(describePermission(p)))
		}
	}
	return l, nil
}

func (c *call) permissionsOfUser() (any, error) {
	u, err := c.pathUser()
	if err != nil {
		return nil, err
	}
	var l list
	for _, v := range c.vhosts() {
		for _, p := range v.Permissions() {
			if p.User == u.Name {
				l = append(l, shown(describePermission(p)))
			}
		}
	}
	return l, nil
}

func describePermission(p leveret.PermissionInfo) object {
	return object{"user": p.User, "vhost": p.VHost, "configure": p.Configure, "write": p.Write, "read": p.Read}
}

// ofUserIn returns the virtual host and the user in the path.
func (c *call) ofUserIn() (*leveret.VHost, leveret.UserInfo, error) {
	u, err := c.pathUser()
	if err != nil {
		return nil, u, err
	}
	v, err := c.vhost()
	return v, u, err
}

// foundPermission returns the permissions of the user in the virtual host, if there are any.
func (c *call) foundPermission() (*leveret.VHost, leveret.PermissionInfo, error) {
	v, u, err := c.ofUserIn()
	if err != nil {
		return nil, leveret.PermissionInfo{}, err
	}
	for _, p := range v.Permissions() {
		if p.User == u.Name {
			return v, p, nil
		}
	}
	return v, leveret.PermissionInfo{}, errNoObject
}

func (c *call) permission() (any, error) {
	_, p, err := c.foundPermission()
	if err != nil {
		return nil, err
	}
	return describePermission(p), nil
}

func (c *call) putPermission() (any, error) {
	_, _, missing := c.foundPermission()
	v, u, err := c.ofUserIn()
	if err != nil {
		return nil, badRequest("vhost_or_user_not_found")
	}
	if err := c.need("configure", "write", "read"); err != nil {
		return nil, err
	}
	of, err := c.expressions(c.body.textOnly, octetsOf, "configure", "write", "read")
	if err != nil {
		return nil, err
	}
	return put(missing == nil), invalid(v.SetPermissions(u.Name, leveret.Permissions{Configure: of[0], Write: of[1], Read: of[2]}))
}

func (c *call) deletePermission() (any, error) {
	v, p, err := c.foundPermission()
	if err != nil {
		return nil, err
	}
	return nil, invalid(v.ClearPermissions(p.User))
}
