package mgmt

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/erl"
	"github.com/leveretmq/leveret/internal/jsondoc"
)

func (c *call) queues() (any, error) { return c.listQueues(anyQueue, (*call).describeListedQueue) }
func (c *call) detailedQueues() (any, error) {
	return c.listQueues(anyQueue, (*call).describeQueue)
}

// queuesOfUser lists the queues that a user has declared or imported. An unknown user has none.
func (c *call) queuesOfUser() (any, error) {
	user := c.path("user")
	return c.listQueues(func(info leveret.QueueInfo) bool { return c.makerOfQueue(&info) == user }, (*call).describeQueue)
}

func anyQueue(leveret.QueueInfo) bool { return true }

func (c *call) listQueues(which func(leveret.QueueInfo) bool, describe func(*call, *leveret.VHost, leveret.QueueInfo) (object, error)) (any, error) {
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
			if !which(info) {
				continue
			}
			l = append(l, item{vhost: info.VHost, name: info.Name, quick: c.quickly(v, &info), show: func() object {
				o, _ := describe(c, v, info) // the spans, which alone can be wrong, are checked
				return o
			}})
		}
	}
	return l, nil
}

// pathQueue returns the queue in the path. RabbitMQ 4.3 reads the query to find the queue.
func (c *call) pathQueue() (*leveret.VHost, *leveret.Queue, error) {
	if c.malformed != nil && !c.finds.queuesFirst {
		return nil, nil, c.malformed
	}
	return c.namedQueue()
}

func (c *call) namedQueue() (*leveret.VHost, *leveret.Queue, error) {
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
	if err == nil {
		err = c.checkStatistics()
	}
	if err != nil {
		return nil, err
	}
	info := q.Info()
	o, err := c.describeQueue(v, info)
	if err != nil || c.statsDisabled() {
		return o, err
	}
	for _, conn := range v.Connections() {
		if conn.ID == info.Owner {
			o["owner_pid_details"] = c.peer(conn)
		}
	}
	o["consumer_details"], o["deliveries"], o["incoming"] = c.consumersOf(v, q.Name()), []any{}, []any{}
	return o, nil
}

func (c *call) putQueue() (any, error) {
	if c.malformed != nil && !c.finds.queuesFirst {
		return nil, c.malformed
	}
	v, err := c.vhostToChange()
	if err != nil {
		return nil, err
	}
	d, err := c.declaration()
	if err == nil {
		err = c.checkNode()
	}
	var exclusive bool
	if err == nil {
		exclusive, err = c.isExclusive()
	}
	_, _, missing := c.pathQueue()
	if err == nil && (missing != nil || !c.oldFeatures) { // 3.10 compares those of a queue that is there with none
		err = c.checkList()
	}
	if err != nil {
		return nil, err
	}
	return put(missing == nil), c.operate(v, func(ch *leveret.Channel) error {
		_, err := ch.DeclareQueue(c.path("queue"), leveret.QueueConfig{Durable: d.durable && !exclusive, AutoDelete: d.autoDelete, Arguments: d.arguments})
		if isCode(err, leveret.InternalError) && c.replyText(err) == "INTERNAL_ERROR" { // RabbitMQ 3.10 does not know the x-queue-master-locator
			err = c.crashed("case_clause")
		}
		return err
	})
}

// isExclusive reports whether the queue is to be exclusive. It becomes none, because the API has no connection that could own
// it, but is not durable, as exclusive queues are.
func (c *call) isExclusive() (bool, error) {
	given, ok := c.body["exclusive"]
	if !ok {
		return false, nil
	}
	v, _ := jsondoc.Decode(given, c.memberThatCounts)
	exclusive, isTruth := v.(bool)
	if !isTruth {
		return false, c.crashed(c.notation.Format(erl.Tuple{erl.Atom("case_clause"), erl.JSON(v)}, 0))
	}
	return exclusive, nil
}

// checkNode refuses an exchange or a queue for another node than this one.
func (c *call) checkNode() error {
	node, err := c.body.textOnly("node")
	if _, given := c.body["node"]; !given || err != nil {
		return err
	}
	_, host, _ := strings.Cut(c.NodeName, "@")
	if c.asksNode && !strings.Contains(node, "@") {
		node += "@" + host
	}
	switch {
	case node == c.NodeName:
		return nil
	case c.asksNode:
		return badRequest("Node " + c.notation.Format(erl.Atom(node), 0) + " could not be contacted")
	}
	return badRequest("Node " + node + " is not a cluster member")
}

// checkList refuses a queue whose arguments are a list. Only an empty one is no arguments, as it is for exchanges.
func (c *call) checkList() error {
	var members []json.RawMessage
	if json.Unmarshal(c.body["arguments"], &members) != nil || len(members) == 0 {
		return nil
	}
	return c.crashed("badarg")
}

func (c *call) deleteQueue() (any, error) {
	v, q, err := c.pathQueue()
	if err = cmp.Or(err, c.malformed); err != nil {
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

// actOnQueue does what is asked of the queue's mirrors: nothing, because there are none.
func (c *call) actOnQueue() (any, error) {
	v, q, missing := c.pathQueue()
	if missing == errMalformed {
		return nil, missing
	}
	if missing != nil && !c.asksBroker {
		return nil, missingIn(v, "queue_not_found")
	}
	if err := c.need("action"); err != nil {
		return nil, err
	}
	action := c.body.text("action")
	switch {
	case missing != nil:
		return nil, errCrash
	case !slices.Contains(c.mirrorActions, action):
		return nil, badRequest([]any{"unknown", c.body["action"]})
	case action == "cancel_sync" && q.Info().Type == leveret.QueueTypeQuorum: // which RabbitMQ does not expect
		return nil, errCrash
	}
	return nil, nil
}

// quorumStatus tells of the one member of a quorum queue. What Raft counts is 0: nothing is agreed on with others.
func (c *call) quorumStatus() (any, error) {
	v, err := c.vhost()
	if err != nil {
		return nil, err
	}
	sees := func(seen *leveret.VHost) bool { return seen.Name() == v.Name() }
	if !slices.ContainsFunc(c.vhosts(), sees) {
		return nil, notFound("Not Found")
	}
	_, q, err := c.namedQueue()
	if err != nil {
		return nil, err
	}
	if info := q.Info(); info.Type != leveret.QueueTypeQuorum {
		return failed(string(info.Type)+"_queue_not_supported", nil), nil
	}
	return []object{{"Node Name": c.NodeName, "Raft State": "leader", "Membership": "voter", "Last Log Index": 0, "Last Written": 0,
		"Last Applied": 0, "Commit Index": 0, "Snapshot Index": -1, "Term": 1, "Machine Version": 8}}, nil
}
