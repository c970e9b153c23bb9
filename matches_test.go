package leveret

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/leveretmq/leveret/internal/turns"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hard is a pattern that takes as long as a pattern may with hardName, and is not found in it.
const (
	hard     = `^(?:ok|((a+)+)\2!)`
	hardName = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
)

// between has f get in between the turns of operations, with the lock free, until the test ends.
func between(t *testing.T, f func()) {
	turns.SetBetween(f)
	t.Cleanup(func() { turns.SetBetween(nil) })
}

// attempts runs an operation as do does, and returns how many steps of patterns each attempt took under the lock.
func attempts(t *testing.T, ch *Channel, f func() *Error) (each []int, err error) {
	err = ch.do("", func() *Error {
		err := f()
		require.Less(t, ch.v.timing.turn.matching, 2*matchSteps())
		each = append(each, ch.v.timing.turn.matching)
		return err
	})
	return each, err
}

func remoteChannel(t *testing.T, b *Broker) *Channel {
	t.Helper()
	conn, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	return ch
}

// The steps that patterns take under the lock are bounded, however many hard patterns there are. What is found is what
// matches without that bound find.
func TestLongMatchesAreMadeWithoutTheLock(t *testing.T) {
	b := New()
	defer b.Close()
	const n = 8
	for i := range n {
		require.NoError(t, b.SetPolicy(Policy{Name: fmt.Sprint("p", i), Pattern: hard, Definition: Table{"max-length": 1}}))
		require.NoError(t, b.SetOperatorPolicy(Policy{Name: fmt.Sprint("p", i), Pattern: hard, Definition: Table{"max-length": 1}}))
	}
	// This one matches, and takes long.
	require.NoError(t, b.SetPolicy(Policy{Name: "q", Pattern: "(a*)(a*)(a*)(a*)(a*)(a*)(a*)!|a", Priority: -1, Definition: Table{"max-length": 2}}))
	between(t, func() {
		assert.True(t, b.mu.TryLock(), "the lock is free")
		b.mu.Unlock()
	})
	long := strings.Repeat(hardName, 5)
	var q *Queue
	each, err := attempts(t, b.system, func() (err *Error) {
		q, err = b.system.declareQueueLocked(long, QueueConfig{})
		return err
	})
	require.NoError(t, err)
	require.Len(t, each, 2*n+2, "one for each hard match, and the last")
	require.Equal(t, "q", q.policy.Name)
	require.Nil(t, q.operator)
	require.Nil(t, b.turns.known)

	each, err = attempts(t, b.system, func() *Error {
		x, err := b.system.declareExchangeLocked(long, Direct, ExchangeConfig{})
		if err == nil {
			require.Equal(t, "q", x.policy.Name)
		}
		return err
	})
	require.NoError(t, err)
	require.Len(t, each, n+2)

	each, err = attempts(t, b.system, func() (err *Error) {
		_, err = b.system.declareQueueLocked("ordinary", QueueConfig{})
		return err
	})
	require.NoError(t, err)
	require.Len(t, each, 1)
}

// Each check of a permission is one match.
func TestLongPermissionsAreMatchedWithoutTheLock(t *testing.T) {
	for _, p := range []Profile{RabbitMQ43, RabbitMQ310} {
		b := New(WithProfile(p))
		setGuest := func(pattern string) {
			require.NoError(t, b.SetPermissions("guest", Permissions{pattern, pattern, pattern}))
		}
		setGuest(".*")
		for name, f := range map[string]func(*Channel) error{
			"declare":          func(ch *Channel) error { _, err := ch.DeclareQueue(hardName, QueueConfig{Durable: true}); return err },
			"declare exchange": func(ch *Channel) error { return ch.DeclareExchange(hardName, Direct, ExchangeConfig{}) },
			"delete":           func(ch *Channel) error { _, err := ch.DeleteQueue(hardName, DeleteConfig{}); return err },
			"purge":            func(ch *Channel) error { _, err := ch.PurgeQueue(hardName); return err },
			"get":              func(ch *Channel) error { _, _, err := ch.Get(hardName, GetConfig{}); return err },
			"consume":          func(ch *Channel) error { _, err := ch.Consume(hardName, ConsumeConfig{}); return err },
			"bind":             func(ch *Channel) error { return ch.BindQueue(hardName, "amq.direct", "k", nil) },
			"publish":          func(ch *Channel) error { _, err := ch.Publish(hardName, "k", Message{}); return err },
			"passive": func(ch *Channel) error {
				if p == RabbitMQ310 {
					return AccessRefused.errorf("", "") // no permission is asked for
				}
				_, err := ch.CheckQueue(hardName)
				return err
			},
		} {
			apart := 0
			setGuest(`^(?:amq|((a+)+)\2!)`)
			ch := remoteChannel(t, b)
			between(t, func() { apart++ })
			require.ErrorIs(t, f(ch), ErrAccessRefused, name)
			turns.SetBetween(nil)
			want := 1
			switch {
			case name == "passive" && p == RabbitMQ43:
				want = 3
			case name == "passive":
				want = 0
			}
			require.Equal(t, want, apart, name)
		}
		require.NoError(t, b.Close())
	}
}

// Keys of topic exchanges are matched likewise. The publish is numbered once.
func TestLongTopicPermissionsAreMatchedWithoutTheLock(t *testing.T) {
	for _, p := range []Profile{RabbitMQ43, RabbitMQ310} {
		b := New(WithProfile(p), WithClock(NewManualClock(time.Unix(0, 0)))) // what is remembered is forgotten in a second
		pattern := `(a*)(a*)(a*)(a*)(a*)(a*)(a*)!|a`
		require.NoError(t, b.SetTopicPermissions("guest", "amq.topic", TopicPermissions{Write: pattern, Read: pattern}))
		ch := remoteChannel(t, b)
		_, err := ch.DeclareQueue("q", QueueConfig{})
		require.NoError(t, err)
		require.NoError(t, ch.Confirm())
		apart := 0
		between(t, func() { apart++ })
		long := strings.Repeat(hardName, 5)
		require.NoError(t, ch.BindQueue("q", "amq.topic", long+"r", nil))
		require.Equal(t, 1, apart)
		for n := range uint64(2) {
			out, err := ch.Publish("amq.topic", long, Message{})
			require.NoError(t, err)
			require.Equal(t, n+1, out.Sequence)
		}
		require.Equal(t, 2, apart, "what was allowed is remembered")
		_, err = ch.Publish("amq.topic", strings.Repeat("b", 200), Message{})
		require.ErrorIs(t, err, ErrAccessRefused)
		turns.SetBetween(nil)
		require.NoError(t, b.Close())
	}
}

// A queue that the broker names keeps its name through all attempts.
func TestServerNamedQueueWithLongMatches(t *testing.T) {
	names := map[bool]string{}
	for _, hard := range []bool{false, true} {
		b := New(WithSeed(7))
		apart := 0
		if hard {
			for i := range 3 {
				require.NoError(t, b.SetPolicy(Policy{Name: fmt.Sprint("p", i), Pattern: `^(..?.?|.)*\1!`, Definition: Table{"max-length": 1}}))
			}
		}
		between(t, func() { apart++ })
		q, err := b.DeclareQueue("", QueueConfig{})
		require.NoError(t, err)
		turns.SetBetween(nil)
		require.Equal(t, hard, apart == 3, apart)
		names[hard] = q.Name()
		q, err = b.DeclareQueue("", QueueConfig{})
		require.NoError(t, err)
		require.NotEqual(t, names[hard], q.Name())
		require.NoError(t, b.Close())
	}
	require.Equal(t, names[false], names[true])
}

// What others do while a match is made is what the operation finds.
func TestOthersActDuringAMatch(t *testing.T) {
	var b *Broker
	var ch *Channel
	for _, c := range []struct {
		name   string
		others func()
		verify func(t *testing.T, err error)
	}{
		{"the channel closes", func() { require.NoError(t, ch.Close()) }, func(t *testing.T, err error) {
			require.ErrorIs(t, err, ErrClosed)
			_, err = b.Queue(hardName)
			require.ErrorIs(t, err, ErrNotFound)
		}},
		{"the broker closes", func() { require.NoError(t, b.Close()) }, func(t *testing.T, err error) {
			require.ErrorIs(t, err, ErrClosed)
		}},
		{"the policy is cleared", func() { require.NoError(t, b.ClearPolicy("p")) }, func(t *testing.T, err error) {
			require.NoError(t, err)
		}},
		{"another policy is set", func() {
			require.NoError(t, b.SetPolicy(Policy{Name: "p", Definition: Table{"max-length": 2}}))
		}, func(t *testing.T, err error) {
			require.NoError(t, err)
			q, err := b.Queue(hardName)
			require.NoError(t, err)
			require.Equal(t, "p", q.Info().Policy)
		}},
		{"the queue is declared", func() {
			_, err := b.DeclareQueue(hardName, QueueConfig{AutoDelete: true})
			require.NoError(t, err)
		}, func(t *testing.T, err error) {
			require.ErrorIs(t, err, ErrPreconditionFailed)
		}},
		{"the permission goes", func() {
			require.NoError(t, b.ClearPermissions("guest"))
		}, func(t *testing.T, err error) { // what was checked stays granted on this channel
			require.NoError(t, err)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b = New(WithClock(NewManualClock(time.Unix(0, 0)))) // a channel forgets what it was allowed in a second
			defer b.Close()
			require.NoError(t, b.SetPolicy(Policy{Name: "p", Pattern: hard, Definition: Table{"max-length": 1}}))
			ch = remoteChannel(t, b)
			begun := false
			between(t, func() {
				if !begun {
					begun = true
					c.others()
				}
			})
			_, err := ch.DeclareQueue(hardName, QueueConfig{})
			require.True(t, begun)
			turns.SetBetween(nil)
			c.verify(t, err)
			require.NoError(t, b.Check())
		})
	}
}

// A policy that others clear or replace while it is put in force is in force nowhere in the end.
func TestPolicyIsReplacedWhileItIsSet(t *testing.T) {
	for _, c := range []struct {
		name, want string
		others     func(b *Broker) error
	}{
		{"cleared", "", func(b *Broker) error { return b.ClearPolicy("p") }},
		{"replaced", "two", func(b *Broker) error {
			return b.SetPolicy(Policy{Name: "p", Definition: Table{"dead-letter-exchange": "two"}})
		}},
		{"replaced by one for other queues", "", func(b *Broker) error {
			return b.SetPolicy(Policy{Name: "p", Pattern: "^other", Definition: Table{"dead-letter-exchange": "two"}})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := New()
			defer b.Close()
			length := turns.Length()
			turns.SetLength(3)
			defer turns.SetLength(length)
			for i := range 30 {
				_, err := b.DeclareQueue(fmt.Sprint("q", i), QueueConfig{})
				require.NoError(t, err)
			}
			times := 0
			between(t, func() {
				if times++; times == 5 {
					require.NoError(t, c.others(b))
				}
			})
			require.NoError(t, b.SetPolicy(Policy{Name: "p", Definition: Table{"dead-letter-exchange": "one"}}))
			require.Greater(t, times, 5)
			for _, q := range b.Queues() {
				dlx, _ := q.EffectivePolicy["dead-letter-exchange"].(string)
				require.Equal(t, c.want, dlx, q.Name)
			}
		})
	}
}

// Long matches of a policy that is set are made without the lock, too, and the queues may go meanwhile.
func TestHardPolicyOverQueues(t *testing.T) {
	b := New()
	defer b.Close()
	const n = 5
	name := func(i int) string { return hardName + strings.Repeat("a", i) }
	for i := range n {
		_, err := b.DeclareQueue(name(i), QueueConfig{})
		require.NoError(t, err)
	}
	apart := 0
	between(t, func() {
		if apart++; apart == 2 {
			for i := range n - 1 {
				_, err := b.DeleteQueue(name(i), DeleteConfig{})
				require.NoError(t, err)
			}
		}
	})
	require.NoError(t, b.SetPolicy(Policy{Name: "p", Pattern: `^(?:ok|((a+)+)\2!|x)`, Definition: Table{"max-length": 1}}))
	require.GreaterOrEqual(t, apart, 2)
	require.Len(t, b.Queues(), 1)
	require.Empty(t, b.Queues()[0].Policy)
	require.NoError(t, b.Check())
}
