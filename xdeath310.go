package leveret

import "slices"

// In RabbitMQ 3.10 the header x-death is the history itself. The broker edits what is there, also what a client sent.
// How it was edited shows in the order of the array and of the fields: a table in which the broker sets a field comes
// out sorted.

// freshEntry is the entry of a first death.
// Rules: DL-20.
func (d *death) freshEntry() Fields {
	t := d.table()
	if d.expiration != nil { // the first field in 4.3 is the last one here
		t = append(slices.Clone(t[1:]), t[0])
	}
	return t
}

// recordInHeaders adds a death to the header x-death, and returns at how many entries it looked. The headers
// x-first-death-* are set only if there was no x-death at all, not even an unusable one.
// Rules: DL-19, DL-22.
func (m *message) recordInHeaders(d *death) (looked int) {
	h := m.headers()
	entry := d.freshEntry()
	v, there := h.Get(headerDeaths)
	if array, ok := v.([]any); ok { // even an empty one, which only a client can have put there
		m.setHeaders(h.put(Field{headerDeaths, continued(array, d, entry)}))
		return len(array)
	}
	set := Fields{{headerDeaths, []any{entry}}}
	if !there {
		set = append(set, Field{headerFirstReason, string(d.reason)}, Field{headerFirstQueue, d.queue},
			Field{headerFirstExchange, d.exchange.name})
	}
	m.setHeaders(h.put(set...))
	return 0
}

// takeKeysOfHistory gives the message the routing keys in the newest entry of its history. After a second death in a queue for the same
// reason these are the keys of the first death, and no entry has keys of BCC. An entry without keys, which only a client can have
// made, changes nothing.
// Rules: DL-31.
func (m *message) takeKeysOfHistory() {
	deaths, _ := m.headers().Get(headerDeaths)
	newest, _ := deaths.([]any)[0].(Fields)
	v, _ := newest.Get(fieldDeathRoutingKeys)
	array, _ := v.([]any)
	var keys []string
	for _, k := range array {
		if key, ok := asBytes(k); ok {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return
	}
	m.key, m.extra.published = keys[0], nil
	if len(keys) > 1 {
		m.extra.published = &published{all: keys, routes: uint32(len(keys))}
	}
}

// continued returns the array with one more death. The entry of this death comes first. The others follow, two or more
// of them in reverse; elements that are no tables are dropped.
// Rules: DL-20, DL-21, DL-22.
func continued(array []any, d *death, entry Fields) []any {
	written := entry.byName()
	this := eventOf(entry)
	var rest []any
	for _, t := range slices.Backward(mergeDeaths(array)) {
		if eventOf(t) == this {
			written = countedAgain(t).byName()
		} else {
			rest = append(rest, t)
		}
	}
	return append([]any{written}, rest...)
}

// An event is what an entry of the history counts: deaths in a queue for a reason. A client may have sent values of any type, whose types
// do not count.
type event struct{ queue, reason any }

func eventOf(t Fields) event {
	queue, _ := t.Get("queue")
	reason, _ := t.Get("reason")
	return event{untypedKey(queue), untypedKey(reason)}
}

// mergeDeaths merges the entries that have queue and reason in common: the first of them stays. If the entry has no count, their number
// is put in front as the count, but not to an entry that is alone in the array.
// Rules: DL-21.
func mergeDeaths(array []any) []Fields {
	var out []Fields
	var same []int64      // how many entries each of out stands for
	at := map[event]int{} // of each in out
	for _, v := range array {
		t, ok := v.(Fields)
		if !ok {
			continue
		}
		death := eventOf(t)
		if i, before := at[death]; before {
			same[i]++
			continue
		}
		at[death] = len(out)
		out, same = append(out, t), append(same, 1)
	}
	for i, t := range out {
		if !isCounted(t) && len(array) > 1 {
			out[i] = append(Fields{{"count", same[i]}}, t...)
		}
	}
	return out
}

// isCounted reports whether an entry has a count. One without a value is none.
func isCounted(t Fields) bool {
	n, _ := t.Get("count")
	return n != nil
}

// countedAgain returns the entry of one more such death. A count that is no number counts as 0.
func countedAgain(t Fields) Fields {
	if !isCounted(t) {
		return append(Fields{{"count", int64(1)}}, t...)
	}
	n, _ := t.Get("count")
	count, _ := asInteger(timestampNumber(n))
	return t.put(Field{"count", count + 1})
}

// cyclicHeader is cyclicLocked for a history in a header. What is no table, which only a client can have put there, ends the
// search.
// Rules: DL-27.
func cyclicHeader(h Fields, queue string) bool {
	for _, e := range h.array(headerDeaths) {
		t, ok := e.(Fields)
		if !ok || t.text("reason") == string(Rejected) {
			return false
		}
		if v, _ := t.Get("queue"); v == queue {
			return true
		}
	}
	return false
}

// headerHistory reads the history back from the header. Elements that are no tables are left out.
func headerHistory(h Fields) []Death {
	var out []Death
	for _, e := range h.array(headerDeaths) {
		if t, ok := e.(Fields); ok {
			out = append(out, deathOf(t))
		}
	}
	return out
}

// deathOf reads one entry of the header. A field of an unusable type counts as missing.
func deathOf(t Fields) Death {
	d := Death{
		Queue:              t.text("queue"),
		Reason:             Reason(t.text("reason")),
		Count:              t.number("count"),
		Time:               t.time("time"),
		Exchange:           t.text("exchange"),
		OriginalExpiration: t.text(fieldOriginalExpiry),
	}
	for _, key := range t.array(fieldDeathRoutingKeys) {
		if s, ok := key.(string); ok {
			d.RoutingKeys = append(d.RoutingKeys, s)
		}
	}
	return d
}
