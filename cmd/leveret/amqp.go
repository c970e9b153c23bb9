package main

import (
	"crypto/tls"
	"log/slog"
	"net"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
)

// An amqpServer serves AMQP clients on a listener.
type amqpServer interface {
	Serve(net.Listener) error // returns errServerClosed after Close
	Close() error             // tells the clients, and returns when their connections have ended
}

var errServerClosed = amqpd.ErrServerClosed

// newAMQPServer returns a server of the broker's clients, over TLS if config is not nil. As on
// RabbitMQ, guest may log in from this machine only.
func newAMQPServer(b *leveret.Broker, config *tls.Config, log *slog.Logger) amqpServer {
	return &amqpd.Server{Broker: b, TLS: config, Logger: log}
}
