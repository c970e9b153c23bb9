package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// The management API has a door of its own. It is open by default, so a port that is taken must not keep the broker from
// serving AMQP; a port that was asked for must be free.

// defaultHTTP is where the management API is served unless --http says otherwise; RabbitMQ serves it there, too.
const defaultHTTP = "127.0.0.1:15672"

// How long a client of the management API may take. An answer may have to tell of tens of thousands of queues.
const (
	headerTimeout  = 10 * time.Second
	requestTimeout = time.Minute
	answerTimeout  = 2 * time.Minute
	idleTimeout    = time.Minute
)

// listen opens the door of the management API. It returns nil if there is to be none, and if the default port is taken,
// which the log tells.
func (s httpSettings) listen(origin string, log *slog.Logger) (net.Listener, error) {
	if s.addr == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", s.addr)
	if err == nil {
		return l, nil
	}
	if s.asked {
		return nil, fmt.Errorf("%s: %w", origin, err)
	}
	log.Warn("the management API is not served, its port is taken; --http gives it another one, --http none does without",
		"address", s.addr, "error", err)
	return nil, nil
}

// An httpServer serves the management API on a listener.
type httpServer struct{ http.Server }

func newHTTPServer(api http.Handler, log *slog.Logger) *httpServer {
	return &httpServer{http.Server{
		Handler:           api,
		ReadHeaderTimeout: headerTimeout, ReadTimeout: requestTimeout, WriteTimeout: answerTimeout, IdleTimeout: idleTimeout,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelInfo),
	}}
}

// Serve is http.Server.Serve, whose end after Close is the same as that of a server of AMQP clients.
func (s *httpServer) Serve(l net.Listener) error {
	err := s.Server.Serve(l)
	if errors.Is(err, http.ErrServerClosed) {
		return errServerClosed
	}
	return err
}
