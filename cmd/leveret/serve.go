package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/cmd/leveret/internal/ctl"
	"github.com/leveretmq/leveret/cmd/leveret/internal/memory"
)

// settings are what leveret serve is told.
type settings struct {
	amqp, amqps string // addresses; amqps may be empty
	cert, key   string // files, for amqps
	profile     leveret.Profile
	definitions string // file; empty: none
	control     string // socket; empty: none
	log         slog.Leveler
	watermark   memory.Watermark
}

// noControl as the value of --control means that there is no control socket.
const noControl = "none"

var profiles = map[string]leveret.Profile{"4.3": leveret.RabbitMQ43, "3.10": leveret.RabbitMQ310}

var levels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
	"none": slog.LevelError + 1,
}

// parseSettings reads the flags of leveret serve. flag.ErrHelp says that help was asked for and
// written to help.
func parseSettings(args []string, help io.Writer) (settings, error) {
	var s settings
	f := flag.NewFlagSet("leveret serve", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&s.amqp, "amqp", "127.0.0.1:5672", "`address` for AMQP; port 0 takes a free one")
	f.StringVar(&s.amqps, "amqps", "", "`address` for AMQP over TLS, which needs --cert and --key")
	f.StringVar(&s.cert, "cert", "", "PEM `file` with the server's certificate")
	f.StringVar(&s.key, "key", "", "PEM `file` with the certificate's key")
	f.StringVar(&s.definitions, "definitions", "", "JSON `file` with definitions to import before clients are accepted")
	f.StringVar(&s.control, "control", ctl.DefaultSocket(), "control `socket` for leveret ctl; none: no socket")
	profile := f.String("profile", "4.3", "`release` of RabbitMQ to behave as: 4.3 or 3.10")
	watermark := f.String("vm-memory-high-watermark", "0.6",
		"memory that the process may use before publishers are blocked: a `fraction` of what the machine or the control group has, "+
			"a size such as 2GB, or none")
	level := f.String("log", "warn", "`level` of the log on standard error: debug, info, warn, error or none")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(help, "usage: leveret serve [flags]")
			f.SetOutput(help)
			f.PrintDefaults()
		}
		return s, err
	}
	if err := s.complete(f.Args(), *profile, *level); err != nil {
		return s, err
	}
	return s, s.setWatermark(*watermark)
}

// setWatermark reads the memory limit. A number with a point, 0 and 1 are fractions, other numbers are bytes.
func (s *settings) setWatermark(given string) (err error) {
	if given == "none" {
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

func (s *settings) complete(rest []string, profile, level string) error {
	var ok bool
	if s.profile, ok = profiles[profile]; !ok {
		return fmt.Errorf("--profile is %q, not 4.3 or 3.10", profile)
	}
	if s.log, ok = levels[level]; !ok {
		return fmt.Errorf("--log is %q, not debug, info, warn, error or none", level)
	}
	if s.control == noControl {
		s.control = ""
	}
	switch {
	case len(rest) > 0:
		return fmt.Errorf("%q is not expected", rest[0])
	case s.amqps != "" && (s.cert == "" || s.key == ""):
		return errors.New("--amqps needs --cert and --key")
	case s.amqps == "" && (s.cert != "" || s.key != ""):
		return errors.New("--cert and --key are for --amqps")
	}
	return nil
}

// serve runs a broker until a signal ends it. What goes wrong is said in one line.
func serve(args []string, std ctl.Streams) int {
	s, err := parseSettings(args, std.Out)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		complain(std.Err, err)
		return exitUsage
	}
	memory.TakeBallast()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	srv, err := start(s, slog.New(slog.NewTextHandler(std.Err, &slog.HandlerOptions{Level: s.log})))
	if err != nil {
		complain(std.Err, err)
		return 1
	}
	fmt.Fprintln(std.Out, srv.greeting())
	select {
	case <-signals:
	case err = <-srv.failed:
	}
	signal.Stop(signals) // a second signal ends the process at once
	srv.close()
	if err != nil {
		complain(std.Err, err)
		return 1
	}
	return 0
}

func complain(w io.Writer, err error) {
	fmt.Fprintln(w, "leveret serve: "+strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "))
}
