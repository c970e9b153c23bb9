package amqpd

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"net"
	"slices"

	"github.com/leveretmq/leveret"
)

// The SASL mechanisms.
const (
	mechPlain     = "PLAIN"
	mechAMQPlain  = "AMQPLAIN"
	mechAnonymous = "ANONYMOUS"
	mechExternal  = "EXTERNAL"
)

// mechanisms are the ones offered on this connection.
func (c *conn) mechanisms() []string {
	if c.certificate() == nil {
		return c.release.mechanisms
	}
	offered := append(slices.Clone(c.release.mechanisms), mechExternal)
	slices.Sort(offered)
	return offered
}

// certificate returns the certificate with which the client proved who it is, or nil.
func (c *conn) certificate() *x509.Certificate {
	t, ok := c.nc.(*tls.Conn)
	if !ok {
		return nil
	}
	state := t.ConnectionState()
	if len(state.VerifiedChains) == 0 {
		return nil
	}
	return state.PeerCertificates[0]
}

// authenticate returns the user that the client proved to be. The error is ErrAccessRefused, or
// errSilent if the response makes no sense.
// Rules: A-12.
func (c *conn) authenticate(mechanism string, response []byte) (string, error) {
	if !slices.Contains(c.mechanisms(), mechanism) {
		return "", errSilent
	}
	if mechanism == mechExternal {
		user := c.srv.certLogin(c.certificate())
		if _, err := c.srv.Broker.User(user); err != nil {
			return "", leveret.ErrAccessRefused
		}
		return user, nil
	}
	user, password, err := credentials(mechanism, response)
	if err != nil {
		return user, err
	}
	if err := c.srv.Broker.Authenticate(user, password); err != nil {
		return "", err
	}
	if slices.Contains(c.srv.loopbackUsers(), user) && !isLoopback(c.nc) {
		return "", leveret.ErrAccessRefused
	}
	return user, nil
}

// credentials returns what a response says. The error is that of authenticate.
func credentials(mechanism string, response []byte) (user, password string, err error) {
	switch mechanism {
	case mechAnonymous:
		return "guest", "guest", nil
	case mechPlain:
		return plainCredentials(response)
	}
	return amqplainCredentials(response)
}

// plainCredentials takes apart NUL, user, NUL, password. An identity to act as is not supported.
func plainCredentials(response []byte) (user, password string, err error) {
	parts := bytes.Split(response, []byte{0})
	if len(parts) != 3 || len(parts[0]) != 0 {
		return "", "", errSilent
	}
	return string(parts[1]), string(parts[2]), nil
}

// amqplainCredentials takes a table apart. A password that is no string is a wrong one.
// Rules: A-12.
func amqplainCredentials(response []byte) (user, password string, err error) {
	fields, ok := decodeFields(response)
	if !ok {
		return "", "", errSilent
	}
	t := tableOf(fields)
	user, hasUser := text(t["LOGIN"])
	given, hasPassword := t["PASSWORD"]
	password, isText := text(given)
	switch {
	case !hasUser || !hasPassword:
		return "", "", errSilent
	case !isText:
		return user, "", leveret.ErrAccessRefused
	}
	return user, password, nil
}

func text(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []byte:
		return string(v), true
	}
	return "", false
}

// isLoopback reports whether the peer is on this machine.
func isLoopback(nc net.Conn) bool {
	tcp, ok := nc.RemoteAddr().(*net.TCPAddr)
	return !ok || tcp.IP.IsLoopback()
}
