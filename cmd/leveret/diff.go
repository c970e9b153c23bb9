package main

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/ctl"
	"github.com/leveretmq/leveret/lint"
)

// leveret diff compares two definitions files.

const diffUsage = `usage: leveret diff [flags] OLD NEW
Prints what changes for queues that run with the definitions in OLD when those in NEW take their place, and which messages would be
trimmed, expire or die elsewhere; - is standard input. docs/lint.md tells more.
The exit code is 0 if nothing changes, 1 if something does, and 2 if a file cannot be read or an import would refuse it.
`

// The exit code of leveret diff when the files differ, as that of diff.
const exitDiffers = 1

// diffSettings are what leveret diff is told.
type diffSettings struct {
	files   []string // the old one and the new one
	profile leveret.Profile
	print   func(io.Writer, *lint.Comparison)
}

func diffFiles(args []string, std ctl.Streams) int {
	s, err := parseDiffSettings(args, std.Out)
	if err != nil {
		return refuseArguments("diff", diffUsage, err, std)
	}
	c, err := s.compare(std.In)
	if err != nil {
		return refuseFile("diff", err, std)
	}
	s.print(std.Out, c)
	if len(c.Changes) > 0 {
		return exitDiffers
	}
	return 0
}

// parseDiffSettings reads flags before, between and after the files.
func parseDiffSettings(args []string, help io.Writer) (diffSettings, error) {
	var s diffSettings
	f := flag.NewFlagSet("leveret diff", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	profile := f.String("profile", "4.3", "`release` of RabbitMQ that is to read the files: 4.3 or 3.10")
	format := f.String("format", formatText, "`format` of the output: text or json")
	var err error
	if s.files, err = parseFiles(f, diffUsage, args, help); err != nil {
		return s, err
	}
	return s, s.resolve(*profile, *format)
}

// resolve looks up what is named by a word, and says what is missing.
func (s *diffSettings) resolve(profile, format string) error {
	var known bool
	if s.profile, known = profiles[profile]; !known {
		return fmt.Errorf("--profile is %q, not 4.3 or 3.10", profile)
	}
	if format != formatText && format != formatJSON {
		return fmt.Errorf("--format is %q, not text or json", format)
	}
	s.print = func(w io.Writer, c *lint.Comparison) {
		(&file{format: format}).print(w, c, func(w io.Writer) { fmt.Fprint(w, c) })
	}
	switch {
	case len(s.files) != 2:
		return errors.New("two files are expected, the old one and the new one")
	case s.files[0] == "-" && s.files[1] == "-":
		return errors.New("only one file can be standard input")
	}
	return nil
}

func (s diffSettings) compare(stdin io.Reader) (*lint.Comparison, error) {
	var documents [2][]byte
	for i, name := range s.files {
		var err error
		if documents[i], err = readFile(name, stdin); err != nil {
			return nil, err
		}
	}
	return lint.Compare(documents[0], documents[1], s.profile)
}
