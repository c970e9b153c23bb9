package leveret

import (
	"github.com/leveretmq/leveret/internal/journal"
	"github.com/leveretmq/leveret/internal/places"
	"github.com/leveretmq/leveret/internal/record"
)

// Copying forward. The log removes its oldest segment when nothing in it is live. What stays for long is written again, behind
// everything else, from the segment itself: the engine is not asked. Of a copy the log knows where it stands and, if it has
// turned since its queue took it, its last turn; the rest is in the record.

// forward is how far the oldest segment has been copied. Only the compactor has it.
type forward struct {
	segment journal.Segment
	next    int64 // offset of the record behind the last that was looked at
}

// CopyForward appends what is live in a segment again.
func (d *disk) CopyForward(l *journal.Log, s journal.Segment, budget int) (more bool) {
	if d.pass.segment != s {
		d.pass = forward{segment: s}
	}
	copied := 0
	next, err := l.Scan(s, d.pass.next, func(r journal.Record) bool {
		copied += d.copyRecord(l, s, r.Data)
		return copied < budget
	})
	if err != nil {
		return false // the log says that something is left
	}
	d.pass.next = next
	return next != 0
}

// copyRecord appends what is live of a record again, and returns how many octets that took.
func (d *disk) copyRecord(l *journal.Log, s journal.Segment, data []byte) (octets int) {
	var in *vhost
	var m *record.Message
	var puts []record.Put
	move := func() {
		if in != nil && len(puts) > 0 {
			octets += in.log.move(l, s, m, puts)
		}
		puts = puts[:0]
	}
	for item, err := range record.Items(data) {
		if err != nil {
			return octets // the checksums hold, so it was written like that
		}
		switch item := item.(type) {
		case *record.In:
			move()
			in = d.vhostNamed(item.VHost)
		case *record.Message:
			move()
			m = item
		case *record.Put:
			puts = append(puts, *item)
		}
	}
	move()
	return octets
}

// vhostNamed returns the virtual host of that name, nil if there is none. One of that name that is gone has nothing in the log.
func (d *disk) vhostNamed(name string) *vhost {
	v, err := d.b.VHost(name)
	if err != nil {
		return nil
	}
	return &v.vhost
}

// move appends those of some copies of a message again that are live in a segment.
func (l *opLog) move(log *journal.Log, s journal.Segment, m *record.Message, puts []record.Put) int {
	w := l.disk.writer()
	defer l.disk.done(w)
	l.v.mu.Lock()
	defer l.v.mu.Unlock()
	released := 0
	var live []record.Put
	for _, p := range puts {
		if at, there := l.places.Get(p.Copy); there && at.Segment == uint32(s) {
			released += int(at.Octets)
			live = append(live, p)
		}
	}
	if len(live) == 0 {
		return 0
	}
	w.begin(l.v.name)
	from := len(w.buf)
	w.buf = record.Append(w.buf, m)
	share := (len(w.buf) - from) / len(live)
	for i := range live {
		p := &live[i]
		p.Charge = uint32(share + putOctets)
		if i == 0 {
			p.Charge += uint32(journal.Overhead + w.head)
		}
		w.put(p)
	}
	for _, p := range live {
		if t, turned := l.turns[p.Copy]; turned {
			w.turn(&t)
		}
	}
	pos, err := log.Move(s, released, kindOperation, w.live, w.buf)
	if err != nil {
		return 0
	}
	for _, c := range w.charges {
		l.places.Set(c.copy, places.Place{Segment: uint32(pos.Segment()), Octets: c.octets})
	}
	return len(w.buf)
}
