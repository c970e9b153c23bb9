package amqpd_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/leverettest"
	amqp091 "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The memory alarm holds for clients when SetMemoryLimit returns: nothing is left to which goroutine runs first.
func TestAlarmHoldsAtOnce(t *testing.T) {
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			b := leverettest.New(t)
			conn := leverettest.Dial(t, b)
			ch := channelOf(t, conn)
			declareQueue(t, ch, "q", nil)
			b.SetMemoryLimit(-1)
			require.NoError(t, ch.Publish("", "q", false, false, amqp091.Publishing{Body: []byte("m")}))
			time.Sleep(time.Second)
			require.Zero(t, mustQueue(t, b, "q").Info().Messages)
			b.SetMemoryLimit(0)
			synctest.Wait()
			require.Equal(t, 1, mustQueue(t, b, "q").Info().Messages)
		})
	}
}

// A publisher that is blocked and let go many times is told of each change once, in turn, and ends up as the alarm
// does.
func TestAlarmThatChangesOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := leverettest.New(t)
		conn := leverettest.Dial(t, b)
		told := conn.NotifyBlocked(make(chan amqp091.Blocking, 1000))
		ch := channelOf(t, conn)
		declareQueue(t, ch, "q", nil)
		for i := range 400 {
			b.SetMemoryLimit(-int64(i+1) % 2) // on, off
			if i%3 == 0 {
				require.NoError(t, ch.Publish("", "q", false, false, amqp091.Publishing{Body: []byte("m")}))
			}
			if i%7 == 0 {
				synctest.Wait()
			}
		}
		b.SetMemoryLimit(0)
		synctest.Wait()
		require.Equal(t, 134, mustQueue(t, b, "q").Info().Messages)
		active := false
		for len(told) > 0 {
			change := <-told
			assert.NotEqual(t, active, change.Active)
			active = change.Active
		}
		assert.False(t, active)
	})
}

func mustQueue(t *testing.T, b *leveret.Broker, name string) *leveret.Queue {
	t.Helper()
	q, err := b.Queue(name)
	require.NoError(t, err)
	return q
}
