package mgmt

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/erl"
	"github.com/leveretmq/leveret/internal/firehose"
)

func (c *call) listVHosts() (any, error) {
	var l list
	if err := c.checkSpans(); err != nil {
		return nil, err
	}
	if c.wholeVHosts {
		c.params.Del("columns")
	}
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
	if err == nil {
		err = c.checkStatistics()
	}
	if err != nil {
		return nil, err
	}
	return c.describeVHost(v)
}

func (c *call) describeVHost(v *leveret.VHost) (object, error) {
	info := v.Info()
	queueType := info.DefaultQueueType
	if c.noQueueTypes && queueType == leveret.QueueTypeClassic {
		queueType = undefinedType
	}
	metadata := object{"description": info.Description, "tags": tags(info.Tags), "default_queue_type": queueType}
	o := object{"name": info.Name, "description": info.Description, "tags": tags(info.Tags), "default_queue_type": queueType,
		"metadata": metadata, "tracing": firehose.Traces(c.broker, info.Name), "cluster_state": object{c.NodeName: "running"},
		"protected_from_deletion": info.Protected}
	if info.HasProtection {
		metadata["protected_from_deletion"] = info.Protected
	}
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
		if f[recvOct] == 0 {
			return o, nil
		}
		return o, c.show(o, s, f, octets)
	}
	return o, c.show(o, s, f, slices.Concat(lengths, octets))
}

func (c *call) putVHost() (any, error) {
	if err := c.readBody(); err != nil {
		return nil, err
	}
	given, err := c.vhostSettings()
	if err != nil {
		return nil, err
	}
	name := c.path("vhost")
	_, missing := c.broker.VHost(name)
	v, err := c.broker.CreateVHost(name)
	if err != nil {
		return nil, invalid(err)
	}
	err = v.SetMetadata(given.description, given.tags...)
	if err == nil && !c.noQueueTypes {
		err = v.SetDefaultQueueType(given.queueType)
	}
	if err == nil && missing != nil {
		c.remember(v)
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

func (c *call) deleteVHost() (any, error) {
	v, err := c.vhost()
	if err != nil {
		return nil, err
	}
	if v.Info().Protected {
		return nil, &failure{status: http.StatusPreconditionFailed, kind: "precondition_failed",
			reason: "Refusing to delete virtual host '" + v.Name() + "' because it is protected from deletion"}
	}
	if err := c.broker.DeleteVHost(v.Name()); err != nil {
		return nil, invalid(err)
	}
	c.forgetVHost(v)
	return nil, nil
}

func (c *call) protect() (any, error) {
	v, err := c.vhost()
	if err != nil {
		return nil, notFound("Cannot enable deletion protection of virtual host '" + c.path("vhost") + "' because it does not exist")
	}
	return nil, v.SetProtected(true)
}

func (c *call) unprotect() (any, error) {
	v, err := c.vhost()
	if err != nil {
		return nil, err
	}
	return nil, v.SetProtected(false)
}

// startVHost finds the virtual host running, as it always is.
func (c *call) startVHost() (any, error) {
	node := c.path("node")
	if node != c.NodeName {
		return nil, badRequest(fmt.Sprintf(c.unknownNode, node))
	}
	if _, err := c.vhost(); err != nil {
		reason := erl.Tuple{erl.Atom("no_such_vhost"), erl.Binary(c.path("vhost"))}
		return nil, badRequest(c.notation.Behind("Request to node "+node+" failed with ", reason))
	}
	return put(true), nil
}

// showProtection is a GET that RabbitMQ allows and fails at.
func (c *call) showProtection() (any, error) {
	if _, err := c.vhost(); err != nil {
		return nil, err
	}
	return nil, errCrash
}
