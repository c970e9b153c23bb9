// Package clientsuite pins the version of the amqp091-go client whose own test suite the AMQP listener has to
// pass. With a leveret listening:
//
//	cd internal/clientsuite
//	AMQP_URL=amqp://guest:guest@127.0.0.1:5672/ go test -count=1 -tags integration \
//		-skip '^TestConnectionRecovery' github.com/rabbitmq/amqp091-go
//
// The skipped tests need a proxy between client and broker.
package clientsuite

import (
	_ "github.com/rabbitmq/amqp091-go" // the suite
	_ "go.uber.org/goleak"             // which it imports
)
