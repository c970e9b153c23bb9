package bench

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
	"github.com/leveretmq/leveret/bench/nullserver"
)

// The test binary is also the servers: started with BENCH_SERVE=leveret or null it serves AMQP
// on a free port, so that a server's CPU time and memory are its process's.
func TestMain(m *testing.M) {
	if kind := os.Getenv("BENCH_SERVE"); kind != "" {
		if err := serve(kind); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func serve(kind string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	if kind == "null" {
		return new(nullserver.Server).Serve(l)
	}
	return (&amqpd.Server{Broker: leveret.New()}).Serve(l)
}

// A process is a server under measurement.
type process struct {
	name, url string
	pid       int // 0: unknown
	cmd       *exec.Cmd
}

func startServer(tb testing.TB, kind string) *process {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "BENCH_SERVE="+kind)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	check(tb, err)
	check(tb, cmd.Start())
	addr, err := bufio.NewReader(out).ReadString('\n')
	check(tb, err)
	return &process{kind, "amqp://guest:guest@" + strings.TrimSpace(addr) + "/", cmd.Process.Pid, cmd}
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
	all := []*process{startServer(tb, "null"), startServer(tb, "leveret")}
	if rabbitURL != "" {
		all = append(all, &process{name: "rabbit", url: rabbitURL, pid: rabbitPID()})
	}
	for _, p := range all {
		tb.Cleanup(p.stop)
	}
	return all
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
