package ctl

import (
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
)

func TestAlarms(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	n := &Node{Broker: b, Name: "n@h"}
	run := func(expression string) string {
		r := n.Run(Request{Args: []string{"eval", expression}})
		assert.Empty(t, r.Stderr, expression)
		return strings.TrimSuffix(r.Stdout, "\n")
	}
	b.SetMemoryLimit(1 << 30)
	assert.Equal(t, "[]", run("rabbit_alarm:get_alarms()."))
	for _, resource := range []string{"memory", "disk", "disk"} {
		assert.Equal(t, "ok", run("rabbit_alarm:set_alarm({{resource_limit, "+resource+", node()}, []})."))
		assert.NotZero(t, b.Alarms())
	}
	assert.Equal(t, "[{{resource_limit,memory,n@h},[]},{{resource_limit,disk,n@h},[]}]", run("rabbit_alarm:get_alarms()."))

	assert.Equal(t, "ok", run("rabbit_alarm:clear_alarm({resource_limit, memory, node()})."))
	assert.Equal(t, leveret.DiskAlarm, b.Alarms(), "the other alarm is still set")
	assert.Equal(t, "ok", run("rabbit_alarm:clear_alarm({resource_limit, disk, node()})."))
	assert.Equal(t, leveret.MemoryInfo{Limit: 1 << 30}, b.Memory(), "the limit is what it was")
	assert.Equal(t, "[]", run("rabbit_alarm:get_alarms()."))

	b.SetMemoryLimit(-1)
	assert.Equal(t, "[{{resource_limit,memory,n@h},[]}]", run("rabbit_alarm:get_alarms()."))
}

// The end of a node clears what eval has set, and nothing else.
func TestAlarmsOfEvalEndWithTheNode(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	n := &Node{Broker: b, Name: "n@h"}
	n.alarms.raise(b, leveret.MemoryAlarm)
	b.SetAlarm(leveret.DiskAlarm, true)
	n.Close()
	assert.Equal(t, leveret.DiskAlarm, b.Alarms())
}

func TestEvalRefuses(t *testing.T) {
	for _, expression := range []string{"1+1.", "rabbit:stop().", "rabbit_alarm:set_alarm({{resource_limit, cpu, node()}, []}).",
		"rabbit_alarm:set_alarm({{resource_limit, memory, node()}, []}), rabbit:stop()."} {
		r := (&Node{}).Run(Request{Args: []string{"eval", expression}})
		assert.Equal(t, exitUnavailable, r.Status, expression)
		assert.Equal(t, "Error:\n"+unknownExpression+"\n", r.Stderr, expression)
	}
}
