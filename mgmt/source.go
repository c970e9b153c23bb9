package mgmt

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/pcre"
	"github.com/leveretmq/leveret/mgmt/internal/page"
)

// A source answers the page as the API answers its clients: by the same routes, for the same users. Only the JSON is
// left out, and with it what JSON cannot say: names that are not UTF-8 stay what they are.
type source struct{ *router }

var _ page.Source = source{}

// Ask runs the route of a path.
func (s source) Ask(r *http.Request, q page.Question) (any, error) {
	c, err := s.call(r, q)
	if err != nil {
		return nil, err
	}
	route, ok := s.find(c.request, q.Path)
	if !ok {
		return nil, refused(errNoObject)
	}
	c.ofVHost, c.order = route.ofVHost, route.order
	if err := (resource{s.node, route}).admit(c); err != nil {
		return nil, refused(err)
	}
	answer, err := route.handlerOf(c.request.Method)(c)
	if err == nil {
		answer, err = c.shape(answer, hasPages)
	}
	if o, ok := answer.(object); ok {
		for name, member := range o {
			if w, is := member.(whole); is {
				o[name] = object(w) // the pages have no columns to cut
			}
		}
	}
	return answer, refused(err)
}

// call makes a request of the API out of one for the page.
func (s source) call(r *http.Request, q page.Question) (*call, error) {
	inner := r.Clone(r.Context())
	inner.Method, inner.Body = http.MethodGet, http.NoBody
	if q.Method != "" {
		inner.Method = q.Method
	}
	if q.Body != nil {
		data, err := json.Marshal(q.Body)
		if err != nil {
			return nil, err
		}
		inner.Body = io.NopCloser(bytes.NewReader(data))
		inner.Header.Set("Content-Type", "application/json")
	}
	return &call{node: s.node, request: inner, params: q.Query}, nil
}

// refused is a failure in the page's words.
func refused(err error) error {
	var f *failure
	if !errors.As(err, &f) {
		return err
	}
	reason, ok := f.reason.(string)
	if !ok && f.reason != nil {
		data, _ := json.Marshal(f.reason) // the API would answer with it
		reason = string(data)
	}
	return &page.Refusal{Status: f.status, Reason: reason}
}

// Readable returns a queue if the user may read from it. Whoever may not get its messages may not look at them either.
func (s source) Readable(r *http.Request, vhost, queue string) (*leveret.Queue, error) {
	c, v, err := s.enter(r, vhost)
	if err != nil {
		return nil, err
	}
	q, err := v.Queue(queue)
	if err != nil {
		return nil, refused(errNoObject)
	}
	p, ok := withKey(v.Permissions(), func(p leveret.PermissionInfo) string { return p.User }, c.user.Name)
	if !ok || !s.grants(p.Read, queue) {
		return nil, refused(notAuthorised("access to queue '" + queue + "' in vhost '" + vhost + "' refused for user '" + c.user.Name + "'"))
	}
	return q, nil
}

// grants reports whether the expression of a permission is found in a name. An empty one gives no access to what has a
// name, as queues have.
func (n *node) grants(expression, name string) bool {
	if expression == "" {
		return name == ""
	}
	p, fault := pcre.Compile(expression, n.regexes)
	return fault == nil && p.Match(name)
}

// Open opens a connection as the API does for each of its operations.
func (s source) Open(r *http.Request, vhost string) (*leveret.Conn, error) {
	c, _, err := s.enter(r, vhost)
	if err != nil {
		return nil, err
	}
	conn, err := c.open(leveret.ConnConfig{VHost: vhost})
	return conn, refused(err)
}

// enter logs the user in and finds a virtual host.
func (s source) enter(r *http.Request, vhost string) (*call, *leveret.VHost, error) {
	c, err := s.call(r, page.Question{})
	if err != nil {
		return nil, nil, err
	}
	if err := c.login(); err != nil {
		return nil, nil, refused(err)
	}
	c.request.SetPathValue("vhost", vhost)
	c.ofVHost = true
	v, err := c.vhost()
	if err != nil {
		return nil, nil, refused(errNoObject)
	}
	return c, v, refused(members(c))
}
