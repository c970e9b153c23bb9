package mgmt

import (
	"bytes"

	"github.com/leveretmq/leveret"
)

// Parameters belong to a virtual host and a component. The components of RabbitMQ itself are its limits and its
// policies; those of plugins are not known.

const (
	componentLimits   = "vhost-limits"
	componentOperator = "operator_policy"
	componentPolicy   = "policy"
)

// parameters lists all parameters but policies, which have a path of their own, by virtual host and name.
func (c *call) parameters() (any, error) {
	vhosts, err := c.listed()
	if err != nil {
		return nil, err
	}
	l := list{}
	for _, v := range vhosts {
		for _, p := range c.parametersOf(v) {
			component := c.path("component")
			if component == "" && p["component"] != componentPolicy || component == p["component"] {
				l = append(l, shown(p))
			}
		}
	}
	return l, nil
}

func (n *node) parametersOf(v *leveret.VHost) (all []object) {
	add := func(component, name string, value any) {
		all = append(all, object{"vhost": v.Name(), "component": component, "name": name, "value": value})
	}
	for _, p := range v.OperatorPolicies() {
		add(componentOperator, p.Name, policyValue(p))
	}
	for _, p := range v.Policies() {
		add(componentPolicy, p.Name, policyValue(p))
	}
	if limits := limitsOf(v); limits != nil {
		add(componentLimits, limitsParameter, limits)
	}
	return all
}

func (c *call) parameter() (any, error) {
	v, err := c.vhost()
	if err != nil {
		return nil, err
	}
	for _, p := range c.parametersOf(v) {
		if p["component"] == c.path("component") && p["name"] == c.path("name") {
			return p, nil
		}
	}
	return nil, errNoObject
}

func (c *call) putParameter() (any, error) {
	v, err := c.vhost()
	if err != nil {
		return nil, notFound("vhost_not_found")
	}
	if err := c.need("value"); err != nil {
		return nil, err
	}
	_, missing := c.parameter()
	return put(missing == nil), c.escaped(c.setParameter(v))
}

func (c *call) setParameter(v *leveret.VHost) error {
	switch component := c.path("component"); component {
	case componentLimits:
		return c.setVHostLimits(v, c.path("name"), noVHostLimits, c.body["value"])
	case componentOperator:
		return c.setOperatorParameter(v)
	case componentPolicy:
		return badRequest("policies may not be set using this method")
	default:
		return badRequest("Validation failed\n\ncomponent " + component + " not found\n")
	}
}

func (c *call) deleteParameter() (any, error) {
	if _, err := c.parameter(); err != nil {
		return nil, err
	}
	v, err := c.vhost()
	if err != nil {
		return nil, err
	}
	switch c.path("component") {
	case componentLimits:
		err = v.ClearLimits()
	case componentOperator:
		err = v.ClearOperatorPolicy(c.path("name"))
	default:
		err = errCrash // RabbitMQ refuses to take away a policy so, and its handler does not expect the refusal
	}
	return nil, invalid(err)
}

// globals returns the global parameters, those included that every node of RabbitMQ has.
func (n *node) globals() (all []object) {
	set := map[string]bool{}
	for _, p := range n.broker.GlobalParameters() {
		set[p.Name] = true
		all = append(all, object{"name": p.Name, "value": p.Value})
	}
	if !set["cluster_tags"] && !n.oldFeatures {
		all = append(all, object{"name": "cluster_tags", "value": []any{}})
	}
	if !set["internal_cluster_id"] {
		all = append(all, object{"name": "internal_cluster_id", "value": n.clusterID})
	}
	return all
}

func (c *call) globalParameters() (any, error) {
	l := list{}
	for _, o := range c.globals() {
		l = append(l, shown(o))
	}
	return l, nil
}

func (c *call) globalParameter() (any, error) {
	o, found := withKey(c.globals(), func(o object) any { return o["name"] }, any(c.path("name")))
	if !found {
		return nil, errNoObject
	}
	return o, nil
}

func (c *call) putGlobalParameter() (any, error) {
	if err := c.need("value"); err != nil {
		return nil, err
	}
	_, missing := c.globalParameter()
	return put(missing == nil), invalid(c.broker.SetGlobalParameter(leveret.GlobalParameter{
		Name: c.path("name"), Value: bytes.Clone(c.body["value"])}))
}

func (c *call) deleteGlobalParameter() (any, error) {
	if _, err := c.globalParameter(); err != nil {
		return nil, err
	}
	return nil, invalid(c.broker.ClearGlobalParameter(c.path("name")))
}
