package mgmt

import (
	"errors"
	"net/http"
	"slices"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/firehose"
)

func (c *call) listVHosts() (any, error) {
	var l list
	for _, v := range c.visible() {
		o, err := c.describeVHost(v)
		if err != nil {
			return nil, err
		}
		l = append(l, item{vhost: "", name: v.Name(), show: func() object { return o }})
	}
	return l, nil
}

func (c *call) getVHost() (any, error) {
	v, err := c.vhost()
	if err != nil {
		return nil, err
	}
	return c.describeVHost(v)
}

func (c *call) describeVHost(v *leveret.VHost) (object, error) {
	info := v.Info()
	metadata := object{"description": info.Description, "tags": tags(info.Tags), "default_queue_type": info.DefaultQueueType}
	o := object{"name": info.Name, "description": info.Description, "tags": tags(info.Tags), "default_queue_type": info.DefaultQueueType,
		"metadata": metadata, "tracing": firehose.Traces(c.broker, info.Name), "cluster_state": object{c.NodeName: "running"},
		"protected_from_deletion": c.isProtected(info.Name)}
	if c.hidesFields {
		delete(metadata, "default_queue_type")
		delete(o, "protected_from_deletion")
	}
	if c.statsDisabled() {
		return o, nil
	}
	f := c.vhostFigures(v, map[subject]figures{})
	s := subject{aVHost, v.Name(), ""}
	if err := c.messageStats(o, s, f, sumStats); err != nil {
		return nil, err
	}
	if info.Queues == 0 && o["message_stats"] == nil {
		return o, nil
	}
	return o, c.show(o, s, f, slices.Concat(lengths, octets))
}

func (c *call) putVHost() (any, error) {
	if err := c.readBody(); err != nil {
		return nil, err
	}
	name := c.path("vhost")
	old, missing := c.broker.VHost(name)
	given, err := c.vhostSettings(old)
	if err != nil {
		return nil, err
	}
	v, err := c.broker.CreateVHost(name)
	if err != nil {
		return nil, invalid(err)
	}
	if err := v.SetMetadata(given.description, given.tags...); err != nil {
		return nil, invalid(err)
	}
	if given.queueType != "" {
		err = v.SetDefaultQueueType(given.queueType)
	}
	if err == nil && missing != nil {
		err = v.SetPermissions(c.user.Name, leveret.Permissions{Configure: ".*", Write: ".*", Read: ".*"})
	}
	c.setTracing(name, given.tracing)
	return put(missing == nil), invalid(err)
}

// setTracing turns the firehose of a virtual host on or off; nil leaves it as it is.
// Rules: O-6.
func (c *call) setTracing(vhost string, on *bool) {
	switch {
	case on == nil:
	case *on:
		firehose.Start(c.broker, c.NodeName, vhost)
	default:
		firehose.Stop(c.broker, vhost)
	}
}

// vhostSettings are what a PUT of a virtual host may set.
type vhostSettings struct {
	description string
	tags        []string
	queueType   leveret.QueueType
	tracing     *bool // nil: not mentioned
}

// vhostSettings returns what the body says. Of a virtual host that exists, what the body does not mention stays.
func (c *call) vhostSettings(old *leveret.VHost) (s vhostSettings, err error) {
	if old != nil {
		s.description, s.tags = old.Info().Description, old.Info().Tags
	}
	var given userTags
	err = errors.Join(c.body.read("description", &s.description), c.body.read("tags", &given),
		c.body.read("defaultqueuetype", &s.queueType), c.body.read("default_queue_type", &s.queueType))
	if given != nil {
		s.tags = given
	}
	if _, mentioned := c.body["tracing"]; mentioned && err == nil {
		var on bool
		on, err = c.body.truth("tracing")
		s.tracing = &on
	}
	if known := s.queueType == "" || s.queueType == leveret.QueueTypeClassic || s.queueType == leveret.QueueTypeQuorum; err == nil && !known {
		err = badRequest(string(s.queueType) + " is not a valid queue type")
	}
	return s, err
}

func (c *call) deleteVHost() (any, error) {
	v, err := c.vhost()
	if err != nil {
		return nil, err
	}
	if c.isProtected(v.Name()) {
		return nil, &failure{http.StatusPreconditionFailed, "precondition_failed",
			"Refusing to delete virtual host '" + v.Name() + "' because it is protected from deletion"}
	}
	return nil, invalid(c.broker.DeleteVHost(v.Name()))
}

func (n *node) isProtected(vhost string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.protected[vhost]
}

func (c *call) protect() (any, error)   { return c.setProtection((*node).refuseDeletion) }
func (c *call) unprotect() (any, error) { return c.setProtection((*node).allowDeletion) }

func (c *call) setProtection(set func(n *node, vhost string)) (any, error) {
	v, err := c.vhost()
	if err != nil {
		return nil, err
	}
	set(c.node, v.Name())
	return nil, nil
}

// refuseDeletion has DELETE refuse a virtual host. The broker's own API does not ask.
func (n *node) refuseDeletion(vhost string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.protected == nil {
		n.protected = map[string]bool{}
	}
	n.protected[vhost] = true
}

func (n *node) allowDeletion(vhost string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.protected, vhost)
}

// startVHost finds the virtual host running, as it always is.
func (c *call) startVHost() (any, error) {
	if _, err := c.vhost(); err != nil {
		return nil, err
	}
	if c.path("node") != c.NodeName {
		return nil, errNoObject
	}
	return put(true), nil
}
