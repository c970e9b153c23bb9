package leverettest

import (
	"net/http"
	"net/http/httptest"
	"net/url"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
)

// Management serves RabbitMQ's management API for the broker on a free port of this machine, and returns its URL with
// guest's password, such as "http://guest:guest@127.0.0.1:34567". The paths begin with /api. It is for a program that
// takes nothing but a URL. When the test ends, the listener and its connections are closed.
//
// Sockets do not work in a testing/synctest bubble: use [ManagementClient] there. The package's documentation tells what
// else a test of a management client has to know.
func Management(t T, b *leveret.Broker) string {
	t.Helper()
	srv := httptest.NewServer(mgmt.Handler(b))
	t.Cleanup(func() {
		srv.CloseClientConnections() // a request that is half sent does not hold up the end of the test
		srv.Close()
	})
	u, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatalf("leveret: %v", err)
	}
	u.User = url.UserPassword("guest", "guest")
	return u.String()
}

// ManagementClient returns an HTTP client of RabbitMQ's management API for the broker, in memory. Whatever host a
// request names, the broker answers. A user and password come from the request, or from its URL:
//
//	client := leverettest.ManagementClient(b)
//	res, err := client.Get("http://guest:guest@rabbitmq/api/queues")
//
// A request has been executed, and its answer is whole, when the client returns. So it works in a testing/synctest
// bubble. A request that ctx ends is executed nevertheless.
func ManagementClient(b *leveret.Broker) *http.Client {
	return &http.Client{Transport: inMemory{mgmt.Handler(b)}}
}

// inMemory has requests answered by a handler.
type inMemory struct{ handler http.Handler }

// thisMachine is where requests in memory come from: guest may log in from no other.
const thisMachine = "127.0.0.1:0"

// RoundTrip hands a copy of the request to the handler, as a server would have read it.
func (m inMemory) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	in := req.Clone(req.Context())
	in.RequestURI, in.RemoteAddr = req.URL.RequestURI(), thisMachine
	if in.Host == "" {
		in.Host = req.URL.Host
	}
	if in.Body == nil {
		in.Body = http.NoBody
	}
	defer in.Body.Close()
	answer := httptest.NewRecorder()
	m.handler.ServeHTTP(answer, in)
	res := answer.Result()
	res.Request = req
	return res, nil
}
