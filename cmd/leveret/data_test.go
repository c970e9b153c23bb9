package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// serveData starts a leveret that keeps its data in a directory.
func serveData(t *testing.T, dir string, args ...string) (p *process, url string) {
	p = spawn(t, append([]string{"serve", "--amqp", "127.0.0.1:0", "--control", "none", "--data", dir, "--log", "info"}, args...)...)
	url, _ = p.greeting()
	return p, withGuest(url)
}

// end ends the process and waits for that. Only a signal that the process sees lets it exit with 0.
func (p *process) end(signal syscall.Signal) (stderr string) {
	status, stderr := p.endsWith(signal)
	if signal != syscall.SIGKILL {
		assert.Zero(p.t, status, stderr)
	}
	return stderr
}

func (p *process) endsWith(signal syscall.Signal) (status int, stderr string) {
	require.NoError(p.t, p.Process.Signal(signal))
	return p.exit()
}

var dataQueues = map[string]amqp.Table{"classic": nil, "quorum": {"x-queue-type": "quorum"}}

// publishData publishes three persistent messages to each of the queues, and waits for their confirms.
func publishData(t *testing.T, url string) {
	ch := channelTo(t, side{url: url})
	for queue, args := range dataQueues {
		_, err := ch.QueueDeclare(queue, true, false, false, false, args)
		require.NoError(t, err)
		for i := range 3 {
			publishOne(t, ch, queue, amqp.Publishing{DeliveryMode: amqp.Persistent, MessageId: fmt.Sprint(i), Body: []byte(queue)})
		}
	}
}

func publishOne(t *testing.T, ch *amqp.Channel, queue string, p amqp.Publishing) {
	c, err := ch.PublishWithDeferredConfirm("", queue, true, false, p)
	require.NoError(t, err)
	require.True(t, c.Wait())
}

// What was confirmed is there after the process was ended or killed, and as RabbitMQ would have it.
func TestServeKeepsData(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGKILL} {
		t.Run(signal.String(), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			p, url := serveData(t, dir)
			publishData(t, url)
			publishOne(t, channelTo(t, side{url: url}), "classic", amqp.Publishing{Body: []byte("transient")})
			stderr := p.end(signal)
			assert.Contains(t, stderr, `msg="the directory for data is new"`)

			out, errs, status := called("", "check", dir)
			assert.Zero(t, status, errs)
			killed := signal == syscall.SIGKILL
			if killed {
				assert.Contains(t, out, "records, not sealed\nThe directory is sound. The last broker was not closed.\n")
			} else {
				assert.Contains(t, out, "records, sealed\nThe directory is sound.\n")
			}

			p, url = serveData(t, dir)
			ch := channelTo(t, side{url: url})
			for queue := range dataQueues {
				for i := range 3 {
					d, ok, err := ch.Get(queue, true)
					require.NoError(t, err)
					require.True(t, ok, "%s has lost message %d", queue, i)
					assert.Equal(t, []any{fmt.Sprint(i), queue, uint8(2), killed && queue == "classic"}, []any{d.MessageId, string(d.Body), d.DeliveryMode, d.Redelivered})
				}
				_, ok, err := ch.Get(queue, true)
				require.NoError(t, err)
				assert.False(t, ok, "%s has more", queue)
			}
			stderr = p.end(syscall.SIGTERM)
			assert.Contains(t, stderr, `msg="the data is read"`)
			assert.Contains(t, stderr, "messages=6 records=")
			assert.Contains(t, stderr, fmt.Sprintf("killed=%v", killed))

			p, url = serveData(t, dir)
			q, err := channelTo(t, side{url: url}).QueueDeclarePassive("quorum", true, false, false, false, nil)
			require.NoError(t, err)
			assert.Zero(t, q.Messages, "what was acknowledged does not come back")
			p.end(syscall.SIGTERM)
		})
	}
}

// An operator who stops the server closes the broker, too.
func TestStoppedWithData(t *testing.T) {
	dir := t.TempDir()
	p, _ := spawnControlled(t, "--data", dir)
	ended := make(chan int, 1)
	go func() {
		status, _ := p.exit()
		ended <- status
	}()
	p.ctl("stop")
	assert.Zero(t, <-ended)
	out, errs, status := called("", "check", dir)
	assert.Zero(t, status, errs)
	assert.Regexp(t, `^00000001.journal: \d+ octets, \d+ records, sealed\nThe directory is sound.\n$`, out)
}

// One process has the directory. The others say so.
func TestDataHasOneProcess(t *testing.T) {
	dir := t.TempDir()
	serveData(t, dir)
	status, stderr := spawn(t, "serve", "--amqp", "127.0.0.1:0", "--control", "none", "--data", dir).exit()
	assert.Equal(t, 1, status)
	assert.Equal(t, "leveret serve: --data: another process has the directory "+dir+" in use\n", stderr)
	for _, command := range []string{"check", "dump"} {
		out, errs, status := called("", command, dir)
		assert.Equal(t, exitUsage, status)
		assert.Empty(t, out)
		assert.Equal(t, "leveret "+command+": another process has the directory "+dir+" in use: end that first\n", errs)
	}
}

// startWithData starts a server that the test closes.
func startWithData(t *testing.T, s settings) *server {
	srv, err := start(s, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return srv
}

// The default user and the name of the cluster are for the first start, definitions for each.
func TestFirstStartWithData(t *testing.T) {
	dir := t.TempDir()
	definitions := filepath.Join(t.TempDir(), "definitions.json")
	require.NoError(t, os.WriteFile(definitions, []byte(`{"queues":[{"name":"q","vhost":"/","durable":true}]}`), 0o600))
	first := func(user, cluster string) settings {
		s := testSettings(t)
		s.data.dir, s.definitions, s.clusterName = dir, definitions, cluster
		s.users = userSettings{name: user, password: "secret", permissions: leveret.Permissions{Configure: ".*", Write: ".*", Read: ".*"}}
		return s
	}
	srv := startWithData(t, first("ann", "farm"))
	_, err := srv.broker.DeleteQueue("q", leveret.DeleteConfig{})
	require.NoError(t, err)
	srv.close()

	srv = startWithData(t, first("bob", "barn"))
	defer srv.close()
	var users []string
	for _, u := range srv.broker.Users() {
		users = append(users, u.Name)
	}
	assert.Equal(t, []string{"ann"}, users)
	assert.Contains(t, srv.broker.GlobalParameters(), leveret.GlobalParameter{Name: "cluster_name", Value: []byte(`"farm"`)})
	_, err = srv.broker.Queue("q")
	assert.NoError(t, err)
}

// A first start that is refused leaves nothing: the next one is the first.
func TestRefusedFirstStart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := testSettings(t)
	s.data.dir = dir
	s.users = userSettings{name: "ann", password: "secret", permissions: leveret.Permissions{Configure: "(", Write: ".*", Read: ".*"}}
	_, err := start(s, slog.New(slog.DiscardHandler))
	require.ErrorContains(t, err, "(")
	assert.NoDirExists(t, dir)
	s.users.permissions.Configure = ".*"
	srv := startForTest(t, s)
	users := srv.broker.Users()
	require.Len(t, users, 1)
	assert.Equal(t, "ann", users[0].Name)
}

// flip turns an octet over.
func flip(t *testing.T, file string, offset int) {
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	data[offset] ^= 0x40
	require.NoError(t, os.WriteFile(file, data, 0o600))
}

// An octet that is not as it was written is found, and its file and the offset of its record are named. No broker starts.
func TestDamagedData(t *testing.T) {
	dir := t.TempDir()
	p, url := serveData(t, dir)
	publishData(t, url)
	p.end(syscall.SIGTERM)
	out, _, status := called("", "dump", dir)
	require.Zero(t, status)
	type place struct {
		Kind   string
		Offset int
	}
	var places []place
	for line := range strings.Lines(out) {
		var at place
		require.NoError(t, json.Unmarshal([]byte(line), &at))
		places = append(places, at)
	}
	i := slices.IndexFunc(places, func(p place) bool { return p.Kind == "Message" })
	require.Positive(t, i)
	const name = "00000001.journal"
	flip(t, filepath.Join(dir, name), places[i].Offset+20)

	where := fmt.Sprintf("read %s at offset %d: damaged: ", name, places[i].Offset)
	out, errs, status := called("", "check", dir)
	assert.Equal(t, exitFound, status, errs)
	assert.Contains(t, out, "\ndamaged: "+where)
	assert.Contains(t, out, "\nThe directory is damaged: no broker opens it.\n")
	out, errs, status = called("", "dump", dir)
	assert.Equal(t, exitUsage, status)
	assert.Contains(t, errs, "leveret dump: "+dir+": "+where)
	assert.Contains(t, out, `"kind":"User"`, "what stands before")
	assert.NotContains(t, out, `"kind":"Message"`)
	status, stderr := spawn(t, "serve", "--amqp", "127.0.0.1:0", "--control", "none", "--data", dir).exit()
	assert.Equal(t, 1, status)
	assert.Contains(t, stderr, "leveret serve: --data: "+dir+": "+where)
	assert.Contains(t, stderr, "; leveret check "+dir+" lists all that is wrong\n")
}

// A write that was cut off is told, and is no damage.
func TestCutOffData(t *testing.T) {
	dir := t.TempDir()
	p, url := serveData(t, dir)
	publishData(t, url)
	publishOne(t, channelTo(t, side{url: url}), "classic", amqp.Publishing{DeliveryMode: amqp.Persistent, Body: []byte("cut off")})
	p.end(syscall.SIGKILL)
	file := filepath.Join(dir, "00000001.journal")
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	data = bytes.TrimRight(data, "\x00")
	require.NoError(t, os.WriteFile(file, data[:len(data)-1], 0o600)) // as if the last write had not been synced

	out, errs, status := called("", "check", dir)
	assert.Zero(t, status, errs)
	assert.Regexp(t, `\nread 00000001.journal at offset \d+: the last write was not completed: \d+ octets of it are dropped`, out)
	p, url = serveData(t, dir)
	q, err := channelTo(t, side{url: url}).QueueDeclarePassive("classic", true, false, false, false, nil)
	require.NoError(t, err)
	assert.Equal(t, 3, q.Messages)
	assert.Contains(t, p.end(syscall.SIGTERM), `level=WARN msg="the last write was cut off and is dropped; nobody was told that it was synced"`)
}

// What no broker can have as its directory is refused in one line.
func TestDataIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	old := t.TempDir()
	p, _ := serveData(t, old, "--profile", "3.10")
	p.end(syscall.SIGTERM)
	foreign := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(foreign, "lock"), []byte("mine"), 0o600))
	for dir, want := range map[string]string{
		file:    "mkdir " + file + ": not a directory",
		old:     "it is the directory of a broker with the profile RabbitMQ 3.10, not RabbitMQ 4.3",
		foreign: `not a journal of the format that this reads: it says "mine"`,
	} {
		status, stderr := spawn(t, "serve", "--amqp", "127.0.0.1:0", "--control", "none", "--data", dir).exit()
		assert.Equal(t, 1, status, dir)
		assert.Contains(t, stderr, want)
		assert.True(t, strings.HasPrefix(stderr, "leveret serve: --data: "+dir+": "), stderr)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	}
}

func TestCheckArguments(t *testing.T) {
	empty := t.TempDir()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	fresh := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(fresh, "lock"), nil, 0o600))
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"check"}, exitUsage, "leveret check: a directory is expected\nusage: leveret check DIR\n"},
		{[]string{"check", "a", "b"}, exitUsage, `leveret check: "b" is not expected`},
		{[]string{"check", "--fast", "a"}, exitUsage, "flag provided but not defined: -fast"},
		{[]string{"check", "--help"}, 0, "usage: leveret check DIR\n"},
		{[]string{"check", filepath.Join(empty, "none")}, exitUsage, "no such file or directory"},
		{[]string{"check", file}, exitUsage, file + " is no directory"},
		{[]string{"check", empty}, exitUsage, empty + " is not the directory of a broker: no file in it is called lock"},
		{[]string{"check", fresh}, 0, "The directory is sound. No broker has been opened there yet.\n"},
		{[]string{"dump", empty}, exitUsage, "leveret dump: " + empty + " is not the directory of a broker: no file in it is called lock"},
		{[]string{"dump", "--take", empty}, exitUsage, "leveret dump: --take is not for a directory"},
		{[]string{"dump", file}, exitUsage, "leveret dump: --from is expected"},
	} {
		out, errs, status := called("", c.args...)
		assert.Equal(t, c.status, status, "%q: %s", c.args, errs)
		assert.Contains(t, out+errs, c.want, "%q", c.args)
	}
	names, err := os.ReadDir(empty)
	require.NoError(t, err)
	assert.Empty(t, names, "a check makes no file")
}

// A dump of a directory has all that is known of a message.
func TestDumpDirectory(t *testing.T) {
	dir := t.TempDir()
	b, err := leveret.Open(dir)
	require.NoError(t, err)
	_, err = b.DeclareQueue("work", leveret.QueueConfig{Durable: true, Arguments: leveret.Table{"x-queue-type": "quorum"}})
	require.NoError(t, err)
	require.NoError(t, b.SetGlobalParameter(leveret.GlobalParameter{Name: "cluster_name", Value: []byte(`"farm"`)}))
	for _, m := range []leveret.Message{
		{Body: []byte("two pizzas"), Properties: &leveret.Properties{MessageID: "17", DeliveryMode: 2, Headers: leveret.Table{
			"octets": []byte{0xff}, "try": int32(3), "void": nil, "when": time.Unix(1_800_000_000, 0), "list": []any{true, 1.5},
			"price": leveret.Decimal{Scale: 2, Value: 314}}}},
		{Body: []byte{0xff, 0}},
	} {
		_, err = b.Publish("", "work", m)
		require.NoError(t, err)
	}
	require.NoError(t, b.Close())

	out, errs, status := called("", "dump", dir)
	require.Zero(t, status, errs)
	var messages []string
	for line := range strings.Lines(out) {
		var any map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &any), line)
		assert.Equal(t, "00000001.journal", any["file"])
		assert.Positive(t, any["offset"])
		if any["kind"] == "Message" {
			_, rest, _ := strings.Cut(line, `"kind":"Message",`)
			messages = append(messages, rest)
		}
	}
	require.Len(t, messages, 2)
	assert.JSONEq(t, `{"key":"work","body":"two pizzas","properties":{"headers":{"octets":{"base64":"/w=="},"try":3,"void":null,"when":"2027-01-15T08:00:00Z",
		"list":[true,1.5],"price":{"scale":2,"value":314}},"message_id":"17","delivery_mode":2}}`, "{"+messages[0])
	assert.JSONEq(t, `{"key":"work","body":{"base64":"/wA="}}`, "{"+messages[1])
	assert.Contains(t, out, `"kind":"Queue","id":1,"name":"work","type":"quorum","arguments":{"x-queue-type":"quorum"}`)
	assert.Contains(t, out, `"kind":"Parameter","name":"cluster_name","value":"farm"`)
	assert.Contains(t, out, `"kind":"Node","snapshot":true,"profile":"RabbitMQ 4.3","up":true`)
}

// Flags, variables and lines of a file say where the data is.
func TestDataSettings(t *testing.T) {
	s, err := settingsOf(t, "leveret.data = /var/lib/leveret\nleveret.sync = as-rabbitmq\n")
	require.NoError(t, err)
	assert.Equal(t, dataSettings{"/var/lib/leveret", leveret.SyncAsRabbitMQ}, s.data)
	t.Setenv("LEVERET_DATA", "/data")
	s, err = settingsOf(t, "leveret.data = /var/lib/leveret\nleveret.sync = never\n")
	require.NoError(t, err)
	assert.Equal(t, dataSettings{"/data", leveret.SyncNever}, s.data)
	t.Setenv("LEVERET_SYNC", "never")
	s, err = parseSettings([]string{"--data", "d", "--sync", "always"}, io.Discard)
	require.NoError(t, err)
	assert.Equal(t, dataSettings{"d", leveret.SyncAlways}, s.data)
	t.Setenv("LEVERET_DATA", "")
	t.Setenv("LEVERET_SYNC", "")
	s, err = parseSettings(nil, io.Discard)
	require.NoError(t, err)
	assert.Zero(t, s.data)
	for want, args := range map[string][]string{
		`--sync is "often", not always, as-rabbitmq or never`:                                        {"--data", "d", "--sync", "often"},
		"--sync needs --data, because without a directory nothing is synced":                         {"--sync", "never"},
		"--clock and --data exclude each other, because a manual clock does not outlive the process": {"--data", "d", "--clock", "manual"},
	} {
		_, err := parseSettings(args, io.Discard)
		assert.EqualError(t, err, want)
	}
}
