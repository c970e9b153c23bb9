package ctl

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Streams are the standard streams of the process that runs a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Call runs a command line on the server whose control socket it names, by --control, or else
// on the one that the environment variable LEVERET_CONTROL names or that is at the default path, and returns the exit code.
func Call(argv []string, std Streams) int {
	_, cmd := find(argv)
	if cmd == nil {
		return print(std, (&Node{}).Run(Request{Args: argv}))
	}
	req := Request{Args: withoutControl(argv)}
	c := newCall(cmd, req.Args)
	socket := cmp.Or(os.Getenv("LEVERET_CONTROL"), DefaultSocket())
	if s, ok := globalSyntax.parse(argv).options["control"]; ok {
		socket = s
	}
	if waits(c) {
		if err := c.wait(socket, std.Out); err != nil {
			return print(std, c.failed("", err))
		}
	}
	switch help := c.is("help", false); {
	case help:
	case endsNode(req) && c.check() == nil && !c.is("dry-run", false):
		return c.endNode(socket, req, std)
	case cmd.follow != nil:
		return listenTo(socket, req, std)
	}
	ask := func(req Request) (Response, error) { return exchange(socket, req) }
	if cmd.local || c.is("help", false) {
		ask = func(req Request) (Response, error) { return (&Node{}).Run(req), nil }
	}
	return converse(ask, socket, req, std)
}

// converse asks, provides what is needed, and prints the answer.
func converse(ask func(Request) (Response, error), socket string, req Request, std Streams) int {
	_, cmd := find(req.Args)
	allowed := newAllowance(cmd, req.Args)
	for {
		resp, err := ask(req)
		if err != nil {
			return print(std, unreachable(socket, err))
		}
		if err := allowed.covers(resp); err != nil {
			text := fmt.Sprintf("Error: the server at %s %v\n", socket, err)
			return print(std, Response{Stderr: text, Status: exitSoftware})
		}
		if resp.Need == nil {
			return finish(std, resp)
		}
		io.WriteString(std.Out, resp.Stdout)
		req.Input = provide(std.In, *resp.Need)
	}
}

// An allowance is what a server may ask for, and have written, by the client's own reading of the command line. Whoever
// answers at the socket, no other file is read or written.
type allowance struct {
	need *Need // nil: nothing, or it has been asked for
	save string
}

func newAllowance(cmd *command, argv []string) *allowance {
	c := newCall(cmd, argv)
	if c.check() != nil {
		return &allowance{} // the server refuses the line
	}
	return &allowance{c.need(), c.target()}
}

// covers returns what is wrong with what a response wants.
func (a *allowance) covers(resp Response) error {
	if resp.Save != nil && (resp.Save.Path != a.save || a.save == "") {
		return fmt.Errorf("would have the file %q written, which the command does not name", resp.Save.Path)
	}
	if resp.Need == nil {
		return nil
	}
	if a.need == nil || *resp.Need != *a.need {
		return fmt.Errorf("asks for something that the command does not need: %s %q", resp.Need.Kind, resp.Need.Path)
	}
	a.need = nil
	return nil
}

// withoutControl drops the one option that rabbitmqctl does not know, so that a command line
// quoted in an error is the user's as rabbitmqctl would have it.
func withoutControl(argv []string) []string {
	var kept []string
	for i := 0; i < len(argv); i++ {
		switch {
		case argv[i] == "--":
			return append(kept, argv[i:]...)
		case argv[i] == "--control":
			i++
		case !strings.HasPrefix(argv[i], "--control="):
			kept = append(kept, argv[i])
		}
	}
	return kept
}

func exchange(socket string, req Request) (Response, error) {
	var resp Response
	c, err := dial(socket, req)
	if err != nil {
		return resp, err
	}
	defer c.Close()
	err = json.NewDecoder(c).Decode(&resp)
	return resp, err
}

// dial sends a request to the server at a socket.
func dial(socket string, req Request) (net.Conn, error) {
	if socket == DefaultSocket() {
		if err := checkPrivate(filepath.Dir(socket)); err != nil {
			return nil, err
		}
	}
	c, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return nil, err
	}
	err = checkServer(c, socket) // before a password is sent
	if err == nil {
		err = json.NewEncoder(c).Encode(req)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func unreachable(socket string, err error) Response {
	text := fmt.Sprintf("Error: no leveret answers at %s: %v\nStart one with leveret serve, or name its socket with --control.\n", socket, err)
	return Response{Stderr: text, Status: exitUnavailable}
}

// finish writes the file that a command made, if any, and prints its output.
func finish(std Streams, resp Response) int {
	if resp.Save == nil {
		return print(std, resp)
	}
	if err := os.WriteFile(resp.Save.Path, resp.Save.Data, 0o666); err != nil {
		resp.Stderr = faultOf(err).explain(resp.Save.Path, "write to").Error() + "\n"
		resp.Status = exitData
	}
	return print(std, resp)
}

func print(std Streams, resp Response) int {
	io.WriteString(std.Out, resp.Stdout)
	io.WriteString(std.Err, resp.Stderr)
	return resp.Status
}

// provide gets what a command needs.
func provide(stdin io.Reader, need Need) *Input {
	in := &Input{Kind: need.Kind}
	var err error
	switch need.Kind {
	case NeedLine:
		var s string
		s, err = bufio.NewReader(stdin).ReadString('\n')
		in.Data = []byte(s)
		if errors.Is(err, io.EOF) {
			err = nil
		}
	case NeedStdin:
		in.Data, err = io.ReadAll(stdin)
	case NeedFile:
		in.Data, err = os.ReadFile(need.Path)
	case NeedStat:
		_, err = os.Stat(need.Path)
	}
	if err != nil {
		in.Fault = faultOf(err)
	}
	return in
}

func faultOf(err error) FileFault {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return FileMissing
	case errors.Is(err, fs.ErrPermission):
		return FileDenied
	case errors.Is(err, syscall.EISDIR):
		return FileDirectory
	case errors.Is(err, syscall.ENOTDIR):
		return FileNotInDir
	case errors.Is(err, syscall.ENOSPC):
		return FileNoSpace
	}
	return FileFault(err.Error())
}
