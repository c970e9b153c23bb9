package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/ctl"
	"github.com/leveretmq/leveret/lint"
)

// The exit code of leveret lint when there is an error or a warning among the findings.
const exitFound = 1

// lintFile prints what is found in a definitions file.
func lintFile(args []string, std ctl.Streams) int {
	var f file
	flags := f.flags("lint")
	ignored := flags.String("ignore", "", "`codes` of findings to leave out, such as L014,L015")
	if status, ok := f.parse(flags, args, std); !ok {
		return status
	}
	document, err := readFile(f.name, std.In)
	if err != nil {
		return refuseFile("lint", err, std)
	}
	findings, err := lint.Check(document, f.release)
	if err != nil {
		return refuseFile("lint", fmt.Errorf("%s: %w", f.name, err), std)
	}
	codes := strings.Split(*ignored, ",")
	findings = slices.DeleteFunc(findings, func(f lint.Finding) bool { return slices.Contains(codes, string(f.Code)) })
	f.print(std.Out, findings, func(w io.Writer) {
		for _, finding := range findings {
			fmt.Fprintln(w, finding)
		}
	})
	if lint.Worst(findings) != lint.Info {
		return exitFound
	}
	return 0
}

// explainQueue prints what is in force for a queue of a definitions file.
func explainQueue(args []string, std ctl.Streams) int {
	const command = "explain"
	var f file
	flags := f.flags(command)
	queue := flags.String("queue", "", "`name` of the queue to explain")
	vhost := flags.String("vhost", "", "its virtual `host`; needed if several have a queue of that name")
	if status, ok := f.parse(flags, args, std); !ok {
		return status
	}
	if *queue == "" {
		return refuseFile(command, errors.New("--queue is expected"), std)
	}
	document, err := readFile(f.name, std.In)
	if err != nil {
		return refuseFile(command, err, std)
	}
	e, err := lint.Explain(document, f.release, *vhost, *queue)
	if err != nil {
		return refuseFile(command, fmt.Errorf("%s: %w", f.name, err), std)
	}
	f.print(std.Out, e, func(w io.Writer) { fmt.Fprint(w, e) })
	return 0
}

// A file is a definitions file to look at, and how.
type file struct {
	name            string // - for standard input
	profile, format string
	release         leveret.Profile
}

// The values of --format.
const (
	formatText = "text"
	formatJSON = "json"
)

// flags are those of each command that looks at a file.
func (f *file) flags(command string) *flag.FlagSet {
	flags := flag.NewFlagSet("leveret "+command, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&f.profile, "profile", "4.3", "`release` of RabbitMQ that is to read the file: 4.3 or 3.10")
	flags.StringVar(&f.format, "format", formatText, "`format` of the output: text or json")
	return flags
}

// parse reads the arguments. It reports false if the command ends here.
func (f *file) parse(flags *flag.FlagSet, args []string, std ctl.Streams) (status int, ok bool) {
	usage := fmt.Sprintf("usage: %s [flags] FILE\n", flags.Name())
	var err error
	if f.name, err = parseFile(flags, usage, args, std.Out); err == nil {
		err = f.resolve()
	}
	if err != nil {
		return refuseArguments(strings.TrimPrefix(flags.Name(), "leveret "), usage, err, std), false
	}
	return 0, true
}

// resolve looks up what is named by a word, and says what is missing.
func (f *file) resolve() error {
	if f.name == "" {
		return errors.New("the name of a definitions file is expected, or - for standard input")
	}
	var known bool
	if f.release, known = profiles[f.profile]; !known {
		return fmt.Errorf("--profile is %q, not 4.3 or 3.10", f.profile)
	}
	if f.format != formatText && f.format != formatJSON {
		return fmt.Errorf("--format is %q, not text or json", f.format)
	}
	return nil
}

// print writes v as JSON, or as the text that the function writes.
func (f *file) print(w io.Writer, v any, text func(io.Writer)) {
	if f.format == formatText {
		text(w)
		return
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(v) // findings and explanations have nothing that JSON has no form for
}

// refuseFile says why a file cannot be looked at.
func refuseFile(command string, err error, std ctl.Streams) int {
	fmt.Fprintf(std.Err, "leveret %s: %s\n", command, strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "))
	return exitUsage
}
