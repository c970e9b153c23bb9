package mgmt

import (
	"bytes"
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"strings"

	"github.com/leveretmq/leveret"
)

// What an answer is. A route's function returns one of these: nil for an answer without a body; a list, which is sorted,
// paged and cut to columns; a reply, for everything but 200; and else a value that JSON shows, cut to columns.

// An object is a JSON object.
type object = map[string]any

// A reply is an answer with a status of its own.
type reply struct {
	status   int
	location string // empty: none
	body     any    // nil: none
}

// put answers a PUT: 201 if it made something, 204 if that was there before.
func put(existed bool) reply {
	if existed {
		return reply{status: http.StatusNoContent}
	}
	return reply{status: http.StatusCreated}
}

// A failure is a refusal in RabbitMQ's words.
type failure struct {
	status int
	kind   string // "error" in the answer; empty: no body
	reason any
}

func (f *failure) Error() string { return f.kind }

var (
	errChallenge     = &failure{status: http.StatusUnauthorized}
	errNotAuthorized = &failure{http.StatusUnauthorized, "not_authorized", "Not_Authorized"}
	errNoObject      = &failure{http.StatusNotFound, "Object Not Found", "Not Found"}
)

func notAuthorised(reason string) error {
	return &failure{http.StatusUnauthorized, "not_authorised", reason}
}
func notFound(reason string) error { return &failure{http.StatusNotFound, "not_found", reason} }
func badRequest(reason any) error  { return &failure{http.StatusBadRequest, "bad_request", reason} }

// refusal returns what the API says when the broker refuses a declaration, a deletion or a binding.
func refusal(err error) error {
	var e *leveret.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code {
	case leveret.NotFound:
		return notFound(e.Reason)
	case leveret.AccessRefused, leveret.NotAllowed:
		return notAuthorised("Access refused.")
	}
	return badRequest(e.Reason)
}

// invalid returns what the API says when the broker refuses a setting: the bare explanation.
func invalid(err error) error {
	var e *leveret.Error
	if !errors.As(err, &e) {
		return err
	}
	return badRequest(e.Reason)
}

// escaped is the refusal of a policy or a parameter in the release's spelling.
func (n *node) escaped(err error) error {
	var f *failure
	if !n.escapesHTML || !errors.As(err, &f) {
		return err
	}
	text, ok := f.reason.(string)
	if !ok {
		return err
	}
	return &failure{f.status, f.kind, strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(text)}
}

// A resource serves one route.
type resource struct {
	*node
	route
}

func (s resource) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Allow", strings.Join(s.allowed(), ", "))
	h.Set("Vary", "accept, accept-encoding, origin")
	run := s.handlerOf(r.Method)
	switch {
	case r.Method == http.MethodOptions:
		w.WriteHeader(http.StatusOK)
		return
	case run == nil:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	c := &call{node: s.node, request: r, params: r.URL.Query()}
	answer, err := s.run(c, run)
	if err == nil {
		answer, err = c.shape(answer)
	}
	if err != nil {
		fail(w, err)
		return
	}
	send(w, answer)
}

// run calls a route's function for a user who may use it.
func (s resource) run(c *call, run func(*call) (any, error)) (any, error) {
	if !s.open {
		if err := c.login(); err != nil {
			return nil, err
		}
		if err := s.who(c); err != nil {
			return nil, err
		}
	}
	if s.json && (c.request.Method == http.MethodPut || c.request.Method == http.MethodPost) && !isJSON(c.request) {
		return reply{status: http.StatusUnsupportedMediaType}, nil
	}
	return run(c)
}

func isJSON(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "application/json"
}

// shape cuts an answer to the page and the columns that the request asks for.
func (c *call) shape(answer any) (any, error) {
	switch answer := answer.(type) {
	case list:
		return c.page(answer)
	case object:
		return cut(answer, c.columns()), nil
	}
	return answer, nil
}

func send(w http.ResponseWriter, answer any) {
	r, ok := answer.(reply)
	if !ok {
		r = reply{status: http.StatusOK, body: answer}
	}
	if r.location != "" {
		w.Header().Set("Location", r.location)
	}
	if r.body == nil {
		if r.status == http.StatusOK {
			r.status = http.StatusNoContent
		}
		w.WriteHeader(r.status)
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	write(w, r.status, r.body)
}

func write(w http.ResponseWriter, status int, v any) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(bytes.TrimSuffix(out.Bytes(), []byte("\n")))
}

// fail answers with an error. What is no refusal is the broker's end.
func fail(w http.ResponseWriter, err error) {
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{http.StatusServiceUnavailable, "service_unavailable", err.Error()}
	}
	w.Header().Set("Cache-Control", "public, max-age=0, must-revalidate")
	if f.kind == "" {
		w.Header().Set("WWW-Authenticate", `Basic realm="RabbitMQ Management"`)
		w.WriteHeader(f.status)
		return
	}
	write(w, f.status, object{"error": f.kind, "reason": f.reason})
}

// nowhere answers for a path that there is not.
func nowhere(w http.ResponseWriter) {
	w.Header().Set("Allow", "HEAD, GET, OPTIONS")
	fail(w, errNoObject)
}
