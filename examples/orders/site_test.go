package orders

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/leverettest"
	amqp091 "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The tests run on leveret, on virtual time. With these variables they run on a RabbitMQ, in real time: the URL of the
// broker, and that of its management API, both with an administrator's name and password.
const (
	amqpVariable       = "ORDERS_TEST_AMQP"
	managementVariable = "ORDERS_TEST_MANAGEMENT"
)

// A site is where the service runs in a test: a virtual host of a broker, with a user.
type site struct {
	*testing.T
	leveret *leveret.Broker // nil: a RabbitMQ
	config  Config          // of the service
	amqp    *url.URL        // for an administrator
	api     *http.Client
	manage  *url.URL
	vhost   string // and the name and password of its user
	dial    func(network, addr string) (net.Conn, error)

	mu     sync.Mutex
	wires  []*wire // of the service's connections
	losing bool    // the next confirm is lost with its connection
}

// on runs a test on the broker that there is.
func on(t *testing.T, test func(*site)) {
	if os.Getenv(amqpVariable) != "" {
		t.Parallel()
		test(onRabbitMQ(t).open())
		return
	}
	synctest.Test(t, func(t *testing.T) { test(onLeveret(t).open()) })
}

func onLeveret(t *testing.T) *site {
	b := leverettest.New(t)
	leverettest.Record(t, b)
	return &site{T: t, leveret: b, dial: leverettest.Dialer(t, b), api: leverettest.ManagementClient(b),
		amqp: mustParse("amqp://guest:guest@rabbitmq/"), manage: mustParse("http://guest:guest@rabbitmq/")}
}

// onRabbitMQ has shorter waits, because they take their time.
func onRabbitMQ(t *testing.T) *site {
	s := &site{T: t, dial: amqp091.DefaultDial(30 * time.Second), api: http.DefaultClient,
		amqp: mustParse(os.Getenv(amqpVariable)), manage: mustParse(os.Getenv(managementVariable))}
	s.config.Waits = []time.Duration{200 * time.Millisecond, 500 * time.Millisecond, time.Second}
	s.config.Redial = 100 * time.Millisecond
	return s
}

func mustParse(s string) *url.URL {
	u, err := url.Parse(s)
	if err != nil {
		panic(err)
	}
	return u
}

// open makes the virtual host and its user.
func (s *site) open() *site {
	s.vhost = "orders-" + strings.ToLower(rand.Text()[:8])
	if s.leveret == nil { // leveret ends with the test, and a test that failed shows what is left in its queues
		s.Cleanup(func() {
			s.call("DELETE", nil, "vhosts", s.vhost)
			s.call("DELETE", nil, "users", s.vhost)
		})
	}
	s.call("PUT", map[string]any{}, "vhosts", s.vhost)
	s.call("PUT", map[string]any{"password": s.vhost, "tags": ""}, "users", s.vhost)
	s.call("PUT", map[string]any{"configure": ".*", "write": ".*", "read": ".*"}, "permissions", s.vhost, s.vhost)
	u := url.URL{Scheme: s.amqp.Scheme, User: url.UserPassword(s.vhost, s.vhost), Host: s.amqp.Host, Path: "/" + s.vhost}
	s.config.URL, s.config.AMQP.Dial = u.String(), s.dialWire
	return s
}

// call asks the management API for something, and requires that it is done.
func (s *site) call(method string, body any, path ...string) {
	s.Helper()
	in, err := json.Marshal(body)
	require.NoError(s, err)
	u := *s.manage
	u.Path = "/api/" + strings.Join(path, "/")
	for i := range path {
		path[i] = url.PathEscape(path[i])
	}
	u.RawPath = "/api/" + strings.Join(path, "/")
	req, err := http.NewRequest(method, u.String(), bytes.NewReader(in))
	require.NoError(s, err)
	res, err := s.api.Do(req)
	require.NoError(s, err)
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	require.NoError(s, err)
	require.Less(s, res.StatusCode, 300, "%s %s: %s", method, u.Path, answer)
}

// channel opens a channel of the test's own connection.
func (s *site) channel() *amqp091.Channel {
	u := *s.amqp
	u.Path = "/" + s.vhost
	conn, err := amqp091.DialConfig(u.String(), amqp091.Config{Dial: s.dial})
	require.NoError(s, err)
	s.Cleanup(func() { _ = conn.Close() })
	ch, err := conn.Channel()
	require.NoError(s, err)
	return ch
}

// ---- what is done to the service's connections ------------------------------------------------------------------

// A wire is a connection of the service. The test can cut it.
type wire struct {
	net.Conn
	*site
}

// confirmMethod is basic.ack. A broker sends it for nothing but a confirm.
var confirmMethod = []byte{0, 60, 0, 80}

func (w *wire) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	if bytes.Contains(b[:n], confirmMethod) && w.losesConfirm() {
		w.Conn.Close()
		return 0, net.ErrClosed
	}
	return n, err
}

func (s *site) losesConfirm() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	losing := s.losing
	s.losing = false
	return losing
}

func (s *site) dialWire(network, addr string) (net.Conn, error) {
	nc, err := s.dial(network, addr)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w := &wire{nc, s}
	s.wires = append(s.wires, w)
	return w, nil
}

// cut cuts the network: the connections end without a word.
func (s *site) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.wires {
		w.Conn.Close()
	}
	s.wires = nil
}

// loseConfirm has the next confirm lost with its connection: the broker has the message, and its publisher does not know.
func (s *site) loseConfirm() {
	if s.leveret != nil {
		leverettest.Inject(s, s.leveret, leverettest.Fault{On: leverettest.OnConfirm, Do: leverettest.Cut()})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.losing = true
}

// refuse has orders refused by the broker (basic.nack), until the function that it returns is called.
func (s *site) refuse() (lift func()) {
	if s.leveret != nil {
		return leverettest.Inject(s, s.leveret, leverettest.Fault{On: leverettest.OnPublish, Do: leverettest.Nack(), Keep: true})
	}
	full := map[string]any{"pattern": "^" + workQueue + "$", "apply-to": "queues",
		"definition": map[string]any{"max-length": 0, "overflow": "reject-publish"}}
	s.call("PUT", full, "policies", s.vhost, "full")
	return func() { s.call("DELETE", nil, "policies", s.vhost, "full") }
}

// block has the broker short of memory at the next publish. Of a RabbitMQ others would feel it.
func (s *site) block() (lift func()) {
	if s.leveret == nil {
		s.Skip("a broker that is short of memory blocks everybody")
	}
	return leverettest.Inject(s, s.leveret, leverettest.Fault{On: leverettest.OnPublish, Do: leverettest.Block()})
}

// close has an operator close the service's connections.
func (s *site) close() { s.call("DELETE", nil, "connections", "username", s.vhost) }

// restart restarts the broker, kill does so after it was killed. A broker that is not the test's own is left alone.
func (s *site) restart() { s.restartAs(leveret.StoppedNode) }
func (s *site) kill()    { s.restartAs(leveret.KilledNode) }

func (s *site) restartAs(as leveret.NodeEnd) {
	if s.leveret == nil {
		s.Skip("a broker that others use is not restarted")
	}
	require.NoError(s, s.leveret.Restart(as))
}

// took requires that something took as long as it should. On virtual time nothing takes longer.
func (s *site) took(want, got time.Duration) {
	s.Helper()
	const early, late = 5 * time.Millisecond, 5 * time.Second // a broker counts whole milliseconds; a machine may be busy
	if s.leveret != nil {
		assert.Equal(s, want, got)
		return
	}
	assert.GreaterOrEqual(s, got, want-early)
	assert.LessOrEqual(s, got, want+late)
}
