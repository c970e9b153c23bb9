package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/leveretmq/leveret/internal/ctl"
)

// parseFiles reads flags and the names of files, in any order; - is standard input. It writes what --help asks for to help.
func parseFiles(f *flag.FlagSet, usage string, args []string, help io.Writer) (files []string, err error) {
	for rest := args; len(rest) > 0; rest = f.Args() {
		if f.NArg() > 0 || !strings.HasPrefix(rest[0], "-") || rest[0] == "-" {
			files, rest = append(files, rest[0]), rest[1:]
		}
		err := f.Parse(rest)
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(help, usage)
			f.SetOutput(help)
			f.PrintDefaults()
		}
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// parseFile is parseFiles for a command that expects one file. The name is empty if there is none.
func parseFile(f *flag.FlagSet, usage string, args []string, help io.Writer) (file string, err error) {
	files, err := parseFiles(f, usage, args, help)
	switch {
	case err != nil || len(files) == 0:
		return "", err
	case len(files) > 1:
		return "", fmt.Errorf("%q is not expected", files[1])
	}
	return files[0], nil
}

// readFile reads a file that a command is given; - is standard input.
func readFile(name string, stdin io.Reader) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(stdin)
	}
	return os.ReadFile(name)
}

// refuseArguments ends a command whose arguments are err, and returns its exit code. Help that was asked for is no mistake.
func refuseArguments(command, usage string, err error, std ctl.Streams) int {
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintf(std.Err, "leveret %s: %v\n%s", command, err, usage)
	return exitUsage
}
