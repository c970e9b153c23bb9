package conformance

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/scenario"
)

// A steered is a process that chooses the seeds of a campaign (see Steering). It counts what its own engine executes: a
// test can read such counts only when it ends.
type steered struct {
	process *exec.Cmd
	ask     io.WriteCloser
	answers *bufio.Reader
	report  bytes.Buffer
}

// steer builds and starts the process.
func steer(t *testing.T, p leveret.Profile, first uint64) *steered {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "steer")
	covered := strings.Join([]string{enginePath, enginePath + "/amqpd", enginePath + "/conformance/cmd/steer"}, ",")
	build := exec.Command("go", "build", "-cover", "-covermode", "atomic", "-coverpkg", covered, "-o", binary, "./cmd/steer")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	s := &steered{process: exec.Command(binary, "-root", "..", "-profile", scenario.Releases[p], "-seed", fmt.Sprint(first))}
	s.process.Env = append(os.Environ(), "GOCOVERDIR="+t.TempDir())
	s.process.Stderr = &s.report
	var err error
	if s.ask, err = s.process.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := s.process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.answers = bufio.NewReader(out)
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// next returns the seed of the next program.
func (s *steered) next() (seed uint64, err error) {
	if _, err := io.WriteString(s.ask, "\n"); err != nil {
		return 0, err
	}
	_, err = fmt.Fscanln(s.answers, &seed)
	return seed, err
}

// end ends the process and returns what it reports.
func (s *steered) end() (report string, err error) {
	if err := s.ask.Close(); err != nil {
		return "", err
	}
	err = s.process.Wait()
	return s.report.String(), err
}
