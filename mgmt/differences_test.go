package mgmt_test

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write docs/management.md anew")

// TestDifferencesAreTold compares docs/management.md with what the answers of TestConversation and TestSamples lack, or
// have besides, beside those of the live brokers.
func TestDifferencesAreTold(t *testing.T) {
	const file = "../docs/management.md"
	rows := differing{}
	for _, p := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		said := recorded(t, "testdata/conversation-"+p.Version()+".json")
		_, ours, _ := newAPI(t, leveret.WithProfile(p))
		for i, answer := range ours.converse(t, "conversation") {
			rows.add(said[i].Request, p.Version(), said[i].Status, said[i].Answer, answer.Answer, false)
		}
	}
	files, err := filepath.Glob("testdata/4.3.6/*.json")
	require.NoError(t, err)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		var s sample
		require.NoError(t, json.Unmarshal(data, &s))
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			a, names := newShop(t)
			got := a.sendSample(s, names)
			require.Equal(t, s.Status, got.status)
			rows.add(strings.Replace(s.Request, "/api/", "", 1), leveret.RabbitMQ43.Version(), s.Status, s.Body, got.body, s.Items > 0)
		})
	}
	written, err := os.ReadFile(file)
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(introduction+rows.table()), 0o644))
		return
	}
	require.NoError(t, err)
	assert.Equal(t, string(written), introduction+rows.table(), "go test ./mgmt -run TestDifferencesAreTold -update")
}

const introduction = `# The management API beside RabbitMQ's

The same requests, some 480, were sent to RabbitMQ 4.3.6, RabbitMQ 3.10.8 and leveret as either: those of ` + "`mgmt/testdata/conversation.txt`" + `
to both releases, and those of ` + "`mgmt/testdata/4.3.6`" + ` while clients were at work. Status, allowed methods and the texts of refusals are the same everywhere.
So are the fields of answers and their types, but for those below. ` + "`go test ./mgmt -run TestDifferencesAreTold -update`" + ` writes this table, never a hand.

A field stands with the path to it: ` + "`[]`" + ` is any item of a list. Three dots stand for all fields that begin so.

| requests, for example | release | not in leveret's answer, or other there |
| --- | --- | --- |
`

// differing are the answers that differ: the releases and a request of each, by what is missing.
type differing map[string]map[string]string

// add notes how an answer differs. Of a list that was cut the items that are left may lack what others have.
func (d differing) add(request, release string, status int, want, ours any, cut bool) {
	if status >= 300 {
		return
	}
	var missing []string
	for _, text := range differences(shapeOf(want), shapeOf(ours), upToUsers.MatchString) {
		field, without := strings.CutPrefix(text, "without ")
		switch {
		case without:
			missing = append(missing, "`"+family(strings.TrimPrefix(field, "."))+"`")
		case !cut || !strings.HasPrefix(text, "with []"):
			missing = append(missing, text)
		}
	}
	if len(missing) == 0 {
		return
	}
	slices.Sort(missing)
	fields := strings.Join(slices.Compact(missing), ", ")
	if d[fields] == nil {
		d[fields] = map[string]string{}
	}
	path, _, _ := strings.Cut(request, "?")
	path, _, _ = strings.Cut(path, " {")
	if first, ok := d[fields][release]; !ok || len(path) < len(first) || len(path) == len(first) && path < first {
		d[fields][release] = path
	}
}

// family returns the field, or the beginning of those of which a node has many.
func family(field string) string {
	for _, begin := range []string{"io_", "mnesia_", "msg_store_", "queue_index_", "gc_", "context_switches", "garbage_collection", "metrics_gc_queue_length",
		"reductions", "cowboy_opts", "socket_opts", "churn_rates."} {
		if before, _, ok := strings.Cut(field, begin); ok && (before == "" || strings.HasSuffix(before, ".")) {
			return before + begin + "…"
		}
	}
	return strings.TrimSuffix(field, "_details.rate") // the rate goes with its figure
}

func (d differing) table() string {
	var lines []string
	for fields, releases := range d {
		for _, release := range slices.Sorted(maps.Keys(releases)) {
			lines = append(lines, "| `"+releases[release]+"` | "+release+" | "+fields+" |\n")
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}
