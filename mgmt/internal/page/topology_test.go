package page_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/golden"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// feed makes a topology with a way for dead letters and one for losses, and sends it messages.
func feed(t *testing.T, b *leveret.Broker) func(n int) {
	for _, x := range []string{"in", "dlx"} {
		_, err := b.DeclareExchange(x, leveret.Fanout, leveret.ExchangeConfig{})
		require.NoError(t, err)
	}
	for name, args := range map[string]leveret.Table{"work": {leveret.ArgDeadLetterExchange: "dlx"}, "parked": nil, "short": {leveret.ArgMaxLength: 2}} {
		_, err := b.DeclareQueue(name, leveret.QueueConfig{Arguments: args})
		require.NoError(t, err)
	}
	require.NoError(t, b.BindQueue("work", "in", "", nil))
	require.NoError(t, b.BindQueue("short", "in", "", nil))
	require.NoError(t, b.BindQueue("parked", "dlx", "", nil))
	work, err := b.Queue("work")
	require.NoError(t, err)
	_, err = work.Consume(leveret.ConsumeConfig{Tag: "worker", Handler: func(d *leveret.Delivery) { d.Reject(false) }})
	require.NoError(t, err)
	return func(n int) {
		for range n {
			_, err := b.Publish("in", "", leveret.Message{Body: []byte("job")})
			require.NoError(t, err)
		}
	}
}

// The picture has what goes along the arrows, and what was lost.
func TestTopology(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := newSite(t)
		publish := feed(t, b)
		s.get("/topology") // begins to count
		for range 10 {
			publish(30)
			time.Sleep(time.Second)
		}
		_, err := b.Publish("in", "", leveret.Message{Mandatory: true})
		require.NoError(t, err)
		_, err = b.DeclareExchange("nowhere", leveret.Fanout, leveret.ExchangeConfig{})
		require.NoError(t, err)
		_, err = b.Publish("nowhere", "", leveret.Message{})
		require.NoError(t, err)
		page := s.get("/topology")
		golden.Equal(t, "topology.html", main.FindString(page)+"\n")
		assert.Equal(t, 2*4, strings.Count(words(page), "30/s"), "in to work and to short, work to dlx, dlx to parked; each as a tooltip, too")
		assert.Contains(t, words(page), "lost 299 no dead letter exchange")
		assert.Contains(t, words(page), "lost 1 unroutable")
		assert.NotContains(t, page, "<style")
		time.Sleep(10 * time.Second)
		assert.NotContains(t, words(s.get("/topology")), "/s")
	})
}

// Nobody watches the broker a minute after the last look.
func TestTopologyIsWatchedWhileSomebodyLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := newSite(t)
		numbered := func() bool { // a message has a number while somebody watches
			q, err := b.Queue("parked")
			require.NoError(t, err)
			_, err = q.Purge()
			require.NoError(t, err)
			var seen uint64
			_, err = b.Publish("", "parked", leveret.Message{})
			require.NoError(t, err)
			stop := b.Watch(leveret.Events{Dropped: func(e leveret.DroppedEvent) { seen = e.Message }})
			defer stop()
			_, err = q.Purge()
			require.NoError(t, err)
			return seen != 0
		}
		feed(t, b)
		before := numbered()
		s.get("/topology")
		time.Sleep(50 * time.Second)
		s.get("/topology")
		time.Sleep(50 * time.Second)
		assert.True(t, numbered())
		time.Sleep(11 * time.Second)
		assert.Equal(t, before, numbered())
		s.get("/topology")
		assert.True(t, numbered(), "it begins again")
	})
}

func TestTopologyOfAVirtualHost(t *testing.T) {
	b, s := newSite(t)
	for _, name := range hostile {
		v, err := b.CreateVHost(name)
		require.NoError(t, err)
		_, err = v.DeclareQueue("q"+name, leveret.QueueConfig{Arguments: leveret.Table{leveret.ArgDeadLetterExchange: name}})
		require.NoError(t, err)
	}
	urls := links(s.get("/topology"), "/topology?vhost=")
	assert.Len(t, urls, len(hostile)+1)
	for _, u := range urls {
		assertHarmless(t, u, s.get(u))
	}
	assert.Equal(t, http.StatusNotFound, s.send("/topology?vhost=unknown", nil).Code)
	require.NoError(t, b.AddUser("man", "man", "management"))
	assert.Equal(t, http.StatusNotFound, s.send("/topology", nil, as("man")).Code, "not a member")
	for i := range 300 {
		_, err := b.DeclareQueue(strings.Repeat("q", i%200+1)+string(rune('a'+i/200)), leveret.QueueConfig{})
		require.NoError(t, err)
	}
	assert.Equal(t, http.StatusConflict, s.send("/topology", nil).Code)
}

// Journeys are recorded when somebody wants it, and tell all that has happened to a message.
func TestJourneys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := newSite(t)
		publish := feed(t, b)
		publish(1)
		assert.Contains(t, words(s.get("/journeys")), "Nothing is recorded.")
		assert.Contains(t, words(s.post("/journeys", url.Values{"do": {"record"}})), "recorded from now on")
		publish(3)
		list := s.get("/journeys")
		journeys, losses, _ := strings.Cut(list, "<h2>Losses</h2>")
		urls := links(journeys, "/journey?")
		require.Len(t, urls, 3)
		assert.Subset(t, urls, links(losses, "/journey?"), "a loss leads to its journey")
		assert.Contains(t, words(list), "1 in a queue, 1 lost")
		assert.Contains(t, words(list), "Losses Lost Virtual host In Routing key Cause It died of 00:00:00.000 / short")
		golden.Equal(t, "journeys.html", main.FindString(list)+"\n")
		one := s.get(urls[2])
		golden.Equal(t, "journey.html", main.FindString(one)+"\n")
		assert.Contains(t, words(one), "job")
		assertHarmless(t, urls[0], one)
		s.post("/journeys", url.Values{"do": {"stop"}})
		publish(1)
		journeys, _, _ = strings.Cut(s.get("/journeys"), "<h2>Losses</h2>")
		assert.Len(t, links(journeys, "/journey?"), 3)
		assert.Equal(t, http.StatusNotFound, s.send("/journey?message=x", nil).Code)
	})
}

// A recording that nobody looks at ends.
func TestRecordingEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := newSite(t)
		publish := feed(t, b)
		s.post("/journeys", url.Values{"do": {"record"}})
		s.post("/journeys", url.Values{"do": {"record"}})
		publish(1)
		time.Sleep(9 * time.Minute)
		assert.Len(t, links(s.get("/journeys"), "/journey?"), 1)
		time.Sleep(9 * time.Minute)
		publish(1)
		assert.Len(t, links(s.get("/journeys"), "/journey?"), 2)
		time.Sleep(11 * time.Minute)
		publish(1)
		page := s.get("/journeys")
		assert.Len(t, links(page, "/journey?"), 2)
		assert.Contains(t, page, `value="record"`)
	})
}

func TestJourneysAreForAdministrators(t *testing.T) {
	b, s := newSite(t)
	require.NoError(t, b.AddUser("mon", "mon", "monitoring"))
	require.NoError(t, b.SetPermissions("mon", leveret.Permissions{Configure: ".*", Write: ".*", Read: ".*"}))
	for _, path := range []string{"/journeys", "/journey?message=1"} {
		assert.Equal(t, http.StatusForbidden, s.send(path, nil, as("mon")).Code)
	}
	for _, do := range []string{"record", "stop"} {
		assert.Equal(t, http.StatusForbidden, s.send("/journeys", url.Values{"do": {do}}, as("mon")).Code)
	}
	feed(t, b)(1)
	assert.Contains(t, words(s.get("/journeys")), "Nothing is recorded.")
}
