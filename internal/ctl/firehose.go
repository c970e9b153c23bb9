package ctl

import "github.com/leveretmq/leveret/internal/firehose"

func traceCommands() []*command {
	return []*command{
		{
			name: "trace_on", usage: "trace_on [--vhost <vhost>]", max: -1, about: "Copies all messages to the exchange amq.rabbitmq.trace.",
			run:    tracer(true, "Trace enabled for vhost "),
			banner: func(c *call) string { return `Starting tracing for vhost "` + c.vhostName() + `" ...` },
		},
		{
			name: "trace_off", usage: "trace_off [--vhost <vhost>]", max: -1, about: "Ends trace_on.",
			run:    tracer(false, "Trace disabled for vhost "),
			banner: func(c *call) string { return `Stopping tracing for vhost "` + c.vhostName() + `" ...` },
		},
	}
}

// tracer returns the act of a command. Like RabbitMQ it does not ask whether there is such a virtual host.
func tracer(on bool, done string) func(*call) (result, error) {
	return func(c *call) (result, error) {
		if on {
			firehose.Start(c.node.Broker, c.node.Name, c.vhostName())
		} else {
			firehose.Stop(c.node.Broker, c.vhostName())
		}
		text := done + c.vhostName()
		return result{message: text, object: row{{"node", c.node.Name}, {"value", text}, {"result", "ok"}}}, nil
	}
}
