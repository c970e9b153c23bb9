package leveret

import (
	"cmp"
	"slices"
	"time"
)

// RabbitMQ 3.10 keeps the history in the header x-death itself: it continues what a client
// sent, and the array's order and the order of an entry's fields show how it was edited. A table
// in which the broker sets a field comes out sorted.

// freshEntry is the entry of a first death.
// Rules: DL-20.
func (d *death) freshEntry() Fields {
	t := d.table()
	if d.expiration != nil { // 3.10 writes it last
		t = append(slices.Clone(t[1:]), t[0])
	}
	return t
}

// recordInHeaders adds a death to the header x-death. The first death also sets the headers about it, but only
// if there was no x-death at all.
// Rules: DL-19, DL-22.
func (m *message) recordInHeaders(d *death) {
	h := m.headers()
	old, there := h.Get(headerDeaths)
	array, ok := old.([]any)
	entry := d.freshEntry()
	if there && ok && len(array) > 0 {
		m.editProps().HeaderFields = sortedFields(h.with(Fields{{headerDeaths, continued(array, d, entry)}}))
		return
	}
	set := Fields{{headerDeaths, []any{entry}}}
	if !there {
		set = append(set, Field{headerFirstReason, string(d.reason)}, Field{headerFirstQueue, d.queue}, Field{headerFirstExchange, d.exchange.name})
	}
	m.editProps().HeaderFields = sortedFields(h.with(set))
}

// continued is the array with one more death: its entry first, the others behind it, in
// reverse if there were two or more, equal ones merged.
// Rules: DL-20, DL-21, DL-22.
func continued(array []any, d *death, entry Fields) []any {
	groups := mergeDeaths(array)
	slices.Reverse(groups)
	var rest []any
	written := sortedFields(entry)
	for _, g := range groups {
		if t, ok := g.(Fields); ok && isDeath(t, d.queue, string(d.reason)) {
			n, _ := t.Get("count")
			count, _ := asInteger(n)
			written = sortedFields(t.without("count").with(Fields{{"count", count + 1}}))
			continue
		}
		rest = append(rest, g)
	}
	return append([]any{written}, rest...)
}

// mergeDeaths merges entries of the same queue and reason; a missing count is their number.
// Rules: DL-21.
func mergeDeaths(array []any) []any {
	var out []any
	for _, v := range array {
		t, ok := v.(Fields)
		if !ok {
			continue
		}
		queue, reason := deathID(t)
		i := slices.IndexFunc(out, func(o any) bool { return isDeath(o.(Fields), queue, reason) })
		_, counted := t.Get("count")
		switch {
		case i < 0 && counted:
			out = append(out, t)
		case i < 0:
			out = append(out, append(slices.Clone(t), Field{"count", int64(1)}))
		case !counted:
			o := out[i].(Fields)
			n, _ := o.Get("count")
			count, _ := asInteger(n)
			out[i] = o.without("count").with(Fields{{"count", count + 1}})
		}
	}
	return out
}

func deathID(t Fields) (queue, reason string) {
	q, _ := t.Get("queue")
	r, _ := t.Get("reason")
	queue, _ = q.(string)
	reason, _ = r.(string)
	return queue, reason
}

func isDeath(t Fields, queue, reason string) bool {
	q, r := deathID(t)
	return q == queue && r == reason
}

func sortedFields(f Fields) Fields {
	f = slices.Clone(f)
	slices.SortStableFunc(f, func(a, b Field) int { return cmp.Compare(a.Name, b.Name) })
	return f
}

// cyclicHeader is cyclic for a history in a header.
// Rules: DL-27.
func cyclicHeader(h Fields, queue string) bool {
	v, _ := h.Get(headerDeaths)
	array, _ := v.([]any)
	for _, e := range array {
		t, ok := e.(Fields)
		if !ok {
			return false
		}
		q, reason := deathID(t)
		if reason == string(Rejected) {
			return false
		}
		if q == queue {
			return true
		}
	}
	return false
}

// headerHistory reads the history back from the header.
func headerHistory(h Fields) []Death {
	v, _ := h.Get(headerDeaths)
	array, _ := v.([]any)
	var out []Death
	for _, e := range array {
		t, ok := e.(Fields)
		if !ok {
			continue
		}
		var d Death
		d.Queue, _ = deathID(t)
		for _, f := range t {
			switch x := f.Value.(type) {
			case string:
				switch f.Name {
				case "reason":
					d.Reason = Reason(x)
				case "exchange":
					d.Exchange = x
				case fieldOriginalExpiry:
					d.OriginalExpiration = x
				}
			case time.Time:
				d.Time = x
			case []any:
				for _, k := range x {
					if s, ok := k.(string); ok {
						d.RoutingKeys = append(d.RoutingKeys, s)
					}
				}
			}
		}
		n, _ := t.Get("count")
		d.Count, _ = asInteger(n)
		out = append(out, d)
	}
	return out
}
