package leverettest_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/fault"
	"github.com/leveretmq/leveret/internal/race"
	"github.com/leveretmq/leveret/leverettest"
	amqp091 "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// states are those in which a test may leave its connection. Each returns what has to be undone for no goroutine to be
// left.
var states = map[string]func(t *testing.T, b *leveret.Broker, conn *amqp091.Connection, ch *amqp091.Channel) (undo func()){
	"idle": func(*testing.T, *leveret.Broker, *amqp091.Connection, *amqp091.Channel) func() { return func() {} },
	"blocked": func(t *testing.T, b *leveret.Broker, _ *amqp091.Connection, ch *amqp091.Channel) func() {
		b.SetMemoryLimit(-1)
		require.NoError(t, ch.Publish("", "q", false, false, amqp091.Publishing{Body: []byte("m")}))
		return func() {}
	},
	"blocked, and nobody hears of it": func(t *testing.T, b *leveret.Broker, conn *amqp091.Connection, ch *amqp091.Channel) func() {
		told := conn.NotifyBlocked(make(chan amqp091.Blocking))
		b.SetMemoryLimit(-1)
		require.NoError(t, ch.Publish("", "q", false, false, amqp091.Publishing{Body: []byte("m")}))
		return func() {
			for range told { // until the client has ended
			}
		}
	},
	"nobody takes what was returned": func(t *testing.T, _ *leveret.Broker, _ *amqp091.Connection, ch *amqp091.Channel) func() {
		returned := ch.NotifyReturn(make(chan amqp091.Return))
		for range 3 {
			require.NoError(t, ch.Publish("", "missing", true, false, amqp091.Publishing{}))
		}
		return func() {
			for range returned {
			}
		}
	},
	"nobody takes deliveries": func(t *testing.T, b *leveret.Broker, _ *amqp091.Connection, ch *amqp091.Channel) func() {
		for range 3000 {
			_, err := b.Publish("", "q", leveret.Message{Body: make([]byte, 1000)})
			require.NoError(t, err)
		}
		_, err := ch.Consume("q", "", false, false, false, false, nil)
		require.NoError(t, err)
		return func() {}
	},
	"a transaction is open": func(t *testing.T, _ *leveret.Broker, _ *amqp091.Connection, ch *amqp091.Channel) func() {
		require.NoError(t, ch.Tx())
		require.NoError(t, ch.Publish("", "q", false, false, amqp091.Publishing{Body: []byte("m")}))
		return func() {}
	},
	"it is stalled": func(t *testing.T, b *leveret.Broker, _ *amqp091.Connection, ch *amqp091.Channel) func() {
		lift, err := fault.Inject(b, fault.Fault{On: fault.OnPublish, Do: fault.Action{Kind: fault.Stall}}) // the test does not lift it
		require.NoError(t, err)
		for range 100 {
			require.NoError(t, ch.Publish("", "q", false, false, amqp091.Publishing{Body: make([]byte, 10_000)}))
		}
		return lift
	},
	"a fault blocks it": func(t *testing.T, b *leveret.Broker, _ *amqp091.Connection, ch *amqp091.Channel) func() {
		lift, err := fault.Inject(b, fault.Fault{On: fault.OnPublish, Do: fault.Action{Kind: fault.Block}})
		require.NoError(t, err)
		require.NoError(t, ch.Publish("", "q", false, false, amqp091.Publishing{Body: []byte("m")}))
		return lift
	},
	"a worker never returns": func(t *testing.T, b *leveret.Broker, _ *amqp091.Connection, ch *amqp091.Channel) func() {
		deliveries, err := ch.Consume("q", "", false, false, false, false, nil)
		require.NoError(t, err)
		_, err = b.Publish("", "q", leveret.Message{})
		require.NoError(t, err)
		returns, gone := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(gone)
			for range deliveries {
				<-returns
			}
		}()
		return func() {
			close(returns)
			<-gone
		}
	},
	"its channel is closed": func(t *testing.T, _ *leveret.Broker, _ *amqp091.Connection, ch *amqp091.Channel) func() {
		_, err := ch.QueueDeclarePassive("missing", false, false, false, false, nil)
		require.Error(t, err)
		return func() {}
	},
	"it is closed": func(t *testing.T, _ *leveret.Broker, conn *amqp091.Connection, _ *amqp091.Channel) func() {
		require.NoError(t, conn.Close())
		return func() {}
	},
	"the broker is closed": func(t *testing.T, b *leveret.Broker, _ *amqp091.Connection, _ *amqp091.Channel) func() {
		require.NoError(t, b.Close())
		return func() {}
	},
	"a mutex stops the clock": func(t *testing.T, b *leveret.Broker, conn *amqp091.Connection, ch *amqp091.Channel) func() {
		told := conn.NotifyBlocked(make(chan amqp091.Blocking))
		var mu sync.Mutex
		mu.Lock()
		go func() {
			mu.Lock()
			for range told {
			}
		}()
		b.SetMemoryLimit(-1)
		require.NoError(t, ch.Publish("", "q", false, false, amqp091.Publishing{Body: []byte("m")}))
		return mu.Unlock
	},
}

// racing are states in which amqp091-go 1.16 has a race of its own: it closes a listener for connection.blocked while another
// goroutine sends to it.
var racing = map[string]bool{"blocked, and nobody hears of it": true, "a mutex stops the clock": true}

// A test ends at once, in whatever state it leaves its connection.
func TestEndInAnyState(t *testing.T) {
	for name, leave := range states {
		if race.Enabled && racing[name] {
			continue
		}
		t.Run("Dial/"+name, func(t *testing.T) { endIn(t, leave, leverettest.Dial) })
		t.Run("Dialer/"+name, func(t *testing.T) {
			endIn(t, leave, func(ft leverettest.T, b *leveret.Broker) *amqp091.Connection {
				cfg := amqp091.Config{Dial: leverettest.Dialer(ft, b)}
				conn, err := amqp091.DialConfig("amqp://guest:guest@rabbitmq/", cfg)
				require.NoError(t, err)
				return conn
			})
		})
		t.Run("TLSDialer/"+name, func(t *testing.T) { endIn(t, leave, dialTLS) })
		t.Run("URL/"+name, func(t *testing.T) {
			defer goleak.VerifyNone(t)
			end(t, leave, func(ft leverettest.T, b *leveret.Broker) *amqp091.Connection {
				conn, err := amqp091.Dial(leverettest.URL(ft, b))
				require.NoError(t, err)
				return conn
			})
		})
		t.Run("TLSURL/"+name, func(t *testing.T) {
			defer goleak.VerifyNone(t)
			end(t, leave, dialTLSURL)
		})
	}
}

// A leaving leaves a connection in some state and returns what has to be undone for no goroutine to be left.
type leaving func(*testing.T, *leveret.Broker, *amqp091.Connection, *amqp091.Channel) (undo func())

type connecting func(leverettest.T, *leveret.Broker) *amqp091.Connection

// endIn ends a test whose connection is in some state, in a bubble and outside.
func endIn(t *testing.T, leave leaving, connect connecting) {
	t.Run("in a bubble", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			end(t, leave, connect)
			assert.Less(t, time.Since(start), 10*time.Second)
		})
	})
	t.Run("outside", func(t *testing.T) {
		defer goleak.VerifyNone(t)
		end(t, leave, connect)
	})
}

// end ends a test whose connection is in some state.
func end(t *testing.T, leave leaving, connect connecting) {
	ft := &fakeT{}
	b := leverettest.New(ft)
	conn := connect(ft, b)
	ch, err := conn.Channel()
	require.NoError(t, err)
	_, err = ch.QueueDeclare("q", false, false, false, false, nil)
	require.NoError(t, err)
	undo := leave(t, b, conn, ch)
	ft.end()
	assert.Empty(t, ft.problems)
	undo()
}
