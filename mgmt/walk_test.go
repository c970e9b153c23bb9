package mgmt_test

import (
	"encoding/json"
	"flag"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/compared"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	walks    = flag.Int("walks", 0, "how many random walks to compare with the broker at LEVERET_CONFORMANCE_ADMIN; 0: three are played on leveret alone")
	walkSeed = flag.Uint64("walkseed", 0, "the first random walk; 0: chosen at random")
)

const stepsOfWalk = 60

// TestWalks sends random requests to leveret and to a RabbitMQ, and compares what both answer:
//
//	LEVERET_CONFORMANCE_ADMIN=http://localhost:15672 go test ./mgmt -run TestWalks -walks 100
//
// Without one the requests are played on leveret alone: what they leave can be exported, and imported over itself.
func TestWalks(t *testing.T) {
	first := *walkSeed
	if first == 0 {
		first = rand.Uint64N(1 << 32)
	}
	t.Log("walks from seed ", first)
	if _, isLive := liveAPI(t); *walks > 0 && !isLive {
		t.Fatal("-walks needs a broker at LEVERET_CONFORMANCE_ADMIN")
	}
	for _, p := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		live, isLive := liveAPI(t)
		if *walks > 0 && (!isLive || !strings.HasPrefix(live.object("overview")["rabbitmq_version"].(string), release(p))) {
			continue
		}
		for seed := first; seed < first+uint64(max(*walks, 3)); seed++ {
			b := leveret.New(leveret.WithProfile(p))
			ours := side{mgmt.Handler(b, mgmt.Config{NodeName: nodeName}), "http://localhost"}
			if *walks == 0 {
				ours.play(t, seed)
				ours.takesItsExport(t, p, seed)
			} else {
				ours.compare(t, side{remote{}, live.url}, seed)
			}
			b.Close()
		}
	}
}

// A side is a management API that takes part in a walk.
type side struct {
	http.Handler
	url string
}

// remote is the API that a request is addressed to.
type remote struct{}

// ServeHTTP sends the request on.
func (remote) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.RequestURI = ""
	res, err := client.Do(r)
	if err != nil {
		panic(err)
	}
	defer res.Body.Close()
	w.Header().Set("Content-Type", res.Header.Get("Content-Type"))
	w.WriteHeader(res.StatusCode)
	if _, err := io.Copy(w, res.Body); err != nil {
		panic(err)
	}
}

func (s side) send(t *testing.T, r request) result {
	return direct{t, s}.send(r.method, r.path, r.body, func(req *http.Request) {
		u, err := req.URL.Parse(s.url + req.URL.RequestURI())
		require.NoError(t, err)
		req.URL, req.Host = u, ""
		if r.body != "" {
			req.Header.Set("Content-Type", "application/json")
		}
		if name, password, ok := strings.Cut(r.user, ":"); ok {
			req.SetBasicAuth(name, password)
		}
	})
}

// begin makes what a walk begins with.
func (w *walker) begin() (all []request) {
	for _, v := range w.vhosts {
		all = append(all, request{"", "PUT", "vhosts/" + escaped(v), ""})
	}
	for _, u := range w.users {
		tags := w.pick("administrator", "management", "policymaker", "monitoring", "")
		all = append(all, request{"", "PUT", "users/" + escaped(u), `{"password":"pw","tags":"` + tags + `"}`})
		if w.IntN(2) == 0 {
			all = append(all, request{"", "PUT", "permissions/" + escaped(w.vhosts[0]) + "/" + escaped(u), `{"configure":".*","write":"^q","read":".*"}`})
		}
	}
	return all
}

// end takes away what is left of a walk, also that a virtual host is traced: a new one of the name would be, too.
func (w *walker) end() (all []request) {
	for _, v := range w.vhosts {
		path := "vhosts/" + escaped(v)
		all = append(all, request{"", "PUT", path, `{"tracing":false}`}, request{"", "DELETE", path, ""})
	}
	for _, u := range w.users {
		all = append(all, request{"", "DELETE", "users/" + escaped(u), ""})
	}
	return append(all, request{"", "DELETE", "global-parameters/" + escaped(w.vhosts[0]), ""})
}

func escaped(name string) string { return strings.NewReplacer("/", "%2F", " ", "%20").Replace(name) }

// steps are the requests of a walk.
func (w *walker) steps() []request {
	all := w.begin()
	for range stepsOfWalk {
		all = append(all, w.change(), w.look(), w.look())
	}
	return all
}

func (s side) play(t *testing.T, seed uint64) {
	for _, r := range newWalker(seed).steps() {
		s.send(t, r)
	}
}

// takesItsExport imports what a walk has left where it is: nothing changes.
func (s side) takesItsExport(t *testing.T, p leveret.Profile, seed uint64) {
	export := request{"", "GET", "definitions", ""}
	before := s.send(t, export)
	data, err := json.Marshal(before.body)
	require.NoError(t, err)
	r := s.send(t, request{"", "POST", "definitions", string(data)})
	require.Equal(t, http.StatusNoContent, r.status, "%s, walk %d: %v", p, seed, r.body)
	assert.Equal(t, asCompared(before.body, false), asCompared(s.send(t, export).body, false), "%s, walk %d", p, seed)
}

// compare plays a walk on both sides, up to the first answers that differ.
func (s side) compare(t *testing.T, rabbit side, seed uint64) {
	w := newWalker(seed)
	defer func() {
		for _, r := range w.end() {
			rabbit.send(t, r)
		}
	}()
	for i, r := range w.steps() {
		want, got := rabbit.send(t, r), s.send(t, r)
		ordered := (strings.Contains(r.path, "sort=") || strings.Contains(r.path, "page=")) && !strings.HasPrefix(r.path, "definitions")
		if want.status != got.status || !assert.ObjectsAreEqual(asCompared(want.body, ordered), asCompared(got.body, ordered)) {
			t.Errorf("walk %d, request %d, %s:\nRabbitMQ %d %v\nleveret  %d %v", seed, i, r, want.status, asCompared(want.body, ordered), got.status,
				asCompared(got.body, ordered))
			return
		}
	}
}

// asCompared is an answer as it is compared. The sides are two nodes.
func asCompared(v any, ordered bool) any { return compared.JSON(v, ordered, "node") }
