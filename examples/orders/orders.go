// Package orders is a service that takes orders of a shop and works them off, with RabbitMQ in between. It dials by
// itself, and again after a loss; it tries an order again after 1, 10 and 60 seconds, and then parks it. It knows nothing
// of leveret. Its tests do, and show all of that in milliseconds; with a URL they show it on a RabbitMQ.
package orders

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// Config has the settings of the service.
type Config struct {
	URL    string          // of the broker: amqp://user:password@host/vhost
	AMQP   amqp091.Config  // settings of the client
	Waits  []time.Duration // before an order's second try, its third, and so on; then it is parked. Nil: 1 s, 10 s, 60 s
	Redial time.Duration   // between two attempts to connect; 0: 1 s

	// Handle works an order off. An order may come twice: Handle must bear that. After an error an order is tried again,
	// unless it is ErrHopeless.
	Handle func(context.Context, Order) error
	Log    *slog.Logger // nil: slog.Default
}

// An Order is what a customer wants.
type Order struct {
	ID      string
	Country string // that it goes to, such as "nl"
	Items   []string
}

// Errors of Place and Handle.
var (
	ErrNowhere  = errors.New("orders: nobody delivers to that country")
	ErrRefused  = errors.New("orders: the broker has refused the order")
	ErrBlocked  = errors.New("orders: the broker is short of memory or disk, try later")
	ErrHopeless = errors.New("orders: no try will help")
)

// A Service takes orders and works them off while Run runs. The two have a connection each, because a broker that is short
// of memory reads nothing more from a connection that publishes, not even acknowledgements.
type Service struct {
	Config
	letters    chan *letter // to be published
	unsure     *letter      // published, and not confirmed
	publishing *link
	working    *link
}

// New returns a service.
func New(cfg Config) *Service {
	if cfg.Waits == nil {
		cfg.Waits = []time.Duration{time.Second, 10 * time.Second, time.Minute}
	}
	cfg.Redial = cmp.Or(cfg.Redial, time.Second)
	cfg.Log = cmp.Or(cfg.Log, slog.Default())
	s := &Service{Config: cfg, letters: make(chan *letter)}
	s.publishing = &link{Service: s, name: "orders publisher", use: s.publish}
	s.working = &link{Service: s, name: "orders worker", use: s.work}
	return s
}

// Run publishes and works until ctx is done.
func (s *Service) Run(ctx context.Context) {
	var running sync.WaitGroup
	running.Go(func() { s.publishing.stay(ctx) })
	running.Go(func() { s.working.stay(ctx) })
	running.Wait()
}
