package leverettest_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/golden"
	"github.com/leveretmq/leveret/leverettest"
	amqp091 "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a strict test has left is told, as it was before connections were closed.
func TestStrict(t *testing.T) {
	for name, first := range map[string]bool{"asked for first": true, "asked for last": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ft := &fakeT{}
				b := leverettest.New(ft)
				if first {
					leverettest.Strict(ft, b, "parked")
				}
				for _, q := range []string{"work", "retry", "parked"} {
					declare(t, b, q, nil)
				}
				ch := channelOf(t, leverettest.Dial(ft, b))
				if !first {
					leverettest.Strict(ft, b, "parked")
				}
				for _, key := range []string{"work", "retry", "parked", "nowhere", "work"} {
					require.NoError(t, ch.Publish("", key, false, false, amqp091.Publishing{Body: []byte("for " + key)}))
				}
				d, ok, err := ch.Get("work", false)
				require.NoError(t, err)
				require.True(t, ok)
				_, ok, err = ch.Get("work", false)
				require.NoError(t, err)
				require.True(t, ok)
				require.NoError(t, d.Ack(false))
				ft.end()
				golden.Equal(t, "fails-strict.txt", strings.Join(ft.problems, "\n"))
			})
		})
	}
}

// A strict test that leaves nothing passes. What its client has just sent, it has sent.
func TestStrictHolds(t *testing.T) {
	test := func(t *testing.T, connect connecting) {
		ft := &fakeT{}
		b := leverettest.New(ft)
		leverettest.Strict(ft, b)
		declare(t, b, "work", nil)
		ch := channelOf(t, connect(ft, b))
		for range 100 {
			require.NoError(t, ch.Publish("", "work", false, false, amqp091.Publishing{}))
		}
		for range 100 {
			d, ok, err := ch.Get("work", false)
			require.NoError(t, err)
			require.True(t, ok)
			require.NoError(t, d.Ack(false)) // which nobody answers
		}
		ft.end()
		assert.Empty(t, ft.problems)
	}
	for name, connect := range map[string]connecting{"Dial": leverettest.Dial, "TLSDialer": dialTLS} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, connect) })
			test(t, connect)
		})
	}
}

// A test that has failed says why, and nothing about what it has left.
func TestStrictAfterAFailure(t *testing.T) {
	ft := &fakeT{}
	b := leverettest.New(ft, leveret.WithClock(leveret.NewManualClock(time.Unix(0, 0))))
	leverettest.Strict(ft, b)
	declare(t, b, "work", nil)
	_, err := b.Publish("", "work", leveret.Message{})
	require.NoError(t, err)
	ft.Errorf("handled once, not twice")
	ft.end()
	assert.Equal(t, []string{"handled once, not twice"}, ft.problems)
}

// Messages in other virtual hosts are left, too.
func TestStrictInAllVirtualHosts(t *testing.T) {
	ft := &fakeT{}
	b := leverettest.New(ft)
	leverettest.Strict(ft, b)
	v, err := b.CreateVHost("other")
	require.NoError(t, err)
	_, err = v.DeclareQueue("work", leveret.QueueConfig{})
	require.NoError(t, err)
	_, err = v.Publish("", "work", leveret.Message{})
	require.NoError(t, err)
	ft.end()
	require.Len(t, ft.problems, 1)
	assert.Contains(t, ft.problems[0], "work in virtual host other: 1 ready, 0 unacknowledged, 0 waiting")
}
