// Package mgmt is RabbitMQ's management HTTP API over a leveret broker, as an [http.Handler]:
//
//	http.ListenAndServe("127.0.0.1:15672", mgmt.Handler(b))
//
// Tools that know RabbitMQ's API find its paths, methods, codes and error texts here: rabbitmqadmin, the Terraform
// provider, KEDA's scaler, Celery's Flower, Telegraf and others. Users log in with basic authentication. What a user may
// see and do depends on the user's tags, as on RabbitMQ: management, policymaker, monitoring, administrator.
//
// Every path of the API lies under /api, and /api/index.html lists them; at / there is a page for browsers, and beside it
// the metrics. What needs a plugin that leveret has not (federation, shovels, streams) answers as a RabbitMQ without that
// plugin. A broker of the 3.10 profile has the paths, headers, errors, policies and definitions of 3.10.
//
// # Statistics
//
// Totals are the broker's own counters, so they cost nothing until somebody asks. Rates and samples need figures of more
// than one moment. The handler takes them once a second, and only while somebody has asked for statistics in the last
// minute. The first answer after a pause has therefore no rates yet. disable_stats=true in a request asks for none.
//
// message_stats have RabbitMQ's figures but those of the store, which leveret has not. The rates mode is basic, RabbitMQ's
// default: what single channels do with single exchanges and queues is not told.
//
// # The page
//
// / shows a browser the broker: figures with their rates and plots over the last minutes, queues with the settings in force
// and where each comes from, exchanges, bindings, connections, channels, consumers, policies, and what was lost. The messages of a
// queue are shown with headers and deaths to those who may read from it, and stay as they are. Messages are published, got,
// purged, and, if they have died, sent back to the queue where they died last. The topology of a virtual host is a picture
// with rates and losses; while somebody looks at it, and for a minute more, the broker is watched for what goes along its arrows.
// Journeys of messages are recorded for administrators, from when they say so until they stop it or do not look for ten minutes.
// What setting or clearing a policy would change is shown by package lint before it is done. With [Config.Clock]
// administrators let the time pass by buttons.
//
// An open page changes as the broker does, at
// most once a second. It needs nothing from another host. Users log in as for the API, and may see and do what they may there.
//
// # Metrics
//
// /metrics, /metrics/per-object and /metrics/detailed have figures for Prometheus under the names of RabbitMQ's plugin.
// RabbitMQ's Grafana dashboard for the overview (10991) finds all of its series. What a name of RabbitMQ's would need and
// nobody counts is not there. Per object, a channel's publishes and deliveries are the sums over all exchanges and queues,
// and messages that died of other reasons than the delivery limit are not parted by type of queue.
//
// /metrics/detailed takes the parameters family and vhost, each any number of times, and queue, a pattern. The metrics that
// begin with leveret_ are our own: what died, by reason, and what was lost, by cause; for each queue in the families
// queue_death_metrics and queue_loss_metrics. [NewMetrics] has the figures for programs that show them otherwise, and the
// module github.com/leveretmq/leveret/leveretprom a collector for Prometheus's Go library.
//
// # Safety
//
// The API can do everything with the broker. Listen on a loopback address, or behind TLS. A page of another site
// cannot use the credentials that a browser keeps: requests from other origins that change something are refused.
// The metrics need no login, as with RabbitMQ, and name the queues.
// guest may log in from this machine only, see [Config.LoopbackUsers].
package mgmt
