package move

import (
	"bufio"
	"context"
	"os"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What could not be brought to the disk is not safe, for any of the messages that were written before.
func TestDumpThatDoesNotReachTheDisk(t *testing.T) {
	r, w, err := os.Pipe() // a pipe takes what is written, and has no disk
	require.NoError(t, err)
	defer r.Close()
	defer w.Close()
	d := &Dump{file: w, buffered: bufio.NewWriter(w)}
	var confirms []func() error
	for range 3 {
		confirmed, err := d.send(Letter{Queue: "q"})
		require.NoError(t, err)
		confirms = append(confirms, confirmed)
	}
	for _, confirmed := range confirms {
		assert.Error(t, confirmed())
	}
}

// An endless source.
type endless struct{}

func (endless) next(context.Context) (parcel, error) { return parcel{}, nil }
func (endless) settle([]uint64) error                { return nil }
func (endless) close() error                         { return nil }

// A mute target confirms nothing before it is released.
type mute struct {
	sent     int
	released chan struct{}
}

func (m *mute) close() error { return nil }
func (m *mute) send(Letter) (func() error, error) {
	m.sent++
	return func() error { <-m.released; return nil }, nil
}

// Not more messages are on their way than the window has, wherever they come from.
func TestWindow(t *testing.T) {
	for _, window := range []int{1, 2, 150} {
		synctest.Test(t, func(t *testing.T) {
			out := &mute{released: make(chan struct{})}
			p := &pump{in: endless{}, out: out, journal: NewJournal(), window: window, pace: newPace(0), sent: func(string) {}}
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- p.run(ctx) }()
			synctest.Wait()
			assert.Equal(t, window, out.sent)
			stop()
			close(out.released)
			assert.NoError(t, <-ended)
			moved, _ := p.journal.Moved()
			assert.Equal(t, window, moved)
		})
	}
}
