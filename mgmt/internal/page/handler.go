package page

import (
	"bytes"
	"errors"
	"html/template"
	"net/http"
	"net/url"

	"github.com/leveretmq/leveret"
)

// policy is the Content-Security-Policy: nothing from elsewhere, no script and no style in the HTML, and no frame of
// another page around this one.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// maxForm is how many bytes a form may have.
const maxForm = 20 << 20

// Handler returns the page of a broker. A nil clock means that the time passes by itself.
func Handler(b *leveret.Broker, s Source, c *Clock) http.Handler {
	return &server{broker: b, source: s, clock: c, flow: &flow{broker: b}, recording: &recording{broker: b}}
}

type server struct {
	broker *leveret.Broker
	source Source
	clock  *Clock

	flow      *flow
	recording *recording
}

// A view is one kind of page.
type view struct {
	title     string
	templates func() *template.Template
	named     bool                        // the query has the name of an object, which is in the title
	still     bool                        // nothing changes by itself
	load      func(*visit) (any, error)   // what the live part shows
	acts      map[string]func(*visit) act // what a form's button "do" does
}

// A visit is one request for a view.
type visit struct {
	*server
	*view
	request *http.Request
	user    leveret.UserInfo
	query   url.Values
}

// An act is what came of a form.
type act struct {
	Text     string
	Messages []message // that were taken
	Changes  []change  // that a policy would make
	goTo     string    // the view to go on with; empty: the same
	err      error
}

// did is an act that has succeeded.
func did(text string) act { return act{Text: text} }

// failed is an act that was refused.
func failed(err error) act { return act{err: err} }

// ServeHTTP serves a view, its events, or a file that it needs.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	if serveAsset(w, r) {
		return
	}
	h.Set("Cache-Control", "no-store")
	h.Set("Vary", "Accept, Authorization")
	v := views[r.URL.Path]
	if v == nil {
		v = &unknownView
	}
	(&visit{server: s, view: v, request: r, query: r.URL.Query()}).serve(w)
}

func (v *visit) serve(w http.ResponseWriter) {
	if err := v.login(); err != nil {
		fail(w, err)
		return
	}
	switch {
	case v.request.Method == http.MethodPost:
		v.post(w)
	case v.request.Method != http.MethodGet && v.request.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD, POST")
		w.WriteHeader(http.StatusMethodNotAllowed)
	case v.request.Header.Get("Accept") == eventStream:
		v.stream(w)
	default:
		v.answer(w, nil)
	}
}

// login asks the API who the user is, and whether the user may use it at all.
func (v *visit) login() error {
	answer, err := v.ask("whoami")
	if err != nil {
		return err
	}
	name, _ := answer.(Object)["name"].(string)
	v.user, err = v.broker.User(name)
	return err
}

// ask asks the API for a path below /api.
func (v *visit) ask(path ...string) (any, error) {
	return v.source.Ask(v.request, Question{Path: path, Query: url.Values{}})
}

// post does what a form says and shows the view again, with what came of it.
func (v *visit) post(w http.ResponseWriter) {
	v.request.Body = http.MaxBytesReader(w, v.request.Body, maxForm)
	if err := v.request.ParseForm(); err != nil {
		v.answer(w, &act{err: &Refusal{http.StatusBadRequest, err.Error()}})
		return
	}
	do, ok := v.acts[v.field("do")]
	if !ok {
		v.answer(w, &act{err: &Refusal{http.StatusBadRequest, "This is nothing that can be done here."}})
		return
	}
	done := do(v)
	if done.err == nil && done.goTo != "" {
		http.Redirect(w, v.request, done.goTo, http.StatusSeeOther)
		return
	}
	v.answer(w, &done)
}

// field returns a field of the form.
func (v *visit) field(name string) string { return v.request.PostForm.Get(name) }

// A sheet is what the layout shows.
type sheet struct {
	Title, User, Release string
	Path, Self           string // the URL of the view, without its query and with it
	Sections             []section
	Live, Paused         bool
	Pause                string // the URL that turns Paused over
	Done                 *act
	Refused              string // why Done failed
	Query                url.Values
	Data                 any // of the live part
	Problem              string
}

// answer writes the whole page.
func (v *visit) answer(w http.ResponseWriter, done *act) {
	s := v.sheet(done)
	status := http.StatusOK
	data, err := v.load(v)
	if err != nil {
		status, s.Problem, s.Live = shownStatus(err), textOf(err), false
	}
	s.Data = data
	if done != nil && done.err != nil {
		status, s.Refused = shownStatus(done.err), textOf(done.err)
	}
	var out bytes.Buffer
	if err := v.templates().ExecuteTemplate(&out, "page", s); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	w.Write(out.Bytes())
}

func (v *visit) sheet(done *act) sheet {
	s := sheet{Title: v.title, User: v.user.Name, Release: v.broker.Profile().Version(), Path: v.request.URL.Path, Self: v.url(v.query), Done: done, Query: v.query,
		Paused: v.query.Has(paused)}
	if name := v.query.Get("name"); v.named && name != "" {
		s.Title += " " + name
	}
	s.Live = !s.Paused && !v.still
	s.Sections = v.sections()
	turned := cloneValues(v.query)
	if s.Paused {
		turned.Del(paused)
	} else {
		turned.Set(paused, "1")
	}
	s.Pause = v.url(turned)
	return s
}

// url returns the URL of this view with another query.
func (v *visit) url(query url.Values) string { return link(v.request.URL.Path, query) }

func link(path string, query url.Values) string {
	u := url.URL{Path: path, RawQuery: query.Encode()}
	return u.String()
}

func cloneValues(v url.Values) url.Values {
	c := url.Values{}
	for name, values := range v {
		c[name] = append([]string(nil), values...)
	}
	return c
}

// fail answers somebody who is not logged in. Browsers ask for a name and a password again after each 401.
func fail(w http.ResponseWriter, err error) {
	status := statusOf(err)
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Basic realm="leveret", charset="UTF-8"`)
	}
	http.Error(w, textOf(err), status)
}

func statusOf(err error) int {
	var f *Refusal
	if errors.As(err, &f) {
		return f.Status
	}
	return http.StatusServiceUnavailable
}

// shownStatus is the status for somebody who is logged in: to log in again would not help, as 401 says that it would.
func shownStatus(err error) int {
	if status := statusOf(err); status != http.StatusUnauthorized {
		return status
	}
	return http.StatusForbidden
}

// textOf is an error as the page tells it: what the broker refuses, as a client of RabbitMQ would see it.
func textOf(err error) string {
	var e *leveret.Error
	if errors.As(err, &e) {
		return e.Text()
	}
	return err.Error()
}
