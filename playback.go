package leveret

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/leveretmq/leveret/internal/journal"
	"github.com/leveretmq/leveret/internal/places"
	"github.com/leveretmq/leveret/internal/record"
)

// Recovery. The log is read from its oldest record on. What is declared is put in force as it is read; copies are only kept, by
// number, because most of them have gone again by the end. Then each queue gets those that are left, in the state that the
// log knows last, and the node goes through what a restart makes of that (restart.go).

// A playback is a recovery that is under way. The node is down, and nobody else has the broker.
type playback struct {
	*replay  // of everything else
	of       map[*vhost]*copies
	reader   record.Reader
	up       bool             // the node was, at the end of what has been read
	used     map[uint64]int64 // by queue: when it was used last
	gaps     map[uint64]gaps  // by queue
	messages int
	err      error // of what is declared
}

// copies are those that a virtual host has at this point of the log, by number.
type copies struct {
	chunks map[uint64]*[chunkOf]loaded
	last   *[chunkOf]loaded // where the last one was found
	lastAt uint64
}

const chunkOf = 256

// A loaded copy is what the log has said of it so far.
type loaded struct {
	m                   *message // nil: the copy is not there
	queue               uint64
	deadline            int64
	deliveries, returns uint32
	place               places.Place
	turn                *record.Turn // nil: none since the queue took it
}

func newPlayback(b *Broker) *playback {
	r, err := newReplay(b)
	if err != nil {
		panic(err) // the broker is new
	}
	return &playback{replay: r, of: map[*vhost]*copies{}, used: map[uint64]int64{}, gaps: map[uint64]gaps{}}
}

func newCopies() *copies { return &copies{chunks: map[uint64]*[chunkOf]loaded{}} }

// at returns the place of a copy; nil if make is false and nothing was loaded near it.
func (c *copies) at(copy uint64, make bool) *loaded {
	n := copy / chunkOf
	if c.last == nil || c.lastAt != n {
		chunk := c.chunks[n]
		if chunk == nil {
			if !make {
				return nil
			}
			chunk = new([chunkOf]loaded)
			c.chunks[n] = chunk
		}
		c.last, c.lastAt = chunk, n
	}
	return &c.last[copy%chunkOf]
}

// all yields the copies that are there, by number.
func (c *copies) all(yield func(copy uint64, l *loaded) bool) {
	numbers := make([]uint64, 0, len(c.chunks))
	for n := range c.chunks {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		for i := range c.chunks[n] {
			if l := &c.chunks[n][i]; l.m != nil && !yield(n*chunkOf+uint64(i), l) {
				return
			}
		}
	}
}

// copiesOf returns those of a virtual host, or some that are never looked at for nil.
func (p *playback) copiesOf(v *vhost) *copies {
	c := p.of[v]
	if c == nil {
		c = newCopies()
		p.of[v] = c
	}
	return c
}

// Restore begins with the snapshot.
func (d *disk) Restore(data []byte) error { return d.play.read(data, 0) }

// Replay reads one operation.
func (d *disk) Replay(r journal.Record) error {
	d.play.up = true // unless this is what says that it is not
	if err := d.play.read(r.Data, r.Pos.Segment()); err != nil {
		return fmt.Errorf("%s, at offset %d: %w", r.File, r.Offset, err)
	}
	return nil
}

// read applies the items of an operation, or of the snapshot.
func (p *playback) read(data []byte, s journal.Segment) error {
	var m *message
	of := p.copiesOf(p.in)
	for item, err := range p.reader.Items(data) {
		if err != nil {
			return err
		}
		switch item := item.(type) {
		case *record.Node:
			if profile := p.b.behaviour.profile.String(); item.Profile != profile {
				return fmt.Errorf("it is the directory of a broker with the profile %s, not %s", item.Profile, profile)
			}
			p.up = item.Up
		case *record.Message:
			if p.in != nil {
				m = p.in.recordedLocked(item)
			}
		case *record.Put:
			if p.in == nil {
				continue
			}
			p.mention(item.Copy)
			*of.at(item.Copy, true) = loaded{m: m, queue: item.Queue, deadline: item.Deadline, deliveries: item.Deliveries,
				returns: item.Returns, place: places.Place{Segment: uint32(s), Octets: item.Charge}}
		case *record.Turn:
			if l := of.at(item.Copy, false); l != nil && l.m != nil {
				p.mention(item.Behind)
				l.turn = item
			}
		case *record.Gone:
			for _, copy := range item.Copies {
				if l := of.at(copy, false); l != nil {
					*l = loaded{}
				}
			}
		case *record.Killed:
			if p.in != nil {
				p.mention(item.Copy)
				p.in.log.killed = item.Copy
			}
		case *record.Used:
			p.used[item.Queue] = item.At
		case *record.Gaps:
			p.gaps[item.Queue] = item.Copies
		case *record.NoVHost:
			delete(p.of, p.vhostOf(item.Name))
			if _, err = p.item(item); err != nil {
				return err
			}
		default:
			if _, err = p.item(item); err != nil {
				return err
			}
			of = p.copiesOf(p.in)
		}
	}
	return nil
}

// mention keeps new copies from getting the number of a copy that the log names. The log has no record of a copy that a restart
// loses, but may name its number: another copy became ready behind it, or it was the last one when the node was killed.
func (p *playback) mention(copy uint64) {
	p.in.stored.lastCopy = max(p.in.stored.lastCopy, copy)
}

// Live counts what each segment has of the copies that are left, and enters their places. Those whose queue is not there are
// dropped: the queue was deleted.
func (d *disk) Live(count func(s journal.Segment, octets int)) {
	d.play.err = d.play.finish()
	d.lastQueue.Store(max(d.lastQueue.Load(), d.play.lastQueue))
	d.play.setUsed()
	d.play.setGaps()
	by := map[uint32]int{}
	for v, c := range d.play.of {
		if v == nil {
			continue
		}
		if d.play.vhostOf(v.name) != v {
			continue // it was deleted
		}
		for copy, l := range c.all {
			if q := d.play.queues[l.queue]; q == nil || q.v != v {
				*l = loaded{}
				continue
			}
			v.log.places.Set(copy, l.place)
			by[l.place.Segment] += int(l.place.Octets)
			if l.turn != nil {
				v.log.turns[copy] = *l.turn
				v.log.order = max(v.log.order, l.turn.Order)
			}
		}
	}
	for s, octets := range by {
		count(journal.Segment(s), octets)
	}
}

// setGaps sets the gaps of queues that a kill of the node has not ended. A snapshot has them, and may be made before the queues have
// their messages. The log has nothing else of the copies that were lost, whose numbers are not given again.
// Rules: R-15.
func (p *playback) setGaps() {
	for id, gaps := range p.gaps {
		q := p.queues[id]
		if q == nil || len(gaps) == 0 || slices.Max(gaps) <= q.v.log.killed {
			continue
		}
		q.v.lock()
		q.v.stored.lastCopy = max(q.v.stored.lastCopy, slices.Max(gaps))
		q.impl.fill(content{gaps: &gaps})
		q.v.unlock()
	}
}

// setUsed sets when queues that expire were used last.
func (p *playback) setUsed() {
	for id, at := range p.used {
		q := p.queues[id]
		if q == nil || q.idle == nil {
			continue
		}
		q.v.lock()
		q.idle.used = q.v.elapsedLocked() - (q.v.nowLocked() - at)
		q.v.timing.heap.Set(&q.idle.timer, q.idle.due())
		q.v.unlock()
	}
}

// refill gives each queue its messages, as the end of the node leaves them, and reports whether the node was killed.
func (p *playback) refill() (killed bool) {
	as := StoppedNode
	if killed = p.up; killed {
		as = KilledNode
	}
	p.b.eachVHost(func(v *vhost) {
		v.lock()
		defer v.unlock()
		known := v.log.killed
		if killed {
			v.log.killedNode()
		}
		queues := map[uint64]*refilling{}
		for _, q := range v.queues {
			queues[q.args.id] = &refilling{content: q.impl.content(StoppedNode), q: q, killed: known} // the queue has its gaps
		}
		for copy, l := range p.copiesOf(v).all {
			p.messages++
			queues[l.queue].add(copy, l)
		}
		for _, q := range v.sortedQueuesLocked() {
			queues[q.args.id].fill(as)
		}
		v.recovery = recovery{}
	})
	return killed
}

// A refilling is the content of one queue.
type refilling struct {
	content
	q      *Queue
	killed uint64  // the last copy when an earlier node was killed
	held   []entry // that clients had
	order  map[uint64]*record.Turn
}

// add adds a copy. They come by number.
func (r *refilling) add(copy uint64, l *loaded) {
	e := entry{m: l.m, seq: copy, deadline: l.deadline, deliveries: l.deliveries, returns: l.returns}
	t := l.turn
	if t == nil {
		if copy <= r.killed {
			e = r.q.impl.outlived(e)
		}
		r.ready = append(r.ready, e)
		return
	}
	e.deliveries, e.returns = t.Deliveries, t.Returns
	if t.Now != record.InPlace {
		if r.order == nil {
			r.order = map[uint64]*record.Turn{}
		}
		r.order[copy] = t
	}
	switch t.Now {
	case record.InPlace, record.AtTail:
		r.ready = append(r.ready, e)
	case record.Returned:
		r.returned = append(r.returned, e)
	case record.Held:
		r.held = append(r.held, e)
	case record.Delayed:
		r.retries = append(r.retries, delayedRetry{at: t.Until, e: e})
	case record.Over:
		r.over = append(r.over, e)
	case record.Dying:
		r.pending = append(r.pending, pendingLetter{e: e, reason: Reason(t.Reason)})
	}
}

// turnOrder is that in which copies have turned.
func (r *refilling) turnOrder(a, b entry) int {
	return cmp.Compare(r.order[a.seq].Order, r.order[b.seq].Order)
}

// holderOrder is that in which the end of the node takes back what clients had.
func (r *refilling) holderOrder(a, b entry) int {
	x, y := r.order[a.seq], r.order[b.seq]
	return cmp.Or(cmp.Compare(x.Behind, y.Behind), cmp.Compare(x.Reason, y.Reason), cmp.Compare(x.Until, y.Until),
		cmp.Compare(x.Order, y.Order))
}

// place is where a ready copy stands: behind a copy, and how late it came there.
func (r *refilling) place(e entry) (behind, order uint64) {
	if t := r.order[e.seq]; t != nil {
		return t.Behind, t.Order
	}
	return e.seq, 0
}

// fill fills the queue with what the log knows, and has the end of the node happen to it.
func (r *refilling) fill(as NodeEnd) {
	q := r.q
	if r.order != nil {
		slices.SortStableFunc(r.ready, func(a, b entry) int {
			behindA, orderA := r.place(a)
			behindB, orderB := r.place(b)
			return cmp.Or(cmp.Compare(behindA, behindB), cmp.Compare(orderA, orderB))
		})
		slices.SortFunc(r.returned, r.turnOrder)
		slices.SortFunc(r.held, r.holderOrder)
		slices.SortFunc(r.over, r.turnOrder)
		slices.SortFunc(r.retries, func(a, b delayedRetry) int { return r.turnOrder(a.e, b.e) })
		slices.SortFunc(r.pending, func(a, b pendingLetter) int { return r.turnOrder(a.e, b.e) })
	}
	q.impl.fill(r.content)
	var over []entry
	if len(r.held) > 0 {
		over = q.impl.takeBack(r.held, ended, nil)
	}
	kept := q.impl.content(as)
	kept.over = append(kept.over, over...)
	q.impl.fill(kept)
}
