package ctl

import (
	"regexp"
	"strings"
	"sync/atomic"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/erl"
)

// eval answers the Erlang expressions by which the test suites of AMQP clients set and clear alarms. It evaluates
// nothing else.

func evalCommands() []*command {
	return []*command{{
		name: "eval", offline: true, usage: "eval <expression>", max: -1, validate: validateEval, input: evalInput, run: eval,
		about: "Sets, clears and lists alarms by the Erlang expressions that client test suites use.",
	}}
}

// alarms are those that eval has set, which end with the node. Each of them blocks publishers, whatever memory the broker needs, and
// however much of the disk is free.
type alarms struct{ set atomic.Uint32 } // leveret.Alarm

var alarmsByName = map[string]leveret.Alarm{"memory": leveret.MemoryAlarm, "disk": leveret.DiskAlarm}

func (a *alarms) raise(b *leveret.Broker, which leveret.Alarm) {
	a.set.Or(uint32(which))
	b.SetAlarm(which, true)
}

func (a *alarms) clear(b *leveret.Broker, which leveret.Alarm) {
	a.set.And(^uint32(which))
	b.SetAlarm(which, false)
}

// clearAll clears those that eval has set.
func (a *alarms) clearAll(b *leveret.Broker) { a.clear(b, leveret.Alarm(a.set.Load())) }

// eachAlarm are the names of the alarms in force.
func eachAlarm(b *leveret.Broker) (names []string) {
	for _, name := range []string{"memory", "disk"} {
		if b.Alarms()&alarmsByName[name] != 0 {
			names = append(names, name)
		}
	}
	return names
}

// An evaluation is an expression that eval knows, without blanks and the dot at the end. answer gets the resource that
// it names.
type evaluation struct {
	pattern *regexp.Regexp
	answer  func(n *Node, resource string) any
}

var evaluated = []evaluation{
	{regexp.MustCompile(`^rabbit_alarm:set_alarm\(\{\{resource_limit,(memory|disk),node\(\)\},\[\]\}\)$`), func(n *Node, resource string) any {
		n.alarms.raise(n.Broker, alarmsByName[resource])
		return erl.Atom("ok")
	}},
	{regexp.MustCompile(`^rabbit_alarm:clear_alarm\(\{resource_limit,(memory|disk),node\(\)\}\)$`), func(n *Node, resource string) any {
		n.alarms.clear(n.Broker, alarmsByName[resource])
		return erl.Atom("ok")
	}},
	{regexp.MustCompile(`^rabbit_alarm:get_alarms\(()\)$`), func(n *Node, _ string) any {
		list := erl.List{}
		for _, resource := range eachAlarm(n.Broker) {
			list = append(list, erl.Tuple{erl.Tuple{erl.Atom("resource_limit"), erl.Atom(resource), erl.Atom(n.Name)}, erl.List{}})
		}
		return list
	}},
	{regexp.MustCompile(`^node\(()\)$`), func(n *Node, _ string) any { return erl.Atom(n.Name) }},
}

const unknownExpression = `leveret evaluates no Erlang but these expressions, where RESOURCE is memory or disk:
rabbit_alarm:set_alarm({{resource_limit, RESOURCE, node()}, []}).
rabbit_alarm:clear_alarm({resource_limit, RESOURCE, node()}).
rabbit_alarm:get_alarms().
node().`

var blank = regexp.MustCompile(`\s+`)

// expression returns the command's expression without blanks, and whether the dot is there that ends it.
func (c *call) expression() (text string, ended bool) {
	switch {
	case len(c.args) > 0:
		text = c.args[0]
	case c.input != nil:
		text = string(c.input.Data)
	}
	return strings.CutSuffix(blank.ReplaceAllString(text, ""), ".")
}

func validateEval(c *call) error {
	if len(c.args) == 0 {
		return nil // it is read from standard input
	}
	if _, ended := c.expression(); !ended {
		return &misuse{exitUsage, `"syntax error before: "`}
	}
	return nil
}

// evalInput is the expression, if it is not on the command line.
func evalInput(c *call) *Need {
	if len(c.args) > 0 {
		return nil
	}
	return &Need{Kind: NeedStdin}
}

func eval(c *call) (result, error) {
	text, ended := c.expression()
	switch {
	case ended:
	case c.input == nil:
		return result{}, c.need()
	case len(c.input.Data) == 0:
		return result{}, failed(exitData, "Expression to evaluate is not provided via argument or stdin")
	default:
		return result{}, failed(exitData, "Evaluation failed: syntax error before: ")
	}
	for _, e := range evaluated {
		if found := e.pattern.FindStringSubmatch(text); found != nil {
			return result{message: oneLine(e.answer(c.node, found[1]))}, nil
		}
	}
	return result{}, failed(exitUnavailable, unknownExpression)
}
