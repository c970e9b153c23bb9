package mgmt

import (
	"maps"
	"sync"
	"weak"

	"github.com/leveretmq/leveret"
)

// Who has made the exchanges and queues of an import: the user of the API who has sent it. The broker itself does not know
// whose an import is.

// imports are the users by what they have imported. What is deleted is not kept alive by it.
type imports struct {
	mu        sync.Mutex
	exchanges map[weak.Pointer[leveret.Exchange]]string
	queues    map[weak.Pointer[leveret.Queue]]string
}

// A place is an exchange or a queue by its virtual host and name.
type place struct{ vhost, name string }

// topology is which exchanges and queues there are.
type topology struct{ exchanges, queues map[place]bool }

func (n *node) topology() topology {
	t := topology{map[place]bool{}, map[place]bool{}}
	for _, info := range n.broker.VHosts() {
		v, err := n.broker.VHost(info.Name)
		if err != nil {
			continue
		}
		for _, x := range v.Exchanges() {
			t.exchanges[place{info.Name, x.Name}] = true
		}
		for _, q := range v.Queues() {
			t.queues[place{info.Name, q.Name}] = true
		}
	}
	return t
}

// rememberImport keeps that the user has made what was not there before.
func (c *call) rememberImport(before topology) {
	now := c.topology()
	i := &c.imports
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.exchanges == nil {
		i.exchanges, i.queues = map[weak.Pointer[leveret.Exchange]]string{}, map[weak.Pointer[leveret.Queue]]string{}
	}
	maps.DeleteFunc(i.exchanges, func(x weak.Pointer[leveret.Exchange], _ string) bool { return x.Value() == nil })
	maps.DeleteFunc(i.queues, func(q weak.Pointer[leveret.Queue], _ string) bool { return q.Value() == nil })
	for p := range now.exchanges {
		if x := c.exchangeAt(p); x != nil && !before.exchanges[p] {
			i.exchanges[weak.Make(x)] = c.user.Name
		}
	}
	for p := range now.queues {
		if q := c.queueAt(p); q != nil && !before.queues[p] {
			i.queues[weak.Make(q)] = c.user.Name
		}
	}
}

// exchangeAt returns the exchange of a name, nil if there is none.
func (n *node) exchangeAt(p place) *leveret.Exchange {
	v, err := n.broker.VHost(p.vhost)
	if err != nil {
		return nil
	}
	x, _ := v.Exchange(p.name)
	return x
}

func (n *node) queueAt(p place) *leveret.Queue {
	v, err := n.broker.VHost(p.vhost)
	if err != nil {
		return nil
	}
	q, _ := v.Queue(p.name)
	return q
}

// makerOfExchange returns the user who has declared or imported an exchange; empty: the broker.
func (n *node) makerOfExchange(info *leveret.ExchangeInfo) string {
	n.imports.mu.Lock()
	defer n.imports.mu.Unlock()
	if info.User != "" || len(n.imports.exchanges) == 0 {
		return info.User
	}
	return n.imports.exchanges[weak.Make(n.exchangeAt(place{info.VHost, info.Name}))]
}

// makerOfQueue returns the user who has declared or imported a queue; empty: the broker.
func (n *node) makerOfQueue(info *leveret.QueueInfo) string {
	n.imports.mu.Lock()
	defer n.imports.mu.Unlock()
	if info.User != "" || len(n.imports.queues) == 0 {
		return info.User
	}
	return n.imports.queues[weak.Make(n.queueAt(place{info.VHost, info.Name}))]
}
