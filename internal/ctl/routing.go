package ctl

import "github.com/leveretmq/leveret"

// Exchanges and bindings. A virtual host that does not exist has none.

func routingCommands() []*command {
	return []*command{
		{
			name: "list_exchanges", usage: "list_exchanges [--vhost <vhost>] [--no-table-headers] [<column> ...]",
			about: "Lists exchanges.", table: true, timeout: true, run: listExchanges,
			columns: []string{"name", "type", "durable", "auto_delete", "internal", "arguments", "policy"},
			banner:  func(c *call) string { return "Listing exchanges for vhost " + c.vhostName() + " ..." },
		},
		{
			name: "list_bindings", usage: "list_bindings [--vhost <vhost>] [--no-table-headers] [<column> ...]",
			about: "Lists bindings.", table: true, timeout: true, run: listBindings, columns: bindingColumns,
			banner: func(c *call) string { return "Listing bindings for vhost " + c.vhostName() + "..." },
		},
	}
}

func listExchanges(c *call) (result, error) {
	r := result{listing: true}
	v, err := c.node.Broker.VHost(c.vhostName())
	if err != nil {
		return r, ignoreMissing(err)
	}
	for _, x := range v.Exchanges() {
		r.rows = append(r.rows, pick(c.columnsOr("name", "type"), func(column string) any { return exchangeItem(x, column) }))
	}
	return r, nil
}

func exchangeItem(x leveret.ExchangeInfo, column string) any {
	switch column {
	case "name":
		return x.Name
	case "type":
		return word(x.Type)
	case "durable":
		return x.Durable
	case "auto_delete":
		return x.AutoDelete
	case "internal":
		return x.Internal
	case "arguments":
		return arguments(x.ArgumentFields)
	case "policy":
		return orNone(x.Policy)
	}
	panic("no such column of an exchange: " + column)
}

var bindingColumns = []string{
	"source_name", "source_kind", "destination_name", "destination_kind", "routing_key", "arguments",
}

func listBindings(c *call) (result, error) {
	r := result{listing: true}
	v, err := c.node.Broker.VHost(c.vhostName())
	if err != nil {
		return r, ignoreMissing(err)
	}
	for _, b := range v.Bindings() {
		r.rows = append(r.rows, pick(c.columnsOr(bindingColumns...),
			func(column string) any { return bindingItem(b, column) }))
	}
	return r, nil
}

func bindingItem(b leveret.BindingInfo, column string) any {
	switch column {
	case "source_name":
		return b.Source
	case "source_kind":
		return word("exchange")
	case "destination_name":
		return b.Destination
	case "destination_kind":
		return word(b.DestinationType)
	case "routing_key":
		return b.RoutingKey
	case "arguments":
		return arguments(b.ArgumentFields)
	}
	panic("no such column of a binding: " + column)
}
