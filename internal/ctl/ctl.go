// Package ctl carries out operator commands on a broker. Commands, options, output and exit
// codes are rabbitmqctl's, so that a script written for it runs with leveret ctl in its place.
//
// A [Node] is a running broker; its Run executes one command line and returns what the
// command's process is to print. [Listen] and [Call] carry that over a local socket. Nothing
// here reads the caller's files or standard input: a command that needs some says so in
// Response.Need, and the caller runs it again with a Request that has it. Which file that may be the
// caller knows by itself, from its own reading of the command line.
package ctl

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leveretmq/leveret"
)

// A Node is a broker that commands act on.
type Node struct {
	Broker    *leveret.Broker
	Name      string // as commands show it, such as leveret@localhost
	Started   time.Time
	Listeners []Listener
	Memory    MemoryLimit

	Certificates []*x509.Certificate // of the listeners with TLS
	Time         *VirtualTime        // nil: the time is the system's
	Faults       *Faults             // nil: the node takes none
	SetLogLevel  func(slog.Level)    // nil: the node has no log
	SetUp        func() error        // gives a new broker what it has from the beginning; nil: nothing
	Stop         func()              // ends the node, and returns when it has ended; nil: the node cannot be stopped

	alarms   alarms // that eval has set
	stopping sync.Once
	isNew    atomic.Bool // since a reset: start_app has the broker set up
}

// Close ends what commands have put in force for as long as there is somebody to end it: faults and the alarms
// of eval.
func (n *Node) Close() {
	if n.Faults != nil {
		n.Faults.Close()
	}
	n.alarms.clearAll(n.Broker)
}

// A Listener is an address that the node accepts connections on.
type Listener struct {
	Interface string
	Port      int
	Protocol  string // "amqp", "amqp/ssl" or "http"
}

// A Request is one command line.
type Request struct {
	Args  []string `json:"args"` // the command with its options, in any order
	Input *Input   `json:"input,omitempty"`
}

// Input is the answer to a Need.
type Input struct {
	Kind  NeedKind  `json:"kind"`
	Data  []byte    `json:"data,omitempty"`
	Fault FileFault `json:"fault,omitempty"`
}

// A Response is what the process that asked is to print and return.
type Response struct {
	Stdout string `json:"stdout,omitempty"`
	Stderr string `json:"stderr,omitempty"`
	Status int    `json:"status,omitempty"`
	More   bool   `json:"more,omitempty"` // another response follows
	Await  *Await `json:"await,omitempty"`

	Need *Need `json:"need,omitempty"` // the command has not run: it needs this first
	Save *Save `json:"save,omitempty"` // a file to write
}

// A Need is something only the caller has.
type Need struct {
	Kind NeedKind `json:"kind"`
	Path string   `json:"path,omitempty"`
}

// A NeedKind says what is needed.
type NeedKind string

// What a command can need.
const (
	NeedLine  NeedKind = "line"  // a line of standard input
	NeedStdin NeedKind = "stdin" // all of standard input
	NeedFile  NeedKind = "file"  // the contents of the file Path
	NeedStat  NeedKind = "stat"  // only whether Path exists
)

// Await is a process whose end the caller is to wait for, and what is printed then.
type Await struct {
	PID  int    `json:"pid"`
	Text string `json:"text"`
}

// Save is a file that the caller is to write.
type Save struct {
	Path string `json:"path"`
	Data []byte `json:"data"`
}

// Exit codes, as rabbitmqctl has them from sysexits.
const (
	exitUsage       = 64
	exitData        = 65
	exitNoUser      = 67
	exitUnavailable = 69
	exitSoftware    = 70
)

// A command is one of rabbitmqctl's.
type command struct {
	name, usage, about string
	switches           map[string]kind
	aliases            map[byte]string
	min, max           int  // number of arguments; max -1: any
	local              bool // needs no server
	offline            bool // can be carried out while the broker is stopped
	table              bool // a listing, shown as a table unless another format is asked for
	timeout            bool // the usage line mentions --timeout
	columns            []string
	note               string             // what differs from RabbitMQ in some columns
	input              func(*call) *Need  // what the command needs of its caller, nil if nothing; a nil func: nothing
	output             func(*call) string // the file that the caller writes, empty for none; a nil func: none
	validate           func(*call) error
	banner             func(*call) string
	run                func(*call) (result, error)
	follow             func(ctx context.Context, c *call, send func(Response) error) error // in place of run; nil: none
}

// A call is a command being carried out.
type call struct {
	*line
	node    *Node
	command *command
	columns []string // of a listing: those asked for
	input   *Input
}

func (c *call) vhostName() string { return c.text("vhost", "/") }

func (c *call) text(option, otherwise string) string {
	if s, ok := c.options[option]; ok {
		return s
	}
	return otherwise
}

func (c *call) number(option string) int64 {
	n, _ := strconv.ParseInt(c.options[option], 10, 64) // the parser has checked it
	return n
}

// is returns a boolean option.
func (c *call) is(option string, otherwise bool) bool {
	return c.text(option, strconv.FormatBool(otherwise)) == "true"
}

func (c *call) quiet() bool { return c.is("quiet", false) || c.is("silent", false) }

// vhost looks the named virtual host up.
func (c *call) vhost() (*leveret.VHost, error) {
	v, err := c.node.Broker.VHost(c.vhostName())
	if errors.Is(err, leveret.ErrNotFound) {
		return nil, noSuchVHost(c.vhostName())
	}
	return v, err
}

// change changes a virtual host. RabbitMQ tells of every other mistake before it tells that the virtual host is missing. So a change of a
// missing virtual host is tried on an empty broker, which finds the other mistakes.
func (c *call) change(how func(*leveret.VHost) error) error {
	v, missing := c.vhost()
	if missing == nil {
		return how(v)
	}
	b := leveret.New(leveret.WithProfile(c.node.Broker.Profile()))
	defer b.Close()
	v, err := b.VHost("/")
	if err == nil {
		err = how(v)
	}
	return cmp.Or(err, missing)
}

// Run executes one command line.
func (n *Node) Run(req Request) Response {
	name, cmd := find(req.Args)
	if cmd == nil {
		return notFound(name, req.Args)
	}
	c := newCall(cmd, req.Args)
	c.node, c.input = n, req.Input
	if err := c.check(); err != nil {
		return c.refusal(err, req.Args)
	}
	if c.is("help", false) {
		return Response{Stdout: cmd.help()}
	}
	if len(cmd.columns) > 0 {
		c.columns = requested(c.args)
	}
	if cmd.validate != nil {
		if err := cmd.validate(c); err != nil {
			return c.refusal(err, req.Args)
		}
	}
	if err := c.whileRunning(); err != nil {
		return c.refusal(err, req.Args)
	}
	return c.execute()
}

// newCall reads a command line.
func newCall(cmd *command, argv []string) *call {
	c := &call{command: cmd}
	c.line = cmd.syntax(argv).parse(argv)
	c.line.args = without(c.line.args, cmd.name)
	return c
}

// find returns the command that a line names: its first argument.
func find(argv []string) (string, *command) {
	args := globalSyntax.parse(argv).args
	if len(args) == 0 {
		return "", nil
	}
	return args[0], commands[args[0]]
}

func without(args []string, name string) []string {
	for i, a := range args {
		if a == name {
			return append(append([]string{}, args[:i]...), args[i+1:]...)
		}
	}
	return args
}

// options are the command's, as they are written.
func (cmd *command) options() (all []string) {
	for name := range cmd.syntax(nil).switches {
		all = append(all, "--"+name)
	}
	slices.Sort(all)
	return all
}

// syntax returns the command's options. Only tables have headers to leave out.
func (cmd *command) syntax(argv []string) syntax {
	s := globalSyntax.with(cmd.switches, cmd.aliases)
	format := s.parse(argv).options["formatter"]
	if format == "table" || format == "" && cmd.table {
		return s.with(map[string]kind{"table-headers": boolean, "pad-to-header": boolean}, nil)
	}
	return s
}

func (c *call) check() error {
	switch {
	case len(c.invalid) > 0:
		return badOptions(c.invalid, c.command.options())
	case formatters[c.text("formatter", "")] == nil:
		return &misuse{exitUsage, "the requested formatter is not supported by this command"}
	case c.is("help", false):
		return nil
	case len(c.command.columns) > 0:
		return unknownColumns(c.args, c.command.columns)
	case len(c.args) < c.command.min:
		return &misuse{exitUsage, "not enough arguments."}
	case c.command.max >= 0 && len(c.args) > c.command.max:
		return &misuse{exitUsage, "too many arguments."}
	}
	return nil
}

// execute runs a command that has been found to be in order. What it needs of the caller comes
// after the banner, which is not repeated when the caller has provided it.
func (c *call) execute() Response {
	out := ""
	if c.command.banner != nil && !c.quiet() && !machineReadable(c.text("formatter", "")) {
		out = lines(c.command.banner(c))
	}
	if c.is("dry-run", false) {
		return Response{Stdout: out}
	}
	r, err := c.command.run(c)
	var need *Need
	if errors.As(err, &need) {
		return Response{Stdout: out + need.prompt(c), Need: need}
	}
	if c.input.afterBanner() {
		out = ""
	}
	if err != nil {
		return c.failed(out, err)
	}
	return Response{Stdout: out + formatters[c.text("formatter", "")](c, r), Save: r.save}
}

// requested returns the columns asked for, each once. A comma separates them too.
func requested(args []string) []string {
	var columns []string
	seen := map[string]bool{}
	for _, arg := range args {
		for column := range strings.SplitSeq(arg, ",") {
			column = strings.TrimSpace(column)
			if column != "" && !seen[column] {
				seen[column] = true
				columns = append(columns, column)
			}
		}
	}
	return columns
}
