package ctl

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"time"
)

// Commands that show what happens as long as their caller listens. They answer with several responses.

// Follow executes one command line that is answered piece by piece. It returns when the command or ctx has ended, or send
// has failed.
func (n *Node) Follow(ctx context.Context, req Request, send func(Response) error) error {
	_, cmd := find(req.Args)
	c := newCall(cmd, req.Args)
	c.node = n
	refused := c.check() != nil || cmd.validate != nil && cmd.validate(c) != nil || c.whileRunning() != nil
	if refused || c.is("help", false) || c.is("dry-run", false) {
		return send(n.Run(req))
	}
	err := cmd.follow(ctx, c, send)
	var f *failure
	if errors.As(err, &f) {
		return send(c.failed("", err))
	}
	if err != nil {
		return err // nobody listens any more
	}
	return send(Response{})
}

// needsSocket is what such a command answers if it is run otherwise.
func needsSocket(c *call) (result, error) {
	return result{}, errors.New(c.command.name + " needs a socket")
}

// follows reports whether a request is answered piece by piece.
func follows(req Request) bool {
	_, cmd := find(req.Args)
	return cmd != nil && cmd.follow != nil
}

// follow answers a request piece by piece until the caller goes away.
func (s *Server) follow(c net.Conn, req Request) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c.SetReadDeadline(time.Time{})
	go func() {
		io.Copy(io.Discard, c) // the caller sends nothing more: this ends with the connection
		cancel()
	}()
	to := json.NewEncoder(c)
	// An error says that nobody listens any more.
	_ = s.node.Follow(ctx, req, func(r Response) error {
		c.SetWriteDeadline(time.Now().Add(requestTimeout))
		return to.Encode(r)
	})
}

// listenTo prints what a server answers piece by piece.
func listenTo(socket string, req Request, std Streams) int {
	status := 0
	if err := eachAnswer(socket, req, func(resp Response) { status = print(std, resp) }); err != nil {
		return print(std, unreachable(socket, err))
	}
	return status
}

// eachAnswer calls answered with each piece of a server's answer. The error is of a connection that ended before the answer.
func eachAnswer(socket string, req Request, answered func(Response)) error {
	c, err := dial(socket, req)
	if err != nil {
		return err
	}
	defer c.Close()
	for from := json.NewDecoder(c); ; {
		var resp Response
		if err := from.Decode(&resp); err != nil {
			return err
		}
		answered(resp)
		if !resp.More {
			return nil
		}
	}
}
