package mgmt

import (
	"encoding/json"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/limits"
)

// The names of limits.
const (
	maxConnections = "max-connections"
	maxChannels    = "max-channels"
	maxQueues      = "max-queues"
)

func (c *call) vhostLimits() (any, error) {
	v, err := c.vhost()
	if err != nil {
		return nil, err
	}
	vhosts := c.visible()
	if v != nil {
		vhosts = []*leveret.VHost{v}
	}
	l := list{}
	for _, v := range vhosts {
		if limits := v.Info().Limits; limits != noVHostLimits {
			l = append(l, shown(object{"vhost": v.Name(), "value": limits}))
		}
	}
	return l, nil
}

var (
	noVHostLimits = leveret.VHostLimits{MaxConnections: leveret.NoLimit, MaxQueues: leveret.NoLimit}
	noUserLimits  = leveret.UserLimits{MaxConnections: leveret.NoLimit, MaxChannels: leveret.NoLimit}
)

// readLimits reads limits of those names. What is wrong with them is said in RabbitMQ's words.
func (c *call) readLimits(data []byte, kind string, names ...string) (limits.Limits, string, error) {
	given, err := limits.Read(data)
	if err != nil {
		return nil, "", badRequest("not_json")
	}
	parsed, wrong := limits.Parse(given, kind, names...)
	if wrong != nil {
		return nil, limits.Text(wrong, c.notation), nil
	}
	return parsed, "", nil
}

// limitNamed returns the body's value as an object with the limit that the path names.
func (c *call) limitNamed() ([]byte, error) {
	if err := c.need("value"); err != nil {
		return nil, err
	}
	return json.Marshal(body{c.path("name"): c.body["value"]})
}

func (c *call) putVHostLimit() (any, error) {
	v, err := c.vhost()
	if err != nil {
		return nil, notFound("vhost_not_found")
	}
	data, err := c.limitNamed()
	if err != nil {
		return nil, err
	}
	return put(true), c.setVHostLimits(v, v.Info().Limits, data)
}

// setVHostLimits sets those limits that data has, and the others as they were.
func (c *call) setVHostLimits(v *leveret.VHost, old leveret.VHostLimits, data []byte) error {
	given, wrong, err := c.readLimits(data, "limits", maxConnections, maxQueues)
	if err != nil {
		return err
	}
	if wrong != "" {
		return badRequest("Validation failed\n\n" + wrong + "\n")
	}
	return invalid(v.SetLimits(leveret.VHostLimits{MaxConnections: given.Or(maxConnections, old.MaxConnections),
		MaxQueues: given.Or(maxQueues, old.MaxQueues)}))
}

func (c *call) deleteVHostLimit() (any, error) {
	v, err := c.vhost()
	if err != nil {
		return nil, notFound("vhost_not_found")
	}
	l := v.Info().Limits
	switch c.path("name") {
	case maxConnections:
		l.MaxConnections = leveret.NoLimit
	case maxQueues:
		l.MaxQueues = leveret.NoLimit
	}
	return nil, invalid(v.SetLimits(l))
}

func (c *call) userLimits() (any, error) {
	users := c.broker.Users()
	if c.path("user") != "" {
		u, err := c.pathUser()
		if err != nil {
			return nil, err
		}
		users = []leveret.UserInfo{u}
	}
	l := list{}
	for _, u := range users {
		if u.Limits != noUserLimits {
			l = append(l, shown(object{"user": u.Name, "value": u.Limits}))
		}
	}
	return l, nil
}

func (c *call) putUserLimit() (any, error) {
	data, err := c.limitNamed()
	if err != nil {
		return nil, err
	}
	given, wrong, err := c.readLimits(data, "user-limits", maxConnections, maxChannels)
	switch {
	case err != nil:
		return nil, err
	case wrong != "":
		return nil, badRequest(wrong)
	}
	u, err := c.pathUser()
	if err != nil {
		return nil, badRequest([]string{"no_such_user", c.path("user")})
	}
	return put(true), invalid(c.broker.SetUserLimits(u.Name, leveret.UserLimits{
		MaxConnections: given.Or(maxConnections, u.Limits.MaxConnections), MaxChannels: given.Or(maxChannels, u.Limits.MaxChannels)}))
}

func (c *call) deleteUserLimit() (any, error) {
	u, err := c.pathUser()
	if err != nil {
		return nil, notFound("vhost_not_found")
	}
	switch c.path("name") {
	case maxConnections:
		u.Limits.MaxConnections = leveret.NoLimit
	case maxChannels:
		u.Limits.MaxChannels = leveret.NoLimit
	}
	return nil, invalid(c.broker.SetUserLimits(u.Name, u.Limits))
}
