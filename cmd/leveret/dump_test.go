package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDumpCommand(t *testing.T) {
	from, to := serveBroker(t), serveBroker(t)
	from.fill(t, "work", "a", "b")
	file := filepath.Join(t.TempDir(), "dump")
	dump := []string{"dump", "--from", from.url, "--from-admin", from.admin, file}
	out, stderr, status := called("", dump...)
	assert.Zero(t, status, stderr)
	assert.Contains(t, out, "queue work: 2 messages\n")
	assert.Equal(t, []string{"a", "b"}, from.bodiesOf(t, "work"))
	_, stderr, status = called("", dump...)
	assert.Equal(t, exitUsage, status)
	assert.Contains(t, stderr, "file exists")

	text, err := os.ReadFile(file)
	require.NoError(t, err)
	out, stderr, status = called(string(text), "load", "--to", to.url, "--to-admin", to.admin, "-")
	assert.Zero(t, status, stderr)
	assert.Contains(t, out, "queue work: 2 messages\n")
	assert.Equal(t, []string{"a", "b"}, to.bodiesOf(t, "work"))

	require.NoError(t, os.Remove(file))
	_, stderr, status = called("", append(dump, "--take")...)
	assert.Zero(t, status, stderr)
	assert.Empty(t, from.bodiesOf(t, "work"))
	_, stderr, status = called("", append(dump, "--take")...)
	assert.Equal(t, exitUsage, status)
	assert.Contains(t, stderr, "the dump is whole")
}

// A dead letter is pulled to another broker, and sent back to where it died there.
func TestPullAndReplayCommands(t *testing.T) {
	from, to := serveBroker(t), serveBroker(t)
	from.fill(t, "dead")
	_, err := from.DeclareQueue("work", leveret.QueueConfig{Durable: true, Arguments: leveret.Table{
		leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "dead"}})
	require.NoError(t, err)
	_, err = from.Publish("", "work", leveret.Message{Body: []byte("order 17")})
	require.NoError(t, err)
	q, err := from.Queue("work")
	require.NoError(t, err)
	d, _, err := q.Get()
	require.NoError(t, err)
	require.NoError(t, d.Reject(false))

	_, stderr, status := called("", "pull", "--from", from.url, "--from-admin", from.admin, "--to", to.url, "--to-admin", to.admin, "--queue", "dead")
	assert.Zero(t, status, stderr)
	assert.Equal(t, []string{"order 17"}, from.bodiesOf(t, "dead"))
	assert.Equal(t, []string{"order 17"}, to.bodiesOf(t, "dead"))

	replay := []string{"replay", "--from", from.url, "--from-admin", from.admin, "--queue", "d*"}
	_, stderr, status = called("", append(replay, "--to", to.url, "--to-admin", to.admin)...)
	assert.Equal(t, exitFound, status, "the target of the pull has no queue work")
	assert.Empty(t, stderr)
	_, stderr, status = called("", replay...)
	assert.Zero(t, status, stderr)
	assert.Empty(t, from.bodiesOf(t, "dead"))
	assert.Equal(t, []string{"order 17"}, from.bodiesOf(t, "work"))
}

func TestMoveCommandsArguments(t *testing.T) {
	const url = "amqp://guest:guest@127.0.0.1:1/"
	for says, line := range map[string]string{
		"leveret dump: a file is expected":    "dump --from " + url,
		"leveret dump: --from is expected":    "dump x",
		"leveret load: --to is expected":      "load x",
		"leveret load: a file is expected":    "load --to " + url,
		"leveret pull: --queue is expected":   "pull --from " + url,
		"leveret replay: --queue is expected": "replay --from " + url,
		"leveret load: open /nonesuch":        "load --to " + url + " /nonesuch",
	} {
		_, stderr, status := called("", strings.Fields(line)...)
		assert.Equal(t, exitUsage, status, says)
		assert.Contains(t, stderr, says)
	}
	for _, command := range []string{"move", "dump", "load", "pull", "replay"} {
		out, stderr, status := called("", command, "--help")
		assert.Zero(t, status, stderr)
		assert.Contains(t, out, "usage: leveret "+command)
	}
}
