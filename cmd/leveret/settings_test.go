package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An address that is empty, as an unset variable of a shell is, opens nothing.
func TestNoAddressOpensNothing(t *testing.T) {
	cert, key, pool := certificate(t)
	p := spawn(t, "serve", "--amqp", "", "--amqps", "127.0.0.1:0", "--cert", cert, "--key", key, "--control", "none")
	secure, none := p.greeting()
	assert.Empty(t, none)
	require.True(t, strings.HasPrefix(secure, "amqps://127.0.0.1:"), secure)
	conn, err := amqp.DialTLS(withGuest(secure), &tls.Config{RootCAs: pool})
	require.NoError(t, err)
	require.NoError(t, conn.Close())
}

// An authority signs certificates of clients.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return &authority{t, cert, key}
}

func (a *authority) file() string {
	file := filepath.Join(a.t.TempDir(), "ca.pem")
	require.NoError(a.t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw}), 0o600))
	return file
}

func (a *authority) client(name string) tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name, Organization: []string{"shop"}},
		NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	require.NoError(a.t, err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func TestClientCertificates(t *testing.T) {
	cert, key, pool := certificate(t)
	ours, theirs := newAuthority(t), newAuthority(t)
	definitions := filepath.Join(t.TempDir(), "users.json")
	require.NoError(t, os.WriteFile(definitions, []byte(`{"users":[{"name":"ann","tags":[]},{"name":"CN=ann,O=shop","tags":[]}],
		"permissions":[{"user":"ann","vhost":"/","configure":"","write":"","read":""},{"user":"CN=ann,O=shop","vhost":"/","configure":"","write":"","read":""}]}`), 0o600))
	for _, c := range []struct {
		name   string
		flags  []string
		client *authority // nil: no certificate
		auth   amqp.Authentication
		fails  string // what the error says; empty: the client gets in
	}{
		{"distinguished name", nil, ours, &amqp.ExternalAuth{}, ""},
		{"common name", []string{"--cert-login", "common-name"}, ours, &amqp.ExternalAuth{}, ""},
		{"another authority", nil, theirs, &amqp.PlainAuth{Username: "guest", Password: "guest"}, "tls: "},
		{"no certificate", nil, nil, &amqp.PlainAuth{Username: "guest", Password: "guest"}, ""},
		{"no certificate for EXTERNAL", nil, nil, &amqp.ExternalAuth{}, "SASL could not negotiate"},
		{"no certificate though one is required", []string{"--client-cert-required"}, nil, &amqp.PlainAuth{Username: "guest", Password: "guest"}, "tls: "},
		{"a certificate that is required", []string{"--client-cert-required"}, ours, &amqp.PlainAuth{Username: "guest", Password: "guest"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := spawn(t, append([]string{"serve", "--amqp", "", "--amqps", "127.0.0.1:0", "--cert", cert, "--key", key, "--control", "none",
				"--definitions", definitions, "--client-ca", ours.file()}, c.flags...)...)
			url, _ := p.greeting()
			config := amqp.Config{TLSClientConfig: &tls.Config{RootCAs: pool}, SASL: []amqp.Authentication{c.auth}, Vhost: "/"}
			if c.client != nil {
				config.TLSClientConfig.Certificates = []tls.Certificate{c.client.client("ann")}
			}
			if c.fails == "tls: " { // said after the client's side of the handshake: a client that writes may not hear it
				assert.ErrorContains(t, refusal(t, url, config.TLSClientConfig), c.fails)
				return
			}
			conn, err := amqp.DialConfig(url, config)
			if c.fails != "" {
				assert.ErrorContains(t, err, c.fails)
				return
			}
			require.NoError(t, err)
			require.NoError(t, conn.Close())
		})
	}
}

// refusal is why a server ends a TLS connection.
func refusal(t *testing.T, url string, config *tls.Config) error {
	nc, err := tls.Dial("tcp", strings.TrimPrefix(url, "amqps://"), config)
	if err == nil {
		defer nc.Close()
		_, err = nc.Read(make([]byte, 1))
	}
	require.Error(t, err)
	return err
}

// What a container network needs: another administrator than guest, or guest from everywhere.
func TestUsersOfServe(t *testing.T) {
	p := spawn(t, "serve", "--amqp", "127.0.0.1:0", "--control", "none", "--default-user", "ann", "--default-pass", "secret")
	url, _ := p.greeting()
	_, err := amqp.Dial(withGuest(url))
	assert.ErrorIs(t, err, amqp.ErrCredentials)
	conn, err := amqp.Dial(strings.Replace(withGuest(url), "guest:guest", "ann:secret", 1))
	require.NoError(t, err)
	require.NoError(t, conn.Close())

	for _, c := range []struct {
		given string
		want  []string
	}{{"", []string{"guest"}}, {"none", []string{}}, {"ann,bob", []string{"ann", "bob"}}} {
		args := []string{"--loopback-users", c.given}
		if c.given == "" {
			args = nil
		}
		s, err := parseSettings(args, nil)
		require.NoError(t, err)
		assert.Equal(t, c.want, s.users.loopback)
	}
}

// An outside address of this machine is not a loopback address.
func TestLoopbackUsersOfServe(t *testing.T) {
	outside := outsideAddress(t)
	for _, c := range []struct {
		users string
		in    bool
	}{{"guest", false}, {"none", true}} {
		p := spawn(t, "serve", "--amqp", outside+":0", "--control", "none", "--loopback-users", c.users)
		url, _ := p.greeting()
		conn, err := amqp.Dial(withGuest(url))
		if !c.in {
			assert.ErrorIs(t, err, amqp.ErrCredentials)
			continue
		}
		require.NoError(t, err)
		require.NoError(t, conn.Close())
	}
}

func outsideAddress(t *testing.T) string {
	addrs, err := net.InterfaceAddrs()
	require.NoError(t, err)
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
			return n.IP.String()
		}
	}
	t.Skip("this machine has loopback addresses only")
	return ""
}

func TestLimitsOfServe(t *testing.T) {
	p := spawn(t, "serve", "--amqp", "127.0.0.1:0", "--control", "none", "--max-message-size", "1kB", "--heartbeat", "7s")
	url, _ := p.greeting()
	conn, err := amqp.DialConfig(withGuest(url), amqp.Config{Heartbeat: time.Minute})
	require.NoError(t, err)
	defer conn.Close()
	assert.Equal(t, 7*time.Second, conn.Config.Heartbeat)
	ch, err := conn.Channel()
	require.NoError(t, err)
	closed := ch.NotifyClose(make(chan *amqp.Error, 1))
	require.NoError(t, ch.Publish("", "q", false, false, amqp.Publishing{Body: make([]byte, 1000)}))
	require.NoError(t, ch.Publish("", "q", false, false, amqp.Publishing{Body: make([]byte, 1001)}))
	assert.Contains(t, (<-closed).Reason, "message size 1001 is larger than configured max size 1000")
}

// The log warns by default of what has no effect.
func TestServeWarnsOfWhatIsIgnored(t *testing.T) {
	definitions := filepath.Join(t.TempDir(), "definitions.json")
	require.NoError(t, os.WriteFile(definitions, []byte(`{"queues":[{"name":"q","vhost":"/","arguments":{"x-mesage-ttl":1}}]}`), 0o600))
	p := spawn(t, "serve", "--amqp", "127.0.0.1:0", "--control", "none", "--definitions", definitions)
	p.greeting()
	require.NoError(t, p.Process.Signal(os.Interrupt))
	status, stderr := p.exit()
	assert.Zero(t, status)
	line, _ := bufio.NewReader(strings.NewReader(stderr)).ReadString('\n')
	assert.Contains(t, line, "level=WARN msg=ignored vhost=/ queue=q argument=x-mesage-ttl similar=x-message-ttl")
}
