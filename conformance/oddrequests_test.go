package conformance

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/compared"
	"github.com/leveretmq/leveret/mgmt"
)

// TestOddRequests sends a real broker's management API and leveret's short sequences of requests that no client library would send:
// odd methods, paths, queries, headers and bodies. Both must answer each with the same status, headers and body. A sequence that differs
// is sent again, in another virtual host: RabbitMQ tells of some things later than it has done them. At last it is sent while no
// other sequence is: a list of all virtual hosts or connections fails when RabbitMQ is just deleting one of them.
func TestOddRequests(t *testing.T) {
	broker, first := oddSeeds(t, *odd)
	console, ok := broker.console("").(*management)
	if !ok {
		t.Skip("the operator's console is not the management API")
	}
	node, err := nodeOf(console)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var differ []uint64
	slots := make(chan bool, *workers)
	for n := range uint64(*odd) {
		slots <- true
		wg.Go(func() {
			defer func() { <-slots }()
			if err := compareRequests(broker.profile, console.base, node, first+n); err != nil {
				mu.Lock()
				defer mu.Unlock()
				differ = append(differ, first+n)
			}
		})
	}
	wg.Wait()
	for _, seed := range differ {
		if err := compareRequests(broker.profile, console.base, node, seed); err != nil {
			t.Errorf("-seed %d -odd 1: %v", seed, err)
		}
	}
}

// An oddNode is what leveret is told of the real node.
type oddNode struct {
	name, cluster string
	listeners     []mgmt.Listener
}

func nodeOf(m *management) (n oddNode, err error) {
	data, err := m.get("overview")
	if err != nil {
		return n, err
	}
	var overview struct {
		Node      string
		Cluster   string `json:"cluster_name"`
		Listeners []struct {
			Protocol string
			Address  string `json:"ip_address"`
			Port     int
		}
	}
	err = json.Unmarshal(data, &overview)
	for _, l := range overview.Listeners {
		n.listeners = append(n.listeners, mgmt.Listener{Protocol: l.Protocol, Address: l.Address, Port: l.Port})
	}
	n.name, n.cluster = overview.Node, overview.Cluster
	return n, err
}

// compareRequests plays the requests of a seed on both sides.
func compareRequests(p leveret.Profile, rabbit *url.URL, node oddNode, seed uint64) (err error) {
	for try := range oddTries {
		// Each try has names of its own: RabbitMQ deletes a virtual host little by little.
		a := newAsker(seed, fmt.Sprintf("oddreq%d.%d", seed, try), p)
		all := a.requests()
		if err = playRequests(p, rabbit, node, a, all, time.Duration(try)*100*time.Millisecond); err == nil {
			return nil
		}
	}
	return err
}

// playRequests sends the requests to both sides, up to the first that is answered differently. Before each it waits.
func playRequests(p leveret.Profile, rabbit *url.URL, node oddNode, a *asker, all []oddRequest, wait time.Duration) error {
	b := leveret.New(leveret.WithProfile(p))
	defer b.Close()
	own := httptest.NewServer(mgmt.Handler(b, mgmt.Config{NodeName: node.name, Listeners: node.listeners}))
	defer own.Close()
	sides := [2]string{rabbit.Host, strings.TrimPrefix(own.URL, "http://")}
	defer func() {
		for _, r := range a.end() {
			r.send(sides[0])
		}
	}()
	ask("PUT", "cluster-name", fmt.Sprintf(`{"name":%q}`, node.cluster)).send(sides[1])
	for _, r := range a.begin() {
		for _, side := range sides {
			if answer := r.send(side); answer.failed != nil || answer.status >= 300 {
				return fmt.Errorf("preparing: %s: %v", r, answer)
			}
		}
	}
	var before strings.Builder
	for _, r := range all {
		time.Sleep(wait)
		var texts [2]string
		for i, side := range sides {
			texts[i] = r.send(side).text(r)
		}
		fmt.Fprintf(&before, "%s\n", r)
		if texts[0] != texts[1] {
			return fmt.Errorf("\n%sRabbitMQ: %s\nleveret:  %s", &before, lacking(texts[0], texts[1]), lacking(texts[1], texts[0]))
		}
	}
	return nil
}

// lacking returns the first line of a text, and those of its lines that the other text has not.
func lacking(text, other string) string {
	lines := strings.Split(text, "\n")
	there := strings.Split(other, "\n")
	kept := lines[:1]
	for _, line := range lines[1:] {
		if !slices.Contains(there, line) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n          ")
}

// An oddRequest is written as it is.
type oddRequest struct {
	method, target string
	headers        []string // lines
	body           string
	chunked        bool
	whole          bool // the answer has figures, or more than the sequence's own things: its body is not compared
	ordered        bool // the order of lists is compared
}

func (r oddRequest) String() string {
	return fmt.Sprintf("%s %s %q %.300q", r.method, r.target, r.headers, r.body)
}

func (r oddRequest) octets(host string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", r.method, r.target, host)
	for _, line := range r.headers {
		b.WriteString(line + "\r\n")
	}
	switch {
	case r.chunked:
		b.WriteString("Transfer-Encoding: chunked\r\n\r\n")
		for chunk := range slices.Chunk([]byte(r.body), 7) {
			fmt.Fprintf(&b, "%x\r\n%s\r\n", len(chunk), chunk)
		}
		b.WriteString("0\r\n\r\n")
	case r.body != "":
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(r.body), r.body)
	default:
		b.WriteString("\r\n")
	}
	return []byte(b.String())
}

// An oddAnswer is what a side has answered.
type oddAnswer struct {
	status int
	header http.Header
	body   string
	failed error
}

func (r oddRequest) send(host string) (a oddAnswer) {
	nc, err := net.Dial("tcp", host)
	if err != nil {
		return oddAnswer{failed: err}
	}
	defer nc.Close()
	if err := errors.Join(nc.SetDeadline(time.Now().Add(20*time.Second)), writeAll(nc, r.octets(host))); err != nil {
		return oddAnswer{failed: err}
	}
	res, err := http.ReadResponse(bufio.NewReader(nc), &http.Request{Method: r.method})
	if err != nil {
		return oddAnswer{failed: err}
	}
	defer res.Body.Close()
	in := io.Reader(res.Body)
	if res.Header.Get("Content-Encoding") == "gzip" && r.method != http.MethodHead {
		if in, err = gzip.NewReader(res.Body); err != nil {
			return oddAnswer{failed: err}
		}
	}
	body, err := io.ReadAll(in)
	return oddAnswer{res.StatusCode, res.Header, string(body), err}
}

func writeAll(w io.Writer, b []byte) error {
	_, err := w.Write(b)
	return err
}

// uncomparedHeaders are those of the web servers. A tag of an entity is compared by whether there is one.
var uncomparedHeaders = []string{"Date", "Server", "Content-Length", "Connection", "Transfer-Encoding", "Etag"}

// text writes an answer so that what is left to chance is not seen.
func (a oddAnswer) text(r oddRequest) string {
	if a.failed != nil {
		return "no answer"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d\n", a.status)
	if _, err := url.ParseRequestURI(r.target); err != nil {
		return b.String() // Go's server refuses the request line before the API sees the request
	}
	for name := range a.header {
		isSize := r.whole && name == "Content-Encoding" // only what is large enough is compressed
		if slices.Contains(uncomparedHeaders, name) || isSize {
			a.header.Del(name)
		}
	}
	a.header.Write(&b)
	if r.whole && a.status < 300 {
		return b.String()
	}
	var v any
	d := json.NewDecoder(strings.NewReader(a.body))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return b.String() + a.body
	}
	compared, _ := json.Marshal(compared.JSON(v, r.ordered))
	return b.String() + string(compared)
}

// ask writes the requests of a sequence's beginning and end.
func ask(method, path, body string) oddRequest {
	return oddRequest{method: method, target: "/api/" + path, headers: []string{oddLogin("guest:guest"), "Content-Type: application/json"}, body: body}
}

func newAsker(seed uint64, name string, p leveret.Profile) *asker {
	return &asker{oddWriter: &oddWriter{Rand: rand.New(rand.NewPCG(seed, 2))}, v: name, profile: p}
}
