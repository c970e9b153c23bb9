package mgmt

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"slices"

	"github.com/leveretmq/leveret"
)

// Who may do what. A user needs one of four tags to use the API at all. What else a request needs is its route's access.

// The tags that mean something to the API.
const (
	administrator = "administrator"
	monitoring    = "monitoring"
	policymaker   = "policymaker"
	management    = "management"
)

func (c *call) tagged(tags ...string) bool {
	return slices.ContainsFunc(tags, func(tag string) bool { return slices.Contains(c.user.Tags, tag) })
}

func (c *call) isAdministrator() bool { return c.tagged(administrator) }
func (c *call) isMonitor() bool       { return c.tagged(administrator, monitoring) }

// login finds out who asks. The error has RabbitMQ's code and text.
func (c *call) login() error {
	name, password, err := credentials(c.request)
	switch {
	case err == errNotAuthorized:
		return c.loginFailure
	case err != nil:
		return err
	}
	if err := c.broker.Authenticate(name, password); err != nil {
		return c.loginFailure
	}
	user, err := c.broker.User(name)
	if err != nil {
		return c.loginFailure
	}
	c.user = user
	switch {
	case slices.Contains(c.LoopbackUsers, name) && !isLoopback(c.request):
		return notAuthorised("User can only log in via localhost")
	case !c.tagged(administrator, monitoring, policymaker, management):
		return notAuthorised("Not management user")
	}
	return nil
}

// counted counts an attempt to log in, and returns how it ended. A request without credentials is none.
// Rules: A-19.
func (c *call) counted(err error) error {
	if err != errChallenge && err != errMalformed {
		c.broker.CountAuthAttempt(httpProtocol, err == nil)
	}
	return err
}

// isLoopback reports whether a request comes from this machine: over a Unix socket, or from a loopback address. What a
// connection of another kind gives for an address, as a tunnel's, does not tell.
func isLoopback(r *http.Request) bool {
	if _, unix := r.Context().Value(http.LocalAddrContextKey).(*net.UnixAddr); unix {
		return true
	}
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && peer.Addr().Unmap().IsLoopback()
}

// An access says whether a logged in user may use a route.
type access func(*call) error

func anybody(*call) error { return nil }

func administrators(c *call) error {
	if !c.isAdministrator() {
		return notAuthorised("Not administrator user")
	}
	return nil
}

func monitors(c *call) error {
	if !c.isMonitor() {
		return notAuthorised("Not monitor user")
	}
	return nil
}

// writersAreAdministrators lets everybody look, and administrators change.
func writersAreAdministrators(c *call) error {
	if c.request.Method == http.MethodGet || c.request.Method == http.MethodHead {
		return nil
	}
	return administrators(c)
}

// forgettersAreAdministrators lets monitors look, and administrators delete. In 3.10 monitors delete, too.
func forgettersAreAdministrators(c *call) error {
	if c.request.Method == http.MethodDelete && !c.monitorsForget {
		return administrators(c)
	}
	return monitors(c)
}

// members have permissions in the virtual host that the path names. To others it does not exist.
func members(c *call) error {
	v, err := c.vhost()
	if err != nil || v == nil || c.isAdministrator() || c.isMember(v) {
		return nil // whether the virtual host exists is not asked here
	}
	if c.saysForbidden {
		return notAuthorised("User not authorised to access virtual host")
	}
	return notFound("Not Found")
}

// viewers are members, and monitors.
func viewers(c *call) error {
	if c.isMonitor() {
		return nil
	}
	return members(c)
}

// consumerViewers are viewers. In 3.10 everybody may ask, and sees the consumers of the own connections.
func consumerViewers(c *call) error {
	if c.saysForbidden {
		return nil
	}
	return viewers(c)
}

// policymakers may set the policies and parameters of the virtual hosts that they are members of.
func policymakers(c *call) error {
	err := members(c)
	if !c.tagged(administrator, policymaker) || err != nil && c.saysForbidden {
		return notAuthorised("User not authorised to access object")
	}
	return err
}

// limitReaders may look at the limits of all users, and change them if they are administrators.
func limitReaders(c *call) error {
	if isRead := c.request.Method == http.MethodGet; isRead && c.opensUserLimits {
		return nil
	}
	return administrators(c)
}

// ownLimitReaders look at their own limits, monitors at all.
func ownLimitReaders(c *call) error {
	if c.opensUserLimits || c.isMonitor() || c.path("user") == c.user.Name {
		return nil
	}
	return notAuthorised("User not authorised to access object")
}

// globalPolicymakers may set what belongs to no virtual host.
func globalPolicymakers(c *call) error {
	if !c.tagged(administrator, policymaker) {
		return notAuthorised("User not authorised to access object")
	}
	return nil
}

// checkOwner lets users see and close their own connections and channels, monitors see all, and administrators close all.
func (c *call) checkOwner(user string) error {
	allowed := c.isMonitor()
	if c.request.Method == http.MethodDelete {
		allowed = c.isAdministrator()
	}
	if !allowed && user != c.user.Name {
		return notAuthorised("User not authorised to access object")
	}
	return nil
}

// isRefusedUser reports whether an error is the refusal of a user who may not see an object.
func isRefusedUser(err error) bool {
	var f *failure
	return errors.As(err, &f) && f.status == http.StatusUnauthorized && !f.byBroker
}

// ownersOfConnection lets the handler look for the connection. RabbitMQ fails if there is none, and the user may not see or close all.
func ownersOfConnection(c *call) error {
	if _, ok := withKey(c.broker.Connections(), c.connectionName, c.path("connection")); !ok && c.checkOwner("") != nil {
		return errCrash
	}
	return nil
}

// ownersOfChannel is ownersOfConnection for a channel.
func ownersOfChannel(c *call) error {
	for _, conn := range c.broker.Connections() {
		for _, ch := range conn.Channels {
			if c.channelName(conn, ch.Number) == c.path("channel") {
				return nil
			}
		}
	}
	if c.checkOwner("") != nil {
		return errCrash
	}
	return nil
}

// ownersOfConnections see and close the connections of a user. RabbitMQ 3.10 fails if these may not be all, also if they are the user's own.
func ownersOfConnections(c *call) error {
	if c.failsForOwners && c.checkOwner("") != nil {
		return errCrash
	}
	return nil
}

// isMember reports whether the user has permissions in a virtual host.
func (c *call) isMember(v *leveret.VHost) bool {
	return slices.ContainsFunc(v.Permissions(), func(p leveret.PermissionInfo) bool { return p.User == c.user.Name })
}

// vhosts returns what a list that names no virtual host has entries of: all for an administrator, and those that the
// user is a member of for others.
func (c *call) vhosts() (all []*leveret.VHost) {
	for _, info := range c.broker.VHosts() {
		v, err := c.broker.VHost(info.Name)
		if err == nil && (c.isAdministrator() || c.isMember(v)) {
			all = append(all, v)
		}
	}
	return all
}

// listed returns the virtual hosts that a list is about: the one in the path, or all that the user may see.
func (c *call) listed() ([]*leveret.VHost, error) {
	v, err := c.vhost()
	if err != nil {
		return nil, err
	}
	if v == nil {
		return c.vhosts(), nil
	}
	return []*leveret.VHost{v}, nil
}
