package main

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/leveretmq/leveret/conformance"
	"github.com/leveretmq/leveret/internal/golden"
	"github.com/leveretmq/leveret/internal/scenario"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const played = "testdata/play/"

func TestPlay(t *testing.T) {
	out, stderr, status := called("", "play", played+"retry.txt", played+"question.txt")
	golden.Equal(t, "play/all.out", out)
	assert.Empty(t, stderr)
	assert.Equal(t, exitFound, status)

	out, _, status = called("", "play", "--quiet", "--profile", "4.3", played+"retry.txt", played+"question.txt")
	golden.Equal(t, "play/quiet.out", out)
	assert.Equal(t, exitFound, status)

	out, _, status = called("", "play", played+"retry.txt", "--profile", "3.10", "--quiet")
	assert.Equal(t, "testdata/play/retry.txt on leveret 3.10: 8 statements, as expected\n", out)
	assert.Zero(t, status)
}

// TestPlayOnBroker has a script played through the network, on a broker with a management API, and deletes what it made.
func TestPlayOnBroker(t *testing.T) {
	s := testSettings(t)
	s.http = httpSettings{addr: "127.0.0.1:0"}
	srv := startForTest(t, s)
	at := map[string]string{}
	for _, d := range srv.doors {
		at[d.name] = d.listener.Addr().String()
	}
	on := []string{"--amqp", "amqp://guest:guest@" + at["amqp"] + "/", "--admin", "http://guest:guest@" + at["http"], "-"}
	const script = `user u/
permit u/ read=.*
connect c user=u/
create-vhost /2
declare queue q
publish q a
get q -> a
@c.a declare queue q -> nothing
`
	out, stderr, status := called(script, append([]string{"play", "--quiet"}, on...)...)
	assert.Empty(t, stderr)
	assert.Equal(t, exitFound, status)
	assert.Equal(t, `✗    8  @c.a declare queue q
        want -> nothing
        got  -> channel closed: 403 ACCESS_REFUSED - configure access to queue 'q' in vhost '/' refused for user 'u/'
- on RabbitMQ 4.3.6 at AMQP: 1 of 8 statements not as expected
`, strings.ReplaceAll(regexp.MustCompile(`RabbitMQ [0-9.]+`).ReplaceAllString(out, "RabbitMQ 4.3.6"), at["amqp"], "AMQP"))
	assert.Len(t, srv.broker.VHosts(), 1, "the run's virtual hosts are deleted")
	assert.Len(t, srv.broker.Users(), 1, "the run's user is deleted")

	_, stderr, status = called("declare queue q\nlimit-user guest max-channels=1\n", append([]string{"play"}, on...)...)
	assert.Equal(t, exitUsage, status)
	assert.Contains(t, stderr, "-:2: user guest: on a broker that is not leveret's own")
	out, stderr, status = called("driver: go\ndeclare queue q\n", append([]string{"play"}, on...)...)
	assert.Equal(t, exitUsage, status)
	assert.Contains(t, out+stderr, "not played, it is for leveret's Go API")
	assert.Contains(t, out+stderr, "nothing was played")
}

// TestPlayRecords writes what is shown into a script that says something else or nothing, for both releases.
func TestPlayRecords(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.txt")
	script := "# kept\ndeclare queue q x-dead-letter-exchange=\"\"\npublish q a\nget q -> something\nshow q\n"
	require.NoError(t, os.WriteFile(file, []byte(script), 0o644))
	_, stderr, status := called("", "play", "--record", file)
	assert.Empty(t, stderr)
	assert.Zero(t, status)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, `# kept
declare queue q x-dead-letter-exchange=""
publish q a
get q -> a
show q
  [4.3]  -> classic arguments={x-dead-letter-exchange="" x-queue-type=classic}
  [3.10] -> classic arguments={x-dead-letter-exchange=""}
`, string(text))
	out, _, status := called("", "play", "--quiet", file)
	assert.Zero(t, status)
	assert.Equal(t, 2, strings.Count(out, "4 statements, as expected"), out)
}

func TestPlayRefuses(t *testing.T) {
	for _, c := range []struct{ stdin, says, args string }{
		{"", "a file is expected", ""},
		{"", "no such file", "none.txt"},
		{"", "--amqp and --admin are expected together", "- --amqp amqp://localhost"},
		{"", "--profile is for leveret in this process", "- --amqp a --admin b --profile 4.3"},
		{"", `--profile is "5"`, "--profile 5 -"},
		{"", "-bogus", "--bogus"},
		{"", "--record cannot write to standard input", "--record -"},
		{"", "the broker cannot be reached: ", "- --amqp amqp://127.0.0.1:1 --admin http://127.0.0.1:1"},
		{"\n\ndeclare queue q\nfrob q\n", "leveret play: -:4: no such statement: frob\n", "-"},
		{"profile: 5\n", "-:1: profile: 5 is neither 4.3 nor 3.10", "-"},
		{"driver: http\n", "-:1: driver: http is neither go nor amqp", "-"},
		{"declare queue q\nget\n", "-:2: get needs a queue", "-"},
		{"declare queue q\nget q a=b\n", "-:2: get: what is a=?", "-"},
		{"profile: 3.10\ndeclare queue q\n", "nothing was played", "- --profile 4.3"},
	} {
		_, stderr, status := called(c.stdin, append([]string{"play"}, strings.Fields(c.args)...)...)
		assert.Equal(t, exitUsage, status, c)
		assert.Contains(t, stderr, c.says)
	}
	out, _, status := called("", "play", "--help")
	assert.Zero(t, status)
	assert.Contains(t, out, "-admin URL")
}

// What is wrong with a URL is told without the password in it.
func TestPlayHidesPasswords(t *testing.T) {
	for _, urls := range [][2]string{{"amqp://ann:sec%ret@host/", "http://host"}, {"amqp://ann@host/", "http://ann:sec%ret@host"}} {
		_, stderr, status := called("", "play", "--amqp", urls[0], "--admin", urls[1], played+"retry.txt")
		assert.Equal(t, exitUsage, status)
		assert.Contains(t, stderr, "invalid URL escape")
		assert.NotContains(t, stderr, "sec%ret")
	}
}

// TestPlayInterrupted stops after the statement that runs, and closes the driver.
func TestPlayInterrupted(t *testing.T) {
	s, err := scenario.Parse("x", "declare queue q\ndeclare queue r\n")
	require.NoError(t, err)
	d := &closing{Direct: scenario.NewDirect(profiles["4.3"])}
	var out strings.Builder
	p := player{out: &out, interrupts: make(chan os.Signal, 1)}
	p.interrupts <- os.Interrupt
	err = p.play(s, stage{name: "it", release: "4.3", driver: func(*scenario.Script) (scenario.Driver, error) { return d, nil }})
	assert.ErrorIs(t, err, errInterrupted)
	assert.Equal(t, "x on it\n     1  declare queue q\n", out.String())
	assert.True(t, d.closed)
}

type closing struct {
	*scenario.Direct
	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return c.Direct.Close()
}

// TestInterrupt has a signal reach the player.
func TestInterrupt(t *testing.T) {
	var errs strings.Builder
	p := player{}
	stop := p.stopAtInterrupt(&errs)
	self, err := os.FindProcess(os.Getpid())
	require.NoError(t, err)
	if err := self.Signal(os.Interrupt); err != nil {
		stop()
		t.Skip(err) // not on this system
	}
	assert.Equal(t, os.Interrupt, <-p.interrupts)
	stop()
	assert.Contains(t, errs.String(), "the statement that runs is the last")
}

// TestScenariosPage plays the examples of docs/scenarios.md, and asks for a row and an example of each statement there is.
func TestScenariosPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/scenarios.md")
	require.NoError(t, err)
	used := map[string]bool{}
	for i, m := range regexp.MustCompile("(?s)```\n(.*?)```").FindAllSubmatch(page, -1) {
		file := filepath.Join(t.TempDir(), "example.txt")
		require.NoError(t, os.WriteFile(file, m[1], 0o644))
		out, stderr, status := called("", "play", "--quiet", file)
		assert.Zero(t, status, "example %d: %s%s", i+1, out, stderr)
		s, err := scenario.Parse("example", string(m[1]))
		require.NoError(t, err)
		for _, st := range s.Steps {
			used[st.Verb] = true
		}
	}
	rows := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)").FindAllSubmatch(page, -1) {
		rows[string(m[1])] = true
	}
	verbs := scenario.Verbs()
	assert.Len(t, rows, len(verbs), "a row for what is no statement")
	for _, verb := range verbs {
		assert.True(t, rows[verb], "docs/scenarios.md has no row for %s", verb)
		assert.True(t, used[verb], "docs/scenarios.md has no example of %s", verb)
	}
}

// TestScenariosPageOnBroker plays the examples on the broker that the conformance suite is told of.
func TestScenariosPageOnBroker(t *testing.T) {
	url, admin := os.Getenv("LEVERET_CONFORMANCE_AMQP"), os.Getenv("LEVERET_CONFORMANCE_ADMIN")
	if url == "" || admin == "" {
		t.Skip("no broker to compare with: set LEVERET_CONFORMANCE_AMQP and LEVERET_CONFORMANCE_ADMIN")
	}
	b, err := conformance.Open(url, admin)
	require.NoError(t, err)
	page, err := os.ReadFile("../../docs/scenarios.md")
	require.NoError(t, err)
	for _, m := range regexp.MustCompile("(?s)```\n(.*?)```").FindAllSubmatch(page, -1) {
		if b.Release() == "3.10" && strings.HasPrefix(admin, "http") && strings.Contains(string(m[1]), "\nshow ") {
			continue // its management API does not tell of policies at once
		}
		out, stderr, status := called(string(m[1]), "play", "--quiet", "--amqp", url, "--admin", admin, "-")
		if strings.Contains(stderr, errors.ErrUnsupported.Error()) {
			t.Logf("not with this console: %s", stderr)
			continue
		}
		assert.Zero(t, status, out+stderr)
	}
}
