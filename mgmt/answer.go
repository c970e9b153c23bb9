package mgmt

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
)

// What an answer is. A route's function returns one of these: nil for an answer without a body; a list, which is sorted
// and cut to columns, and has pages if the route says so; a reply, for everything but 200; a document; a plain; and else a value
// that JSON shows, cut to columns. See shape.go.

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

// A document is an answer of HTML.
type document []byte

// A plain is an answer of text.
type plain string

// A failure is a refusal in RabbitMQ's words.
type failure struct {
	status   int
	kind     string // "error" in the answer; empty: no body
	reason   any
	noCache  bool // answers of the release that say how they may be cached say no-cache
	byBroker bool // the broker refuses, behind all that a request is asked for otherwise
}

func (f *failure) Error() string { return f.kind }

var (
	errChallenge     = &failure{status: http.StatusUnauthorized}
	errNotAuthorized = &failure{status: http.StatusUnauthorized, kind: "not_authorized", reason: "Not_Authorized"}
	errLoginFailed   = &failure{status: http.StatusUnauthorized, kind: "not_authorized", reason: "Login failed"} // in 3.10, with a challenge
	errNoAccess      = &failure{status: http.StatusUnauthorized, kind: "not_authorised", reason: "Access refused."}
	errNoDefinitions = &failure{status: http.StatusBadRequest, kind: "bad_request", reason: "vhost_not_found", noCache: true}
	errNoObject      = &failure{status: http.StatusNotFound, kind: "Object Not Found", reason: "Not Found"}

	// These are for a request that RabbitMQ's handler fails at, and for one with a header that its web server cannot read: there
	// is a status and nothing else.
	errCrash     = &failure{status: http.StatusInternalServerError}
	errMalformed = &failure{status: http.StatusBadRequest}
)

func notAuthorised(reason string) error {
	return &failure{status: http.StatusUnauthorized, kind: "not_authorised", reason: reason}
}

// noPermission is the broker's refusal of what the user may not do.
func noPermission(reason string) error {
	return &failure{status: http.StatusUnauthorized, kind: "not_authorised", reason: reason, byBroker: true}
}
func notFound(reason string) error {
	return &failure{status: http.StatusNotFound, kind: "not_found", reason: reason}
}
func badRequest(reason any) error {
	return &failure{status: http.StatusBadRequest, kind: "bad_request", reason: reason}
}

// crashed is the refusal of what ends RabbitMQ's channel. RabbitMQ prints its stack behind the class of the error.
func (n *node) crashed(class string) error {
	return badRequest("Request to node " + n.NodeName + " failed with {'EXIT'," + class + "}")
}

// refusal returns what the API says when the broker refuses a declaration, a deletion or a binding.
func refusal(err error) error {
	var e *leveret.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code {
	case leveret.NotFound:
		return notFound(e.Reason)
	case leveret.AccessRefused:
		return noPermission("Access refused.")
	case leveret.NotAllowed:
		return errNoAccess
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
	return &failure{status: f.status, kind: f.kind, reason: strings.NewReplacer("<", "&lt;", ">", "&gt;").Replace(text)}
}

// A resource serves one route.
type resource struct {
	*node
	route
}

// ServeHTTP takes the steps of RabbitMQ's web server in its order. The first that refuses a request decides how.
func (s resource) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	s.setHeaders(h)
	if !slices.Contains(knownMethods, r.Method) {
		refuseMethod(w, r.Method)
		return
	}
	run := s.handlerOf(r.Method)
	if s.tellsMethods || run == nil {
		h.Set("Allow", strings.Join(s.allowed(), ", "))
	}
	isOptions := r.Method == http.MethodOptions
	switch {
	case run == nil && !isOptions:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	case s.noFile:
		w.WriteHeader(http.StatusBadRequest)
		return
	case isOptions:
		w.WriteHeader(http.StatusOK)
		return
	}
	if takesGzip(r) {
		w = zipper{w}
	}
	if vhost := r.Header.Get("X-Vhost"); vhost != "" && s.scoped != nil {
		r.SetPathValue("vhost", vhost)
		s.ofVHost, s.who = true, s.scoped
	}
	params, valueless, malformed := parseQuery(r.URL.RawQuery)
	answer, err := s.answer(&call{node: s.node, request: r, params: params, valueless: valueless, malformed: malformed, ofVHost: s.ofVHost, order: s.order, header: h}, run)
	if err != nil {
		fail(w, err)
		return
	}
	send(w, answer)
}

// knownMethods are those of which RabbitMQ's web server has heard.
var knownMethods = []string{http.MethodHead, http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions}

// refuseMethod refuses a method that is not known, or that the web server does not let through to anybody.
func refuseMethod(w http.ResponseWriter, method string) {
	if method == http.MethodTrace || method == http.MethodConnect {
		clear(w.Header())
	}
	w.WriteHeader(http.StatusNotImplemented)
}

// setHeaders sets the headers that all answers have. Some of them are others later.
func (s resource) setHeaders(h http.Header) {
	h.Set("Content-Security-Policy", s.headers.policy)
	h.Set("Vary", s.headers.vary)
	if s.headers.cacheControl != "" {
		h.Set("Cache-Control", s.headers.cacheControl)
	}
	if s.uncached {
		h.Set("Cache-Control", "no-cache, no-store, max-age=0, must-revalidate")
		h.Set("Pragma", "no-cache")
		h.Set("Expires", "0")
	}
}

// answer finds out whether a request may be answered, and how.
func (s resource) answer(c *call, run func(*call) (any, error)) (any, error) {
	if err := s.admit(c); err != nil {
		return nil, err
	}
	if err := s.media().checkAccept(c.request); err != nil {
		return nil, err
	}
	if vary := s.media().vary; vary != "" {
		c.header.Set("Vary", vary)
	}
	if err := s.checkConditions(c); err != nil {
		return nil, err
	}
	if wrong := s.checkContentType(c.request); wrong != nil {
		// RabbitMQ 4.3 tells first that what an action is for is missing. The handler does.
		isMissing := s.get == nil && c.request.Method == http.MethodPost && !c.asksBroker && !c.pathIsThere()
		if !isMissing {
			return nil, wrong
		}
	}
	answer, err := run(c)
	if isRefusedUser(err) {
		c.header.Set("Vary", s.headers.vary) // RabbitMQ finds that out before it looks at Accept
	}
	if err != nil {
		return nil, err
	}
	return c.shape(answer, s.pages)
}

// admit logs the user in and finds out whether the user may use the route.
func (s resource) admit(c *call) error {
	switch {
	case s.logsIn && c.request.Method == http.MethodPost:
		return c.readLogin()
	case s.open:
		return nil
	case s.linked && c.takesLoginInQuery:
		if err := c.readLoginInQuery(); err != nil {
			return err
		}
	}
	err := c.login()
	if err == nil {
		err = s.who(c)
	}
	return c.counted(err)
}

func send(w http.ResponseWriter, answer any) {
	switch text := answer.(type) {
	case document:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(text)
		return
	case plain:
		w.Header().Set("Content-Type", "text/plain")
		w.Write([]byte(text))
		return
	}
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

// A tagged is definitions with an entity tag. To HEAD they have no length and no type.
type tagged struct {
	*definitions.Definitions
	head bool
}

func encode(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), err
}

// write sends an answer. RabbitMQ compresses nothing that has an entity tag.
func write(w http.ResponseWriter, status int, v any) {
	body, err := encode(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	d, hasTag := v.(tagged)
	switch z, takes := w.(zipper); {
	case hasTag:
		w.Header().Set("ETag", entityTag(body))
		if d.head {
			w.Header().Del("Content-Type")
			w.Header().Set("Content-Length", "0")
		}
	case takes:
		body = z.zip(body)
	}
	w.WriteHeader(status)
	w.Write(body)
}

// fail answers with an error. What is no refusal is the broker's end.
func fail(w http.ResponseWriter, err error) {
	var f *failure
	if !errors.As(err, &f) {
		f = &failure{status: http.StatusServiceUnavailable, kind: "service_unavailable", reason: err.Error()}
	}
	if f == errCrash || f == errMalformed {
		clear(w.Header())
		w.WriteHeader(f.status)
		return
	}
	if f.noCache && w.Header().Get("Cache-Control") != "" {
		w.Header().Set("Cache-Control", "no-cache")
	}
	if isChallenge := f.kind == "" && f.status == http.StatusUnauthorized; isChallenge || f == errLoginFailed {
		w.Header().Set("WWW-Authenticate", `Basic realm="RabbitMQ Management"`)
	}
	if f.kind == "" {
		w.WriteHeader(f.status)
		return
	}
	write(w, f.status, object{"error": f.kind, "reason": f.reason})
}
