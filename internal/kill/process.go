package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
	"github.com/leveretmq/leveret/internal/journal"
)

// The process that is killed is this program again. These variables tell it what to be.
const (
	dirVariable    = "LEVERET_KILL_DIR"
	syncVariable   = "LEVERET_KILL_SYNC"
	brokenVariable = "LEVERET_KILL_BREAK"
)

var syncLevels = map[string]leveret.SyncLevel{
	"always": leveret.SyncAlways, "rabbitmq": leveret.SyncAsRabbitMQ, "never": leveret.SyncNever,
}

// serves is a broker's process, if this one is to be that. It prints its address, and sets each policy that comes as a line.
func serves() bool {
	dir := os.Getenv(dirVariable)
	if dir == "" {
		return false
	}
	if os.Getenv(brokenVariable) == "late" {
		journal.Mount(dir, lateDisk{journal.Dir(dir)})
	}
	b, err := leveret.Open(dir, leveret.WithSync(syncLevels[os.Getenv(syncVariable)]))
	must(err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	go (&amqpd.Server{Broker: b}).Serve(l)
	fmt.Println(l.Addr())
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var p leveret.Policy
		must(json.Unmarshal(lines.Bytes(), &p))
		for k, v := range p.Definition {
			if n, ok := v.(float64); ok { // JSON has no others
				p.Definition[k] = int64(n)
			}
		}
		must(b.SetPolicy(p))
		fmt.Println(p.Name)
	}
	return true // nobody is there any more
}

// A lateDisk writes late: for a while what was to be written is nowhere but in the process.
type lateDisk struct{ journal.FS }

func (d lateDisk) Open(name string) (journal.File, error) { // a segment is created under another name, and opened
	f, err := d.FS.Open(name)
	return lateFile{f}, err
}

type lateFile struct{ journal.File }

func (f lateFile) WriteAt(b []byte, at int64) (int, error) {
	time.Sleep(20 * time.Millisecond)
	return f.File.WriteAt(b, at)
}

// A process is one that can be killed.
type process struct {
	cmd     *exec.Cmd
	in      io.Writer
	out     *bufio.Reader
	address string
	killed  atomic.Bool // or about to be
}

// start starts a process and waits until it serves.
func start(dir string, c config) *process {
	p := launch(dir, c)
	p.address = p.line()
	if p.address == "" {
		panic("kill: the process has ended before it was killed")
	}
	return p
}

// launch starts a process.
func launch(dir string, c config) *process {
	p := &process{cmd: exec.Command(os.Args[0])}
	p.cmd.Env = append(os.Environ(), dirVariable+"="+dir, syncVariable+"="+c.sync, brokenVariable+"="+c.broken)
	p.cmd.Stderr = os.Stderr
	var err error
	p.in, err = p.cmd.StdinPipe()
	must(err)
	out, err := p.cmd.StdoutPipe()
	must(err)
	must(p.cmd.Start())
	p.out = bufio.NewReader(out)
	return p
}

// line returns what the process says next, empty when it is dead.
func (p *process) line() string {
	line, err := p.out.ReadString('\n')
	if err != nil {
		return ""
	}
	return strings.TrimSpace(line)
}

func (p *process) kill() {
	p.killed.Store(true)
	_ = p.cmd.Process.Kill()
}

// wait returns when the process has ended, and what it died of unless it was killed.
func (p *process) wait() error {
	err := p.cmd.Wait()
	if s, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signal() == syscall.SIGKILL {
		return nil
	}
	return fmt.Errorf("the process was not killed, it has ended by itself: %w", err)
}

// setPolicy reports whether the broker has said that it has the policy.
func (p *process) setPolicy(policy leveret.Policy) bool {
	line, err := json.Marshal(policy)
	must(err)
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return false
	}
	return p.line() == policy.Name
}
