package mgmt_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What programs that only read the API find there. Each test decodes the fields that the program reads, and no other, into
// the types that the program has for them.

// decode decodes the answer to a GET as guest.
func (d direct) decode(path string, to any) {
	req := httptest.NewRequest("GET", "/api/"+path, nil)
	req.RemoteAddr = "127.0.0.1:50000"
	req.SetBasicAuth("guest", "guest")
	rec := httptest.NewRecorder()
	d.ServeHTTP(rec, req)
	require.Equal(d.t, http.StatusOK, rec.Code, rec.Body.String())
	require.NoError(d.t, json.Unmarshal(rec.Body.Bytes(), to))
}

// workTwoEachSecond publishes four messages a second to a queue and takes two of them, one of which is not acknowledged.
func workTwoEachSecond(t *testing.T, b *leveret.Broker, queue string, seconds int) {
	q, err := b.Queue(queue)
	require.NoError(t, err)
	for range seconds {
		time.Sleep(500 * time.Millisecond)
		for range 4 {
			_, err := b.Publish("", queue, leveret.Message{Body: []byte("task")})
			require.NoError(t, err)
		}
		for _, ack := range []bool{true, false} {
			d, ok, err := q.Get()
			require.NoError(t, err)
			require.True(t, ok)
			if ack {
				require.NoError(t, d.Ack())
			}
		}
		time.Sleep(500 * time.Millisecond)
	}
}

// KEDA's scaler for RabbitMQ reads of a queue, or of the queues that a pattern finds: name, messages, messages_ready,
// messages_unacknowledged, message_stats.publish_details.rate and message_stats.deliver_get_details.rate; and of the page,
// items and page_count, of which more than 1 is an error for it. A queue without message_stats has rates of 0 for it.
func TestKEDA(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := leveret.New()
		defer b.Close()
		api := direct{t, mgmt.Handler(b)}
		type rate struct {
			Rate float64 `json:"rate"`
		}
		type queue struct {
			Messages       int `json:"messages"`
			Ready          int `json:"messages_ready"`
			Unacknowledged int `json:"messages_unacknowledged"`
			Stats          struct {
				Publish    rate `json:"publish_details"`
				DeliverGet rate `json:"deliver_get_details"`
			} `json:"message_stats"`
			Name string `json:"name"`
		}
		type page struct {
			Items []queue `json:"items"`
			Pages int     `json:"page_count"`
		}
		look := func() (one queue, found page) {
			api.decode("queues/%2F/work.1", &one)
			api.decode("queues/%2F?page=1&use_regex=true&pagination=false&name=%5Ework%5C.&page_size=100", &found)
			return one, found
		}
		for _, name := range []string{"work.1", "work.2", "other"} {
			_, err := b.DeclareQueue(name, leveret.QueueConfig{})
			require.NoError(t, err)
		}
		one, found := look()
		assert.Equal(t, queue{Name: "work.1"}, one)
		assert.Equal(t, page{Items: []queue{{Name: "work.1"}, {Name: "work.2"}}, Pages: 1}, found)

		workTwoEachSecond(t, b, "work.1", 10)
		busy := queue{Name: "work.1", Messages: 30, Ready: 20, Unacknowledged: 10}
		busy.Stats.Publish.Rate, busy.Stats.DeliverGet.Rate = 4, 2
		one, found = look()
		assert.Equal(t, busy, one)
		assert.Equal(t, page{Items: []queue{busy, {Name: "work.2"}}, Pages: 1}, found)

		var many page
		api.decode("queues/%2F?page=1&use_regex=true&pagination=false&name=work&page_size=1", &many)
		assert.Equal(t, 2, many.Pages)
	})
}

// Flower, Celery's monitor, reads of the list of queues: name, messages, messages_unacknowledged, messages_ready, consumers
// and idle_since, and shows N/A for one that is not there. A queue in use has no idle_since, and a list of 4.3 has none at
// all.
func TestFlower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := leveret.New(leveret.WithProfile(leveret.RabbitMQ310))
		defer b.Close()
		api := direct{t, mgmt.Handler(b)}
		q, err := b.DeclareQueue("celery", leveret.QueueConfig{})
		require.NoError(t, err)
		api.decode("queues/%2F", new(any))
		workTwoEachSecond(t, b, "celery", 2)
		time.Sleep(300 * time.Millisecond)
		c, err := q.Consume(leveret.ConsumeConfig{Tag: "worker", Prefetch: 1})
		require.NoError(t, err)
		defer c.Cancel()
		type queue struct {
			Name           string  `json:"name"`
			Messages       *int    `json:"messages"`
			Unacknowledged *int    `json:"messages_unacknowledged"`
			Ready          *int    `json:"messages_ready"`
			Consumers      *int    `json:"consumers"`
			IdleSince      *string `json:"idle_since"`
		}
		look := func() queue {
			var queues []queue
			api.decode("queues/%2F", &queues)
			require.Len(t, queues, 1)
			return queues[0]
		}
		busy := look()
		require.NotContains(t, []*int{busy.Messages, busy.Unacknowledged, busy.Ready, busy.Consumers}, (*int)(nil))
		assert.Equal(t, []any{"celery", 6, 3, 3, 1}, []any{busy.Name, *busy.Messages, *busy.Unacknowledged, *busy.Ready, *busy.Consumers})
		assert.Nil(t, busy.IdleSince, "something has happened since the figures of a second ago")

		time.Sleep(30 * time.Second)
		idle := look()
		require.NotNil(t, idle.IdleSince)
		since, err := time.Parse(time.RFC3339, *idle.IdleSince)
		require.NoError(t, err)
		assert.Equal(t, 29300*time.Millisecond, time.Since(since), "the figures are taken each second")
	})
}
