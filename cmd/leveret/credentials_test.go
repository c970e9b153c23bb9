package main

import (
	"log/slog"
	"path/filepath"
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
		refusesGuest := s.passwords.validate("guest", "guest") != nil
		assert.Equal(t, refusesGuest, s.setUp(b) != nil, "%v: guest as every user", c)
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

// A password of the first user that users may not be given is refused at the first start only, before there is a directory.
// Rules: A-17.
func TestPasswordOfTheFirstUser(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	const rule = "credential_validator.validation_backend = rabbit_credential_validator_min_password_length\ncredential_validator.min_length = 8\n"
	short, err := settingsOf(t, rule+"leveret.data = "+dir)
	require.NoError(t, err)
	_, _, err = openBroker(short, slog.New(slog.DiscardHandler))
	assert.ErrorContains(t, err, "minimum required password length is 8")
	assert.NoDirExists(t, dir)

	long, err := settingsOf(t, rule+"default_pass = long enough\nleveret.data = "+dir)
	require.NoError(t, err)
	for i, s := range []settings{long, short} {
		b, first, err := openBroker(s, slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		assert.Equal(t, i == 0, first)
		require.NoError(t, b.Close())
	}
}
