// Package rabbithole keeps the versions of rabbit-hole, a Go client of RabbitMQ's management API, and of what its specs
// need. The script run has the specs talk to leveret.
package rabbithole

import (
	_ "github.com/michaelklishin/rabbit-hole/v3"
	_ "github.com/onsi/ginkgo/v2"
	_ "github.com/onsi/gomega"
	_ "github.com/onsi/gomega/gleak"
	_ "github.com/rabbitmq/amqp091-go"
)
