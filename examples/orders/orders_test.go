package orders

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A shop is the service on a site, with a worker who says what becomes of an order.
type shop struct {
	*site
	*Service
	tries chan try
	lot   <-chan amqp091.Delivery // parked orders; nil: nobody looks yet
}

// A try is an order in the hands of the worker, who waits for the test.
type try struct {
	Order
	at   time.Time
	ends chan<- error
}

func (s *site) start() *shop {
	shop := &shop{site: s, tries: make(chan try)}
	s.config.Handle, s.config.Log = shop.handle, slog.New(slog.DiscardHandler)
	shop.Service = New(s.config)
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { shop.Run(ctx) })
	s.Cleanup(func() {
		stop()
		running.Wait()
	})
	return shop
}

func (s *shop) handle(ctx context.Context, o Order) error {
	ends := make(chan error)
	select {
	case s.tries <- try{o, time.Now(), ends}:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-ends:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// patience is longer than anything takes, and on a RabbitMQ not too long.
const patience = 90 * time.Second

// next returns the next try.
func (s *shop) next() try {
	s.Helper()
	select {
	case try := <-s.tries:
		return try
	case <-time.After(patience):
		require.FailNow(s, "no order comes")
		return try{}
	}
}

// ends has the next try end so, and returns it.
func (s *shop) ends(err error) try {
	s.Helper()
	try := s.next()
	try.ends <- err
	return try
}

func (s *shop) place(o Order) error {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	return s.Place(ctx, o)
}

// placeAfter places an order as somebody who is turned away with that error, and tries again.
func (s *shop) placeAfter(turned error, o Order) error {
	for {
		err := s.place(o)
		if !errors.Is(err, turned) {
			return err
		}
		time.Sleep(s.Redial)
	}
}

// parked returns the next order that is parked.
func (s *shop) parked() amqp091.Delivery {
	s.Helper()
	if s.lot == nil {
		var err error
		s.lot, err = s.channel().Consume(parkedQueue, "", true, false, false, false, nil)
		require.NoError(s, err)
	}
	select {
	case d := <-s.lot:
		return d
	case <-time.After(patience):
		require.FailNow(s, "no order is parked")
		return amqp091.Delivery{}
	}
}

// deaths are those of a message, the last first, such as "rejected in orders.work".
func deaths(d amqp091.Delivery) []string {
	var all []string
	history, _ := d.Headers["x-death"].([]any)
	for _, death := range history {
		death := death.(amqp091.Table)
		all = append(all, death["reason"].(string)+" in "+death["queue"].(string))
	}
	return all
}

var (
	books   = Order{ID: "17", Country: "nl", Items: []string{"a book", "another"}}
	tea     = Order{ID: "18", Country: "be", Items: []string{"tea"}}
	errShut = errors.New("the warehouse is shut")
)

func TestOrdersAreHandled(t *testing.T) {
	on(t, func(s *site) {
		shop := s.start()
		for _, o := range []Order{books, tea} {
			require.NoError(s, shop.place(o))
			assert.Equal(s, o, shop.ends(nil).Order)
		}
	})
}

// An order that fails is tried again after 1, 10 and 60 seconds.
func TestBackoff(t *testing.T) {
	on(t, func(s *site) {
		shop := s.start()
		require.NoError(s, shop.place(books))
		last := shop.ends(errShut).at
		for i, wait := range shop.Waits {
			end := errShut
			if i == len(shop.Waits)-1 {
				end = nil
			}
			try := shop.ends(end)
			assert.Equal(s, books, try.Order)
			s.took(wait, try.at.Sub(last))
			last = try.at
		}
	})
}

// An order that fails each time is parked, with the history of its last try.
func TestParkedAfterAllTries(t *testing.T) {
	on(t, func(s *site) {
		shop := s.start()
		require.NoError(s, shop.place(books))
		for range len(shop.Waits) + 1 {
			shop.ends(errShut)
		}
		d := shop.parked()
		assert.Equal(s, books.ID, d.MessageId)
		longest := waitQueue(shop.Waits[len(shop.Waits)-1])
		assert.Equal(s, []string{"rejected in " + workQueue, "expired in " + longest}, deaths(d))
	})
}

// Poison is parked at once, and what comes after it is worked off.
func TestPoison(t *testing.T) {
	on(t, func(s *site) {
		shop := s.start()
		require.NoError(s, shop.place(books))
		shop.ends(ErrHopeless)
		assert.Equal(s, books.ID, shop.parked().MessageId)

		err := shop.channel().Publish(ordersExchange, "order.nl", false, false, amqp091.Publishing{Body: []byte("{")})
		require.NoError(s, err)
		d := shop.parked()
		assert.Equal(s, "{", string(d.Body))
		assert.Equal(s, []string{"rejected in " + workQueue}, deaths(d))
		require.NoError(s, shop.place(tea))
		assert.Equal(s, tea, shop.ends(nil).Order)
	})
}

func TestPublishRefused(t *testing.T) {
	on(t, func(s *site) {
		shop := s.start()
		require.NoError(s, shop.place(books))
		held := shop.next()
		lift := s.refuse()
		assert.ErrorIs(s, shop.place(tea), ErrRefused)
		lift()
		held.ends <- nil
		require.NoError(s, shop.place(tea))
		assert.Equal(s, tea, shop.ends(nil).Order)
	})
}

func TestPublishReturned(t *testing.T) {
	on(t, func(s *site) {
		shop := s.start()
		assert.ErrorIs(s, shop.place(Order{ID: "19", Country: "aq"}), ErrNowhere)
		require.NoError(s, shop.place(tea))
		assert.Equal(s, tea, shop.ends(nil).Order)
	})
}

// An order in work comes again when the connections are lost, and orders are taken as before.
func TestConnectionsLost(t *testing.T) {
	for name, lose := range map[string]func(*site){
		"closed by an operator": (*site).close, "cut": (*site).cut, "broker restarted": (*site).restart, "broker killed": (*site).kill,
	} {
		t.Run(name, func(t *testing.T) {
			on(t, func(s *site) {
				shop := s.start()
				require.NoError(s, shop.place(books))
				held := shop.next()
				lose(s)
				held.ends <- nil
				assert.Equal(s, books, shop.ends(nil).Order)
				require.NoError(s, shop.place(tea))
				assert.Equal(s, tea, shop.ends(nil).Order)
			})
		})
	}
}

// Nobody knows whether the broker has an order whose confirm is lost. It is published again, and comes twice.
func TestConfirmLost(t *testing.T) {
	on(t, func(s *site) {
		shop := s.start()
		s.loseConfirm()
		require.NoError(s, shop.place(books))
		assert.Equal(s, books, shop.ends(nil).Order)
		assert.Equal(s, books, shop.ends(nil).Order)
		require.NoError(s, shop.place(tea))
		assert.Equal(s, tea, shop.ends(nil).Order, "nothing came a third time")
	})
}

// While the broker is blocked, orders are turned away at once. The one that found that out is not lost.
func TestBlocked(t *testing.T) {
	on(t, func(s *site) {
		shop := s.start()
		lift := s.block()
		ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
		defer stop()
		assert.ErrorIs(s, shop.Place(ctx, books), context.DeadlineExceeded)
		assert.ErrorIs(s, shop.place(tea), ErrBlocked)
		lift()
		assert.Equal(s, books, shop.ends(nil).Order)
		require.NoError(s, shop.placeAfter(ErrBlocked, tea))
		assert.Equal(s, tea, shop.ends(nil).Order)
	})
}

// A queue that is deleted takes its consumer with it, and no connection. The service makes it anew.
func TestQueueDeleted(t *testing.T) {
	on(t, func(s *site) {
		shop := s.start()
		require.NoError(s, shop.place(books))
		shop.ends(nil)
		s.call("DELETE", nil, "queues", s.vhost, workQueue)
		require.NoError(s, shop.placeAfter(ErrNowhere, tea))
		assert.Equal(s, tea, shop.ends(nil).Order)
	})
}
