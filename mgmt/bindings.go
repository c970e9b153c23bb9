package mgmt

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"net/http"
	"net/url"
	"strings"

	"github.com/leveretmq/leveret"
)

func (c *call) bindings() (any, error) {
	return c.listBindings(func(leveret.BindingInfo) bool { return true })
}

func (c *call) bindingsOfSource() (any, error) {
	name := c.exchangeName("exchange")
	return c.listBindings(func(b leveret.BindingInfo) bool { return b.Source == name })
}

func (c *call) bindingsOfExchange() (any, error) {
	return c.bindingsTo(leveret.DestinationExchange, c.exchangeName("exchange"))
}

func (c *call) bindingsOfQueue() (any, error) {
	return c.bindingsTo(leveret.DestinationQueue, c.path("queue"))
}

func (c *call) bindingsTo(kind leveret.DestinationType, name string) (any, error) {
	return c.listBindings(func(b leveret.BindingInfo) bool { return b.DestinationType == kind && b.Destination == name })
}

func (c *call) listBindings(which func(leveret.BindingInfo) bool) (any, error) {
	vhosts, err := c.listed()
	if err != nil {
		return nil, err
	}
	l := list{}
	for _, v := range vhosts {
		for _, b := range v.Bindings() {
			if which(b) {
				l = append(l, item{vhost: b.VHost, name: b.Source, show: func() object { return describeBinding(b) }})
			}
		}
	}
	return l, nil
}

func describeBinding(b leveret.BindingInfo) object {
	return object{"source": b.Source, "vhost": b.VHost, "destination": b.Destination, "destination_type": b.DestinationType,
		"routing_key": b.RoutingKey, "arguments": arguments(b.Arguments), "properties_key": propertiesKey(b.RoutingKey, b.Arguments)}
}

// propertiesKey tells a binding from the others between the same two ends: its routing key and, if it has arguments, a
// hash of them. Clients pass back what they have read, so the hash is one of our own.
func propertiesKey(key string, args leveret.Table) string {
	if len(args) == 0 {
		if key == "" {
			return "~"
		}
		return quoted(key)
	}
	data, _ := json.Marshal(arguments(args)) // what a binding has is JSON
	hash := binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(data))
	return quoted(key) + "~" + quoted(base64.RawURLEncoding.EncodeToString(hash))
}

func quoted(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "~", "%7E") }

// between returns the kind of destination in the path, and which bindings are between its two ends.
func (c *call) between() (leveret.DestinationType, func(leveret.BindingInfo) bool, error) {
	kind := leveret.DestinationType(leveret.DestinationQueue)
	switch c.path("kind") {
	case "q":
	case "e":
		kind = leveret.DestinationExchange
	default:
		return "", nil, errNoObject
	}
	source, destination := c.exchangeName("source"), c.destination(kind)
	return kind, func(b leveret.BindingInfo) bool {
		return b.Source == source && b.Destination == destination && b.DestinationType == kind
	}, nil
}

// destination returns the destination in the path; only for an exchange is amq.default another name.
func (c *call) destination(kind leveret.DestinationType) string {
	if kind == leveret.DestinationExchange {
		return c.exchangeName("destination")
	}
	return c.path("destination")
}

func (c *call) bindingsBetween() (any, error) {
	_, which, err := c.between()
	if err != nil {
		return nil, err
	}
	return c.listBindings(which)
}

func (c *call) bind() (any, error) {
	kind, _, err := c.between()
	if err != nil {
		return nil, err
	}
	v, err := c.vhostToChange()
	if err != nil {
		return nil, err
	}
	if err := c.readBody(); err != nil {
		return nil, err
	}
	args, err := c.body.arguments()
	if err != nil {
		return nil, err
	}
	key := c.body.text("routing_key")
	if err := c.setBinding(v, kind, key, args, (*leveret.Channel).Bind); err != nil {
		return nil, err
	}
	last := url.PathEscape(c.path("destination")) + "/" + url.PathEscape(propertiesKey(key, args))
	return reply{status: http.StatusCreated, location: last}, nil
}

// setBinding makes or removes a binding between the two ends in the path.
func (c *call) setBinding(v *leveret.VHost, kind leveret.DestinationType, key string, args leveret.Table,
	change func(*leveret.Channel, leveret.Binding) error) error {
	fields, err := args.Fields()
	if err != nil {
		return badRequest(err.Error())
	}
	return c.operate(v, func(ch *leveret.Channel) error {
		return change(ch, leveret.Binding{Source: c.exchangeName("source"), Destination: c.destination(kind),
			DestinationType: kind, RoutingKey: key, Arguments: fields})
	})
}

// foundBinding returns the binding in the path.
func (c *call) foundBinding() (*leveret.VHost, leveret.BindingInfo, error) {
	_, which, err := c.between()
	if err != nil {
		return nil, leveret.BindingInfo{}, err
	}
	v, err := c.vhost()
	if err != nil {
		return nil, leveret.BindingInfo{}, err
	}
	for _, b := range v.Bindings() {
		if which(b) && propertiesKey(b.RoutingKey, b.Arguments) == c.path("props") {
			return v, b, nil
		}
	}
	return v, leveret.BindingInfo{}, errNoObject
}

func (c *call) binding() (any, error) {
	_, b, err := c.foundBinding()
	if err != nil {
		return nil, err
	}
	return describeBinding(b), nil
}

func (c *call) unbind() (any, error) {
	v, b, err := c.foundBinding()
	if err != nil {
		return nil, err
	}
	return nil, c.operate(v, func(ch *leveret.Channel) error {
		return ch.Unbind(leveret.Binding{Source: b.Source, Destination: b.Destination, DestinationType: b.DestinationType,
			RoutingKey: b.RoutingKey, Arguments: b.ArgumentFields})
	})
}
