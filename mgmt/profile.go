package mgmt

import (
	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/erl"
	"github.com/leveretmq/leveret/internal/jsondoc"
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
	takesAnyKey     bool         // a binding may have a number or a list of numbers as its routing key, and a message any value
	failsAtAckMode  bool         // an ackmode that there is not is no refusal
	ageNeedsNumber  bool         // a max-age that does not begin with a number is no refusal
	regexes         pcre.Version // of permissions
	notation        erl.Notation

	protectsUsers    bool // who has the tag protected is neither changed nor deleted
	maxTags          int  // of a user; 0: as many as there are
	inventsPasswords bool // a new user without a password has one that nobody knows

	memberThatCounts jsondoc.Counts // of those that an object of a request has under one name

	reading
	telling
	surface
}

// reading is how a release understands requests.
type reading struct {
	noQueueTypes       bool // a virtual host has no default queue type: what a request says of it is not looked at
	tagsOfOctets       bool // the octets of a virtual host's tags are taken for characters of Latin-1
	numbersAsTags      bool // of a list of tags a number behind the first is its text
	readsLeniently     bool // a document may have a byte order mark, and control characters in its strings
	trueIsEmpty        bool // the body true is that of an empty object
	listsNoChannels    bool // channels cannot be listed without statistics, not even those of all virtual hosts
	failsAtReverse     bool // a sort_reverse other than true and false is an error of the handler, if there is something to sort
	failsAtUnknownNode bool // to look at a node that is missing is an error of the handler
	failsForOwners     bool // who may not see all connections cannot ask for those of a user
	failsAtLimits      bool // to take away a limit of a virtual host or a user that is missing is an error of the handler

	takesLoginInQuery bool // for definitions, which a page links to: the parameter auth has what the header Authorization has
	finds             finding

	termsOfImports bool // some refusals of definitions are shown as terms, not as texts
}

// finding is what a release finds before it reads a query, which may not be readable.
type finding struct {
	queuesFirst bool // the queue: it may be missing, and it can be declared and purged
	nodesFirst  bool // the node: it may be missing
}

// telling is what a release tells, and whom.
type telling struct {
	loginFailure    error // of a wrong name or password
	tellsMethods    bool  // every answer has the methods of its path, and not only those to other methods and OPTIONS
	oldPages        bool  // lists of users have no pages
	cutsChecks      bool  // health checks and definitions have columns
	wholeVHosts     bool  // the list of virtual hosts has none
	namesAnyFile    bool  // definitions may be sent as a file of any name
	signsInByCookie bool  // the answer to a login is a cookie, and not a token
	monitorsForget  bool  // who may look at the attempts to log in may have them forgotten
	noAnonymous     bool  // ANONYMOUS is not among the mechanisms of logins
	opensUserLimits bool  // everybody may look at the limits of all users
}

// A surface is what clients see of a release: its paths, and words and members that the other one has not.
type surface struct {
	headers           headers
	lacks             only     // the routes of the other release
	unknownNode       string   // the refusal to start a virtual host on another node
	mirrorActions     []string // what can be asked of a mirrored queue
	unknownMembers    []string // of queues, consumers, channels and connections: those that only the other release tells
	briefLists        bool     // a list of queues leaves out what is null and what takes long
	checksOneProtocol bool     // protocol-listener looks for one protocol, not for each of a list, and lists those that there are from the last
	tellsTraffic      bool     // an exchange has its traffic though statistics are not wanted
}

// headers are what all answers of a release have.
type headers struct {
	policy       string // Content-Security-Policy
	vary         string // of answers that come before Accept was looked at
	varyOfServer string // of answers that the web server gives before it looks for the API; empty: none
	cacheControl string // unless the answer has another one; empty: none
}

var releases = map[leveret.Profile]release{
	leveret.RabbitMQ43: {protectsUsers: true, maxTags: 32, notation: erl.Unicode, memberThatCounts: jsondoc.First, reading: reading{finds: finding{nodesFirst: true}},
		telling: telling{loginFailure: errNotAuthorized, tellsMethods: true, wholeVHosts: true},
		surface: surface{lacks: in310, unknownNode: "Unknown node: %s", briefLists: true, headers: headers{
			policy:       "script-src 'self'; object-src 'self'",
			vary:         "origin, accept-encoding",
			varyOfServer: "accept-encoding",
			cacheControl: "public, max-age=0, must-revalidate"}}},
	leveret.RabbitMQ310: {asksNode: true, hidesFields: true, saysForbidden: true, sendsAliveness: true, refusesBadRegex: true, asksBroker: true,
		needsAllUsers: true, oldFeatures: true, escapesHTML: true, regexes: pcre.PCRE1, notation: erl.Octets,
		takesAnyKey: true, failsAtAckMode: true, ageNeedsNumber: true, inventsPasswords: true, memberThatCounts: jsondoc.Last,
		reading: reading{noQueueTypes: true, tagsOfOctets: true, numbersAsTags: true, readsLeniently: true, trueIsEmpty: true, listsNoChannels: true, failsAtReverse: true, failsAtLimits: true, failsAtUnknownNode: true, failsForOwners: true, termsOfImports: true, takesLoginInQuery: true, finds: finding{queuesFirst: true}},
		telling: telling{loginFailure: errLoginFailed, oldPages: true, cutsChecks: true, monitorsForget: true, signsInByCookie: true, noAnonymous: true, opensUserLimits: true, namesAnyFile: true},
		surface: surface{lacks: in43, unknownNode: "Request to node %s failed with nodedown", mirrorActions: []string{"sync", "cancel_sync"},
			unknownMembers:    []string{"internal", "internal_owner", "storage_version", "consumer_timeout", "cached_segments", "peer_cert_serial_number"},
			checksOneProtocol: true, tellsTraffic: true, headers: headers{
				policy: "script-src 'self' 'unsafe-eval' 'unsafe-inline'; object-src 'self'",
				vary:   "origin"}}},
}

// omitUnknown takes out of the description of a queue, a consumer, a channel or a connection what the release does not know.
func (r release) omitUnknown(o object) {
	for _, name := range r.unknownMembers {
		delete(o, name)
	}
}
