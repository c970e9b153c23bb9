package mgmt

import (
	"net/http"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/jsondoc"
)

func (c *call) bindings() (any, error) {
	return c.listBindings(func(leveret.BindingInfo) bool { return true })
}

func (c *call) bindingsOfSource() (any, error) {
	name := c.exchangeName("exchange")
	return c.bindingsAt("", func(b leveret.BindingInfo) bool { return b.Source == name })
}

func (c *call) bindingsOfExchange() (any, error) {
	name := c.exchangeName("exchange")
	return c.bindingsAt("", func(b leveret.BindingInfo) bool {
		return b.DestinationType == leveret.DestinationExchange && b.Destination == name
	})
}

func (c *call) bindingsOfQueue() (any, error) {
	name := c.path("queue")
	return c.bindingsAt(name, func(b leveret.BindingInfo) bool {
		return b.DestinationType == leveret.DestinationQueue && b.Destination == name
	})
}

// bindingsAt lists the bindings at an exchange or a queue. RabbitMQ does not look whether the exchange, the queue or the virtual host
// is there: a queue that is missing has its binding to the default exchange, too. queue is empty if it is not asked for.
func (c *call) bindingsAt(queue string, which func(leveret.BindingInfo) bool) (any, error) {
	v, missing := c.vhost()
	if missing != nil {
		return list{}, nil
	}
	if _, missing := v.Queue(queue); missing != nil && queue != "" {
		b := leveret.BindingInfo{VHost: v.Name(), Destination: queue, DestinationType: leveret.DestinationQueue, RoutingKey: queue}
		o, err := describeBinding(b)
		return list{shown(o)}, err
	}
	return c.listBindings(which)
}

func (c *call) listBindings(which func(leveret.BindingInfo) bool) (any, error) {
	vhosts, err := c.listed()
	if err != nil {
		return nil, err
	}
	l := list{}
	for _, v := range vhosts {
		for _, b := range v.Bindings() {
			if !which(b) {
				continue
			}
			o, err := describeBinding(b)
			if err != nil {
				return nil, err
			}
			l = append(l, shown(o))
		}
	}
	return l, nil
}

func describeBinding(b leveret.BindingInfo) (object, error) {
	key, err := shownKey(b.RoutingKey, b.ArgumentFields)
	return object{"source": b.Source, "vhost": b.VHost, "destination": b.Destination, "destination_type": b.DestinationType,
		"routing_key": b.RoutingKey, "arguments": fields(b.ArgumentFields), "properties_key": key}, err
}

// between returns the kind of destination in the path, and which bindings are between its two ends.
func (c *call) between() (leveret.DestinationType, func(leveret.BindingInfo) bool, error) {
	kind := leveret.DestinationType(leveret.DestinationQueue)
	switch c.path("kind") {
	case "q":
	case "e":
		kind = leveret.DestinationExchange
	default:
		return "", nil, errCrash
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
	kind, which, err := c.between()
	if err != nil {
		return nil, err
	}
	queue := ""
	if kind == leveret.DestinationQueue && c.exchangeName("source") == "" {
		queue = c.path("destination")
	}
	return c.bindingsAt(queue, which)
}

func (c *call) bind() (any, error) {
	kind, _, err := c.between()
	if err != nil {
		return nil, err
	}
	if c.readBody() != nil {
		return nil, errCrash
	}
	args, err := c.body.arguments()
	if err != nil {
		return nil, errCrash
	}
	v, err := c.vhostToChange()
	if err != nil {
		return nil, err
	}
	key, wrong := c.bindingKey()
	if wrong != nil && c.endsAreThere(v, kind) {
		return nil, wrong
	}
	fields, err := args.Fields()
	if err != nil {
		return nil, badRequest(err.Error())
	}
	if err := c.makeBinding(v, leveret.Binding{DestinationType: kind, RoutingKey: key, Arguments: fields}); err != nil {
		return nil, err
	}
	properties, err := shownKey(key, fields)
	if err != nil {
		return nil, err
	}
	return reply{status: http.StatusCreated, location: c.location("bindings", c.path("vhost"), "e", c.path("source"), c.path("kind"),
		c.path("destination"), properties)}, nil
}

// endsAreThere reports whether the exchange in the path can be bound to the destination there.
func (c *call) endsAreThere(v *leveret.VHost, kind leveret.DestinationType) bool {
	_, noSource := v.Exchange(c.exchangeName("source"))
	_, noDestination := v.Queue(c.destination(kind))
	if kind == leveret.DestinationExchange {
		_, noDestination = v.Exchange(c.destination(kind))
	}
	return noSource == nil && noDestination == nil && c.exchangeName("source") != ""
}

// bindingKey returns the routing key of the body. RabbitMQ keeps null, true and false, which no message has; here they are
// texts.
func (c *call) bindingKey() (string, error) {
	isWord := true
	if given, ok := c.body["routing_key"]; ok {
		isWord = strings.IndexByte(`"ntf`, given[0]) >= 0
	}
	switch {
	case isWord:
		return c.body.word("routing_key"), nil
	case !c.takesAnyKey:
		return "", c.crashed("function_clause")
	case !hasNumbersOnly(c.body["routing_key"]):
		return "", errCrash
	}
	return c.body.text("routing_key"), nil
}

// hasNumbersOnly reports whether a value is no object, and no list but of integers.
func hasNumbersOnly(data []byte) bool {
	v, _ := jsondoc.Decode(data, jsondoc.First)
	switch v := v.(type) {
	case map[string]any:
		return false
	case []any:
		return !slices.ContainsFunc(v, func(member any) bool {
			_, isInteger := member.(int64)
			return !isInteger
		})
	}
	return true
}

// makeBinding makes a binding between the two ends in the path.
func (c *call) makeBinding(v *leveret.VHost, b leveret.Binding) error {
	b.Source, b.Destination = c.exchangeName("source"), c.destination(b.DestinationType)
	return c.operate(v, func(ch *leveret.Channel) error { return ch.Bind(b) })
}

// foundBinding returns the binding in the path.
func (c *call) foundBinding() (*leveret.VHost, leveret.BindingInfo, error) {
	v, err := c.vhost()
	if err != nil {
		return nil, leveret.BindingInfo{}, err
	}
	_, which, err := c.between()
	if err != nil {
		return nil, leveret.BindingInfo{}, err
	}
	key, hash, isKey := readKey(c.path("props"))
	for _, b := range v.Bindings() {
		if isKey && which(b) && b.RoutingKey == key && hashOf(b.ArgumentFields) == hash {
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
	return describeBinding(b)
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
