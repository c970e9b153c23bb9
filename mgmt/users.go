package mgmt

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/erl"
	"github.com/leveretmq/leveret/internal/jsondoc"
)

func (c *call) users() (any, error) {
	return c.listUsers(func(leveret.UserInfo) bool { return true }), nil
}

func (c *call) usersWithoutPermissions() (any, error) {
	permitted := map[string]bool{}
	for _, v := range c.visible() {
		for _, p := range v.Permissions() {
			permitted[p.User] = true
		}
	}
	return c.listUsers(func(u leveret.UserInfo) bool { return !permitted[u.Name] }), nil
}

func (c *call) listUsers(which func(leveret.UserInfo) bool) (l list) {
	for _, u := range c.broker.Users() {
		if which(u) {
			l = append(l, shown(describeUser(u)))
		}
	}
	return l
}

func describeUser(u leveret.UserInfo) object {
	return object{"name": u.Name, "password_hash": base64.StdEncoding.EncodeToString(u.Password.Hash),
		"hashing_algorithm": algorithm(u.Password), "tags": tags(u.Tags), "limits": u.Limits}
}

const defaultAlgorithm = "rabbit_password_hashing_sha256"

func algorithm(p leveret.PasswordHash) string {
	if p.Algorithm == "" {
		return defaultAlgorithm
	}
	return p.Algorithm
}

// pathUser returns the user in the path.
func (c *call) pathUser() (leveret.UserInfo, error) {
	u, err := c.broker.User(c.path("user"))
	if err != nil {
		return u, errNoObject
	}
	return u, nil
}

func (c *call) getUser() (any, error) {
	u, err := c.pathUser()
	if err != nil {
		return nil, err
	}
	return describeUser(u), nil
}

// putUser sets what the body says. Without a password the user cannot log in; a user that exists keeps nothing but the
// limits and permissions.
func (c *call) putUser() (any, error) {
	name := c.path("user")
	if err := c.leavesAlone(name); err != nil {
		return nil, err
	}
	if err := c.readBody(); err != nil {
		return nil, err
	}
	s, err := c.userSettings()
	if err != nil {
		return nil, err
	}
	old, missing := c.pathUser()
	if missing != nil {
		return put(false), c.addUser(name, s)
	}
	return put(true), c.changeUser(old, s)
}

func (c *call) deleteUser() (any, error) {
	u, err := c.pathUser()
	if err != nil {
		return nil, err
	}
	if err := c.leavesAlone(u.Name); err != nil {
		return nil, err
	}
	return nil, invalid(c.broker.DeleteUser(u.Name))
}

// deleteUsers deletes several users. Protected ones are passed over.
func (c *call) deleteUsers() (any, error) {
	if err := c.need("users"); err != nil {
		return nil, err
	}
	if c.body["users"][0] != '[' {
		return nil, errCrash
	}
	var users []json.RawMessage
	if err := c.body.read("users", &users); err != nil {
		return nil, err
	}
	for _, user := range users {
		var name string
		if user[0] != '"' {
			return nil, c.noName(user)
		}
		if err := json.Unmarshal(user, &name); err != nil {
			return nil, err
		}
		if c.isProtectedUser(name) {
			continue
		}
		err := c.broker.DeleteUser(name)
		isMissing := isCode(err, leveret.NotFound)
		switch {
		case isMissing && c.needsAllUsers:
			return nil, badRequest([]any{"no_such_user", name})
		case err != nil && !isMissing:
			return nil, invalid(err)
		}
	}
	return nil, nil
}

// noName refuses a user to be deleted whose name is no text. 3.10 has no such user.
func (c *call) noName(user json.RawMessage) error {
	if !c.needsAllUsers {
		return errCrash
	}
	text, err := jsondoc.Rewrite(user)
	return cmp.Or(err, badRequest([]any{"no_such_user", json.RawMessage(text)}))
}

func (c *call) hashPassword() (any, error) {
	hash := c.broker.HashPassword(c.path("password"))
	return object{"ok": base64.StdEncoding.EncodeToString(hash.Hash)}, nil
}

// readLoginInQuery takes the name and the password from the query, if it has them.
func (c *call) readLoginInQuery() error {
	if c.malformed != nil || !c.params.Has("auth") {
		return c.malformed
	}
	text, err := erl.DecodeBase64(c.query("auth"))
	name, password, hasBoth := strings.Cut(string(text), ":")
	if err != nil || !hasBoth {
		return errCrash
	}
	c.request.SetBasicAuth(name, password)
	return nil
}

// readLogin logs in with the name and the password of the body. RabbitMQ looks at them before it looks at the kind of the body.
func (c *call) readLogin() error {
	data, err := c.readAll()
	if err != nil {
		return err
	}
	form, _, err := parseQuery(string(data))
	if err != nil || !form.Has("username") || !form.Has("password") {
		return c.loginFailure
	}
	c.request.SetBasicAuth(form.Get("username"), form.Get("password"))
	return c.counted(c.login())
}

// signIn returns what a page needs to use the API. In 3.10 that is a cookie.
func (c *call) signIn() (any, error) {
	name, password, _ := c.request.BasicAuth()
	token := base64.StdEncoding.EncodeToString([]byte(name + ":" + password))
	if c.signsInByCookie {
		c.header.Set("Set-Cookie", "auth="+token+"; Version=1")
		return "ok", nil
	}
	return object{"user": c.whoIs(c.user), "token": object{"type": "basic", "value": token}}, nil
}

// signOut has nothing to end: every request brings its credentials.
func (c *call) signOut() (any, error) { return nil, nil }
