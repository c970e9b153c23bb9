package model_test

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
	"pgregory.net/rapid"
)

// The comparison of the broker with the model after every step.

// compare looks at everything.
func (s *machine) compare(t *rapid.T) {
	s.t = t
	if s.m.overtook {
		s.ended = true // what the queue does now depends on timers that it had before
	}
	if s.ended {
		return
	}
	if err := s.b.Check(); err != nil {
		t.Fatal(err)
	}
	for i, cc := range s.conns {
		if cc == nil {
			continue
		}
		var want []mDelivery
		for _, d := range s.m.out {
			if strings.HasPrefix(d.channel, fmt.Sprint(i, ".")) {
				want = append(want, d)
			}
		}
		n := 0
		for _, note := range cc.inbox.Take(nil) {
			if note.Kind != leveret.Delivered {
				continue
			}
			got := s.render(fmt.Sprintf("%d.%d", i, note.Channel.Number()), note.Delivery)
			if n == len(want) {
				t.Fatalf("the broker delivered also %s", got)
			}
			s.same("delivery", got, want[n].String())
			s.same("headers", headerText(note.Delivery.WireHeaders()), want[n].headerText())
			n++
		}
		if n < len(want) {
			t.Fatalf("the broker did not deliver %s", want[n])
		}
	}
	s.m.out, s.hints = nil, nil
	s.compareQueues(t)
	at, ok := s.b.NextDeadline()
	want := s.m.nextDeadline()
	s.same("next deadline is set", ok, want != 0)
	if ok {
		s.same("next deadline", s.ms(at), want)
	}
}

func (s *machine) ms(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Sub(machineStart).Milliseconds() + 1
}

const consumerTimeout = 1_800_000

// nextDeadline includes the consumers' timeouts, which the machine never reaches.
func (m *model) nextDeadline() int64 {
	at, _ := m.nextDue()
	for _, ch := range m.channels {
		us := slices.Clone(ch.unacked)
		for _, a := range ch.txAcks {
			us = append(us, a.us...)
		}
		for _, u := range us {
			if t := u.at + consumerTimeout; m.queue(u.q.name) == u.q && u.q.quorum && (at == 0 || t < at) {
				at = t
			}
		}
	}
	return at
}

func (s *machine) compareQueues(t *rapid.T) {
	infos := s.b.Queues()
	s.same("queues", len(infos), len(s.m.queues))
	for _, i := range infos {
		q := s.m.queue(i.Name)
		if q == nil {
			t.Fatalf("queue %s should be gone", i.Name)
		}
		n, _ := q.length()
		unacked := 0
		for _, ch := range s.m.channels {
			for _, u := range ch.unacked {
				if u.q == q {
					unacked++
				}
			}
			for _, a := range ch.txAcks {
				for _, u := range a.us {
					if u.q == q {
						unacked++
					}
				}
			}
		}
		s.same(i.Name+" ready, unacked, messages", []int{i.Ready, i.Unacked, i.Messages},
			[]int{len(q.inOrder()), unacked, int(n) + unacked})
		real, err := s.b.Queue(i.Name)
		s.same("queue", errText(err), "")
		var got, want []string
		for _, r := range real.Messages() {
			got = append(got, fmt.Sprintf("%s from %q %q redelivered=%v until %d %s", r.Body, r.Exchange, r.RoutingKey,
				r.Redelivered, s.ms(r.Deadline), realDeathText(r.Deaths)))
		}
		for _, e := range q.inOrder() {
			want = append(want, fmt.Sprintf("%s from %q %q redelivered=%v until %d %s", e.body, e.exchange, e.keys[0],
				s.m.redelivered(q, e), e.expires, deathText(e.deaths)))
		}
		s.same("messages of "+i.Name, strings.Join(got, "\n          "), strings.Join(want, "\n          "))
	}
}

func realDeathText(ds []leveret.Death) string {
	var s []string
	for _, d := range ds {
		s = append(s, fmt.Sprintf("%s/%s x%d at %d from %q %v exp %q", d.Queue, d.Reason, d.Count,
			d.Time.Unix()-machineStart.Unix(), d.Exchange, d.RoutingKeys, d.OriginalExpiration))
	}
	return "[" + strings.Join(s, "; ") + "]"
}

func (s *machine) render(channel string, d *leveret.Delivery) string {
	number := func(name string) int {
		if v, ok := d.WireHeaders().Get(name); ok {
			return int(v.(int64))
		}
		return -1
	}
	return fmt.Sprintf("%s %s#%d %s from %q %q redelivered=%v acquired=%d failed=%d %s", channel, d.ConsumerTag,
		d.DeliveryTag,
		d.Body, d.Exchange, d.RoutingKey, d.Redelivered, number("x-acquired-count"), number("x-delivery-count"),
		realDeathText(d.Deaths()))
}

// headerText writes headers out, entry by entry in their order.
func headerText(fs leveret.Fields) string {
	var s []string
	for _, f := range fs {
		s = append(s, f.Name+"="+valueText(f.Value))
	}
	return strings.Join(s, " ")
}

func valueText(v any) string {
	switch v := v.(type) {
	case leveret.Fields:
		return "{" + headerText(v) + "}"
	case leveret.Table:
		fs, _ := v.Fields()
		return "{" + headerText(fs) + "}"
	case []any:
		var s []string
		for _, e := range v {
			s = append(s, valueText(e))
		}
		return "[" + strings.Join(s, ",") + "]"
	case time.Time:
		return fmt.Sprint("T", v.Unix())
	}
	return fmt.Sprintf("%T:%v", v, v)
}

// headerText writes out what the headers of a delivery should be.
func (d mDelivery) headerText() string {
	h := leveret.Fields{}
	add := func(name string, v any) { h = append(h, leveret.Field{Name: name, Value: v}) }
	list := func(ss []string) []any {
		vs := []any{}
		for _, s := range ss {
			vs = append(vs, s)
		}
		return vs
	}
	if d.m.cc != nil {
		add("CC", list(d.m.cc))
	}
	if v, ok := d.m.headers["h"]; ok {
		add("h", v)
	}
	if d.acquired >= 0 {
		add("x-acquired-count", int64(d.acquired))
	}
	if len(d.m.deaths) > 0 {
		var table []any
		for _, e := range d.m.deaths {
			var f leveret.Fields
			if e.expiration != "" {
				f = append(f, leveret.Field{Name: "original-expiration", Value: e.expiration})
			}
			f = append(f, leveret.Field{Name: "count", Value: e.count}, leveret.Field{Name: "reason", Value: e.reason},
				leveret.Field{Name: "queue", Value: e.queue},
				leveret.Field{Name: "time", Value: machineStart.Add(time.Duration(e.at-1) * time.Millisecond)},
				leveret.Field{Name: "exchange", Value: e.exchange}, leveret.Field{Name: "routing-keys", Value: list(e.keys)})
			table = append(table, f)
		}
		add("x-death", table)
	}
	if d.failed >= 0 {
		add("x-delivery-count", int64(d.failed))
	}
	if len(d.m.deaths) > 0 {
		for _, which := range []struct {
			name string
			v    [3]string
		}{{"first", d.m.first}, {"last", d.m.last}} {
			add("x-"+which.name+"-death-exchange", which.v[2])
			add("x-"+which.name+"-death-queue", which.v[1])
			add("x-"+which.name+"-death-reason", which.v[0])
		}
	}
	sort.SliceStable(h, func(i, j int) bool { return h[i].Name < h[j].Name })
	return headerText(h)
}

func (d mDelivery) String() string {
	return fmt.Sprintf("%s %s#%d %s from %q %q redelivered=%v acquired=%d failed=%d %s", d.channel, d.consumer, d.tag,
		d.m.body, d.m.exchange, d.m.keys[0], d.redelivered, d.acquired, d.failed, deathText(d.m.deaths))
}

func deathText(ds []mDeath) string {
	var s []string
	for _, d := range ds {
		s = append(s, fmt.Sprintf("%s/%s x%d at %d from %q %v exp %q", d.queue, d.reason, d.count, (d.at-1)/1000,
			d.exchange, d.keys, d.expiration))
	}
	return "[" + strings.Join(s, "; ") + "]"
}
