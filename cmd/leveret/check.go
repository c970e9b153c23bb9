package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"strings"

	"github.com/leveretmq/leveret/internal/ctl"
	"github.com/leveretmq/leveret/internal/journal"
	"github.com/leveretmq/leveret/internal/record"
)

const checkUsage = `usage: leveret check DIR
Reads all that is in the directory of leveret serve --data, or of leveret.Open, and changes nothing. It prints a line for each segment, and
then what is wrong, with file and offset. No process may have the directory in use. docs/durability.md tells what to do about damage.
The exit code is 0 if the directory is sound, 1 if it is damaged, and 2 if it could not be checked.
`

func checkStore(args []string, std ctl.Streams) int {
	f := flag.NewFlagSet("leveret check", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	path, err := parseFile(f, checkUsage, args, std.Out)
	if err == nil && path == "" {
		err = errors.New("a directory is expected")
	}
	if err != nil {
		return refuseArguments("check", checkUsage, err, std)
	}
	if err := isDirectory(path); err != nil {
		return refuseFile("check", err, std)
	}
	r := journal.Check(journal.Dir(path))
	if len(r.Problems) == 0 {
		r.Problems = unreadable(path)
	}
	if err := notChecked(path, r.Err()); err != nil {
		return refuseFile("check", err, std)
	}
	printReport(std.Out, r)
	if len(r.Problems) > 0 {
		return exitFound
	}
	return 0
}

func isDirectory(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no directory", path)
	}
	return err
}

// notChecked says why a directory could not be read, if that is so. What is wrong with its content is no such reason.
func notChecked(path string, err error) error {
	switch {
	case errors.Is(err, journal.ErrLocked):
		// What is read while it is written may look damaged.
		return fmt.Errorf("another process has the directory %s in use: end that first", path)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s is not the directory of a broker: no file in it is called lock", path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: %w", path, shortened{err})
	}
	return nil
}

// unreadable lists the records that are as they were written, but that this release cannot read. The journal is sound.
func unreadable(path string) (problems []error) {
	for r, err := range records(path) {
		if err == nil {
			for _, e := range record.Items(r.Data) {
				err = e
			}
		}
		var own *journal.Error
		if err != nil && !errors.As(err, &own) {
			err = &journal.Error{Op: "read", File: r.File, Offset: r.Offset, Err: err}
		}
		if err != nil {
			problems = append(problems, err)
		}
	}
	return problems
}

// records yields the broker's records and the snapshots.
func records(path string) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) {
		for r, err := range journal.Records(journal.Dir(path)) {
			if journals := r.Kind > journal.LastKind && r.Kind != journal.KindSnapshot; err == nil && journals {
				continue
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

func printReport(w io.Writer, r journal.Report) {
	unsealed := 0
	for _, s := range r.Segments {
		end := "sealed"
		if !s.Sealed {
			end = "not sealed"
			unsealed++
		}
		fmt.Fprintf(w, "%s: %d octets, %d records, %s\n", s.File, s.Octets, s.Records, end)
	}
	for _, err := range r.Problems {
		fmt.Fprintln(w, "damaged:", strings.ReplaceAll(shortened{err}.Error(), "\n", "; "))
	}
	if r.Torn != nil {
		fmt.Fprintf(w, "%v: %d octets of it are dropped when the directory is opened. Nobody was told that it was synced.\n", shortened{r.Torn}, r.Lost)
	}
	switch {
	case len(r.Problems) > 0:
		fmt.Fprintln(w, "The directory is damaged: no broker opens it.")
	case len(r.Segments) == 0:
		fmt.Fprintln(w, "The directory is sound. No broker has been opened there yet.")
	case unsealed > 0:
		fmt.Fprintln(w, "The directory is sound. The last broker was not closed.")
	default:
		fmt.Fprintln(w, "The directory is sound.")
	}
}
