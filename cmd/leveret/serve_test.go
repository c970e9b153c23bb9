package main

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The test binary is leveret itself when it is started with this in its environment.
const asLeveret = "LEVERET_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asLeveret) != "" {
		main()
	}
	os.Exit(m.Run())
}

// A process is a leveret that has been started with arguments of its own.
type process struct {
	*exec.Cmd
	t      *testing.T
	stdout *bufio.Reader
	stderr bytes.Buffer
}

// spawn starts a leveret. It has no management API unless the arguments say so: several would want the same port.
func spawn(t *testing.T, args ...string) *process {
	if args[0] == "serve" {
		args = slices.Insert(args, 1, "--http", "none")
	}
	p := &process{Cmd: exec.Command(os.Args[0], args...), t: t}
	p.Env = append(os.Environ(), asLeveret+"=1", "XDG_RUNTIME_DIR="+t.TempDir())
	p.Stderr = &p.stderr
	out, err := p.StdoutPipe()
	require.NoError(t, err)
	p.stdout = bufio.NewReader(out)
	require.NoError(t, p.Start())
	t.Cleanup(func() { p.Process.Kill(); p.Cmd.Wait() })
	return p
}

// exit waits for the process to end and returns its status and what it printed on standard error.
func (p *process) exit() (int, string) {
	done := make(chan struct{})
	go func() {
		io.Copy(io.Discard, p.stdout)
		p.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		p.t.Fatal("the process does not end")
	}
	return p.ProcessState.ExitCode(), p.stderr.String()
}

// greeting waits for the line that says connections are accepted, and returns the addresses in it.
func (p *process) greeting() (amqpURL, amqpsURL string) {
	line, err := p.stdout.ReadString('\n')
	if err != nil {
		_, stderr := p.exit()
		p.t.Fatal("no greeting: ", stderr)
	}
	rest, ok := strings.CutPrefix(strings.TrimSpace(line), "leveret accepts connections on ")
	require.True(p.t, ok, line)
	amqpURL, amqpsURL, _ = strings.Cut(rest, " and ")
	return amqpURL, amqpsURL
}

func withGuest(url string) string { return strings.Replace(url, "://", "://guest:guest@", 1) + "/" }

func TestServeAndStop(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		socket := filepath.Join(t.TempDir(), "s")
		started := time.Now()
		p := spawn(t, "serve", "--amqp", "127.0.0.1:0", "--control", socket, "--log", "error")
		url, _ := p.greeting()
		t.Logf("accepts connections after %v", time.Since(started))
		conn, err := amqp.Dial(withGuest(url))
		require.NoError(t, err)
		closed := conn.NotifyClose(make(chan *amqp.Error, 1))

		require.NoError(t, p.Process.Signal(signal))
		status, stderr := p.exit()
		assert.Zero(t, status, stderr)
		assert.Empty(t, stderr)
		told := <-closed
		require.NotNil(t, told)
		assert.Equal(t, amqp.ConnectionForced, told.Code)
		_, err = os.Lstat(socket)
		assert.ErrorIs(t, err, os.ErrNotExist)
	}
}

// An operator ends the process as a signal does: clients are told, and all that the process has made is taken away.
func TestStoppedByAnOperator(t *testing.T) {
	for _, command := range []string{"stop", "shutdown"} {
		p, url := spawnControlled(t, "--pid-file", filepath.Join(t.TempDir(), "pid"))
		conn, err := amqp.Dial(url)
		require.NoError(t, err)
		closed := conn.NotifyClose(make(chan *amqp.Error, 1))
		exited := make(chan int, 1)
		go func() {
			status, _ := p.exit()
			exited <- status
		}()
		out := p.ctl(command)
		assert.Zero(t, <-exited)
		if command == "shutdown" {
			assert.Contains(t, out, fmt.Sprintf("RabbitMQ node leveret@localhost running at PID %d successfully shut down\n", p.Process.Pid))
		} else {
			assert.Equal(t, "Stopping and halting node leveret@localhost ...\n", out)
		}
		told := <-closed
		require.NotNil(t, told)
		assert.Equal(t, amqp.ConnectionForced, told.Code)
		_, err = os.Lstat(p.socket)
		assert.ErrorIs(t, err, os.ErrNotExist)
	}
}

func TestControlProcess(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	p := spawn(t, "serve", "--amqp=127.0.0.1:0", "--control="+socket)
	url, _ := p.greeting()
	ctl := func(args ...string) (string, int) {
		cmd := exec.Command(os.Args[0], append([]string{"ctl", "--control", socket}, args...)...)
		cmd.Env = append(os.Environ(), asLeveret+"=1")
		out, _ := cmd.Output()
		return string(out), cmd.ProcessState.ExitCode()
	}
	out, status := ctl("status", "--formatter", "json")
	require.Zero(t, status)
	var s struct {
		RabbitMQVersion string `json:"rabbitmq_version"`
		PID             int    `json:"pid"`
		Listeners       []struct {
			Port     int
			Protocol string
		}
		Totals map[string]int
	}
	require.NoError(t, json.Unmarshal([]byte(out), &s))
	assert.Equal(t, p.Process.Pid, s.PID)
	assert.True(t, strings.HasPrefix(s.RabbitMQVersion, "4.3"))
	require.Len(t, s.Listeners, 1)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(url, "amqp://"))
	require.NoError(t, err)
	assert.EqualValues(t, port, json.Number(jsonInt(s.Listeners[0].Port)))
	assert.Equal(t, 1, s.Totals["virtual_host_count"])

	out, status = ctl("status", "-q", "--formatter", "erlang")
	assert.Zero(t, status)
	assert.Contains(t, out, "[{pid,"+fmt.Sprint(p.Process.Pid)+"},")
	out, status = ctl("status")
	assert.Zero(t, status)
	assert.Contains(t, out, "Status of node leveret@localhost ...\nRuntime\n")
	assert.Contains(t, out, "\nListeners\n\nInterface: 127.0.0.1, port: "+port+", protocol: amqp, purpose: AMQP 0-9-1\n")
	_, status = ctl("purge_queue", "none")
	assert.Equal(t, 65, status)
}

func jsonInt(n int) string { b, _ := json.Marshal(n); return string(b) }

func TestPidCloses(t *testing.T) {
	s := testSettings(t)
	srv := startForTest(t, s)
	on := target{url: "amqp://guest:guest@" + srv.doors[0].listener.Addr().String() + "/", run: controlOf(s)}
	conn, err := amqp.Dial(on.url)
	require.NoError(t, err)
	closed := conn.NotifyClose(make(chan *amqp.Error, 1))
	out, _, status := on.run([]string{"list_connections", "-s", "pid"}, "")
	require.Zero(t, status)
	_, stderr, status := on.run([]string{"close_connection", strings.TrimSpace(out), "because"}, "")
	require.Zero(t, status, stderr)
	told := <-closed
	require.NotNil(t, told)
	assert.Equal(t, "CONNECTION_FORCED - because", told.Reason)
}

func TestMemoryLimitBlocks(t *testing.T) {
	s := testSettings(t)
	srv := startForTest(t, s)
	run := controlOf(s)
	_, err := srv.broker.DeclareQueue("q", leveretQueue)
	require.NoError(t, err)
	_, err = srv.broker.Publish("", "q", leveretMessage("0123456789"))
	require.NoError(t, err)
	_, stderr, status := run([]string{"set_vm_memory_high_watermark", "absolute", "5"}, "")
	require.Zero(t, status, stderr)
	out, _, _ := run([]string{"status", "-q"}, "")
	assert.Contains(t, out, "\nAlarms\n\nMemory alarm on node leveret@localhost\n")
	out, _, _ = run([]string{"status", "--formatter", "json"}, "")
	assert.Contains(t, out, `"alarms":[{"node":"leveret@localhost","type":"resource_limit","resource":"memory"}]`)
	_, stderr, status = run([]string{"set_vm_memory_high_watermark", "0.5"}, "")
	require.Zero(t, status, stderr)
	assert.False(t, srv.broker.Memory().Alarm)
	assert.Greater(t, srv.broker.Memory().Limit, int64(1<<20))
}

func TestDefinitionFiles(t *testing.T) {
	s := testSettings(t)
	startForTest(t, s)
	run := controlOf(s)
	for _, args := range [][]string{
		{"add_vhost", "v"}, {"add_user", "u", "pw"}, {"set_permissions", "-p", "v", "u", "c", "w", "r"},
		{"set_policy", "-p", "v", "p", "^q", `{"max-length":3}`},
	} {
		_, stderr, status := run(args, "")
		require.Zero(t, status, stderr)
	}
	file := filepath.Join(t.TempDir(), "definitions.json")
	out, stderr, status := run([]string{"export_definitions", file}, "")
	require.Zero(t, status, stderr)
	assert.Equal(t, "Exporting definitions in JSON to a file at \""+file+"\" ...\n", out)
	out, _, status = run([]string{"export_definitions", "-"}, "")
	require.Zero(t, status)
	saved, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.JSONEq(t, string(saved), out)

	other := testSettings(t)
	other.definitions = file // as leveret serve --definitions
	startForTest(t, other)
	out, _, _ = controlOf(other)([]string{"list_permissions", "-s", "-p", "v"}, "")
	assert.Equal(t, "u\tc\tw\tr\n", out)

	third := testSettings(t)
	startForTest(t, third)
	for _, input := range [][]string{{"import_definitions", file}, {"import_definitions", "-"}, {"import_definitions"}} {
		_, stderr, status = controlOf(third)(input, string(saved))
		require.Zero(t, status, stderr)
	}
	out, _, _ = controlOf(third)([]string{"list_policies", "-s", "-p", "v"}, "")
	assert.Equal(t, "v\tp\t^q\tall\t{\"max-length\":3}\t0\n", out)
}

func TestTLS(t *testing.T) {
	cert, key, pool := certificate(t)
	s := settings{control: filepath.Join(t.TempDir(), "s")}
	p := spawn(t, "serve", "--amqp", "127.0.0.1:0", "--amqps", "127.0.0.1:0", "--cert", cert, "--key", key,
		"--control", s.control)
	plain, secure := p.greeting()
	for _, c := range []struct{ url, listed string }{
		{plain, "false\t\t\t\t\t\n"},
		{secure, "true\ttlsv1.2\tecdhe_ecdsa\taes_128_gcm\taead\t\n"},
	} {
		config := &tls.Config{RootCAs: pool, MaxVersion: tls.VersionTLS12,
			CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}}
		conn, err := amqp.DialTLS(withGuest(c.url), config)
		require.NoError(t, err, c.url)
		out, _, _ := controlOf(s)([]string{"list_connections", "-s", "ssl", "ssl_protocol", "ssl_key_exchange", "ssl_cipher",
			"ssl_hash", "peer_cert_subject"}, "")
		assert.Equal(t, c.listed, out)
		require.NoError(t, conn.Close())
	}
}

func certificate(t *testing.T) (certFile, keyFile string, pool *x509.CertPool) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
		return file
	}
	pool = x509.NewCertPool()
	parsed, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool.AddCert(parsed)
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", keyDER), pool
}

func TestCannotStart(t *testing.T) {
	dir := t.TempDir()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	cert, key, _ := certificate(t)
	notJSON := write("bad.json", "{nope")
	badQueue := write("queue.json", `{"vhosts":[{"name":"/"}],"queues":[{"name":"q","vhost":"/","durable":true,`+
		`"auto_delete":false,"arguments":{"x-max-length":"a"}}]}`)
	for _, c := range []struct {
		status int
		says   string
		args   []string
	}{
		{2, "flag provided but not defined: -bogus", []string{"--bogus"}},
		{2, `"extra" is not expected`, []string{"extra"}},
		{2, `--profile is "9"`, []string{"--profile", "9"}},
		{2, `--log is "loud"`, []string{"--log", "loud"}},
		{2, "--amqps needs --cert and --key", []string{"--amqps", "127.0.0.1:0"}},
		{2, "--cert, --key and --client-ca are for --amqps", []string{"--cert", notJSON}},
		{2, "--cert, --key and --client-ca are for --amqps", []string{"--client-ca", notJSON}},
		{2, "--client-cert-required needs --client-ca", []string{"--amqps", "127.0.0.1:0", "--cert", notJSON, "--key", notJSON, "--client-cert-required"}},
		{2, `--cert-login is "serial"`, []string{"--cert-login", "serial"}},
		{2, "neither --amqp nor --amqps has an address", []string{"--amqp", ""}},
		{2, "--heartbeat is 1.5s, not whole seconds from 0s to 65535s", []string{"--heartbeat", "1500ms"}},
		{2, "--heartbeat is 18h12m16s, not whole seconds", []string{"--heartbeat", "65536s"}},
		{2, `--max-message-size is "513MiB", not a size from 1 to 512MiB`, []string{"--max-message-size", "513MiB"}},
		{2, `--max-message-size is "0", not a size from 1 to 512MiB`, []string{"--max-message-size", "0"}},
		{1, "--amqp: listen tcp " + taken.Addr().String(), []string{"--amqp", taken.Addr().String()}},
		{1, "--amqp: listen tcp", []string{"--amqp", "127.0.0.1:99999"}},
		{1, "--http: listen tcp " + taken.Addr().String(), []string{"--http", taken.Addr().String()}},
		{1, "--cert and --key: ", []string{"--amqps", "127.0.0.1:0", "--cert", notJSON, "--key", notJSON}},
		{1, "--client-ca: open ", []string{"--amqps", "127.0.0.1:0", "--cert", cert, "--key", key, "--client-ca", filepath.Join(dir, "none")}},
		{1, "--client-ca: there is no certificate in " + notJSON, []string{"--amqps", "127.0.0.1:0", "--cert", cert, "--key", key, "--client-ca", notJSON}},
		{1, "--definitions: open ", []string{"--definitions", filepath.Join(dir, "none")}},
		{1, "--definitions: " + notJSON, []string{"--definitions", notJSON}},
		{1, "invalid arg 'x-max-length'", []string{"--definitions", badQueue}},
		{1, "--control: " + notJSON + " exists and is not a socket", []string{"--control", notJSON}},
		{1, "--control: ", []string{"--control", filepath.Join(dir, "no", "s")}},
	} {
		args := append([]string{"serve", "--amqp", "127.0.0.1:0"}, c.args...)
		status, stderr := spawn(t, args...).exit()
		assert.Equal(t, c.status, status, "%q", c.args)
		assert.True(t, strings.HasPrefix(stderr, "leveret serve: "), stderr)
		assert.Contains(t, stderr, c.says, "%q", c.args)
		assert.Equal(t, 1, strings.Count(stderr, "\n"), "one line: %s", stderr)
	}
}

func TestHelp(t *testing.T) {
	for _, c := range []struct {
		status int
		args   []string
	}{
		{0, []string{"help"}}, {0, []string{"version"}}, {0, []string{"serve", "--help"}}, {0, []string{"ctl", "help"}},
		{2, nil}, {2, []string{"nonsense"}}, {64, []string{"ctl"}}, {64, []string{"ctl", "nonsense"}},
	} {
		var out, errs bytes.Buffer
		status := run(c.args, streams(&out, &errs))
		assert.Equal(t, c.status, status, "%q", c.args)
		assert.Equal(t, status == 0, out.Len() > 0 && errs.Len() == 0, "%q: %s%s", c.args, &out, &errs)
	}
}

func TestProfile(t *testing.T) {
	s, err := parseSettings([]string{"--amqp", "127.0.0.1:0", "--http", "none", "--profile", "3.10"}, io.Discard)
	require.NoError(t, err)
	s.control = filepath.Join(t.TempDir(), "s")
	startForTest(t, s)
	out, _, _ := controlOf(s)([]string{"status", "-q"}, "")
	assert.Contains(t, out, "\nRabbitMQ version: 3.10")
}
