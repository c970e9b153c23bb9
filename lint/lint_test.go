package lint_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
	"github.com/leveretmq/leveret/internal/golden"
	"github.com/leveretmq/leveret/lint"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFiles lints each definitions file in testdata. What is found stands beside it, and was compared with the file by
// a person.
func TestFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			golden.Equal(t, name+".txt", text(check(t, file, leveret.RabbitMQ43)))
		})
	}
}

func check(t *testing.T, file string, p leveret.Profile) []lint.Finding {
	t.Helper()
	document, err := os.ReadFile(file)
	require.NoError(t, err)
	found, err := lint.Check(document, p)
	require.NoError(t, err)
	return found
}

func text(findings []lint.Finding) string {
	var b strings.Builder
	for _, f := range findings {
		b.WriteString(f.String() + "\n")
	}
	return b.String()
}

// TestEveryCode asks for a file with a finding of each code, for a section about the code, and for a severity.
func TestEveryCode(t *testing.T) {
	page, err := os.ReadFile("../docs/lint.md")
	require.NoError(t, err)
	for code, severity := range lint.Severities() {
		files, err := filepath.Glob("testdata/" + string(code) + "-*.json")
		require.NoError(t, err)
		if !assert.Len(t, files, 1, code) {
			continue
		}
		found := false
		for _, f := range check(t, files[0], leveret.RabbitMQ43) {
			assert.Equal(t, lint.Severities()[f.Code], f.Severity)
			found = found || f.Code == code
		}
		assert.True(t, found, "%s finds no %s", files[0], code)
		assert.Contains(t, string(page), "\n### "+string(code)+"\n\n*"+string(severity)+".* ")
	}
	assert.Equal(t, len(lint.Severities()), strings.Count(string(page), "\n### L"))
}

// TestRelease shows that the release decides: 3.10 has no policies for one type of queues.
func TestRelease(t *testing.T) {
	assert.Empty(t, check(t, "testdata/good.json", leveret.RabbitMQ310))
	found := check(t, "testdata/L031-useless.json", leveret.RabbitMQ310)
	assert.Contains(t, text(found), "L001 error policy 'classic': Validation failed apply-to 'classic_queues' unrecognised")
}

// TestOneVHost shows that a file of one virtual host, whose entries do not name it, is looked at under its name.
func TestOneVHost(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	v, err := b.CreateVHost("shop")
	require.NoError(t, err)
	_, err = v.DeclareQueue("orders", leveret.QueueConfig{Durable: true,
		Arguments: leveret.Table{leveret.ArgDeadLetterExchange: "dlx"}})
	require.NoError(t, err)
	document, err := definitions.ExportVHost(v)
	require.NoError(t, err)
	found, err := lint.Check(document, leveret.RabbitMQ43)
	require.NoError(t, err)
	assert.Equal(t, "L010 error queue 'orders' in virtual host 'shop': "+
		"There is no exchange 'dlx', its dead-letter exchange. What dies here is lost.\n", text(found))
}

// TestNoDefinitions shows what is no finding but an error, and the entry whose form ends the reading.
func TestNoDefinitions(t *testing.T) {
	_, err := lint.Check([]byte("{\n x"), leveret.RabbitMQ43)
	var syntax *definitions.SyntaxError
	require.ErrorAs(t, err, &syntax)
	assert.Equal(t, 2, syntax.Line)

	found, err := lint.Check([]byte(`{"queues": [{"name": 5}]}`), leveret.RabbitMQ43)
	require.NoError(t, err)
	require.Len(t, found, 1)
	assert.Equal(t, lint.Refused, found[0].Code)
}

// TestExplain explains each queue of a file.
func TestExplain(t *testing.T) {
	document, err := os.ReadFile("testdata/shop.json")
	require.NoError(t, err)
	d, err := definitions.Parse(document)
	require.NoError(t, err)
	for _, q := range d.Queues {
		t.Run(q.Name, func(t *testing.T) {
			e, err := lint.Explain(document, leveret.RabbitMQ43, "", q.Name)
			require.NoError(t, err)
			golden.Equal(t, filepath.Join("explain", q.Name+".txt"), e.String())
		})
	}
}

// TestExplainProjects explains the queues of files that are written after what public projects deploy. The texts were
// compared with the files by a person.
func TestExplainProjects(t *testing.T) {
	files, err := filepath.Glob("testdata/project-*.json")
	require.NoError(t, err)
	assert.Len(t, files, 10)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			document, err := os.ReadFile(file)
			require.NoError(t, err)
			d, err := definitions.Parse(document)
			require.NoError(t, err)
			var got strings.Builder
			for _, q := range d.Queues {
				e, err := lint.Explain(document, leveret.RabbitMQ43, q.VHost, q.Name)
				require.NoError(t, err)
				got.WriteString(e.String() + "\n")
			}
			golden.Equal(t, filepath.Join("explain", name+".txt"), got.String())
		})
	}
}

// TestExplainAsksTheRelease shows that 3.10 has other settings and another default.
func TestExplainAsksTheRelease(t *testing.T) {
	document := []byte(`{"queues": [{"name": "q", "vhost": "/", "durable": true, "auto_delete": false, "arguments": {"x-queue-type": "quorum"}}]}`)
	for release, limit := range map[leveret.Profile]any{leveret.RabbitMQ43: int64(20), leveret.RabbitMQ310: nil} {
		e, err := lint.Explain(document, release, "/", "q")
		require.NoError(t, err)
		i := slices.IndexFunc(e.Settings, func(s leveret.Setting) bool { return s.Key == "delivery-limit" })
		require.GreaterOrEqual(t, i, 0)
		assert.Equal(t, leveret.Setting{Key: "delivery-limit", Value: limit, Source: leveret.SourceDefault}, e.Settings[i])
	}
}

// TestExplainFindsTheQueue shows when the virtual host has to be named.
func TestExplainFindsTheQueue(t *testing.T) {
	document := []byte(`{"queues": [{"name": "q", "vhost": "a"}, {"name": "q", "vhost": "b"}, {"name": "r", "vhost": "b"}]}`)
	for _, c := range []struct{ vhost, queue, says string }{
		{"", "q", "there is a queue 'q' in each of the virtual hosts 'a' and 'b': one has to be named"},
		{"", "s", "there is no queue 's'"},
		{"a", "r", "there is no queue 'r' in virtual host 'a'"},
	} {
		_, err := lint.Explain(document, leveret.RabbitMQ43, c.vhost, c.queue)
		assert.EqualError(t, err, c.says)
	}
	for vhost, queue := range map[string]string{"a": "q", "": "r"} {
		e, err := lint.Explain(document, leveret.RabbitMQ43, vhost, queue)
		require.NoError(t, err)
		assert.Equal(t, queue, e.Queue)
	}
	_, err := lint.Explain([]byte("{"), leveret.RabbitMQ43, "", "q")
	var syntax *definitions.SyntaxError
	assert.ErrorAs(t, err, &syntax)
}

// TestManyRefusals shows that a file of which nothing is accepted does not take an import for each entry.
func TestManyRefusals(t *testing.T) {
	d := definitions.Definitions{VHosts: []definitions.VHost{}}
	for i := range 500 {
		d.Queues = append(d.Queues, definitions.Queue{Name: fmt.Sprint("q", i), VHost: "nowhere"})
	}
	document, err := json.Marshal(d)
	require.NoError(t, err)
	found, err := lint.Check(document, leveret.RabbitMQ43)
	require.NoError(t, err)
	require.Len(t, found, 21)
	assert.Equal(t, "L001 error queue '': More than 20 entries may be refused: the others were not looked at.", found[0].String())
}

// TestQueuesThatAreNotMade shows that policies are not looked for on queues that an import passes over.
func TestQueuesThatAreNotMade(t *testing.T) {
	found, err := lint.Check([]byte(`{
		"queues": [{"name": "a", "vhost": "/"}, {"name": "b", "vhost": "/", "durable": false, "arguments": {"x-queue-type": "quorum"}}],
		"policies": [{"vhost": "/", "name": "p", "pattern": "b", "definition": {"expires": 5}}]}`), leveret.RabbitMQ43)
	require.NoError(t, err)
	assert.Equal(t, "L030 info policy 'p': It matches nothing in this file.\n"+
		"L003 warning queue 'b': An import does not make this queue, and does not say so: "+
		"its type cannot be auto-delete or not durable, or the limit of queues is reached.\n", text(found))
}

// TestLimitsDoNotHideFindings shows that limits of the file do not keep a user from being looked at.
func TestLimitsDoNotHideFindings(t *testing.T) {
	found, err := lint.Check([]byte(`{
		"permissions": [{"user": "app", "vhost": "/", "configure": ".*", "write": "^a", "read": ".*"}],
		"parameters": [{"component": "vhost-limits", "name": "limits", "vhost": "/", "value": {"max-connections": 0, "max-queues": 1}}],
		"exchanges": [{"name": "dlx", "vhost": "/", "type": "fanout"}],
		"queues": [{"name": "a", "vhost": "/", "arguments": {"x-dead-letter-exchange": "dlx"}}],
		"bindings": [{"source": "dlx", "vhost": "/", "destination": "a", "destination_type": "queue", "routing_key": "", "arguments": {}}]}`),
		leveret.RabbitMQ43)
	require.NoError(t, err)
	assert.Contains(t, text(found), "L050 warning user 'app': May declare queue 'a', but not with its dead-letter exchange")
}

// TestExplainAQueueWithoutRoom shows that the way of dead letters does not depend on whether the queue has room.
func TestExplainAQueueWithoutRoom(t *testing.T) {
	for _, release := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		for _, kind := range []string{"classic", "quorum"} {
			e, err := lint.Explain([]byte(`{
				"exchanges": [{"name": "in", "vhost": "/", "type": "topic", "durable": true}],
				"queues": [{"name": "q", "vhost": "/", "durable": true, "auto_delete": false,
					"arguments": {"x-queue-type": "`+kind+`", "x-dead-letter-exchange": "in", "x-max-length": 0}}],
				"policies": [{"vhost": "/", "name": "p", "pattern": "", "definition": {"max-length": 0, "overflow": "reject-publish"}}],
				"bindings": [{"source": "in", "vhost": "/", "destination": "q", "destination_type": "queue", "routing_key": "a.*", "arguments": {}}]
			}`), release, "", "q")
			require.NoError(t, err)
			require.Len(t, e.Ways, 1)
			require.Len(t, e.Ways[0].Steps, 1, "%s in %s", kind, release)
			assert.Equal(t, leveret.CauseCycle, e.Ways[0].Steps[0].Lost)
		}
	}
}
