package definitions

import (
	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/erl"
	"github.com/leveretmq/leveret/internal/jsondoc"
)

// release is what differs between releases of RabbitMQ in definitions. Each field is one behaviour; its comment begins
// with the numbers of its rules. TestEveryRuleIsShown changes each field and demands that a scenario notices.
// Rules: V-49, V-64.
type release struct {
	oldShape           bool // J-1, J-2, J-3: the export has no origin, virtual hosts are no more than names
	exportsInternal    bool // J-4: internal exchanges are exported
	hidesExclusive     bool // J-4: bindings of exclusive queues and to the default exchange are not exported
	keepsQueueType     bool // J-3: a virtual host keeps its default queue type where the entry has none; an unknown one is passed over with its virtual host
	lenientBindings    bool // J-9: a binding to what does not exist is passed over
	explicitQueues     bool // J-9: a queue's entry must say whether it is durable and whether it is deleted by itself, an exchange's whether it is durable
	noNewExchangeTypes bool // x-local-random and x-modulus-hash do not exist
	topFirst           bool // J-3: a virtual host's description and tags count beside metadata rather than in it
	tagsOfOctets       bool // J-3: the octets of a virtual host's tags are taken for characters of Latin-1
	anyNumberOfTags    bool // J-3: a user may have more than 32 tags
	inventsPasswords   bool // J-5: a new user without a password has one that nobody knows
	shortPlace         bool // J-9: the place of a refused policy or parameter is (VHOST/NAME)

	memberThatCounts jsondoc.Counts // J-11: of a key that an object has twice
	terms            erl.Notation   // E-6: how error texts print terms
}

var releases = map[leveret.Profile]*release{
	leveret.RabbitMQ43: {},
	leveret.RabbitMQ310: {
		oldShape: true, exportsInternal: true, hidesExclusive: true, keepsQueueType: true,
		lenientBindings: true, shortPlace: true, anyNumberOfTags: true, inventsPasswords: true,
		explicitQueues: true, noNewExchangeTypes: true, topFirst: true, tagsOfOctets: true,
		memberThatCounts: jsondoc.Last, terms: erl.Octets,
	},
}
