package leverettest_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/leverettest"
	amqp091 "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// dialTLS connects with TLS, in memory.
func dialTLS(t leverettest.T, b *leveret.Broker) *amqp091.Connection {
	ca := leverettest.NewAuthority(t)
	cfg := amqp091.Config{Dial: leverettest.TLSDialer(t, b, ca.Server()), TLSClientConfig: ca.Client("")}
	conn, err := amqp091.DialConfig("amqps://guest:guest@rabbitmq.example/", cfg)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return conn
}

// dialTLSURL connects with TLS over a socket.
func dialTLSURL(t leverettest.T, b *leveret.Broker) *amqp091.Connection {
	ca := leverettest.NewAuthority(t)
	conn, err := amqp091.DialTLS(leverettest.TLSURL(t, b, ca.Server()), ca.Client(""))
	if err != nil {
		t.Fatalf("%v", err)
	}
	return conn
}

// A client with a certificate logs in by it, one without is turned away if the broker demands one, and one that does not
// trust the authority does not connect.
func TestMutualTLS(t *testing.T) {
	test := func(t *testing.T, connect func(b *leveret.Broker, server, client *tls.Config, auth amqp091.Authentication) error) {
		b := leverettest.New(t)
		require.NoError(t, b.AddUser("CN=ann", "unused"))
		require.NoError(t, b.SetPermissions("CN=ann", leveret.Permissions{Configure: ".*", Write: ".*", Read: ".*"}))
		ca, other := leverettest.NewAuthority(t), leverettest.NewAuthority(t)
		strict := ca.Server()
		strict.ClientAuth = tls.RequireAndVerifyClientCert
		guest, external := &amqp091.PlainAuth{Username: "guest", Password: "guest"}, &amqp091.ExternalAuth{}

		assert.NoError(t, connect(b, ca.Server(), ca.Client(""), guest))
		assert.NoError(t, connect(b, ca.Server(), ca.Client("bob"), guest))
		assert.NoError(t, connect(b, strict, ca.Client("ann"), external))
		assert.NoError(t, connect(b, ca.Server(), ca.Client("ann"), external))
		assert.ErrorIs(t, connect(b, ca.Server(), ca.Client(""), external), amqp091.ErrSASL)
		assert.Error(t, connect(b, strict, ca.Client("bob"), external), "there is no such user")
		assert.Error(t, connect(b, strict, ca.Client(""), guest))
		assert.Error(t, connect(b, strict, &tls.Config{RootCAs: ca.Client("").RootCAs, GetClientCertificate: other.Client("ann").GetClientCertificate}, external))
		var unknown x509.UnknownAuthorityError
		assert.ErrorAs(t, connect(b, ca.Server(), other.Client(""), guest), &unknown)
	}
	t.Run("in a bubble", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			test(t, func(b *leveret.Broker, server, client *tls.Config, auth amqp091.Authentication) error {
				cfg := amqp091.Config{Dial: leverettest.TLSDialer(t, b, server), TLSClientConfig: client, SASL: []amqp091.Authentication{auth}}
				_, err := amqp091.DialConfig("amqps://rabbitmq.example/", cfg)
				return err
			})
		})
	})
	t.Run("URL", func(t *testing.T) {
		test(t, func(b *leveret.Broker, server, client *tls.Config, auth amqp091.Authentication) error {
			cfg := amqp091.Config{TLSClientConfig: client, SASL: []amqp091.Authentication{auth}}
			conn, err := amqp091.DialConfig(leverettest.TLSURL(t, b, server), cfg)
			if err == nil {
				assert.Equal(t, "TLS 1.3", b.Connections()[0].Transport.TLS.Version)
				assert.Contains(t, b.Connections()[0].Name, "127.0.0.1:")
				require.NoError(t, conn.Close())
				leverettest.Settle(t, b)
			}
			return err
		})
	})
}

// A program may take the names of files.
func TestAuthorityFiles(t *testing.T) {
	ca, dir := leverettest.NewAuthority(t), t.TempDir()
	ca.WriteFiles(t, dir, "ann")
	pool := x509.NewCertPool()
	authority, err := os.ReadFile(filepath.Join(dir, "ca.pem"))
	require.NoError(t, err)
	require.True(t, pool.AppendCertsFromPEM(authority))
	cert, err := tls.LoadX509KeyPair(filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"))
	require.NoError(t, err)
	assert.Equal(t, "CN=ann", cert.Leaf.Subject.String())
	server := ca.Server()
	server.ClientAuth = tls.RequireAndVerifyClientCert
	conn, err := amqp091.DialTLS(leverettest.TLSURL(t, leverettest.New(t), server), &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{cert}})
	require.NoError(t, err)
	require.NoError(t, conn.Close())

	bare := t.TempDir()
	ca.WriteFiles(t, bare, "")
	files, err := os.ReadDir(bare)
	require.NoError(t, err)
	assert.Len(t, files, 1)
	assert.Contains(t, fails(t, func(ft *fakeT) { ca.WriteFiles(ft, filepath.Join(bare, "missing"), "") }), "no such file")
}

func TestTLSNeedsSettings(t *testing.T) {
	for _, door := range []func(ft *fakeT){
		func(ft *fakeT) { leverettest.TLSDialer(ft, leverettest.New(ft), nil) },
		func(ft *fakeT) { leverettest.TLSURL(ft, leverettest.New(ft), nil) },
	} {
		assert.Contains(t, fails(t, door), "leveret: TLS needs the broker's settings, such as those of an Authority")
	}
}

// A cut is no farewell: a client can tell that something may be missing.
func TestCutOverTLS(t *testing.T) {
	const alert = 21 // type of a record; TLS 1.2 does not hide it
	b, ca := leverettest.New(t), leverettest.NewAuthority(t)
	declare(t, b, "q", nil)
	server, tap := ca.Server(), &tap{ended: make(chan struct{})}
	server.MaxVersion = tls.VersionTLS12
	dial := leverettest.TLSDialer(t, b, server)
	conn, err := amqp091.DialConfig("amqps://guest:guest@rabbitmq/", amqp091.Config{
		TLSClientConfig: ca.Client(""),
		Dial: func(network, addr string) (net.Conn, error) {
			var err error
			tap.Conn, err = dial(network, addr)
			return tap, err
		},
	})
	require.NoError(t, err)
	ch := channelOf(t, conn)
	leverettest.Inject(t, b, leverettest.Fault{Do: leverettest.Cut()})
	require.NoError(t, ch.Publish("", "q", false, false, amqp091.Publishing{}))
	<-tap.ended
	assert.NotContains(t, tap.records(), byte(alert))
}

// A tap keeps what was read.
type tap struct {
	net.Conn
	got   []byte
	over  sync.Once
	ended chan struct{} // closed when nothing more comes
}

func (p *tap) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	p.got = append(p.got, b[:n]...)
	if err != nil {
		p.over.Do(func() { close(p.ended) })
	}
	return n, err
}

// Close is called by the client behind the last record that it reads.
func (p *tap) Close() error {
	p.over.Do(func() { close(p.ended) })
	return p.Conn.Close()
}

// records are the types of the records of TLS that came.
func (p *tap) records() (types []byte) {
	const head = 5
	for b := p.got; len(b) >= head; {
		n := head + int(binary.BigEndian.Uint16(b[3:]))
		types, b = append(types, b[0]), b[min(n, len(b)):]
	}
	return types
}

// A test ends at once though a client has not finished its handshake of TLS, or speaks none.
func TestEndInAHandshakeOfTLS(t *testing.T) {
	defer goleak.VerifyNone(t)
	steps := map[string]func(t *testing.T, nc net.Conn, ca *leverettest.Authority){
		"nothing": func(*testing.T, net.Conn, *leverettest.Authority) {},
		"half a record": func(t *testing.T, nc net.Conn, _ *leverettest.Authority) {
			_, err := nc.Write([]byte("\x16\x03\x01\x02\x00\x01"))
			require.NoError(t, err)
		},
		"AMQP": func(t *testing.T, nc net.Conn, _ *leverettest.Authority) {
			_, err := nc.Write([]byte("AMQP\x00\x00\x09\x01"))
			require.NoError(t, err)
		},
		"the client stops behind its first message": func(t *testing.T, nc net.Conn, ca *leverettest.Authority) {
			cfg := ca.Client("")
			cfg.ServerName = "rabbitmq"
			assert.Error(t, tls.Client(&oneWrite{Conn: nc}, cfg).Handshake())
		},
		"no AMQP comes": func(t *testing.T, nc net.Conn, ca *leverettest.Authority) {
			cfg := ca.Client("")
			cfg.ServerName = "rabbitmq"
			require.NoError(t, tls.Client(nc, cfg).Handshake())
		},
		"half-open": func(t *testing.T, nc net.Conn, ca *leverettest.Authority) {
			cfg := ca.Client("")
			cfg.ServerName = "rabbitmq"
			c := tls.Client(nc, cfg)
			require.NoError(t, c.Handshake())
			require.NoError(t, c.CloseWrite())
		},
	}
	for name, step := range steps {
		t.Run("in a bubble/"+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ft := &fakeT{}
				ca := leverettest.NewAuthority(ft)
				b := leverettest.New(ft)
				nc, err := leverettest.TLSDialer(ft, b, ca.Server())("", "")
				require.NoError(t, err)
				step(t, nc, ca)
				start := time.Now()
				if name == "nothing" || name == "half a record" { // the others have had their answers
					go io.Copy(io.Discard, nc)
					leverettest.Settle(ft, b)
				}
				ft.end()
				assert.Empty(t, ft.problems)
				assert.Less(t, time.Since(start), 10*time.Second)
			})
		})
		ca := leverettest.NewAuthority(t)
		endsOverSocket(t, name, func(ft leverettest.T, b *leveret.Broker) string {
			return leverettest.TLSURL(ft, b, ca.Server())
		}, func(t *testing.T, nc net.Conn) { step(t, nc, ca) })
	}
}

// A oneWrite lets one write through.
type oneWrite struct {
	net.Conn
	written bool
}

func (o *oneWrite) Write(b []byte) (int, error) {
	if o.written {
		return 0, errors.New("no more is written")
	}
	o.written = true
	return o.Conn.Write(b)
}

// A client that does not finish its handshake is turned away in time.
func TestHandshakeOfTLSTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ca := leverettest.NewAuthority(t)
		nc, err := leverettest.TLSDialer(t, leverettest.New(t), ca.Server())("", "")
		require.NoError(t, err)
		start := time.Now()
		_, err = nc.Read(make([]byte, 1))
		assert.ErrorIs(t, err, io.EOF)
		assert.Equal(t, 10*time.Second, time.Since(start))
	})
}
