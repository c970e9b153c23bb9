package orders

import (
	"time"

	amqp091 "github.com/rabbitmq/amqp091-go"
)

// Orders come by the exchange "orders" into "orders.work". One that failed waits in the queue of its turn, expires there, and
// so comes back. One that is rejected is parked.
const (
	ordersExchange = "orders"
	workQueue      = "orders.work"
	parkedQueue    = "orders.parked"
)

// Countries are those that we deliver to.
var Countries = []string{"be", "nl"}

// waitQueue is where orders wait for so long.
func waitQueue(wait time.Duration) string { return "orders.wait." + wait.String() }

// declare makes the topology, or finds that it is there.
func (s *Service) declare(ch *amqp091.Channel) error {
	if err := ch.ExchangeDeclare(ordersExchange, "topic", true, false, false, false, nil); err != nil {
		return err
	}
	queues := map[string]amqp091.Table{
		parkedQueue: nil,
		workQueue:   {"x-dead-letter-exchange": "", "x-dead-letter-routing-key": parkedQueue},
	}
	for _, wait := range s.Waits {
		queues[waitQueue(wait)] = amqp091.Table{
			"x-message-ttl":             wait.Milliseconds(),
			"x-dead-letter-exchange":    "",
			"x-dead-letter-routing-key": workQueue,
		}
	}
	for name, args := range queues {
		if _, err := ch.QueueDeclare(name, true, false, false, false, args); err != nil {
			return err
		}
	}
	for _, country := range Countries {
		if err := ch.QueueBind(workQueue, "order."+country, ordersExchange, false, nil); err != nil {
			return err
		}
	}
	return nil
}
