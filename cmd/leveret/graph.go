package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
	"github.com/leveretmq/leveret/graph"
	"github.com/leveretmq/leveret/internal/ctl"
	"github.com/leveretmq/leveret/internal/presumed"
)

// leveret graph draws what a definitions file has in a virtual host.

const graphUsage = `usage: leveret graph [flags] FILE
FILE has definitions in JSON; - is standard input. Streams and what is for plugins only is left out, and told of.
The exit code is 2 if the file cannot be read, an import would refuse it, or the picture cannot be written.
`

// formats are those of pictures, by the endings of their files.
var formats = map[string]func(*graph.Graph) string{
	".svg": (*graph.Graph).SVG,
	".dot": (*graph.Graph).DOT,
	".gv":  (*graph.Graph).DOT,
	".mmd": (*graph.Graph).Mermaid,
}

// graphSettings are what leveret graph is told.
type graphSettings struct {
	file, output string // output empty: standard output
	vhost        string // empty: the only one
	profile      leveret.Profile
	draw         func(*graph.Graph) string
}

func drawGraph(args []string, std ctl.Streams) int {
	s, err := parseGraphSettings(args, std.Out)
	if err != nil {
		return refuseArguments("graph", graphUsage, err, std)
	}
	if err := s.run(std); err != nil {
		fmt.Fprintf(std.Err, "leveret graph: %v\n", err)
		return exitUsage
	}
	return 0
}

// parseGraphSettings reads flags before and after the file.
func parseGraphSettings(args []string, help io.Writer) (graphSettings, error) {
	var s graphSettings
	f := flag.NewFlagSet("leveret graph", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.StringVar(&s.output, "o", "", "`file` to write: .svg, .dot or .gv for Graphviz, .mmd for Mermaid; empty: SVG on standard output")
	f.StringVar(&s.vhost, "vhost", "", "virtual `host` to draw; empty: the only one of the file")
	profile := f.String("profile", "4.3", "`release` of RabbitMQ that the file is for: 4.3 or 3.10")
	var err error
	if s.file, err = parseFile(f, graphUsage, args, help); err != nil {
		return s, err
	}
	return s, s.resolve(*profile)
}

// resolve looks up what is named by a word, and says what is missing.
func (s *graphSettings) resolve(profile string) error {
	var ok bool
	if s.profile, ok = profiles[profile]; !ok {
		return fmt.Errorf("--profile is %q, not 4.3 or 3.10", profile)
	}
	ending := ".svg"
	if s.output != "" {
		ending = strings.ToLower(filepath.Ext(s.output))
	}
	if s.draw = formats[ending]; s.draw == nil {
		return fmt.Errorf("-o is %q, which ends in none of %s", s.output, strings.Join(slices.Sorted(maps.Keys(formats)), ", "))
	}
	if s.file == "" {
		return errors.New("a file is expected")
	}
	return nil
}

func (s graphSettings) run(std ctl.Streams) error {
	data, err := readFile(s.file, std.In)
	if err != nil {
		return err
	}
	// The clock stands, so that no queue expires before it is drawn.
	b := leveret.New(leveret.WithProfile(s.profile), leveret.WithClock(leveret.NewManualClock(time.Unix(0, 0))))
	defer b.Close()
	v, leftOut, err := load(b, data, s.vhost)
	if err != nil {
		return fmt.Errorf("%s: %w", s.file, err)
	}
	for _, e := range leftOut {
		fmt.Fprintf(std.Err, "leveret graph: left out: %v\n", e)
	}
	text := s.draw(graph.Of(v))
	if s.output == "" {
		_, err = io.WriteString(std.Out, text)
		return err
	}
	return os.WriteFile(s.output, []byte(text), 0o644)
}

// load imports definitions, with what they presume, and returns the virtual host to draw, by name or the only one that they are about.
func load(b *leveret.Broker, data []byte, vhost string) (*leveret.VHost, []*definitions.Error, error) {
	d, err := definitions.Parse(data)
	if err != nil {
		return nil, nil, err
	}
	d, leftOut := d.Supported(b.Profile())
	if d.Format == "single_virtual_host" {
		v, err := b.VHost("/")
		if err == nil {
			err = d.ApplyToVHost(v)
		}
		return v, leftOut, err
	}
	presumed.Make(d, b)
	if err := d.Apply(b); err != nil {
		return nil, nil, err
	}
	if vhost == "" {
		if vhost, err = onlyVHost(d); err != nil {
			return nil, nil, err
		}
	}
	v, err := b.VHost(vhost)
	return v, leftOut, err
}

// onlyVHost returns the virtual host in which there are queues or exchanges.
func onlyVHost(d *definitions.Definitions) (string, error) {
	used := map[string]bool{}
	for _, q := range d.Queues {
		used[q.VHost] = true
	}
	for _, x := range d.Exchanges {
		used[x.VHost] = true
	}
	names := slices.Sorted(maps.Keys(used))
	switch len(names) {
	case 0:
		return "/", nil
	case 1:
		return names[0], nil
	}
	return "", fmt.Errorf("there are several virtual hosts, choose one by --vhost: %s", strings.Join(names, ", "))
}
