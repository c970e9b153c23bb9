package ctl

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Commands that wait for a node: await_startup until it answers, wait until its process has come so far. The caller
// does the waiting, because there may be nobody yet to ask.

// defaultWait is how long these commands wait without --timeout, as RabbitMQ's do; pause is between two attempts.
const (
	defaultWait = 5 * time.Minute
	pause       = 100 * time.Millisecond
	exitTimeout = 75
)

// shownNode is what the node is called before it has said its name.
const shownNode = "leveret@localhost"

func waitCommands() []*command {
	return []*command{
		{name: "await_startup", offline: true, usage: "await_startup", about: "Returns when the node is up, after 5 minutes at most, or --timeout seconds.",
			run: func(*call) (result, error) { return result{}, nil }},
		{name: "wait", offline: true, usage: "wait [<pidfile>] [--pid|-P <pid>]", timeout: true, max: 1,
			switches: map[string]kind{"pid": integer}, aliases: map[byte]string{'P': "pid"}, validate: validateWait,
			about: "Returns when the process that a file of leveret serve --pid-file names has started.",
			run:   func(*call) (result, error) { return result{}, nil }},
	}
}

func validateWait(c *call) error {
	_, pid := c.options["pid"]
	switch {
	case pid && len(c.args) > 0:
		return &misuse{exitUsage, `"Cannot specify both pid and pidfile"`}
	case !pid && len(c.args) == 0:
		return &misuse{exitUsage, `"No pid or pidfile specified"`}
	}
	return nil
}

// A waiter carries one of these commands out.
type waiter struct {
	*call
	socket   string
	deadline time.Time
	out      io.Writer
}

// waits reports whether the caller has to wait for what a line commands, which is in order.
func waits(c *call) bool {
	waiting := c.command.name == "await_startup" || c.command.name == "wait"
	if !waiting || c.check() != nil || c.is("help", false) {
		return false
	}
	return c.command.validate == nil || c.command.validate(c) == nil
}

func (c *call) patience() time.Duration {
	if d, given := c.timeout(); given {
		return d
	}
	return defaultWait
}

// timeout is what --timeout says, in seconds, and whether it is there. What is too long for a duration is the longest one.
func (c *call) timeout() (d time.Duration, given bool) {
	_, given = c.options["timeout"]
	return min(time.Duration(c.number("timeout")), math.MaxInt64/time.Second) * time.Second, given
}

// wait returns when the node answers.
func (c *call) wait(socket string, out io.Writer) error {
	w := waiter{c, socket, time.Now().Add(c.patience()), out}
	if c.command.name == "await_startup" {
		return w.untilRunning()
	}
	pid := c.number("pid")
	if len(c.args) > 0 {
		w.say("Waiting for pid file '" + c.args[0] + "' to appear")
		if err := w.until(func() (bool, error) { return w.readPid(&pid) }); err != nil {
			return err
		}
		w.say(fmt.Sprintf("pid is %d", pid))
	}
	w.say(fmt.Sprintf("Waiting for erlang distribution on node '%s' while OS process '%d' is running", shownNode, pid))
	return w.untilRunning(func() error {
		if !isAlive(int(pid)) {
			return failed(exitUnavailable, "process_not_running")
		}
		return nil
	})
}

// untilRunning returns when a server answers whose broker runs. A broker that is stopped is an error, as is what check finds
// meanwhile.
func (w waiter) untilRunning(check ...func() error) error {
	err := w.until(func() (bool, error) {
		for _, f := range check {
			if err := f(); err != nil {
				return false, err
			}
		}
		return w.answers()
	})
	if err != nil {
		return err
	}
	if r, err := exchange(w.socket, Request{Args: []string{"check_running"}}); err == nil && r.Status != 0 {
		return failed(exitUnavailable, "rabbit_is_not_running")
	}
	return nil
}

func (w waiter) say(text string) {
	if !w.quiet() {
		io.WriteString(w.out, text+"\n")
	}
}

// until asks again and again until there is a yes or an error, or the time is over.
func (w waiter) until(done func() (bool, error)) error {
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		if time.Now().Add(pause).After(w.deadline) {
			text := fmt.Sprintf("Error: operation %s on node %s timed out. Timeout value used: %d", w.command.name, shownNode, w.patience().Milliseconds())
			return &failure{exitTimeout, text, nil}
		}
		time.Sleep(pause)
	}
}

// answers reports whether a server is at the socket. A socket that belongs to somebody else is an error at once.
func (w waiter) answers() (bool, error) {
	_, err := exchange(w.socket, Request{Args: []string{"ping"}})
	if err == nil || isAbsent(err) {
		return err == nil, nil
	}
	return false, err
}

// isAbsent reports whether an error says that nobody serves at a socket, or no longer.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, io.EOF)
}

// readPid reads the file of a process id. One that is empty or not there may be written soon.
func (w waiter) readPid(pid *int64) (bool, error) {
	data, err := os.ReadFile(w.args[0])
	text := strings.TrimSpace(string(data))
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && text == "":
		return false, nil
	case err != nil:
		return false, failed(exitUnavailable, fmt.Sprintf("Error: could not read pid. Detail: %v", err))
	}
	if *pid, err = strconv.ParseInt(text, 10, 64); err != nil {
		return false, failed(exitUnavailable, "Error: garbage in pid file.")
	}
	return true, nil
}
