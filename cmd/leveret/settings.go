package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/control"
	"github.com/leveretmq/leveret/internal/ctl"
	"github.com/leveretmq/leveret/internal/memory"
	"github.com/leveretmq/leveret/internal/similar"
)

// settings are what leveret serve is told.
type settings struct {
	amqp, amqps string // addresses with commas between them; empty: none
	http        httpSettings
	tls         tlsSettings
	clients     clientSettings
	users       userSettings
	profile     leveret.Profile
	data        dataSettings
	definitions string // file; empty: none
	control     string // socket; empty: none
	pidFile     string // that gets the process's number; empty: none
	clusterName string // empty: the node's
	log         logSettings
	setLogLevel func(slog.Level) // changes the level of the open log
	watermark   memory.Watermark
	diskFree    int64                // octets; 0: no limit
	clock       *leveret.ManualClock // nil: the system's
	faults      bool                 // they are taken
	from        origins
	vhosts      vhostDefaults
	passwords   passwordRule
	ignored     []string // lines of the configuration file that have no effect
}

// httpSettings are for the management API.
type httpSettings struct {
	addr  string // empty: none
	asked bool   // the address was given, it is not the default
}

// tlsSettings are for amqps: files, all PEM, and what is demanded of clients.
type tlsSettings struct {
	cert, key string
	clientCA  string // empty: clients are not asked for certificates
	demand    bool   // a client without a certificate is turned away
	login     func(*x509.Certificate) string
	versions  []uint16 // that are allowed; nil: those that Go allows
}

// clientSettings are limits that hold for every client.
type clientSettings struct {
	heartbeat        time.Duration // 0: none
	handshakeTimeout time.Duration
	consumerTimeout  time.Duration // that a delivery may stay unacknowledged
	frameMax         int           // octets
	channelMax       int           // 0: no limit
	maxMessageSize   int           // bytes; 0: the release's own
	globalQos        bool          // basic.qos may set a window for the channel
	queueType        string        // of queues in new virtual hosts that are declared without one
	node             leveret.NodeLimits
}

// userSettings say who may log in, and from where.
type userSettings struct {
	name, password string // in place of guest; empty: guest as New makes it
	tags           string // of that user, with commas between them
	permissions    leveret.Permissions
	loopback       []string // who may log in from this machine only
	mechanisms     []string // by which clients may log in; nil: all
	anonymous      login    // of a client that gives none
}

// A login is a user with a password.
type login struct{ user, password string }

// none as the value of a flag means that there is none of it.
const none = "none"

var profiles = map[string]leveret.Profile{"4.3": leveret.RabbitMQ43, "3.10": leveret.RabbitMQ310}

// logins are the names that a certificate gives its client, by the value of --cert-login.
var logins = map[string]func(*x509.Certificate) string{
	"distinguished-name": func(c *x509.Certificate) string { return c.Subject.String() },
	"common-name":        func(c *x509.Certificate) string { return c.Subject.CommonName },
}

var tlsVersions = map[string]uint16{"tlsv1.2": tls.VersionTLS12, "tlsv1.3": tls.VersionTLS13}

// flagWords are the values of flags that are not simply kept.
type flagWords struct {
	config, profile, watermark, diskFree, login, mechanisms, loopback, maxMessageSize, clock, versions, sync string
	faults                                                                                                   bool

	log, logFormat, logFile, logFileLevel, logFileFormat string
}

// parseSettings reads the flags of leveret serve, the environment and the configuration file. Of these the first that has
// a setting decides. flag.ErrHelp says that help was asked for and written to help.
func parseSettings(args []string, help io.Writer) (settings, error) {
	s := settings{from: origins{}}
	var w flagWords
	f := newFlags(&s, &w)
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			writeHelp(f, help)
		}
		return s, meantFlag(f, err)
	}
	if f.NArg() > 0 {
		return s, fmt.Errorf("%q is not expected", f.Arg(0))
	}
	if err := s.layer(f, &w); err != nil {
		return s, err
	}
	_, s.http.asked = s.from["http"]
	for _, step := range []func(flagWords) error{s.setRelease, s.setVHosts, s.setClock, s.setData, s.setFaults, s.setClients, s.setUsers, s.setTLS, s.setWatermark, s.setDiskFree, s.setLog} {
		if err := step(w); err != nil {
			return s, err
		}
	}
	return s, nil
}

// newFlags returns the flags of leveret serve.
func newFlags(s *settings, w *flagWords) *flag.FlagSet {
	f := flag.NewFlagSet("leveret serve", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	s.flags(f)
	s.userFlags(f)
	w.flags(f)
	w.logFlags(f)
	return f
}

// meantFlag says which flag was probably meant by one that there is not.
func meantFlag(f *flag.FlagSet, err error) error {
	name, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	if !unknown {
		return err
	}
	var known []string
	f.VisitAll(func(g *flag.Flag) { known = append(known, g.Name) })
	if meant := similar.Name(name, known); meant != "" {
		return fmt.Errorf("%w; probably --%s is meant", err, meant)
	}
	return err
}

func writeHelp(f *flag.FlagSet, to io.Writer) {
	fmt.Fprintln(to, "usage: leveret serve [flags]\n\nEach flag is an environment variable, too: LEVERET_HEARTBEAT for --heartbeat. "+
		"A flag comes before the variable, and both before the configuration file.")
	f.SetOutput(to)
	f.PrintDefaults()
}

// flags are those whose values are kept as they are.
func (s *settings) flags(f *flag.FlagSet) {
	f.StringVar(&s.amqp, "amqp", "127.0.0.1:5672", "`address` for AMQP, or several with commas between them; port 0 takes a free one; empty: none")
	f.StringVar(&s.amqps, "amqps", "", "`address` for AMQP over TLS, or several; it needs --cert and --key")
	f.StringVar(&s.http.addr, "http", defaultHTTP, "`address` for RabbitMQ's management API; none: no API")
	f.StringVar(&s.tls.cert, "cert", "", "PEM `file` with the server's certificate")
	f.StringVar(&s.tls.key, "key", "", "PEM `file` with the certificate's key")
	f.StringVar(&s.tls.clientCA, "client-ca", "",
		"PEM `file` with the authorities of clients' certificates, with which clients may log in by EXTERNAL")
	f.BoolVar(&s.tls.demand, "client-cert-required", false, "turn away clients without a certificate of --client-ca")
	f.StringVar(&s.data.dir, "data", "", "`directory` in which the broker keeps what RabbitMQ keeps on its disk; it is made if it is not there; empty: memory only")
	f.StringVar(&s.definitions, "definitions", "", "JSON `file` with definitions to import before clients are accepted")
	f.StringVar(&s.control, "control", control.DefaultPath(), "control `socket` for leveret ctl; none: no socket")
	f.StringVar(&s.pidFile, "pid-file", "", "`file` that has the process's number while clients are accepted, for leveret ctl wait")
	f.StringVar(&s.clusterName, "cluster-name", "", "`name` of the cluster that the broker is; its node's name if not given")
	f.DurationVar(&s.clients.heartbeat, "heartbeat", time.Minute,
		"`interval` of heartbeats that is proposed to clients, in whole seconds; 0: none")
	f.DurationVar(&s.clients.handshakeTimeout, "handshake-timeout", 10*time.Second, "`time` that a client has to log in")
	f.DurationVar(&s.clients.consumerTimeout, "consumer-timeout", 30*time.Minute,
		"`time` that a delivery may stay unacknowledged, where neither queue nor consumer says it")
	f.IntVar(&s.clients.frameMax, "frame-max", 131072, "largest `size` of a frame in octets, at least 8192")
	f.IntVar(&s.clients.channelMax, "channel-max", 2047, "`number` of channels that a connection may have, up to 65535; 0: no limit")
	f.IntVar(&s.clients.node.MaxConnections, "max-connections", 0, "`number` of connections that the node may have; 0: no limit")
	f.IntVar(&s.clients.node.MaxChannels, "max-channels", 0, "`number` of channels that all connections together may have; 0: no limit")
	f.IntVar(&s.clients.node.MaxConsumersPerChannel, "max-consumers-per-channel", 0, "`number` of consumers that a channel may have; 0: no limit")
	f.IntVar(&s.clients.node.MaxVHosts, "max-vhosts", 0, "`number` of virtual hosts that the node may have; 0: no limit")
	f.StringVar(&s.clients.queueType, "default-queue-type", leveret.QueueTypeClassic,
		"`type` of durable queues that are declared without one, in virtual hosts that have no other default: classic or quorum")
	f.BoolVar(&s.clients.globalQos, "global-qos", true,
		"let basic.qos with global set one window for all consumers of a channel; otherwise global has no effect")
}

// userFlags are those of the first user.
func (s *settings) userFlags(f *flag.FlagSet) {
	f.StringVar(&s.users.name, "default-user", "guest", "`name` of the administrator that a new broker has")
	f.StringVar(&s.users.password, "default-pass", "guest",
		"`password` of --default-user, which others on this machine may see in the list of processes")
	f.StringVar(&s.users.anonymous.user, "anonymous-login-user", "guest",
		"`name` of the user who a client is that logs in by ANONYMOUS; none: nobody may")
	f.StringVar(&s.users.anonymous.password, "anonymous-login-pass", "guest", "`password` of --anonymous-login-user")
	f.StringVar(&s.users.tags, "default-user-tags", "administrator", "`tags` of --default-user, with commas between them")
	f.StringVar(&s.users.permissions.Configure, "default-configure", ".*", "`pattern` of what --default-user may configure in the virtual host /")
	f.StringVar(&s.users.permissions.Write, "default-write", ".*", "`pattern` of what --default-user may write to")
	f.StringVar(&s.users.permissions.Read, "default-read", ".*", "`pattern` of what --default-user may read from")
}

// flags are those whose values are words to be looked up.
func (w *flagWords) flags(f *flag.FlagSet) {
	f.StringVar(&w.profile, "profile", "4.3", "`release` of RabbitMQ to behave as: 4.3 or 3.10")
	f.StringVar(&w.watermark, "vm-memory-high-watermark", "0.6",
		"memory that the process may use before publishers are blocked: a `fraction` of what the machine or the control group has, "+
			"a size such as 2GB, or none")
	f.StringVar(&w.diskFree, "disk-free-limit", "50MB",
		"disk space that has to be free for --data, or publishers are blocked: a `size` such as 2GB, a multiple of the machine's memory such as 1.0, or none")
	f.StringVar(&w.config, "config", "", "configuration `file` with the keys of rabbitmq.conf; docs/configuration.md lists them")
	f.StringVar(&w.versions, "tls-versions", "", "`versions` of TLS to allow, tlsv1.2 and tlsv1.3, with a comma between them; both if not given")
	f.StringVar(&w.login, "cert-login", "distinguished-name",
		"`part` of a certificate that names the user: distinguished-name or common-name")
	f.StringVar(&w.mechanisms, "auth-mechanisms", "PLAIN,AMQPLAIN,ANONYMOUS,EXTERNAL",
		"`mechanisms` by which clients may log in, with commas between them; EXTERNAL is for clients with a certificate")
	f.StringVar(&w.loopback, "loopback-users", "guest",
		"`users` who may log in from this machine only, with commas between them; none: nobody is so restricted")
	f.StringVar(&w.clock, "clock", "system",
		"`clock` of the broker: system, or manual: it stands still until leveret ctl advance moves it")
	f.StringVar(&w.sync, "sync", "always",
		"`what` has happened before a message is confirmed with --data: always: it is on the disk; as-rabbitmq: as the release does it; never: nothing")
	f.BoolVar(&w.faults, "faults", false, "let leveret ctl fault put faults between the broker and its clients, for tests; slower")
	f.StringVar(&w.maxMessageSize, "max-message-size", "",
		"largest `size` of a body, such as 1MB, up to 512MiB; the release's own if not given")
}

func (w *flagWords) logFlags(f *flag.FlagSet) {
	const levels = "debug, info, warn, error or none"
	f.StringVar(&w.log, "log", "warn", "`level` of the log on standard error: "+levels)
	f.StringVar(&w.logFormat, "log-format", "text", "`format` of the log on standard error: text or json")
	f.StringVar(&w.logFile, "log-file", none, "`file` to which the log is appended, besides; none: no file")
	f.StringVar(&w.logFileLevel, "log-file-level", "info", "`level` of the log in the file: "+levels)
	f.StringVar(&w.logFileFormat, "log-file-format", "text", "`format` of the log in the file: text or json")
}

// setRelease looks up what is named by a word, and says what is missing.
func (s *settings) setRelease(w flagWords) error {
	var ok bool
	if s.profile, ok = profiles[w.profile]; !ok {
		return fmt.Errorf("%s is %q, not 4.3 or 3.10", s.from.of("profile"), w.profile)
	}
	if s.control == none {
		s.control = ""
	}
	if s.http.addr == none {
		s.http.addr = ""
	}
	if s.amqp == "" && s.amqps == "" {
		return errors.New("neither --amqp nor --amqps has an address")
	}
	return nil
}

func (s *settings) setVHosts(flagWords) error { return s.vhosts.check(s.profile) }

func (s *settings) setClock(w flagWords) error {
	switch w.clock {
	case "system":
	case "manual":
		s.clock = leveret.NewManualClock(time.Now())
	default:
		return fmt.Errorf("%s is %q, not system or manual", s.from.of("clock"), w.clock)
	}
	if s.clock != nil && s.control == "" {
		return errors.New("--clock manual needs --control, because only leveret ctl moves the clock")
	}
	return nil
}

func (s *settings) setFaults(w flagWords) error {
	if !w.faults {
		return nil
	}
	s.faults = true
	if s.control == "" {
		return errors.New("--faults needs --control, because leveret ctl injects them")
	}
	return nil
}

func (s *settings) setClients(w flagWords) error {
	const most = 512 << 20
	least := 8192
	if s.profile == leveret.RabbitMQ310 {
		least = 4096
	}
	switch c := s.clients; {
	case c.heartbeat < 0 || c.heartbeat > math.MaxUint16*time.Second || c.heartbeat%time.Second != 0:
		return fmt.Errorf("%s is %v, not whole seconds from 0s to 65535s", s.from.of("heartbeat"), c.heartbeat)
	case c.handshakeTimeout <= 0:
		return fmt.Errorf("%s is %v, not a time", s.from.of("handshake-timeout"), c.handshakeTimeout)
	case c.consumerTimeout < time.Millisecond:
		return fmt.Errorf("%s is %v, not a time of at least a millisecond", s.from.of("consumer-timeout"), c.consumerTimeout)
	case c.queueType == "stream":
		return fmt.Errorf("%s is stream: leveret has no streams", s.from.of("default-queue-type"))
	case c.queueType != leveret.QueueTypeClassic && c.queueType != leveret.QueueTypeQuorum:
		return fmt.Errorf("%s is %q, not classic or quorum", s.from.of("default-queue-type"), c.queueType)
	case c.frameMax < least || c.frameMax > math.MaxInt32:
		return fmt.Errorf("%s is %d, not from %d to %d", s.from.of("frame-max"), c.frameMax, least, math.MaxInt32)
	case c.channelMax < 0 || c.channelMax > math.MaxUint16:
		return fmt.Errorf("%s is %d, not from 0 to 65535", s.from.of("channel-max"), c.channelMax)
	}
	for flag, n := range map[string]int{"max-connections": s.clients.node.MaxConnections, "max-channels": s.clients.node.MaxChannels,
		"max-consumers-per-channel": s.clients.node.MaxConsumersPerChannel, "max-vhosts": s.clients.node.MaxVHosts} {
		if n < 0 {
			return fmt.Errorf("%s is %d, which is negative", s.from.of(flag), n)
		}
	}
	if w.maxMessageSize == "" {
		return nil
	}
	size, err := ctl.ParseWatermark(w.maxMessageSize, true)
	if err != nil || size.Bytes > most {
		return fmt.Errorf("%s is %q, not a size from 1 to 512MiB", s.from.of("max-message-size"), w.maxMessageSize)
	}
	s.clients.maxMessageSize = int(size.Bytes)
	return nil
}

func (s *settings) setUsers(w flagWords) error {
	if s.users.mechanisms = splitList(w.mechanisms); s.users.anonymous.user == none {
		s.users.mechanisms = slices.DeleteFunc(s.users.mechanisms, func(m string) bool { return m == "ANONYMOUS" })
	}
	for _, m := range s.users.mechanisms {
		if authMechanisms[m] == "" {
			return fmt.Errorf("%s has %q, not PLAIN, AMQPLAIN, ANONYMOUS or EXTERNAL", s.from.of("auth-mechanisms"), m)
		}
	}
	s.users.loopback = []string{}
	if w.loopback != none {
		s.users.loopback = append(s.users.loopback, splitList(w.loopback)...)
	}
	return nil
}

func (s *settings) setTLS(w flagWords) error {
	var ok bool
	t := &s.tls
	if t.login, ok = logins[w.login]; !ok {
		return fmt.Errorf("%s is %q, not distinguished-name or common-name", s.from.of("cert-login"), w.login)
	}
	if w.versions != "" {
		for name := range strings.SplitSeq(w.versions, ",") {
			version, ok := tlsVersions[name]
			if !ok {
				return fmt.Errorf("%s has %q, not tlsv1.2 or tlsv1.3", s.from.of("tls-versions"), name)
			}
			t.versions = append(t.versions, version)
		}
	}
	switch {
	case s.amqps != "" && (t.cert == "" || t.key == ""):
		return errors.New("--amqps needs --cert and --key")
	case s.amqps == "" && (t.cert != "" || t.key != "" || t.clientCA != ""):
		return errors.New("--cert, --key and --client-ca are for --amqps")
	case t.demand && t.clientCA == "":
		return errors.New("--client-cert-required needs --client-ca")
	}
	return nil
}

// setWatermark reads the memory limit.
func (s *settings) setWatermark(w flagWords) (err error) {
	if w.watermark == none {
		return nil
	}
	s.watermark, err = ctl.ParseLimit(w.watermark)
	if err != nil || w.watermark == "" {
		return fmt.Errorf("%s is %q, not a fraction of 0 to 1, a size such as 2GB, or none", s.from.of("vm-memory-high-watermark"), w.watermark)
	}
	return nil
}

// setDiskFree reads the limit of the disk alarm.
func (s *settings) setDiskFree(w flagWords) (err error) {
	if w.diskFree == none {
		return nil
	}
	if s.diskFree, err = ctl.ParseDiskLimit(w.diskFree); err != nil {
		return fmt.Errorf("%s is %q, not a size such as 2GB, a multiple of the machine's memory such as 1.0, or none", s.from.of("disk-free-limit"), w.diskFree)
	}
	return nil
}
