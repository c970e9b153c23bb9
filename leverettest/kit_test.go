package leverettest_test

import (
	"net"
	"os"
	"path/filepath"
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
	"go.uber.org/goleak"
)

// A topology is a broker on virtual time with a work queue whose rejected messages wait a second in a retry queue.
type topology struct {
	*leveret.Broker
	clock *leveret.ManualClock
	t     *testing.T
}

func retries(t *testing.T, ft leverettest.T) *topology {
	clock := leveret.NewManualClock(time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC))
	b := &topology{leverettest.New(ft, leveret.WithClock(clock)), clock, t}
	b.declare("work", leveret.Table{leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "retry"})
	b.declare("retry", leveret.Table{
		leveret.ArgMessageTTL: 1000, leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "work",
	})
	b.declare("parked", nil)
	return b
}

func (b *topology) declare(name string, args leveret.Table) {
	_, err := b.DeclareQueue(name, leveret.QueueConfig{Durable: true, Arguments: args})
	require.NoError(b.t, err)
}

func (b *topology) publish(queue, body string, p *leveret.Properties) {
	_, err := b.Publish("", queue, leveret.Message{Body: []byte(body), Properties: p})
	require.NoError(b.t, err)
}

func (b *topology) get(queue string) *leveret.Delivery {
	q, err := b.Queue(queue)
	require.NoError(b.t, err)
	d, ok, err := q.Get()
	require.NoError(b.t, err)
	require.True(b.t, ok)
	return d
}

// try rejects what is in the work queue, and lets the time of the retry queue pass.
func (b *topology) try() {
	require.NoError(b.t, b.get("work").Reject(false))
	b.clock.Advance(time.Second)
}

func TestJourney(t *testing.T) {
	b := retries(t, t)
	rec := leverettest.Record(t, b.Broker)
	b.publish("work", "order 17", &leveret.Properties{MessageID: "17"})
	b.try()
	b.try()
	b.publish("work", "order 18", nil)
	require.NoError(t, b.get("work").Ack())
	require.NoError(t, b.get("work").Nack(true))
	b.get("work")
	b.publish("nowhere", "order 19", nil)
	golden.Equal(t, "journey"+".txt", rec.Journey(leverettest.MessageID("17")).String()+
		rec.Journey(leverettest.Body("order 18")).String()+rec.Journey(leverettest.Body("order 19")).String())
	golden.Equal(t, "timeline"+".txt", rec.Timeline())

	j := rec.Journey(leverettest.MessageID("17"))
	assert.Empty(t, j.In())
	assert.Equal(t, map[string]int64{"work rejected": 2, "retry expired": 2}, deaths(j))
	require.Len(t, rec.Journeys(leverettest.Key("work")), 2)
	assert.Equal(t, []leverettest.Place{{Queue: "work", Copy: 6, Unacked: true}}, rec.Journey(leverettest.Body("order 18")).In())
	assert.Nil(t, rec.Journey(leverettest.Body("order 20")))
	assert.Len(t, rec.Published(), 3)
	assert.Len(t, rec.Acked(), 1)
	assert.Len(t, rec.Rejected(), 2)
	assert.Len(t, rec.Requeued(), 1)
	assert.Len(t, rec.DeadLettered(), 4)
	assert.Len(t, rec.Dropped(), 1)
	assert.Empty(t, rec.Returned())
}

func deaths(j *leverettest.Journey) map[string]int64 {
	all := map[string]int64{}
	for _, d := range j.Deaths() {
		all[d.Queue+" "+string(d.Reason)] = d.Count
	}
	return all
}

// Each loss is told in words that name the mistake.
func TestLosses(t *testing.T) {
	b := retries(t, t)
	_, err := b.DeclareExchange("dlx", leveret.Fanout, leveret.ExchangeConfig{})
	require.NoError(t, err)
	b.declare("aimless", leveret.Table{leveret.ArgDeadLetterExchange: "dlx"})
	b.declare("astray", leveret.Table{leveret.ArgDeadLetterExchange: "missing"})
	b.declare("circle", leveret.Table{leveret.ArgDeadLetterExchange: "", leveret.ArgMessageTTL: 1000})
	b.declare("small", leveret.Table{leveret.ArgMaxLength: 1, leveret.ArgOverflow: leveret.OverflowRejectPublish})
	b.declare("tosmall", leveret.Table{leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "small"})
	rec := leverettest.Record(t, b.Broker)
	for _, q := range []string{"aimless", "astray", "parked", "tosmall"} {
		b.publish("small", "fills it", nil)
		b.publish(q, q, nil)
		require.NoError(t, b.get(q).Reject(false))
	}
	b.publish("circle", "circle", nil)
	b.publish("parked", "purged", nil)
	_, err = b.PurgeQueue("parked")
	require.NoError(t, err)
	_, err = b.Publish("", "nowhere", leveret.Message{Mandatory: true})
	require.NoError(t, err)
	b.clock.Advance(time.Second)
	golden.Equal(t, "losses"+".txt", rec.Timeline())
}

func TestRecorderKeeps(t *testing.T) {
	b := retries(t, t)
	rec := leverettest.Record(t, b.Broker, leverettest.KeepLast(2), leverettest.KeepIf(func(m leveret.EventMessage) bool { return string(m.Body) != "c" }))
	for _, body := range []string{"a", "b", "c", "d"} {
		b.publish("work", body, nil)
	}
	var bodies []string
	for _, j := range rec.Journeys() {
		bodies = append(bodies, string(j.Body))
	}
	assert.Equal(t, []string{"b", "d"}, bodies)
	assert.Len(t, rec.Published(), 2)
}

// fails runs an assertion that ends its test, and returns what the test prints.
func fails(t *testing.T, run func(ft *fakeT)) string {
	t.Helper()
	ft := &fakeT{}
	func() {
		defer func() { _ = recover() }()
		run(ft)
	}()
	ft.end()
	require.NotEmpty(t, ft.problems)
	return strings.Join(append(ft.problems, ft.logs...), "\n")
}

func TestAssertionsHold(t *testing.T) {
	b := retries(t, t)
	leverettest.Record(t, b.Broker)
	b.publish("work", `{"order": 17}`, &leveret.Properties{Headers: leveret.Table{"tenant": "a", "attempt": 1}, MessageID: "17"})
	b.publish("work", "second", nil)
	leverettest.RequireQueue(t, b.Broker, "work",
		leverettest.All(leverettest.JSON(map[string]int{"order": 17}), leverettest.Header("tenant", "a"), leverettest.Header("attempt", 1),
			leverettest.Key("work"), leverettest.MessageID("17")),
		leverettest.Any())
	leverettest.RequireQueueAnyOrder(t, b.Broker, "work", leverettest.Any(), leverettest.Header("tenant", "a"))
	leverettest.RequireCount(t, b.Broker, "work", 2)
	leverettest.RequireQueue(t, b.Broker, "parked")
	leverettest.RequireDrained(t, b.Broker, "parked", "retry")
	b.try()
	leverettest.RequireDeadLettered(t, b.Broker, "work", leverettest.Deaths{Times: 1, Reason: leveret.Rejected, To: []string{"retry"}})
	leverettest.RequireDeadLettered(t, b.Broker, "retry", leverettest.Deaths{Times: 1}, leverettest.MessageID("17"))
	leverettest.RequireDeadLettered(t, b.Broker, "retry", leverettest.Deaths{}, leverettest.Body("second"))
	leverettest.RequireQueue(t, b.Broker, "work", leverettest.Body("second"),
		leverettest.All(leverettest.Died("work", leveret.Rejected, 1), leverettest.Died("retry", leveret.Expired, 1)))
	leverettest.RequireNoLoss(t, b.Broker)
	_, err := b.PurgeQueue("work")
	require.NoError(t, err)
	leverettest.RequireNoLoss(t, b.Broker, leveret.CausePurged)
	leverettest.RequireDrained(t, b.Broker)
}

// What a test prints when it fails is what somebody reads who looks for the mistake.
func TestFailures(t *testing.T) {
	_, missing := leveret.New().Queue("missing")
	require.Error(t, missing)
	for name, run := range map[string]func(ft *fakeT, b *topology){
		"queue": func(ft *fakeT, b *topology) {
			leverettest.RequireQueue(ft, b.Broker, "work", leverettest.Body("order 17"), leverettest.Body("order 19"), leverettest.Body("order 20"))
		},
		"queue-any-order": func(ft *fakeT, b *topology) {
			leverettest.RequireQueueAnyOrder(ft, b.Broker, "work", leverettest.Body("order 18"), leverettest.Body("order 18"))
		},
		"count":         func(ft *fakeT, b *topology) { leverettest.RequireCount(ft, b.Broker, "work", 3) },
		"queue-missing": func(ft *fakeT, b *topology) { leverettest.RequireQueue(ft, b.Broker, "missing") },
		"dead-lettered": func(ft *fakeT, b *topology) {
			leverettest.RequireDeadLettered(ft, b.Broker, "work", leverettest.Deaths{Reason: leveret.Rejected, Times: 2, To: []string{"parked"}})
		},
		"drained": func(ft *fakeT, b *topology) { leverettest.RequireDrained(ft, b.Broker) },
		"no-loss": func(ft *fakeT, b *topology) {
			b.publish("nowhere", "order 19", nil)
			leverettest.RequireNoLoss(ft, b.Broker)
		},
		"own-failure": func(ft *fakeT, _ *topology) { ft.Errorf("handled once, not twice") },
	} {
		t.Run(name, func(t *testing.T) {
			golden.Equal(t, "fails-"+name+".txt", fails(t, func(ft *fakeT) {
				b := retries(t, ft)
				leverettest.Record(ft, b.Broker)
				b.publish("work", "order 17", &leveret.Properties{MessageID: "17"})
				b.publish("work", "order 18", nil)
				require.NoError(t, b.get("work").Reject(false))
				b.clock.Advance(time.Second)
				run(ft, b)
			}))
		})
	}
}

// A name that is misspelt is no queue without dead letters. A matcher that is nil accepts everything.
func TestAssertionsOnNothing(t *testing.T) {
	b := retries(t, t)
	leverettest.Record(t, b.Broker)
	assert.Contains(t, fails(t, func(ft *fakeT) { leverettest.RequireDeadLettered(ft, b.Broker, "wrok", leverettest.Deaths{}) }),
		`leveret: queue "wrok": there is no such queue`)
	leverettest.RequireDeadLettered(t, b.Broker, "work", leverettest.Deaths{})
	b.publish("work", "order 17", nil)
	leverettest.RequireQueue(t, b.Broker, "work", nil)
	leverettest.RequireQueueAnyOrder(t, b.Broker, "work", leverettest.All(nil))
}

// The retry queue's dead-letter exchange has no binding: the message of a test that waits for its second try is gone.
func TestRetryThatLeadsNowhere(t *testing.T) {
	golden.Equal(t, "nowhere"+".txt", fails(t, func(ft *fakeT) {
		clock := leveret.NewManualClock(time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC))
		b := &topology{leverettest.New(ft, leveret.WithClock(clock)), clock, t}
		_, err := b.DeclareExchange("retries", leveret.Direct, leveret.ExchangeConfig{})
		require.NoError(t, err)
		b.declare("work", leveret.Table{leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "retry"})
		b.declare("retry", leveret.Table{
			leveret.ArgMessageTTL: 30_000, leveret.ArgDeadLetterExchange: "retries", leveret.ArgDeadLetterRoutingKey: "work",
		})
		leverettest.Record(ft, b.Broker)
		b.publish("work", "order 17", nil)
		require.NoError(t, b.get("work").Reject(false))
		clock.Advance(30 * time.Second)
		leverettest.RequireQueue(ft, b.Broker, "work", leverettest.Body("order 17"))
	}))
}

func TestMatchersRefuse(t *testing.T) {
	m := leveret.MessageInfo{Body: []byte(strings.Repeat("x", 100)), RoutingKey: "k"}
	for want, match := range map[string]leverettest.Matcher{
		`routing key: want "j", got "k"`:                         leverettest.Key("j"),
		`message-id: want "1", got ""`:                           leverettest.MessageID("1"),
		`no header "h"`:                                          leverettest.Header("h", 1),
		`deaths in q (expired): want 1, got 0`:                   leverettest.Died("q", leveret.Expired, 1),
		`the wanted body: json: unsupported type: chan int`:      leverettest.JSON(make(chan int)),
		`body "` + strings.Repeat("x", 60) + `"… (100 bytes): `:  leverettest.JSON(1),
		`body: want "y", got "` + strings.Repeat("x", 100) + `"`: leverettest.All(leverettest.Any(), leverettest.Body("y")),
	} {
		assert.ErrorContains(t, match(m), want)
	}
	p := &leveret.Properties{HeaderFields: leveret.Fields{{Name: "h", Value: int8(2)}}}
	assert.NoError(t, leverettest.Header("h", uint16(2))(leveret.MessageInfo{Properties: p}))
	assert.ErrorContains(t, leverettest.Header("h", "2")(leveret.MessageInfo{Properties: p}), `header h: want "2", got 2`)
}

// A program that dials by itself, and again, gets the broker.
func TestDialer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := leverettest.New(t)
		cfg := amqp091.Config{Dial: leverettest.Dialer(t, b)}
		for range 2 {
			conn, err := amqp091.DialConfig("amqp://guest:guest@rabbitmq/", cfg)
			require.NoError(t, err)
			id := b.Connections()[0].ID
			closed := conn.NotifyClose(make(chan *amqp091.Error, 1))
			require.NoError(t, b.CloseConnection(id, "test"))
			assert.Equal(t, amqp091.ConnectionForced, (<-closed).Code)
			synctest.Wait()
		}
	})
}

func TestURL(t *testing.T) {
	defer goleak.VerifyNone(t)
	ft := &fakeT{}
	url := leverettest.URL(ft, leverettest.New(ft))
	conn, err := amqp091.Dial(url)
	require.NoError(t, err)
	_, err = conn.Channel()
	require.NoError(t, err)
	ft.end()
	assert.Empty(t, ft.problems)
	assert.True(t, conn.IsClosed())
	_, err = net.DialTimeout("tcp", strings.TrimSuffix(strings.SplitAfter(url, "@")[1], "/"), time.Second)
	assert.Error(t, err, "nobody listens any more")
}

func TestLoad(t *testing.T) {
	file := filepath.Join(t.TempDir(), "definitions.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"vhosts": [{"name": "/"}], "queues": [{"vhost": "/", "name": "work", "durable": true}]}`), 0o600))
	b := leverettest.New(t)
	leverettest.Load(t, b, file)
	_, err := b.Queue("work")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, []byte(`{"queues": [{"vhost": "/", "name": "work", "durable": "x"}]}`), 0o600))
	assert.Contains(t, fails(t, func(ft *fakeT) { leverettest.Load(ft, b, file) }), "definitions.json: ")
	assert.Contains(t, fails(t, func(ft *fakeT) { leverettest.Load(ft, b, file+"x") }), "no such file")
}
