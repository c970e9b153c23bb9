package mgmt_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
	"github.com/leveretmq/leveret/mgmt"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const nodeName = "rabbit@localhost"

// client is for tests' requests; it keeps no connection.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// An api is a management API that a test talks to.
type api struct {
	t   *testing.T
	url string // without credentials
}

// A result is what an API has answered.
type result struct {
	status int
	header http.Header
	body   any // of JSON; nil: none
}

// newAPI serves the management API of a broker of its own, and AMQP on a port that it tells.
func newAPI(t *testing.T, opts ...leveret.Option) (*leveret.Broker, api, string) {
	b := leveret.New(opts...)
	amqpServer := &amqpd.Server{Broker: b}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	served := make(chan struct{})
	go func() {
		defer close(served)
		amqpServer.Serve(l)
	}()
	port := l.Addr().(*net.TCPAddr).Port
	srv := httptest.NewServer(mgmt.Handler(b, mgmt.Config{NodeName: nodeName, Listeners: []mgmt.Listener{
		{Protocol: "amqp", Address: "127.0.0.1", Port: 5672}, {Protocol: "http", Address: "127.0.0.1", Port: 15672}}}))
	t.Cleanup(func() {
		srv.Close()
		amqpServer.Close()
		<-served
		b.Close()
	})
	return b, api{t, srv.URL}, fmt.Sprintf("amqp://guest:guest@127.0.0.1:%d/", port)
}

// as sends a request for a user, whose password is the name; an empty name sends none.
func (a api) as(user, method, path string, body any) result {
	var in io.Reader
	switch body := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(body)
	default:
		data, err := json.Marshal(body)
		require.NoError(a.t, err)
		in = bytes.NewReader(data)
	}
	req, err := http.NewRequest(method, a.url+"/api/"+path, in)
	require.NoError(a.t, err)
	if user != "" {
		name, password, _ := strings.Cut(user+":"+user, ":")
		req.SetBasicAuth(name, strings.TrimSuffix(password, ":"+user))
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := client.Do(req)
	require.NoError(a.t, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	require.NoError(a.t, err)
	r := result{status: res.StatusCode, header: res.Header}
	if len(data) > 0 {
		require.NoError(a.t, json.Unmarshal(data, &r.body), "%s %s: %s", method, path, data)
	}
	return r
}

func (a api) do(method, path string, body any) result { return a.as("guest", method, path, body) }

// get returns the body of a GET, which must succeed.
func (a api) get(path string) any {
	r := a.do("GET", path, nil)
	require.Equal(a.t, http.StatusOK, r.status, "%s: %v", path, r.body)
	return r.body
}

// object returns the body of a GET that is an object.
func (a api) object(path string) map[string]any {
	o, ok := a.get(path).(map[string]any)
	require.True(a.t, ok, path)
	return o
}

// names returns the names of a list.
func (a api) names(path string) (all []string) {
	list, ok := a.get(path).([]any)
	require.True(a.t, ok, path)
	for _, item := range list {
		all = append(all, fmt.Sprint(item.(map[string]any)["name"]))
	}
	return all
}

// dial connects an AMQP client, with a name that listings show.
func dial(t *testing.T, amqpURL, vhost, name string) *amqp.Channel {
	conn, err := amqp.DialConfig(amqpURL+url.PathEscape(vhost), amqp.Config{Properties: amqp.Table{"connection_name": name, "product": "test"}})
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	ch, err := conn.Channel()
	require.NoError(t, err)
	return ch
}

// postForm sends a form without credentials of its own.
func (a api) postForm(path, form string) result {
	req, err := http.NewRequest("POST", a.url+"/api/"+path, strings.NewReader(form))
	require.NoError(a.t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := client.Do(req)
	require.NoError(a.t, err)
	defer res.Body.Close()
	r := result{status: res.StatusCode, header: res.Header}
	require.NoError(a.t, json.NewDecoder(res.Body).Decode(&r.body))
	return r
}
