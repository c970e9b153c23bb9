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
	"os"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/cmd/leveret/internal/ctl"
	"github.com/leveretmq/leveret/cmd/leveret/internal/memory"
)

// settings are what leveret serve is told.
type settings struct {
	amqp, amqps string // addresses; empty: none
	http        httpSettings
	tls         tlsSettings
	clients     clientSettings
	users       userSettings
	profile     leveret.Profile
	definitions string // file; empty: none
	control     string // socket; empty: none
	log         slog.Leveler
	watermark   memory.Watermark
	clock       *leveret.ManualClock // nil: the system's
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
}

// clientSettings are limits that hold for every client.
type clientSettings struct {
	heartbeat      time.Duration // 0: none
	maxMessageSize int           // bytes; 0: the release's own
}

// userSettings say who may log in, and from where.
type userSettings struct {
	name, password string   // in place of guest; empty: guest
	loopback       []string // who may log in from this machine only
}

// none as the value of a flag means that there is none of it.
const none = "none"

var profiles = map[string]leveret.Profile{"4.3": leveret.RabbitMQ43, "3.10": leveret.RabbitMQ310}

var levels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
	none: slog.LevelError + 1,
}

// logins are the names that a certificate gives its client, by the value of --cert-login.
var logins = map[string]func(*x509.Certificate) string{
	"distinguished-name": func(c *x509.Certificate) string { return c.Subject.String() },
	"common-name":        func(c *x509.Certificate) string { return c.Subject.CommonName },
}

// flagWords are the values of flags that are not simply kept.
type flagWords struct {
	profile, watermark, log, login, loopback, maxMessageSize, clock string
}

// parseSettings reads the flags of leveret serve. flag.ErrHelp says that help was asked for and
// written to help.
func parseSettings(args []string, help io.Writer) (settings, error) {
	var s settings
	var w flagWords
	f := flag.NewFlagSet("leveret serve", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	s.flags(f)
	w.flags(f)
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(help, "usage: leveret serve [flags]")
			f.SetOutput(help)
			f.PrintDefaults()
		}
		return s, err
	}
	f.Visit(func(given *flag.Flag) { s.http.asked = s.http.asked || given.Name == "http" })
	if f.NArg() > 0 {
		return s, fmt.Errorf("%q is not expected", f.Arg(0))
	}
	for _, step := range []func(flagWords) error{s.setRelease, s.setClock, s.setClients, s.setUsers, s.setTLS, s.setWatermark} {
		if err := step(w); err != nil {
			return s, err
		}
	}
	return s, nil
}

// flags are those whose values are kept as they are.
func (s *settings) flags(f *flag.FlagSet) {
	f.StringVar(&s.amqp, "amqp", "127.0.0.1:5672", "`address` for AMQP; port 0 takes a free one; empty: none")
	f.StringVar(&s.amqps, "amqps", "", "`address` for AMQP over TLS, which needs --cert and --key")
	f.StringVar(&s.http.addr, "http", defaultHTTP, "`address` for RabbitMQ's management API; none: no API")
	f.StringVar(&s.tls.cert, "cert", "", "PEM `file` with the server's certificate")
	f.StringVar(&s.tls.key, "key", "", "PEM `file` with the certificate's key")
	f.StringVar(&s.tls.clientCA, "client-ca", "",
		"PEM `file` with the authorities of clients' certificates, with which clients may log in by EXTERNAL")
	f.BoolVar(&s.tls.demand, "client-cert-required", false, "turn away clients without a certificate of --client-ca")
	f.StringVar(&s.definitions, "definitions", "", "JSON `file` with definitions to import before clients are accepted")
	f.StringVar(&s.control, "control", ctl.DefaultSocket(), "control `socket` for leveret ctl; none: no socket")
	f.StringVar(&s.users.name, "default-user", "",
		"`name` of an administrator to have in place of guest; needs --default-pass")
	f.StringVar(&s.users.password, "default-pass", "",
		"`password` of --default-user, which others on this machine may see in the list of processes")
	f.DurationVar(&s.clients.heartbeat, "heartbeat", time.Minute,
		"`interval` of heartbeats that is proposed to clients, in whole seconds; 0: none")
}

// flags are those whose values are words to be looked up.
func (w *flagWords) flags(f *flag.FlagSet) {
	f.StringVar(&w.profile, "profile", "4.3", "`release` of RabbitMQ to behave as: 4.3 or 3.10")
	f.StringVar(&w.watermark, "vm-memory-high-watermark", "0.6",
		"memory that the process may use before publishers are blocked: a `fraction` of what the machine or the control group has, "+
			"a size such as 2GB, or none")
	f.StringVar(&w.log, "log", "warn", "`level` of the log on standard error: debug, info, warn, error or none")
	f.StringVar(&w.login, "cert-login", "distinguished-name",
		"`part` of a certificate that names the user: distinguished-name or common-name")
	f.StringVar(&w.loopback, "loopback-users", "guest",
		"`users` who may log in from this machine only, with commas between them; none: nobody is so restricted")
	f.StringVar(&w.clock, "clock", "system",
		"`clock` of the broker: system, or manual: it stands still until leveret ctl advance moves it")
	f.StringVar(&w.maxMessageSize, "max-message-size", "",
		"largest `size` of a body, such as 1MB, up to 512MiB; the release's own if not given")
}

// setRelease looks up what is named by a word, and says what is missing.
func (s *settings) setRelease(w flagWords) error {
	var ok bool
	if s.profile, ok = profiles[w.profile]; !ok {
		return fmt.Errorf("--profile is %q, not 4.3 or 3.10", w.profile)
	}
	if s.log, ok = levels[w.log]; !ok {
		return fmt.Errorf("--log is %q, not debug, info, warn, error or none", w.log)
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

func (s *settings) setClock(w flagWords) error {
	switch w.clock {
	case "system":
	case "manual":
		s.clock = leveret.NewManualClock(time.Now())
	default:
		return fmt.Errorf("--clock is %q, not system or manual", w.clock)
	}
	if s.clock != nil && s.control == "" {
		return errors.New("--clock manual needs --control, because only leveret ctl moves the clock")
	}
	return nil
}

func (s *settings) setClients(w flagWords) error {
	const most = 512 << 20
	if h := s.clients.heartbeat; h < 0 || h > math.MaxUint16*time.Second || h%time.Second != 0 {
		return fmt.Errorf("--heartbeat is %v, not whole seconds from 0s to 65535s", h)
	}
	if w.maxMessageSize == "" {
		return nil
	}
	size, err := ctl.ParseWatermark(w.maxMessageSize, true)
	if err != nil || size.Bytes > most {
		return fmt.Errorf("--max-message-size is %q, not a size from 1 to 512MiB", w.maxMessageSize)
	}
	s.clients.maxMessageSize = int(size.Bytes)
	return nil
}

func (s *settings) setUsers(w flagWords) error {
	if (s.users.name == "") != (s.users.password == "") {
		return errors.New("--default-user and --default-pass need each other")
	}
	s.users.loopback = []string{}
	if w.loopback != none {
		s.users.loopback = strings.Split(w.loopback, ",")
	}
	return nil
}

func (s *settings) setTLS(w flagWords) error {
	var ok bool
	t := &s.tls
	if t.login, ok = logins[w.login]; !ok {
		return fmt.Errorf("--cert-login is %q, not distinguished-name or common-name", w.login)
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

// setWatermark reads the memory limit. A number with a point, 0 and 1 are fractions, other numbers are bytes.
func (s *settings) setWatermark(w flagWords) (err error) {
	given := w.watermark
	if given == none {
		return nil
	}
	s.watermark, err = ctl.ParseWatermark(given, false)
	if err != nil {
		s.watermark, err = ctl.ParseWatermark(given, true)
	}
	if err != nil {
		return fmt.Errorf("--vm-memory-high-watermark is %q, not a fraction of 0 to 1, a size such as 2GB, or none", given)
	}
	return nil
}

// config reads the files for TLS.
func (t *tlsSettings) config() (*tls.Config, error) {
	cert, err := tls.LoadX509KeyPair(t.cert, t.key)
	if err != nil {
		return nil, fmt.Errorf("--cert and --key: %w", err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{cert}}
	if t.clientCA == "" {
		return config, nil
	}
	pem, err := os.ReadFile(t.clientCA)
	if err != nil {
		return nil, fmt.Errorf("--client-ca: %w", err)
	}
	config.ClientCAs = x509.NewCertPool()
	if !config.ClientCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("--client-ca: there is no certificate in %s", t.clientCA)
	}
	config.ClientAuth = tls.VerifyClientCertIfGiven
	if t.demand {
		config.ClientAuth = tls.RequireAndVerifyClientCert
	}
	return config, nil
}
