module github.com/leveretmq/leveret/internal/clientsuite

go 1.25.0

require (
	github.com/rabbitmq/amqp091-go v1.16.0
	go.uber.org/goleak v1.3.0
)
