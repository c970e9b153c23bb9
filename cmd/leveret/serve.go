package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/leveretmq/leveret/internal/ctl"
	"github.com/leveretmq/leveret/internal/memory"
)

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
	log, err := s.log.open(std.Err)
	if err != nil {
		complain(std.Err, fmt.Errorf("%s: %w", s.from.of("log-file"), err))
		return 1
	}
	defer log.Close()
	s.setLogLevel = log.setLevel
	for _, line := range s.ignored {
		log.Warn(line)
	}
	memory.TakeBallast()
	if err := s.run(log.Logger, std); err != nil {
		complain(std.Err, err)
		return 1
	}
	return 0
}

// run serves until a signal comes, or a door is closed.
func (s settings) run(log *slog.Logger, std ctl.Streams) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	srv, err := start(s, log)
	if err != nil {
		return err
	}
	if err := s.writePid(); err != nil {
		srv.close()
		return err
	}
	fmt.Fprintln(std.Out, srv.greeting())
	tell(log, "READY=1")
	select {
	case <-signals:
	case <-srv.asked:
	case err = <-srv.failed:
	}
	signal.Stop(signals) // a second signal ends the process at once
	tell(log, "STOPPING=1")
	if s.pidFile != "" {
		os.Remove(s.pidFile)
	}
	return errors.Join(err, srv.close())
}

// writePid tells the process's number to who waits for it.
func (s settings) writePid() error {
	if s.pidFile == "" {
		return nil
	}
	if err := os.WriteFile(s.pidFile, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o644); err != nil {
		return fmt.Errorf("%s: %w", s.from.of("pid-file"), err)
	}
	return nil
}

// tell notifies systemd. A service that cannot is not the worse for it, but its start never ends for systemd.
func tell(log *slog.Logger, state string) {
	if err := notify(state); err != nil {
		log.Error("systemd is not told", "state", state, "error", err)
	}
}

func complain(w io.Writer, err error) {
	fmt.Fprintln(w, "leveret serve: "+strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "))
}
