package leverettest

import (
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
	"sync"
	"time"

	"github.com/leveretmq/leveret"
)

// An Authority signs the certificates of a test: those of the broker, and those of clients that log in by theirs. Nobody
// trusts it but the clients that are told to. Its certificates hold at any time from 1990 to 2189, so also in a
// testing/synctest bubble. It is safe for concurrent use.
type Authority struct {
	self *tls.Certificate
	pool *x509.CertPool

	mu     sync.Mutex
	issued map[[2]string]*tls.Certificate // by name and host
}

// NewAuthority makes an authority.
func NewAuthority(t T) *Authority {
	t.Helper()
	a := &Authority{pool: x509.NewCertPool(), issued: map[[2]string]*tls.Certificate{}}
	var err error
	if a.self, err = a.sign("leverettest", ""); err != nil {
		t.Fatalf("leveret: making an authority: %v", err)
	}
	a.pool.AddCert(a.self.Leaf)
	return a
}

// Server returns the settings of a broker that has a certificate of the authority for whatever host name a client asks
// for, and for the loopback addresses. A client may show a certificate of the authority, and log in by it with EXTERNAL; to
// turn others away set ClientAuth to [tls.RequireAndVerifyClientCert].
func (a *Authority) Server() *tls.Config {
	return &tls.Config{
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) { return a.issue("broker", hello.ServerName) },
		ClientCAs:      a.pool, ClientAuth: tls.VerifyClientCertIfGiven,
	}
}

// Client returns the settings of a client that trusts the authority, such as for the field TLSClientConfig of amqp091-go's
// Config. If name is not empty the client has a certificate with that common name. The broker's user for it is "CN=" and
// the name, as with RabbitMQ: the user has to be added, with permissions.
func (a *Authority) Client(name string) *tls.Config {
	cfg := &tls.Config{RootCAs: a.pool}
	if name != "" {
		cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return a.issue(name, "") }
	}
	return cfg
}

// WriteFiles writes what Client has into a directory, for a program that takes the names of PEM files: ca.pem, and if name is
// not empty cert.pem and key.pem.
func (a *Authority) WriteFiles(t T, dir, name string) {
	t.Helper()
	files := map[string]*pem.Block{"ca.pem": {Type: "CERTIFICATE", Bytes: a.self.Certificate[0]}}
	if name != "" {
		cert, err := a.issue(name, "")
		if err != nil {
			t.Fatalf("leveret: %v", err)
		}
		key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
		if err != nil {
			t.Fatalf("leveret: %v", err)
		}
		files["cert.pem"] = &pem.Block{Type: "CERTIFICATE", Bytes: cert.Certificate[0]}
		files["key.pem"] = &pem.Block{Type: "PRIVATE KEY", Bytes: key}
	}
	for file, block := range files {
		if err := os.WriteFile(filepath.Join(dir, file), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatalf("leveret: %v", err)
		}
	}
}

// issue returns the certificate of a name, for a host if there is one, and makes it if it is asked for the first time.
func (a *Authority) issue(name, host string) (*tls.Certificate, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	owner := [2]string{name, host}
	if cert := a.issued[owner]; cert != nil {
		return cert, nil
	}
	cert, err := a.sign(name, host)
	if err == nil {
		a.issued[owner] = cert
	}
	return cert, err
}

// sign makes a certificate. The first is the authority's own.
func (a *Authority) sign(name, host string) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(int64(len(a.issued) + 1)), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2189, 1, 1, 0, 0, 0, 0, time.UTC),
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if host != "" {
		template.DNSNames = append(template.DNSNames, host)
	}
	issuer, signer := template, any(key)
	if a.self == nil {
		template.IsCA, template.KeyUsage = true, x509.KeyUsageCertSign
	} else {
		issuer, signer = a.self.Leaf, a.self.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, &key.PublicKey, signer)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, nil
}

// TLSDialer is [Dialer] for a program that uses TLS. What it returns for the field Dial of amqp091-go's Config is what TLS is
// spoken over; the program's URL has the scheme amqps, and the settings are those of an [Authority] or the test's own.
//
//	cfg := amqp091.Config{Dial: leverettest.TLSDialer(t, b, ca.Server()), TLSClientConfig: ca.Client("")}
//	conn, err := amqp091.DialConfig("amqps://guest:guest@rabbitmq/", cfg)
func TLSDialer(t T, b *leveret.Broker, server *tls.Config) func(network, addr string) (net.Conn, error) {
	t.Helper()
	return dialer(t, newDoor(b, demand(t, server)))
}

// TLSURL is [URL] for a program that uses TLS: its URL has the scheme amqps.
func TLSURL(t T, b *leveret.Broker, server *tls.Config) string {
	t.Helper()
	return address(t, "amqps", newDoor(b, demand(t, server)))
}

// demand ends the test if there are no settings.
func demand(t T, server *tls.Config) *tls.Config {
	t.Helper()
	if server == nil {
		t.Fatalf("leveret: TLS needs the broker's settings, such as those of an Authority")
	}
	return server
}
