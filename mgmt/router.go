package mgmt

import (
	"net/http"
	"net/url"
	"strings"

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
	segments []string // a name in braces matches any segment that is not empty
}

func newRouter(n *node) *router {
	r := &router{node: n}
	for _, route := range routes {
		r.routes = append(r.routes, splitRoute{route, strings.Split(route.path, "/")})
	}
	r.page = page.Handler(n.broker, source{r}, page.ManualClock(n.broker, n.Clock, n.Advance))
	return r
}

// ServeHTTP serves a path below /api, the metrics, or the page. A slash at its end counts for nothing.
func (r *router) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if r.serveMetrics(w, req) {
		return
	}
	if !strings.HasPrefix(req.URL.Path, "/api") {
		r.page.ServeHTTP(w, req)
		return
	}
	path, ok := strings.CutPrefix(req.URL.EscapedPath(), "/api/")
	segments, err := unescape(strings.Split(strings.TrimSuffix(path, "/"), "/"))
	if !ok || err != nil {
		nowhere(w)
		return
	}
	route, ok := r.find(req, segments)
	if !ok {
		nowhere(w)
		return
	}
	resource{r.node, route}.ServeHTTP(w, req)
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
		if isVariable := variable(want) != ""; isVariable && segments[i] == "" || !isVariable && segments[i] != want {
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
