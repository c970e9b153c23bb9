package mgmt

import (
	"strings"

	"github.com/leveretmq/leveret/internal/erl"
)

// The configuration in force, which RabbitMQ prints as the environments of its applications. What leveret has not is left out.

func (c *call) effectiveConfig() (any, error) {
	setting := func(name string, value any) erl.Tuple { return erl.Tuple{erl.Atom(name), value} }
	loopback := erl.List{}
	for _, user := range c.LoopbackUsers {
		loopback = append(loopback, erl.Binary(user))
	}
	broker := erl.List{setting("default_vhost", erl.Binary("/")), setting("loopback_users", loopback),
		setting("max_message_size", c.broker.MaxMessageSize()), setting("ssl_listeners", c.listenersOf("amqp/ssl")),
		setting("tcp_listeners", c.listenersOf("amqp"))}
	if limit := c.broker.Memory().Limit; limit > 0 {
		broker = append(broker, setting("vm_memory_high_watermark", setting("absolute", limit)))
	}
	management := erl.List{}
	for _, l := range c.Listeners {
		if strings.HasPrefix(l.Protocol, "http") {
			management = append(management, setting(map[bool]string{false: "tcp_config", true: "ssl_config"}[l.isTLS()],
				erl.List{setting("ip", erl.String(l.Address)), setting("port", l.Port)}))
		}
	}
	text := c.notation.Format(erl.List{setting("rabbit", broker), setting("rabbitmq_management", management),
		setting("rabbitmq_management_agent", erl.List{setting("rates_mode", erl.Atom("basic"))})}, 0)
	return plain(text + "\n"), nil
}

// listenersOf are those of a protocol: addresses and ports.
func (c *call) listenersOf(protocol string) erl.List {
	all := erl.List{}
	for _, l := range c.Listeners {
		if l.Protocol == protocol {
			all = append(all, erl.Tuple{erl.String(l.Address), l.Port})
		}
	}
	return all
}
