package amqpd_test

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
	"github.com/leveretmq/leveret/leverettest"
	amqp091 "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// elsewhere is a connection whose far end has an address of the test's choice.
type elsewhere struct {
	net.Conn
	peer net.Addr
}

func (c elsewhere) RemoteAddr() net.Addr { return c.peer }

// A nameOnly is the address of a transport that says nothing of where the far end is, as those of tunnels and
// websockets.
type nameOnly string

func (a nameOnly) Network() string { return string(a) }
func (a nameOnly) String() string  { return string(a) }

func tcpPeer(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 4711} }

// serveFrom serves one connection from the given peer and returns the client's end.
func serveFrom(srv *amqpd.Server, peer net.Addr) net.Conn {
	client, server := amqpd.Pipe()
	nc := net.Conn(elsewhere{server, peer})
	if srv.TLS != nil {
		nc = tls.Server(nc, srv.TLS)
	}
	go srv.ServeConn(nc)
	return client
}

func TestLoopbackUsersAreLetInFromHereOnly(t *testing.T) {
	stdPipe, other := net.Pipe()
	defer stdPipe.Close()
	defer other.Close()
	_, ownPipe := amqpd.Pipe()
	for _, c := range []struct {
		name  string
		peer  net.Addr
		users []string
		in    bool
	}{
		{"127.0.0.1", tcpPeer("127.0.0.1"), nil, true},
		{"127.8.0.1", tcpPeer("127.8.0.1"), nil, true},
		{"IPv6", tcpPeer("::1"), nil, true},
		{"mapped", tcpPeer("::ffff:127.0.0.1"), nil, true},
		{"Unix socket", &net.UnixAddr{Name: "@", Net: "unix"}, nil, true},
		{"net.Pipe", stdPipe.RemoteAddr(), nil, true},
		{"amqpd.Pipe", ownPipe.RemoteAddr(), nil, true},
		{"remote", tcpPeer("10.0.0.1"), nil, false},
		{"remote IPv6", tcpPeer("2001:db8::1"), nil, false},
		{"websocket", nameOnly("websocket"), nil, false},
		{"named pipe", nameOnly("pipe"), nil, false},
		{"UDP", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}, nil, false},
		{"nobody restricted", tcpPeer("10.0.0.1"), []string{}, true},
		{"others restricted", tcpPeer("10.0.0.1"), []string{"ann"}, true},
	} {
		for _, auth := range []amqp091.Authentication{
			&amqp091.PlainAuth{Username: "guest", Password: "guest"},
			&amqp091.AMQPlainAuth{Username: "guest", Password: "guest"},
			anonymous{},
		} {
			synctest.Test(t, func(t *testing.T) {
				srv := &amqpd.Server{Broker: leverettest.New(t), LoopbackUsers: c.users}
				defer srv.Close()
				nc := serveFrom(srv, c.peer)
				defer nc.Close()
				conn, err := amqp091.Open(nc, amqp091.Config{SASL: []amqp091.Authentication{auth}, Vhost: "/"})
				if !c.in {
					assert.ErrorIs(t, err, amqp091.ErrCredentials, "%s by %s", c.name, auth.Mechanism())
					return
				}
				require.NoError(t, err, "%s by %s", c.name, auth.Mechanism())
				require.NoError(t, conn.Close())
			})
		}
	}
}

type anonymous struct{}

func (anonymous) Mechanism() string { return "ANONYMOUS" }
func (anonymous) Response() string  { return "" }

// A certificate proves who somebody is, not where.
func TestLoopbackUsersWithACertificate(t *testing.T) {
	ca := certificate(t, "test authority", nil)
	pool := x509.NewCertPool()
	pool.AddCert(ca.Leaf)
	srv := &amqpd.Server{
		Broker: leverettest.New(t),
		TLS: &tls.Config{Certificates: []tls.Certificate{*certificate(t, "broker", ca)}, ClientCAs: pool,
			ClientAuth: tls.RequireAndVerifyClientCert},
		CertLogin: func(c *x509.Certificate) string { return c.Subject.CommonName },
	}
	defer srv.Close()
	for peer, in := range map[string]bool{"127.0.0.1": true, "10.0.0.1": false} {
		nc := tls.Client(serveFrom(srv, tcpPeer(peer)), &tls.Config{RootCAs: pool, ServerName: "127.0.0.1",
			Certificates: []tls.Certificate{*certificate(t, "guest", ca)}})
		defer nc.Close()
		conn, err := amqp091.Open(nc, amqp091.Config{SASL: []amqp091.Authentication{&amqp091.ExternalAuth{}}, Vhost: "/"})
		if !in {
			assert.ErrorIs(t, err, amqp091.ErrCredentials)
			continue
		}
		require.NoError(t, err)
		require.NoError(t, conn.Close())
	}
}

// A logbook keeps what is logged at a level.
type logbook struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logbook) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

// take returns the lines and forgets them.
func (l *logbook) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return strings.Split(strings.TrimSuffix(l.text.String(), "\n"), "\n")
}

func newLog(level slog.Level) (*slog.Logger, *logbook) {
	l := &logbook{}
	return slog.New(slog.NewTextHandler(l, &slog.HandlerOptions{Level: level, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})), l
}

// The log says by default what a refused client is not told.
func TestRefusedLoginsAreLogged(t *testing.T) {
	for _, c := range []struct {
		auth amqp091.Authentication
		peer string
		want string
	}{
		{&amqp091.PlainAuth{Username: "guest", Password: "secret"}, "127.0.0.1", `user=guest mechanism=PLAIN cause="wrong password"`},
		{&amqp091.AMQPlainAuth{Username: "ann", Password: "secret"}, "127.0.0.1", `user=ann mechanism=AMQPLAIN cause="no such user"`},
		{&amqp091.PlainAuth{Username: "guest", Password: "guest"}, "10.0.0.1", `user=guest mechanism=PLAIN cause="may connect from this machine only"`},
		{&amqp091.PlainAuth{Username: "a\x00b", Password: "secret"}, "127.0.0.1", `user="" mechanism=PLAIN cause="malformed response"`},
	} {
		synctest.Test(t, func(t *testing.T) {
			log, book := newLog(slog.LevelWarn)
			srv := &amqpd.Server{Broker: leverettest.New(t), Logger: log}
			defer srv.Close()
			nc := serveFrom(srv, tcpPeer(c.peer))
			_, err := amqp091.Open(nc, amqp091.Config{SASL: []amqp091.Authentication{c.auth}, Vhost: "/"})
			require.Error(t, err)
			nc.Close()
			synctest.Wait()
			lines := book.take()
			assert.Equal(t, []string{`level=WARN msg="login refused" peer=` + c.peer + `:4711 ` + c.want}, lines)
			assert.NotContains(t, lines[0], "secret")
		})
	}
}

// Who is logged in and may not enter the virtual host is told why, and so is the log.
func TestRefusedOpeningsAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, book := newLog(slog.LevelWarn)
		srv := &amqpd.Server{Broker: leverettest.New(t), Logger: log}
		defer srv.Close()
		cfg := asGuest()
		cfg.Vhost = "nowhere"
		nc := serveFrom(srv, tcpPeer("127.0.0.1"))
		_, err := amqp091.Open(nc, cfg)
		require.Error(t, err)
		nc.Close()
		synctest.Wait()
		assert.Equal(t, []string{`level=WARN msg="connection refused" peer=127.0.0.1:4711 user=guest ` +
			`error="connection.open: NOT_ALLOWED - vhost nowhere not found"`}, book.take())
	})
}

// What becomes of a connection is in the log: at the level that is on by default, all that went wrong.
func TestConnectionsAreLogged(t *testing.T) {
	for _, c := range []struct {
		name string
		act  func(t *testing.T, b *leveret.Broker, nc net.Conn, conn *amqp091.Connection)
		want []string
	}{
		{"closed by the client", func(t *testing.T, _ *leveret.Broker, _ net.Conn, conn *amqp091.Connection) {
			require.NoError(t, conn.Close())
		}, []string{`level=INFO msg="connection closed" peer=127.0.0.1:4711 user=guest reason="by its client"`}},
		{"lost", func(t *testing.T, _ *leveret.Broker, nc net.Conn, _ *amqp091.Connection) {
			nc.Close()
		}, []string{`level=WARN msg="connection lost" peer=127.0.0.1:4711 user=guest error=EOF`}},
		{"closed by an operator", func(t *testing.T, b *leveret.Broker, _ net.Conn, _ *amqp091.Connection) {
			require.NoError(t, b.CloseConnection(b.Connections()[0].ID, "enough"))
		}, []string{`level=WARN msg="connection closed" peer=127.0.0.1:4711 user=guest reason="CONNECTION_FORCED - enough"`}},
		{"channel error", func(t *testing.T, _ *leveret.Broker, _ net.Conn, conn *amqp091.Connection) {
			_, err := channelOf(t, conn).QueueDeclarePassive("none", false, false, false, false, nil)
			require.Error(t, err)
			require.NoError(t, conn.Close())
		}, []string{`level=WARN msg="channel closed" peer=127.0.0.1:4711 user=guest channel=1 reason="NOT_FOUND - no queue 'none' in vhost '/'"`,
			`level=INFO msg="connection closed" peer=127.0.0.1:4711 user=guest reason="by its client"`}},
		{"connection error", func(t *testing.T, _ *leveret.Broker, _ net.Conn, conn *amqp091.Connection) {
			ch := channelOf(t, conn)
			closed := conn.NotifyClose(make(chan *amqp091.Error, 1))
			require.NoError(t, ch.Publish("", "", false, true, amqp091.Publishing{}))
			<-closed
		}, []string{`level=WARN msg="connection closed" peer=127.0.0.1:4711 user=guest reason="NOT_IMPLEMENTED - immediate=true"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log, book := newLog(slog.LevelInfo)
				b := leverettest.New(t)
				srv := &amqpd.Server{Broker: b, Logger: log}
				defer srv.Close()
				nc := serveFrom(srv, tcpPeer("127.0.0.1"))
				conn, err := amqp091.Open(nc, asGuest())
				require.NoError(t, err)
				c.act(t, b, nc, conn)
				synctest.Wait()
				nc.Close()
				synctest.Wait()
				assert.Equal(t, append([]string{`level=INFO msg="connection opened" peer=127.0.0.1:4711 user=guest vhost=/`}, c.want...), book.take())
			})
		})
	}
}

// A look at the port, as load balancers take it, is no warning.
func TestLooksAtThePortAreNoWarnings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, book := newLog(slog.LevelInfo)
		srv := &amqpd.Server{Broker: leverettest.New(t), Logger: log}
		defer srv.Close()
		serveFrom(srv, tcpPeer("127.0.0.1")).Close()
		synctest.Wait()
		nc := serveFrom(srv, tcpPeer("127.0.0.1"))
		go io.Copy(io.Discard, nc)
		io.WriteString(nc, "GET / HTTP/1.1\r\n\r\n")
		synctest.Wait()
		nc.Close()
		assert.Equal(t, []string{
			`level=INFO msg="handshake failed" peer=127.0.0.1:4711 error=EOF`,
			`level=WARN msg="handshake failed" peer=127.0.0.1:4711 error="amqpd: not the AMQP 0-9-1 protocol header"`,
		}, book.take())
	})
}

// A client may log in by the mechanisms that are permitted, and nobody is offered another.
// Rules: A-18.
func TestPermittedMechanisms(t *testing.T) {
	ann := &amqp091.PlainAuth{Username: "ann", Password: "pw"}
	for _, c := range []struct {
		name string
		srv  *amqpd.Server
		auth amqp091.Authentication
		user string // empty: nobody gets in
	}{
		{"all", &amqpd.Server{}, anonymous{}, "guest"},
		{"another user", &amqpd.Server{AnonymousUser: "ann", AnonymousPassword: "pw"}, anonymous{}, "ann"},
		{"a wrong password", &amqpd.Server{AnonymousUser: "ann", AnonymousPassword: "pwd"}, anonymous{}, ""},
		{"with a name only", &amqpd.Server{Mechanisms: []string{"PLAIN", "AMQPLAIN"}}, anonymous{}, ""},
		{"PLAIN", &amqpd.Server{Mechanisms: []string{"PLAIN"}}, ann, "ann"},
		{"AMQPLAIN", &amqpd.Server{Mechanisms: []string{"AMQPLAIN"}}, ann, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := leverettest.New(t)
			require.NoError(t, b.AddUser("ann", "pw"))
			require.NoError(t, b.SetPermissions("ann", leveret.Permissions{}))
			c.srv.Broker = b
			defer c.srv.Close()
			nc := serveFrom(c.srv, tcpPeer("127.0.0.1"))
			defer nc.Close()
			conn, err := amqp091.Open(nc, amqp091.Config{SASL: []amqp091.Authentication{c.auth}, Vhost: "/"})
			if c.user == "" {
				assert.Error(t, err, c.name)
				return
			}
			require.NoError(t, err, c.name)
			assert.Equal(t, c.user, b.Connections()[0].User, c.name)
			require.NoError(t, conn.Close())
		})
	}
}

// Attempts of clients to log in are counted. One by an unknown mechanism is none, nor is one by AMQPLAIN without a table.
// Rules: A-19.
func TestLoginsAreCounted(t *testing.T) {
	right, wrong := leveret.AuthAttempts{Succeeded: 1}, leveret.AuthAttempts{Failed: 1}
	for _, c := range []struct {
		mechanism, response string
		want                leveret.AuthAttempts
	}{
		{"PLAIN", "\x00guest\x00guest", right},
		{"PLAIN", "\x00guest\x00x", wrong},
		{"PLAIN", "\x00nobody\x00x", wrong},
		{"PLAIN", "guest", wrong},
		{"NOPE", "\x00guest\x00guest", leveret.AuthAttempts{}},
		{"AMQPLAIN", "\x05LOGINS\x00\x00\x00\x05guest\x08PASSWORDS\x00\x00\x00\x05guest", right},
		{"AMQPLAIN", "\x05LOGINS\x00\x00\x00\x05guest", wrong},
		{"AMQPLAIN", "\x05LOG", leveret.AuthAttempts{}},
		{"ANONYMOUS", "", right},
	} {
		synctest.Test(t, func(t *testing.T) {
			b := leverettest.New(t)
			srv := &amqpd.Server{Broker: b}
			defer srv.Close()
			nc := serveFrom(srv, tcpPeer("127.0.0.1"))
			defer nc.Close()
			conn, _ := amqp091.Open(nc, amqp091.Config{SASL: []amqp091.Authentication{response{c.mechanism, c.response}}, Vhost: "/"})
			if conn != nil {
				defer conn.Close()
			}
			synctest.Wait()
			assert.Equal(t, c.want, b.AuthAttempts()["amqp091"], "%s %q", c.mechanism, c.response)
		})
	}
}

// A response is what a client says to log in.
type response struct{ mechanism, text string }

func (r response) Mechanism() string { return r.mechanism }
func (r response) Response() string  { return r.text }
