package page

import (
	"net/http"
	"net/url"

	"github.com/leveretmq/leveret"
)

// A Source is a broker as one user may see and change it. The user is the one that the HTTP request is of. Errors are
// a *Refusal where the user is refused something.
type Source interface {
	// Ask answers as the management API does, without JSON between: lists are []Object, or with paging an Object.
	Ask(*http.Request, Question) (any, error)
	// Readable returns a queue whose messages the user may read.
	Readable(r *http.Request, vhost, queue string) (*leveret.Queue, error)
	// Open opens a connection of the user.
	Open(r *http.Request, vhost string) (*leveret.Conn, error)
}

// A Question is a request of the management API.
type Question struct {
	Method string   // empty: GET
	Path   []string // below /api, its segments unescaped
	Query  url.Values
	Body   any // of which JSON is made; nil: none
}

// An Object is a JSON object of the management API.
type Object = map[string]any

// A Refusal is what the management API refuses, in its words.
type Refusal struct {
	Status int
	Reason string
}

// Error returns the reason, or what the status means if there is none.
func (f *Refusal) Error() string {
	if f.Reason == "" {
		return http.StatusText(f.Status)
	}
	return f.Reason
}
