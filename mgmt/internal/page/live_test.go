package page_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stream opens the events of a view in a bubble, until the context or the server ends them.
func (s site) stream(ctx context.Context, path, user string) (events <-chan string) {
	r := httptest.NewRequestWithContext(ctx, "GET", path, nil)
	r.RemoteAddr = "127.0.0.1:50000"
	r.SetBasicAuth(user, user)
	r.Header.Set("Accept", "text/event-stream")
	in, out := io.Pipe()
	go func() {
		defer out.Close()
		s.ServeHTTP(flushed{httptest.NewRecorder(), out}, r)
	}()
	each := make(chan string, 10)
	go func() {
		defer close(each)
		var event strings.Builder
		lines := bufio.NewScanner(in)
		for lines.Scan() {
			if lines.Text() == "" {
				each <- event.String()
				event.Reset()
				continue
			}
			event.WriteString(lines.Text() + "\n")
		}
	}()
	return each
}

// flushed is a response that is read while it is written.
type flushed struct {
	*httptest.ResponseRecorder
	io.Writer
}

func (f flushed) Write(p []byte) (int, error)       { return f.Writer.Write(p) }
func (f flushed) WriteString(s string) (int, error) { return io.WriteString(f.Writer, s) }
func (f flushed) SetWriteDeadline(time.Time) error  { return nil }

// An open view is told what changes, once a second at most, and nothing while nothing does.
func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := leveret.New()
		defer b.Close()
		s := site{t, mgmt.Handler(b)}
		_, err := b.DeclareQueue("q", leveret.QueueConfig{})
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		events := s.stream(ctx, "/queues", "guest")
		first := <-events
		assert.True(t, strings.HasPrefix(first, "event: live\ndata: "), first)
		start := time.Now()
		time.Sleep(10500 * time.Millisecond)
		require.Empty(t, events)
		_, err = b.DeclareQueue("new", leveret.QueueConfig{})
		require.NoError(t, err)
		assert.Contains(t, <-events, ">new</a>")
		assert.Equal(t, 11*time.Second, time.Since(start))
		cancel()
		_, open := <-events
		assert.False(t, open)
	})
}

// A view whose object goes says so, and shows it again when it is there again.
func TestEventsOfWhatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := leveret.New()
		defer b.Close()
		declare := func() {
			_, err := b.DeclareQueue("q", leveret.QueueConfig{})
			require.NoError(t, err)
		}
		declare()
		ctx, cancel := context.WithCancel(t.Context())
		events := site{t, mgmt.Handler(b)}.stream(ctx, queue("q"), "guest")
		assert.Contains(t, <-events, "Settings in force")
		_, err := b.DeleteQueue("q", leveret.DeleteConfig{})
		require.NoError(t, err)
		assert.Contains(t, <-events, `role="alert">Not Found</p>`)
		declare()
		assert.Contains(t, <-events, "Settings in force")
		cancel()
		for range events {
		}
	})
}

// Who may no longer see a view is told nothing more.
func TestEventsEndWithTheUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := leveret.New()
		defer b.Close()
		require.NoError(t, b.AddUser("adm", "adm", "administrator"))
		events := site{t, mgmt.Handler(b)}.stream(t.Context(), "/", "adm")
		<-events
		require.NoError(t, b.DeleteUser("adm"))
		for range events {
		}
	})
}

// A name cannot end a line of an event, and so begin another one.
func TestEventsKeepTheirLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := leveret.New()
		defer b.Close()
		// The broker takes line ends out of queues' names, but not out of this.
		require.NoError(t, b.SetPolicy(leveret.Policy{Name: "a\rdata: b\r\nevent: c\n\nd", Pattern: ".", Definition: leveret.Table{"max-length": 1}}))
		ctx, cancel := context.WithCancel(t.Context())
		events := site{t, mgmt.Handler(b)}.stream(ctx, "/policies", "guest")
		event := <-events
		assert.Contains(t, event, "data: event: c\n")
		assert.NotContains(t, event, "\r")
		for line := range strings.SplitSeq(strings.TrimSuffix(event, "\n"), "\n") {
			assert.True(t, line == "event: live" || strings.HasPrefix(line, "data: "), line)
		}
		cancel()
		for range events {
		}
	})
}

// A server gives up slow requests and slow readers. The events of a view are neither.
func TestEventsOutliveTheServersTimeouts(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	srv := httptest.NewUnstartedServer(mgmt.Handler(b))
	srv.Config.ReadTimeout, srv.Config.WriteTimeout = 100*time.Millisecond, 100*time.Millisecond
	srv.Start()
	defer srv.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", srv.URL+"/queues", nil)
	require.NoError(t, err)
	r.SetBasicAuth("guest", "guest")
	r.Header.Set("Accept", "text/event-stream")
	res, err := http.DefaultTransport.RoundTrip(r)
	require.NoError(t, err)
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	require.True(t, lines.Scan())
	_, err = b.DeclareQueue("new", leveret.QueueConfig{})
	require.NoError(t, err)
	for lines.Scan() && !strings.Contains(lines.Text(), ">new</a>") {
	}
	assert.NoError(t, lines.Err())
	assert.Contains(t, lines.Text(), ">new</a>")
}
