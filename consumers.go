package leveret

import (
	"cmp"
	"slices"

	"github.com/leveretmq/leveret/internal/ring"
)

// consumers are a queue's consumers, and the order in which they get messages. Consumers that can take a message stand
// in lines: one line for each priority, the consumer that has waited longest in front. A consumer that gets a message
// goes to the end of its line. A consumer that cannot take a message leaves its line, and comes back when it can.
type consumers struct {
	q         *Queue
	all       ring.List[*Consumer] // in the order of subscription
	lines     []*line              // those that are not empty, the highest priority first
	exits     uint64               // how many have left a line
	steps     uint32               // a quorum queue's steps in which it assigned messages: what it assigns in one times out together
	spare     *line                // an empty line to be used again: with small windows lines come and go
	single    *Consumer            // the single active consumer
	vacant    bool                 // the single active consumer has left, and the next is not elected yet
	yielding  bool                 // the single one gets nothing more; another takes over when it holds nothing
	waiting   int                  // late consumers behind the single active one
	exclusive *Consumer
}

// A line is that of the consumers of one priority.
type line struct {
	priority int64
	ring.List[*Consumer]
}

func (cs *consumers) len() int {
	if cs == nil {
		return 0
	}
	return cs.all.Len()
}

func (cs *consumers) list() []*Consumer {
	if cs == nil {
		return nil
	}
	return slices.Collect(cs.all.All())
}

// idle returns how many consumers wait for the single active one to end. One whose tag was used before, so that the consumer
// holds messages, does not count as waiting.
// Rules: Q-41.
func (cs *consumers) idle() int {
	n := max(cs.len()-1, 0)
	for _, c := range cs.list() {
		if c != cs.single && c.unacked > 0 {
			n--
		}
	}
	return max(n, 0)
}

// next returns the consumer that gets the next message, nil if none can take it.
// Rules: D-20, D-21.
func (cs *consumers) next() *Consumer {
	if cs.q.args.singleActive {
		c := cs.active()
		if c == nil || cs.yielding || !c.canTakeLocked() {
			return nil
		}
		return c
	}
	for len(cs.lines) > 0 {
		c := cs.lines[0].Front().Value
		if !c.ended && c.canTakeLocked() {
			return c
		}
		cs.exit(c)
	}
	return nil
}

// handOverLocked reports whether the next message goes to a consumer that needs no acknowledgements. It changes nothing, as next may.
func (cs *consumers) handOverLocked() bool {
	if cs == nil {
		return false
	}
	var c *Consumer
	switch {
	case cs.q.args.singleActive && !cs.vacant:
		c = cs.single
	case !cs.q.args.singleActive && len(cs.lines) > 0:
		c = cs.lines[0].Front().Value
	}
	return c != nil && c.cfg.NoAck && c.ableLocked()
}

// canTakeLocked reports whether the consumer can take a message now. If its inbox or its channel's window is full, the
// inbox or the channel remembers the consumer, and resumes it when there is room.
func (c *Consumer) canTakeLocked() bool {
	if c.ableLocked() {
		return true
	}
	switch {
	case c.inbox != nil && c.inbox.fullLocked():
		c.inbox.stallLocked(c)
	default:
		c.ch.stallLocked(c)
	}
	return false
}

// served moves the first consumer of the first line, which has got a message, to the end of the line. A consumer of a
// quorum queue leaves the line with the message that fills its window; a classic queue finds that out only when the
// consumer's turn comes again, so the consumer may keep its place beyond that.
// Rules: D-20.
func (cs *consumers) served(c *Consumer) {
	if cs.q.args.singleActive || len(cs.lines) == 0 {
		return
	}
	switch {
	case cs.q.traits.leavesLineWhenFull && c.windowFullLocked():
		cs.exit(c)
	case c.priority != cs.lines[0].priority: // c has stood in the place of the cancelled consumer with its tag: D-29
		cs.exit(c)
		cs.enter(c)
	default:
		cs.lines[0].Rotate()
	}
	cs.leaveGone()
}

// enter puts a consumer in line.
// Rules: D-20.
func (cs *consumers) enter(c *Consumer) {
	i, there := cs.lineOf(c.priority)
	if !there {
		l := cs.spare
		if cs.spare = nil; l == nil {
			l = &line{}
		}
		l.priority = c.priority
		cs.lines = slices.Insert(cs.lines, i, l)
	}
	cs.lines[i].PushBack(&c.standing)
}

// exit takes a consumer out of its line, if it stands in line.
func (cs *consumers) exit(c *Consumer) {
	in := c.standing.In()
	if in == nil {
		return
	}
	cs.exits++
	c.exit = cs.exits
	c.standing.Leave()
	if key := (placeKey{c.q, c.tag}); c.ended && c.ch.places[key] == c {
		delete(c.ch.places, key)
	}
	if in.Len() > 0 {
		return
	}
	i, there := cs.lineOf(c.priority)
	if !there || &cs.lines[i].List != in { // c stands in the place of the cancelled consumer with its tag: D-29
		i = slices.IndexFunc(cs.lines, func(l *line) bool { return &l.List == in })
	}
	cs.spare = cs.lines[i]
	cs.lines = slices.Delete(cs.lines, i, i+1)
}

// lineOf returns the place of a priority's line among the lines, and whether it is there.
func (cs *consumers) lineOf(priority int64) (int, bool) {
	return slices.BinarySearchFunc(cs.lines, priority, func(l *line, p int64) int { return cmp.Compare(p, l.priority) })
}

func (c *Consumer) inLine() bool { return c.standing.In() != nil }

// blockedLocked reports whether c has left its line because a window is full. Consumers of a queue that has a single active one stand in no
// line.
func (c *Consumer) blockedLocked() bool {
	return !c.q.args.singleActive && !c.ended && !c.stalled && !c.inLine()
}

// resumeLocked lets a consumer that has room again take messages. c is nil for basic.get.
func (c *Consumer) resumeLocked() {
	if c.rejoinLocked() && c.q.store.ready.n > 0 {
		c.q.impl.freed()
	}
}

// rejoinLocked puts a consumer that has room again in line. It reports whether the consumer's own window has room. Whether its inbox
// and the channel's window have room is found out when its turn comes.
func (c *Consumer) rejoinLocked() bool {
	if c == nil || c.q == nil || c.q.deleted {
		return false
	}
	cs := c.q.consumers
	if cs.yielding && c == cs.single && c.unacked == 0 {
		cs.elect() // D-22
	}
	if c.ended || c.stalled || c.windowFullLocked() {
		return false
	}
	if !c.inLine() || !c.ch.stalled.none() {
		c.comeBackLocked()
	}
	return true
}

// heirLocked is the consumer to which the settlement of c's deliveries gives room: c itself or, of a classic queue, the
// consumer that has the tag of c since c was cancelled. A classic queue counts by tag.
// Rules: D-26.
func (c *Consumer) heirLocked() *Consumer {
	if c == nil || !c.ended {
		return c
	}
	if again := c.ch.consumers[c.tag]; again != nil && again.q == c.q {
		return again
	}
	return c
}

// inheritLocked makes c take over what a cancelled consumer with its tag holds. To a quorum queue the two are one
// consumer.
// Rules: D-29.
func (c *Consumer) inheritLocked() {
	c.inheritGetLocked()
	waits := c.q.args.singleActive && c.q.consumers.active() != nil // behind another one: it becomes that of its tag later
	for _, u := range c.ch.tags.All() {
		old := u.c
		if old == nil || old == c || old.tag != c.tag || old.q != c.q || old.late || u.void {
			continue
		}
		c.number = old.number
		if waits { // what it holds keeps its time all the same
			u.at = deadlineAfter(u.at, old.timeout) - deadlineAfter(0, c.timeout)
		} else {
			c.timeout = old.timeout
		}
		c.unacked++
		if old.unacked--; old.unacked == 0 {
			c.ch.v.timing.heap.Remove(&old.timer)
			c.q.impl.countGhosts(-1)
		}
		u.c = c
	}
	if at, ok := c.nextWake(); ok && c.timeout >= 0 {
		c.ch.v.wakeAtLocked(&c.timer, at)
	}
	if c.window > 0 && !c.q.v.rules.deathAddsCredit {
		c.window = max(c.window, c.unacked) // see narrowLocked
	}
}

// inheritGetLocked makes c take over what basic.get took, if the delivery tag is the tag of c. To a quorum queue the two are one
// consumer.
// Rules: D-29.
func (c *Consumer) inheritGetLocked() {
	u := c.ch.tags.Get(numberOf(c.tag))
	if u == nil || u.c != nil || u.q != c.q || u.void {
		return
	}
	if u.at != 0 {
		c.timeout = c.q.ackTimeoutLocked(-1)
		u.at -= deadlineAfter(0, c.timeout)
	}
	u.c = c
	c.unacked++
	c.q.impl.countGhosts(-1)
}

// narrowLocked follows a settlement. What c has taken over may be more than its own window. Then each settlement makes room for
// another message, but never for more at once than the own window has.
// Rules: D-29.
func (c *Consumer) narrowLocked() {
	if t := c.q.traits; t.heirs && !c.q.v.rules.deathAddsCredit {
		c.window = min(c.window, cmp.Or(c.prefetch, t.window)+c.unacked)
	}
}

// add takes in a new consumer.
// Rules: D-21, D-22.
func (cs *consumers) add(c *Consumer) {
	single := cs.active()
	cs.all.PushBack(&c.place)
	if c.cfg.Exclusive && cs.q.traits.exclusiveConsumers {
		cs.exclusive = c
	}
	if !cs.q.args.singleActive {
		// The window of a consumer whose tag was used before may be full. // D-29
		if full := cs.q.traits.leavesLineWhenFull && c.windowFullLocked(); !full && !c.inLine() {
			cs.enter(c)
		}
		return
	}
	switch {
	case single == nil:
		cs.elect()
	case cs.q.traits.preempts && c.priority > single.priority: // D-22
		if single.unacked == 0 {
			cs.elect()
		} else {
			cs.yielding = true
		}
	}
}

// active returns the single active consumer, nil if there is none. After the active one has left, the next is elected
// when this is first asked for, because many consumers may leave together.
func (cs *consumers) active() *Consumer {
	if cs == nil {
		return nil
	}
	if cs.vacant {
		cs.elect()
	}
	return cs.single
}

// elect chooses the single active consumer: of those that no other goes before, the one that subscribed first.
// Rules: D-21, D-22.
func (cs *consumers) elect() {
	cs.vacant, cs.yielding = false, false
	cs.single = nil
	for c := range cs.all.All() {
		if cs.single == nil || c.goesBeforeLocked(cs.single) {
			cs.single = c
		}
	}
}

// goesBeforeLocked reports whether c becomes the single active consumer rather than one that is older.
// Rules: D-21, D-22.
func (c *Consumer) goesBeforeLocked(older *Consumer) bool {
	t := c.q.traits
	switch {
	case t.electsByPriority && c.priority != older.priority:
		return c.priority > older.priority
	case t.electsByWindow:
		return c.window > older.window
	}
	return false
}

// keepsPlace reports whether a consumer that ends stays in line until its turn comes. A consumer that gets its tag before
// that has its place. To a quorum queue the two are one, while the cancelled one holds messages. In 3.10 they have one place in
// any case.
// Rules: D-29.
func (cs *consumers) keepsPlace(c *Consumer) bool {
	t := cs.q.traits
	return c.ch.err == nil && (t.placeStays || t.heirs && c.unacked > 0)
}

// keepPlaceLocked has the channel know that c, which has ended, is still in line.
// Rules: D-29.
func (c *Consumer) keepPlaceLocked() {
	if c.ch.places == nil {
		c.ch.places = map[placeKey]*Consumer{}
	}
	c.ch.places[placeKey{c.q, c.tag}] = c
}

// takePlaceLocked puts c in the place of a consumer that has ended and had its tag.
// Rules: D-29.
func (c *Consumer) takePlaceLocked() {
	key := placeKey{c.q, c.tag}
	if old := c.ch.places[key]; old != nil {
		c.standing.Replace(&old.standing)
		delete(c.ch.places, key)
	}
}

// leaveGone takes consumers out of line that have ended and hold nothing, when their turn comes: that needs no message.
// Rules: D-29.
func (cs *consumers) leaveGone() {
	for len(cs.lines) > 0 {
		c := cs.lines[0].Front().Value
		if !c.ended || c.unacked > 0 {
			return
		}
		cs.exit(c)
	}
}

// remove follows the end of a consumer.
func (cs *consumers) remove(c *Consumer) {
	c.place.Leave()
	switch {
	case !cs.keepsPlace(c):
		cs.exit(c)
	case c.inLine() && !c.late:
		c.keepPlaceLocked()
	}
	cs.leaveGone()
	if cs.exclusive == c {
		cs.exclusive = nil
	}
	if cs.single == c {
		cs.single, cs.vacant, cs.yielding = nil, true, false
	}
}
