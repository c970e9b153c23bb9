package amqpd_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
	"github.com/leveretmq/leveret/leverettest"
	amqp091 "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// certificate makes a certificate that parent signed, or itself if that is nil.
func certificate(t *testing.T, name string, parent *tls.Certificate) *tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: parent == nil, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	issuer, signer := template, any(key)
	if parent != nil {
		issuer, signer = parent.Leaf, parent.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, &key.PublicKey, signer)
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

func TestTLS(t *testing.T) {
	b := leverettest.New(t)
	require.NoError(t, b.AddUser("CN=leveret client", "irrelevant"))
	v, err := b.VHost("/")
	require.NoError(t, err)
	require.NoError(t, v.SetPermissions("CN=leveret client", allPermissions))
	ca := certificate(t, "test authority", nil)
	pool := x509.NewCertPool()
	pool.AddCert(ca.Leaf)
	srv := &amqpd.Server{Broker: b, TLS: &tls.Config{
		Certificates: []tls.Certificate{*certificate(t, "broker", ca)}, ClientCAs: pool, ClientAuth: tls.VerifyClientCertIfGiven,
	}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go srv.Serve(l)
	defer srv.Close()
	url := "amqps://guest:guest@" + l.Addr().String() + "/"
	dial := func(cert *tls.Certificate, auth amqp091.Authentication) (*amqp091.Connection, error) {
		cfg := amqp091.Config{TLSClientConfig: &tls.Config{RootCAs: pool}, SASL: []amqp091.Authentication{auth}, Vhost: "/"}
		if cert != nil {
			cfg.TLSClientConfig.Certificates = []tls.Certificate{*cert}
		}
		return amqp091.DialConfig(url, cfg)
	}

	conn, err := dial(nil, &amqp091.PlainAuth{Username: "guest", Password: "guest"})
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	_, err = ch.QueueDeclare("q", false, false, false, false, nil)
	require.NoError(t, err)
	require.NoError(t, ch.Publish("", "q", false, false, amqp091.Publishing{Body: make([]byte, 300000)}))
	listed := b.Connections()[0]
	listed.Transport.Traffic = leveret.Traffic{}
	assert.Equal(t, leveret.Transport{Protocol: "AMQP 0-9-1", Mechanism: "PLAIN", FrameMax: 131072, Heartbeat: 10 * time.Second,
		TLS: leveret.TLSInfo{Version: "TLS 1.3", CipherSuite: listed.Transport.TLS.CipherSuite}}, listed.Transport)
	assert.Contains(t, listed.Transport.TLS.CipherSuite, "TLS_")
	d, ok, err := ch.Get("q", true)
	require.NoError(t, err)
	require.True(t, ok)
	assert.Len(t, d.Body, 300000)
	require.NoError(t, conn.Close())

	conn, err = dial(certificate(t, "leveret client", ca), &amqp091.ExternalAuth{})
	require.NoError(t, err)
	assert.Equal(t, "CN=leveret client", b.Connections()[0].User)
	require.NoError(t, conn.Close())

	_, err = dial(nil, &amqp091.ExternalAuth{})
	assert.ErrorIs(t, err, amqp091.ErrSASL, "EXTERNAL is not offered without a certificate")
}
