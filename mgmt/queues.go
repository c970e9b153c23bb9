package mgmt

import (
	"github.com/leveretmq/leveret"
)

func (c *call) queues() (any, error)         { return c.listQueues((*call).describeQueue) }
func (c *call) detailedQueues() (any, error) { return c.listQueues((*call).describeQueueInDetail) }

func (c *call) listQueues(describe func(*call, *leveret.VHost, leveret.QueueInfo) (object, error)) (any, error) {
	vhosts, err := c.listed()
	if err != nil {
		return nil, err
	}
	if err := c.checkSpans(); err != nil {
		return nil, err
	}
	l := list{}
	for _, v := range vhosts {
		for _, info := range v.Queues() {
			l = append(l, item{vhost: info.VHost, name: info.Name, quick: c.quickly(v, &info), show: func() object {
				o, _ := describe(c, v, info) // the spans, which alone can be wrong, are checked
				return o
			}})
		}
	}
	return l, nil
}

// pathQueue returns the queue in the path.
func (c *call) pathQueue() (*leveret.VHost, *leveret.Queue, error) {
	v, err := c.vhost()
	if err != nil {
		return nil, nil, err
	}
	q, err := v.Queue(c.path("queue"))
	if err != nil {
		return v, nil, errNoObject
	}
	return v, q, nil
}

func (c *call) queue() (any, error) {
	v, q, err := c.pathQueue()
	if err != nil {
		return nil, err
	}
	o, err := c.describeQueueInDetail(v, q.Info())
	if err != nil || c.statsDisabled() {
		return o, err
	}
	o["consumer_details"], o["deliveries"], o["incoming"] = c.consumersOf(v, q.Name()), []any{}, []any{}
	return o, nil
}

func (c *call) putQueue() (any, error) {
	v, err := c.vhostToChange()
	if err != nil {
		return nil, err
	}
	d, err := c.declaration()
	if err != nil {
		return nil, err
	}
	_, _, missing := c.pathQueue()
	return put(missing == nil), c.operate(v, func(ch *leveret.Channel) error {
		_, err := ch.DeclareQueue(c.path("queue"), leveret.QueueConfig{Durable: d.durable, AutoDelete: d.autoDelete, Arguments: d.arguments})
		return err
	})
}

func (c *call) deleteQueue() (any, error) {
	v, q, err := c.pathQueue()
	if err != nil {
		return nil, err
	}
	return nil, c.operate(v, func(ch *leveret.Channel) error {
		_, err := ch.DeleteQueue(q.Name(), leveret.DeleteConfig{IfUnused: c.query("if-unused") == "true", IfEmpty: c.query("if-empty") == "true"})
		return err
	})
}

func (c *call) purge() (any, error) {
	v, q, err := c.pathQueue()
	if err != nil {
		return nil, err
	}
	return nil, c.operate(v, func(ch *leveret.Channel) error {
		_, err := ch.PurgeQueue(q.Name())
		return err
	})
}

// rebalance has nothing to move: there is one node.
func (c *call) rebalance() (any, error) { return nil, nil }
