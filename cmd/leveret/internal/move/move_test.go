package move

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/address"
	"github.com/leveretmq/leveret/leverettest"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMove(t *testing.T) {
	for _, kind := range []string{"classic", "quorum"} {
		p := newPair(t)
		declare(t, p.from, "work", leveret.Table{"x-queue-type": kind, "x-max-length": 1000})
		declare(t, p.from, "empty", nil)
		sent := fill(t, p.from, "work", 500)
		r := p.run(p.job())
		assert.Equal(t, sent, bodies(t, p.to, "work"), kind)
		assert.Empty(t, bodies(t, p.from, "work"))
		assert.Equal(t, "definitions: 0 bindings, 0 exchanges, 0 parameters, 0 policies, 2 queues\n"+
			"queue work: 500 messages\nqueues with nothing to move: 1\nmessages: 500, of which at most 0 came twice\n", r.String())
		q, err := p.to.Queue("work")
		require.NoError(t, err)
		assert.EqualValues(t, 1000, q.Info().Arguments["x-max-length"])
	}
}

// Wherever a connection is cut, nothing is lost, and no message comes twice that is not counted.
func TestMoveCut(t *testing.T) {
	const messages = 12
	for _, side := range []string{"from", "to"} {
		for _, at := range []leverettest.Point{leverettest.OnPublish, leverettest.OnConfirm, leverettest.OnDeliver, leverettest.OnAck} {
			for nth := 1; nth <= messages+1; nth++ {
				t.Run(fmt.Sprint(side, at, nth), func(t *testing.T) {
					t.Parallel()
					p := newPair(t)
					declare(t, p.from, "work", nil)
					sent := fill(t, p.from, "work", messages)
					b := map[string]*leveret.Broker{"from": p.from, "to": p.to}[side]
					leverettest.Inject(t, b, leverettest.Fault{On: at, Nth: nth, Do: leverettest.Cut()})
					r := p.run(p.job())
					checkCounted(t, sent, bodies(t, p.to, "work"), r.Again)
					assert.Empty(t, bodies(t, p.from, "work"))
				})
			}
		}
	}
}

// A queue that has no message ready may have given out messages that have not come yet.
func TestMoveOfWhatComesLate(t *testing.T) {
	p := newPair(t)
	declare(t, p.from, "work", nil)
	sent := fill(t, p.from, "work", 5)
	r := p.run(p.jobOver(func(conn net.Conn) net.Conn { return &slowChannel{Conn: conn, channel: 2, by: 5 * idle} }))
	assert.Equal(t, sent, bodies(t, p.to, "work"))
	assert.Empty(t, bodies(t, p.from, "work"))
	assert.Zero(t, r.Reconnects)
}

// What comes between the last look at a queue and the end of the consumer is moved, too.
func TestMoveOfWhatComesAtTheEnd(t *testing.T) {
	p := newPair(t)
	declare(t, p.from, "work", nil)
	sent := fill(t, p.from, "work", 5)
	p.run(p.jobOver(func(conn net.Conn) net.Conn {
		return listening{conn, sync.OnceFunc(func() {
			_, err := p.from.Publish("", "work", leveret.Message{Body: []byte("late")})
			assert.NoError(t, err)
		})}
	}))
	assert.Equal(t, append(sent, "late"), bodies(t, p.to, "work"))
	assert.Empty(t, bodies(t, p.from, "work"))
}

// A listening connection calls a function before the client hears that a consumer has ended.
type listening struct {
	net.Conn
	cancelled func()
}

func (c listening) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if basicCancelOk := []byte{0, 60, 0, 31}; bytes.Contains(b[:n], basicCancelOk) {
		c.cancelled()
	}
	return n, err
}

// A slowChannel is a client's connection on which the frames of one channel come late from the first delivery on, those of the others
// at once.
type slowChannel struct {
	net.Conn
	channel uint16
	by      time.Duration

	once sync.Once
	out  *io.PipeReader
}

func (c *slowChannel) Read(b []byte) (int, error) {
	c.once.Do(func() {
		var in *io.PipeWriter
		c.out, in = io.Pipe()
		go func() { in.CloseWithError(c.carry(in)) }()
	})
	return c.out.Read(b)
}

// carry passes frames on until the connection ends.
func (c *slowChannel) carry(to io.Writer) error {
	var mu sync.Mutex
	var late []byte // frames that wait for the same moment
	delivers := false
	for {
		frame, err := readFrame(c.Conn)
		if err != nil {
			return err
		}
		const basicDeliver = 60<<16 | 60
		slow := binary.BigEndian.Uint16(frame[1:]) == c.channel
		delivers = delivers || slow && binary.BigEndian.Uint32(frame[7:]) == basicDeliver
		mu.Lock()
		switch {
		case !slow || !delivers:
			_, err = to.Write(frame)
		case len(late) == 0:
			time.AfterFunc(c.by, func() {
				mu.Lock()
				defer mu.Unlock()
				to.Write(late)
				late = nil
			})
			fallthrough
		default:
			late = append(late, frame...)
		}
		mu.Unlock()
		if err != nil {
			return err
		}
	}
}

func readFrame(r io.Reader) ([]byte, error) {
	const head = 7
	frame := make([]byte, head)
	if _, err := io.ReadFull(r, frame); err != nil {
		return nil, err
	}
	frame = append(frame, make([]byte, binary.BigEndian.Uint32(frame[3:])+1)...)
	_, err := io.ReadFull(r, frame[head:])
	return frame, err
}

// checkCounted demands that all has come, and that what came twice was counted.
func checkCounted(t *testing.T, sent, came []string, again int) {
	t.Helper()
	times := map[string]int{}
	for _, body := range came {
		times[body]++
	}
	for _, body := range sent {
		assert.Positive(t, times[body], "message %s is lost", body)
	}
	assert.LessOrEqual(t, len(came)-len(sent), again, "of %d messages %d came", len(sent), len(came))
}

// A connection that is lost before anything was sent costs no duplicates, and one that is lost before a confirm costs those that were on their way.
func TestMoveCountsDuplicates(t *testing.T) {
	p := newPair(t)
	declare(t, p.from, "work", nil)
	sent := fill(t, p.from, "work", 5)
	leverettest.Inject(t, p.to, leverettest.Fault{On: leverettest.OnConfirm, Nth: 3, Do: leverettest.Cut()})
	j := p.job()
	j.Window = 1
	r := p.run(j)
	assert.Equal(t, slices.Insert(sent, 3, "2"), bodies(t, p.to, "work"))
	assert.Equal(t, 1, r.Again)
	assert.Equal(t, 1, r.Reconnects)
}

// What a consumer at the target sees of each property.
func TestMoveProperties(t *testing.T) {
	p := newPair(t)
	declare(t, p.from, "work", nil)
	headers := amqp.Table{
		"bool": true, "int8": int8(-1), "uint8": uint8(1), "int16": int16(-2), "uint16": uint16(2), "int32": int32(-3), "uint32": uint32(3), "int64": int64(4),
		"float32": float32(0.5), "float64": 0.1, "string": "ü", "octets": []byte{0xff}, "void": nil, "decimal": amqp.Decimal{Scale: 2, Value: 314},
		"table": amqp.Table{"a": int32(1)}, "array": []any{"a", amqp.Table{"b": true}}, "x-delivery-count": int64(7),
	}
	sent := amqp.Publishing{Headers: headers, ContentType: "text/plain", ContentEncoding: "gzip", DeliveryMode: 2, Priority: 3, CorrelationId: "\xff",
		ReplyTo: "r", Expiration: "1000000", MessageId: "17", Type: "t", UserId: "guest", AppId: "a", Body: []byte{0xfe, 0}}
	require.NoError(t, client(t, p.from).Publish("", "work", false, false, sent))
	leverettest.Settle(t, p.from)
	r := p.run(p.job())
	got := received(t, p.to, "work")
	require.Len(t, got, 1)
	assert.Equal(t, sent, letterOf(queueInfo{}, got[0]).Message)
	assert.Equal(t, map[address.Loss]int{address.TimeToLive: 1}, r.Lost)
}

// How messages are addressed, by what else is bound at the target.
func TestMoveAddresses(t *testing.T) {
	p := newPair(t)
	for _, b := range []*leveret.Broker{p.from, p.to} {
		for _, q := range []string{"work", "audit", "k.other"} {
			declare(t, b, q, nil)
		}
		_, err := b.DeclareExchange("x", leveret.Topic, leveret.ExchangeConfig{Durable: true})
		require.NoError(t, err)
		require.NoError(t, b.BindQueue("work", "x", "k.#", nil))
		require.NoError(t, b.BindQueue("audit", "x", "k.both", nil))
	}
	_, err := p.from.DeclareExchange("gone", leveret.Fanout, leveret.ExchangeConfig{AutoDelete: true})
	require.NoError(t, err)
	require.NoError(t, p.from.BindQueue("work", "gone", "", nil))
	ch := client(t, p.from)
	for _, m := range []struct{ exchange, key, cc string }{
		{"x", "k.one", ""}, {"x", "k.both", ""}, {"gone", "k.one", ""}, {"gone", "audit", ""}, {"", "work", ""}, {"gone", "k.one", "k.both"}, {"gone", "k.one", "audit"},
	} {
		headers := amqp.Table{}
		if m.cc != "" {
			headers["CC"] = []any{m.cc}
		}
		require.NoError(t, ch.Publish(m.exchange, m.key, false, false, amqp.Publishing{Headers: headers}))
	}
	leverettest.Settle(t, p.from)
	j := p.job()
	j.SkipDefinitions, j.Queues = true, Filter{Only: []string{"w?r*"}}
	r := p.run(j)
	var got []string
	for _, d := range received(t, p.to, "work") {
		got = append(got, fmt.Sprintf("%s/%s %v", d.Exchange, d.RoutingKey, d.Headers["CC"]))
	}
	assert.Equal(t, []string{"x/k.one <nil>", "/k.both <nil>", "/k.one <nil>", "/work <nil>", "/work <nil>", "/k.one [k.both]", "/work <nil>"}, got)
	assert.Equal(t, map[address.Loss]int{address.LostExchange: 5, address.LostRoutingKey: 2, address.LostCC: 1}, r.Lost)
	for _, other := range []string{"audit", "k.other"} {
		assert.Empty(t, bodies(t, p.to, other), other)
	}
}
