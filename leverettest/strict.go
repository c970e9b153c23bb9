package leverettest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/fault"
)

// A strictness looks once at what a test has left, before anything of leverettest ends: a connection that ends gives back
// what it holds.
type strictness struct {
	once  sync.Once
	check func()
}

// strict are the brokers of tests that are to leave nothing: *leveret.Broker to *strictness.
var strict sync.Map

// Strict fails a test that ends and has left something: messages that are unacknowledged, ready, or waiting for a retry or
// a dead-letter target, in whatever virtual host, and messages that were lost since, as [RequireNoLoss] understands it.
// Queues that are named may hold messages. What there is when the test ends is judged, before connections are closed. A
// test that has failed for another reason is left alone.
//
// The broker is recorded, so that the journeys concerned are printed. Of a client that connects by [URL] what is still in
// its socket is not known: let the test close its connection before.
func Strict(t T, b *leveret.Broker, mayHold ...string) {
	t.Helper()
	if recorderOf(b) == nil {
		Record(t, b)
	}
	s := &strictness{check: func() {
		t.Helper()
		if !t.Failed() {
			judge(t, b, mayHold)
		}
	}}
	strict.Store(b, s)
	t.Cleanup(func() {
		t.Helper()
		lookBack(b)
		strict.CompareAndDelete(b, s)
	})
}

// lookBack is called before anything ends with the test.
func lookBack(b *leveret.Broker) {
	if s, ok := strict.Load(b); ok {
		s := s.(*strictness)
		s.once.Do(s.check)
	}
}

// judge fails the test if something is left.
func judge(t T, b *leveret.Broker, mayHold []string) {
	t.Helper()
	arrive(b)
	wrong := leftIn(b, mayHold)
	r := recorderOf(b)
	if r == nil { // the recorder has ended
		return
	}
	lost := 0
	concerned := r.journeysIf(func(j *Journey) bool {
		if len(j.Lost()) > 0 {
			lost++
			return true
		}
		return slices.ContainsFunc(j.In(), func(p Place) bool { return !slices.Contains(mayHold, p.Queue) })
	})
	if lost > 0 {
		wrong = append(wrong, fmt.Sprintf("%d lost", lost))
	}
	if len(wrong) > 0 {
		t.Errorf("leveret: Strict: the test has left messages: %s\n%s", strings.Join(wrong, "\n\t"), r.tell(concerned))
	}
}

// leftIn tells which queues hold messages that they may not hold.
func leftIn(b *leveret.Broker, mayHold []string) (all []string) {
	for _, info := range b.VHosts() {
		v, err := b.VHost(info.Name)
		if err != nil {
			continue
		}
		for _, q := range v.Queues() {
			if q.Messages == 0 || slices.Contains(mayHold, q.Name) {
				continue
			}
			name := q.Name
			if info.Name != "/" {
				name += " in virtual host " + info.Name
			}
			all = append(all, name+": "+held(q))
		}
	}
	slices.Sort(all)
	return all
}

// held tells what a queue holds.
func held(q leveret.QueueInfo) string {
	return fmt.Sprintf("%d ready, %d unacknowledged, %d waiting", q.Ready, q.Unacked, q.Messages-q.Ready-q.Unacked)
}

// arrive lets what clients have sent in memory arrive. A client that does not read is not waited for.
func arrive(b *leveret.Broker) {
	b.Settle()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	settled := make(chan struct{})
	go func() {
		defer close(settled)
		_ = fault.Settle(ctx, b) // what has not arrived is judged as it is
	}()
	if !comes(settled) {
		stop()
		comes(settled)
	}
}
