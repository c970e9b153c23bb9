package main

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
	"github.com/leveretmq/leveret/internal/fault"
)

// A clientServer serves the clients of a listener.
type clientServer interface {
	Serve(net.Listener) error // returns errServerClosed after Close
	Close() error             // tells AMQP clients, and returns when their connections have ended
}

var errServerClosed = amqpd.ErrServerClosed

// A faultyServer serves clients by a door with faults.
type faultyServer struct {
	*amqpd.Server
	door *fault.Door
}

func (f faultyServer) Serve(l net.Listener) error { return f.door.Serve(l) }

func (f faultyServer) Close() error {
	f.door.Shut()
	return f.Server.Close()
}

// Settle returns when what the broker has for its clients has been written to their sockets.
func (f faultyServer) Settle(ctx context.Context) error { return fault.Settle(ctx, f.Broker) }

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
	srv := &amqpd.Server{
		Broker: b, TLS: config, CertLogin: s.tls.login, LoopbackUsers: s.users.loopback, Logger: log, Heartbeat: heartbeat,
		HandshakeTimeout: s.clients.handshakeTimeout, FrameMax: s.clients.frameMax, ChannelMax: channels,
		Mechanisms: s.users.mechanisms, AnonymousUser: s.users.anonymous.user, AnonymousPassword: s.users.anonymous.password,
	}
	if s.faults {
		return faultyServer{srv, fault.NewDoor(srv)}
	}
	return srv
}
