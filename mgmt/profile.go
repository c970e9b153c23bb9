package mgmt

import (
	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/erl"
	"github.com/leveretmq/leveret/internal/pcre"
)

// A release is what differs in the APIs of two releases of RabbitMQ. No other file asks for the release.
type release struct {
	hidesFields     bool         // a virtual host has no deletion protection, a queue without statistics no policies, a user no origin
	saysForbidden   bool         // a virtual host that the user may not enter is forbidden, and not missing
	sendsAliveness  bool         // the aliveness test sends a message, with the user's permissions
	refusesBadRegex bool         // a name filter that does not compile is refused, and not one that no name matches
	asksBroker      bool         // whether there is an exchange or a queue is asked after the body was read
	asksNode        bool         // a node for a queue is asked, and may be named without its host
	needsAllUsers   bool         // to delete several users at once stops at one that is missing
	oldFeatures     bool         // there are no cluster tags and no exchange types of 4.x, and channels have a prefetch of their own
	escapesHTML     bool         // refusals of policies and parameters have entities for < and >
	regexes         pcre.Version // of permissions
	notation        erl.Notation
}

var releases = map[leveret.Profile]release{
	leveret.RabbitMQ43: {notation: erl.Unicode},
	leveret.RabbitMQ310: {asksNode: true, hidesFields: true, saysForbidden: true, sendsAliveness: true, refusesBadRegex: true, asksBroker: true,
		needsAllUsers: true, oldFeatures: true, escapesHTML: true, regexes: pcre.PCRE1, notation: erl.Octets},
}
