package mgmt_test

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/require"
)

// What the management API and the metrics cost, and how long a large list takes. Each case runs once:
//
//	go test -run '^$' -bench 'Scraped|QueuePages|Lists' -benchtime 1x -timeout 20m ./internal/bench/mgmt

// How BenchmarkScraped measures: rounds of two slices, one with questions and one without.
const (
	rounds       = 24
	slice        = 3 * time.Second
	scrapeEvery  = time.Second
	scrapedPairs = 4
	bystanders   = 96 // more queues, each with a consumer, that the answers tell of
)

// BenchmarkScraped has publishers and consumers at work all the time, and somebody who asks the management API and the
// metrics every second in every other slice of time. ratio is the median throughput of the slices with questions by that of
// those without, which have a broker of their own, in the same run; which slice of a round is the first takes turns. The
// load is four producers and four consumers on the Go API, so that an answer has to take its processor from them.
//
// When somebody has asked, the recorder of rates goes on for a minute. So the slices without questions have a broker of their
// own, without a handler, which stands still in the meantime.
func BenchmarkScraped(b *testing.B) {
	for _, c := range []struct {
		name  string
		paths []string
	}{
		{"metrics", []string{"/metrics"}},
		{"per-object", []string{"/metrics/per-object"}},
		{"api", []string{"/api/overview?lengths_age=60&lengths_incr=5&msg_rates_age=60&msg_rates_incr=5", "/api/queues?page=1&page_size=100"}},
		{"all", []string{"/metrics", "/metrics/per-object", "/api/overview", "/api/queues", "/api/connections", "/api/channels"}},
		{"nothing", nil}, // how much two brokers without questions differ
	} {
		b.Run(c.name, func(b *testing.B) {
			for range b.N {
				scraped(b, c.paths)
			}
		})
	}
}

func scraped(b *testing.B, paths []string) {
	asked, left := newLoad(b), newLoad(b)
	srv := httptest.NewServer(mgmt.Handler(asked.br))
	defer srv.Close()
	var with, without []float64
	for round := range rounds {
		for half := range 2 {
			if (round+half)%2 == 0 {
				stop := scrape(b, srv.URL, paths)
				with = append(with, asked.run())
				stop()
			} else {
				without = append(without, left.run())
			}
		}
	}
	b.ReportMetric(median(with)/median(without), "ratio")
	b.ReportMetric(median(without), "msgs/s-off")
	b.ReportMetric(median(with), "msgs/s-on")
	b.ReportMetric(0, "ns/op")
}

// scrape asks for the paths at once and then every second, until stop is called.
func scrape(b *testing.B, url string, paths []string) (stop func()) {
	end := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		tick := time.NewTicker(scrapeEvery)
		defer tick.Stop()
		for {
			for _, path := range paths {
				answer(b, url+path)
			}
			select {
			case <-tick.C:
			case <-end:
				return
			}
		}
	})
	return func() { close(end); done.Wait() }
}

// answer asks as guest and returns how long the whole answer took.
func answer(b *testing.B, url string) time.Duration {
	req, err := http.NewRequest("GET", url, nil)
	require.NoError(b, err)
	req.SetBasicAuth("guest", "guest")
	began := time.Now()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Error(err)
		return 0
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
		b.Error(url, res.Status, err)
	}
	return time.Since(began)
}

// A scrapedLoad is a broker on which pairs of a producer and a consumer work when they are told to.
type scrapedLoad struct {
	b  *testing.B
	br *leveret.Broker
	qs []*leveret.Queue
}

func newLoad(b *testing.B) *scrapedLoad {
	l := &scrapedLoad{b: b, br: open(b)}
	_, err := l.br.DeclareExchange("x", leveret.Direct, leveret.ExchangeConfig{})
	require.NoError(b, err)
	for i := range scrapedPairs {
		q := declare(b, l.br, fmt.Sprintf("queue-%d", i), nil)
		require.NoError(b, l.br.BindQueue(q.Name(), "x", q.Name(), nil))
		l.qs = append(l.qs, q)
	}
	conn, err := l.br.Connect("guest", "guest", "/")
	require.NoError(b, err)
	for i := range bystanders {
		q := declare(b, l.br, fmt.Sprintf("bystander-%d", i), nil)
		ch, err := conn.Channel()
		require.NoError(b, err)
		_, err = ch.Consume(q.Name(), leveret.ConsumeConfig{Handler: func(*leveret.Delivery) {}})
		require.NoError(b, err)
	}
	return l
}

// run lets the pairs work for a slice of time and returns how many messages a second went through.
func (l *scrapedLoad) run() float64 {
	var all sync.WaitGroup
	var messages atomic.Int64
	began := time.Now()
	for _, q := range l.qs {
		all.Go(func() { messages.Add(l.pair(q, began.Add(slice))) })
	}
	all.Wait()
	return float64(messages.Load()) / time.Since(began).Seconds()
}

// pair has a producer and a consumer at work on a queue until an hour has come, and returns how many messages they have
// moved. The producer is at most 256 messages ahead.
func (l *scrapedLoad) pair(q *leveret.Queue, until time.Time) (moved int64) {
	c, err := q.Consume(leveret.ConsumeConfig{})
	require.NoError(l.b, err)
	ahead := make(chan struct{}, 256)
	go func() {
		defer close(ahead)
		for time.Now().Before(until) {
			publish(l.b, l.br, "x", q.Name())
			ahead <- struct{}{}
		}
	}()
	for range ahead {
		d, err := c.Receive(l.b.Context())
		require.NoError(l.b, err)
		require.NoError(l.b, d.Ack())
		moved++
	}
	require.NoError(l.b, c.Cancel())
	return moved
}

func median(of []float64) float64 {
	s := slices.Sorted(slices.Values(of))
	if len(s) == 0 {
		return math.NaN()
	}
	return (s[len(s)/2] + s[(len(s)-1)/2]) / 2
}

// BenchmarkQueuePages lists 10,000 queues over HTTP, page by page: each page of a hundred once, with statistics, while the
// recorder of rates goes on. Every tenth queue has messages, and a client that publishes and takes one now and then.
func BenchmarkQueuePages(b *testing.B) {
	const queues, size = 10_000, 100
	br := open(b)
	qs := make([]*leveret.Queue, queues)
	for i := range qs {
		qs[i] = declare(b, br, fmt.Sprintf("q%05d", i), leveret.Table{leveret.ArgMaxLength: 1000})
	}
	fill := func() {
		for i := 0; i < queues; i += 10 {
			for range i % 7 {
				publish(b, br, "", qs[i].Name())
			}
			publish(b, br, "", qs[i].Name())
			getAck(b, qs[i])
		}
	}
	fill()
	srv := httptest.NewServer(mgmt.Handler(br))
	defer srv.Close()
	for _, query := range []string{
		"queues?", "queues?sort=name&sort_reverse=true", "queues?sort=messages&sort_reverse=true", "queues?sort=messages_ready", "queues?sort=type",
		"queues?sort=message_stats.publish_details.rate", "queues?sort=consumers", "queues?sort=state", "queues?sort=policy", "queues?sort=memory",
		"queues?name=q0&sort=name", "queues?name=q.*7$&use_regex=true", "queues/detailed?", "queues/detailed?sort=messages",
		"queues/detailed?sort=message_stats.publish_details.rate", "queues?disable_stats=true&enable_queue_totals=true&sort=messages",
	} {
		b.Run(query, func(b *testing.B) {
			var took []float64
			for range b.N {
				pages := queues / size
				if query == "queues?name=q.*7$&use_regex=true" {
					pages /= 10 // what the name leaves
				}
				for page := range pages {
					d := answer(b, fmt.Sprintf("%s/api/%s&page_size=%d&page=%d", srv.URL, query, size, page+1))
					took = append(took, d.Seconds()*1e3)
				}
			}
			b.ReportMetric(median(took), "median-ms")
			b.ReportMetric(slices.Max(took), "longest-ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkLists asks for lists of 10,000 items: of queues, of one page of them, and of their bindings.
func BenchmarkLists(b *testing.B) {
	br := leveret.New()
	defer br.Close()
	for i := range 10_000 {
		_, err := br.DeclareQueue(fmt.Sprintf("queue-%05d", i*7919%10_000), leveret.QueueConfig{Durable: true})
		require.NoError(b, err)
	}
	handler := mgmt.Handler(br)
	for name, path := range map[string]string{"queues": "queues", "page": "queues?page=1", "bindings": "bindings"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				r := httptest.NewRequest(http.MethodGet, "/api/"+path, nil)
				r.RemoteAddr = "127.0.0.1:1"
				r.SetBasicAuth("guest", "guest")
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, r)
				require.Equal(b, http.StatusOK, w.Code)
			}
		})
	}
}
