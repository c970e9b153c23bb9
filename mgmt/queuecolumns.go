package mgmt

import (
	"slices"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
)

// What one column tells of a queue. A list is sorted by a column of all queues, of which a page shows few. So a column
// that is here, or a figure, is found without describing the whole queue: 100 pages of 10,000 queues take 2.4 s of
// processor time in the order of their types instead of 14.1 s, and 3.4 s in that of a rate instead of 13.4 s
// (BenchmarkQueuePages in internal/bench/mgmt).

// A column is a member of a queue that its QueueInfo tells.
type column struct {
	name string
	of   func(*leveret.QueueInfo) any
}

// The columns that every list has, and those that are statistics.
var (
	declaredColumns = []column{
		{"type", func(q *leveret.QueueInfo) any { return q.Type }},
		{"state", func(*leveret.QueueInfo) any { return "running" }},
		{"durable", func(q *leveret.QueueInfo) any { return q.Durable }},
		{"auto_delete", func(q *leveret.QueueInfo) any { return q.AutoDelete }},
		{"exclusive", func(q *leveret.QueueInfo) any { return q.Exclusive }},
		{"policy", func(q *leveret.QueueInfo) any { return textOrNull(q.Policy) }},
		{"operator_policy", func(q *leveret.QueueInfo) any { return textOrNull(q.OperatorPolicy) }},
	}
	statisticsColumns = []column{
		{"consumers", func(q *leveret.QueueInfo) any { return q.Consumers }},
		{"consumer_capacity", func(q *leveret.QueueInfo) any { return share(*q) }},
		{"consumer_utilisation", func(q *leveret.QueueInfo) any { return share(*q) }},
		{"message_bytes", func(q *leveret.QueueInfo) any { return q.Bytes }},
		{"message_bytes_ready", func(q *leveret.QueueInfo) any { return q.BytesReady }},
		{"message_bytes_unacknowledged", func(q *leveret.QueueInfo) any { return q.BytesUnacked }},
		{"messages_persistent", func(q *leveret.QueueInfo) any { return q.Persistent }},
		{"message_bytes_persistent", func(q *leveret.QueueInfo) any { return q.BytesPersistent }},
		{"messages_ram", func(q *leveret.QueueInfo) any { return ofClassic(q, q.Messages) }},
		{"message_bytes_ram", func(q *leveret.QueueInfo) any { return ofClassic(q, int(q.Bytes)) }},
		{"memory", func(q *leveret.QueueInfo) any { return q.Bytes + int64(q.Messages)*messageOverhead }},
	}
)

// messageOverhead is how many bytes a message takes besides its body, at least.
const messageOverhead = 96

// ofClassic is n for classic queues. Quorum queues count no messages as being in memory.
func ofClassic(q *leveret.QueueInfo, n int) int {
	if q.Type == leveret.QueueTypeQuorum {
		return 0
	}
	return n
}

func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// capacity tells whether the queue's consumers could take a message at this moment: 1 if they can, else 0. RabbitMQ
// takes the mean over some time.
func capacity(info leveret.QueueInfo) int {
	if info.Consumers > 0 && info.Ready == 0 {
		return 1
	}
	return 0
}

// share is the capacity as JSON shows it: a whole number only if there are no consumers.
func share(info leveret.QueueInfo) any {
	if info.Consumers == 0 {
		return 0
	}
	return decimal(capacity(info))
}

// fill puts columns into an object.
func fill(o object, columns []column, info *leveret.QueueInfo) {
	for _, c := range columns {
		o[c.name] = c.of(info)
	}
}

// quickly returns what tells a column of a queue, if it is one of those above or a figure.
func (c *call) quickly(v *leveret.VHost, info *leveret.QueueInfo) func(name string) (any, bool) {
	return func(name string) (any, bool) {
		for _, columns := range [][]column{declaredColumns, statisticsColumns} {
			if of := find(columns, name); of != nil {
				return of(info), !c.statsDisabled()
			}
		}
		for _, f := range lengths {
			if name == figureTable[f].name {
				return queueFigures(*info, leveret.QueueCounters{})[f], true
			}
		}
		return c.quickFigure(v, info, name)
	}
}

func find(columns []column, name string) func(*leveret.QueueInfo) any {
	for _, c := range columns {
		if c.name == name {
			return c.of
		}
	}
	return nil
}

// quickFigure returns a figure of a queue, such as message_stats.publish, or its rate, such as messages_details.rate. What
// has not happened yet is not shown, and counts as 0 for the order.
func (c *call) quickFigure(v *leveret.VHost, info *leveret.QueueInfo, name string) (any, bool) {
	name, isStatistic := strings.CutPrefix(name, "message_stats.")
	name, isRate := strings.CutSuffix(name, "_details.rate")
	which, known := figureOf(name, isStatistic)
	if !known || c.statsDisabled() {
		return nil, false
	}
	q, err := v.Queue(info.Name)
	if err != nil {
		return nil, true // deleted meanwhile
	}
	value := queueFigures(*info, q.Counters())[which]
	if !isRate {
		return value, true
	}
	return c.recorder.rate(subject{aQueue, info.VHost, info.Name}, which, moment{time.Now(), value}), true
}

// figureOf returns the figure of a queue that a name stands for, in message_stats or outside.
func figureOf(name string, isStatistic bool) (figure, bool) {
	which := lengths
	if isStatistic {
		which = slices.Concat(queueStats...)
	}
	for _, f := range which {
		if figureTable[f].name == name {
			return f, true
		}
	}
	return 0, false
}
