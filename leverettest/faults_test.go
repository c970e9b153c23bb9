package leverettest_test

import (
	"fmt"
	"io"
	"testing"
	"testing/synctest"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/leverettest"
	amqp091 "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// A rig is a broker with a queue and an amqp091-go client that publishes to it with confirms.
type rig struct {
	*testing.T
	b         *leveret.Broker
	q         *leveret.Queue
	conn      *amqp091.Connection
	ch        *amqp091.Channel
	confirmed chan amqp091.Confirmation
	connEnd   chan *amqp091.Error
	chanEnd   chan *amqp091.Error
	cancelled chan string
	blocked   chan amqp091.Blocking
}

const room = 100 // of the channels on which the client tells

func newRig(t *testing.T) *rig { return newRigBy(t, leverettest.Dial) }

func newRigBy(t *testing.T, connect connecting) *rig {
	b := leverettest.New(t)
	r := &rig{T: t, b: b, q: declare(t, b, "q", nil), conn: connect(t, b)}
	r.connEnd = r.conn.NotifyClose(make(chan *amqp091.Error, room))
	r.blocked = r.conn.NotifyBlocked(make(chan amqp091.Blocking, room))
	r.open()
	return r
}

// open opens a channel.
func (r *rig) open() {
	r.ch = channelOf(r.T, r.conn)
	require.NoError(r, r.ch.Confirm(false))
	r.confirmed = r.ch.NotifyPublish(make(chan amqp091.Confirmation, room))
	r.chanEnd = r.ch.NotifyClose(make(chan *amqp091.Error, room))
	r.cancelled = r.ch.NotifyCancel(make(chan string, room))
}

func (r *rig) inject(f leverettest.Fault) (lift func()) { return leverettest.Inject(r, r.b, f) }
func (r *rig) settle()                                  { leverettest.Settle(r, r.b) }

func (r *rig) publish(bodies ...string) {
	r.Helper()
	for _, body := range bodies {
		require.NoError(r, r.ch.Publish("", "q", false, false, amqp091.Publishing{Body: []byte(body)}))
	}
}

// told are the confirms that the client has got, such as "1 ack".
func (r *rig) told() []string {
	r.settle()
	var all []string
	for len(r.confirmed) > 0 {
		c, open := <-r.confirmed
		if !open {
			break
		}
		what := "nack"
		if c.Ack {
			what = "ack"
		}
		all = append(all, fmt.Sprint(c.DeliveryTag, " ", what))
	}
	return all
}

// bodies are those of the ready messages.
func (r *rig) bodies() []string {
	r.settle()
	var all []string
	for _, m := range r.q.Messages() {
		all = append(all, string(m.Body))
	}
	return all
}

// A faultTest runs with a client beside the test, and in a bubble.
type faultTest func(*rig)

var faultTests = map[string]faultTest{
	"nack": func(r *rig) {
		r.inject(leverettest.Fault{On: leverettest.OnPublish, Nth: 2, Do: leverettest.Nack()})
		r.publish("1", "2", "3", "4")
		assert.Equal(r, []string{"1 ack", "2 nack", "3 ack", "4 ack"}, r.told())
		assert.Equal(r, []string{"1", "3", "4"}, r.bodies())
	},
	"nack what matches, and again": func(r *rig) {
		lift := r.inject(leverettest.Fault{On: leverettest.OnPublish, Match: leverettest.Body("bad"), Nth: 2, Do: leverettest.Nack(), Keep: true})
		r.publish("bad", "good", "bad", "good", "bad", "good")
		assert.Equal(r, []string{"1 ack", "2 ack", "3 nack", "4 ack", "5 nack", "6 ack"}, r.told())
		assert.Equal(r, []string{"bad", "good", "good", "good"}, r.bodies())
		lift()
		r.publish("bad")
		assert.Equal(r, []string{"7 ack"}, r.told())
	},
	"nack leaves a channel without confirms alone": func(r *rig) {
		r.inject(leverettest.Fault{On: leverettest.OnPublish, Do: leverettest.Nack()})
		r.ch = channelOf(r.T, r.conn)
		r.publish("1", "2")
		assert.Equal(r, []string{"1", "2"}, r.bodies())
	},
	"connection cut before the confirm": func(r *rig) {
		r.inject(leverettest.Fault{On: leverettest.OnConfirm, Match: leverettest.Body("2"), Do: leverettest.Cut()})
		r.publish("1")
		assert.Equal(r, []string{"1 ack"}, r.told())
		r.publish("2")
		assert.Empty(r, r.told())
		assert.NotNil(r, <-r.connEnd)
		assert.True(r, r.conn.IsClosed())
		assert.Equal(r, []string{"1", "2"}, r.bodies())
		assert.Empty(r, r.b.Connections())
	},
	"connection cut before the publish": func(r *rig) {
		r.inject(leverettest.Fault{On: leverettest.OnPublish, Nth: 3, Do: leverettest.Cut()})
		r.publish("1", "2", "3")
		<-r.connEnd
		assert.Equal(r, []string{"1", "2"}, r.bodies())
		assert.Equal(r, []string{"1 ack", "2 ack"}, r.told())
		assert.Error(r, r.ch.Publish("", "q", false, false, amqp091.Publishing{}))
	},
	"connection cut before the acknowledgement": func(r *rig) {
		r.inject(leverettest.Fault{On: leverettest.OnAck, Match: leverettest.Body("2"), Do: leverettest.Cut()})
		r.publish("1", "2", "3")
		require.Len(r, r.told(), 3)
		for range 2 {
			d, ok, err := r.ch.Get("q", false)
			require.NoError(r, err)
			require.True(r, ok)
			require.NoError(r, d.Ack(false))
		}
		<-r.connEnd
		assert.Equal(r, []string{"2", "3"}, r.bodies())
		assert.True(r, r.q.Messages()[0].Redelivered)
	},
	"connection cut before a delivery": func(r *rig) {
		r.inject(leverettest.Fault{On: leverettest.OnDeliver, Do: leverettest.Cut()})
		r.publish("1")
		r.told()
		_, _, err := r.ch.Get("q", false)
		assert.Error(r, err)
		assert.Equal(r, []string{"1"}, r.bodies())
	},
	"channel closed by a publish": func(r *rig) {
		r.inject(leverettest.Fault{On: leverettest.OnPublish, Nth: 2,
			Do: leverettest.CloseChannel(leveret.PreconditionFailed, "PRECONDITION_FAILED - because")})
		r.publish("1")
		r.told()
		r.publish("2")
		end := <-r.chanEnd
		assert.Equal(r, "PRECONDITION_FAILED - because", end.Reason)
		assert.Equal(r, 406, end.Code)
		assert.False(r, r.conn.IsClosed())
		assert.Equal(r, []string{"1"}, r.bodies())
		r.open()
		r.publish("3")
		assert.Equal(r, []string{"1 ack"}, r.told())
	},
	"channel closed in place of a confirm": func(r *rig) {
		r.inject(leverettest.Fault{On: leverettest.OnConfirm, Nth: 2, Do: leverettest.CloseChannel(leveret.NotFound, "NOT_FOUND - gone")})
		r.publish("1")
		assert.Equal(r, []string{"1 ack"}, r.told())
		r.publish("2")
		assert.Equal(r, 404, (<-r.chanEnd).Code)
		assert.Empty(r, r.told())
		assert.Equal(r, []string{"1", "2"}, r.bodies())
		r.open()
		r.publish("3")
		assert.Equal(r, []string{"1 ack"}, r.told())
	},
	"channel closed in place of a delivery": func(r *rig) {
		r.publish("1", "2")
		r.told()
		r.inject(leverettest.Fault{On: leverettest.OnDeliver, Nth: 2, Do: leverettest.CloseChannel(leveret.InternalError, "")})
		deliveries, err := r.ch.Consume("q", "tag", false, false, false, false, nil)
		require.NoError(r, err)
		assert.Equal(r, 541, (<-r.chanEnd).Code)
		assert.Equal(r, []string{"1", "2"}, r.bodies(), "what was not acknowledged is back")
		got := 0
		for range deliveries {
			got++
		}
		assert.LessOrEqual(r, got, 1)
	},
	"connection closed": func(r *rig) {
		r.inject(leverettest.Fault{On: leverettest.OnPublish, Nth: 2,
			Do: leverettest.CloseConnection(leveret.InternalError, "INTERNAL_ERROR - node is going down")})
		r.publish("1")
		r.told()
		r.publish("2")
		end := <-r.connEnd
		assert.Equal(r, 541, end.Code)
		assert.Equal(r, "INTERNAL_ERROR - node is going down", end.Reason)
		assert.Equal(r, []string{"1"}, r.bodies())
		assert.Empty(r, r.b.Connections())
	},
	"blocked and unblocked": func(r *rig) {
		lift := r.inject(leverettest.Fault{On: leverettest.OnPublish, Nth: 2, Do: leverettest.Block()})
		r.publish("1", "2")
		assert.True(r, (<-r.blocked).Active)
		assert.Equal(r, []string{"1 ack"}, r.told())
		assert.Equal(r, []string{"1"}, r.bodies())
		lift()
		assert.False(r, (<-r.blocked).Active)
		assert.Equal(r, []string{"2 ack"}, r.told())
		assert.Equal(r, []string{"1", "2"}, r.bodies())
		r.publish("3")
		assert.Equal(r, []string{"3 ack"}, r.told())
	},
	"consumer cancelled": func(r *rig) {
		r.inject(leverettest.Fault{On: leverettest.OnDeliver, Match: leverettest.Body("2"), Do: leverettest.CancelConsumer()})
		deliveries, err := r.ch.Consume("q", "tag", false, false, false, false, nil)
		require.NoError(r, err)
		r.publish("1", "2")
		var got []string
		for d := range deliveries { // until the consumer ends
			got = append(got, string(d.Body))
			require.NoError(r, d.Ack(false))
		}
		assert.Equal(r, []string{"1", "2"}, got)
		assert.Equal(r, "tag", <-r.cancelled)
		r.publish("3")
		assert.Equal(r, []string{"3"}, r.bodies())
		assert.Zero(r, r.q.Info().Consumers)
	},
	"connection stalled, and going on": func(r *rig) {
		lift := r.inject(leverettest.Fault{On: leverettest.OnPublish, Nth: 2, Do: leverettest.Stall()})
		r.publish("1", "2", "3")
		assert.Equal(r, []string{"1"}, r.bodies())
		assert.False(r, r.conn.IsClosed())
		lift()
		assert.Len(r, r.told(), 3)
		assert.Equal(r, []string{"1", "2", "3"}, r.bodies())
	},
	"confirms stalled": func(r *rig) {
		lift := r.inject(leverettest.Fault{On: leverettest.OnConfirm, Nth: 3, Do: leverettest.Stall()})
		r.publish("1", "2", "3", "4")
		assert.Equal(r, []string{"1 ack", "2 ack"}, r.told())
		lift()
		assert.Equal(r, []string{"3 ack", "4 ack"}, r.told())
	},
}

func TestFaults(t *testing.T) {
	for name, test := range faultTests {
		for how, connect := range map[string]connecting{"Dial": leverettest.Dial, "TLSDialer": dialTLS} {
			t.Run(name+"/"+how, func(t *testing.T) {
				t.Run("in a bubble", func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { test(newRigBy(t, connect)) })
				})
				t.Run("outside", func(t *testing.T) {
					t.Cleanup(func() { goleak.VerifyNone(t) }) // after the rig's
					test(newRigBy(t, connect))
				})
			})
		}
	}
}

// A test may end while its connection is stalled.
func TestEndStalled(t *testing.T) {
	for _, first := range []string{"fault", "connection"} {
		t.Run(first+" first", func(t *testing.T) {
			defer goleak.VerifyNone(t)
			ft := &fakeT{}
			b := leverettest.New(ft)
			declare(t, b, "q", nil)
			stall := func() {
				leverettest.Inject(ft, b, leverettest.Fault{On: leverettest.OnPublish, Do: leverettest.Stall()})
			}
			if first == "fault" {
				stall()
			}
			ch := channelOf(t, leverettest.Dial(ft, b))
			if first != "fault" {
				stall()
			}
			require.NoError(t, ch.Publish("", "q", false, false, amqp091.Publishing{}))
			ft.end()
			assert.Empty(t, ft.problems)
		})
	}
}

// A fault that is lifted before it has stalled its connection stalls nothing. Here the broker is still busy with what comes
// before, so that the fault has to wait.
func TestLiftBeforeTheStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		busy, goOn := make(chan struct{}), make(chan struct{})
		unwatch := r.b.Watch(leveret.Events{Published: func(e leveret.PublishedEvent) {
			if string(e.Body) == "1" {
				close(busy)
				<-goOn
			}
		}})
		defer unwatch()
		lift := r.inject(leverettest.Fault{On: leverettest.OnPublish, Match: leverettest.Body("2"), Do: leverettest.Stall()})
		go r.ch.Publish("", "q", false, false, amqp091.Publishing{Body: []byte("1")})
		<-busy
		go r.ch.Publish("", "q", false, false, amqp091.Publishing{Body: []byte("2")})
		synctest.Wait()
		lift()
		close(goOn)
		synctest.Wait()
		assert.Equal(t, []string{"1 ack", "2 ack"}, r.told())
	})
}

// In virtual time heartbeats notice that a connection is stalled.
func TestHeartbeatsEndAStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.inject(leverettest.Fault{On: leverettest.OnPublish, Do: leverettest.Stall()})
		r.publish("1")
		assert.NotNil(t, <-r.connEnd)
		assert.Empty(t, r.bodies())
		assert.Empty(t, r.b.Connections())
	})
}

// Faults work over a socket, too.
func TestFaultByURL(t *testing.T) {
	b := leverettest.New(t)
	declare(t, b, "q", nil)
	conn, err := amqp091.Dial(leverettest.URL(t, b))
	require.NoError(t, err)
	leverettest.Inject(t, b, leverettest.Fault{On: leverettest.OnPublish, Match: leverettest.Header("tenant", "a"), Do: leverettest.Nack()})
	ch := channelOf(t, conn)
	require.NoError(t, ch.Confirm(false))
	for tenant, ack := range map[string]bool{"a": false, "b": true} {
		c, err := ch.PublishWithDeferredConfirm("", "q", false, false, amqp091.Publishing{Headers: amqp091.Table{"tenant": tenant}})
		require.NoError(t, err)
		assert.Equal(t, ack, c.Wait())
	}
	require.NoError(t, conn.Close())
}

func TestInjectRefuses(t *testing.T) {
	for want, f := range map[string]leverettest.Fault{
		"the fault does nothing":             {},
		"Nack is for OnPublish":              {On: leverettest.OnConfirm, Do: leverettest.Nack()},
		"CancelConsumer is for OnDeliver":    {On: leverettest.OnPublish, Do: leverettest.CancelConsumer()},
		"there is no such point":             {On: 9, Do: leverettest.Cut()},
		"Nth is -3, and is counted from 1":   {Nth: -3, Do: leverettest.Cut()},
		"a close needs a code":               {Do: leverettest.CloseConnection(0, "")},
		"the text is longer than 255 octets": {Do: leverettest.CloseChannel(404, string(make([]byte, 256)))},
	} {
		ft := &fakeT{}
		assert.Panics(t, func() { leverettest.Inject(ft, leverettest.New(ft), f) })
		assert.Equal(t, []string{"leveret: Inject: " + want}, ft.problems)
		ft.end()
	}
}

// What is no AMQP comes to the broker as it is.
func TestGarbage(t *testing.T) {
	for _, garbage := range []string{"GET / HTTP/1.1\r\n\r\n", "AMQP\x00\x00\x09\x01\x01\x00\x00\xff\xff\xff\xff"} {
		synctest.Test(t, func(t *testing.T) {
			nc, err := leverettest.Dialer(t, leverettest.New(t))("", "")
			require.NoError(t, err)
			_, err = nc.Write([]byte(garbage))
			require.NoError(t, err)
			_, err = io.ReadAll(nc) // until the broker closes the connection
			require.NoError(t, err)
		})
	}
}
