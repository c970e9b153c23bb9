package leveret_test

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/journal"
	"github.com/leveretmq/leveret/internal/journal/crashfs"
	"github.com/leveretmq/leveret/internal/turns"
	"github.com/stretchr/testify/require"
)

// toldBroker returns a broker with the queues q and transient, and a channel of a remote client. sync is what its disk does.
func toldBroker(t *testing.T, sync func() error) (*leveret.Broker, *leveret.Conn, *leveret.Channel) {
	t.Helper()
	fs := &crashfs.FS{Fail: func(_ int, op, _ string) error {
		if op == "sync" {
			return sync()
		}
		return nil
	}}
	b, err := leveret.OpenFS(fs, journal.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { b.Close() })
	for name, durable := range map[string]bool{"q": true, "transient": false} {
		_, err = b.DeclareQueue(name, leveret.QueueConfig{Durable: durable})
		require.NoError(t, err)
	}
	conn, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Inbox: leveret.NewInbox(leveret.InboxConfig{})})
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	return b, conn, ch
}

// gosched lets all others come as far as they can.
func gosched() {
	for range 100_000 {
		runtime.Gosched()
	}
}

func persistentMessage() leveret.Message {
	return leveret.Message{Properties: &leveret.Properties{DeliveryMode: 2}}
}

// A commit waits for what it did in its first turn, also if others have come between and its last turns wrote nothing.
func TestCommitWaitsForAllItsTurns(t *testing.T) {
	length := turns.Length()
	turns.SetLength(3)
	defer turns.SetLength(length)
	syncs, held := make(chan struct{}, 1), make(chan struct{})
	var holds atomic.Bool
	b, _, other := toldBroker(t, func() error {
		if holds.Load() {
			select {
			case syncs <- struct{}{}:
			default:
			}
			<-held
		}
		return nil
	})
	conn, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	require.NoError(t, ch.Tx())
	for i := range 20 {
		queue := "transient"
		if i == 0 {
			queue = "q"
		}
		_, err := ch.Publish("", queue, persistentMessage())
		require.NoError(t, err)
	}
	var betweens atomic.Int32
	turns.SetBetween(func() {
		betweens.Add(1)
		_, _ = other.Publish("", "transient", leveret.Message{})
	})
	defer turns.SetBetween(nil)
	holds.Store(true)
	done := make(chan error, 1)
	go func() {
		_, err := ch.Commit()
		done <- err
	}()
	<-syncs
	gosched()
	require.Empty(t, done, "the commit has returned before the disk had it")
	holds.Store(false)
	close(held)
	require.NoError(t, <-done)
	require.Positive(t, betweens.Load())
}

// A log that fails while a publish is on its way has not taken it, and the client is told so.
func TestNothingIsConfirmedThatTheLogRefused(t *testing.T) {
	var fails atomic.Bool
	b, conn, ch := toldBroker(t, func() error {
		if fails.Load() {
			return errors.New("the disk is on fire")
		}
		return nil
	})
	require.NoError(t, ch.Confirm())
	published := make(chan error, 1)
	b.Locked(func() {
		go func() {
			_, err := ch.Publish("", "q", persistentMessage())
			published <- err
		}()
		gosched() // it waits for the lock then, and has asked whether the log is well
		fails.Store(true)
		b.AppendAndSync()
	})
	require.NoError(t, <-published)
	var told error
	require.True(t, conn.WhenDurable(func(err error) { told = err }))
	require.ErrorContains(t, told, "the disk is on fire")
}

// An operation that is too large for a record is done, and not kept: who did it is told so. What comes after it is kept.
func TestOperationTooLargeForTheLog(t *testing.T) {
	fs := &crashfs.FS{}
	b, err := leveret.OpenFS(fs, journal.Options{})
	require.NoError(t, err)
	_, err = b.DeclareQueue("q", leveret.QueueConfig{Durable: true})
	require.NoError(t, err)
	b.TakeSmallRecordsOnly(5000)
	conn, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	large, confirming := channelOf(t, conn, (*leveret.Channel).Tx), channelOf(t, conn, (*leveret.Channel).Confirm)
	publish := func(ch *leveret.Channel, body string) error {
		m := persistentMessage()
		m.Body = []byte(body)
		_, err := ch.Publish("", "q", m)
		return err
	}
	const told = "one operation has more than 1073741824 octets"
	for range 6 {
		require.NoError(t, publish(large, strings.Repeat("x", 1000)))
	}
	_, err = large.Commit()
	require.ErrorIs(t, err, leveret.ErrInternal)
	require.ErrorContains(t, err, told)
	require.ErrorContains(t, publish(confirming, strings.Repeat("y", 6000)), told)
	require.NoError(t, b.Err(), "the log is well")

	require.NoError(t, publish(channelOf(t, conn, (*leveret.Channel).Confirm), "kept"))
	require.NoError(t, b.Close())
	again, err := leveret.OpenFS(fs, journal.Options{})
	require.NoError(t, err)
	defer again.Close()
	q, err := again.Queue("q")
	require.NoError(t, err)
	var bodies []string
	for _, m := range q.Messages() {
		bodies = append(bodies, string(m.Body))
	}
	require.Equal(t, []string{"kept"}, bodies)
}

func channelOf(t *testing.T, conn *leveret.Conn, mode func(*leveret.Channel) error) *leveret.Channel {
	ch, err := conn.Channel()
	require.NoError(t, err)
	require.NoError(t, mode(ch))
	return ch
}

// Messages that leave a queue many at once are noted in turns: others get in between, and all of the messages are noted when the
// operation returns.
func TestManyMessagesLeaveTheLogInTurns(t *testing.T) {
	for name, act := range map[string]func(*testing.T, *leveret.Broker, *leveret.Channel){
		"purge": func(t *testing.T, b *leveret.Broker, _ *leveret.Channel) {
			n, err := b.PurgeQueue("q")
			require.NoError(t, err)
			require.Equal(t, 20, n)
		},
		"delete": func(t *testing.T, b *leveret.Broker, _ *leveret.Channel) {
			_, err := b.DeleteQueue("q", leveret.DeleteConfig{})
			require.NoError(t, err)
		},
		"delete/held": func(t *testing.T, b *leveret.Broker, ch *leveret.Channel) {
			for range 20 {
				_, ok, err := ch.Get("q", leveret.GetConfig{})
				require.NoError(t, err)
				require.True(t, ok)
			}
			_, err := b.DeleteQueue("q", leveret.DeleteConfig{})
			require.NoError(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			length := turns.Length()
			turns.SetLength(3)
			defer turns.SetLength(length)
			fs := &crashfs.FS{}
			b, err := leveret.OpenFS(fs, smallSegments)
			require.NoError(t, err)
			defer b.Close()
			for _, q := range []string{"q", "other"} {
				_, err := b.DeclareQueue(q, leveret.QueueConfig{Durable: true})
				require.NoError(t, err)
			}
			for range 20 {
				_, err := b.Publish("", "q", persistentMessage())
				require.NoError(t, err)
			}
			conn, err := b.Connect("guest", "guest", "/")
			require.NoError(t, err)
			ch, err := conn.Channel()
			require.NoError(t, err)
			betweens := 0
			turns.SetBetween(func() {
				betweens++
				_, err := b.Publish("", "other", persistentMessage())
				require.NoError(t, err)
				require.NoError(t, b.Check())
			})
			defer turns.SetBetween(nil)
			act(t, b, ch)
			turns.SetBetween(nil)
			require.Greater(t, betweens, 5)
			require.NoError(t, b.LogState())
			_, err = b.Publish("", "other", persistentMessage()) // returns when the disk has this and all before
			require.NoError(t, err)
			again, err := leveret.OpenFS(fs.Crash(rand.New(rand.NewPCG(1, 1))), smallSegments)
			require.NoError(t, err)
			defer again.Close()
			other, err := again.Queue("other")
			require.NoError(t, err)
			require.Equal(t, betweens+1, other.Info().Ready)
			if q, err := again.Queue("q"); name == "purge" {
				require.NoError(t, err)
				require.Zero(t, q.Info().Ready)
			} else {
				require.Error(t, err)
			}
		})
	}
}
