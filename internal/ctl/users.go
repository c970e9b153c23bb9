package ctl

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/leveretmq/leveret"
)

// Users. A password that is not on the command line is read from standard input.

func userCommands() []*command {
	return []*command{
		{
			name: "add_user", usage: "add_user <username> [<password>] [<password_hash> --pre-hashed-password]",
			about: "Adds a user, without permissions.", min: 1, max: 2,
			switches: map[string]kind{"pre-hashed-password": boolean},
			validate: validateNewUser, input: passwordInput, run: addUser,
			banner: func(c *call) string { return `Adding user "` + c.args[0] + `" ...` },
		},
		{
			name: "delete_user", usage: "delete_user <username>", about: "Removes a user.", min: 1, max: 1,
			banner: func(c *call) string { return `Deleting user "` + c.args[0] + `" ...` },
			run: func(c *call) (result, error) {
				return result{}, ignoreMissing(c.node.Broker.DeleteUser(c.args[0]))
			},
		},
		{
			name: "set_user_tags", usage: "set_user_tags <username> <tag> [...]", about: "Sets a user's tags.", min: 1, max: -1,
			validate: validateTags, run: setUserTags,
			banner: func(c *call) string {
				return `Setting tags for user "` + c.args[0] + `" to ` + names(c.args[1:]).plain() + ` ...`
			},
		},
		{
			name: "change_password", usage: "change_password <username> <password>", about: "Sets a user's password.",
			min: 1, max: 2, input: passwordInput, run: changePassword,
			banner: func(c *call) string { return `Changing password for user "` + c.args[0] + `" ...` },
		},
		{
			name: "authenticate_user", usage: "authenticate_user <username> <password>", about: "Checks a user's password.",
			min: 1, max: 2, input: passwordInput, run: authenticateUser,
			banner: func(c *call) string { return `Authenticating user "` + c.args[0] + `" ...` },
		},
		{
			name: "list_users", usage: "list_users [--no-table-headers]", about: "Lists users and their tags.", timeout: true,
			table: true, run: listUsers, banner: func(*call) string { return "Listing users ..." },
		},
	}
}

func validateNewUser(c *call) error {
	if len(c.args) < 2 {
		return nil
	}
	if c.args[0] == "" {
		return badArgument("user cannot be an empty string")
	}
	if _, err := base64.StdEncoding.DecodeString(c.args[1]); err != nil && c.is("pre-hashed-password", false) {
		return badArgument("Could not Base64 decode provided password hash value")
	}
	return nil
}

func addUser(c *call) (result, error) {
	password, err := c.password(1, exitData)
	if err != nil {
		return result{}, err
	}
	name := c.args[0]
	if err := c.validate(name, password); err != nil {
		return result{}, err
	}
	if c.userExists(name) {
		return result{}, c.failedOn(exitSoftware, `User "`+name+`" already exists`, "User "+name+" already exists")
	}
	if c.is("pre-hashed-password", false) {
		err = c.addHashedUser(name, password)
	} else {
		err = c.node.Broker.AddUser(name, password)
	}
	done := "Done. Don't forget to grant the user permissions to some virtual hosts! " +
		"See 'leveret ctl help set_permissions' to learn more."
	r := result{message: done, object: row{{"message", done}, {"node", c.node.Name}, {"status", "ok"}}}
	if c.quiet() {
		r.message = ""
	}
	return r, err
}

// validate refuses a password that the node does not take. A hash is not looked at.
func (c *call) validate(name, password string) error {
	if c.is("pre-hashed-password", false) {
		return nil
	}
	var refused *leveret.Error
	if errors.As(c.node.Broker.ValidateCredentials(name, password), &refused) {
		return failed(exitUnavailable, refused.Reason)
	}
	return nil
}

func (c *call) addHashedUser(name, encoded string) error {
	hash, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return failed(exitData, "Could not Base64 decode provided password hash value")
	}
	return c.node.Broker.SetUser(name, leveret.PasswordHash{Hash: hash})
}

const maxTags = 32

// validateTags refuses more tags than a user can have. In 3.10 there is no such number.
func validateTags(c *call) error {
	if n := len(c.args) - 1; n > maxTags && !c.isOld() {
		return badArgument(fmt.Sprintf("A user can have at most %d tags (received %d)", maxTags, n))
	}
	return nil
}

// noSuchUser is the refusal to change a user that does not exist.
func (c *call) noSuchUser(name string) error {
	return c.failedOn(exitNoUser, `User "`+name+`" does not exist`, "User "+name+" does not exists")
}

func setUserTags(c *call) (result, error) {
	if !c.userExists(c.args[0]) {
		return result{}, c.noSuchUser(c.args[0])
	}
	return result{}, c.node.Broker.SetUserTags(c.args[0], c.args[1:]...)
}

func changePassword(c *call) (result, error) {
	password, err := c.password(1, exitSoftware)
	if err != nil {
		return result{}, err
	}
	if err := c.validate(c.args[0], password); err != nil {
		return result{}, err
	}
	if !c.userExists(c.args[0]) {
		return result{}, c.noSuchUser(c.args[0])
	}
	return result{}, c.node.Broker.ChangePassword(c.args[0], password)
}

// blankPassword is why nobody can log in without a password.
const blankPassword = " attempted to log in with a blank password, which is prohibited by the internal authN backend. To use TLS/x509 " +
	"certificate-based authentication, see the rabbitmq_auth_mechanism_ssl plugin and configure the client to use the EXTERNAL authentication " +
	"mechanism. Alternatively change the password for the user to be non-blank."

func authenticateUser(c *call) (result, error) {
	password, err := c.password(1, exitSoftware)
	if err != nil {
		return result{}, err
	}
	if c.node.Broker.Authenticate(c.args[0], password) != nil {
		user, why := c.args[0], " - invalid credentials"
		if password == "" {
			why = blankPassword
		}
		return result{}, failed(exitData, `Error: failed to authenticate user "`+user+`"`+"\nuser '"+user+"'"+why)
	}
	return result{message: "Success"}, nil
}

func listUsers(c *call) (result, error) {
	var rows []row
	for _, u := range c.node.Broker.Users() {
		rows = append(rows, row{{"user", u.Name}, {"tags", names(u.Tags)}})
	}
	return result{rows: rows, listing: true, blank: true}, nil
}
