package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/graph"
	"github.com/leveretmq/leveret/internal/ctl"
	"github.com/leveretmq/leveret/internal/scenario"
	"github.com/leveretmq/leveret/trace"
)

// leveret trace sends a message through the topology of a definitions file.

const traceUsage = `usage: leveret trace [flags] FILE --exchange X --key K
Puts the definitions in FILE into force, publishes one message, and prints what becomes of it, on virtual time; - is standard input.
--consumer says what a consumer does with what it gets, one act after the other: ack, reject, requeue or hold, after a time if one
stands before it, as often as xN says: --consumer "work: reject x3, 10s ack". After its last act it is cancelled.
The exit code is 1 if the message, or a copy of it, is lost, refused or returned, and 2 if it cannot be published.
`

// traceFormats are the values of --format.
var traceFormats = map[string]func(*trace.Result) string{
	formatText: (*trace.Result).String,
	formatJSON: func(r *trace.Result) string {
		text, _ := json.MarshalIndent(r, "", "  ") // journeys have nothing that JSON has no form for
		return string(text) + "\n"
	},
	"svg":     func(r *trace.Result) string { return graph.OfEvents(r.Journey.Events).SVG() },
	"dot":     func(r *trace.Result) string { return graph.OfEvents(r.Journey.Events).DOT() },
	"mermaid": func(r *trace.Result) string { return graph.OfEvents(r.Journey.Events).Mermaid() },
}

// traceSettings are what leveret trace is told.
type traceSettings struct {
	file, vhost string
	profile     leveret.Profile
	plan        trace.Plan
	write       func(*trace.Result) string
}

func traceMessage(args []string, std ctl.Streams) int {
	s, err := parseTraceSettings(args, std.Out)
	if err != nil {
		return refuseArguments("trace", traceUsage, err, std)
	}
	r, err := s.run(std)
	if err != nil {
		return refuseFile("trace", err, std)
	}
	fmt.Fprint(std.Out, s.write(r))
	if !r.Journey.Ends().Well() {
		return exitFound
	}
	return 0
}

// A traceWords is what flags say, before it is looked at.
type traceWords struct {
	body, properties, profile, format, consumersFile string
	routed                                           bool // --exchange or --key was given
	consumers                                        []string
}

// parseTraceSettings reads flags before and after the file.
func parseTraceSettings(args []string, help io.Writer) (traceSettings, error) {
	var s traceSettings
	var w traceWords
	f := s.flags(&w)
	var err error
	if s.file, err = parseFile(f, traceUsage, args, help); err != nil {
		return s, err
	}
	return s, s.resolve(w)
}

func (s *traceSettings) flags(w *traceWords) *flag.FlagSet {
	f := flag.NewFlagSet("leveret trace", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	route := func(to *string) func(string) error {
		return func(value string) error {
			*to, w.routed = value, true
			return nil
		}
	}
	f.Func("exchange", "`name` of the exchange to publish to; left out or empty: the default exchange", route(&s.plan.Exchange))
	f.Func("key", "routing `key`", route(&s.plan.RoutingKey))
	f.StringVar(&w.body, "body", "", "`text` of the message")
	f.StringVar(&w.properties, "properties", "", "its `properties` as in scenarios, such as 'expiration=1000 headers={tenant=blue}'")
	f.BoolVar(&s.plan.Message.Mandatory, "mandatory", false, "publish it as mandatory")
	f.Func("consumer", "a `consumer`, such as \"work: reject x3, 10s ack\"; may be given several times", func(line string) error {
		w.consumers = append(w.consumers, line)
		return nil
	})
	f.StringVar(&w.consumersFile, "consumers", "", "`file` of consumers, one in a line")
	f.DurationVar(&s.plan.For, "for", 24*time.Hour, "`time` that may pass at most, on the virtual clock")
	f.StringVar(&s.vhost, "vhost", "", "virtual `host`; empty: the only one of the file")
	f.StringVar(&w.profile, "profile", "4.3", "`release` of RabbitMQ to behave as: 4.3 or 3.10")
	f.StringVar(&w.format, "format", formatText, "`format` of the output: "+strings.Join(slices.Sorted(maps.Keys(traceFormats)), ", "))
	return f
}

// resolve makes of words what they stand for, and says what is missing.
func (s *traceSettings) resolve(w traceWords) (err error) {
	var known bool
	if s.profile, known = profiles[w.profile]; !known {
		return fmt.Errorf("--profile is %q, not 4.3 or 3.10", w.profile)
	}
	if s.write = traceFormats[w.format]; s.write == nil {
		return fmt.Errorf("--format is %q, not one of %s", w.format, strings.Join(slices.Sorted(maps.Keys(traceFormats)), ", "))
	}
	switch {
	case s.file == "":
		return errors.New("a file is expected")
	case !w.routed:
		return errors.New("--exchange, --key or both are expected")
	case s.plan.For <= 0:
		return fmt.Errorf("--for is %v: a time is expected", s.plan.For)
	}
	s.plan.Message.Body = []byte(w.body)
	if s.plan.Message.Properties, err = scenario.Properties(w.properties); err != nil {
		return fmt.Errorf("--properties: %w", err)
	}
	s.plan.Consumers, err = w.parseConsumers()
	return err
}

// parseConsumers reads those of the file, then those of the flags.
func (w traceWords) parseConsumers() (all []trace.Consumer, err error) {
	add := func(line, where string) error {
		c, err := trace.ParseConsumer(line)
		if err != nil {
			return fmt.Errorf("%s: %w", where, err)
		}
		all = append(all, c)
		return nil
	}
	if w.consumersFile != "" {
		text, err := os.ReadFile(w.consumersFile)
		if err != nil {
			return nil, err
		}
		number := 0
		for line := range strings.Lines(string(text)) {
			number++
			if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
				continue
			}
			if err := add(line, fmt.Sprintf("%s:%d", w.consumersFile, number)); err != nil {
				return nil, err
			}
		}
	}
	for _, line := range w.consumers {
		if err := add(line, "--consumer"); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (s traceSettings) run(std ctl.Streams) (*trace.Result, error) {
	data, err := readFile(s.file, std.In)
	if err != nil {
		return nil, err
	}
	clock := leveret.NewManualClock(time.Unix(1_800_000_000, 0))
	b := leveret.New(leveret.WithProfile(s.profile), leveret.WithClock(clock), leveret.WithSeed(1))
	defer b.Close()
	v, leftOut, err := load(b, data, s.vhost)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.file, err)
	}
	for _, e := range leftOut {
		fmt.Fprintf(std.Err, "leveret trace: left out: %v\n", e)
	}
	return trace.Run(v, clock, s.plan)
}
