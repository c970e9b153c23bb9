package definitions

import (
	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/jsondoc"
)

// release is what differs between releases of RabbitMQ in definitions. Each field is one behaviour.
// Rules: V-49, V-64.
type release struct {
	oldShape           bool // the export has no origin, virtual hosts are no more than names: J-1, J-2, J-3
	exportsInternal    bool // internal exchanges are exported: J-4
	hidesExclusive     bool // bindings of exclusive queues are not exported: J-4
	noDefaultQueueType bool // a virtual host has no default queue type
	lenientBindings    bool // a binding to what does not exist is passed over: J-9
	explicitQueues     bool // a queue's entry must say whether it is durable and whether it is deleted by itself: J-9
	noNewExchangeTypes bool // x-local-random and x-modulus-hash do not exist: X-2
	topFirst           bool // a virtual host's description and tags count beside metadata rather than in it: J-3
	shortPlace         bool // the place of a refused policy or parameter is (VHOST/NAME): J-9

	memberThatCounts jsondoc.Counts // of a key that an object has twice: J-11
}

var releases = map[leveret.Profile]*release{
	leveret.RabbitMQ43: {},
	leveret.RabbitMQ310: {
		oldShape: true, exportsInternal: true, hidesExclusive: true, noDefaultQueueType: true, lenientBindings: true, shortPlace: true,
		explicitQueues: true, noNewExchangeTypes: true, topFirst: true,
		memberThatCounts: jsondoc.Last,
	},
}
