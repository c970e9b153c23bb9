package ctl

import (
	"crypto/md5"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"maps"
	"slices"
	"strings"
)

// Commands that need no server.

func localCommands() []*command {
	return []*command{
		{name: "hash_password", usage: "hash_password <cleartext_password> [--hashing-algorithm <algorithm>]", max: 1, local: true,
			switches: map[string]kind{"hashing-algorithm": text}, validate: validateHashing, run: hashPassword,
			about: "Hashes a password, for definitions or add_user --pre-hashed-password. Algorithms: sha256, sha512, md5.",
			input: func(c *call) *Need {
				if len(c.args) > 0 {
					return nil
				}
				return &Need{Kind: NeedLine}
			},
			banner: func(c *call) string {
				if len(c.args) == 0 {
					return "Will hash provided password"
				}
				return "Will hash password " + c.args[0]
			}},
		{name: "autocomplete", usage: "autocomplete [prefix]", timeout: true, min: 1, max: 1, local: true,
			about: "Lists the commands that begin with a prefix.", run: autocomplete},
	}
}

// hashes are the algorithms of password hashes.
var hashes = map[string]func(data []byte) []byte{
	"sha256": func(data []byte) []byte { h := sha256.Sum256(data); return h[:] },
	"sha512": func(data []byte) []byte { h := sha512.Sum512(data); return h[:] },
	"md5":    func(data []byte) []byte { h := md5.Sum(data); return h[:] },
}

func validateHashing(c *call) error {
	if algorithm := c.text("hashing-algorithm", "sha256"); hashes[strings.ToLower(algorithm)] == nil {
		return badArgument("unsupported hashing algorithm: " + algorithm)
	}
	return nil
}

// saltSize is how many random octets stand before a password, and before its hash.
const saltSize = 4

func hashPassword(c *call) (result, error) {
	if len(c.args) == 0 && c.input != nil && len(c.input.Data) == 0 {
		return result{}, failed(exitUnavailable, "not_enough_args")
	}
	password, err := c.password(0, exitUnavailable)
	if err != nil {
		return result{}, err
	}
	salt := make([]byte, saltSize)
	rand.Read(salt) // never fails
	hash := hashes[strings.ToLower(c.text("hashing-algorithm", "sha256"))]
	return result{message: base64.StdEncoding.EncodeToString(append(salt, hash(append(slices.Clone(salt), password...))...))}, nil
}

func autocomplete(c *call) (result, error) {
	var found []string
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		if strings.HasPrefix(name, c.args[0]) {
			found = append(found, name)
		}
	}
	return result{message: strings.Join(found, "\n")}, nil
}
