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

	"github.com/leveretmq/leveret/cmd/leveret/internal/ctl"
	"github.com/leveretmq/leveret/cmd/leveret/internal/memory"
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
