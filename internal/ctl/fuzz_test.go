package ctl

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
)

// FuzzCommands runs command lines one after the other on a broker that has one of everything. None may panic, what is shown as JSON
// is JSON, errors have one of rabbitmqctl's exit codes, and the broker stays in order and can be exported.
func FuzzCommands(f *testing.F) {
	for _, script := range scriptedCommands(f) {
		f.Add(script, `{"queues":[{"name":"z","vhost":"/"}]}`)
	}
	f.Add("list_queues --formatter json\nlist_consumers --formatter erlang\nlist_channels --formatter csv", "x")
	f.Fuzz(func(t *testing.T, script, stdin string) {
		clock := leveret.NewManualClock(time.Unix(1_700_000_000, 0))
		b := leveret.New(leveret.WithClock(clock), leveret.WithSeed(1))
		defer b.Close()
		n := &Node{Broker: b, Name: "leveret@localhost", Started: time.Unix(0, 0)}
		furnish(t, b)
		for i, line := range strings.Split(script, "\n") {
			if i == 20 {
				break
			}
			runLine(t, n, words(line), stdin)
		}
		if err := b.Check(); err != nil {
			t.Fatal(err)
		}
		if _, err := definitions.Export(b); err != nil {
			t.Fatal(err)
		}
	})
}

// scriptedCommands are the command lines of the scripts that were recorded with rabbitmqctl.
func scriptedCommands(f *testing.F) (scripts []string) {
	files, err := filepath.Glob("../../cmd/leveret/testdata/*.ctl")
	if err != nil || len(files) == 0 {
		f.Fatal("no scripts: ", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		var lines []string
		for line := range strings.Lines(string(data)) {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				lines = append(lines, strings.TrimSpace(command))
			}
		}
		for some := range slices.Chunk(lines, 10) {
			scripts = append(scripts, strings.Join(some, "\n"))
		}
	}
	return scripts
}

// words splits a line as a shell does that knows single quotes only.
func words(line string) (all []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			all = append(all, part)
		} else {
			all = append(all, strings.Fields(part)...)
		}
	}
	return all
}

// furnish makes what there is to list.
func furnish(t *testing.T, b *leveret.Broker) {
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	q, err := b.DeclareQueue("q", leveret.QueueConfig{Durable: true, Arguments: leveret.Table{"x-max-length": 5, "x-table": leveret.Table{"a": []any{1.5, nil}}}})
	check(err)
	check(b.BindQueue("q", "amq.headers", "k\t\"", leveret.Table{"x-match": "any", "ü": []byte{0xff}}))
	check(b.SetPolicy(leveret.Policy{Name: "p", Pattern: "^q", Definition: leveret.Table{"message-ttl": 1000}}))
	_, err = b.Publish("", q.Name(), leveret.Message{Body: []byte("body")})
	check(err)
	c, err := b.Connect("guest", "guest", "/")
	check(err)
	ch, err := c.Channel()
	check(err)
	_, err = ch.Consume("q", leveret.ConsumeConfig{Tag: "tag", Handler: func(*leveret.Delivery) {}})
	check(err)
}

// runLine runs a command as its caller does.
func runLine(t *testing.T, n *Node, argv []string, stdin string) {
	req := Request{Args: argv}
	resp := n.Run(req)
	if resp.Need != nil {
		req.Input = &Input{Kind: resp.Need.Kind, Data: []byte(stdin)}
		if resp = n.Run(req); resp.Need != nil {
			t.Fatalf("%q needs something twice", argv)
		}
	}
	if !slices.Contains([]int{0, exitUsage, exitData, exitNoUser, exitUnavailable, exitSoftware}, resp.Status) {
		t.Fatalf("%q: exit code %d", argv, resp.Status)
	}
	_, cmd := find(argv)
	if cmd == nil || resp.Status != 0 || resp.Stdout == "" {
		return
	}
	c := newCall(cmd, argv)
	raw := slices.Contains([]string{"export_definitions", "help", "version"}, cmd.name) || c.is("help", false) || c.is("dry-run", false)
	if c.text("formatter", "") == "json" && !raw && !json.Valid([]byte(resp.Stdout)) {
		t.Fatalf("%q: %q is no JSON", argv, resp.Stdout)
	}
}
