package leverettest_test

import (
	"fmt"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/leverettest"
	amqp091 "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// Every kind of fault at every point that it is for, by each way to name a message, through every door. The second of three
// messages meets it, and the third does if the fault is kept.

var faultDoors = map[string]connecting{
	"memory": leverettest.Dial,
	"TLS":    dialTLS,
	"socket": func(t leverettest.T, b *leveret.Broker) *amqp091.Connection {
		conn, err := amqp091.Dial(leverettest.URL(t, b))
		if err != nil {
			t.Fatalf("%v", err)
		}
		return conn
	},
	"TLS socket": dialTLSURL,
}

var faultPoints = map[string]leverettest.Point{
	"publish": leverettest.OnPublish, "confirm": leverettest.OnConfirm, "deliver": leverettest.OnDeliver, "ack": leverettest.OnAck,
}

// A fate is what a client sees of a fault.
type fate string

const (
	refused   fate = "refused"
	lost      fate = "connection lost"
	chClosed  fate = "channel closed"
	conClosed fate = "connection closed"
	blocked   fate = "blocked"
	cancelled fate = "consumer cancelled"
	stalled   fate = "stalled"
	stopped   fate = "node stopped"
)

// faultKinds are the actions, with what a client sees, and the one point that they are for; empty: all.
var faultKinds = map[string]struct {
	do  leverettest.Action
	see fate
	at  string
}{
	"nack":             {leverettest.Nack(), refused, "publish"},
	"cut":              {leverettest.Cut(), lost, ""},
	"close channel":    {leverettest.CloseChannel(leveret.PreconditionFailed, "PRECONDITION_FAILED - because"), chClosed, ""},
	"close connection": {leverettest.CloseConnection(leveret.InternalError, "INTERNAL_ERROR - because"), conClosed, ""},
	"block":            {leverettest.Block(), blocked, ""},
	"cancel consumer":  {leverettest.CancelConsumer(), cancelled, "deliver"},
	"stall":            {leverettest.Stall(), stalled, ""},
	"restart":          {leverettest.Restart(leveret.StoppedNode), stopped, ""},
	"kill":             {leverettest.Restart(leveret.KilledNode), lost, ""},
}

// faultRules name the second message.
var faultRules = map[string]leverettest.Fault{
	"nth":   {Nth: 2},
	"match": {Match: leverettest.Body("2")},
	"keep":  {Nth: 2, Keep: true},
}

func TestEveryFaultThroughEveryDoor(t *testing.T) {
	defer goleak.VerifyNone(t)
	for point, on := range faultPoints {
		for kind, k := range faultKinds {
			if k.at != "" && k.at != point {
				continue
			}
			for rule, f := range faultRules {
				for door, connect := range faultDoors {
					t.Run(fmt.Sprintf("%s/%s/%s/%s", point, kind, rule, door), func(t *testing.T) {
						f := f
						f.On, f.Do = on, k.do
						newMeeting(t, connect, f).run(k.see)
					})
				}
			}
		}
	}
}

func declareDurable(t *testing.T, b *leveret.Broker, name string) *leveret.Queue {
	t.Helper()
	q, err := b.DeclareQueue(name, leveret.QueueConfig{Durable: true})
	require.NoError(t, err)
	return q
}

// A meeting is a client whose messages meet a fault.
type meeting struct {
	*testing.T
	b       *leveret.Broker
	q       *leveret.Queue
	connect func() *amqp091.Connection
	fault   leverettest.Fault
	lift    func()
	met     chan struct{} // gets a token when the fault's matcher accepts a message

	ch                *amqp091.Channel
	connEnd, chanEnd  chan *amqp091.Error
	alarm             chan amqp091.Blocking
	ended             chan string
	deliveries        <-chan amqp091.Delivery
	published, settle int // messages that arrived, and those that were settled
}

func newMeeting(t *testing.T, connect connecting, f leverettest.Fault) *meeting {
	b := leverettest.New(t)
	m := &meeting{T: t, b: b, q: declareDurable(t, b, "q"), connect: func() *amqp091.Connection { return connect(t, b) },
		met: make(chan struct{}, room)}
	if match := f.Match; f.Do == leverettest.Stall() { // nothing else tells
		seen, first := 0, max(f.Nth, 1)
		f.Match = func(info leveret.MessageInfo) error {
			if match != nil && match(info) != nil {
				return match(info)
			}
			if seen++; seen == first {
				m.met <- struct{}{}
			}
			return nil
		}
	}
	m.fault = f
	m.open()
	return m
}

// open connects.
func (m *meeting) open() {
	conn := m.connect()
	m.connEnd = conn.NotifyClose(make(chan *amqp091.Error, 1))
	m.alarm = conn.NotifyBlocked(make(chan amqp091.Blocking, room))
	m.ch = channelOf(m.T, conn)
	require.NoError(m, m.ch.Confirm(false))
	m.chanEnd = m.ch.NotifyClose(make(chan *amqp091.Error, 1))
	m.ended = m.ch.NotifyCancel(make(chan string, 1))
	m.deliveries = nil
}

// run has three messages go their way, and compares what is left.
func (m *meeting) run(see fate) {
	receives := m.fault.On == leverettest.OnDeliver || m.fault.On == leverettest.OnAck
	if receives {
		for n := range 3 {
			_, err := m.b.Publish("", "q", leveret.Message{Body: fmt.Append(nil, n+1), Properties: &leveret.Properties{DeliveryMode: 2}})
			require.NoError(m, err)
		}
		m.published = 3
	}
	m.lift = leverettest.Inject(m, m.b, m.fault)
	lasts := see == blocked || see == stalled
	for n := range 3 {
		meets := n == 1 || n == 2 && m.fault.Keep && !lasts
		step := func() bool { return m.publish(fmt.Sprint(n + 1)) }
		if receives {
			step = m.receive
			if see == cancelled {
				step = m.consume
			}
		}
		if !meets {
			require.True(m, step(), "message %d", n+1)
			m.count(receives)
			continue
		}
		m.meet(step, see)
		arrives := lasts || see == cancelled || m.fault.On == leverettest.OnConfirm
		if arrives {
			m.count(receives)
		}
	}
	// What a client still held is back when it has gone.
	for _, c := range m.b.Connections() {
		require.NoError(m, m.b.CloseConnection(c.ID, "the end"))
	}
	leverettest.Settle(m, m.b)
	assert.Equal(m, m.published-m.settle, m.q.Info().Ready)
}

// count notes that a message was published, or received.
func (m *meeting) count(received bool) {
	if received {
		m.settle++
	} else {
		m.published++
	}
}

// publish reports whether the broker took a message.
func (m *meeting) publish(body string) bool {
	c, err := m.ch.PublishWithDeferredConfirm("", "q", false, false, amqp091.Publishing{Body: []byte(body), DeliveryMode: amqp091.Persistent})
	return err == nil && c.Wait()
}

// receive takes a message, and reports whether the broker knows that it is settled.
func (m *meeting) receive() bool {
	d, ok, err := m.ch.Get("q", false)
	return err == nil && ok && m.ack(d)
}

// ack settles a message, and asks for an answer behind it.
func (m *meeting) ack(d amqp091.Delivery) bool {
	if d.Ack(false) != nil {
		return false
	}
	_, err := m.ch.QueueDeclarePassive("q", false, false, false, false, nil)
	return err == nil
}

// consume takes a message of a consumer, and settles it.
func (m *meeting) consume() bool {
	if m.deliveries == nil {
		var err error
		require.NoError(m, m.ch.Qos(1, 0, false))
		m.deliveries, err = m.ch.Consume("q", "tag", false, false, false, false, nil)
		require.NoError(m, err)
	}
	d, ok := <-m.deliveries
	return ok && m.ack(d)
}

// meet has a step meet the fault.
func (m *meeting) meet(step func() bool, see fate) {
	done := make(chan bool, 1)
	go func() { done <- step() }()
	switch see {
	case refused:
		assert.False(m, comes(m.T, done))
	case lost:
		comes(m.T, m.connEnd)
		assert.False(m, comes(m.T, done))
		m.open()
	case conClosed:
		assert.Equal(m, "INTERNAL_ERROR - because", comes(m.T, m.connEnd).Reason)
		assert.False(m, comes(m.T, done))
		m.open()
	case stopped:
		assert.Equal(m, "CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'", comes(m.T, m.connEnd).Reason)
		assert.False(m, comes(m.T, done))
		m.open()
	case chClosed:
		assert.Equal(m, "PRECONDITION_FAILED - because", comes(m.T, m.chanEnd).Reason)
		assert.False(m, comes(m.T, done))
		m.open()
	case blocked:
		m.meetAlarm(done)
	case cancelled:
		assert.True(m, comes(m.T, done))
		assert.Equal(m, "tag", comes(m.T, m.ended))
		m.deliveries = nil
	case stalled:
		comes(m.T, m.met)
		leverettest.Settle(m, m.b)
		assert.Empty(m, done)
		m.lift()
		assert.True(m, comes(m.T, done))
	}
}

// meetAlarm lifts the alarm. A client hears of it when it publishes.
func (m *meeting) meetAlarm(done chan bool) {
	if m.fault.On != leverettest.OnPublish {
		assert.True(m, comes(m.T, done))
		assert.True(m, m.b.Memory().Alarm)
		m.lift()
		return
	}
	assert.True(m, comes(m.T, m.alarm).Active)
	m.lift()
	assert.False(m, comes(m.T, m.alarm).Active)
	assert.True(m, comes(m.T, done))
}

// comes returns what comes.
func comes[V any](t *testing.T, from <-chan V) V {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(20 * time.Second):
		require.FailNow(t, "nothing comes")
		panic("unreachable")
	}
}

// A broker that restarts is at the address where it was. What is durable is there, and what a client had not settled is
// redelivered.
func TestRestartKeepsTheAddress(t *testing.T) {
	for _, as := range []leveret.NodeEnd{leveret.StoppedNode, leveret.KilledNode} {
		b := leverettest.New(t)
		declareDurable(t, b, "kept")
		declare(t, b, "gone", nil)
		url := leverettest.URL(t, b)
		open := func() (*amqp091.Connection, *amqp091.Channel) {
			conn, err := amqp091.Dial(url)
			require.NoError(t, err)
			ch := channelOf(t, conn)
			require.NoError(t, ch.Confirm(false))
			return conn, ch
		}
		publish := func(ch *amqp091.Channel, body string, mode uint8) *amqp091.DeferredConfirmation {
			c, err := ch.PublishWithDeferredConfirm("", "kept", false, false, amqp091.Publishing{Body: []byte(body), DeliveryMode: mode})
			require.NoError(t, err)
			return c
		}
		conn, ch := open()
		require.True(t, publish(ch, "held", amqp091.Persistent).Wait())
		_, ok, err := ch.Get("kept", false)
		require.NoError(t, err)
		require.True(t, ok)
		require.True(t, publish(ch, "transient", amqp091.Transient).Wait())
		leverettest.Inject(t, b, leverettest.Fault{On: leverettest.OnPublish, Match: leverettest.Body("late"), Do: leverettest.Restart(as)})
		ended := conn.NotifyClose(make(chan *amqp091.Error, 1))
		assert.False(t, publish(ch, "late", amqp091.Persistent).Wait())
		comes(t, ended)

		_, ch = open()
		d, ok, err := ch.Get("kept", true)
		require.NoError(t, err)
		require.True(t, ok)
		assert.Equal(t, "held", string(d.Body))
		assert.True(t, d.Redelivered)
		_, ok, err = ch.Get("kept", true)
		require.NoError(t, err)
		assert.False(t, ok)
		_, err = ch.QueueDeclarePassive("gone", false, false, false, false, nil)
		assert.ErrorContains(t, err, "NOT_FOUND")
	}
}

// Whoever connects while a fault restarts the broker is served when it is up: a client hears of the end before.
func TestConnectWhileAFaultRestarts(t *testing.T) {
	for _, scheme := range []string{"amqp", "amqps"} {
		t.Run(scheme, func(t *testing.T) {
			b, ca := leverettest.New(t), leverettest.NewAuthority(t)
			declareDurable(t, b, "q")
			dial := leverettest.Dialer(t, b)
			if scheme == "amqps" {
				dial = leverettest.TLSDialer(t, b, ca.Server())
			}
			open := func(dial func(network, addr string) (net.Conn, error)) *amqp091.Channel {
				cfg := amqp091.Config{Dial: dial, TLSClientConfig: ca.Client("")}
				conn, err := amqp091.DialConfig(scheme+"://guest:guest@rabbitmq/", cfg)
				require.NoError(t, err)
				return channelOf(t, conn)
			}
			ch := open(dial)
			early := make(chan net.Conn, 1)
			var once sync.Once
			b.Watch(leveret.Events{ConnectionClosed: func(leveret.ConnectionEvent) {
				once.Do(func() {
					assert.False(t, b.Serving())
					nc, err := dial("", "")
					assert.NoError(t, err)
					for range 10_000 {
						runtime.Gosched() // so that a server that does not wait has hung up
					}
					early <- nc
				})
			}})
			leverettest.Inject(t, b, leverettest.Fault{Do: leverettest.Restart(leveret.KilledNode)})
			require.NoError(t, ch.Publish("", "q", false, false, amqp091.Publishing{}))
			nc := comes(t, early)
			ch = open(func(string, string) (net.Conn, error) { return nc, nil })
			_, err := ch.QueueDeclarePassive("q", true, false, false, false, nil)
			assert.NoError(t, err)
		})
	}
}

// A program that uses the Go API is no client: faults neither count nor meet its messages. It feels the alarm as
// everybody does.
func TestFaultsLeaveTheGoAPIAlone(t *testing.T) {
	for point, on := range faultPoints {
		t.Run(point, func(t *testing.T) {
			r := newRig(t)
			r.inject(leverettest.Fault{On: on, Do: leverettest.Cut(), Keep: true})
			s, err := r.b.Connect("guest", "guest", "/")
			require.NoError(t, err)
			ch, err := s.Channel()
			require.NoError(t, err)
			_, err = ch.Publish("", "q", leveret.Message{Body: []byte("1")})
			require.NoError(t, err)
			d, ok, err := ch.Get("q", leveret.GetConfig{})
			require.NoError(t, err)
			require.True(t, ok)
			require.NoError(t, d.Ack())
			r.settle()
			assert.False(t, r.conn.IsClosed())
			require.NoError(t, s.Close())
		})
	}
}
