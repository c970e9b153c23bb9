package main

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/leverettest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// served is a broker that commands reach by URLs.
type served struct {
	*leveret.Broker
	url, admin string
}

func serveBroker(t *testing.T) served {
	b := leverettest.New(t)
	return served{b, leverettest.URL(t, b), leverettest.Management(t, b)}
}

// bodiesOf are those of a queue.
func (s served) bodiesOf(t *testing.T, queue string) (all []string) {
	q, err := s.Queue(queue)
	require.NoError(t, err)
	for _, m := range q.Messages() {
		all = append(all, string(m.Body))
	}
	return all
}

func (s served) fill(t *testing.T, queue string, bodies ...string) {
	_, err := s.DeclareQueue(queue, leveret.QueueConfig{Durable: true})
	require.NoError(t, err)
	for _, body := range bodies {
		_, err = s.Publish("", queue, leveret.Message{Body: []byte(body)})
		require.NoError(t, err)
	}
}

func TestMoveCommand(t *testing.T) {
	from, to := serveBroker(t), serveBroker(t)
	from.fill(t, "work", "a", "b")
	from.fill(t, "left", "c")
	args := []string{"move", "--from", from.url, "--from-admin", from.admin, "--to", to.url, "--to-admin", to.admin, "--except", "l*"}
	out, stderr, status := called("", append(args, "--dry-run")...)
	assert.Zero(t, status, stderr)
	assert.Equal(t, "definitions: 0 bindings, 0 exchanges, 0 parameters, 0 policies, 1 queues\nqueue work: 2 messages are ready\nmessages: 2\n", out)
	assert.Equal(t, []string{"a", "b"}, from.bodiesOf(t, "work"))

	out, stderr, status = called("", append(args, "--format", "json")...)
	assert.Zero(t, status, stderr)
	var r struct{ Moved, SentAgain int }
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	assert.Equal(t, 2, r.Moved)
	assert.Equal(t, []string{"a", "b"}, to.bodiesOf(t, "work"))
	assert.Equal(t, []string{"c"}, from.bodiesOf(t, "left"))
	_, err := to.Queue("left")
	assert.ErrorIs(t, err, leveret.ErrNotFound)
}

// A queue that the target does not have is left, and told.
func TestMoveLeavesQueue(t *testing.T) {
	from, to := serveBroker(t), serveBroker(t)
	from.fill(t, "work", "a")
	out, stderr, status := called("", "move", "--from", from.url, "--from-admin", from.admin, "--to", to.url, "--to-admin", to.admin, "--skip-definitions")
	assert.Equal(t, exitFound, status, stderr)
	assert.Contains(t, out, "queue work: 0 messages, and then: / on 127.0.0.1:")
	assert.Contains(t, out, " has no queue work\n")
	assert.Equal(t, []string{"a"}, from.bodiesOf(t, "work"))
}

func TestMoveArguments(t *testing.T) {
	const url = "amqp://guest:guest@127.0.0.1:1/"
	for _, c := range []struct {
		says string
		args []string
	}{
		{"--from is expected", nil},
		{"--to is expected", []string{"--from", url}},
		{"--from: \"nonsense\": AMQP scheme must be", []string{"--from", "nonsense", "--to", url}},
		{"the same virtual host", []string{"--from", url, "--to", url}},
		{"--window is 0", []string{"--from", url, "--to", url + "v", "--window", "0"}},
		{"--most is -1", []string{"--from", url, "--to", url + "v", "--queue", "*", "--most", "-1"}},
		{"--rate is -1", []string{"--from", url, "--to", url + "v", "--rate", "-1"}},
		{"--rate is NaN", []string{"--from", url, "--to", url + "v", "--rate", "NaN"}},
		{"--rate is 1e-10", []string{"--from", url, "--to", url + "v", "--rate", "1e-10"}},
		{"--patience is -1s", []string{"--from", url, "--to", url + "v", "--patience", "-1s"}},
		{"--format is \"yaml\"", []string{"--from", url, "--to", url + "v", "--format", "yaml"}},
		{"\"x\" is not expected", []string{"--from", url, "--to", url + "v", "x"}},
		{"cannot be reached", []string{"--from", url, "--from-admin", "http://127.0.0.1:1/", "--to", url + "v"}},
	} {
		command := "move"
		if slices.Contains(c.args, "--most") {
			command = "pull"
		}
		_, stderr, status := called("", append([]string{command}, c.args...)...)
		assert.Equal(t, exitUsage, status, c.says)
		assert.Contains(t, stderr, c.says)
	}
}
