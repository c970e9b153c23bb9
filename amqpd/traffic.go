package amqpd

import (
	"crypto/tls"
	"sync/atomic"

	"github.com/leveretmq/leveret"
)

// A meter counts the traffic of a connection. One goroutine at a time writes.
type meter struct {
	octetsIn, reads, octetsOut, writes atomic.Uint64
	pending                            atomic.Int64
}

// received counts one read.
func (m *meter) received(octets int) {
	m.octetsIn.Add(uint64(octets))
	m.reads.Add(1)
}

// sending notes how much the writer is about to write.
func (m *meter) sending(octets int) { m.pending.Store(int64(octets)) }

// sent counts one write of the reader, which has ended.
func (m *meter) sent(octets int) {
	m.octetsOut.Add(uint64(octets))
	m.writes.Add(1)
}

// progressed counts one write of the writer, which has ended.
func (m *meter) progressed(octets int) {
	m.pending.Add(-int64(octets))
	m.sent(octets)
}

func (m *meter) traffic() leveret.Traffic {
	return leveret.Traffic{Received: m.octetsIn.Load(), Reads: m.reads.Load(),
		Sent: m.octetsOut.Load(), Writes: m.writes.Load(), Pending: m.pending.Load()}
}

// describer returns what tells the broker about the connection at any time after the handshake.
func (c *conn) describer() func() leveret.Transport {
	t := leveret.Transport{Protocol: c.protocol.name, Mechanism: c.client.mechanism, FrameMax: c.tune.frameMax, Heartbeat: c.tune.heartbeat}
	if nc, ok := c.nc.(secured); ok {
		s := nc.ConnectionState()
		t.TLS = leveret.TLSInfo{Version: tls.VersionName(s.Version), CipherSuite: tls.CipherSuiteName(s.CipherSuite)}
	}
	return func() leveret.Transport {
		now := t
		now.Traffic = c.in.meter.traffic()
		return now
	}
}
