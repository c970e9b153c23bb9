package mgmt

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/erl"
	"github.com/leveretmq/leveret/internal/jsondoc"
	"github.com/leveretmq/leveret/internal/limits"
)

// userSettings are what a PUT of a user sets. The limits that it does not name stay.
type userSettings struct {
	tags     []string
	password leveret.PasswordHash
	limits   limits.Limits
	isBlank  bool // there is neither a password nor a hash
}

// userSettings returns what the body says, which is looked at in RabbitMQ's order.
func (c *call) userSettings() (s userSettings, err error) {
	if s.tags, err = c.userTags(); err != nil {
		return s, err
	}
	if s.limits, err = c.limitsInBody(); err != nil {
		return s, err
	}
	s.isBlank = c.body["password"] == nil && c.body["password_hash"] == nil
	s.password, err = c.givenPassword()
	return s, err
}

// userTags returns the tags of the body. Bodies of RabbitMQ's first releases say whether the user is an administrator instead.
func (c *call) userTags() ([]string, error) {
	data, ok := c.body["tags"]
	if !ok {
		return c.legacyTags()
	}
	if n := jsondoc.CountUserTags(data); c.maxTags > 0 && n > c.maxTags {
		return nil, badRequest(fmt.Sprintf("A user can have at most %d tags (received %d)", c.maxTags, n))
	}
	tags, ok := jsondoc.UserTags(data)
	if !ok || slices.ContainsFunc(tags, jsondoc.TooLongForTag) {
		return nil, errCrash
	}
	return tags, nil
}

func (c *call) legacyTags() ([]string, error) {
	if c.body["administrator"] == nil {
		return nil, badRequest("tags_not_present")
	}
	isAdministrator, err := c.body.truth("administrator")
	if err != nil || !isAdministrator {
		return nil, err
	}
	return []string{"administrator"}, nil
}

// limitsInBody returns the limits of the body. RabbitMQ's handler fails at those that are wrong, and at an empty list.
func (c *call) limitsInBody() (limits.Limits, error) {
	data, ok := c.body["limits"]
	if !ok {
		return nil, nil
	}
	given, wrong := c.readLimits(data, "user-limits", limits.MaxConnections, limits.MaxChannels)
	if wrong != "" || data[0] != '{' {
		return nil, errCrash
	}
	return given, nil
}

// givenPassword returns the password of the body, as a text or as a hash; without either none is accepted.
func (c *call) givenPassword() (leveret.PasswordHash, error) {
	password, hashed := c.body["password"], c.body["password_hash"]
	switch {
	case password != nil && hashed != nil:
		return leveret.PasswordHash{}, badRequest("both_password_and_password_hash_are_provided")
	case password != nil:
		text, err := c.body.textOnly("password")
		if err != nil {
			return leveret.PasswordHash{}, err
		}
		if c.broker.ValidateCredentials(c.path("user"), text) != nil {
			return leveret.PasswordHash{}, badRequest("credential_validation_failed")
		}
		return c.broker.HashPassword(text), nil
	case hashed == nil:
		return leveret.PasswordHash{}, nil
	}
	if a := c.body["hashing_algorithm"]; a != nil && strings.IndexByte(`"[ntf`, a[0]) < 0 {
		return leveret.PasswordHash{}, errCrash
	}
	text, err := c.body.textOrList("password_hash")
	hash, wrong := erl.DecodeBase64(text)
	if err != nil || wrong != nil || !hasNumbersOnly(hashed) {
		return leveret.PasswordHash{}, badRequest([]any{"not_base64", hashed})
	}
	return leveret.PasswordHash{Algorithm: c.body.text("hashing_algorithm"), Hash: hash}, nil
}

// addUser adds a user, with the permissions that the body gives. One that is refused leaves the user there, and the
// permissions before it.
func (c *call) addUser(name string, s userSettings) error {
	if s.isBlank && c.inventsPasswords {
		s.password = c.broker.HashPassword(rand.Text())
	}
	if err := c.setUser(name, s); err != nil {
		return err
	}
	if data, ok := c.body["permissions"]; ok {
		return c.grant(name, data)
	}
	return nil
}

// changeUser changes a user. The limits stay if the password is taken away, whatever the body says of them.
func (c *call) changeUser(old leveret.UserInfo, s userSettings) error {
	if s.isBlank {
		s.limits = nil
	}
	return c.setUser(old.Name, s)
}

func (c *call) setUser(name string, s userSettings) error {
	if err := c.broker.SetUser(name, s.password, s.tags...); err != nil || len(s.limits) == 0 {
		return invalid(err)
	}
	return c.setUserLimits(name, s.limits)
}

// setUserLimits sets the given limits of a user, and leaves the others.
func (c *call) setUserLimits(name string, given limits.Limits) error {
	u, err := c.broker.User(name)
	if err != nil {
		return badRequest([]string{"no_such_user", name})
	}
	return invalid(c.broker.SetUserLimits(name, given.OfUser(u.Limits)))
}

// grant gives a user permissions, which are an object for each virtual host. RabbitMQ goes through them by their names.
func (c *call) grant(user string, data json.RawMessage) error {
	var vhosts map[string]json.RawMessage
	if json.Unmarshal(data, &vhosts) != nil || vhosts == nil {
		return errCrash
	}
	for _, name := range slices.Sorted(maps.Keys(vhosts)) {
		if err := c.grantIn(name, user, vhosts[name]); err != nil {
			return err
		}
	}
	return nil
}

// grantIn looks at the expressions before it looks for the virtual host.
func (c *call) grantIn(vhost, user string, data json.RawMessage) error {
	var given body
	if json.Unmarshal(data, &given) != nil {
		return errCrash
	}
	for _, key := range []string{"configure", "write", "read"} {
		if given[key] == nil {
			return errCrash
		}
	}
	of, err := c.expressions(given.textOnly, octetsOf, "configure", "write", "read")
	if err != nil {
		return err
	}
	v, err := c.broker.VHost(vhost)
	if err != nil {
		return badRequest([]string{"no_such_vhost", vhost})
	}
	return invalid(v.SetPermissions(user, leveret.Permissions{Configure: of[0], Write: of[1], Read: of[2]}))
}

// octetsOf is how the refusal of a permission has an expression.
func octetsOf(source string) any { return octetList([]byte(source)) }

// leavesAlone refuses to change or delete a user who has the tag protected.
func (c *call) leavesAlone(name string) error {
	if c.isProtectedUser(name) {
		return badRequest("Protected users cannot be modified via the HTTP API")
	}
	return nil
}

func (c *call) isProtectedUser(name string) bool {
	u, err := c.broker.User(name)
	return c.protectsUsers && err == nil && slices.Contains(u.Tags, "protected")
}
