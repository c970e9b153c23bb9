package bench

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
	"github.com/leveretmq/leveret/bench/nullserver"
	amqp "github.com/rabbitmq/amqp091-go"
)

// The test binary is also the null server: started with BENCH_SERVE=null, or =keep, it serves AMQP on a free port.
// leveret is the command itself. So a server's CPU time and memory are its process's.
func TestMain(m *testing.M) {
	if kind := os.Getenv("BENCH_SERVE"); kind != "" {
		if err := serveNull(kind == "keep"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// ballast is how many bytes of garbage may gather before they are collected, in clients and null servers as in
// leveret's.
const ballast = 128 << 20

func serveNull(keep bool) error {
	room := make([]byte, ballast)
	defer runtime.KeepAlive(room)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	return (&nullserver.Server{Keep: keep}).Serve(l)
}

// buildLeveret builds the command once.
var buildLeveret = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "leveret")
	if err != nil {
		return "", err
	}
	bin := filepath.Join(dir, "leveret")
	out, err := exec.Command("go", "build", "-C", "..", "-o", bin, "./cmd/leveret").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return bin, nil
})

func command(tb testing.TB, kind string) *exec.Cmd {
	if kind == "null" || kind == "keep" {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "BENCH_SERVE="+kind)
		return cmd
	}
	bin := os.Getenv("BENCH_BASE")
	if kind != "base" {
		var err error
		bin, err = buildLeveret()
		check(tb, err)
	}
	return exec.Command(bin, "serve", "--amqp", "127.0.0.1:0", "--http", "none", "--control", "none")
}

// A process is a server under measurement.
type process struct {
	name, url string
	pid       int // 0: unknown
	cmd       *exec.Cmd
	open      func() (net.Conn, error) // in place of url, for a server in this process; nil: there is none
}

func (p *process) dial() (*amqp.Connection, error) {
	if p.open == nil {
		return amqp.Dial(p.url)
	}
	nc, err := p.open()
	if err != nil {
		return nil, err
	}
	return openPipe(nc)
}

// startServer starts a server of a kind, leveret with more arguments if there are any.
func startServer(tb testing.TB, kind string, args ...string) *process {
	cmd := command(tb, kind)
	cmd.Args = append(cmd.Args, args...)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	check(tb, err)
	check(tb, cmd.Start())
	addr, err := bufio.NewReader(out).ReadString('\n')
	check(tb, err)
	addr = strings.TrimSpace(addr)
	addr = addr[strings.LastIndexAny(addr, " /")+1:] // leveret says a little more
	return &process{name: kind, url: "amqp://guest:guest@" + addr + "/", pid: cmd.Process.Pid, cmd: cmd}
}

func (p *process) stop() {
	if p.cmd != nil {
		p.cmd.Process.Kill()
		p.cmd.Wait()
	}
}

// servers are those that AMQP benchmarks compare: leveret, the null server and, if it is named,
// RabbitMQ.
func servers(tb testing.TB) []*process {
	all := []*process{startServer(tb, "null"), startServer(tb, "keep"), startServer(tb, "leveret")}
	if os.Getenv("BENCH_BASE") != "" {
		all = append(all, startServer(tb, "base"))
	}
	if rabbitURL != "" {
		all = append(all, &process{name: "rabbit", url: rabbitURL, pid: rabbitPID()})
	}
	for _, p := range all {
		tb.Cleanup(p.stop)
	}
	return all
}

// pipes are leveret and the null server in this process, connected in memory.
func pipes(tb testing.TB) []*process {
	open := func(s *nullserver.Server) func() (net.Conn, error) {
		return func() (net.Conn, error) {
			client, server := amqpd.Pipe()
			s.Start(server)
			return client, nil
		}
	}
	b := leveret.New()
	srv := &amqpd.Server{Broker: b}
	tb.Cleanup(func() {
		check(tb, srv.Close())
		check(tb, b.Close())
	})
	return []*process{
		{name: "null", open: open(new(nullserver.Server))},
		{name: "keep", open: open(&nullserver.Server{Keep: true})},
		{name: "leveret", open: srv.Dial},
	}
}

func rabbitPID() int {
	pid, _ := strconv.Atoi(os.Getenv("BENCH_RABBIT_PID"))
	return pid
}

// cpu is the time that the process's threads have run.
func (p *process) cpu() (sum time.Duration) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p.pid))
	for _, f := range files {
		b, _ := os.ReadFile(f)
		if w := strings.Fields(string(b)); len(w) > 0 {
			ns, _ := strconv.ParseInt(w[0], 10, 64)
			sum += time.Duration(ns)
		}
	}
	return sum
}

// resident is the memory of the process that is in RAM, in bytes.
func (p *process) resident() int64 {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.pid))
	w := strings.Fields(string(b))
	if len(w) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(w[1], 10, 64)
	return pages * int64(os.Getpagesize())
}
