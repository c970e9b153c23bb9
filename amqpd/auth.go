package amqpd

import (
	"bytes"
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
// Rules: A-18.
func (c *conn) mechanisms() []string {
	offered := slices.Clone(c.release.mechanisms)
	if c.certificate() != nil {
		offered = append(offered, mechExternal)
		slices.Sort(offered)
	}
	if permitted := c.srv.Mechanisms; permitted != nil {
		offered = slices.DeleteFunc(offered, func(m string) bool { return !slices.Contains(permitted, m) })
	}
	return offered
}

// certificate returns the verified certificate of the client, or nil.
func (c *conn) certificate() *x509.Certificate {
	t, ok := c.nc.(secured)
	if !ok {
		return nil
	}
	state := t.ConnectionState()
	if len(state.VerifiedChains) == 0 {
		return nil
	}
	return state.PeerCertificates[0]
}

// A loginRefusal is why a client may not log in, in words for the log. The client is told only that it may not.
type loginRefusal string

func (r loginRefusal) Error() string { return string(r) }

// errMalformed is the end of a login whose response makes no sense.
const errMalformed = loginRefusal("malformed response")

// errUnknownMechanism is the end of a login by a mechanism that was not offered.
const errUnknownMechanism = loginRefusal("unknown mechanism")

// errNoTable is the end of a login by AMQPLAIN whose response is no table.
const errNoTable = loginRefusal("malformed table")

// authenticate returns the user that the client proved to be or, with a loginRefusal, the one that it said to be.
// Rules.
func (c *conn) authenticate(mechanism string, response []byte) (user string, err error) {
	if !slices.Contains(c.mechanisms(), mechanism) {
		return "", errUnknownMechanism
	}
	user, err = c.identify(mechanism, response)
	if err == nil && slices.Contains(c.srv.loopbackUsers(), user) && !isLocal(c.nc.RemoteAddr()) {
		return user, loginRefusal("may connect from this machine only")
	}
	return user, err
}

// countAttempt counts an attempt to log in. RabbitMQ does not, if it does not know the mechanism or cannot read the table.
// Rules: A-19.
func (c *conn) countAttempt(err error) {
	if err != errUnknownMechanism && err != errNoTable {
		c.srv.Broker.CountAuthAttempt("amqp091", err == nil)
	}
}

// identify is authenticate without regard to where the client is.
func (c *conn) identify(mechanism string, response []byte) (user string, err error) {
	broker := c.srv.Broker
	if mechanism == mechExternal {
		user = c.srv.certLogin(c.certificate())
		if _, err := broker.User(user); err != nil {
			return user, loginRefusal("no such user")
		}
		return user, nil
	}
	user, password, err := c.credentials(mechanism, response)
	if err != nil || broker.Authenticate(user, password) == nil {
		return user, err
	}
	if _, err := broker.User(user); err != nil {
		return user, loginRefusal("no such user")
	}
	return user, loginRefusal("wrong password")
}

// credentials returns what a response says.
func (c *conn) credentials(mechanism string, response []byte) (user, password string, err error) {
	switch mechanism {
	case mechAnonymous:
		if s := c.srv; s.AnonymousUser != "" {
			return s.AnonymousUser, s.AnonymousPassword, nil
		}
		return "guest", "guest", nil
	case mechPlain:
		return plainCredentials(response)
	}
	return c.release.amqplainCredentials(response)
}

// plainCredentials takes apart NUL, user, NUL, password. An identity to act as is not supported.
func plainCredentials(response []byte) (user, password string, err error) {
	parts := bytes.Split(response, []byte{0})
	if len(parts) != 3 || len(parts[0]) != 0 {
		return "", "", errMalformed
	}
	return string(parts[1]), string(parts[2]), nil
}

// amqplainCredentials takes a table apart. A password that is no string is a wrong one, and so is the name of a user that is none but
// can be printed as one.
// Rules: A-12.
func (r *release) amqplainCredentials(response []byte) (user, password string, err error) {
	fields, ok := decodeFields(response)
	if !ok {
		return "", "", errNoTable
	}
	t := tableOf(fields)
	login, hasUser := t["LOGIN"]
	given, hasPassword := t["PASSWORD"]
	user, isName := text(login)
	password, isText := text(given)
	switch {
	case !hasUser || !hasPassword || !r.takesLogin(login, given):
		return user, "", errMalformed
	case !isName && !printsAsText(login):
		return "", "", errMalformed
	case !isName:
		return "", "", loginRefusal("no such user")
	case !isText:
		return user, "", loginRefusal("wrong password")
	}
	return user, password, nil
}

// takesLogin reports whether RabbitMQ goes on with a login after a look at the types of its two fields. 3.10 demands that one is a
// string. 4.3 demands a user that is a string, a password of octets, or a user of octets beside a password that is a string.
// Rules: A-12.
func (r *release) takesLogin(user, password any) bool {
	_, isString := user.(string)
	_, isOctets := user.([]byte)
	_, hasString := password.(string)
	_, hasOctets := password.([]byte)
	if r.takesOctets {
		return isString || isOctets && hasString || hasOctets
	}
	return isString || hasString
}

// printsAsText reports whether a field that is no string can stand where the log has the name of a user.
func printsAsText(v any) bool {
	switch v := v.(type) {
	case nil, bool:
		return true
	case leveret.Fields:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
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

// stdPipe is the address of both ends of every net.Pipe.
var stdPipe = func() net.Addr { end, _ := net.Pipe(); return end.RemoteAddr() }()

// isLocal reports whether an address is known to be on this machine. Of what other transports call an address nothing
// is known: behind a tunnel or a websocket may be anybody.
// Rules: A-14.
func isLocal(peer net.Addr) bool {
	switch peer := peer.(type) {
	case *net.TCPAddr:
		return peer.IP.IsLoopback()
	case *net.UnixAddr, pipeAddr:
		return true
	}
	return peer == stdPipe
}
