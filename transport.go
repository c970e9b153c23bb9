package leveret

import (
	"sync/atomic"
	"time"
)

// What carries a connection is the business of whoever opens it for a remote client. The broker only
// passes on in listings what it is told.

// Transport describes what carries a connection.
type Transport struct {
	Mechanism string        // the SASL mechanism of the login, such as PLAIN
	FrameMax  int           // octets in a frame, as agreed with the client; 0: there are no frames
	Heartbeat time.Duration // as agreed with the client; 0: none
	TLS       TLSInfo       // zero: not encrypted
}

// TLSInfo describes the encryption of a connection in the words of crypto/tls.
type TLSInfo struct {
	Version     string // such as "TLS 1.3"
	CipherSuite string // such as "TLS_AES_128_GCM_SHA256"
}

// Traffic is what has gone over a connection. What is encrypted counts as what it was before.
type Traffic struct {
	Received, Reads uint64 // octets, and how many reads brought them
	Sent, Writes    uint64 // octets, and how many writes took them
	Pending         int64  // octets that are being written, because the client does not read them
}

// A Meter counts the traffic of a connection, for [ConnInfo]. Its methods may be called at any time,
// those about writes by one goroutine at a time, and on a nil Meter, which counts nothing.
type Meter struct {
	received, reads, sent, writes atomic.Uint64
	pending                       atomic.Int64
}

// Received counts one read.
func (m *Meter) Received(octets int) {
	if m != nil {
		m.received.Add(uint64(octets))
		m.reads.Add(1)
	}
}

// Sending notes that a write begins.
func (m *Meter) Sending(octets int) {
	if m != nil {
		m.pending.Store(int64(octets))
	}
}

// Sent counts one write, which has ended.
func (m *Meter) Sent(octets int) {
	if m != nil {
		m.pending.Store(0)
		m.sent.Add(uint64(octets))
		m.writes.Add(1)
	}
}

func (m *Meter) traffic() Traffic {
	if m == nil {
		return Traffic{}
	}
	return Traffic{Received: m.received.Load(), Reads: m.reads.Load(), Sent: m.sent.Load(), Writes: m.writes.Load(),
		Pending: m.pending.Load()}
}
