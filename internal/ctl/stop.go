package ctl

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"
)

// Commands that end the node. The answer comes in pieces: what is being done, and, when the node has ended, an end of the
// answer or of the connection. Callers who want to know that the process is gone, too, wait for that by themselves.

// notStoppable is said by a node that is part of a program which does not let itself be ended.
const notStoppable = "this node is part of a program that leveret ctl cannot end"

func stopCommands() []*command {
	return []*command{
		{name: "stop", offline: true, usage: "stop [--idempotent] [<pidfile>]", max: 1, switches: map[string]kind{"idempotent": boolean}, follow: stop, run: needsSocket,
			about: "Ends the node. With the file of leveret serve --pid-file it returns when the process is gone.",
			note:  "--idempotent: it is no error if no node answers.",
			banner: func(c *call) string {
				text := "Stopping and halting node " + c.node.Name
				if len(c.args) > 0 {
					text += " (will monitor pid file " + c.args[0] + ")"
				}
				return text + " ..."
			}},
		{name: "shutdown", offline: true, usage: "shutdown [--wait]", timeout: true, switches: map[string]kind{"wait": boolean}, follow: shutdown, run: needsSocket,
			about: "Ends the node and returns when its process is gone; with --no-wait when its connections are."},
	}
}

// endsNode reports whether a request is to end the node.
func endsNode(req Request) bool {
	_, cmd := find(req.Args)
	return cmd != nil && (cmd.name == "stop" || cmd.name == "shutdown")
}

func stop(_ context.Context, c *call, send func(Response) error) error {
	banner := ""
	if !c.quiet() && !machineReadable(c.text("formatter", "")) {
		banner = lines(c.command.banner(c))
	}
	return c.end(Response{Stdout: banner}, send)
}

func shutdown(_ context.Context, c *call, send func(Response) error) error {
	if !c.is("wait", true) {
		return c.end(Response{}, send)
	}
	pid := os.Getpid()
	node := fmt.Sprintf("RabbitMQ node %s running at PID %d", c.node.Name, pid)
	return c.end(Response{
		Stdout: fmt.Sprintf("Shutting down %s\nWaiting for PID %d to terminate\n", node, pid),
		Await:  &Await{pid, node + " successfully shut down\n"},
	}, send)
}

// end ends the node. The first piece of the answer is sent before, though it may be empty: the process may end before the
// caller hears more.
func (c *call) end(first Response, send func(Response) error) error {
	if c.node.Stop == nil {
		return failed(exitUnavailable, notStoppable)
	}
	first.More = true
	if err := send(first); err != nil {
		return err
	}
	c.node.stopping.Do(c.node.Stop)
	return nil
}

// An ending is a command that ends a node, at its caller's.
type ending struct {
	*call
	socket string
	await  *Await // nil: nothing
	std    Streams
}

// endNode has the server at a socket end its node.
func (c *call) endNode(socket string, req Request, std Streams) int {
	e := ending{call: c, socket: socket, std: std}
	unread := e.readPid()
	status, err := e.ask(req)
	pardoned := c.is("idempotent", false) && len(c.args) == 0
	switch {
	case err != nil && pardoned && isAbsent(err):
		io.WriteString(std.Out, "Node "+shownNode+" is no longer running\n")
		return 0
	case err != nil:
		return print(std, unreachable(socket, err))
	case status != 0:
		return status
	case unread != nil:
		return print(std, c.failed("", unread))
	}
	e.awaitEnd()
	return 0
}

// readPid reads the process's number from the file that stop is given. It is read before the node ends, which removes the
// file.
func (e *ending) readPid() error {
	if e.command.name != "stop" || len(e.args) == 0 {
		return nil
	}
	w := waiter{call: e.call, deadline: time.Now().Add(e.patience())}
	var pid int64
	if err := w.until(func() (bool, error) { return w.readPid(&pid) }); err != nil {
		return failed(exitUnavailable, "could not read pid from file "+e.args[0]+". "+err.Error())
	}
	e.await = &Await{int(pid), fmt.Sprintf("process %d (take from pid file %s) is no longer running\n", pid, e.args[0])}
	return nil
}

// ask prints what the server answers, until the answer or the connection ends.
func (e *ending) ask(req Request) (status int, err error) {
	heard := false
	err = eachAnswer(e.socket, req, func(resp Response) {
		heard, status = true, print(e.std, resp)
		if resp.Await != nil {
			e.await = resp.Await
		}
	})
	if heard {
		err = nil // the process has ended before it could say so
	}
	return status, err
}

// awaitEnd returns when the process is gone, as long as that takes.
func (e *ending) awaitEnd() {
	if e.await == nil {
		return
	}
	for isAlive(e.await.PID) {
		time.Sleep(pause)
	}
	io.WriteString(e.std.Out, e.await.Text)
}
