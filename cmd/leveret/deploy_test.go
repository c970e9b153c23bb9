package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A process that is configured by a file serves at every address, and logs where the file says.
func TestServeWithConfigFile(t *testing.T) {
	cert, key, _ := certificate(t)
	log := filepath.Join(t.TempDir(), "leveret.log")
	definitions := filepath.Join(t.TempDir(), "definitions.json")
	require.NoError(t, os.WriteFile(definitions, []byte(`{"queues":[{"name":"q","vhost":"/","arguments":{"x-mesage-ttl":1}}]}`), 0o600))
	file := configOf(t, "listeners.tcp.1 = 127.0.0.1:0\nlisteners.tcp.2 = 127.0.0.1:0\nlisteners.ssl.1 = 127.0.0.1:0\n"+
		"ssl_options.certfile = "+cert+"\nssl_options.keyfile = "+key+"\ndefault_user = ann\ndefault_pass = secret\nchannel_max = 3\n"+
		"load_definitions = "+definitions+"\nlog.console.formatter = json\nlog.file = "+log+"\nnum_acceptors.tcp = 5\nleveret.control = none\n")
	p := spawn(t, "serve", "--config", file)
	first, rest := p.greeting()
	second, secure, _ := strings.Cut(rest, " and ")
	assert.True(t, strings.HasPrefix(secure, "amqps://"))
	for _, url := range []string{first, second} {
		conn, err := amqp.Dial(strings.Replace(withGuest(url), "guest:guest", "ann:secret", 1))
		require.NoError(t, err)
		assert.EqualValues(t, 3, conn.Config.ChannelMax)
		require.NoError(t, conn.Close())
	}
	require.NoError(t, p.Process.Signal(os.Interrupt))
	status, stderr := p.exit()
	assert.Zero(t, status)
	var messages []string
	for line := range strings.Lines(stderr) {
		var record struct{ Msg, Level string }
		require.NoError(t, json.Unmarshal([]byte(line), &record), line)
		assert.Equal(t, "WARN", record.Level)
		messages = append(messages, record.Msg)
	}
	assert.Equal(t, []string{file + ":12: num_acceptors.tcp: has no effect: leveret has no acceptors", "ignored"}, messages)
	written, err := os.ReadFile(log)
	require.NoError(t, err)
	assert.Contains(t, string(written), "level=WARN msg=ignored vhost=/ queue=q")
	assert.Contains(t, string(written), "level=INFO", "connections come and go")
}

// A refusal names the line, in one line.
func TestServeRefusesConfigFile(t *testing.T) {
	file := configOf(t, "heartbeats = 1\nlog.fil = x")
	status, stderr := spawn(t, "serve", "--config", file).exit()
	assert.Equal(t, exitUsage, status)
	assert.Equal(t, "leveret serve: "+file+":1: heartbeats is not known; probably heartbeat is meant; "+file+":2: log.fil is not known; probably log.file is meant\n", stderr)
	file = configOf(t, "listeners.tcp.1 = 127.0.0.1:99999")
	status, stderr = spawn(t, "serve", "--config", file).exit()
	assert.Equal(t, 1, status)
	assert.Contains(t, stderr, "leveret serve: "+file+":1: listeners.tcp.1: listen tcp")
	status, stderr = spawn(t, "serve", "--log-file", t.TempDir()).exit()
	assert.Equal(t, 1, status)
	assert.Contains(t, stderr, "leveret serve: --log-file: open ")
}

// systemd is told when connections are accepted, and when the service stops.
func TestServeNotifiesSystemd(t *testing.T) {
	for _, name := range []string{filepath.Join(t.TempDir(), "notify"), "@" + t.TempDir() + "/abstract"} {
		address := &net.UnixAddr{Name: strings.Replace(name, "@", "\x00", 1), Net: "unixgram"}
		socket, err := net.ListenUnixgram("unixgram", address)
		require.NoError(t, err)
		defer socket.Close()
		require.NoError(t, socket.SetReadDeadline(time.Now().Add(time.Minute)))
		told := func() string {
			b := make([]byte, 100)
			n, err := socket.Read(b)
			require.NoError(t, err)
			return string(b[:n])
		}
		t.Setenv("NOTIFY_SOCKET", name)
		p := spawn(t, "serve", "--amqp", "127.0.0.1:0", "--control", "none")
		assert.Equal(t, "READY=1", told())
		url, _ := p.greeting()
		conn, err := amqp.Dial(withGuest(url))
		require.NoError(t, err)
		conn.Close()
		require.NoError(t, p.Process.Signal(os.Interrupt))
		assert.Equal(t, "STOPPING=1", told())
		status, stderr := p.exit()
		assert.Zero(t, status, stderr)
	}
}

func TestServeWithoutSystemd(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "nobody"))
	p := spawn(t, "serve", "--amqp", "127.0.0.1:0", "--control", "none")
	p.greeting()
	require.NoError(t, p.Process.Signal(os.Interrupt))
	status, stderr := p.exit()
	assert.Zero(t, status, "it serves all the same")
	assert.Contains(t, stderr, "systemd is not told")
}

// The sample that is shipped is understood, as it is and with every key in force.
func TestSampleConfig(t *testing.T) {
	sample, err := os.ReadFile("../../packaging/leveret.conf")
	require.NoError(t, err)
	_, err = settingsOf(t, string(sample))
	require.NoError(t, err)
	var all strings.Builder
	for line := range strings.Lines(string(sample)) {
		if rest, ok := strings.CutPrefix(line, "#"); ok && strings.Contains(line, " = ") {
			line = rest
		}
		all.WriteString(line)
	}
	_, err = settingsOf(t, all.String())
	require.NoError(t, err)
	for _, k := range configKeys {
		assert.Contains(t, all.String(), strings.Split(k.pattern, "{")[0], "a key of the sample")
	}
}

// The unit starts what there is, with flags that there are.
func TestUnit(t *testing.T) {
	unit, err := os.Open("../../packaging/leveret.service")
	require.NoError(t, err)
	defer unit.Close()
	keys := map[string]string{}
	for lines := bufio.NewScanner(unit); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), "="); ok && !strings.HasPrefix(key, "#") {
			keys[key] = value
		}
	}
	assert.Equal(t, "notify", keys["Type"])
	words := strings.Fields(keys["ExecStart"])
	require.Equal(t, []string{"/usr/local/bin/leveret", "serve"}, words[:2])
	if _, err = parseSettings(words[2:], io.Discard); err != nil {
		assert.ErrorContains(t, err, "open /etc/leveret/leveret.conf", "the flags are understood; the file is hardly here")
	}
	if analyze, err := exec.LookPath("systemd-analyze"); err == nil {
		out, err := exec.Command(analyze, "verify", "../../packaging/leveret.service").CombinedOutput()
		var faults []string
		for line := range strings.Lines(string(out)) {
			if !strings.Contains(line, "is not executable") && !strings.Contains(line, "No such file") {
				faults = append(faults, line)
			}
		}
		assert.Empty(t, faults, "%v", err)
	}
}

// docs/configuration.md has every flag and every key.
func TestConfigurationIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/configuration.md")
	require.NoError(t, err)
	for _, k := range configKeys {
		assert.Contains(t, string(page), "`"+k.pattern+"`")
	}
	for _, f := range serveFlags() {
		assert.Contains(t, string(page), "`"+f+"`")
	}
}
