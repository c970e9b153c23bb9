package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/leveretmq/leveret/cmd/leveret/internal/move"
	"github.com/leveretmq/leveret/internal/ctl"
)

// leveret move takes definitions and messages from one broker to another.

const moveUsage = `usage: leveret move --from URL --to URL [flags]
Moves the definitions and the messages of a virtual host from one broker to another; either may be a RabbitMQ or a leveret, and both
run. The URLs are of AMQP, with user, password and virtual host: amqp://guest:guest@rabbit.example:5672/%2F. A message is acknowledged
where it was after it is confirmed where it comes to, so the move may be killed and started again. docs/move.md tells what is exact.
An interrupt ends it when what is on its way has arrived.
The exit code is 0 if all was moved, 1 if a queue was left with its messages, and 2 if the move could not be done.
`

// moveSettings are what leveret move, and the commands like it, are told.
type moveSettings struct {
	from, fromAdmin string
	to, toAdmin     string
	journal         string
	format          string
	dryRun, quiet   bool
	sameBroker      bool // --to may be left out, or be --from
	job             move.Job

	act    func(context.Context) (*move.Report, error) // nil: job.Run
	finish func() error                                // is called when all was done; nil: nothing
}

// moveFlags are those that every command of this kind has.
func (s *moveSettings) moveFlags(command string) *flag.FlagSet {
	f := flag.NewFlagSet("leveret "+command, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Func("queue", "`pattern` of the names of queues, with * and ?; may be given several times; default: all", appendTo(&s.job.Queues.Only))
	f.Func("except", "`pattern` of the names of queues that are left alone; may be given several times", appendTo(&s.job.Queues.Except))
	f.Float64Var(&s.job.Rate, "rate", 0, "`messages` in a second at most; 0: no limit")
	f.IntVar(&s.job.Window, "window", 200, "`messages` that may be on their way; as many may come twice when the command is killed")
	f.DurationVar(&s.job.Patience, "patience", 30*time.Second, "how long a broker may be away, or a queue give nothing, before it is given up")
	f.StringVar(&s.format, "format", formatText, "`format` of the report: text or json")
	f.BoolVar(&s.quiet, "quiet", false, "print no progress")
	return f
}

func appendTo(list *[]string) func(string) error {
	return func(value string) error {
		*list = append(*list, value)
		return nil
	}
}

func (s *moveSettings) fromFlags(f *flag.FlagSet) {
	f.StringVar(&s.from, "from", "", "AMQP `URL` of the source, with the virtual host")
	f.StringVar(&s.fromAdmin, "from-admin", "", "`URL` of its management API; default: port 15672 of the same host, with the same user")
}

func (s *moveSettings) toFlags(f *flag.FlagSet) {
	f.StringVar(&s.to, "to", s.to, "AMQP `URL` of the target, with the virtual host")
	f.StringVar(&s.toAdmin, "to-admin", "", "`URL` of its management API; default: port 15672 of the same host, with the same user")
}

func (s *moveSettings) journalFlag(f *flag.FlagSet) {
	f.StringVar(&s.journal, "journal", "", "`file` that remembers what is on its way, so that the next run can count what comes twice")
}

func moveMessages(args []string, std ctl.Streams) int {
	var s moveSettings
	f := s.moveFlags("move")
	s.fromFlags(f)
	s.toFlags(f)
	s.journalFlag(f)
	f.BoolVar(&s.job.SkipDefinitions, "skip-definitions", false, "move messages only; the target has the queues")
	f.BoolVar(&s.job.Follow, "follow", false, "go on with messages that come, until an interrupt")
	f.BoolVar(&s.dryRun, "dry-run", false, "print what would be moved")
	if err := s.parse(f, moveUsage, args, std.Out); err != nil {
		return refuseArguments("move", moveUsage, err, std)
	}
	if s.dryRun {
		return s.rehearse("move", std)
	}
	return s.run("move", std)
}

// parse reads flags. There are no other arguments.
func (s *moveSettings) parse(f *flag.FlagSet, usage string, args []string, help io.Writer) error {
	files, err := parseFiles(f, usage, args, help)
	switch {
	case err != nil:
		return err
	case len(files) > 0:
		return fmt.Errorf("%q is not expected", files[0])
	}
	return s.resolve(f)
}

// slowest is the lowest rate: a message in some three hours.
const slowest = 0.0001

// resolve reads the URLs and says what is missing.
func (s *moveSettings) resolve(f *flag.FlagSet) (err error) {
	switch {
	case f.Lookup("from") != nil && s.from == "":
		return errors.New("--from is expected")
	case f.Lookup("to") != nil && s.to == "" && !s.sameBroker:
		return errors.New("--to is expected")
	case s.format != formatText && s.format != formatJSON:
		return fmt.Errorf("--format is %q, not text or json", s.format)
	case s.job.Window < 1 || s.job.Window > 65535:
		return fmt.Errorf("--window is %d, not 1 to 65535", s.job.Window)
	case s.job.Most < 0:
		return fmt.Errorf("--most is %d, not a number of messages", s.job.Most)
	case s.job.Rate != 0 && !(s.job.Rate >= slowest): // nor NaN
		return fmt.Errorf("--rate is %v, not 0 or from %v on", s.job.Rate, slowest)
	case s.job.Patience < 0:
		return fmt.Errorf("--patience is %v, not a time", s.job.Patience)
	}
	if s.from != "" {
		if s.job.From, err = move.ParseBroker(s.from, s.fromAdmin); err != nil {
			return fmt.Errorf("--from: %w", err)
		}
	}
	return s.resolveTarget()
}

func (s *moveSettings) resolveTarget() error {
	switch {
	case s.to == "" && s.sameBroker:
		s.job.To = move.To(s.job.From)
		return nil
	case s.to == "":
		return nil
	}
	to, err := move.ParseBroker(s.to, s.toAdmin)
	if err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	if !s.sameBroker && s.job.From != nil && s.job.From.String() == to.String() {
		return errors.New("--from and --to are the same virtual host")
	}
	s.job.To = move.To(to)
	return nil
}

// run does the job, and prints its report.
func (s *moveSettings) run(command string, std ctl.Streams) int {
	defer s.job.To.Close()
	if s.journal != "" {
		journal, err := move.OpenJournal(s.journal)
		if err != nil {
			fmt.Fprintf(std.Err, "leveret %s: %v\n", command, err)
			return exitUsage
		}
		defer journal.Close()
		s.job.Journal = journal
	}
	if !s.quiet {
		s.job.Tell = func(p move.Progress) { fmt.Fprintf(std.Err, "queue %s: %d of %d\n", p.Queue, p.Moved, p.Found) }
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	r, err := s.perform(ctx)
	s.print(std.Out, r)
	switch {
	case err != nil:
		fmt.Fprintf(std.Err, "leveret %s: %v\n", command, err)
		return exitUsage
	case !r.Whole():
		return exitFound
	}
	return 0
}

// perform does the job, and what is to be done when all of it was done.
func (s *moveSettings) perform(ctx context.Context) (*move.Report, error) {
	act := s.act
	if act == nil {
		act = s.job.Run
	}
	r, err := act(ctx)
	if err == nil && ctx.Err() == nil && s.finish != nil && (s.job.Copy || r.Whole()) {
		err = s.finish()
	}
	return r, err
}

func (s *moveSettings) print(w io.Writer, r *move.Report) {
	if s.format == formatText {
		fmt.Fprint(w, r)
		return
	}
	text, _ := json.MarshalIndent(r, "", "  ") // a report has nothing that JSON has no form for
	fmt.Fprintf(w, "%s\n", text)
}

// rehearse prints what would be moved.
func (s *moveSettings) rehearse(command string, std ctl.Streams) int {
	r, err := s.job.Rehearse()
	if err != nil {
		fmt.Fprintf(std.Err, "leveret %s: %v\n", command, err)
		return exitUsage
	}
	if s.format == formatJSON {
		s.print(std.Out, r)
		return 0
	}
	fmt.Fprint(std.Out, r.Plan())
	return 0
}
