package control

import (
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/ctl"
)

// Config says where the socket is, and what commands may know and do besides. The zero value will do.
type Config struct {
	// Path is that of the socket. Its directory must exist. Empty: DefaultPath, whose directory is made.
	Path string

	NodeName     string              // empty: leveret@localhost
	Listeners    []Listener          // where clients connect, for listeners, status and the health checks
	Certificates []*x509.Certificate // of listeners with TLS, for check_certificate_expiration

	// Clock is the broker's clock if it is a manual one, for advance. Nil: the time cannot be moved.
	Clock *leveret.ManualClock
	// Settle returns when what the broker has for its clients has been written to them; advance calls it with 10 seconds to go.
	// amqpd.Server.Settle does so. Nil: clients are not waited for.
	Settle func(context.Context) error

	// Faults has fault, lift_fault and list_faults put faults between the broker and clients that connect by package
	// leverettest, or to leveret serve. Other clients do not meet them.
	Faults bool

	// MemoryLimit is the setting behind the limit that the broker has, as status shows it: a fraction such as 0.6 of the
	// computer's memory, or a size such as 2GB. Empty: the limit is shown in bytes.
	MemoryLimit string
	// BeforeMemoryLimit is told of the limit in bytes that set_vm_memory_high_watermark is about to give the broker, as
	// Broker.SetMemoryLimit gets it: a program that reports the memory it uses may collect garbage first. Nil: nobody is told.
	BeforeMemoryLimit func(bytes int64)

	// SetLogLevel changes how much the program's log tells, for set_log_level. RabbitMQ's level notice is 2, between slog.LevelInfo and
	// slog.LevelWarn; critical, alert and emergency are 10, 11 and 12, above slog.LevelError, and none is above them all. Nil: the
	// command is refused.
	SetLogLevel func(level slog.Level)

	// SetUp gives a new broker what the program's brokers have from the beginning. start_app calls it behind a reset, which has
	// made the broker a new one. Nil: the broker is as New makes one.
	SetUp func() error

	// Stop ends the program, or as much of it as the broker is, for stop and shutdown. It is called once, in a goroutine of
	// its own, and may close the Socket. stop answers when it has returned or the process has ended; shutdown
	// waits for the end of the process. Nil: the commands are refused.
	Stop func()
}

// A Listener is an address at which the broker accepts connections.
type Listener struct {
	Protocol string // in RabbitMQ's words: "amqp", "amqp/ssl", "http"
	Address  string // an IP address
	Port     int
}

// ErrInUse says that another program serves the socket. Open returns it.
var ErrInUse = ctl.ErrInUse

// DefaultPath returns the path that leveret ctl looks at by itself: control in a directory that only this user may enter,
// which is leveret in the user's runtime directory (XDG_RUNTIME_DIR), or else leveret-UID in the directory for
// temporary files. leveret serve listens there, too.
func DefaultPath() string { return ctl.DefaultSocket() }

// A Socket is a control socket that is open.
type Socket struct {
	server *ctl.Server
	path   string
}

// Open opens a control socket for a broker, and serves it until Close. Several brokers in a program have a socket each, and a
// broker may have several.
//
// Errors are those of the system, ErrInUse, and of a Config that has a MemoryLimit which is none.
func Open(b *leveret.Broker, c Config) (*Socket, error) {
	node, err := c.node(b)
	if err != nil {
		return nil, err
	}
	path := cmp.Or(c.Path, DefaultPath())
	server, err := ctl.Listen(path, node)
	if err != nil {
		return nil, err
	}
	return &Socket{server, path}, nil
}

// defaultNodeName is the name of a node that nobody gave one.
const defaultNodeName = "leveret@localhost"

// node describes the broker to the commands.
func (c Config) node(b *leveret.Broker) (*ctl.Node, error) {
	setting, err := ctl.ParseLimit(c.MemoryLimit)
	if err != nil {
		return nil, fmt.Errorf("control: MemoryLimit is %q, not a fraction from 0 to 1 or a size such as 2GB", c.MemoryLimit)
	}
	n := &ctl.Node{
		Broker: b, Name: cmp.Or(c.NodeName, defaultNodeName), Started: time.Now(), Certificates: c.Certificates, Stop: c.Stop,
		SetLogLevel: c.SetLogLevel, SetUp: c.SetUp,
		Memory: ctl.MemoryLimit{Before: c.BeforeMemoryLimit},
	}
	if c.MemoryLimit != "" {
		n.Memory.Keep(setting, b.Memory().Limit)
	}
	for _, l := range c.Listeners {
		n.Listeners = append(n.Listeners, ctl.Listener{Interface: l.Address, Port: l.Port, Protocol: l.Protocol})
	}
	if c.Clock != nil {
		n.Time = &ctl.VirtualTime{Clock: c.Clock, Written: c.Settle}
	}
	if c.Faults {
		n.Faults = &ctl.Faults{}
	}
	return n, nil
}

// Path returns the path of the socket, for --control.
func (s *Socket) Path() string { return s.path }

// Close ends the commands that are being carried out, removes the socket, and ends what commands have put in force for
// as long as it was there: faults, and alarms that eval has set. What is traced stays so, as do other settings, and the
// broker goes on. Close may be called twice.
func (s *Socket) Close() error { return s.server.Close() }

// Streams are the standard streams of the process that runs a command.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Call is leveret ctl: it runs a command line, such as "--control", path, "list_queues", on the broker that has the control
// socket, prints what the command prints, and returns its exit code, which is rabbitmqctl's. Files that the line
// names are read and written by Call. A command that waits for something, such as tail, returns when that is over.
func Call(args []string, std Streams) int { return ctl.Call(args, ctl.Streams(std)) }
