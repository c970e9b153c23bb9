package mgmt

import (
	"crypto/rand"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/leveretmq/leveret"
)

// Config says what a broker does not know of the node that it is. The zero value suits a program that only embeds a
// broker.
type Config struct {
	NodeName  string     // empty: leveret@localhost
	Listeners []Listener // where clients connect; the health checks port-listener and protocol-listener look here

	// Mechanisms are those by which AMQP clients may log in, for lists. Nil: all.
	Mechanisms []string
	// LoopbackUsers may log in from this machine only. Nil: guest. Empty: nobody is so restricted.
	LoopbackUsers []string

	// Clock is the broker's clock if it is a manual one. Administrators can let its time pass on the page. Nil: they cannot.
	Clock *leveret.ManualClock
	// Advance moves Clock by a duration that is not negative, and returns when all that was due has happened. Nil:
	// Clock.Advance and Broker.Settle.
	Advance func(time.Duration) error
}

// A Listener is an address at which the node accepts connections.
type Listener struct {
	Protocol string // in RabbitMQ's words: "amqp", "amqp/ssl", "http"
	Address  string // an IP address
	Port     int
}

// defaultNodeName is the name of a node that nobody gave one.
const defaultNodeName = "leveret@localhost"

// Handler returns RabbitMQ's management HTTP API for a broker, with a Config or without. It serves until the program
// ends, also after Broker.Close: then it shows a broker with nothing in it, to which nobody can log in.
func Handler(b *leveret.Broker, cfg ...Config) http.Handler {
	n := newNode(b, cfg)
	n.recorder.take = n.snapshot
	return http.NewCrossOriginProtection().Handler(newRouter(n))
}

// newNode begins to count what comes and goes.
func newNode(b *leveret.Broker, cfg []Config) *node {
	n := &node{broker: b, release: releases[b.Profile()], started: time.Now(), clusterID: "rabbitmq-cluster-id-" + rand.Text()}
	if len(cfg) > 0 {
		n.Config = cfg[0]
	}
	if n.NodeName == "" {
		n.NodeName = defaultNodeName
	}
	if n.LoopbackUsers == nil {
		n.LoopbackUsers = []string{"guest"}
	}
	n.Listeners = slices.Clone(n.Listeners)
	n.churn.watch(b)
	return n
}

// A node is a broker with what the API says about it.
type node struct {
	Config
	release
	broker    *leveret.Broker
	started   time.Time
	clusterID string
	churn     churn
	recorder  recorder
	imports   imports

	mu        sync.Mutex
	creations map[string]creation // of virtual hosts, by name
}

// clusterName is what the API and the definitions call the cluster that a node is.
func (n *node) clusterName() string {
	for _, p := range n.broker.GlobalParameters() {
		if p.Name == clusterNameParameter {
			if name, ok := decodeAny(p.Value).(string); ok {
				return name
			}
		}
	}
	return n.NodeName
}

const clusterNameParameter = "cluster_name"

// version is the release that the broker behaves as.
func (n *node) version() string { return n.broker.Profile().Version() }
