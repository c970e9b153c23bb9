package main

import (
	"cmp"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/control"
	"github.com/leveretmq/leveret/definitions"
	"github.com/leveretmq/leveret/internal/ctl"
	"github.com/leveretmq/leveret/internal/memory"
	"github.com/leveretmq/leveret/mgmt"
)

// nodeName is the broker's name in operators' commands. There is one node and no cluster, so it
// tells nothing more.
const nodeName = "leveret@localhost"

// A server is a broker with its doors.
type server struct {
	broker  *leveret.Broker
	doors   []door
	control *control.Socket
	memory  *memory.Guard
	limit   string           // the setting behind the memory limit; empty: there is none
	time    *ctl.VirtualTime // nil: the time is the system's

	certificates []*x509.Certificate // that are shown to clients

	asked   chan struct{} // closed when an operator wants the server to end
	stopped chan struct{} // closed to stop the guard
	ended   chan struct{} // closed by close
	failed  chan error    // a door that was closed otherwise than by close
}

// A door is a listener and what serves it.
type door struct {
	name     string // as the greeting says it
	listener net.Listener
	server   clientServer
}

// start opens everything. The broker has its definitions before the first client can connect.
func start(s settings, log *slog.Logger) (_ *server, err error) {
	b, first, err := openBroker(s, log)
	if err != nil {
		return nil, err
	}
	srv := &server{broker: b, asked: make(chan struct{}), stopped: make(chan struct{}), ended: make(chan struct{})}
	defer func() {
		if err != nil {
			srv.close()
		}
	}()
	if s.clock != nil {
		srv.time = &ctl.VirtualTime{Clock: s.clock, Written: srv.written}
	}
	srv.guardMemory(s.watermark, log)
	if first {
		if err := s.setUp(srv.broker); err != nil {
			return nil, err
		}
	}
	if err := importDefinitions(srv.broker, s.definitions); err != nil {
		return nil, fmt.Errorf("%s: %w", s.from.of("definitions"), err)
	}
	if err := srv.openDoors(s, log); err != nil {
		return nil, err
	}
	if err := srv.openControl(s); err != nil {
		return nil, err
	}
	srv.serve()
	return srv, nil
}

// openBroker returns a broker that tells the log what has no effect, its alarms, and that its directory takes nothing more. first
// says that the broker starts for the first time: as with RabbitMQ, the default user and the cluster's name are for that start.
func openBroker(s settings, log *slog.Logger) (b *leveret.Broker, first bool, err error) {
	all := leveret.LogEvents(log)
	warnings := leveret.Events{
		Ignored: all.Ignored, MemoryAlarmRaised: all.MemoryAlarmRaised, MemoryAlarmCleared: all.MemoryAlarmCleared,
		DiskAlarmRaised: all.DiskAlarmRaised, DiskAlarmCleared: all.DiskAlarmCleared,
		StoreFailed: all.StoreFailed,
	}
	opts := []leveret.Option{
		leveret.WithProfile(s.profile), leveret.WithMaxMessageSize(s.clients.maxMessageSize), leveret.WithGlobalQos(s.clients.globalQos),
		leveret.WithDefaultQueueType(leveret.QueueType(s.clients.queueType)),
		leveret.WithConsumerTimeout(s.clients.consumerTimeout), leveret.WithEvents(warnings), leveret.WithDiskFreeLimit(s.diskFree),
		leveret.WithNodeLimits(s.clients.node), leveret.WithVHostSetup(s.vhosts.set),
		leveret.WithCredentialValidator(s.passwords.validate),
	}
	if s.clock != nil {
		opts = append(opts, leveret.WithClock(s.clock))
	}
	if s.data.dir == "" {
		return leveret.New(opts...), true, nil
	}
	// A start that fails leaves a directory that is not new. So what cannot be set up is refused before the directory is made.
	if s.data.isNew() {
		if err := s.setUp(leveret.New(leveret.WithProfile(s.profile), leveret.WithCredentialValidator(s.passwords.validate),
			leveret.WithDefaultQueueType(leveret.QueueType(s.clients.queueType)))); err != nil {
			return nil, false, err
		}
	}
	if b, first, err = s.data.open(opts); err != nil {
		return nil, false, fmt.Errorf("%s: %w", s.from.of("data"), err)
	}
	s.data.tellRecovery(b.Recovered(), log)
	return b, first, nil
}

// setUp does what is done at the first start, and at the first one after a reset.
func (s *settings) setUp(b *leveret.Broker) error {
	first, err := b.VHost("/")
	if err == nil {
		err = s.vhosts.set(first)
	}
	return cmp.Or(err, s.users.set(b), s.name(b))
}

// set puts the user in the place of guest. Guest's own password has to be one that users may be given, too.
func (u *userSettings) set(b *leveret.Broker) error {
	if u.name == "" {
		return nil
	}
	return cmp.Or(b.DeleteUser("guest"), b.AddUser(u.name, u.password, strings.FieldsFunc(u.tags, isComma)...), b.SetPermissions(u.name, u.permissions))
}

func isComma(r rune) bool { return r == ',' }

// name gives the cluster a name, unless the definitions have.
func (s *settings) name(b *leveret.Broker) error {
	if s.clusterName == "" {
		return nil
	}
	value, err := json.Marshal(s.clusterName)
	if err != nil {
		return err
	}
	return b.SetGlobalParameter(leveret.GlobalParameter{Name: "cluster_name", Value: value})
}

// guardMemory sets the memory limit. Where the system does not tell how much memory there is, a fraction of it is no
// limit.
func (srv *server) guardMemory(w memory.Watermark, log *slog.Logger) {
	srv.memory = memory.NewGuard(srv.broker)
	limit, err := w.Limit()
	srv.limit = w.Given
	if err != nil {
		srv.limit = ""
		log.Warn("there is no memory limit: the computer's memory is not known", "error", err)
	}
	srv.memory.Limit(limit)
	srv.broker.SetMemoryLimit(limit)
	go srv.memory.Run(srv.stopped)
}

func importDefinitions(b *leveret.Broker, file string) error {
	if file == "" {
		return nil
	}
	data, err := os.ReadFile(file)
	if err == nil {
		err = definitions.Import(b, data)
		if err != nil {
			err = fmt.Errorf("%s: %w", file, err)
		}
	}
	return err
}

// openDoors opens a listener for each address that is given. The management API tells of all of them and is the last.
func (srv *server) openDoors(s settings, log *slog.Logger) error {
	if err := srv.openAMQP(s, log); err != nil {
		return err
	}
	return srv.openHTTP(s, log)
}

func (srv *server) openAMQP(s settings, log *slog.Logger) error {
	if err := srv.openAll(s, "amqp", s.amqp, newAMQPServer(srv.broker, s, nil, log)); err != nil || s.amqps == "" {
		return err
	}
	config, err := s.tls.config(s.from)
	if err != nil {
		return err
	}
	srv.certificates = chain(config)
	return srv.openAll(s, "amqps", s.amqps, newAMQPServer(srv.broker, s, config, log))
}

// openAll opens a listener at each address.
func (srv *server) openAll(s settings, name, addrs string, server clientServer) error {
	for addr := range strings.SplitSeq(addrs, ",") {
		if addr == "" {
			continue
		}
		l, err := net.Listen("tcp", addr)
		if err != nil {
			return fmt.Errorf("%s: %w", s.from.of(name), err)
		}
		srv.doors = append(srv.doors, door{name, l, server})
	}
	return nil
}

func (srv *server) openHTTP(s settings, log *slog.Logger) error {
	l, err := s.http.listen(s.from.of("http"), log)
	if err != nil || l == nil {
		return err
	}
	srv.doors = append(srv.doors, door{name: "http", listener: l})
	listeners := make([]mgmt.Listener, len(srv.doors))
	for i, d := range srv.doors {
		listeners[i] = d.describe()
	}
	api := mgmt.Handler(srv.broker, mgmt.Config{NodeName: nodeName, Listeners: listeners, LoopbackUsers: s.users.loopback,
		Mechanisms: s.users.mechanisms, Clock: s.clock, Advance: srv.advance})
	srv.doors[len(srv.doors)-1].server = newHTTPServer(api, log)
	return nil
}

func (srv *server) openControl(s settings) error {
	if s.control == "" {
		return nil
	}
	c := control.Config{
		Path: s.control, NodeName: nodeName, Certificates: srv.certificates, Faults: s.faults, Stop: srv.stop,
		Clock: s.clock, Settle: srv.written, MemoryLimit: srv.limit, BeforeMemoryLimit: srv.memory.Limit,
		SetLogLevel: s.setLogLevel, SetUp: func() error { return s.setUp(srv.broker) },
	}
	for _, d := range srv.doors {
		c.Listeners = append(c.Listeners, control.Listener(d.describe()))
	}
	var err error
	if srv.control, err = control.Open(srv.broker, c); err != nil {
		return fmt.Errorf("%s: %w", s.from.of("control"), err)
	}
	return nil
}

// stop has the server end, and returns when it has.
func (srv *server) stop() {
	close(srv.asked)
	<-srv.ended
}

// advance moves the manual clock.
func (srv *server) advance(d time.Duration) error {
	_, err := srv.time.Advance(srv.broker, d)
	return err
}

// written returns when what the broker has for its AMQP clients has been written to their connections.
func (srv *server) written(ctx context.Context) error {
	for _, d := range srv.doors {
		if s, ok := d.server.(interface{ Settle(context.Context) error }); ok {
			if err := s.Settle(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d door) describe() mgmt.Listener {
	l := mgmt.Listener{Protocol: d.name}
	if d.name == "amqps" {
		l.Protocol = "amqp/ssl"
	}
	if a, ok := d.listener.Addr().(*net.TCPAddr); ok {
		l.Address, l.Port = a.IP.String(), a.Port
	}
	return l
}

func (srv *server) serve() {
	srv.failed = make(chan error, len(srv.doors))
	for _, d := range srv.doors {
		go func() {
			if err := d.server.Serve(d.listener); !errors.Is(err, errServerClosed) {
				srv.failed <- fmt.Errorf("--%s: %w", d.name, err)
			}
		}()
	}
}

// greeting is the line that says the broker accepts connections, and where, and behind it one for the management API.
func (srv *server) greeting() string {
	var doors []string
	api := ""
	for _, d := range srv.doors {
		url := d.name + "://" + d.listener.Addr().String()
		if d.name == "http" {
			api = "\nleveret serves the management API on " + url
		} else {
			doors = append(doors, url)
		}
	}
	return "leveret accepts connections on " + strings.Join(doors, " and ") + api
}

// close ends the connections before the broker, so that clients are told why, and the control
// socket first of all, so that no command sees half a broker. With it end faults: a connection that is stalled could not be
// closed.
func (srv *server) close() error {
	if srv.control != nil {
		srv.control.Close()
	}
	for _, d := range slices.Backward(srv.doors) {
		d.server.Close()
		d.listener.Close()
	}
	close(srv.stopped)
	err := srv.broker.Close()
	srv.broker.Settle() // what has happened is in the log
	close(srv.ended)
	return err
}
