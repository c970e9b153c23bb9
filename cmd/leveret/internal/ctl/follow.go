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
	if c.check() != nil || c.is("help", false) || cmd.validate(c) != nil {
		return send(n.Run(req)) // which refuses it
	}
	err := cmd.follow(ctx, c, func(text string) error { return send(Response{Stdout: text, More: true}) })
	var f *failure
	if errors.As(err, &f) {
		return send(c.failed("", err))
	}
	if err != nil {
		return err // nobody listens any more
	}
	return send(Response{})
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
	c, err := dial(socket, req)
	if err != nil {
		return print(std, unreachable(socket, err))
	}
	defer c.Close()
	for from := json.NewDecoder(c); ; {
		var resp Response
		if err := from.Decode(&resp); err != nil {
			return print(std, unreachable(socket, err))
		}
		status := print(std, resp)
		if !resp.More {
			return status
		}
	}
}
