package leveret

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/leveretmq/leveret/internal/race"
	"github.com/leveretmq/leveret/internal/record"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// reread returns the message that comes out of the record of m.
func reread(t require.TestingT, v *vhost, m *message) *message {
	data := record.Append(nil, m.record())
	for item, err := range record.Items(data) {
		require.NoError(t, err)
		again := v.recordedLocked(item.(*record.Message))
		require.True(t, again.sharesHistory() || !m.sharesHistory())
		return again
	}
	return nil
}

// A sight is all that anybody sees of a message, and what the engine asks of it.
type sight struct {
	Exchange, Key, Wire   string
	Body                  []byte
	Properties, Described *Properties
	Headers, Matched      Fields
	Deaths                []Death
	Keys, BCC             []string
	Expiration            int64
	Published             *string
	Number                uint64
	Priority, Size        int
	HasHeaders            bool
}

// sights returns what is seen of m in each type of queue, fresh and after it came back.
func sights(ch *Channel, m *message) (all []sight) {
	for counted := noCounts; counted <= oldCountGet; counted++ {
		for _, n := range []uint32{0, 2} {
			d := new(Delivery)
			ch.fillDelivery(d, nil, &entry{m: m})
			d.counted, d.delivered, d.acquired = counted, n, n
			q := &Queue{v: ch.v, traits: &traits{}}
			described := q.describeLocked(&entry{m: m})
			s := sight{Exchange: d.Exchange, Key: d.RoutingKey, Wire: d.WireProperties(), Body: d.Body, Headers: d.WireHeaders(),
				Described: inSeconds(described.Properties), Deaths: d.Deaths(), Matched: m.matchFields(), Keys: slices.Collect(m.eachKey), BCC: m.bccKeys(),
				Expiration: m.expiration(), Published: m.publishedExpiration(), Number: m.number(),
				Priority: m.priority(-1), Size: m.propertiesSize(), HasHeaders: m.hasHeaders()}
			s.Properties = inSeconds(d.render().Properties)
			all = append(all, s)
		}
	}
	return all
}

// inSeconds returns properties with a timestamp as a client is sent one.
func inSeconds(p *Properties) *Properties {
	if p == nil || p.Timestamp.IsZero() {
		return p
	}
	own := *p
	own.Timestamp = time.Unix(p.Timestamp.Unix(), 0).UTC()
	return &own
}

// headersGen draws headers, often with CC and BCC, and sometimes with a history that a client made up.
func headersGen() *rapid.Generator[Fields] {
	keys := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]any{"a", "b", int64(1)}), 0, 3), func(l []any) any { return append([]any{}, l...) })
	return rapid.Custom(func(t *rapid.T) Fields {
		f := fieldsGen(2).Draw(t, "headers")
		for _, name := range []string{headerCC, headerBCC, headerBCC, headerDeaths} {
			if rapid.IntRange(0, 2).Draw(t, name) == 0 {
				f = append(f, Field{name, keys.Draw(t, "keys")})
			}
		}
		if rapid.IntRange(0, 9).Draw(t, "history") == 0 {
			f = append(f, Field{headerDeaths, []any{Fields{{"queue", "q0"}, {"reason", "expired"}, {"count", int64(3)}}}})
		}
		return f
	})
}

// propertiesGen draws properties as programs and clients send them.
func propertiesGen() *rapid.Generator[*Properties] {
	text := rapid.SampledFrom([]string{"", "", "a", "text/plain", "ü"})
	return rapid.Custom(func(t *rapid.T) *Properties {
		p := &Properties{ContentType: text.Draw(t, "type"), ContentEncoding: text.Draw(t, "encoding"),
			CorrelationID: text.Draw(t, "correlation"), MessageID: text.Draw(t, "message"), Type: text.Draw(t, "type"),
			AppID: text.Draw(t, "app"), ClusterID: text.Draw(t, "cluster"), ReplyTo: text.Draw(t, "reply"),
			Expiration:   rapid.SampledFrom([]string{"", "", "0", "+010", "60000"}).Draw(t, "expiration"),
			DeliveryMode: rapid.Uint8Max(2).Draw(t, "mode"), Priority: rapid.Uint8().Draw(t, "priority")}
		p.Present = Property(rapid.Uint16().Draw(t, "present")) &^ 3
		if p.Expiration == "" {
			p.Present &^= PropExpiration
		}
		if rapid.Bool().Draw(t, "timestamp") {
			p.Timestamp = time.Unix(rapid.Int64().Draw(t, "seconds"), rapid.Int64Range(0, 1).Draw(t, "ns")).UTC()
		}
		switch rapid.IntRange(0, 2).Draw(t, "headers") {
		case 0:
			p.Headers = headersGen().Draw(t, "table").Table()
		case 1:
			p.HeaderFields = headersGen().Draw(t, "fields")
		}
		return p
	})
}

// publishedMessage draws a message and has a channel check it as a publish does; nil: it is refused.
func publishedMessage(t *rapid.T, ch *Channel) *message {
	x := ch.v.exchanges[rapid.SampledFrom([]string{"", "amq.topic"}).Draw(t, "exchange")]
	given := &Message{Body: rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "body")}
	if rapid.Bool().Draw(t, "properties") {
		given.Properties = propertiesGen().Draw(t, "p")
	}
	m, err := ch.checkMessageLocked(x, rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "key"), given)
	if err != nil {
		return nil
	}
	if rapid.Bool().Draw(t, "wire") {
		given.WireProperties = "as it came"
		m.keepWireProperties(given)
	}
	if rapid.IntRange(0, 3).Draw(t, "watched") == 0 {
		m.editExtra().number = rapid.Uint64Min(1).Draw(t, "number")
	}
	return m
}

// aDeath draws how a message dies: in a queue with or without a dead-letter routing key.
func aDeath(t *rapid.T, v *vhost) (l *deadLetter, x *Exchange, at int64) {
	q := &Queue{v: v, name: rapid.SampledFrom([]string{"q0", "q1"}).Draw(t, "queue"), set: &settings{}}
	if q.set.hasDLRK = rapid.Bool().Draw(t, "has DLRK"); q.set.hasDLRK {
		q.set.dlrk = rapid.SampledFrom([]string{"a", "dead"}).Draw(t, "DLRK")
	}
	l = &deadLetter{q: q, reason: rapid.SampledFrom([]Reason{Rejected, Expired, MaxLength}).Draw(t, "reason")}
	return l, v.exchanges[rapid.SampledFrom([]string{"", "amq.fanout", "goes"}).Draw(t, "DLX")], rapid.Int64Range(0, 3).Draw(t, "at")
}

func TestRecordedMessagesLookTheSame(t *testing.T) {
	for name, profile := range map[string]Profile{"4.3": RabbitMQ43, "3.10": RabbitMQ310} {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				b := New(WithProfile(profile))
				v := b.vhost
				gone, err := v.addExchangeLocked("goes", Fanout, ExchangeConfig{}, nil)
				require.Nil(t, err)
				m := publishedMessage(t, v.system)
				if m == nil {
					return
				}
				if profile == RabbitMQ310 && rapid.Bool().Draw(t, "kept on disk") {
					m = m.withHiddenExpiration()
				}
				again := reread(t, v, m)
				require.Equal(t, sights(v.system, m), sights(v.system, again))
				for range rapid.IntRange(0, 3).Draw(t, "deaths") {
					l, x, at := aDeath(t, v)
					if x == nil {
						continue
					}
					if rapid.IntRange(0, 3).Draw(t, "exchange goes") == 0 && v.exchanges["goes"] == gone {
						delete(v.exchanges, "goes")
					}
					die := func(m *message) *message {
						own := *l
						own.m = m
						return v.deadLocked(&own, x, at)
					}
					m, again = die(m), die(again)
					require.Equal(t, sights(v.system, m), sights(v.system, again))
					require.Equal(t, record.Append(nil, m.record()), record.Append(nil, again.record()))
					if rapid.Bool().Draw(t, "again") {
						again = reread(t, v, again)
						require.Equal(t, sights(v.system, m), sights(v.system, again))
					}
				}
			})
		})
	}
}

// TestRecordedMessagesShareAHistory has messages that died alike share their history when they are read, too.
func TestRecordedMessagesShareAHistory(t *testing.T) {
	v := New().vhost
	q := &Queue{v: v, name: "q", set: &settings{}}
	die := func(m *message, at int64) *message {
		return v.deadLocked(&deadLetter{q: q, m: m, reason: Expired}, v.nameless, at)
	}
	fresh := func(body string) *message { return &message{exchange: v.nameless, key: "q", body: []byte(body)} }
	a, b, later := die(fresh("a"), 1), die(fresh("b"), 1), die(fresh("c"), 2)
	require.Same(t, a.extra, b.extra)
	readA, readLater, readB := reread(t, v, a), reread(t, v, later), reread(t, v, b)
	assert.Same(t, readA.extra, readB.extra)
	assert.NotSame(t, readA.extra, readLater.extra)
	// They share the next one, too.
	again, other := die(readA, 3), die(readB, 3)
	assert.Same(t, again.extra, other.extra)
	assert.Equal(t, sights(v.system, die(a, 3)), sights(v.system, again))
	// A history that is shared no more may be dropped.
	for at := range int64(10) {
		reread(t, v, die(fresh("d"), 10+at))
	}
	assert.NotSame(t, readA.extra, reread(t, v, b).extra)
}

func TestExchangesThatAreGoneAreMadeOnce(t *testing.T) {
	v := New().vhost
	m := &message{exchange: &Exchange{name: "gone"}}
	a, b := reread(t, v, m), reread(t, v, m)
	assert.Same(t, a.exchange, b.exchange)
	assert.Equal(t, "gone", a.exchange.Name())
	assert.NotContains(t, v.exchanges, "gone")
	x, err := v.addExchangeLocked("gone", Fanout, ExchangeConfig{}, nil)
	require.Nil(t, err)
	assert.Same(t, x, reread(t, v, m).exchange)
}

// plainMessages are what most programs publish, and how many allocations it is to read one: the message, the body, and the
// properties.
func plainMessages(v *vhost) map[string]plainMessage {
	m := message{exchange: v.nameless, key: "order.new", body: make([]byte, 100)}
	with := m
	with.props = &Properties{DeliveryMode: persistent, ContentType: "application/json"}
	headers := m
	headers.props = &Properties{HeaderFields: Fields{{"a", "b"}, {"n", int64(1)}, {"t", Fields{{"x", Decimal{1, 2}}}}}}
	return map[string]plainMessage{"plain": {&m, 2}, "properties": {&with, 3}, "headers": {&headers, 18}}
}

type plainMessage struct {
	m           *message
	allocations int
}

func TestAllocationsOfRecords(t *testing.T) {
	if race.Enabled {
		t.Skip("pools forget")
	}
	v := New().vhost
	for name, p := range plainMessages(v) {
		var recording recording
		buf := record.Append(nil, recording.of(p.m))
		assert.Zero(t, testing.AllocsPerRun(100, func() { buf = record.Append(buf[:0], recording.of(p.m)) }), name)
		var reader record.Reader
		assert.LessOrEqual(t, testing.AllocsPerRun(100, func() {
			for item := range reader.Items(buf) {
				v.recordedLocked(item.(*record.Message))
			}
		}), float64(p.allocations), name)
	}
}

func BenchmarkRecord(b *testing.B) {
	v := New().vhost
	for name, p := range plainMessages(v) {
		var recording recording
		buf := record.Append(nil, recording.of(p.m))
		b.Run(fmt.Sprintf("write/%s", name), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				buf = record.Append(buf[:0], recording.of(p.m))
			}
		})
		b.Run(fmt.Sprintf("read/%s", name), func(b *testing.B) {
			var reader record.Reader
			b.ReportAllocs()
			for b.Loop() {
				for item := range reader.Items(buf) {
					v.recordedLocked(item.(*record.Message))
				}
			}
		})
	}
}
