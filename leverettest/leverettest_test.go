package leverettest_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/leverettest"
	amqp091 "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// fakeT is a test whose end can be watched.
type fakeT struct {
	cleanups []func()
	problems []string
	logs     []string
}

func (f *fakeT) Helper()                   {}
func (f *fakeT) Cleanup(c func())          { f.cleanups = append(f.cleanups, c) }
func (f *fakeT) Failed() bool              { return len(f.problems) > 0 }
func (f *fakeT) Logf(s string, a ...any)   { f.logs = append(f.logs, fmt.Sprintf(s, a...)) }
func (f *fakeT) Errorf(s string, a ...any) { f.problems = append(f.problems, fmt.Sprintf(s, a...)) }

func (f *fakeT) Fatalf(s string, a ...any) {
	f.Errorf(s, a...)
	panic("test stopped")
}

func (f *fakeT) end() {
	for i := len(f.cleanups) - 1; i >= 0; i-- {
		f.cleanups[i]()
	}
}

// The end of a test takes everything with it, whatever the test left open.
func TestNothingIsLeftBehind(t *testing.T) {
	defer goleak.VerifyNone(t)
	ft := &fakeT{}
	b := leverettest.New(ft)
	conn := leverettest.Dial(ft, b)
	ch, err := conn.Channel()
	require.NoError(t, err)
	_, err = ch.QueueDeclare("q", false, false, false, false, nil)
	require.NoError(t, err)
	_, err = ch.Consume("q", "", false, false, false, false, nil)
	require.NoError(t, err)
	require.NoError(t, ch.Publish("", "q", false, false, amqp091.Publishing{}))
	ft.end()
	assert.Empty(t, ft.problems)
	assert.True(t, conn.IsClosed())
	_, err = b.Connect("guest", "guest", "/")
	assert.Error(t, err, "the broker is closed")
}

func TestDialAfterCloseAndTwice(t *testing.T) {
	b := leverettest.New(t)
	first, second := leverettest.Dial(t, b), leverettest.Dial(t, b)
	assert.Len(t, b.Connections(), 2)
	require.NoError(t, first.Close())
	assert.Len(t, b.Connections(), 1)
	_, err := second.Channel()
	assert.NoError(t, err)
}

func TestDialFails(t *testing.T) {
	ft := &fakeT{}
	b := leverettest.New(ft)
	assert.Panics(t, func() { leverettest.DialConfig(ft, b, amqp091.Config{Vhost: "missing", SASL: guest}) })
	ft.end()
	require.Len(t, ft.problems, 1)
	assert.Contains(t, ft.problems[0], "vhost missing not found")
}

// A broker that is down is named as the cause. The client only knows that its connection has ended.
func TestDialOfABrokerThatIsDown(t *testing.T) {
	ft := &fakeT{}
	b := leverettest.New(ft)
	require.NoError(t, b.Stop(leveret.StoppedNode))
	assert.Panics(t, func() { leverettest.Dial(ft, b) })
	ft.end()
	assert.Equal(t, []string{"leveret: connecting: the broker is stopped or closed"}, ft.problems)
}

var guest = []amqp091.Authentication{&amqp091.PlainAuth{Username: "guest", Password: "guest"}}

func TestOptionsReachTheBroker(t *testing.T) {
	b := leverettest.New(t, leveret.WithProfile(leveret.RabbitMQ310))
	conn := leverettest.Dial(t, b)
	assert.Equal(t, "3.10.8", conn.Properties["version"])
}

// A day passes in a bubble, with heartbeats all along, and nothing is left of it.
func TestBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := leverettest.Dial(t, leverettest.New(t))
		time.Sleep(24 * time.Hour)
		_, err := conn.Channel()
		assert.NoError(t, err)
	})
}
