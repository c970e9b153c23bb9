package model_test

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/race"
	"pgregory.net/rapid"
)

// The state machine: random operations on a broker and on the naive model, which must agree
// on every answer, every delivery and all that waits, after every step.

var machineStart = time.Unix(1_700_000_000, 0)

type machine struct {
	t     *rapid.T
	b     *leveret.Broker
	clk   *leveret.ManualClock
	m     *model
	conns [2]*clientConn
	hints []routeHint
	count int  // of messages and consumers, for unique names
	ended bool // two queues were due at one instant: no rule tells which acts first
}

type clientConn struct {
	conn  *leveret.Conn
	inbox *leveret.Inbox
	chs   [2]*clientChannel
}

type clientChannel struct {
	real  *leveret.Channel
	model *mChannel
	cc    *clientConn
}

// routeHint is the order in which the broker served the targets of one message.
type routeHint struct {
	body, queue, reason string
	order               []string
}

// TestModel makes some thousand short runs; -rapid.checks and -rapid.steps ask for more.
func TestModel(t *testing.T) {
	rounds := 20
	if testing.Short() || race.Enabled {
		rounds = 1
	}
	for range rounds {
		rapid.Check(t, runMachine)
	}
}

func runMachine(t *rapid.T) {
	s := &machine{t: t, clk: leveret.NewManualClock(machineStart)}
	s.m = newModel()
	s.m.order = s.inBrokerOrder
	s.b = leveret.New(leveret.WithClock(s.clk), leveret.WithSeed(1), leveret.WithEvents(leveret.Events{
		Published: func(e leveret.PublishedEvent) {
			s.hints = append(s.hints, routeHint{body: string(e.Body), order: e.Queues})
		},
		DeadLettered: func(e leveret.DeadLetteredEvent) {
			s.hints = append(s.hints, routeHint{string(e.Body), e.Queue, string(e.Reason), e.Queues})
		},
	}))
	defer s.b.Close()
	for range 3 {
		s.declareQueue(t)
		s.declareExchange(t)
		s.bind(t)
	}
	actions := map[string]func(*rapid.T){
		"declare queue": s.declareQueue, "delete queue": s.deleteQueue, "purge": s.purge,
		"declare exchange": s.declareExchange, "delete exchange": s.deleteExchange,
		"bind": s.bind, "bind 2": s.bind, "unbind": s.unbind,
		"policy": s.setPolicy, "clear policy": s.clearPolicy,
		"publish": s.publish, "publish 2": s.publish, "publish 3": s.publish, "publish 4": s.publish, "publish 5": s.publish,
		"get": s.get, "get 2": s.get, "consume": s.consume, "consume 2": s.consume, "cancel": s.cancel,
		"settle": s.settle, "settle 2": s.settle, "settle 3": s.settle, "settle 4": s.settle, "recover": s.recover,
		"close channel": s.closeChannel, "close connection": s.closeConn,
		"tx": s.tx, "commit": s.commit, "rollback": s.rollback,
		"advance": s.advance, "advance 2": s.advance, "advance 3": s.advance,
	}
	for name, f := range actions {
		actions[name] = func(t *rapid.T) {
			if s.t = t; !s.ended {
				s.forward(1)
				f(t)
			}
		}
	}
	actions[""] = s.compare
	t.Repeat(actions)
}

func (s *machine) inBrokerOrder(found []*mQueue) []*mQueue {
	at := func(q *mQueue) int {
		for _, h := range s.hints {
			if h.body == s.m.routing.body && h.queue == s.m.routing.queue && h.reason == s.m.routing.reason {
				if i := slices.Index(h.order, q.name); i >= 0 {
					return i
				}
				break
			}
		}
		return len(found)
	}
	sort.SliceStable(found, func(i, j int) bool { return at(found[i]) < at(found[j]) })
	for i, h := range s.hints {
		if h.body == s.m.routing.body && h.queue == s.m.routing.queue && h.reason == s.m.routing.reason {
			s.hints = slices.Delete(s.hints, i, i+1)
			break
		}
	}
	return found
}

func (s *machine) note(format string, args ...any) {
	s.t.Helper()
	s.t.Logf(format, args...)
}

// same fails unless the broker's answer is the model's.
func (s *machine) same(what string, got, want any) {
	s.t.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		s.t.Fatalf("%s\n  broker: %s\n  model:  %s", what, g, w)
	}
}

func errText(err error) string {
	var e *leveret.Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return fmt.Sprintf("%d %s", e.Code, e.Text())
	}
	return err.Error()
}

var queueNames = []string{"q0", "q1", "q2", "q3", "q4"}

var exchangeNames = []string{"x0", "x1", "x2"}

var allExchanges = []string{"", "x0", "x1", "x2", "amq.fanout", "amq.topic", "missing"}

var keys = []string{"q0", "q1", "q2", "q3", "q4", "a.b", "a.c.d", ""}

var bindingKeys = []string{"q0", "q1", "q2", "#", "*", "a.*", "a.#", "#.d", ""}

func pick[T any](t *rapid.T, label string, from ...T) T {
	return rapid.SampledFrom(from).Draw(t, label)
}

func chance(t *rapid.T, label string, percent int) bool {
	return rapid.IntRange(0, 99).Draw(t, label) >= 100-percent
}

// FuzzEngine has the fuzzer choose the operations of the model test.
func FuzzEngine(f *testing.F) {
	for _, n := range []int{0, 100, 2000} {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(i * 37)
		}
		f.Add(b)
	}
	f.Fuzz(rapid.MakeFuzz(runMachine))
}

func (s *machine) advance(t *rapid.T) {
	s.forward(int64(pick(t, "ms", 10, 300, 500, 1000, 2500, 5000, 100_000)))
}

// forward moves time on, from one thing that is due to the next.
func (s *machine) forward(ms int64) {
	end := s.m.now + ms
	if end > consumerTimeout {
		s.ended = true
	}
	for !s.ended {
		at, due := s.m.nextDue()
		if at == 0 || at > end {
			break
		}
		if len(due) > 1 {
			s.ended = true
			return
		}
		s.note("at %d: %s is due", at, due[0].name)
		s.clk.Advance(time.Duration(at-s.m.now) * time.Millisecond)
		s.m.now = at
		s.m.wake(due[0])
		s.m.drain()
		s.compare(s.t)
	}
	s.clk.Advance(time.Duration(end-s.m.now) * time.Millisecond)
	s.m.now = end
}
