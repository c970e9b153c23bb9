package page_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// declare makes queues with the same arguments.
func declare(t *testing.T, v *leveret.VHost, args leveret.Table, names ...string) {
	for _, name := range names {
		_, err := v.DeclareQueue(name, leveret.QueueConfig{Durable: true, Arguments: args})
		require.NoError(t, err)
	}
}

// bodies are those of a queue's messages, in order.
func bodies(t *testing.T, b *leveret.Broker, queue string) (all []string) {
	q, err := b.Queue(queue)
	require.NoError(t, err)
	for _, m := range q.Messages() {
		all = append(all, string(m.Body))
	}
	return all
}

// vhost returns a virtual host of a broker.
func vhost(t *testing.T, b *leveret.Broker, name string) *leveret.VHost {
	v, err := b.VHost(name)
	require.NoError(t, err)
	return v
}

// moveTo is a form that moves messages to a queue.
func moveTo(queue, count string) url.Values {
	return url.Values{"do": {"move"}, "kind": {"queue"}, "to": {queue}, "count": {count}}
}

// The first messages are moved in their order, with all that they have, and the others stay.
func TestMove(t *testing.T) {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		for _, kind := range []string{leveret.QueueTypeClassic, leveret.QueueTypeQuorum} {
			b, s := newSite(t, leveret.WithProfile(profile))
			declare(t, vhost(t, b, "/"), leveret.Table{leveret.ArgQueueType: kind}, "from", "to", "other")
			sent := &leveret.Properties{MessageID: "m", ContentType: "text/plain", DeliveryMode: 2, Priority: 3, Timestamp: time.Unix(1e9, 0), Type: "t",
				AppID: "a", CorrelationID: "c", ReplyTo: "r", UserID: "guest", Expiration: "600000", ContentEncoding: "utf-8",
				Headers: leveret.Table{"n": 1, "list": []any{"x", leveret.Table{"y": true}}}}
			for i := range 5 {
				_, err := b.Publish("", "from", leveret.Message{Body: fmt.Append(nil, i), Properties: sent})
				require.NoError(t, err)
			}
			page := words(s.post(queue("from"), moveTo("to", "3")))
			assert.Contains(t, page, "3 messages were moved. Seen otherwise there: expiration of 3, routing key of 3.")
			assert.Equal(t, []string{"0", "1", "2"}, bodies(t, b, "to"))
			assert.Equal(t, []string{"3", "4"}, bodies(t, b, "from"))
			to, err := b.Queue("to")
			require.NoError(t, err)
			d, _, err := to.Get()
			require.NoError(t, err)
			got := *d.Properties
			delete(got.Headers, "x-delivery-count")
			assert.Equal(t, leveret.Table{"n": int64(1), "list": []any{"x", leveret.Table{"y": true}}}, got.Headers)
			got.Headers, got.HeaderFields, got.Present = sent.Headers, nil, 0
			assert.Equal(t, *sent, got)
			assert.False(t, d.Redelivered)
			assert.Contains(t, words(s.post(queue("from"), moveTo("to", "100000"))), "2 messages were moved.")
			assert.Contains(t, words(s.post(queue("from"), moveTo("to", "1"))), "0 messages were moved.")
			require.NoError(t, b.Check())
		}
	}
}

// A queue that has taken the place of another one gets the messages as they were published.
func TestMoveKeepsExchangeAndKey(t *testing.T) {
	b, s := newSite(t)
	v := vhost(t, b, "/")
	declare(t, v, nil, "old", "new", "audit", "order.copied")
	_, err := b.DeclareExchange("events", leveret.Topic, leveret.ExchangeConfig{})
	require.NoError(t, err)
	require.NoError(t, b.BindQueue("old", "events", "order.*", nil))
	for _, key := range []string{"order.new", "order.audited", "order.copied"} {
		_, err := b.Publish("events", key, leveret.Message{Body: []byte(key)})
		require.NoError(t, err)
	}
	require.NoError(t, b.UnbindQueue("old", "events", "order.*", nil))
	require.NoError(t, b.BindQueue("new", "events", "order.*", nil))
	require.NoError(t, b.BindQueue("audit", "events", "order.audited", nil))
	require.NoError(t, b.BindQueue("audit", "events", "order.copied", nil))
	assert.Contains(t, words(s.post(queue("old"), moveTo("new", "9"))), "3 messages were moved. Seen otherwise there: exchange of 2, routing key of 1.")
	q, err := b.Queue("new")
	require.NoError(t, err)
	var got []string
	for _, m := range q.Messages() {
		got = append(got, m.Exchange+"/"+m.RoutingKey)
		assert.Empty(t, m.Properties.Headers, "no BCC")
	}
	assert.Equal(t, []string{"events/order.new", "/order.audited", "/new"}, got)
	assert.Empty(t, bodies(t, b, "audit"), "no other queue gets it")
	assert.Empty(t, bodies(t, b, "order.copied"))
}

// CC does not route to other queues.
func TestMoveWithCC(t *testing.T) {
	b, s := newSite(t)
	declare(t, vhost(t, b, "/"), nil, "from", "to", "copy")
	_, err := b.Publish("", "from", leveret.Message{Properties: &leveret.Properties{Headers: leveret.Table{"CC": []any{"copy"}}}})
	require.NoError(t, err)
	assert.Contains(t, words(s.post(queue("from"), moveTo("to", "1"))), "Seen otherwise there: CC of 1, routing key of 1.")
	assert.Len(t, bodies(t, b, "copy"), 1, "the one that it has got before")
	assert.Len(t, bodies(t, b, "to"), 1)
}

// An exchange routes what is moved to it, by the key of each message or by another one.
func TestMoveToExchange(t *testing.T) {
	b, s := newSite(t)
	declare(t, vhost(t, b, "/"), nil, "from", "a", "b")
	_, err := b.DeclareExchange("x", leveret.Direct, leveret.ExchangeConfig{})
	require.NoError(t, err)
	require.NoError(t, b.BindQueue("a", "x", "from", nil))
	require.NoError(t, b.BindQueue("a", "x", "both", nil))
	require.NoError(t, b.BindQueue("b", "x", "both", nil))
	form := func(key, count string) url.Values {
		return url.Values{"do": {"move"}, "kind": {"exchange"}, "to": {"x"}, "key": {key}, "count": {count}}
	}
	for i := range 4 {
		_, err := b.Publish("", "from", leveret.Message{Body: fmt.Append(nil, i)})
		require.NoError(t, err)
	}
	assert.Contains(t, words(s.post(queue("from"), form("", "1"))), "1 message was moved.")
	assert.Contains(t, words(s.post(queue("from"), form("both", "1"))), "1 message was moved.")
	w := s.send(queue("from"), form("elsewhere", "1"))
	assert.Equal(t, http.StatusConflict, w.Code)
	assert.Contains(t, words(w.Body.String()), "exchange 'x' routes it to no queue.")
	require.NoError(t, b.SetPolicy(leveret.Policy{Name: "full", Pattern: "^b$", Definition: leveret.Table{"max-length": 1, "overflow": "reject-publish"}}))
	w = s.send(queue("from"), form("both", "9"))
	assert.Equal(t, http.StatusConflict, w.Code)
	assert.Contains(t, words(w.Body.String()), "a queue to which exchange 'x' routes it is full. The other queues have it.")
	assert.Equal(t, []string{"0", "1", "2"}, bodies(t, b, "a"))
	assert.Equal(t, []string{"1"}, bodies(t, b, "b"))
	assert.Equal(t, []string{"2", "3"}, bodies(t, b, "from"))
	w = s.send(queue("from"), url.Values{"do": {"move"}, "kind": {"exchange"}, "to": {"unknown"}})
	assert.Equal(t, http.StatusNotFound, w.Code)
	assert.Contains(t, words(w.Body.String()), "no exchange 'unknown' in vhost '/'")
	assert.Equal(t, []string{"2", "3"}, bodies(t, b, "from"), "at their places")
	require.NoError(t, b.Check())
}

// What cannot be moved stays where it is, and says why.
func TestMoveStops(t *testing.T) {
	b, s := newSite(t)
	declare(t, vhost(t, b, "/"), nil, "from")
	declare(t, vhost(t, b, "/"), leveret.Table{leveret.ArgMaxLength: 1, leveret.ArgOverflow: leveret.OverflowRejectPublish}, "to")
	for i := range 3 {
		_, err := b.Publish("", "from", leveret.Message{Body: fmt.Append(nil, i)})
		require.NoError(t, err)
	}
	page := words(s.post(queue("from"), moveTo("to", "3")))
	assert.Contains(t, page, "1 message was moved. The next one stays: queue 'to' is full. Seen otherwise there: routing key of 1.")
	assert.Equal(t, []string{"1", "2"}, bodies(t, b, "from"))
	for reason, form := range map[string]url.Values{
		"queue 'to' is full.": moveTo("to", "1"), "There is no queue 'nowhere' in virtual host '/'.": moveTo("nowhere", "1"),
		"in this queue already": moveTo("from", "1"), "is missing": moveTo("", "1"),
		"Not Found": {"do": {"move"}, "to": {"to"}, "tovhost": {"nowhere"}},
	} {
		w := s.send(queue("from"), form)
		assert.LessOrEqual(t, 400, w.Code, reason)
		assert.Contains(t, words(w.Body.String()), reason)
	}
	w := s.send(queue("unknown"), moveTo("to", "1"))
	assert.Equal(t, http.StatusNotFound, w.Code)
	assert.Equal(t, []string{"1", "2"}, bodies(t, b, "from"))
	require.NoError(t, b.Check())
}

// Messages go to a queue of another virtual host, if the user may publish there.
func TestMoveToAnotherVirtualHost(t *testing.T) {
	b, s := newSite(t)
	other, err := b.CreateVHost("other")
	require.NoError(t, err)
	declare(t, vhost(t, b, "/"), nil, "work")
	declare(t, other, nil, "work")
	_, err = b.Publish("", "work", leveret.Message{Body: []byte("job")})
	require.NoError(t, err)
	form := moveTo("work", "1")
	form.Set("tovhost", "other")
	w := s.send(queue("work"), form)
	assert.LessOrEqual(t, 400, w.Code, "no permissions")
	require.NoError(t, other.SetPermissions("guest", leveret.Permissions{}))
	w = s.send(queue("work"), form)
	assert.Equal(t, http.StatusForbidden, w.Code)
	assert.Contains(t, words(w.Body.String()), "write access to exchange 'amq.default' in vhost 'other' refused")
	assert.Equal(t, []string{"job"}, bodies(t, b, "work"))
	require.NoError(t, other.SetPermissions("guest", leveret.Permissions{Write: "^amq.default$"}))
	assert.Contains(t, words(s.post(queue("work"), form)), "1 message was moved.")
	assert.Empty(t, bodies(t, b, "work"))
	q, err := other.Queue("work")
	require.NoError(t, err)
	assert.Equal(t, 1, q.Info().Ready)
}

// The user needs what a client would need: to read from the queue and to write to the exchange that is published to.
func TestMoveNeedsPermissions(t *testing.T) {
	b, s := newSite(t)
	declare(t, vhost(t, b, "/"), nil, "from", "to")
	_, err := b.Publish("", "from", leveret.Message{})
	require.NoError(t, err)
	require.NoError(t, b.AddUser("man", "man", "management"))
	for _, p := range []leveret.Permissions{{}, {Read: ".*", Configure: ".*"}, {Write: ".*", Configure: ".*"}, {Read: "^from$", Write: "^to$"}} {
		require.NoError(t, b.SetPermissions("man", p))
		w := s.send(queue("from"), moveTo("to", "1"), as("man"))
		assert.Equal(t, http.StatusForbidden, w.Code)
		assert.Contains(t, words(w.Body.String()), "refused for user 'man'")
		assert.Len(t, bodies(t, b, "from"), 1)
	}
	require.NoError(t, b.SetPermissions("man", leveret.Permissions{Read: "^from$", Write: "^amq.default$"}))
	assert.Equal(t, http.StatusOK, s.send(queue("from"), moveTo("to", "1"), as("man")).Code)
	assert.Len(t, bodies(t, b, "to"), 1)
}

// What somebody else has signed is moved without the signature, unless the user may impersonate others.
func TestMoveOfAnothersMessage(t *testing.T) {
	for _, tag := range []string{"administrator", "impersonator"} {
		b, s := newSite(t)
		declare(t, vhost(t, b, "/"), nil, "from", "to")
		_, err := b.Publish("", "from", leveret.Message{Properties: &leveret.Properties{UserID: "somebody", MessageID: "m", Present: leveret.PropUserID}})
		require.NoError(t, err)
		require.NoError(t, b.SetUserTags("guest", "administrator", tag))
		page := words(s.post(queue("from"), moveTo("to", "1")))
		to, err := b.Queue("to")
		require.NoError(t, err)
		got := to.Messages()[0].Properties
		assert.Equal(t, "m", got.MessageID)
		assert.Equal(t, map[string]string{"administrator": "", "impersonator": "somebody"}[tag], got.UserID)
		assert.Equal(t, tag != "impersonator", strings.Contains(page, "user-id of 1"))
	}
}

// A dead letter keeps its history on its way, and goes back from there.
func TestMoveOfDeadLetters(t *testing.T) {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		b, s := newSite(t, leveret.WithProfile(profile))
		work, parked := killed(t, b, "first")
		declare(t, vhost(t, b, "/"), nil, "shelf")
		before := parked.Messages()[0].Deaths
		assert.Contains(t, words(s.post(queue("parked"), moveTo("shelf", "1"))), "x-death of 1")
		page := words(s.get(messages("shelf")))
		assert.Contains(t, page, "x-death")
		shelf, err := b.Queue("shelf")
		require.NoError(t, err)
		d, _, err := shelf.Get()
		require.NoError(t, err)
		history := d.Headers["x-death"].([]any)[0].(leveret.Table)
		assert.Equal(t, before[0].Queue, history["queue"])
		assert.Equal(t, int64(1), history["count"])
		require.NoError(t, d.Nack(true))
		assert.Contains(t, words(s.post(queue("shelf"), url.Values{"do": {"sendback"}})), "1 message was sent back.")
		assert.Equal(t, 1, work.Info().Ready)
	}
}

// Names of clients' choice stay text, and lead to what has them.
func TestMoveHostileNames(t *testing.T) {
	b, s := newSite(t)
	declare(t, vhost(t, b, "/"), nil, "from")
	_, err := b.Publish("", "from", leveret.Message{})
	require.NoError(t, err)
	from := "from"
	for _, name := range hostile {
		w := s.send(queue(from), moveTo(name+"?", "1"))
		assert.Equal(t, http.StatusNotFound, w.Code)
		assertHarmless(t, name, w.Body.String())
		q, err := b.DeclareQueue(name, leveret.QueueConfig{})
		require.NoError(t, err)
		assertHarmless(t, name, s.post(queue(from), moveTo(q.Name(), "1")))
		assert.Equal(t, 1, q.Info().Ready, name)
		from = q.Name()
	}
}

// Somebody who goes away ends a move behind a whole message.
func TestMoveEnds(t *testing.T) {
	b, s := newSite(t)
	declare(t, vhost(t, b, "/"), nil, "from", "to")
	for range 10 {
		_, err := b.Publish("", "from", leveret.Message{})
		require.NoError(t, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	to, err := b.Queue("to")
	require.NoError(t, err)
	seen := 0
	stop := b.Watch(leveret.Events{Enqueued: func(leveret.EnqueuedEvent) {
		if seen++; seen == 4 {
			cancel()
		}
	}})
	defer stop()
	s.send(queue("from"), moveTo("to", "10"), func(r *http.Request) { *r = *r.WithContext(ctx) })
	assert.Equal(t, 4, to.Info().Ready)
	assert.Len(t, bodies(t, b, "from"), 6)
}

// While clients publish and consume at both ends, each message comes to a consumer once.
func TestMoveWhileOthersWork(t *testing.T) {
	b, s := newSite(t)
	declare(t, vhost(t, b, "/"), nil, "from", "to")
	const all = 2000
	publish := func(from, to int) {
		for i := from; i < to; i++ {
			_, err := b.Publish("", "from", leveret.Message{Body: fmt.Append(nil, i)})
			assert.NoError(t, err)
		}
	}
	publish(0, all/2)
	s.post(queue("from"), moveTo("to", "100"))
	var mu sync.Mutex
	seen := map[string]int{}
	for _, name := range []string{"from", "to"} {
		q, err := b.Queue(name)
		require.NoError(t, err)
		_, err = q.Consume(leveret.ConsumeConfig{Prefetch: 1, Handler: func(d *leveret.Delivery) {
			mu.Lock()
			seen[string(d.Body)]++
			mu.Unlock()
			go d.Ack()
		}})
		require.NoError(t, err)
	}
	var publisher sync.WaitGroup
	publisher.Go(func() { publish(all/2, all) })
	for missing := all; missing > 0; {
		s.post(queue("from"), moveTo("to", "7"))
		mu.Lock()
		missing = all - len(seen)
		mu.Unlock()
	}
	publisher.Wait()
	for body, n := range seen {
		assert.Equal(t, 1, n, body)
	}
	require.NoError(t, b.Check())
}
