package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/turns"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// A short load, in both profiles: CI and those who change the engine run longer ones.
func TestEveryCopyIsAccountedFor(t *testing.T) {
	for _, p := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		t.Run(p.String(), func(t *testing.T) {
			defer goleak.VerifyNone(t)
			c := config{profile: p, duration: 2 * time.Second, every: time.Second / 2, seed: uint64(time.Now().UnixNano()), api: 4, tcp: 4}
			if testing.Short() {
				c.duration = time.Second / 2
			}
			r := run(c)
			assert.Empty(t, r.problems, "seed %d", c.seed)
			t.Log(r)
			assert.Positive(t, r.acked)
			assert.Positive(t, r.dropped)

			csv, svg := filepath.Join(t.TempDir(), "csv"), filepath.Join(t.TempDir(), "svg")
			require.NoError(t, writeCSV(csv, r.samples))
			require.NoError(t, writePlot(svg, r.samples))
			drawn, err := os.ReadFile(svg)
			require.NoError(t, err)
			assert.Contains(t, string(drawn), "<polyline")
		})
	}
}

// The same, while long operations let others in everywhere.
func TestEveryCopyIsAccountedForInShortTurns(t *testing.T) {
	defer turns.SetLength(turns.Length())
	turns.SetLength(3)
	TestEveryCopyIsAccountedFor(t)
}

// The ledger notices what should not be.
func TestLedgerNotices(t *testing.T) {
	message := leveret.EventMessage{Message: 1, Properties: &leveret.Properties{MessageID: "m"}}
	delivery := leveret.EventDelivery{Queue: "q", Copy: 1, DeliveryTag: 1}
	publish := func(l *ledger, o outcome, targets ...string) {
		l.send("m")
		l.events().Published(leveret.PublishedEvent{EventMessage: message, Queues: targets})
		l.learn("m", o)
	}
	enqueue := func(l *ledger) {
		l.events().Enqueued(leveret.EnqueuedEvent{EventMessage: message, Queue: "q", Copy: 1})
	}
	for name, wrong := range map[string]func(l *ledger){
		"a message that is lost": func(l *ledger) { l.send("m"); l.learn("m", acked) },
		"a message from nowhere": func(l *ledger) { l.events().Published(leveret.PublishedEvent{EventMessage: message}) },
		"a message twice": func(l *ledger) {
			publish(l, acked)
			l.events().Published(leveret.PublishedEvent{EventMessage: message})
		},
		"a queue that did not get": func(l *ledger) { publish(l, acked, "q") },
		"a nack of what was taken": func(l *ledger) { publish(l, nacked, "q"); enqueue(l) },
		"an ack of what was not": func(l *ledger) {
			publish(l, acked, "q")
			l.events().Refused(leveret.RefusedEvent{EventMessage: message, Copy: 1})
		},
		"a copy from nowhere":     enqueue,
		"a copy without an end":   func(l *ledger) { publish(l, acked, "q"); enqueue(l) },
		"a copy that ended twice": func(l *ledger) { publish(l, acked, "q"); enqueue(l); end(l, message); end(l, message) },
		"an ack of nobody's": func(l *ledger) {
			publish(l, acked, "q")
			enqueue(l)
			l.events().Acked(leveret.AckedEvent{EventMessage: message, EventDelivery: delivery})
		},
		"a delivery after the end": func(l *ledger) {
			publish(l, acked, "q")
			enqueue(l)
			end(l, message)
			l.events().Delivered(leveret.DeliveredEvent{EventMessage: message, EventDelivery: delivery})
		},
		"a loss without a cause":    func(l *ledger) { l.events().Dropped(leveret.DroppedEvent{EventMessage: message}) },
		"a dead letter from nobody": func(l *ledger) { l.events().Enqueued(leveret.EnqueuedEvent{EventMessage: message, Copy: 2, Parent: 1}) },
	} {
		t.Run(name, func(t *testing.T) {
			l := newLedger()
			wrong(l)
			l.comparePublications()
			l.compareNothing()
			assert.True(t, l.failed())
		})
	}
	l := newLedger()
	publish(l, acked, "q")
	enqueue(l)
	end(l, message)
	l.comparePublications()
	l.compareNothing()
	assert.False(t, l.failed(), l.problems)
}

func end(l *ledger, m leveret.EventMessage) {
	l.events().Dropped(leveret.DroppedEvent{EventMessage: m, Queue: "q", Copy: 1, Cause: leveret.CausePurged})
}
