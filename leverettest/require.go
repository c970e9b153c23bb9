package leverettest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/phrase"
)

// RequireQueue ends the test unless the ready messages of a queue are what the matchers say: one matcher for each
// message, in the order in which they would leave the queue. Without a matcher the queue has to be empty.
//
// Like all assertions it looks at the virtual host "/" of b, waits for nothing but the broker's own work, and prints
// the journeys concerned if b is recorded (see [Record]).
func RequireQueue(t T, b *leveret.Broker, queue string, matchers ...Matcher) {
	t.Helper()
	got := ready(t, b, queue)
	var wrong []string
	for i, m := range got[:min(len(got), len(matchers))] {
		if err := matchers[i].judge(m); err != nil {
			wrong = append(wrong, fmt.Sprintf("message %d of %d: %v", i+1, len(got), err))
		}
	}
	if len(got) != len(matchers) {
		wrong = append(wrong, fmt.Sprintf("want %d messages, got %d", len(matchers), len(got)))
	}
	failQueue(t, b, queue, got, wrong)
}

// RequireQueueAnyOrder is RequireQueue for messages whose order does not matter: each matcher accepts another message.
func RequireQueueAnyOrder(t T, b *leveret.Broker, queue string, matchers ...Matcher) {
	t.Helper()
	got := ready(t, b, queue)
	var wrong []string
	if len(got) != len(matchers) {
		wrong = append(wrong, fmt.Sprintf("want %d messages, got %d", len(matchers), len(got)))
	} else if free := unmatched(got, matchers); free >= 0 {
		wrong = append(wrong, fmt.Sprintf("matcher %d of %d finds no message that is not another one's", free+1, len(matchers)))
	}
	failQueue(t, b, queue, got, wrong)
}

// unmatched gives each matcher a message of its own and returns the first for which there is none, -1 if all have one.
// A matcher takes a message from another one that has a second choice.
func unmatched(messages []leveret.MessageInfo, matchers []Matcher) int {
	owner := make([]int, len(messages)) // the matcher of each message, from 1; 0: none
	for i := range matchers {
		tried := make([]bool, len(messages))
		var give func(int) bool
		give = func(matcher int) bool {
			for k, m := range messages {
				if tried[k] || matchers[matcher].judge(m) != nil {
					continue
				}
				tried[k] = true
				if owner[k] == 0 || give(owner[k]-1) {
					owner[k] = matcher + 1
					return true
				}
			}
			return false
		}
		if !give(i) {
			return i
		}
	}
	return -1
}

// RequireCount ends the test unless a queue has so many ready messages.
func RequireCount(t T, b *leveret.Broker, queue string, n int) {
	t.Helper()
	got := ready(t, b, queue)
	if len(got) != n {
		failQueue(t, b, queue, got, []string{fmt.Sprintf("want %d messages, got %d", n, len(got))})
	}
}

func ready(t T, b *leveret.Broker, queue string) []leveret.MessageInfo {
	t.Helper()
	b.Settle()
	q, err := b.Queue(queue)
	if err != nil {
		t.Fatalf("leveret: %v", err)
	}
	return q.Messages()
}

// failQueue ends the test if anything is wrong with a queue.
func failQueue(t T, b *leveret.Broker, queue string, got []leveret.MessageInfo, wrong []string) {
	t.Helper()
	if len(wrong) == 0 {
		return
	}
	var out strings.Builder
	fmt.Fprintf(&out, "leveret: queue %q: %s\n", queue, strings.Join(wrong, "\n\t"))
	for i, m := range got {
		fmt.Fprintf(&out, "\t%d. %s\n", i+1, describe(m))
	}
	concerned := func(j *Journey) bool {
		return len(j.Lost()) > 0 || slices.ContainsFunc(j.In(), func(p Place) bool { return p.Queue == queue })
	}
	t.Fatalf("%s%s", out.String(), journeysText(b, concerned))
}

func describe(m leveret.MessageInfo) string {
	out := fmt.Sprintf("%s, from %s with key %q", phrase.Body(m.Body), phrase.Exchange(m.Exchange), m.RoutingKey)
	for _, d := range m.Deaths {
		out += fmt.Sprintf(", died %d× in %s (%s)", d.Count, d.Queue, d.Reason)
	}
	return out
}

// journeysText tells the journeys concerned of a broker that is recorded.
func journeysText(b *leveret.Broker, concerned func(*Journey) bool) string {
	r := recorderOf(b)
	if r == nil {
		return "call leverettest.Record to see what happened to the messages\n"
	}
	return r.tell(r.journeysIf(concerned))
}

// Deaths says which dead letters a test expects of a queue. The zero value of a field means that anything will do, but
// for Times.
type Deaths struct {
	Reason leveret.Reason // why; empty: for whatever reason
	Times  int            // how often
	To     []string       // the queues that each dead letter went to, in any order; nil: wherever it went
}

// RequireDeadLettered ends the test unless so many messages died in a queue and went through its dead-letter exchange as
// want says, or if there were none and there is no such queue. Those are counted that all matchers accept, as they were
// published first. The broker must be recorded.
func RequireDeadLettered(t T, b *leveret.Broker, queue string, want Deaths, matchers ...Matcher) {
	t.Helper()
	b.Settle()
	r := recorderOf(b)
	if r == nil {
		t.Fatalf("leveret: RequireDeadLettered needs leverettest.Record")
	}
	var wrong []string
	times := 0
	slices.Sort(want.To)
	for _, j := range r.Journeys(matchers...) {
		for _, e := range j.Events {
			d, ok := e.(leveret.DeadLetteredEvent)
			if !ok || d.Queue != queue || want.Reason != "" && d.Reason != want.Reason {
				continue
			}
			times++
			if to := slices.Sorted(slices.Values(d.Queues)); want.To != nil && !slices.Equal(to, want.To) {
				wrong = append(wrong, fmt.Sprintf("message %d went to %s, not to %s", j.Message, phrase.Queues(to), phrase.Queues(want.To)))
			}
		}
	}
	if times == 0 && !isQueue(b, queue) {
		wrong = append(wrong, "there is no such queue") // a name that is misspelt has no dead letters
	}
	if times != want.Times {
		wrong = append(wrong, fmt.Sprintf("want %d dead letters%s, got %d", want.Times, reasonText(want.Reason), times))
	}
	if len(wrong) > 0 {
		died := func(j *Journey) bool {
			return slices.ContainsFunc(j.Deaths(), func(d leveret.Death) bool { return d.Queue == queue }) ||
				slices.ContainsFunc(j.In(), func(p Place) bool { return p.Queue == queue })
		}
		t.Fatalf("leveret: queue %q: %s\n%s", queue, strings.Join(wrong, "\n\t"), journeysText(b, died))
	}
}

// isQueue reports whether a virtual host has a queue of that name.
func isQueue(b *leveret.Broker, name string) bool {
	return slices.ContainsFunc(b.VHosts(), func(info leveret.VHostInfo) bool {
		v, err := b.VHost(info.Name)
		if err == nil {
			_, err = v.Queue(name)
		}
		return err == nil
	})
}

func reasonText(r leveret.Reason) string {
	if r == "" {
		return ""
	}
	return fmt.Sprintf(" (%s)", r)
}

// RequireNoLoss ends the test if a message was lost since [Record], for another cause than those that are named, in
// whatever virtual host. A message that a publisher was told about, by basic.return or a nack, is not lost. The broker
// must be recorded.
func RequireNoLoss(t T, b *leveret.Broker, but ...leveret.Cause) {
	t.Helper()
	b.Settle()
	r := recorderOf(b)
	if r == nil {
		t.Fatalf("leveret: RequireNoLoss needs leverettest.Record")
	}
	lossy := r.journeysIf(func(j *Journey) bool {
		return slices.ContainsFunc(j.Lost(), func(e leveret.DroppedEvent) bool { return !slices.Contains(but, e.Cause) })
	})
	if len(lossy) > 0 {
		t.Fatalf("leveret: %d messages were lost\n%s", len(lossy), r.tell(lossy))
	}
}

// RequireDrained ends the test if the named queues, or without names all queues of the virtual host "/", hold a
// message: ready, unacknowledged, or waiting for a retry or for a dead-letter target.
func RequireDrained(t T, b *leveret.Broker, queues ...string) {
	t.Helper()
	b.Settle()
	var wrong []string
	for _, q := range b.Queues() {
		named := len(queues) == 0 || slices.Contains(queues, q.Name)
		if named && q.Messages > 0 {
			wrong = append(wrong, q.Name+": "+held(q))
		}
	}
	for _, name := range queues {
		if _, err := b.Queue(name); err != nil {
			wrong = append(wrong, err.Error())
		}
	}
	if len(wrong) > 0 {
		slices.SortFunc(wrong, cmp.Compare[string])
		inQueue := func(j *Journey) bool {
			return slices.ContainsFunc(j.In(), func(p Place) bool { return len(queues) == 0 || slices.Contains(queues, p.Queue) })
		}
		t.Fatalf("leveret: not drained: %s\n%s", strings.Join(wrong, "\n\t"), journeysText(b, inQueue))
	}
}
