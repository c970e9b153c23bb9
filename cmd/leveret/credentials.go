package main

import (
	"errors"
	"fmt"

	"github.com/leveretmq/leveret/internal/pcre"
)

// A configuration file says which passwords users may be given.

// passwordRule are the keys below credential_validator.
type passwordRule struct {
	backend   string // empty: every password is good
	minLength int    // octets
	pattern   *pcre.Pattern
}

// The validators that RabbitMQ has, and how long a password has to be where the file does not say it.
const (
	anyPassword      = "rabbit_credential_validator_accept_everything"
	longPassword     = "rabbit_credential_validator_min_password_length"
	matchingPassword = "rabbit_credential_validator_password_regexp"

	defaultMinLength = 5
)

func setValidator(l *line) (err error) {
	l.passwords.backend, err = l.oneOf(map[string]string{anyPassword: "", longPassword: longPassword, matchingPassword: matchingPassword})
	return err
}

func setMinLength(l *line) (err error) {
	l.passwords.minLength, err = l.number()
	return err
}

func setPasswordPattern(l *line) error { return l.pattern(&l.passwords.pattern) }

// validate refuses a password in RabbitMQ's words.
func (r passwordRule) validate(_, password string) error {
	switch {
	case r.backend == longPassword && len(password) < r.minLength:
		return fmt.Errorf("minimum required password length is %d", r.minLength)
	case r.backend == matchingPassword && r.pattern == nil:
		return errors.New("rabbit.credential_validator.regexp config key is undefined")
	case r.backend == matchingPassword && !r.pattern.Match(password):
		return errors.New("provided password does not match the validator regular expression")
	}
	return nil
}
