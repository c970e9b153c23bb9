package journal_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/leveretmq/leveret/internal/journal"
	"github.com/stretchr/testify/require"
)

const childSeed = 11

// child opens the log of a directory and does one operation after the other. It prints the number of each that is written or
// synced, as the operation asks.
func child(dir string) {
	l, err := open(journal.Dir(dir), small)
	if err != nil {
		fmt.Println("error:", err)
		return
	}
	for {
		if l.log.Room() != nil {
			return
		}
		p, err := l.step(childSeed)
		if err != nil {
			fmt.Println("error:", err)
			return
		}
		op := l.op
		_ = l.log.Notify(p, journal.Level(1+op%2), func(err error) {
			if err == nil {
				os.Stdout.WriteString(fmt.Sprintln("op", op)) // one write, so that a kill leaves a whole line
			}
		})
	}
}

// TestKill kills a process that writes a log, again and again, and compares the log with what the process had confirmed.
// What follows from the seed is known, so the states are, too.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	n := 5
	if *long {
		n = 200
	}
	dir := t.TempDir()
	reference := reference(t)
	confirmed := uint64(0)
	for round := range n {
		sure := killed(t, dir, time.Duration(20+rand.IntN(150))*time.Millisecond)
		confirmed = max(confirmed, sure)
		require.NoError(t, journal.Check(journal.Dir(dir)).Err(), "round %d", round)
		l, err := open(journal.Dir(dir), small)
		require.NoError(t, err, "round %d", round)
		require.GreaterOrEqual(t, l.op, confirmed, "round %d", round)
		require.Equal(t, reference(l.op), l.state(), "round %d: the state after operation %d", round, l.op)
		require.Equal(t, l.live(), l.log.Stats().Live)
		require.NoError(t, l.log.Close())
	}
	t.Logf("%d kills, %d operations confirmed", n, confirmed)
}

// reference returns a function that tells the state after an operation, which may not be before the one that it was last
// asked for.
func reference(t *testing.T) func(op uint64) uint64 {
	l, err := open(journal.Dir(t.TempDir()), small)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.log.Close() })
	return func(op uint64) uint64 {
		for l.op < op {
			require.NoError(t, l.log.Room())
			_, err := l.step(childSeed)
			require.NoError(t, err)
		}
		return l.state()
	}
}

// killed lets a process write for a while and returns the last operation that it confirmed.
func killed(t *testing.T, dir string, after time.Duration) (confirmed uint64) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+dir)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if confirmed == 0 { // it is at work
			time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
		}
		var op uint64
		if _, err := fmt.Sscanf(lines.Text(), "op %d", &op); err != nil || strings.HasPrefix(lines.Text(), "error") {
			t.Fatal(lines.Text())
		}
		confirmed = max(confirmed, op)
	}
	_ = cmd.Wait()
	return confirmed
}
