package leveret

import "time"

// The listener that opened a connection knows what carries it. The broker asks the listener (ConnConfig.Describe) when
// connections are listed.

// Transport describes what carries a connection.
type Transport struct {
	Protocol  string        // such as "AMQP 0-9-1"; empty: none that has a name
	Mechanism string        // the SASL mechanism of the login, such as PLAIN
	FrameMax  int           // octets in a frame, as agreed with the client; 0: there are no frames
	Heartbeat time.Duration // as agreed with the client, in whole seconds; 0: none
	TLS       TLSInfo       // zero: not encrypted
	Traffic   Traffic       // so far; zero: nobody counts
}

// TLSInfo describes the encryption of a connection in the words of crypto/tls.
type TLSInfo struct {
	Version     string `json:"ssl_protocol"` // such as "TLS 1.3"
	CipherSuite string `json:"ssl_cipher"`   // such as "TLS_AES_128_GCM_SHA256"
}

// Traffic is what has gone over a connection. What is encrypted counts as what it was before.
type Traffic struct {
	Received uint64 `json:"recv_oct"`  // octets
	Reads    uint64 `json:"recv_cnt"`  // how many reads brought them
	Sent     uint64 `json:"send_oct"`  // octets
	Writes   uint64 `json:"send_cnt"`  // how many writes took them
	Pending  int64  `json:"send_pend"` // octets that are being written, because the client does not read them
}
