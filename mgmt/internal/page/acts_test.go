package page_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func messages(name string) string {
	return "/messages?" + url.Values{"vhost": {"/"}, "name": {name}}.Encode()
}

// killed makes a queue "work" whose rejected messages come to the queue "parked", and rejects messages there.
func killed(t *testing.T, b *leveret.Broker, bodies ...string) (work, parked *leveret.Queue) {
	work, err := b.DeclareQueue("work", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "parked"}})
	require.NoError(t, err)
	parked, err = b.DeclareQueue("parked", leveret.QueueConfig{})
	require.NoError(t, err)
	for _, body := range bodies {
		_, err = b.Publish("", "work", leveret.Message{Body: []byte(body), Properties: &leveret.Properties{
			MessageID: "id of " + body, DeliveryMode: 2, Headers: leveret.Table{"tenant": "<b>acme</b>", "attempt": 3, "CC": []any{"other"}}}})
		require.NoError(t, err)
		d, ok, err := work.Get()
		require.NoError(t, err)
		require.True(t, ok)
		require.NoError(t, d.Reject(false))
	}
	return work, parked
}

// Messages are looked at with all that they have, and nothing in the queue changes.
func TestMessages(t *testing.T) {
	b, s := newSite(t)
	_, parked := killed(t, b, "first", "second <script>alert(1)</script>")
	_, err := b.Publish("", "parked", leveret.Message{Body: []byte{0xff, 0, 1}})
	require.NoError(t, err)
	before := parked.Info()
	page := s.get(messages("parked"))
	assert.Equal(t, before, parked.Info())
	assert.Equal(t, uint64(0), parked.Counters().Delivered)
	assertHarmless(t, "messages", page)
	read := words(page)
	for _, want := range []string{"1 to 3 of 3", "first", "second <script>alert(1)</script>", "message id id of first", "delivery mode 2", "tenant <b>acme</b>",
		"attempt 3", "died in work: rejected", "work rejected 1", "00000000 ff 00 01"} {
		assert.Contains(t, read, want)
	}
	assert.Less(t, strings.Index(read, "id of first"), strings.Index(read, "id of second"), "in the queue's order")
}

// A long queue is looked at page by page, and of a long body its beginning is shown.
func TestManyMessages(t *testing.T) {
	b, s := newSite(t)
	_, err := b.DeclareQueue("long", leveret.QueueConfig{})
	require.NoError(t, err)
	for range 120 {
		_, err = b.Publish("", "long", leveret.Message{Body: []byte(strings.Repeat("ü", 5000))})
		require.NoError(t, err)
	}
	page := s.get(messages("long"))
	assert.Contains(t, words(page), "Body its beginning üü")
	assert.Equal(t, 50*2000, strings.Count(page, "ü"))
	var seen []string
	for next := []string{messages("long")}; len(next) > 0; {
		page := s.get(next[0])
		seen = append(seen, words(page)[strings.Index(words(page), " to "):][:7])
		next = nil
		for _, u := range links(page, "/messages?") {
			if strings.Contains(page, `id="next" class="button" href="`+strings.ReplaceAll(u, "&", "&amp;")) {
				next = []string{u}
			}
		}
	}
	assert.Len(t, seen, 3)
	assert.Contains(t, words(s.get(messages("long")+"&from=x")), "1 to 50 of 120")
	assert.Contains(t, words(s.get(messages("long")+"&from=-5")), "1 to 50 of 120")
	assert.Contains(t, words(s.get(messages("long")+"&from=500")), "There are none.")
}

// What waits for a retry is shown, too.
func TestWaitingMessages(t *testing.T) {
	b, s := newSite(t)
	q, err := b.DeclareQueue("retry", leveret.QueueConfig{Durable: true, Arguments: leveret.Table{
		leveret.ArgQueueType: leveret.QueueTypeQuorum, leveret.ArgDelayedRetryType: leveret.DelayedRetryAll, leveret.ArgDelayedRetryMin: 60000}})
	require.NoError(t, err)
	_, err = b.Publish("", "retry", leveret.Message{Body: []byte("later")})
	require.NoError(t, err)
	d, _, err := q.Get()
	require.NoError(t, err)
	require.NoError(t, d.Nack(true))
	assert.Contains(t, words(s.get(messages("retry"))), "Waiting for a retry")
}

// Who may not read from a queue may not look at its messages, nor do anything with it.
func TestMessagesNeedPermission(t *testing.T) {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		b, s := newSite(t, leveret.WithProfile(profile))
		killed(t, b, "secret")
		require.NoError(t, b.AddUser("man", "man", "management"))
		assert.Less(t, 400, s.send(messages("parked"), nil, as("man")).Code, "not a member")
		for read, code := range map[string]int{"": 403, "^other$": 403, "^park": 200} {
			require.NoError(t, b.SetPermissions("man", leveret.Permissions{Read: read}))
			w := s.send(messages("parked"), nil, as("man"))
			assert.Equal(t, code, w.Code, read)
			assert.Equal(t, code == 200, strings.Contains(w.Body.String(), "secret"))
		}
		require.NoError(t, b.SetPermissions("man", leveret.Permissions{}))
		for _, do := range []string{"get", "purge", "delete", "sendback", "publish"} {
			w := s.send(queue("parked"), url.Values{"do": {do}, "mode": {"ack_requeue_false"}}, as("man"))
			assert.LessOrEqual(t, 400, w.Code, do)
			assert.Contains(t, words(w.Body.String()), "refused", do)
			assert.NotContains(t, w.Body.String(), "secret")
		}
		q, err := b.Queue("parked")
		require.NoError(t, err)
		assert.Equal(t, 1, q.Info().Ready)
	}
}

func TestPublish(t *testing.T) {
	b, s := newSite(t)
	q, err := b.DeclareQueue("q", leveret.QueueConfig{})
	require.NoError(t, err)
	_, err = b.DeclareExchange("x", leveret.Topic, leveret.ExchangeConfig{})
	require.NoError(t, err)
	require.NoError(t, q.Bind("x", "a.*", nil))
	assert.Contains(t, words(s.post(queue("q"), url.Values{"do": {"publish"}, "body": {"one"}})), "published and routed")
	s.post("/exchange?vhost=%2F&name=x", url.Values{"do": {"publish"}, "key": {"a.b"}, "body": {"dHdv"}, "base64": {"1"},
		"properties": {`{"message_id":"m","headers":{"n":1}}`}})
	all := q.Messages()
	require.Len(t, all, 2)
	assert.Equal(t, "one", string(all[0].Body))
	assert.Equal(t, "two", string(all[1].Body))
	assert.Equal(t, "a.b", all[1].RoutingKey)
	assert.Equal(t, "m", all[1].Properties.MessageID)
	for name, form := range map[string]url.Values{
		"unroutable":    {"key": {"elsewhere"}},
		"no JSON":       {"key": {"a.b"}, "properties": {"{"}},
		"not_base64":    {"key": {"a.b"}, "body": {"!"}, "base64": {"1"}},
		"PRECONDITION_": {"key": {"a.b"}, "properties": {`{"expiration":"soon"}`}},
	} {
		form.Set("do", "publish")
		w := s.send("/exchange?vhost=%2F&name=x", form)
		assert.LessOrEqual(t, 400, w.Code, name)
		assert.Contains(t, words(w.Body.String()), name)
	}
	assert.Equal(t, 2, q.Info().Ready)
}

func TestGet(t *testing.T) {
	b, s := newSite(t)
	_, parked := killed(t, b, "first", "second")
	page := s.post(queue("parked"), url.Values{"do": {"get"}, "count": {"1"}, "mode": {"ack_requeue_true"}})
	for _, want := range []string{"1 message was taken.", "first", "tenant <b>acme</b>", "x-death", "message id id of first"} {
		assert.Contains(t, words(page), want)
	}
	assertHarmless(t, "get", page)
	assert.True(t, parked.Messages()[0].Redelivered)
	s.post(queue("parked"), url.Values{"do": {"get"}, "count": {"9"}, "mode": {"ack_requeue_false"}})
	assert.Equal(t, 0, parked.Info().Messages)
	w := s.send(queue("parked"), url.Values{"do": {"get"}, "mode": {"odd"}})
	assert.Equal(t, http.StatusBadRequest, w.Code)
	assert.Contains(t, w.Body.String(), "Invalid ackmode value: odd")
}

func TestPurgeAndDelete(t *testing.T) {
	b, s := newSite(t)
	_, parked := killed(t, b, "first")
	w := s.send(queue("parked"), url.Values{"do": {"delete"}, "if-empty": {"1"}})
	assert.Equal(t, http.StatusBadRequest, w.Code)
	assert.Contains(t, words(w.Body.String()), "in vhost '/' not empty")
	assert.Contains(t, words(s.post(queue("parked"), url.Values{"do": {"purge"}})), "are gone")
	assert.Equal(t, 0, parked.Info().Messages)
	w = s.send(queue("parked"), url.Values{"do": {"delete"}, "if-empty": {"1"}, "if-unused": {"1"}})
	assert.Equal(t, http.StatusSeeOther, w.Code)
	assert.Equal(t, "/queues", w.Header().Get("Location"))
	assert.Len(t, b.Queues(), 1)
}

// A dead letter goes back to the queue where it died, as it was published.
func TestSendBack(t *testing.T) {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		b, s := newSite(t, leveret.WithProfile(profile))
		work, parked := killed(t, b, "first", "second", "third")
		other, err := b.DeclareQueue("other", leveret.QueueConfig{})
		require.NoError(t, err)
		assert.Contains(t, words(s.post(queue("parked"), url.Values{"do": {"sendback"}, "count": {"2"}})), "2 messages were sent back.")
		assert.Equal(t, 1, parked.Info().Messages)
		assert.Equal(t, 0, other.Info().Messages, "CC routes only once")
		require.Len(t, work.Messages(), 2)
		d, _, err := work.Get()
		require.NoError(t, err)
		assert.Equal(t, "first", string(d.Body))
		assert.Equal(t, "id of first", d.MessageID)
		assert.Equal(t, leveret.Table{"tenant": "<b>acme</b>", "attempt": int64(3)}, d.Headers)
		assert.Empty(t, d.Deaths())
		require.NoError(t, d.Reject(false))
		assert.Equal(t, 2, parked.Info().Messages, "it dies again as a new message would")
		require.NoError(t, b.Check())
	}
}

// What cannot go back stays where it is, and says why.
func TestSendBackStops(t *testing.T) {
	b, s := newSite(t)
	work, parked := killed(t, b, "first", "second", "third")
	sendBack := func(count string) string {
		w := s.send(queue("parked"), url.Values{"do": {"sendback"}, "count": {count}})
		return words(w.Body.String())
	}
	require.NoError(t, b.SetPolicy(leveret.Policy{Name: "one", Pattern: "^work$", Definition: leveret.Table{"max-length": 1, "overflow": "reject-publish"}}))
	assert.Contains(t, sendBack("10"), "1 message was sent back. The next one stays: queue 'work' is full.")
	assert.Contains(t, sendBack("10"), "queue 'work' is full.")
	first := parked.Messages()[0]
	assert.Equal(t, "second", string(first.Body), "at its old place")
	assert.True(t, first.Redelivered)
	_, err := work.Delete(leveret.DeleteConfig{})
	require.NoError(t, err)
	assert.Contains(t, sendBack("1"), "there is no queue 'work' any more.")
	_, err = parked.Purge()
	require.NoError(t, err)
	_, err = b.Publish("", "parked", leveret.Message{})
	require.NoError(t, err)
	assert.Contains(t, sendBack("1"), "it has not died.")
	assert.Equal(t, 1, parked.Info().Ready)
	require.NoError(t, b.Check())
}

// What another user has signed goes back without the signature.
func TestSendBackOfAnothersMessage(t *testing.T) {
	b, s := newSite(t)
	killed(t, b)
	_, err := b.Publish("", "work", leveret.Message{Properties: &leveret.Properties{UserID: "somebody"}})
	require.NoError(t, err)
	work, err := b.Queue("work")
	require.NoError(t, err)
	d, _, err := work.Get()
	require.NoError(t, err)
	require.NoError(t, d.Reject(false))
	assert.Contains(t, words(s.post(queue("parked"), url.Values{"do": {"sendback"}})), "user-id of 1")
	require.Len(t, work.Messages(), 1)
	assert.Empty(t, work.Messages()[0].Properties.UserID)
}

// A dead letter has the exchange and the routing key again that it had before it died, and, if so wanted, its history.
func TestSendBackKeeps(t *testing.T) {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		b, s := newSite(t, leveret.WithProfile(profile))
		work, _ := killed(t, b)
		_, err := b.DeclareExchange("events", leveret.Topic, leveret.ExchangeConfig{})
		require.NoError(t, err)
		require.NoError(t, work.Bind("events", "order.*", nil))
		for range 2 {
			_, err = b.Publish("events", "order.new", leveret.Message{})
			require.NoError(t, err)
			d, _, err := work.Get()
			require.NoError(t, err)
			require.NoError(t, d.Reject(false))
		}
		assert.NotContains(t, words(s.post(queue("parked"), url.Values{"do": {"sendback"}})), "exchange of 1")
		s.post(queue("parked"), url.Values{"do": {"sendback"}, "keep": {"1"}})
		for _, kept := range []bool{false, true} {
			d, ok, err := work.Get()
			require.NoError(t, err)
			require.True(t, ok)
			assert.Equal(t, "events/order.new", d.Exchange+"/"+d.RoutingKey)
			assert.Equal(t, kept, d.Headers["x-death"] != nil)
		}
	}
}

// A row that feeds itself ends.
func TestSendBackEnds(t *testing.T) {
	b, s := newSite(t)
	work, parked := killed(t, b, "first", "second")
	_, err := work.Consume(leveret.ConsumeConfig{Handler: func(d *leveret.Delivery) { d.Reject(false) }})
	require.NoError(t, err)
	assert.Contains(t, words(s.post(queue("parked"), url.Values{"do": {"sendback"}, "count": {"1000"}})), "2 messages were sent back.")
	assert.Equal(t, 2, parked.Info().Messages)
}

// A time at which a message expires is told.
func TestExpiryIsShown(t *testing.T) {
	clock := leveret.NewManualClock(time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC))
	b, s := newSite(t, leveret.WithClock(clock))
	_, err := b.DeclareQueue("q", leveret.QueueConfig{})
	require.NoError(t, err)
	_, err = b.Publish("", "q", leveret.Message{Properties: &leveret.Properties{Expiration: "60000"}})
	require.NoError(t, err)
	assert.Contains(t, words(s.get(messages("q"))), "Expires 2030-01-02 03:05:05 UTC")
}
