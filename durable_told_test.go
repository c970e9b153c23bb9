package leveret_test

import (
	"errors"
	"fmt"
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

// untilLockIsWantedBy returns when a goroutine that the test has begun waits for the lock of a virtual host.
func untilLockIsWantedBy(t *testing.T) {
	stacks := make([]byte, 1<<20)
	for {
		all := string(stacks[:runtime.Stack(stacks, true)])
		for goroutine := range strings.SplitSeq(all, "\n\n") {
			if strings.Contains(goroutine, ".(*operationLock).") && strings.Contains(goroutine, "."+t.Name()+".func") {
				return
			}
		}
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
		untilLockIsWantedBy(t) // and has asked whether the log is well
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

// manyLeave are ways in which all messages of the queue q are lost at once, and what they need.
var manyLeave = map[string]struct {
	args leveret.Table
	hold bool // the messages are in somebody's hands
	back bool // and have come back from there, to wait for their retry; as many others are ready
	lose func(*leveret.Broker) error
}{
	"purge":         {lose: purgeQ},
	"delete":        {lose: deleteQ},
	"delete, held":  {hold: true, lose: deleteQ},
	"purge, quorum": {args: leveret.Table{leveret.ArgQueueType: "quorum"}, lose: purgeQ},
	"purge, delayed retries": {args: leveret.Table{leveret.ArgQueueType: "quorum", "x-delayed-retry-type": "all", "x-delayed-retry-min": 60_000},
		hold: true, back: true, lose: purgeQ},
	"delete, pending dead letters": {args: leveret.Table{leveret.ArgQueueType: "quorum", leveret.ArgMessageTTL: 0,
		leveret.ArgDeadLetterStrategy: "at-least-once", leveret.ArgDeadLetterExchange: "nowhere", leveret.ArgOverflow: "reject-publish"}, lose: deleteQ},
}

func purgeQ(b *leveret.Broker) error {
	_, err := b.PurgeQueue("q")
	return err
}

func deleteQ(b *leveret.Broker) error {
	_, err := b.DeleteQueue("q", leveret.DeleteConfig{})
	return err
}

// Messages that leave a queue many at once are noted in turns: others get in between, and all of the messages are noted when the
// operation returns, also if somebody watches what is lost.
// Rules: Q-40, D-33.
func TestManyMessagesLeaveTheLogInTurns(t *testing.T) {
	for name, way := range manyLeave {
		for _, watched := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, watched=%t", name, watched), func(t *testing.T) {
				n := 60 // 32 pending dead letters are tried at a time
				length := turns.Length()
				turns.SetLength(3)
				defer turns.SetLength(length)
				fs := &crashfs.FS{}
				b, err := leveret.OpenFS(fs, smallSegments)
				require.NoError(t, err)
				defer b.Close()
				for q, args := range map[string]leveret.Table{"q": way.args, "other": nil} {
					_, err := b.DeclareQueue(q, leveret.QueueConfig{Durable: true, Arguments: args})
					require.NoError(t, err)
				}
				conn, err := b.Connect("guest", "guest", "/")
				require.NoError(t, err)
				ch, err := conn.Channel()
				require.NoError(t, err)
				for range n {
					_, err := b.Publish("", "q", persistentMessage())
					require.NoError(t, err)
					if way.hold {
						_, ok, err := ch.Get("q", leveret.GetConfig{})
						require.NoError(t, err)
						require.True(t, ok)
					}
				}
				if way.back {
					require.NoError(t, ch.Nack(0, true, true))
					for range n {
						_, err := b.Publish("", "q", persistentMessage())
						require.NoError(t, err)
					}
					n *= 2
				}
				lost := map[uint64]bool{}
				if watched {
					defer b.Watch(leveret.Events{Dropped: func(e leveret.DroppedEvent) { lost[e.Copy] = true }})()
				}
				betweens := 0
				turns.SetBetween(func() {
					betweens++
					_, err := b.Publish("", "other", persistentMessage())
					require.NoError(t, err)
					require.NoError(t, b.Check())
				})
				defer turns.SetBetween(nil)
				require.NoError(t, way.lose(b))
				turns.SetBetween(nil)
				require.Greater(t, betweens, 5)
				if watched {
					require.Len(t, lost, n)
				}
				require.NoError(t, b.LogState())
				_, err = b.Publish("", "other", persistentMessage()) // returns when the disk has this and all before
				require.NoError(t, err)
				again, err := leveret.OpenFS(fs.Crash(rand.New(rand.NewPCG(1, 1))), smallSegments)
				require.NoError(t, err)
				defer again.Close()
				require.Equal(t, betweens+1, again.Recovered().Messages)
			})
		}
	}
}
