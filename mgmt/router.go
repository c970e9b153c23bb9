package mgmt

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/leveretmq/leveret/mgmt/internal/page"
)

// The router finds the route of a path. http.ServeMux would not do: it takes the segment %2F, the name of the virtual
// host "/", for the slash at the end of a path.

// A router has the routes in the order of the table. The first that matches serves a request.
type router struct {
	*node
	routes []splitRoute
	page   http.Handler
}

type splitRoute struct {
	route
	segments []string // a name in braces matches any segment, also an empty one
}

func newRouter(n *node) *router {
	r := &router{node: n}
	for _, route := range append(routes, route{path: "index.html", open: true, as: &aPage, get: r.index}) {
		if route.only != n.lacks {
			route.ofVHost = strings.Contains(route.path, "{vhost}")
			r.routes = append(r.routes, splitRoute{route, strings.Split(route.path, "/")})
		}
	}
	r.page = page.Handler(n.broker, source{r}, page.ManualClock(n.broker, n.Clock, n.Advance))
	return r
}

// ServeHTTP serves a path below /api, the metrics, or the page. A slash at its end counts for nothing.
func (r *router) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if !r.node.broker.Serving() { // RabbitMQ's listener is closed then
		http.Error(w, "The broker is stopped.", http.StatusServiceUnavailable)
		return
	}
	if !isPath(req.RequestURI) {
		r.end(w, http.StatusBadRequest)
		return
	}
	if r.serveMetrics(w, req) {
		return
	}
	if !strings.HasPrefix(req.URL.Path, "/api") {
		r.page.ServeHTTP(w, req)
		return
	}
	path, ok := strings.CutPrefix(req.URL.EscapedPath(), "/api/")
	segments, err := unescape(strings.Split(strings.TrimSuffix(path, "/"), "/"))
	segments = withoutDots(segments)
	if path == "" || path == "/api" || err == nil && len(segments) == 0 {
		r.redirect(w, req)
		return
	}
	route := nowhere
	switch found, known := r.find(req, segments); {
	case ok && err == nil && known:
		route = found
	case slices.ContainsFunc(segments, isNoFile):
		route.noFile = true
	}
	resource{r.node, route}.ServeHTTP(w, req)
}

// redirect leads to the page about the API, whatever the method. RabbitMQ's web server lets two methods through to nobody.
func (r *router) redirect(w http.ResponseWriter, req *http.Request) {
	if req.Method == http.MethodTrace || req.Method == http.MethodConnect {
		refuseMethod(w, req.Method)
		return
	}
	w.Header().Set("Location", "/api/index.html")
	r.end(w, http.StatusMovedPermanently)
}

// end answers what RabbitMQ's web server answers before it looks for the API.
func (r *router) end(w http.ResponseWriter, status int) {
	if r.headers.varyOfServer != "" {
		w.Header().Set("Vary", r.headers.varyOfServer)
	}
	w.WriteHeader(status)
}

// isPath reports whether the path of a request has only characters that a path may have, as RabbitMQ's web server wants it. Package
// net/url takes some more.
func isPath(uri string) bool {
	path, _, _ := strings.Cut(uri, "?")
	return !strings.ContainsAny(path, "\"<>[\\]^`{|}\x7f") && strings.IndexFunc(path, func(c rune) bool { return c > unicode.MaxASCII }) < 0
}

// nowhere is where a path leads that is not in the table. It is among the files of RabbitMQ's web server, and not there.
var nowhere = route{open: true, as: &aFile, get: func(*call) (any, error) { return nil, errNoObject }}

// isNoFile reports whether a file cannot have the name. RabbitMQ's web server does not look for it.
func isNoFile(segment string) bool { return strings.ContainsAny(segment, "/\\\x00") }

// withoutDots leaves out the segments "." and, with the segment before, "..".
func withoutDots(segments []string) []string {
	kept := segments[:0]
	for _, s := range segments {
		switch s {
		case ".":
		case "..":
			kept = kept[:max(len(kept)-1, 0)]
		default:
			kept = append(kept, s)
		}
	}
	return kept
}

// find returns the route of a path, and gives the request the names that are in it.
func (r *router) find(req *http.Request, segments []string) (route, bool) {
	for _, route := range r.routes {
		if route.match(segments) {
			for i, name := range route.segments {
				req.SetPathValue(variable(name), segments[i])
			}
			return route.route, true
		}
	}
	return route{}, false
}

func unescape(segments []string) ([]string, error) {
	for i, s := range segments {
		plain, err := url.PathUnescape(s)
		if err != nil {
			return nil, err
		}
		segments[i] = plain
	}
	return segments, nil
}

func (r splitRoute) match(segments []string) bool {
	if len(segments) != len(r.segments) {
		return false
	}
	for i, want := range r.segments {
		name := variable(want)
		if name == "" && segments[i] != want {
			return false
		}
	}
	return true
}

// variable returns the name in braces; empty for a segment that stands for itself.
func variable(segment string) string {
	name, ok := strings.CutPrefix(segment, "{")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(name, "}")
}
