package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The scripts in testdata hold commands and what a real rabbitmqctl printed for them:
//
//	$ command line                > line of standard output
//	< line of standard input      ! line of standard error
//	~ regexp: of the output only lines with it    = exit code, if not 0
//	@ connect, @ connect alone, @ connect in order, @ consume, @ disconnect: a client, see fixture
//	@ connect recovering, @ recovered: a client that connects again, see recovering
//
// Each must give the same on leveret. With -rabbitmqctl they run on a real broker instead, which
// shows that the expectation is true; -record writes it down anew.
var (
	rabbitmqctl = flag.String("rabbitmqctl", "", "command line of a rabbitmqctl to run the scripts with")
	rabbitmq    = flag.String("rabbitmq", "amqp://guest:guest@127.0.0.1:5672/", "URL of its broker")
	recording   = flag.Bool("record", false, "write what rabbitmqctl prints to the scripts")
)

// A target is something that the scripts run on.
type target struct {
	url string
	run func(args []string, stdin string) (stdout, stderr string, status int)
}

func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.ctl")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".ctl"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			on := leveretTarget
			if *rabbitmqctl != "" {
				on = rabbitTarget
			}
			got := play(t, on(t), string(want))
			if *recording {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
				return
			}
			compare(t, string(want), got)
		})
	}
}

func rabbitTarget(*testing.T) target {
	return target{url: *rabbitmq, run: func(args []string, stdin string) (string, string, int) {
		base := strings.Fields(*rabbitmqctl)
		cmd := exec.Command(base[0], append(base[1:], args...)...)
		var stdout, stderr bytes.Buffer
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &stdout, &stderr
		err := cmd.Run()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return stdout.String(), stderr.String(), exit.ExitCode()
		}
		return stdout.String(), stderr.String(), 0
	}}
}

func leveretTarget(t *testing.T) target {
	s := testSettings(t)
	srv := startForTest(t, s)
	return target{url: "amqp://guest:guest@" + srv.doors[0].listener.Addr().String() + "/", run: controlOf(s)}
}

// play runs a script and returns it with what the target printed.
func play(t *testing.T, on target, script string) string {
	var out strings.Builder
	var stdin, filter string
	clients := fixture{t: t, url: on.url}
	defer clients.disconnect()
	for line := range strings.Lines(script) {
		line = strings.TrimSuffix(line, "\n")
		if line != "" && strings.ContainsRune(">!=", rune(line[0])) {
			continue
		}
		out.WriteString(line + "\n")
		rest := strings.TrimPrefix(line[min(1, len(line)):], " ")
		switch {
		case strings.HasPrefix(line, "<"):
			stdin += rest + "\n"
		case strings.HasPrefix(line, "~"):
			filter = rest
		case line == "@ connect":
			clients.connect()
		case line == "@ connect alone":
			clients.connectAlone()
		case line == "@ connect in order":
			clients.connectInOrder()
		case line == "@ connect recovering":
			clients.connectRecovering()
		case line == "@ recovered":
			clients.recovered()
		case line == "@ consume":
			clients.consume()
		case line == "@ disconnect":
			clients.disconnect()
		case strings.HasPrefix(line, "$"):
			args := words(rest)
			stdout, stderr, status := on.run(args, stdin)
			out.WriteString(block(args, filtered(stdout, filter), stderr, status))
			stdin, filter = "", ""
		}
	}
	return out.String()
}

var word = regexp.MustCompile(`'[^']*'|[^\s]+`)

func words(s string) []string {
	all := word.FindAllString(s, -1)
	for i, w := range all {
		if strings.HasPrefix(w, "'") {
			all[i] = strings.Trim(w, "'")
		}
	}
	return all
}

func filtered(stdout, filter string) string {
	if filter == "" {
		return stdout
	}
	keep := regexp.MustCompile(filter)
	var kept strings.Builder
	for line := range strings.Lines(stdout) {
		if keep.MatchString(line) {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

func block(args []string, stdout, stderr string, status int) string {
	var b strings.Builder
	out := splitLines(neutral(stdout))
	if slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "list_") }) && !structured(args) {
		out = ordered(out)
	}
	for _, line := range out {
		b.WriteString("> " + line + "\n")
	}
	for _, line := range splitLines(neutral(stderr)) {
		b.WriteString("! " + line + "\n")
	}
	if status != 0 {
		b.WriteString("= " + strconv.Itoa(status) + "\n")
	}
	return b.String()
}

// structured reports whether the output has a form that takes several lines.
func structured(args []string) bool {
	return slices.Contains(args, "erlang") || slices.Contains(args, "pretty_table")
}

func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// neutral replaces what differs between any two brokers.
func neutral(s string) string {
	for _, r := range []struct{ pattern, with string }{
		{`\w+@localhost`, "NODE"}, {`<NODE\.[0-9.]+>`, "PID"}, {`Pid\(#PID<[0-9.]+>\)`, "PID"},
		{`127\.0\.0\.1:\d+`, "ADDR"}, {`\t\d{5}\t`, "\tPORT\t"}, {`<\d+\.\d+\.\d+>`, "PID"},
		{`\t\d+\t\d+\t\d+\t\d+\t(\d+)\t1\d{12}\b`, "\tOCTETS\tREADS\tOCTETS\tWRITES\t$1\tTIME"},
		{`"peer_port":\d+`, `"peer_port":0`},
		{regexp.QuoteMeta("rabbitmqctl [--node <node>] [--longnames] [--quiet]"), "PROGRAM"},
		{regexp.QuoteMeta("rabbitmq-diagnostics [--node <node>] [--longnames] [--quiet]"), "PROGRAM"},
		{regexp.QuoteMeta("leveret ctl [--control <socket>] [--quiet]"), "PROGRAM"},
		{"'(rabbitmqctl|rabbitmq-diagnostics|leveret ctl) help", "'PROGRAM help"},
		{regexp.QuoteMeta("<json | erlang>"), "<json>"},
	} {
		s = regexp.MustCompile(r.pattern).ReplaceAllString(s, r.with)
	}
	return s
}

// ordered sorts the rows of a listing, its header among them, and the members of JSON objects: their
// order means nothing. Banners stay in front.
func ordered(out []string) []string {
	banners := 0
	for banners < len(out) && strings.HasSuffix(out[banners], "...") {
		banners++
	}
	for i, line := range out {
		var object map[string]any
		if json.Unmarshal([]byte(strings.TrimPrefix(line, ",")), &object) == nil {
			sortTables(object)
			sorted, _ := json.Marshal(object)
			out[i] = string(sorted)
		}
	}
	slices.Sort(out[banners:])
	return out
}

// sortTables sorts the fields of the tables in a JSON value. A field is its name, type and value.
func sortTables(v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			sortTables(member)
		}
	case []any:
		fields := !slices.ContainsFunc(v, func(f any) bool { t, ok := f.([]any); return !ok || len(t) != 3 })
		for _, elem := range v {
			sortTables(elem)
		}
		if fields {
			slices.SortFunc(v, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		}
	}
}

// compare shows the differing commands rather than the whole script.
func compare(t *testing.T, want, got string) {
	wanted, given := blocks(want), blocks(got)
	require.Len(t, given, len(wanted))
	for i := range wanted {
		assert.Equal(t, wanted[i], given[i])
	}
}

func blocks(script string) []string { return strings.Split(script, "\n$ ") }
