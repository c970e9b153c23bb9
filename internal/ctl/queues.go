package ctl

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/activity"
)

// Queues and their consumers.

func queueCommands() []*command {
	return []*command{
		{
			name:  "list_queues",
			usage: "list_queues [--vhost <vhost>] [--online] [--offline] [--local] [--no-table-headers] [<column>, ...]",
			about: "Lists queues.", table: true, timeout: true, run: listQueues,
			switches: map[string]kind{"online": boolean, "offline": boolean, "local": boolean},
			columns: []string{
				"name", "durable", "auto_delete", "arguments", "policy", "operator_policy", "effective_policy_definition",
				"pid", "owner_pid", "exclusive", "exclusive_consumer_pid", "exclusive_consumer_tag",
				"messages_ready", "messages_unacknowledged", "messages", "messages_ready_ram", "messages_unacknowledged_ram",
				"messages_ram", "messages_persistent", "message_bytes", "message_bytes_ready", "message_bytes_unacknowledged",
				"message_bytes_ram", "message_bytes_persistent", "head_message_timestamp", "disk_reads", "disk_writes",
				"consumers", "consumer_utilisation", "consumer_capacity", "memory", "state", "type", "leader", "members", "online",
			},
			note: "memory is that of the bodies. All messages are in RAM, also those that a directory keeps. pid is empty: a queue is no\n" +
				"process. consumer_capacity and consumer_utilisation are of this moment: 1.0 if a consumer has room.\n",
			banner: func(c *call) string {
				seconds, _ := strconv.ParseFloat(c.text("timeout", "60"), 64)
				return "Timeout: " + oneLine(seconds) + " seconds ...\nListing queues for vhost " + c.vhostName() + " ..."
			},
		},
		{
			name: "list_consumers", usage: "list_consumers [--vhost <vhost>] [--no-table-headers] [<column> ...]",
			about: "Lists the consumers in a virtual host.", table: true, timeout: true, run: listConsumers,
			columns: consumerColumns,
			banner:  func(c *call) string { return "Listing consumers in vhost " + c.vhostName() + " ..." },
		},
		{
			name: "purge_queue", usage: "purge_queue <queue>", about: "Drops the ready messages of a queue.",
			min: 1, max: 1, timeout: true, run: purgeQueue,
			banner: func(c *call) string { return "Purging queue '" + c.args[0] + "' in vhost '" + c.vhostName() + "' ..." },
		},
		{
			name:  "delete_queue",
			usage: "delete_queue [--vhost <vhost>] <queue_name> [--if-empty|-e] [--if-unused|-u] [--force]",
			about: "Deletes a queue.", min: 1, max: 1, timeout: true,
			switches: map[string]kind{"if-empty": boolean, "if-unused": boolean, "force": boolean},
			aliases:  map[byte]string{'e': "if-empty", 'u': "if-unused"},
			validate: func(c *call) error {
				if c.args[0] == "" {
					return badArgument("queue name cannot be an empty string")
				}
				return nil
			},
			banner: deleteBanner, run: deleteQueue,
		},
	}
}

// listQueues shows nothing of a virtual host that does not exist, and of no queue when only
// those of unreachable nodes are asked for.
func listQueues(c *call) (result, error) {
	r := result{listing: true}
	v, err := c.node.Broker.VHost(c.vhostName())
	if err != nil || c.is("offline", false) && !c.is("online", false) && !c.is("local", false) {
		return r, ignoreMissing(err)
	}
	columns := c.columnsOr("name", "messages")
	l := queueListing{node: c.node.Name, vhost: v, old: c.isOld()}
	for _, q := range v.Queues() {
		r.rows = append(r.rows, pick(columns, func(column string) any { return l.item(q, column) }))
	}
	return r, nil
}

// queue makes sure that the queue exists: deleting one that does not is no error in AMQP.
func (c *call) queue() (*leveret.VHost, error) {
	v, err := c.node.Broker.VHost(c.vhostName())
	if err == nil {
		_, err = v.Queue(c.args[0])
	}
	return v, err
}

func purgeQueue(c *call) (result, error) {
	v, err := c.queue()
	if errors.Is(err, leveret.ErrNotFound) {
		return result{}, &failure{exitData, "Object (queue, stream, exchange, etc) was not found", nil}
	}
	if err == nil {
		_, err = v.PurgeQueue(c.args[0])
	}
	return result{}, err
}

func deleteBanner(c *call) string {
	text := "Deleting queue '" + c.args[0] + "' on vhost '" + c.vhostName() + "' "
	empty, unused := c.is("if-empty", false), c.is("if-unused", false)
	if empty {
		text += "if queue is empty "
	}
	if empty && unused {
		text += "and "
	}
	if unused {
		text += "if queue is unused "
	}
	return text + "..."
}

func deleteQueue(c *call) (result, error) {
	v, err := c.queue()
	if errors.Is(err, leveret.ErrNotFound) {
		return result{}, failed(exitUsage, "No such queue was found")
	}
	if err != nil {
		return result{}, err
	}
	cfg := leveret.DeleteConfig{IfUnused: c.is("if-unused", false), IfEmpty: c.is("if-empty", false)}
	n, err := v.DeleteQueue(c.args[0], cfg)
	if err != nil {
		return result{}, amqpError(err)
	}
	return result{message: fmt.Sprintf("Queue was successfully deleted with %d ready messages", n)}, nil
}

var consumerColumns = []string{
	"queue_name", "channel_pid", "consumer_tag", "ack_required", "prefetch_count", "active", "activity_status",
	"arguments",
}

// listConsumers shows its columns in the order of consumerColumns, however they were asked for.
func listConsumers(c *call) (result, error) {
	r := result{listing: true}
	v, err := c.node.Broker.VHost(c.vhostName())
	if err != nil {
		return r, ignoreMissing(err)
	}
	wanted := map[string]bool{}
	for _, column := range c.columnsOr("queue_name", "channel_pid", "consumer_tag", "ack_required", "prefetch_count",
		"active", "arguments") {
		wanted[column] = true
	}
	var columns []string
	for _, column := range consumerColumns {
		if wanted[column] {
			columns = append(columns, column)
		}
	}
	queues := map[string]leveret.QueueInfo{}
	for _, q := range v.Queues() {
		queues[q.Name] = q
	}
	last := ""
	for _, info := range v.Consumers() {
		if len(r.groups) == 0 || info.Queue != last {
			r.groups, last = append(r.groups, 0), info.Queue
		}
		r.groups[len(r.groups)-1]++
		r.rows = append(r.rows, pick(columns, func(column string) any {
			if column == "activity_status" {
				return c.activity(info, queues[info.Queue])
			}
			return consumerItem(c.node.Name, info, column)
		}))
	}
	return r, nil
}

func consumerItem(node string, info leveret.ConsumerInfo, column string) any {
	switch column {
	case "queue_name":
		return info.Queue
	case "channel_pid":
		return pid{node, info.Conn, info.Channel}
	case "consumer_tag":
		return info.Tag
	case "ack_required":
		return info.AckRequired
	case "prefetch_count":
		return info.Prefetch
	case "active":
		return info.Active
	case "arguments":
		return arguments(info.ArgumentFields)
	}
	panic("no such column of a consumer: " + column)
}

// activity is the word for what a consumer does, or the two words.
func (c *call) activity(info leveret.ConsumerInfo, q leveret.QueueInfo) any {
	words := activity.Of(info, q, c.node.Broker.Profile())
	if len(words) == 2 {
		return wordPair{word(words[0]), word(words[1])}
	}
	return word(words[0])
}
