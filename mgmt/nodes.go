package mgmt

import (
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"
)

// There is one node. Where RabbitMQ tells of Erlang's runtime, here are the figures of Go's: goroutines for processes,
// for example. What only Erlang has is left out, or 0 where clients cannot do without it.

func (c *call) nodes() (any, error) {
	o, err := c.describeNode()
	return list{{name: c.NodeName, show: func() object { return o }}}, err
}

func (c *call) aNode() (any, error) {
	switch {
	case c.path("node") == c.NodeName:
		return c.describeNode()
	case c.failsAtUnknownNode:
		return nil, errCrash
	}
	return nil, errNoObject
}

func (c *call) describeNode() (object, error) {
	if c.statsDisabled() {
		o := object{"name": c.NodeName, "type": "disc", "running": true}
		if !c.oldFeatures {
			o["being_drained"] = false
		}
		return o, nil
	}
	if err := c.wrongSpan(); err != nil {
		return nil, err
	}
	p, memory := c.process(), c.broker.Memory()
	o := object{
		"name": c.NodeName, "type": "disc", "running": true, "being_drained": false, "partitions": []any{}, "cluster_links": []any{},
		"os_pid": strconv.Itoa(os.Getpid()), "uptime": time.Since(c.started).Milliseconds(),
		"processors": runtime.NumCPU(), "run_queue": 0, "rates_mode": "basic", "net_ticktime": 0,
		"mem_limit": memory.Limit, "mem_alarm": memory.Alarm, "mem_calculation_strategy": "rss",
		"fd_total": p.maxFDs, "proc_total": maxGoroutines, "sockets_total": 0, "sockets_used": len(c.broker.Connections()),
		"disk_free_limit": c.diskLimit(), "disk_free_alarm": c.broker.DiskSpace().Alarm,
		"exchange_types": c.exchangeTypes(), "auth_mechanisms": c.authMechanisms(), "applications": c.applications(),
		"contexts": withoutNode(c.contexts()), "enabled_plugins": []string{"rabbitmq_management"}, "config_files": []any{}, "log_files": []any{},
		"rabbitmq_version": c.version(), "erlang_version": erlangVersion(), "erlang_full_version": goVersion(), "crypto_lib_version": goVersion(),
	}
	c.churn.show(o)
	var f figures
	f.addProcess(p)
	return o, c.show(o, subject{kind: theNode}, f, nodeFigures)
}

// maxGoroutines stands where clients look for the limit of processes, by which they divide. Go has none; this is
// RabbitMQ's.
const maxGoroutines = 1 << 20

// authMechanisms are those that RabbitMQ has in its core.
func (c *call) authMechanisms() (all []object) {
	for _, m := range []struct{ name, description string }{
		{"PLAIN", "SASL PLAIN authentication mechanism"}, {"AMQPLAIN", "QPid AMQPLAIN mechanism"},
		{"ANONYMOUS", "SASL ANONYMOUS authentication mechanism"},
		{"RABBIT-CR-DEMO", "RabbitMQ Demo challenge-response authentication mechanism"},
	} {
		if m.name == "ANONYMOUS" && c.noAnonymous {
			continue
		}
		enabled := m.name != "RABBIT-CR-DEMO" && (c.Mechanisms == nil || slices.Contains(c.Mechanisms, m.name))
		all = append(all, object{"name": m.name, "description": m.description, "enabled": enabled})
	}
	return all
}

func (c *call) applications() []object {
	return []object{{"name": "rabbit", "description": "RabbitMQ", "version": c.version()},
		{"name": "rabbitmq_management", "description": "RabbitMQ Management", "version": c.version()}}
}

// checkPathNode refuses a path with another node than this one.
func (c *call) checkPathNode() error {
	switch {
	case c.malformed != nil && !c.finds.nodesFirst:
		return c.malformed
	case c.path("node") != c.NodeName:
		return errNoObject
	}
	return nil
}

// nodeMemory divides the memory of the process as far as the Go runtime can, under the names of RabbitMQ's that come
// nearest.
func (c *call) nodeMemory() (any, error) {
	if err := c.checkPathNode(); err != nil {
		return nil, err
	}
	total := c.process().memory
	memory := object{"strategy": "rss", "total": object{"rss": total, "allocated": total, "erlang": total}}
	for _, kind := range memoryKinds {
		memory[kind] = 0
	}
	bodies := c.broker.Memory().Bodies
	heap, stacks := int64(runtimeFigure("/memory/classes/heap/objects:bytes")), int64(runtimeFigure("/memory/classes/heap/stacks:bytes"))
	memory["binary"], memory["other_proc"], memory["code"] = bodies, stacks, int64(runtimeFigure("/memory/classes/profiling/buckets:bytes"))
	memory["other_system"] = max(heap-bodies, 0)
	memory["allocated_unused"] = max(total-heap-stacks, 0)
	return object{"memory": memory}, nil
}

// nodeMemoryShares is nodeMemory in per cent of the whole. What is more than nothing is at least 1.
func (c *call) nodeMemoryShares() (any, error) {
	whole, err := c.nodeMemory()
	if err != nil {
		return nil, err
	}
	memory := whole.(object)["memory"].(object)
	total := memory["total"].(object)["rss"].(int64)
	shares := object{"total": 100}
	for _, kind := range memoryKinds {
		var octets int64
		if n, measured := memory[kind].(int64); measured {
			octets = n
		}
		shares[kind] = int(math.Ceil(100 * float64(octets) / float64(max(total, 1))))
	}
	return object{"memory": shares}, nil
}

// nodeTables tells of the tables of Erlang's runtime, of which there are none.
func (c *call) nodeTables() (any, error) {
	if err := c.checkPathNode(); err != nil {
		return nil, err
	}
	return object{"ets_tables_memory": "no_tables"}, nil
}

// resetStatistics forgets rates and samples. The totals are the broker's own, and stay.
func (c *call) resetStatistics() (any, error) {
	if node := c.path("node"); node != "" && node != c.NodeName {
		return nil, errNoObject
	}
	c.recorder.forget()
	return nil, nil
}

// memoryKinds are what clients expect figures of.
var memoryKinds = []string{"connection_readers", "connection_writers", "connection_channels", "connection_other",
	"queue_procs", "quorum_queue_procs", "quorum_queue_dlx_procs", "stream_queue_procs", "stream_queue_replica_reader_procs",
	"stream_queue_coordinator_procs", "plugins", "metadata_store", "other_proc", "metrics", "mgmt_db", "mnesia", "quorum_ets",
	"metadata_store_ets", "other_ets", "binary", "msg_index", "code", "atom", "other_system", "allocated_unused", "reserved_unallocated"}

// withoutNode leaves out the node's name, which stands above.
func withoutNode(all []object) []object {
	for _, o := range all {
		delete(o, "node")
	}
	return all
}
