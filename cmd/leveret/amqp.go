package main

import (
	"crypto/tls"
	"log/slog"
	"net"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
)

// A clientServer serves the clients of a listener.
type clientServer interface {
	Serve(net.Listener) error // returns errServerClosed after Close
	Close() error             // tells AMQP clients, and returns when their connections have ended
}

var errServerClosed = amqpd.ErrServerClosed

// newAMQPServer returns a server of the broker's clients, over TLS if config is not nil.
func newAMQPServer(b *leveret.Broker, s settings, config *tls.Config, log *slog.Logger) clientServer {
	heartbeat := s.clients.heartbeat
	if heartbeat == 0 {
		heartbeat = -1 // none
	}
	channels := s.clients.channelMax
	if channels == 0 {
		channels = leveret.NoLimit
	}
	return &amqpd.Server{
		Broker: b, TLS: config, CertLogin: s.tls.login, LoopbackUsers: s.users.loopback, Logger: log, Heartbeat: heartbeat,
		HandshakeTimeout: s.clients.handshakeTimeout, FrameMax: s.clients.frameMax, ChannelMax: channels,
	}
}
