package blackbox_test

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

// A watcher sees what happens between Watch and stop, in all virtual hosts, those that are made meanwhile included.
func TestWatchersComeAndGo(t *testing.T) {
	b, _ := newTestBroker(t)
	var seen []string
	watch := func(name string) func() {
		return b.Watch(leveret.Events{Published: func(e leveret.PublishedEvent) { seen = append(seen, name+" "+e.VHost+" "+string(e.Body)) }})
	}
	publish := func(v *leveret.VHost, body string) {
		_, err := v.Publish("", "nowhere", leveret.Message{Body: []byte(body)})
		require.NoError(t, err)
	}
	root, err := b.VHost("/")
	require.NoError(t, err)
	publish(root, "1")
	stopA := watch("a")
	publish(root, "2")
	other, err := b.CreateVHost("other")
	require.NoError(t, err)
	stopB := watch("b")
	publish(other, "3")
	stopA()
	publish(root, "4")
	stopB()
	stopA()
	publish(other, "5")
	require.Equal(t, []string{"a / 2", "a other 3", "b other 3", "b / 4"}, seen)
}

// Several WithEvents add up, and with them those that Watch adds.
func TestWithEventsAddUp(t *testing.T) {
	var seen []string
	told := func(who string) leveret.Events {
		return leveret.Events{Published: func(leveret.PublishedEvent) { seen = append(seen, who) }}
	}
	b, _ := newTestBroker(t, leveret.WithEvents(told("first")), leveret.WithEvents(told("second")))
	defer b.Watch(told("third"))()
	_, err := b.Publish("", "nowhere", leveret.Message{})
	require.NoError(t, err)
	require.Equal(t, []string{"first", "second", "third"}, seen)
}

// A watcher that a hook adds sees nothing of the operation that is being told.
func TestWatcherAddedByAHookSeesWholeOperations(t *testing.T) {
	b, _ := newTestBroker(t)
	q := mustDeclare(t, b, "q", nil)
	var late []string
	added := false
	b.Watch(leveret.Events{Published: func(leveret.PublishedEvent) {
		if !added {
			added = true
			b.Watch(leveret.Events{
				Published: func(e leveret.PublishedEvent) { late = append(late, "published "+string(e.Body)) },
				Enqueued:  func(e leveret.EnqueuedEvent) { late = append(late, "enqueued "+string(e.Body)) },
			})
		}
	}})
	mustPublish(t, b, q.Name(), "first", "")
	require.Empty(t, late)
	mustPublish(t, b, q.Name(), "second", "")
	require.Equal(t, []string{"published second", "enqueued second"}, late)
}

// After a hook has called stop, no hook of the watcher is called, though events are on their way.
func TestStopInAHookEndsTheWatcher(t *testing.T) {
	b, _ := newTestBroker(t)
	q := mustDeclare(t, b, "q", nil)
	for range 10 {
		mustPublish(t, b, q.Name(), "m", "")
	}
	var stop func()
	var mine, others int
	stop = b.Watch(leveret.Events{Dropped: func(leveret.DroppedEvent) {
		mine++
		stop()
	}})
	b.Watch(leveret.Events{Dropped: func(leveret.DroppedEvent) { others++ }})
	_, err := q.Purge()
	require.NoError(t, err)
	require.Equal(t, 1, mine)
	require.Equal(t, 10, others)
}

// Watchers come and go while others publish: a watcher sees each message whole, published and enqueued, or not at all.
func TestWatchersSeeWholeOperations(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	mustDeclare(t, b, "q", leveret.Table{"x-max-length": 10})
	var publishers sync.WaitGroup
	var ended atomic.Bool
	for range 2 {
		publishers.Go(func() {
			for !ended.Load() {
				b.Publish("", "q", leveret.Message{})
				runtime.Gosched() // the watcher's goroutine may have the only processor
			}
		})
	}
	for i := range scaled(2000) {
		var published, enqueued int
		seen := make(chan struct{}, 1)
		stop := b.Watch(leveret.Events{
			Published: func(leveret.PublishedEvent) { published++ },
			Enqueued: func(leveret.EnqueuedEvent) {
				if enqueued++; enqueued != published {
					t.Errorf("%d messages were published and %d enqueued", published, enqueued)
				}
				select {
				case seen <- struct{}{}:
				default:
				}
			},
		})
		if i%2 == 0 {
			<-seen // the other half of the watchers may come and go between two messages
		}
		stop()
		b.Settle()
	}
	ended.Store(true)
	publishers.Wait()
}

// A hook that panics takes nothing from other watchers, other events, handlers and the memory alarm, and the panic
// reaches the caller of the operation. The same holds for one that ends its goroutine.
func TestHookThatPanicsTakesNothingFromOthers(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic("hook") }, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			b, _ := newTestBroker(t, leveret.WithMemoryLimit(10))
			var seen []string
			note := func(s string) { seen = append(seen, s) }
			q := mustDeclare(t, b, "q", nil)
			_, err := q.Consume(leveret.ConsumeConfig{Handler: func(d *leveret.Delivery) { note("handled") }})
			require.NoError(t, err)
			b.Watch(leveret.Events{
				Published: func(leveret.PublishedEvent) { note("first"); end() },
				Delivered: func(leveret.DeliveredEvent) { end() },
			})
			b.Watch(leveret.Events{
				Published:         func(leveret.PublishedEvent) { note("published"); end() },
				Enqueued:          func(leveret.EnqueuedEvent) { note("enqueued") },
				Delivered:         func(leveret.DeliveredEvent) { note("delivered") },
				MemoryAlarmRaised: func(leveret.MemoryEvent) { note("alarm") },
			})
			done := make(chan any)
			go func() {
				defer func() { done <- recover() }()
				b.Publish("", "q", leveret.Message{Body: make([]byte, 11)})
				t.Error("Publish returned")
			}()
			if cause := <-done; name == "panic" {
				require.Equal(t, "hook", fmt.Sprint(cause))
			}
			require.Equal(t, []string{"first", "published", "enqueued", "handled", "delivered", "alarm"}, seen)
			b.Settle()
			require.NoError(t, b.Check())
		})
	}
}

// The same holds for a handler: other consumers get their messages, and watchers all events.
func TestHandlerThatPanicsTakesNothingFromOthers(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic("handler") }, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			b, _ := newTestBroker(t)
			var seen []string
			note := func(s string) { seen = append(seen, s) }
			for name, handle := range map[string]func(*leveret.Delivery){"a": func(*leveret.Delivery) { note("a"); end() },
				"b": func(*leveret.Delivery) { note("b") }} {
				q := mustDeclare(t, b, name, nil)
				require.NoError(t, b.BindQueue(name, "amq.fanout", "", nil))
				_, err := q.Consume(leveret.ConsumeConfig{Handler: handle})
				require.NoError(t, err)
			}
			b.Watch(leveret.Events{Delivered: func(e leveret.DeliveredEvent) { note("delivered " + e.Queue) }})
			done := make(chan any)
			go func() {
				defer func() { done <- recover() }()
				b.Publish("amq.fanout", "", leveret.Message{})
				t.Error("Publish returned")
			}()
			if cause := <-done; name == "panic" {
				require.Equal(t, "handler", fmt.Sprint(cause))
			}
			require.ElementsMatch(t, []string{"a", "b", "delivered a", "delivered b"}, seen)
			b.Settle()
			require.NoError(t, b.Check())
		})
	}
}

// The connections of all virtual hosts are closed, whatever a hook does.
func TestCloseWithAHookThatPanics(t *testing.T) {
	b, _ := newTestBroker(t)
	var conns []*leveret.Conn
	for _, name := range []string{"/", "a", "b"} {
		v, err := b.CreateVHost(name)
		require.NoError(t, err)
		require.NoError(t, v.SetPermissions("guest", leveret.Permissions{Configure: ".*", Write: ".*", Read: ".*"}))
		c, err := b.Connect("guest", "guest", name)
		require.NoError(t, err)
		conns = append(conns, c)
	}
	stop := b.Watch(leveret.Events{ConnectionClosed: func(leveret.ConnectionEvent) { panic("hook") }})
	require.PanicsWithValue(t, "hook", func() { b.Close() })
	stop()
	for _, c := range conns {
		require.ErrorIs(t, c.Err(), leveret.ErrClosed)
	}
}

// The end of a channel and of a connection comes with its cause, and without one if the client wanted it.
func TestEndsComeWithTheirCause(t *testing.T) {
	b, _ := newTestBroker(t)
	var ends []string
	b.Watch(leveret.Events{
		ChannelClosed: func(e leveret.ChannelEvent) {
			ends = append(ends, fmt.Sprintf("channel %d of %d: %v", e.Channel, e.Conn, e.Err))
		},
		ConnectionClosed: func(e leveret.ConnectionEvent) { ends = append(ends, fmt.Sprintf("connection %d: %v", e.ID, e.Err)) },
	})
	conn, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	channel := func() *leveret.Channel {
		ch, err := conn.Channel()
		require.NoError(t, err)
		return ch
	}
	_, err = channel().CheckQueue("q")
	require.Error(t, err)
	require.NoError(t, channel().Close())
	other := channel()
	require.NoError(t, b.CloseConnection(conn.ID(), "enough"))
	_, err = other.CheckQueue("q")
	require.Error(t, err)
	last, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	require.NoError(t, last.Close())
	b.Settle()
	const enough = "CONNECTION_FORCED - enough"
	id := conn.ID()
	require.Equal(t, []string{
		fmt.Sprintf("channel 1 of %d: queue.declare: NOT_FOUND - no queue 'q' in vhost '/'", id),
		fmt.Sprintf("channel 1 of %d: <nil>", id),
		fmt.Sprintf("channel 1 of %d: %s", id, enough),
		fmt.Sprintf("connection %d: %s", id, enough),
		fmt.Sprintf("connection %d: <nil>", last.ID()),
	}, ends)
}
