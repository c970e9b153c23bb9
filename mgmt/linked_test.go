package mgmt_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
)

// What the live brokers answer to a browser that follows a link to the definitions: under which name they are kept, who asks (3.10),
// and what HEAD has (4.3).
func TestLinkToDefinitions(t *testing.T) {
	type seen struct {
		status            int
		disposition, kind string
	}
	const js = "application/json"
	named := func(name string) seen { return seen{200, "attachment; filename=" + name, js} }
	plain, unreadable, crashed, unnamed := seen{200, "", js}, seen{400, "", ""}, seen{500, "", ""}, seen{401, "", ""}
	const guest, nobody = "Z3Vlc3Q6Z3Vlc3Q=", "bm9wZTpub3Bl" // guest:guest, nope:nope
	for _, c := range []struct {
		method, path string
		loggedIn     bool
		want, old    seen
	}{
		{"GET", "definitions?download=a.json", true, named("a.json"), named("a.json")},
		{"GET", "definitions/%2F?download=a", true, named("a"), named("a")},
		{"GET", "definitions/nope?download=a", true, seen{400, "", js}, seen{400, "", js}},
		{"GET", "definitions?download=!%23$%25%26'*%2B-.^_`|~", true, named("!#$%&'*+-.^_`|~"), named("!#$%&'*+-.^_`|~")},
		{"GET", "definitions?download=a%20b", true, unreadable, named("a b")},
		{"GET", "definitions?download=a/b", true, unreadable, named("a/b")},
		{"GET", "definitions?download=", true, unreadable, named("")},
		{"GET", "definitions?download", true, unreadable, crashed},
		{"GET", "definitions?download=a&download=b", true, unreadable, named("a")},
		{"GET", "definitions?Download=a", true, plain, plain},
		{"GET", "queues?download=a", true, plain, plain},
		{"HEAD", "definitions", true, seen{200, "", ""}, plain},
		{"HEAD", "definitions?download=a", true, seen{200, "attachment; filename=a", ""}, named("a")},

		{"GET", "definitions?auth=" + guest, false, unnamed, plain},
		{"GET", "definitions/%2F?auth=" + guest + "&download=a", false, unnamed, named("a")},
		{"GET", "definitions?auth=" + nobody, true, plain, seen{401, "", js}},
		{"GET", "definitions?auth=x", true, plain, crashed},
		{"GET", "definitions?auth", true, plain, crashed},
		{"GET", "definitions?auth=Z3Vlc3Q=", true, plain, crashed}, // guest
		{"GET", "definitions?=x", false, unnamed, unreadable},
		{"GET", "overview?auth=" + guest, false, unnamed, unnamed},
		{"GET", "overview?auth=x", true, plain, plain},
	} {
		for profile, want := range map[leveret.Profile]seen{leveret.RabbitMQ43: c.want, leveret.RabbitMQ310: c.old} {
			b := leveret.New(leveret.WithProfile(profile))
			r := httptest.NewRequest(c.method, "/api/"+c.path, nil)
			r.RemoteAddr = "127.0.0.1:1" // guest may log in from here only
			if c.loggedIn {
				r.SetBasicAuth("guest", "guest")
			}
			w := httptest.NewRecorder()
			mgmt.Handler(b, mgmt.Config{}).ServeHTTP(w, r)
			h := w.Result().Header
			assert.Equal(t, want, seen{w.Code, h.Get("Content-Disposition"), h.Get("Content-Type")}, "%s %s %s", profile.Version(), c.method, c.path)
			if c.method == http.MethodHead && profile == leveret.RabbitMQ43 {
				assert.Equal(t, "0", h.Get("Content-Length"), c.path)
			}
			b.Close()
		}
	}
}
