package ctl

import "runtime/debug"

// Commands that scripts have for RabbitMQ and that find little to do here.

func nothingCommands() []*command {
	return []*command{
		{name: "force_gc", usage: "force_gc", timeout: true, about: "Collects garbage.",
			banner: func(c *call) string {
				return "Will ask all processes on node " + c.node.Name + " to schedule a full sweep GC"
			},
			run: func(*call) (result, error) { debug.FreeOSMemory(); return result{}, nil }},
		{name: "rotate_logs", usage: "rotate_logs", about: "Fails: nothing rotates the log.",
			run: func(*call) (result, error) {
				return result{}, failed(exitUnavailable, "This command does not rotate logs anymore [deprecated]")
			}},
		{name: "list_unresponsive_queues", usage: "list_unresponsive_queues [--local] [--queue-timeout <milliseconds>] [<column> ...] [--no-table-headers]",
			timeout: true, columns: []string{"name", "durable", "auto_delete", "arguments", "pid", "recoverable_slaves"},
			switches: map[string]kind{"local": boolean, "queue-timeout": integer}, table: true, about: "Lists nothing: every queue answers.",
			banner: func(c *call) string { return "Listing unresponsive queues for vhost " + c.vhostName() + " ..." },
			run:    func(*call) (result, error) { return result{listing: true}, nil }},
	}
}
