package amqpd

import (
	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/erl"
)

// release is what differs between releases of RabbitMQ on the wire.
type release struct {
	mechanisms    []string     // offered to every client
	minFrameMax   int          // what a client must at least accept, and the limit before tuning
	refusal       string       // the protocol header sent to a client that speaks another protocol
	maxBody       uint64       // of a message, in octets, when its header announces it; 0: no limit
	takesOctets   bool         // a login by AMQPLAIN may have octets in place of strings
	takesCancelOk bool         // D-14: basic.cancel-ok of a client cancels its consumer
	takesCredit   bool         // D-18: basic.credit is a method for clients
	looseUTF8     bool         // E-12: names may have surrogates and numbers that are no characters
	latin1Names   bool         // E-12: a name that is not UTF-8 stands in texts as Latin-1, not as it is
	terms         erl.Notation // E-6: how error texts print terms
	waitsBeyond   bool         // C-17: a body that is too long is not noticed before the next frame that is no body

	speaks08           bool // C-21: AMQP 0-8 is spoken, too
	forwardsProperties bool // M-21: properties that nothing changes go on as they came
}

var releases = map[leveret.Profile]*release{
	leveret.RabbitMQ43: {
		mechanisms:  []string{mechAMQPlain, mechAnonymous, mechPlain},
		minFrameMax: 8192, refusal: "AMQP\x03\x01\x00\x00", maxBody: 512 << 20, takesOctets: true, takesCancelOk: true, latin1Names: true,
	},
	leveret.RabbitMQ310: {
		mechanisms:  []string{mechAMQPlain, mechPlain},
		minFrameMax: 4096, refusal: protocolHeader, takesCredit: true, looseUTF8: true, waitsBeyond: true, terms: erl.Octets,
		speaks08: true, forwardsProperties: true,
	},
}
