package ctl

import (
	"strings"

	"github.com/leveretmq/leveret"
)

// A cipher is the suite of an encrypted connection, taken apart as Erlang names it.
type cipher struct{ exchange, cipher, hash word }

// parseCipher takes a name such as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256 apart. TLS 1.3 agrees on the key
// exchange otherwise, and its suites do not name one.
func parseCipher(suite string) cipher {
	name := strings.TrimPrefix(suite, "TLS_")
	exchange, bulk, ok := strings.Cut(name, "_WITH_")
	if !ok {
		exchange, bulk = "ANY", name
	}
	at := strings.LastIndexByte(bulk, '_')
	if at < 0 {
		return cipher{}
	}
	algorithm, hash := bulk[:at], bulk[at+1:]
	if strings.HasSuffix(algorithm, "_GCM") || strings.HasSuffix(algorithm, "_POLY1305") {
		hash = "AEAD" // the cipher authenticates by itself
	}
	lower := func(s string) word { return word(strings.ToLower(s)) }
	return cipher{lower(exchange), lower(algorithm), lower(hash)}
}

// tlsItem is a column of an encrypted connection. Certificates of clients are not asked for.
func tlsItem(info leveret.TLSInfo, column string) any {
	if info == (leveret.TLSInfo{}) {
		return none
	}
	c := parseCipher(info.CipherSuite)
	switch column {
	case "ssl_protocol": // "TLS 1.3" is tlsv1.3, but "TLS 1.0" is tlsv1
		return word("tlsv" + strings.TrimSuffix(strings.TrimPrefix(info.Version, "TLS "), ".0"))
	case "ssl_key_exchange":
		return c.exchange
	case "ssl_cipher":
		return c.cipher
	case "ssl_hash":
		return c.hash
	}
	return none
}
