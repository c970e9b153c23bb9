package leveret

import (
	"cmp"
	"crypto/md5"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/binary"
	"hash"
	"slices"
)

// A PasswordHash is what a broker keeps of a password: a salt of four bytes, and behind it the
// digest of the salt and the password. The zero value accepts no password.
type PasswordHash struct {
	// Algorithm is rabbit_password_hashing_sha256, which is the default,
	// rabbit_password_hashing_sha512 or rabbit_password_hashing_md5. With any other one no password is accepted.
	Algorithm string `json:"hashing_algorithm"`
	Hash      []byte `json:"password_hash"`
}

// The algorithms of password hashes, as definitions name them.
const (
	hashSHA256 = "rabbit_password_hashing_sha256"
	hashSHA512 = "rabbit_password_hashing_sha512"
	hashMD5    = "rabbit_password_hashing_md5"
)

// saltLength is how many bytes of salt stand in front of the digest.
// Rules: J-5.
const saltLength = 4

// hashPassword returns the hash with that salt.
// Rules: J-5.
func hashPassword(salt uint32, password string) PasswordHash {
	p := PasswordHash{Algorithm: hashSHA256, Hash: binary.BigEndian.AppendUint32(nil, salt)}
	p.Hash = append(p.Hash, p.digest(p.Hash, password)...)
	return p
}

// digest is what the algorithm makes of the salt and the password, nil if the algorithm is unknown.
func (p PasswordHash) digest(salt []byte, password string) []byte {
	var h hash.Hash
	switch p.Algorithm {
	case hashSHA256, "":
		h = sha256.New()
	case hashSHA512:
		h = sha512.New()
	case hashMD5:
		h = md5.New()
	default:
		return nil
	}
	h.Write(salt)
	h.Write([]byte(password))
	return h.Sum(nil)
}

// accepts reports whether p is the hash of the password. Blank passwords are never accepted.
func (p PasswordHash) accepts(password string) bool {
	if password == "" || len(p.Hash) <= saltLength {
		return false
	}
	return subtle.ConstantTimeCompare(p.Hash[saltLength:], p.digest(p.Hash[:saltLength], password)) == 1
}

// clone returns the hash with its algorithm named, in memory of its own.
func (p PasswordHash) clone() PasswordHash {
	return PasswordHash{cmp.Or(p.Algorithm, hashSHA256), slices.Clone(p.Hash)}
}
