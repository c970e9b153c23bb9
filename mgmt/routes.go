package mgmt

import "net/http"

// The table of paths, in the order of RabbitMQ's documentation. A path that RabbitMQ has and this table has not is for
// clusters, streams or plugins. Of two routes that match a path the first counts.

// A route is a path below /api with what can be done there.
type route struct {
	path string
	who  access
	open bool // needs no login

	scoped access // who may ask for one virtual host by the header X-Vhost; nil: the header means nothing

	logsIn  bool // POST has the login in its body
	linked  bool // a page of RabbitMQ links to the path, and a browser sends no Authorization there
	noFile  bool // the path is not in the table, and no file can have it
	ofVHost bool // the path names a virtual host
	noHead  bool // RabbitMQ does not take HEAD here
	pages   pages
	order   order // of the list that GET shows

	only     only     // the release that has the path, if not both have it
	takes    []string // the kinds of bodies; nil: any
	as       *media   // what the answers are; nil: JSON or BERT
	uncached bool     // nobody may keep an answer

	get, put, post, delete func(*call) (any, error)
}

// only says which release has a path.
type only uint8

const (
	inBoth only = iota
	in43
	in310
)

var routes = []route{
	{path: "overview", who: anybody, get: (*call).overview},
	{path: "cluster-name", who: writersAreAdministrators, get: (*call).getClusterName, put: (*call).putClusterName},
	{path: "nodes", who: monitors, get: (*call).nodes},
	{path: "nodes/{node}", who: monitors, get: (*call).aNode},
	{path: "nodes/{node}/memory", who: monitors, get: (*call).nodeMemory},
	{path: "nodes/{node}/memory/relative", who: monitors, get: (*call).nodeMemoryShares},
	{path: "nodes/{node}/memory/ets", who: monitors, get: (*call).nodeTables},
	{path: "nodes/{node}/memory/ets/relative", who: monitors, get: (*call).nodeTables},
	{path: "nodes/{node}/memory/ets/{filter}", who: monitors, get: (*call).nodeTables},
	{path: "nodes/{node}/memory/ets/{filter}/relative", who: monitors, get: (*call).nodeTables},
	{path: "config/effective", only: in43, as: &plainOnly, who: administrators, get: (*call).effectiveConfig},
	{path: "extensions", who: anybody, get: (*call).extensions},
	{path: "definitions", linked: true, who: administrators, scoped: administrators, takes: documents, get: (*call).getDefinitions, post: (*call).postDefinitions},
	{path: "all-configuration", linked: true, who: administrators, scoped: administrators, takes: documents, get: (*call).getDefinitions, post: (*call).postDefinitions},
	{path: "definitions/{vhost}", linked: true, who: administrators, takes: documents, get: (*call).getDefinitions, post: (*call).postDefinitions},

	{path: "connections", pages: hasPages, who: anybody, get: (*call).connections},
	{path: "connections/{connection}", who: ownersOfConnection, get: (*call).connection, delete: (*call).closeConnection},
	{path: "connections/username/{user}", pages: hasPages, who: ownersOfConnections, get: (*call).userConnections, delete: (*call).closeUserConnections},
	{path: "connections/{connection}/sessions", only: in43, who: ownersOfConnection, get: (*call).connectionSessions},
	{path: "connections/{connection}/channels", who: anybody, get: (*call).connectionChannels},
	{path: "vhosts/{vhost}/connections", who: members, get: (*call).connections},
	{path: "channels", pages: hasPages, who: anybody, get: (*call).channels},
	{path: "vhosts/{vhost}/channels", who: members, get: (*call).channels},
	{path: "channels/{channel}", who: ownersOfChannel, get: (*call).channel},
	{path: "consumers", only: in43, who: anybody, scoped: consumerViewers, get: (*call).consumers},
	{path: "consumers", only: in310, who: anybody, get: (*call).consumers},
	{path: "consumers/{vhost}", who: consumerViewers, get: (*call).consumers},

	{path: "exchanges", order: inFull, pages: hasPages, who: anybody, scoped: members, get: (*call).exchanges},
	{path: "exchanges/{vhost}", order: inFull, pages: hasPages, who: members, get: (*call).exchanges},
	{path: "exchanges/{vhost}/{exchange}", who: members, get: (*call).exchange, put: (*call).putExchange, delete: (*call).deleteExchange},
	{path: "exchanges/{vhost}/{exchange}/bindings/source", order: bySource, who: members, get: (*call).bindingsOfSource},
	{path: "exchanges/{vhost}/{exchange}/bindings/destination", order: bySource, who: members, get: (*call).bindingsOfExchange},
	{path: "exchanges/{vhost}/{exchange}/publish", who: members, post: (*call).publish},
	{path: "queues", order: inFull, pages: hasPages, who: anybody, scoped: members, get: (*call).queues},
	{path: "queues/detailed", order: inFull, pages: hasPages, only: in43, who: anybody, scoped: members, get: (*call).detailedQueues},
	{path: "queues/quorum/{vhost}/{queue}/status", only: in43, noHead: true, who: anybody, get: (*call).quorumStatus},
	{path: "queues/{vhost}", order: inFull, pages: hasPages, who: members, get: (*call).queues},
	{path: "queues/{vhost}/{queue}", who: members, get: (*call).queue, put: (*call).putQueue, delete: (*call).deleteQueue},
	{path: "queues/{vhost}/{queue}/bindings", order: bySource, who: members, get: (*call).bindingsOfQueue},
	{path: "queues/{vhost}/{queue}/contents", as: &htmlOnly, who: members, delete: (*call).purge},
	{path: "queues/{vhost}/{queue}/get", who: members, post: (*call).getMessages},
	{path: "queues/{vhost}/{queue}/actions", as: &htmlOnly, who: administrators, post: (*call).actOnQueue},
	{path: "bindings", order: bySource, who: anybody, scoped: members, get: (*call).bindings},
	{path: "bindings/{vhost}", order: bySource, who: members, get: (*call).bindings},
	{path: "bindings/{vhost}/e/{source}/{kind}/{destination}", order: bySource, who: members, get: (*call).bindingsBetween, post: (*call).bind},
	{path: "bindings/{vhost}/e/{source}/{kind}/{destination}/{props}", who: members, get: (*call).binding, delete: (*call).unbind},

	{path: "vhosts", order: inFull, pages: hasPages, who: anybody, get: (*call).listVHosts},
	{path: "vhosts/{vhost}", who: administrators, get: (*call).getVHost, put: (*call).putVHost, delete: (*call).deleteVHost},
	{path: "vhosts/{vhost}/permissions", order: byUser, who: administrators, get: (*call).permissions},
	{path: "vhosts/{vhost}/topic-permissions", order: byUser, as: &jsonOnly, who: administrators, get: (*call).topicPermissions},
	{path: "vhosts/{vhost}/deletion/protection", only: in43, as: &htmlOnly, noHead: true, get: (*call).showProtection, who: administrators, post: (*call).protect, delete: (*call).unprotect},
	{path: "vhosts/{vhost}/start/{node}", as: &htmlOnly, who: administrators, post: (*call).startVHost},
	{path: "users", only: in43, order: inFull, pages: hasPages, who: administrators, get: (*call).users},
	{path: "users", only: in310, who: administrators, get: (*call).users},
	{path: "users/without-permissions", only: in43, order: inFull, pages: hasPages, who: administrators, get: (*call).usersWithoutPermissions},
	{path: "users/without-permissions", only: in310, who: administrators, get: (*call).usersWithoutPermissions},
	{path: "users/bulk-delete", who: administrators, post: (*call).deleteUsers},
	{path: "users/{user}", who: administrators, get: (*call).getUser, put: (*call).putUser, delete: (*call).deleteUser},
	{path: "users/{user}/queues", order: inFull, pages: hasPages, only: in43, who: anybody, get: (*call).queuesOfUser},
	{path: "users/{user}/permissions", order: byUser, who: administrators, get: (*call).permissionsOfUser},
	{path: "users/{user}/topic-permissions", order: byUser, as: &jsonOnly, who: administrators, get: (*call).topicPermissionsOfUser},
	{path: "user-limits", order: order{columns: []string{}}, as: &jsonOnly, who: limitReaders, noHead: true, get: (*call).userLimits},
	{path: "user-limits/{user}", order: order{columns: []string{}}, as: &jsonOnly, who: ownLimitReaders, noHead: true, get: (*call).limitsOfUser},
	{path: "user-limits/{user}/{name}", as: &htmlOnly, who: administrators, takes: justJSON, put: (*call).putUserLimit, delete: (*call).deleteUserLimit},
	{path: "whoami", who: anybody, get: (*call).whoami},
	{path: "permissions", order: byUser, who: administrators, get: (*call).permissions},
	{path: "permissions/{vhost}/{user}", who: administrators, get: (*call).permission, put: (*call).putPermission, delete: (*call).deletePermission},
	{path: "topic-permissions", order: byUser, as: &jsonOnly, who: administrators, get: (*call).topicPermissions},
	{path: "topic-permissions/{vhost}/{user}", as: &jsonOnly, who: administrators, get: (*call).topicPermission, put: (*call).putTopicPermission, delete: (*call).deleteTopicPermission},
	{path: "topic-permissions/{vhost}/{user}/{exchange}", as: &jsonOnly, who: administrators, get: (*call).topicPermission, put: (*call).putTopicPermission, delete: (*call).deleteTopicPermission},

	{path: "parameters", who: policymakers, get: (*call).parameters},
	{path: "parameters/{component}", who: policymakers, scoped: policymakers, get: (*call).parameters},
	{path: "parameters/{component}/{vhost}", who: policymakers, get: (*call).parameters},
	{path: "parameters/{component}/{vhost}/{name}", who: policymakers, get: (*call).parameter, put: (*call).putParameter, delete: (*call).deleteParameter},
	{path: "global-parameters", who: globalPolicymakers, get: (*call).globalParameters},
	{path: "global-parameters/{name}", who: globalPolicymakers, get: (*call).globalParameter, put: (*call).putGlobalParameter, delete: (*call).deleteGlobalParameter},
	{path: "policies", order: byPriority, who: anybody, scoped: members, get: (*call).policies},
	{path: "policies/{vhost}", order: byPriority, who: members, get: (*call).policies},
	{path: "policies/{vhost}/{name}", who: policymakers, get: (*call).policy, put: (*call).putPolicy, delete: (*call).deletePolicy},
	{path: "operator-policies", order: byPriority, as: &jsonOnly, who: anybody, scoped: members, get: (*call).operatorPolicies},
	{path: "operator-policies/{vhost}", order: byPriority, as: &jsonOnly, who: members, get: (*call).operatorPolicies},
	{path: "operator-policies/{vhost}/{name}", as: &jsonOnly, who: administrators, takes: justJSON, get: (*call).operatorPolicy, put: (*call).putOperatorPolicy, delete: (*call).deleteOperatorPolicy},
	{path: "vhost-limits", order: order{columns: []string{"vhost"}}, as: &jsonOnly, who: anybody, scoped: viewers, noHead: true, get: (*call).vhostLimits},
	{path: "vhost-limits/{vhost}", as: &jsonOnly, who: viewers, noHead: true, get: (*call).vhostLimits},
	{path: "vhost-limits/{vhost}/{name}", as: &htmlOnly, who: administrators, takes: justJSON, put: (*call).putVHostLimit, delete: (*call).deleteVHostLimit},

	{path: "aliveness-test/{vhost}", who: members, get: (*call).aliveness},
	{path: "healthchecks/node", who: anybody, get: (*call).healthy},
	{path: "healthchecks/node/{node}", who: anybody, get: (*call).nodeHealthy},
	{path: "health/checks/alarms", who: anybody, get: (*call).checkAlarms},
	{path: "health/checks/local-alarms", who: anybody, get: (*call).checkAlarms},
	{path: "health/checks/metadata-store/initialized", only: in43, who: anybody, get: (*call).healthy},
	{path: "health/checks/metadata-store/initialized/with-data", only: in43, who: anybody, get: (*call).checkVHosts},
	{path: "health/checks/certificate-expiration/{within}/{unit}", who: anybody, get: (*call).checkCertificates},
	{path: "health/checks/port-listener/{port}", who: anybody, get: (*call).checkPort},
	{path: "health/checks/protocol-listener/{protocol}", who: anybody, get: (*call).checkProtocols},
	{path: "health/checks/virtual-hosts", who: anybody, get: (*call).checkVHosts},
	{path: "health/checks/node-is-quorum-critical", who: anybody, get: (*call).checkQuorum},
	{path: "health/checks/node-is-mirror-sync-critical", only: in310, who: anybody, get: (*call).checkQuorum},
	{path: "health/checks/quorum-queues-without-elected-leaders/all-vhosts", only: in43, who: anybody, get: (*call).healthy},
	{path: "health/checks/quorum-queues-without-elected-leaders/all-vhosts/pattern/{pattern}", only: in43, who: anybody, get: (*call).healthy},
	{path: "health/checks/quorum-queues-without-elected-leaders/vhost/{vhost}", only: in43, who: anybody, get: (*call).healthy},
	{path: "health/checks/quorum-queues-without-elected-leaders/vhost/{vhost}/pattern/{pattern}", only: in43, who: anybody, get: (*call).healthy},
	{path: "health/checks/reached-target-cluster-size", only: in43, uncached: true, who: anybody, open: true, get: (*call).healthy},
	{path: "health/checks/is-in-service", only: in43, uncached: true, who: anybody, open: true, get: (*call).healthy},
	{path: "health/checks/below-node-connection-limit", only: in43, uncached: true, who: anybody, open: true, get: (*call).checkConnectionLimit},
	{path: "health/checks/ready-to-serve-clients", only: in43, uncached: true, who: anybody, open: true, get: (*call).checkServing},

	{path: "feature-flags", only: in43, who: anybody, get: (*call).featureFlags},
	{path: "feature-flags", only: in310, who: administrators, get: (*call).featureFlags},
	{path: "feature-flags/{name}/enable", as: &htmlOnly, who: administrators, takes: justJSON, put: (*call).enableFeatureFlag},
	{path: "deprecated-features", only: in43, who: anybody, get: (*call).deprecatedFeatures},
	{path: "deprecated-features/used", only: in43, who: anybody, get: (*call).usedDeprecatedFeatures},
	{path: "rebalance/queues", as: &plainOnly, who: administrators, post: (*call).rebalance},
	{path: "auth/attempts/{node}", who: forgettersAreAdministrators, get: (*call).authAttempts, delete: (*call).forgetAuthAttempts},
	{path: "auth/attempts/{node}/source", who: forgettersAreAdministrators, get: (*call).authAttemptsBySource, delete: (*call).forgetAuthAttempts},
	{path: "auth/hash_password/{password}", only: in43, who: administrators, noHead: true, get: (*call).hashPassword},
	{path: "auth", only: in310, who: anybody, open: true, get: (*call).authSettings},
	{path: "reset", as: &htmlOnly, who: administrators, delete: (*call).resetStatistics},
	{path: "reset/{node}", as: &htmlOnly, who: administrators, delete: (*call).resetStatistics},
	{path: "version", only: in43, uncached: true, who: anybody, open: true, get: (*call).getVersion},
	{path: "login", only: in43, who: anybody, open: true, logsIn: true, takes: forms, post: (*call).signIn, delete: (*call).signOut},
	{path: "login", only: in310, who: anybody, open: true, logsIn: true, takes: forms, post: (*call).signIn},
}

// The orders of lists.
var (
	inFull     = order{beforeCut: true}
	bySource   = order{columns: []string{"vhost", "source", "type", "destination", "routing_key", "properties_key"}}
	byPriority = order{columns: []string{"priority", "vhost", "name"}}
	byUser     = order{columns: []string{"vhost", "user"}}
)

// handlerOf returns what answers a method, nil if the route does not have it.
func (r route) handlerOf(method string) func(*call) (any, error) {
	switch method {
	case http.MethodHead:
		if r.noHead {
			return nil
		}
		return r.get
	case http.MethodGet:
		return r.get
	case http.MethodPut:
		return r.put
	case http.MethodPost:
		return r.post
	case http.MethodDelete:
		return r.delete
	}
	return nil
}

// allowed lists the methods of a route as RabbitMQ's Allow header does.
func (r route) allowed() (methods []string) {
	if r.get != nil && !r.noHead {
		methods = append(methods, http.MethodHead)
	}
	if r.get != nil {
		methods = append(methods, http.MethodGet)
	}
	if r.put != nil {
		methods = append(methods, http.MethodPut)
	}
	if r.post != nil {
		methods = append(methods, http.MethodPost)
	}
	if r.delete != nil {
		methods = append(methods, http.MethodDelete)
	}
	return append(methods, http.MethodOptions)
}
