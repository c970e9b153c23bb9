package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/leveretmq/leveret/cmd/leveret/internal/move"
	"github.com/leveretmq/leveret/internal/ctl"
)

// leveret dump and leveret load keep what leveret move moves in a file.

const dumpUsage = `usage: leveret dump --from URL [flags] FILE
       leveret dump DIR
Writes the definitions and the messages of a virtual host to a file, for leveret load. The messages stay where they are; with --take
they are taken out of their queues, each after it is on the disk. docs/move.md tells of the file, and what a look at messages changes.
The exit code is 0 if all was written, 1 if a queue was left, and 2 if the dump could not be made.
With a directory and no --from it prints what is in the directory of leveret serve --data, or of leveret.Open, as lines of JSON;
docs/durability.md tells of them. No process may have the directory in use.
`

func dumpMessages(args []string, std ctl.Streams) int {
	var s moveSettings
	f := s.moveFlags("dump")
	s.fromFlags(f)
	s.journalFlag(f)
	take := f.Bool("take", false, "take the messages out of their queues; a file that is there and not finished is continued")
	f.BoolVar(&s.job.SkipDefinitions, "skip-definitions", false, "write messages only")
	f.IntVar(&s.job.Most, "most", 0, "`messages` of each queue at most; 0: all")
	file, err := parseFile(f, dumpUsage, args, std.Out)
	if err == nil && isStore(s.from, file) {
		return dumpStore(file, f, std)
	}
	if err == nil {
		err = s.resolve(f)
	}
	if err == nil && file == "" {
		err = errors.New("a file is expected")
	}
	if err != nil {
		return refuseArguments("dump", dumpUsage, err, std)
	}
	s.job.Copy = !*take
	dump, err := openDump(file, s.job.From.VHost, *take)
	if err != nil {
		return refuseFile("dump", err, std)
	}
	s.job.To = dump
	s.finish = dump.Finish
	return s.run("dump", std)
}

// openDump begins a dump, or continues one.
func openDump(file, vhost string, take bool) (*move.Dump, error) {
	if take {
		dump, err := move.ContinueDump(file)
		if !errors.Is(err, os.ErrNotExist) {
			return dump, err
		}
	}
	return move.CreateDump(file, vhost)
}

const loadUsage = `usage: leveret load --to URL [flags] FILE
Imports the definitions of a file that leveret dump wrote, and publishes its messages, each into its queue; - is standard input.
With --journal a load that was killed goes on where it was. docs/move.md tells what is exact.
The exit code is 0 if all was loaded, and 2 if not.
`

func loadMessages(args []string, std ctl.Streams) int {
	var s moveSettings
	f := s.moveFlags("load")
	s.toFlags(f)
	s.journalFlag(f)
	f.BoolVar(&s.job.SkipDefinitions, "skip-definitions", false, "load messages only; the target has the queues")
	file, err := parseFile(f, loadUsage, args, std.Out)
	if err == nil {
		err = s.resolve(f)
	}
	if err == nil && file == "" {
		err = errors.New("a file is expected")
	}
	if err != nil {
		return refuseArguments("load", loadUsage, err, std)
	}
	in := io.NopCloser(std.In)
	if file != "-" {
		if in, err = os.Open(file); err != nil {
			return refuseFile("load", err, std)
		}
	}
	defer in.Close()
	s.act = func(ctx context.Context) (*move.Report, error) {
		r, err := s.job.Load(ctx, in)
		if err != nil {
			err = fmt.Errorf("%s: %w", file, err)
		}
		return r, err
	}
	return s.run("load", std)
}
