package page_test

import (
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A site is the page of a broker, without a network between.
type site struct {
	t *testing.T
	http.Handler
}

func newSite(t *testing.T, opts ...leveret.Option) (*leveret.Broker, site) {
	b := leveret.New(opts...)
	t.Cleanup(func() { b.Close() })
	return b, site{t, mgmt.Handler(b)}
}

// send sends a request of guest from this machine, as change alters it. A form makes it a POST.
func (s site) send(path string, form url.Values, change ...func(*http.Request)) *httptest.ResponseRecorder {
	method, body := "GET", ""
	if form != nil {
		method, body = "POST", form.Encode()
	}
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.RemoteAddr = "127.0.0.1:50000"
	r.SetBasicAuth("guest", "guest")
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, f := range change {
		f(r)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// get returns a page that must be there.
func (s site) get(path string, change ...func(*http.Request)) string {
	w := s.send(path, nil, change...)
	require.Equal(s.t, http.StatusOK, w.Code, "%s: %s", path, w.Body)
	return w.Body.String()
}

// post returns the page after a form, which must have been taken.
func (s site) post(path string, form url.Values) string {
	w := s.send(path, form)
	require.Equal(s.t, http.StatusOK, w.Code, "%s: %s", path, w.Body)
	return w.Body.String()
}

// as makes a request that of another user, whose password is the name.
func as(user string) func(*http.Request) { return func(r *http.Request) { r.SetBasicAuth(user, user) } }

var (
	main  = regexp.MustCompile(`(?s)<main.*</main>`)
	hrefs = regexp.MustCompile(`(?:href|src|action|sse-connect)="([^"]*)"`)
	tags  = regexp.MustCompile(`<[^>]*>`)
)

// words is what a reader sees of HTML, with single spaces.
func words(page string) string {
	return strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(page, " "))), " ")
}

// links are the URLs in a page that begin so.
func links(page, prefix string) (all []string) {
	for _, m := range hrefs.FindAllStringSubmatch(page, -1) {
		if u := html.UnescapeString(m[1]); strings.HasPrefix(u, prefix) {
			all = append(all, u)
		}
	}
	return all
}

// queue is the URL of a queue's view in the virtual host "/".
func queue(name string) string {
	return "/queue?" + url.Values{"vhost": {"/"}, "name": {name}}.Encode()
}
