package leveret

import (
	"cmp"
	"slices"

	"github.com/leveretmq/leveret/internal/journal"
	"github.com/leveretmq/leveret/internal/places"
	"github.com/leveretmq/leveret/internal/record"
)

// The log of a virtual host. While an operation holds the lock, the engine notes here what becomes of copies that a restart keeps:
// a queue took one (put), one turned to another state (turn), one left for good (gone). When the lock is released the notes
// become one record of the broker's log, so an operation is whole in it or not there. An operation that lets others in
// (turns.go) is one record for each of its turns: nothing is half done between them.
//
// A message that died is noted as gone from its queue when the dead letter is published, not when it dies: one record has
// both, so the message is in the old queue or in the new ones.

// An opLog is nil in a broker without a directory, and each hook asks that first. The virtual host's lock guards it.
type opLog struct {
	v    *vhost
	disk *disk
	notes
	places places.Table           // of each copy that is in the log
	turns  map[uint64]record.Turn // the last of each copy that has turned, for the next time that it is written
	order  uint64                 // of the last turn
	killed uint64                 // the last copy when the node was killed
	ended  bool                   // the virtual host is gone
	logging
}

// A logging is what the log knows of an operation.
type logging struct {
	own      logMark     // what the operation has in the log and has not been told
	awaited  bool        // the operation returns when its records are on the disk
	departed []departure // what the operation has not noted yet
}

// notes are those of one operation.
type notes struct {
	items  []byte // about the topology
	puts   []put  // by number
	turned []record.Turn
	gone   []uint64
}

// A put is a copy that a queue took.
type put struct {
	queue uint64
	e     entry
	level journal.Level // that a confirm waits for
	left  bool          // for good, in the same operation
}

// A logMark is a place in the log, and the level that it has to reach before somebody is told.
type logMark struct {
	pos   journal.Pos
	level journal.Level
}

// nowhere is the place of a record that the log did not take: who waits for it is told why.
const nowhere = ^journal.Pos(0)

func (m *logMark) raise(to logMark) {
	m.pos, m.level = max(m.pos, to.pos), max(m.level, to.level)
}

// openLogLocked gives the virtual host a log if the broker has a directory, also one that had been deleted.
func (v *vhost) openLogLocked() {
	d := v.b.disk
	switch {
	case d == nil:
	case v.log == nil:
		v.log = &opLog{v: v, disk: d, turns: map[uint64]record.Turn{}}
		v.stored.lastCopy = d.retired
	default:
		v.log.ended = false
	}
}

// endLocked follows the end of the virtual host, which the log has: what it keeps alive there is let go of. Broker.mu is held.
func (l *opLog) endLocked() {
	for copy := range l.places.From(0) {
		l.releaseLocked(copy)
	}
	l.notes, l.ended = notes{}, true
	l.disk.retired = max(l.disk.retired, l.v.stored.lastCopy)
}

// writes reports whether what is noted is written.
func (l *opLog) writes() bool { return !l.ended && l.disk.writes() }

// kindOperation is the only kind of record that a broker writes.
const kindOperation journal.Kind = 1

// note notes a change of the topology.
func (l *opLog) note(item record.Item) {
	if l.writes() {
		l.items = record.Append(l.items, item)
		l.awaited = true
	}
}

// put notes that q took a copy, if a restart keeps the copy.
func (l *opLog) put(q *Queue, e entry) {
	if !q.lifetime.durable || q.lifetime.exclusive || !q.impl.keeps(e.m) {
		return
	}
	l.puts = append(l.puts, put{queue: q.args.id, e: e, level: l.disk.levels[q.kind]})
}

// leaves notes that a copy left its queue for good.
func (l *opLog) leaves(copy uint64) {
	if n := len(l.puts); n > 0 {
		i, there := slices.BinarySearchFunc(l.puts, copy, func(p put, copy uint64) int { return cmp.Compare(p.e.seq, copy) })
		if there {
			l.puts[i].left = true
			return
		}
	}
	l.gone = append(l.gone, copy)
}

// turn notes that a copy is in another state.
func (l *opLog) turn(e entry, t record.Turn) {
	l.order++
	t.Copy, t.Deliveries, t.Returns, t.Order = e.seq, e.deliveries, e.returns, l.order
	l.turned = append(l.turned, t)
}

// behind notes that a copy is ready again, behind all that are there.
func (l *opLog) behind(e entry) {
	l.turn(e, record.Turn{Now: record.AtTail, Behind: l.v.stored.lastCopy})
}

// used notes that a queue that expires has been used.
// Rules: R-9.
func (l *opLog) used(q *Queue) {
	if id := q.args.id; id != 0 && l.writes() {
		l.items = record.Append(l.items, q.usedRecordLocked())
	}
}

// usedRecordLocked is when the queue was used last, which has an idle timer.
func (q *Queue) usedRecordLocked() *record.Used {
	return &record.Used{Queue: q.args.id, At: q.v.shownLocked(q.idle.used)}
}

// A departure is n copies that have left their queue for good, which next returns one after the other.
type departure struct {
	n    int
	next func() uint64
}

// leave notes that n copies left their queue for good. Many are noted at the end of the operation, in turns.
func (l *opLog) leave(n int, next func() uint64) {
	if n > turn() {
		l.departed = append(l.departed, departure{n, next})
		return
	}
	for range n {
		l.leaves(next())
	}
}

// finishLocked ends what an operation notes. Others get in while it notes many copies that have left their queues. A crash in between
// brings some of these copies back, as a crash right after the operation may: nobody waits until the disk knows of copies that are gone.
func (l *opLog) finishLocked() {
	for len(l.departed) > 0 {
		d := l.departed[0]
		l.departed = l.departed[1:]
		for range d.n {
			l.leaves(d.next())
			l.v.tookLocked(1)
			l.v.restLocked()
		}
	}
	l.flushLocked()
}

// killedNode notes that the node was killed: classic queues take all that they have for delivered. Copies that have not turned are
// known by their numbers; of the others only classic queues have some in place.
// Rules: R-6.
func (l *opLog) killedNode() {
	l.killed = l.v.stored.lastCopy
	l.items = record.Append(l.items, &record.Killed{Copy: l.killed})
	for copy, t := range l.turns {
		if t.Now == record.InPlace {
			e := l.v.rules.delivered(entry{seq: copy, deliveries: t.Deliveries, returns: t.Returns})
			l.turn(e, record.Turn{})
		}
	}
}

// flushLocked writes what has been noted as one record.
func (l *opLog) flushLocked() {
	if len(l.items)+len(l.puts)+len(l.turned)+len(l.gone) > 0 {
		if l.writes() {
			l.writeLocked()
		}
		l.forget()
	}
}

// forget empties the notes. The memory is used again, unless it was for much.
func (n *notes) forget() {
	clear(n.puts)
	n.items, n.puts, n.turned, n.gone = emptied(n.items), emptied(n.puts), emptied(n.turned), emptied(n.gone)
}

func (l *opLog) writeLocked() {
	w := l.disk.writer()
	defer l.disk.done(w)
	w.begin(l.v.name)
	w.buf = append(w.buf, l.items...)
	level := journal.Queued
	if len(l.items) > 0 {
		level = l.disk.levels[quorumQueue]
	}
	for puts := l.puts; len(puts) > 0; {
		n := 1 // copies of one message follow each other
		for n < len(puts) && puts[n].e.m == puts[0].e.m {
			n++
		}
		w.puts(puts[:n])
		puts = puts[n:]
	}
	for i := range l.turned {
		if t := &l.turned[i]; l.hasLocked(t.Copy) {
			w.turn(t)
		}
	}
	l.gone = slices.DeleteFunc(l.gone, func(copy uint64) bool {
		_, there := l.places.Get(copy)
		return !there
	})
	if len(l.gone) > 0 {
		slices.Sort(l.gone)
		w.gone(l.gone)
	}
	if w.isEmpty() {
		return
	}
	pos, ok := l.disk.append(w)
	if !ok {
		l.own.raise(logMark{nowhere, journal.Synced})
		return
	}
	for _, c := range w.charges {
		l.places.Set(c.copy, places.Place{Segment: uint32(pos.Segment()), Octets: c.octets})
	}
	for _, p := range l.puts {
		if !p.left {
			level = max(level, p.level)
		}
	}
	for _, t := range l.turned {
		if l.hasLocked(t.Copy) {
			l.turns[t.Copy] = t
		}
	}
	for _, copy := range l.gone {
		l.releaseLocked(copy)
	}
	l.own.raise(logMark{pos, level})
}

// hasLocked reports whether a copy is in the log, or will be with this record.
func (l *opLog) hasLocked(copy uint64) bool {
	if _, there := l.places.Get(copy); there {
		return true
	}
	i, there := slices.BinarySearchFunc(l.puts, copy, func(p put, copy uint64) int { return cmp.Compare(p.e.seq, copy) })
	return there && !l.puts[i].left
}

// releaseLocked forgets a copy that has gone.
func (l *opLog) releaseLocked(copy uint64) {
	if p, there := l.places.Take(copy); there {
		l.disk.log.Release(journal.Segment(p.Segment), int(p.Octets))
		delete(l.turns, copy)
	}
}

// takeLocked returns what the log knows of the operation, and forgets it.
func (l *opLog) takeLocked() logging {
	taken := l.logging
	l.logging = logging{}
	return taken
}

// giveBackLocked has the log know again of an operation. What others have left there is waited for, too.
func (l *opLog) giveBackLocked(taken logging) {
	l.own.raise(taken.own)
	l.awaited = l.awaited || taken.awaited
	l.departed = taken.departed // others have noted theirs
}

// endLogged ends an operation of a channel, as unlock does. If the channel's user is to know that it happened, it returns when
// what the operation did is on the disk; a listener, whose connection must not wait, asks Conn.WhenDurable instead. The error
// is that of a log that has failed.
func (ch *Channel) endLogged(waits bool) error {
	v, l := ch.v, ch.v.log
	if v.deaths.len() > 0 {
		v.deadLetterAllLocked()
	}
	if v.timing.heap.Len() > 0 {
		v.armLocked()
	}
	l.finishLocked()
	waits = waits && !ch.isRemote() || l.awaited
	own := l.takeLocked().own
	if !waits {
		ch.conn.logged.raise(own)
	}
	v.unlock()
	if !waits {
		return nil
	}
	return l.disk.await(own)
}

// A writer makes one record.
type writer struct {
	buf     []byte
	head    int // octets before the first item
	live    int
	charges []charge // of the copies in the record
	message recording
	in      record.In // items in the memory of the writer: none is allocated
	taken   record.Put
	left    record.Gone
	parts   [1][]byte // of the record
}

// A charge is what a copy keeps alive of a record.
type charge struct {
	copy   uint64
	octets uint32
}

// putOctets is the least that a Put takes. A charge may be a bit less than what there is, never more.
const putOctets = 7

func (w *writer) begin(vhost string) {
	w.buf, w.charges, w.live = w.buf[:0], w.charges[:0], 0
	w.in.VHost = vhost
	w.buf = record.Append(w.buf, &w.in)
	w.head = len(w.buf)
}

func (w *writer) isEmpty() bool { return len(w.buf) == w.head }

// puts writes copies of one message with the message, and counts what each of them keeps alive: a share of the message.
func (w *writer) puts(puts []put) {
	n := 0
	for i := range puts {
		if !puts[i].left {
			n++
		}
	}
	if n == 0 {
		return
	}
	from := len(w.buf)
	w.buf = record.Append(w.buf, w.message.of(puts[0].e.m))
	share := (len(w.buf) - from) / n
	for i := range puts {
		if p := &puts[i]; !p.left {
			octets := share + putOctets
			if len(w.charges) == 0 {
				octets += journal.Overhead + w.head
			}
			w.taken = record.Put{Queue: p.queue, Copy: p.e.seq, Deadline: p.e.deadline, Deliveries: p.e.deliveries, Returns: p.e.returns,
				Charge: uint32(octets)}
			w.put(&w.taken)
		}
	}
}

func (w *writer) put(p *record.Put) {
	w.buf = record.Append(w.buf, p)
	w.live += int(p.Charge)
	w.charges = append(w.charges, charge{p.Copy, p.Charge})
}

func (w *writer) turn(t *record.Turn) { w.buf = record.Append(w.buf, t) }

func (w *writer) gone(copies []uint64) {
	w.left.Copies = copies
	w.buf = record.Append(w.buf, &w.left)
	w.left.Copies = nil
}
