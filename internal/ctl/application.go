package ctl

import (
	"github.com/leveretmq/leveret"
)

// The node's life as an operator sees it: RabbitMQ's application stops and starts while the node answers commands.

func applicationCommands() []*command {
	return []*command{
		{name: "stop_app", usage: "stop_app", offline: true,
			about:  "Stops the broker: connections end, and nobody can connect. The node goes on answering commands.",
			banner: func(c *call) string { return "Stopping rabbit application on node " + c.node.Name + " ..." },
			run:    func(c *call) (result, error) { return c.okOf(c.node.Broker.Stop(leveret.StoppedNode)) }},
		{name: "start_app", usage: "start_app", offline: true, about: "Starts the broker after stop_app, with what a restart keeps.",
			banner: func(c *call) string { return "Starting node " + c.node.Name + " ..." },
			run:    func(c *call) (result, error) { return c.okOf(c.node.start()) }},
		{name: "reset", usage: "reset", offline: true, about: "Makes a broker that is stopped a new one: all that was declared, set and published is gone.",
			validate: whileStopped,
			banner:   func(c *call) string { return "Resetting node " + c.node.Name + " ..." },
			run:      func(c *call) (result, error) { return c.okOf(c.node.reset()) }},
	}
}

func (n *Node) reset() error {
	err := n.Broker.Reset()
	if err == nil {
		n.isNew.Store(true)
	}
	return err
}

// start starts the broker. One that a reset has made a new one is set up then.
// Rules: R-14.
func (n *Node) start() error {
	if err := n.Broker.Start(); err != nil || n.SetUp == nil || !n.isNew.Swap(false) {
		return err
	}
	return n.SetUp()
}

// okOf is the result of a command that says nothing when it succeeds.
func (c *call) okOf(err error) (result, error) {
	return result{object: row{{"node", c.node.Name}, {"result", "ok"}}}, err
}

// A wrongState is the refusal of a command that needs a broker which runs, or one that is stopped.
type wrongState struct{ text string }

func (w *wrongState) Error() string { return w.text }

// whileRunning refuses a command while the broker is stopped.
func (c *call) whileRunning() error {
	if c.command.offline || c.command.local || c.node.Broker.Serving() {
		return nil
	}
	return &wrongState{"this command requires the 'rabbit' app to be running on the target node. Start it with 'rabbitmqctl start_app'."}
}

func whileStopped(c *call) error {
	if !c.node.Broker.Serving() {
		return nil
	}
	return &wrongState{"this command requires the 'rabbit' app to be stopped on the target node. Stop it with 'rabbitmqctl stop_app'."}
}
