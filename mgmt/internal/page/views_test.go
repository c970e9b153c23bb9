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

var views = []string{"/", "/queues", "/exchanges", "/bindings", "/connections", "/channels", "/consumers", "/policies", "/policy", "/topology", "/journeys"}

// fill makes something for each list to show.
func fill(t *testing.T, b *leveret.Broker) {
	_, err := b.DeclareExchange("dlx", leveret.Topic, leveret.ExchangeConfig{Durable: true})
	require.NoError(t, err)
	_, err = b.DeclareQueue("orders", leveret.QueueConfig{Durable: true, Arguments: leveret.Table{
		leveret.ArgDeadLetterExchange: "dlx", leveret.ArgMessageTTL: time.Minute}})
	require.NoError(t, err)
	_, err = b.DeclareQueue("parked", leveret.QueueConfig{Durable: true, Arguments: leveret.Table{leveret.ArgQueueType: leveret.QueueTypeQuorum}})
	require.NoError(t, err)
	require.NoError(t, b.BindQueue("parked", "dlx", "#", nil))
	require.NoError(t, b.SetPolicy(leveret.Policy{Name: "limit", Pattern: "^orders", ApplyTo: leveret.ApplyToQueues,
		Definition: leveret.Table{"max-length": 2, "overflow": "reject-publish"}}))
	require.NoError(t, b.SetOperatorPolicy(leveret.Policy{Name: "guard", Pattern: "^orders", ApplyTo: leveret.ApplyToQueues,
		Definition: leveret.Table{"expires": 60000}}))
	for range 3 {
		_, err = b.Publish("", "orders", leveret.Message{Body: []byte("job")})
		require.NoError(t, err)
	}
}

// What the views show of a broker, word for word.
func TestViews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, s := newSite(t)
		fill(t, b)
		conn, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Name: "client"})
		require.NoError(t, err)
		ch, err := conn.Channel()
		require.NoError(t, err)
		_, err = ch.Consume("orders", leveret.ConsumeConfig{Tag: "worker", Prefetch: 1})
		require.NoError(t, err)
		s.get("/")
		time.Sleep(30 * time.Second) // the figures of thirty seconds are a plot
		for name, path := range map[string]string{"overview": "/", "queues": "/queues", "exchanges": "/exchanges", "bindings": "/bindings",
			"connections": "/connections", "channels": "/channels", "consumers": "/consumers", "policies": "/policies",
			"queue": queue("orders"), "quorum": queue("parked"), "exchange": "/exchange?vhost=%2F&name=dlx", "default": "/exchange?vhost=%2F&name="} {
			golden.Equal(t, name+".html", main.FindString(s.get(path))+"\n")
		}
	})
}

// Settings tell where they come from.
func TestSettings(t *testing.T) {
	b, s := newSite(t)
	fill(t, b)
	page := words(s.get(queue("orders")))
	for _, want := range []string{"message-ttl 60000 argument", "max-length 2 policy limit", "expires 60000 operator policy guard",
		"overflow reject-publish policy limit", "dead-letter-exchange dlx argument"} {
		assert.Contains(t, page, want)
	}
	assert.Contains(t, words(s.get(queue("parked"))), "delivery-limit 20 default")
}

// Lists are sorted, filtered and paged by the API.
func TestLists(t *testing.T) {
	b, s := newSite(t)
	for i := range 150 {
		_, err := b.DeclareQueue("q"+string(rune('a'+i/26))+string(rune('a'+i%26)), leveret.QueueConfig{})
		require.NoError(t, err)
	}
	_, err := b.CreateVHost("other")
	require.NoError(t, err)
	first := s.get("/queues")
	assert.Contains(t, words(first), "Queues 150")
	assert.Len(t, links(first, "/queue?"), 100)
	assert.Len(t, links(s.get("/queues?page=2"), "/queue?"), 50)
	assert.Equal(t, []string{queue("qab"), queue("qbb")}, reorder(links(s.get("/queues?name=b&sort=name&sort_reverse=true"), "/queue?"), "ab", "bb"))
	assert.Contains(t, words(s.get("/queues?vhost=other")), "There are none.")
	missing := s.send("/queues?vhost=nowhere", nil)
	assert.Equal(t, http.StatusNotFound, missing.Code)
	assert.Equal(t, http.StatusBadRequest, s.send("/queues?page=9", nil).Code)
	assert.Equal(t, http.StatusNotFound, s.send("/nothing", nil).Code)
	assert.Equal(t, http.StatusNotFound, s.send(queue("nothing"), nil).Code)
}

// reorder returns the URLs that end so, in the order of the ends.
func reorder(urls []string, ends ...string) (some []string) {
	for _, end := range ends {
		for _, u := range urls {
			if strings.Contains(u, "name=q"+end+"&") {
				some = append(some, u)
			}
		}
	}
	return some
}

// Users see what the API lets them see.
func TestLogin(t *testing.T) {
	b, s := newSite(t)
	fill(t, b)
	_, err := b.CreateVHost("other")
	require.NoError(t, err)
	for user, tag := range map[string]string{"none": "", "man": "management"} {
		require.NoError(t, b.AddUser(user, user, tag))
	}
	nobody := func(r *http.Request) { r.Header.Del("Authorization") }
	for _, change := range []func(*http.Request){nobody, as("unknown"), as("none"),
		func(r *http.Request) { r.SetBasicAuth("guest", "wrong") }, func(r *http.Request) { r.RemoteAddr = "10.1.2.3:1" }} {
		for _, path := range append([]string{queue("orders"), "/nothing"}, views...) {
			w := s.send(path, nil, change)
			assert.Equal(t, http.StatusUnauthorized, w.Code, path)
			assert.Contains(t, w.Header().Get("WWW-Authenticate"), "Basic", "the browser asks again")
			assert.NotContains(t, w.Body.String(), "orders")
		}
	}
	assert.NotContains(t, s.get("/queues", as("man")), "orders", "not a member of the virtual host")
	assert.Equal(t, http.StatusNotFound, s.send(queue("orders"), nil, as("man")).Code)
	require.NoError(t, b.SetPermissions("man", leveret.Permissions{}))
	assert.Contains(t, s.get("/queues", as("man")), "orders")
	assert.Equal(t, http.StatusOK, s.send(queue("orders"), nil, as("man")).Code)
}

// Nothing comes from elsewhere, and nothing stands in the HTML that the policy would not run.
func TestSelfContained(t *testing.T) {
	b, s := newSite(t)
	fill(t, b)
	for _, path := range append([]string{queue("orders"), messages("orders"), "/exchange?vhost=%2F&name=dlx", "/nothing"}, views...) {
		w := s.send(path, nil)
		page := w.Body.String()
		markup := strings.Join(tags.FindAllString(page, -1), "\n")
		for _, u := range links(page, "") {
			assert.True(t, u == "" || u[0] == '/' && (len(u) == 1 || u[1] != '/') || strings.HasPrefix(u, "#"), "%s: %s", path, u)
		}
		for _, forbidden := range []string{"<style", " style=", " onclick", "javascript:", "hx-on"} {
			assert.NotContains(t, markup, forbidden, path)
		}
		assert.Equal(t, 3, strings.Count(page, "<script"))
		policy := w.Header().Get("Content-Security-Policy")
		assert.Contains(t, policy, "default-src 'none'")
		assert.NotContains(t, policy, "unsafe")
		assert.Equal(t, "no-store", w.Header().Get("Cache-Control"))
	}
	for path, kind := range map[string]string{"htmx.min.js": "text/javascript", "sse.min.js": "text/javascript", "page.js": "text/javascript",
		"page.css": "text/css", "icon.svg": "image/svg+xml"} {
		w := s.send("/assets/"+path, nil)
		assert.Equal(t, http.StatusOK, w.Code)
		assert.Contains(t, w.Header().Get("Content-Type"), kind)
		tag := w.Header().Get("ETag")
		assert.Equal(t, http.StatusNotModified, s.send("/assets/"+path, nil, func(r *http.Request) { r.Header.Set("If-None-Match", tag) }).Code)
	}
	assert.Equal(t, http.StatusNotFound, s.send("/assets/htmx.LICENSE", nil).Code)
}

// hostile are names that clients may choose.
var hostile = []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onclick='alert(1)`, "%2f", "a/b", "..", "?a=b&c#d",
	"\xff\xfe", "a\r\nevent: x\rdata: y\n\nb", "javascript:alert(1)", "{{.}}", "</main>", " ", "ü\u202e"}

// Names stay text, and links lead to what has the name.
func TestHostileNames(t *testing.T) {
	b, s := newSite(t)
	for _, name := range hostile {
		v, err := b.CreateVHost(name)
		require.NoError(t, err)
		require.NoError(t, v.SetPermissions("guest", leveret.Permissions{Configure: ".*", Write: ".*", Read: ".*"}))
		q, err := v.DeclareQueue(name, leveret.QueueConfig{Arguments: leveret.Table{leveret.ArgDeadLetterExchange: name}})
		require.NoError(t, err)
		x, err := v.DeclareExchange(name, leveret.Topic, leveret.ExchangeConfig{})
		require.NoError(t, err)
		require.NoError(t, q.Bind(x.Name(), name, leveret.Table{name: name}))
		require.NoError(t, v.SetPolicy(leveret.Policy{Name: name, Pattern: ".", Definition: leveret.Table{"dead-letter-routing-key": name}}))
		conn, err := b.Open(leveret.ConnConfig{User: "guest", VHost: name, Name: name, ClientProperties: leveret.Table{"connection_name": name}})
		require.NoError(t, err)
		ch, err := conn.Channel()
		require.NoError(t, err)
		_, err = ch.Consume(q.Name(), leveret.ConsumeConfig{Tag: name})
		require.NoError(t, err)
	}
	for _, path := range views {
		assertHarmless(t, path, s.get(path))
	}
	for kind, path := range map[string]string{"/queue?": "/queues", "/exchange?": "/exchanges"} {
		var found []string
		for _, name := range hostile {
			for _, u := range links(s.get(path+"?"+url.Values{"vhost": {name}}.Encode()), kind) {
				page := s.get(u)
				assertHarmless(t, u, page)
				if kind == "/queue?" {
					assertHarmless(t, u, s.get(strings.Replace(u, "/queue?", "/messages?", 1)))
				}
				parsed, err := url.Parse(u)
				require.NoError(t, err)
				if name := parsed.Query().Get("name"); name != "" && !strings.HasPrefix(name, "amq.") {
					found = append(found, parsed.Query().Get("vhost"))
				}
			}
		}
		assert.ElementsMatch(t, hostile, found)
	}
}

func assertHarmless(t *testing.T, path, page string) {
	for _, bad := range []string{"<script>alert", "<img", " onclick='", `href="javascript:`} {
		assert.NotContains(t, page, bad, path)
	}
	assert.Equal(t, 1, strings.Count(page, "</main>"), path)
}

// A page of another site cannot send forms with the credentials that a browser keeps.
func TestCrossOrigin(t *testing.T) {
	b, s := newSite(t)
	fill(t, b)
	for name, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "http://elsewhere.example"} {
		w := s.send(queue("orders"), url.Values{"do": {"purge"}}, func(r *http.Request) { r.Header.Set(name, value) })
		assert.Equal(t, http.StatusForbidden, w.Code)
	}
	assert.Equal(t, 2, b.Queues()[0].Messages)
	w := s.send("/queues", url.Values{"do": {"nothing"}})
	assert.Equal(t, http.StatusBadRequest, w.Code)
	w = s.send("/queues", nil, func(r *http.Request) { r.Method = "DELETE" })
	assert.Equal(t, http.StatusMethodNotAllowed, w.Code)
}
