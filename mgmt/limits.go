package mgmt

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/jsondoc"
	"github.com/leveretmq/leveret/internal/limits"
)

// vhostLimits lists the virtual hosts that have the parameter of limits, also those whose limits were taken away. A virtual
// host that is asked for alone is shown only if it has a limit.
func (c *call) vhostLimits() (any, error) {
	v, err := c.vhost()
	if err != nil {
		return nil, err
	}
	all := uncut{}
	if v != nil {
		if limits := v.Info().Limits; limits != noVHostLimits {
			all = append(all, object{"vhost": v.Name(), "value": limits})
		}
		return c.limitsInFull(all), nil
	}
	for _, v := range c.visible() {
		limits := limitsOf(v)
		if _, none := limits.([]any); none && !c.oldFeatures {
			limits = object{} // 3.10 shows the empty list as it is
		}
		if limits != nil {
			all = append(all, object{"vhost": v.Name(), "value": limits})
		}
	}
	return c.limitsInFull(all), nil
}

// limitsInFull is a list of limits. 4.3 sorts it by what they are, and 3.10 cuts it to the columns that are wanted, as it does with others.
func (c *call) limitsInFull(all uncut) any {
	if !c.oldFeatures {
		slices.SortStableFunc(all, func(a, b object) int {
			return cmp.Or(compareTerms(sortValue(a["value"]), sortValue(b["value"])), cmp.Compare(a["vhost"].(string), b["vhost"].(string)))
		})
		if c.query("sort_reverse") == "true" {
			slices.Reverse(all)
		}
		return all
	}
	l := list{}
	for _, o := range all {
		l = append(l, shown(o))
	}
	return l
}

var (
	noVHostLimits = leveret.VHostLimits{MaxConnections: leveret.NoLimit, MaxQueues: leveret.NoLimit}
	noUserLimits  = leveret.UserLimits{MaxConnections: leveret.NoLimit, MaxChannels: leveret.NoLimit}
)

// readLimits reads limits of those names. What is wrong with them is said in RabbitMQ's words.
func (c *call) readLimits(data []byte, kind string, names ...string) (limits.Limits, string) {
	given, wrong := c.members(data, kind)
	if wrong != "" {
		return nil, wrong
	}
	parsed, faults := limits.Parse(given, kind, names...)
	if faults != nil {
		return nil, limits.Text(faults, c.notation)
	}
	return parsed, ""
}

// members returns the members of a parameter's value.
func (n *node) members(data []byte, name string) (members map[string]any, wrong string) {
	v, _ := jsondoc.Decode(data, n.memberThatCounts)
	return limits.Members(v, name, n.notation)
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
	return put(true), c.setVHostLimits(v, limitsParameter, v.Info().Limits, data)
}

// limitsParameter is the name that the parameter with the limits of a virtual host has.
const limitsParameter = "limits"

// setVHostLimits sets those limits that data has, and the others as they were, by a parameter. RabbitMQ fails at one of
// another name.
func (c *call) setVHostLimits(v *leveret.VHost, parameter string, old leveret.VHostLimits, data []byte) error {
	given, wrong := c.readLimits(data, parameter, limits.MaxConnections, limits.MaxQueues)
	switch {
	case wrong != "":
		return badRequest("Validation failed\n\n" + wrong + "\n")
	case parameter != limitsParameter:
		return errCrash
	}
	return invalid(v.SetLimits(given.OfVHost(old)))
}

// limitsOf returns what the parameter of a virtual host's limits has, an empty list if no limit is left; nil: there is
// none.
func limitsOf(v *leveret.VHost) any {
	switch info := v.Info(); {
	case !info.HasLimits:
		return nil
	case info.Limits == noVHostLimits:
		return []any{}
	default:
		return info.Limits
	}
}

func (c *call) deleteVHostLimit() (any, error) {
	v, err := c.vhost()
	if err != nil {
		return nil, c.noLimits()
	}
	l := v.Info().Limits
	switch c.path("name") {
	case limits.MaxConnections:
		l.MaxConnections = leveret.NoLimit
	case limits.MaxQueues:
		l.MaxQueues = leveret.NoLimit
	}
	return nil, invalid(v.SetLimits(l))
}

// noLimits is the refusal to take away a limit of a virtual host or a user that is missing.
func (c *call) noLimits() error {
	if c.failsAtLimits {
		return errCrash
	}
	return notFound("vhost_not_found")
}

func (c *call) userLimits() (any, error) {
	return limitsOfAll(c.broker.Users()), nil
}

func (c *call) limitsOfUser() (any, error) {
	u, err := c.pathUser()
	if err != nil {
		return nil, err
	}
	return limitsOfAll([]leveret.UserInfo{u}), nil
}

func limitsOfAll(users []leveret.UserInfo) list {
	l := list{}
	for _, u := range users {
		if u.Limits != noUserLimits {
			l = append(l, shown(object{"user": u.Name, "value": u.Limits}))
		}
	}
	return l
}

func (c *call) putUserLimit() (any, error) {
	data, err := c.limitNamed()
	if err != nil {
		return nil, err
	}
	given, wrong := c.readLimits(data, "user-limits", limits.MaxConnections, limits.MaxChannels)
	if wrong != "" {
		return nil, badRequest(wrong)
	}
	return put(true), c.setUserLimits(c.path("user"), given)
}

func (c *call) deleteUserLimit() (any, error) {
	u, err := c.pathUser()
	if err != nil {
		return nil, c.noLimits()
	}
	switch c.path("name") {
	case limits.MaxConnections:
		u.Limits.MaxConnections = leveret.NoLimit
	case limits.MaxChannels:
		u.Limits.MaxChannels = leveret.NoLimit
	}
	return nil, invalid(c.broker.SetUserLimits(u.Name, u.Limits))
}
