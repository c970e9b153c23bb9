package main

import (
	"testing"

	"github.com/leveretmq/leveret/definitions"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Rules: A-17.
func TestPasswordRules(t *testing.T) {
	const backend = "credential_validator.validation_backend = rabbit_credential_validator_"
	for _, c := range []struct{ config, password, want string }{
		{"", "", ""},
		{backend + "accept_everything\ncredential_validator.min_length = 9", "x", ""},
		{"credential_validator.min_length = 9", "x", ""},
		{backend + "min_password_length", "four", "minimum required password length is 5"},
		{backend + "min_password_length", "guest", ""},
		{backend + "min_password_length\ncredential_validator.min_length = 7", "guests", "minimum required password length is 7"},
		{backend + "password_regexp\ncredential_validator.regexp = ^[a-z]+$", "Guest", "provided password does not match the validator regular expression"},
		{backend + "password_regexp\ncredential_validator.regexp = ^[a-z]+$", "guest", ""},
	} {
		s, err := settingsOf(t, c.config)
		require.NoError(t, err, c.config)
		b, _, err := openBroker(s, nil)
		require.NoError(t, err)
		if err = b.AddUser("ann", c.password); c.want == "" {
			assert.NoError(t, err, c)
		} else {
			assert.EqualError(t, err, "PRECONDITION_FAILED - "+c.want, c)
			assert.EqualError(t, definitions.Import(b, []byte(`{"users":[{"name":"z","password":"","tags":""},{"name":"ann","password":"`+c.password+`","tags":""}]}`)),
				"users[0] 'z': credential_validation_failed", c)
		}
		b.Close()
	}
	_, err := settingsOf(t, backend+"nothing")
	assert.ErrorContains(t, err, `"rabbit_credential_validator_nothing" is not one of`)
}
