package leverettest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/journey"
)

// A Journey is what happened to one message.
type Journey = journey.Journey

// A Place is where a copy of a message is.
type Place = journey.Place

// A Recorder keeps what happens to messages. Besides the methods here it has those of a [journey.Recorder], with the
// events of each kind as lists: Published, Acked, Dropped and so on. It is safe for concurrent use.
type Recorder struct {
	*recorder

	mu   sync.Mutex
	told map[messageID]bool // whose journeys were printed
}

type recorder = journey.Recorder

type messageID struct {
	vhost  string
	number uint64
}

// A RecordOption says what a Recorder keeps.
type RecordOption func(*journey.Config)

// KeepIf has only those messages recorded for which keep returns true when they are published.
func KeepIf(keep func(leveret.EventMessage) bool) RecordOption {
	return func(c *journey.Config) { c.Keep = keep }
}

// KeepLast has the journeys of the last n messages kept, and as many events of each kind. Default: 10000. What is older
// is forgotten.
func KeepLast(n int) RecordOption { return func(c *journey.Config) { c.Last = max(n, 1) } }

// recorders are those of the brokers that are recorded, so that assertions find them.
var recorders sync.Map // *leveret.Broker to *Recorder

// Record records what happens to messages that are published from now on, until the test ends. If the test fails, the
// journeys of the messages that were lost, or are in a queue still, and what is in the queues are printed.
//
// Assertions on the broker print the journeys concerned when they fail. A broker that is not recorded is as fast as
// ever.
func Record(t T, b *leveret.Broker, opts ...RecordOption) *Recorder {
	var cfg journey.Config
	for _, o := range opts {
		o(&cfg)
	}
	r := &Recorder{recorder: journey.Record(b, cfg), told: map[messageID]bool{}}
	recorders.Store(b, r)
	t.Cleanup(func() {
		t.Helper()
		lookBack(b)
		if t.Failed() {
			b.Settle()
			t.Logf("leveret: queues:\n%s", queueTable(b))
			if text := r.tell(r.journeysIf(unsettled)); text != "" {
				t.Logf("leveret: messages that were lost, or that are in a queue:\n%s", text)
			}
		}
		r.Stop()
		recorders.CompareAndDelete(b, r)
	})
	return r
}

// recorderOf returns the broker's recorder, nil if it has none.
func recorderOf(b *leveret.Broker) *Recorder {
	r, _ := recorders.Load(b)
	rec, _ := r.(*Recorder)
	return rec
}

// unsettled reports whether the message was lost, or is in a queue.
func unsettled(j *Journey) bool { return len(j.Lost()) > 0 || len(j.In()) > 0 }

// Journeys returns the journeys of the messages that all matchers accept, in the order in which they were published.
func (r *Recorder) Journeys(matchers ...Matcher) []*Journey {
	return r.journeysIf(func(j *Journey) bool { return matches(j.Published(), matchers) == nil })
}

// Journey returns the journey of the first message that all matchers accept, nil if there is none.
func (r *Recorder) Journey(matchers ...Matcher) *Journey {
	if js := r.Journeys(matchers...); len(js) > 0 {
		return js[0]
	}
	return nil
}

// tell returns the stories of journeys that were not told yet, at most twenty.
func (r *Recorder) tell(js []*Journey) string {
	const most = 20
	r.mu.Lock()
	defer r.mu.Unlock()
	var out strings.Builder
	for i, j := range js {
		if i == most {
			fmt.Fprintf(&out, "and %d more\n", len(js)-most)
			break
		}
		if id := (messageID{j.VHost, j.Message}); !r.told[id] {
			r.told[id] = true
			out.WriteString(j.String())
		}
	}
	return out.String()
}

// Timeline tells what happened to all messages, or to those that all matchers accept, in the order in which it
// happened. Each line begins with the message's number.
func (r *Recorder) Timeline(matchers ...Matcher) string {
	return journey.Timeline(r.Journeys(matchers...))
}

// journeysIf returns some journeys.
func (r *Recorder) journeysIf(wanted func(*Journey) bool) []*Journey {
	return slices.DeleteFunc(r.recorder.Journeys(), func(j *Journey) bool { return !wanted(j) })
}

// queueTable lists what is in the queues of all virtual hosts.
func queueTable(b *leveret.Broker) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "vhost\tqueue\tready\tunacked\tconsumers")
	for _, info := range b.VHosts() {
		v, err := b.VHost(info.Name)
		if err != nil {
			continue
		}
		for _, q := range v.Queues() {
			fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\n", info.Name, q.Name, q.Ready, q.Unacked, q.Consumers)
		}
	}
	w.Flush()
	return out.String()
}
