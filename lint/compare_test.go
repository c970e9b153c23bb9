package lint_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
	"github.com/leveretmq/leveret/internal/golden"
	"github.com/leveretmq/leveret/lint"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func readFile(t *testing.T, name string) []byte {
	text, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return text
}

func compared(t *testing.T, old, next string) *lint.Comparison {
	c, err := lint.Compare([]byte(old), []byte(next), leveret.RabbitMQ43)
	require.NoError(t, err)
	return c
}

// TestCompare compares the files in testdata/diff, there and back, many times: what is told does not depend on chance.
func TestCompare(t *testing.T) {
	old, next := readFile(t, "diff/old.json"), readFile(t, "diff/new.json")
	for range 5 {
		c, err := lint.Compare(old, next, leveret.RabbitMQ43)
		require.NoError(t, err)
		golden.Equal(t, "diff/changes.txt", c.String())
		text, err := json.MarshalIndent(c, "", "  ")
		require.NoError(t, err)
		golden.Equal(t, "diff/changes.json", string(text)+"\n")
		back, err := lint.Compare(next, old, leveret.RabbitMQ310)
		require.NoError(t, err)
		golden.Equal(t, "diff/back.txt", back.String())
	}
}

// TestSame finds no change between a file and itself, nor between a broker's export and what it was made of.
func TestSame(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	require.NoError(t, err)
	same := 0
	for _, file := range files {
		document, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, p := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
			c, err := lint.Compare(document, document, p)
			if err != nil {
				assert.ErrorContains(t, err, "both files: ", file)
				continue
			}
			same++
			assert.Empty(t, c.Changes, file)
		}
	}
	assert.Greater(t, same, 30)

	b := leveret.New()
	defer b.Close()
	require.NoError(t, definitions.Import(b, readFile(t, "diff/old.json")))
	exported, err := definitions.Export(b)
	require.NoError(t, err)
	c, err := lint.Compare(readFile(t, "diff/old.json"), exported, leveret.RabbitMQ43)
	require.NoError(t, err)
	for _, change := range c.Changes {
		assert.True(t, change.Kind == "global parameter" || change.Name == "guest" || change.Kind == "virtual host", change.String())
	}
}

// TestSections compares only what both files have a section for, and files of one virtual host whatever it is called.
func TestSections(t *testing.T) {
	const queues = `"queues":[{"name":"q","vhost":"/","durable":true,"auto_delete":false,"arguments":{}}]`
	const policies = `"policies":[{"vhost":"/","name":"p","pattern":".*","apply-to":"all","definition":{"max-length":1},"priority":0}]`
	assert.Empty(t, compared(t, `{`+queues+`}`, `{`+policies+`}`).Changes)
	assert.Empty(t, compared(t, `{}`, `{`+queues+`,`+policies+`}`).Changes)
	assert.Equal(t, "- policy 'p'\n", strings.SplitAfterN(compared(t, `{`+policies+`}`, `{"policies":[]}`).String(), "\n", 2)[0])

	one := func(vhost, queue string) string {
		return `{"rabbitmq_definition_format":"single_virtual_host","original_vhost_name":"` + vhost + `","queues":[{"name":"` + queue + `","durable":true,"auto_delete":false,"arguments":{}}]}`
	}
	assert.Empty(t, compared(t, one("a", "q"), one("b", "q")).Changes)
	assert.Equal(t, "+ queue 'r' in virtual host 'a'\n- queue 'q' in virtual host 'a'\n  ! Whoever deletes the queue loses its messages: they are not dead-lettered.\n",
		ordered(compared(t, one("a", "q"), one("b", "r")).String()))
}

// TestGuest removes the user and the permissions that a broker without definitions has, too.
func TestGuest(t *testing.T) {
	const guest = `{"vhosts":[{"name":"/"}],"users":[{"name":"guest","password":"guest","hashing_algorithm":"","tags":[],"limits":{}}],
		"permissions":[{"user":"guest","vhost":"/","configure":".*","write":".*","read":".*"}]}`
	const nobody = `{"vhosts":[{"name":"/"}],"users":[],"permissions":[]}`
	assert.Empty(t, compared(t, guest, guest).Changes, "a password is hashed in another way each time")
	assert.Equal(t, "- user 'guest'\n  ! When the user is deleted, the user's connections are closed.\n- permissions 'guest'\n",
		compared(t, guest, nobody).String())
	assert.Equal(t, "+ user 'guest'\n+ permissions 'guest'\n", compared(t, nobody, guest).String())
}

// ordered puts the added queue first: names come in their order.
func ordered(text string) string {
	before, after, _ := strings.Cut(text, "+ ")
	return "+ " + after + before
}

// TestDeadLettersElsewhere changes what is behind a queue whose own settings stay.
func TestDeadLettersElsewhere(t *testing.T) {
	file := func(args, bindings string) string {
		return `{"exchanges":[{"name":"dlx","vhost":"/","type":"direct","durable":true,"auto_delete":false,"arguments":{}},
			{"name":"x","vhost":"/","type":"topic","durable":true,"auto_delete":false,"arguments":{}}],
			"queues":[{"name":"q","vhost":"/","durable":true,"auto_delete":false,"arguments":{` + args + `}},
			{"name":"a","vhost":"/","durable":true,"auto_delete":false,"arguments":{}},
			{"name":"b","vhost":"/","durable":true,"auto_delete":false,"arguments":{}}],
			"bindings":[` + bindings + `{"source":"x","vhost":"/","destination":"q","destination_type":"queue","routing_key":"k.*","arguments":{}}]}`
	}
	bind := func(queue, key string) string {
		return `{"source":"dlx","vhost":"/","destination":"` + queue + `","destination_type":"queue","routing_key":"` + key + `","arguments":{}},`
	}
	const dlx = `"x-dead-letter-exchange":"dlx"`
	const dlrk = dlx + `,"x-dead-letter-routing-key":"dead"`
	for _, c := range []struct{ what, old, next, says string }{
		{"another binding", file(dlrk, bind("a", "dead")), file(dlrk, bind("b", "dead")),
			"Dead letters go another way: q → exchange 'dlx' with key 'dead' → b. Before: q → exchange 'dlx' with key 'dead' → a."},
		{"one more", file(dlrk, bind("a", "dead")), file(dlrk, bind("a", "dead")+bind("b", "dead")), "with key 'dead' → a, b. Before: "},
		{"none", file(dlrk, bind("a", "dead")), file(dlrk, ""), "→ exchange 'dlx' with key 'dead' → no queue: lost. Before: "},
		{"by its own key", file(dlx, bind("a", "k.one")), file(dlx, bind("b", "k.one")),
			"of messages that came with a key such as 'k.one' go another way: q → exchange 'dlx' with key 'k.one' → b."},
	} {
		text := compared(t, c.old, c.next).String()
		assert.Contains(t, text, "~ queue 'q'\n", c.what)
		assert.Contains(t, text, c.says, c.what)
	}
	// A running queue keeps its arguments, so its dead letters go where they went.
	text := compared(t, file(dlrk, bind("a", "dead")), file(dlx, bind("a", "dead"))).String()
	assert.Contains(t, text, "x-dead-letter-routing-key: dead → none, when it is declared anew")
	assert.NotContains(t, text, "another way")
}

func TestNotCompared(t *testing.T) {
	const stream = `{"queues":[{"name":"s","vhost":"/","durable":true,"auto_delete":false,"arguments":{"x-queue-type":"stream"}}]}`
	c := compared(t, stream, stream)
	assert.Empty(t, c.Changes)
	require.Len(t, c.NotCompared, 2)
	assert.Contains(t, c.String(), "? not compared: the old file: queue 's': ")

	c = compared(t, `{}`, `{"quues":[]}`)
	require.Len(t, c.NotCompared, 1)
	assert.Contains(t, c.NotCompared[0], "the new file: ")
	assert.Contains(t, c.NotCompared[0], "quues")

	exchange := func(kind string) string {
		return `{"exchanges":[{"name":"x","vhost":"/","type":"` + kind + `","durable":true,"auto_delete":false,"arguments":{}}],
			"queues":[{"name":"q","vhost":"/","durable":true,"auto_delete":false,"arguments":{}}],
			"bindings":[{"source":"x","vhost":"/","destination":"q","destination_type":"queue","routing_key":"#.a.#.b.#","arguments":{}}]}`
	}
	direct := strings.Replace(exchange("topic"), `"#.a.#.b.#"`, `"a"`, 1)
	c = compared(t, direct, exchange("direct"))
	require.Len(t, c.NotCompared, 1)
	assert.Contains(t, c.NotCompared[0], "what is running refuses binding 'x -> q': precondition_failed: Topic binding key")
}

func TestCompareRefuses(t *testing.T) {
	for _, c := range []struct{ old, next, says string }{
		{"{", "{}", "the old file: line 1, column 1: "},
		{"{}", "[]", "the new file: "},
		{"{}", `{"queues":[{"name":"q","vhost":"nowhere"}]}`, ""},
		{"{}", `{"vhosts":[],"queues":[{"name":"q","vhost":"nowhere","durable":true,"auto_delete":false,"arguments":{}}]}`, "both files: queue 'q': Please create virtual host"},
		{`{"queues":[]}`, `{"vhosts":[],"queues":[{"name":"q","vhost":"nowhere","durable":true,"auto_delete":false,"arguments":{}}]}`, "the new file: queue 'q': "},
		{`{"policies":[{"vhost":"/","name":"p","pattern":"(","apply-to":"all","definition":{"max-length":1},"priority":0}]}`, "{}", "both files: policy 'p': "},
		{`{"policies":[{"vhost":"/","name":"p","pattern":"(","apply-to":"all","definition":{"max-length":1},"priority":0}]}`, `{"policies":[]}`, "the old file: policy 'p': "},
	} {
		_, err := lint.Compare([]byte(c.old), []byte(c.next), leveret.RabbitMQ43)
		if c.says == "" {
			assert.NoError(t, err)
			continue
		}
		assert.ErrorContains(t, err, c.says)
	}
}
