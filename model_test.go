package leveret_test

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// The naive model of a RabbitMQ 4.3 node. Everything is a slice, every question is answered
// by a loop, nothing is cached and nothing is counted ahead: it is meant to be checked by
// reading. Times are milliseconds since the start of the run; 0 means none.

type mMessage struct {
	body       string
	exchange   string
	keys       []string // routing key, CC, BCC
	bcc        []string
	cc         []string
	headers    map[string]string // the client's; CC and BCC apart
	hasHeaders bool
	expiration string // "": none
	ttl        int64  // of expiration; -1: none
	priority   int    // -1: none
	deaths     []mDeath
	first      [3]string // reason, queue, exchange
	last       [3]string
	deliveries int
	size       int64 // of the encoded properties
}

type mDeath struct {
	queue, reason, exchange, expiration string
	keys                                []string
	count                               int64
	at                                  int64
}

type mEntry struct {
	mMessage
	seq      int   // order of arrival in the queue
	level    int   // priority level
	expires  int64 // 0: never
	acquired int
	back     bool // was returned to this queue
	due      int64
}

type mQueue struct {
	name       string
	quorum     bool
	autoDelete bool
	single     bool // single active consumer
	maxPrio    int  // 0: none
	args       map[string]any
	ready      []*mEntry // CQ: all; QQ: never returned
	returned   []*mEntry // QQ
	delayed    []*mEntry // QQ
	consumers  []*mConsumer
	rotation   []*mConsumer // those that can be served, next first
	active     *mConsumer
	quiescing  bool         // the active one is given nothing more
	stopped    map[any]bool // QQ: publishers (channels, queues), and whether they were told to stop
	pending    []*mPending  // QQ: at-least-once dead letters
	low        bool
	limits     string
	policies   string

	pendingAllowed bool // at-least-once was in force at the last change of policies
	seq            int
}

type mConsumer struct {
	tag      string
	ch       *mChannel
	q        *mQueue
	noAck    bool
	prefetch int
	priority int
	seq      int
	unacked  int
}

type mUnacked struct {
	tag int
	q   *mQueue
	c   *mConsumer
	e   *mEntry
	at  int64
}

type mChannel struct {
	id      string
	closed  bool
	nextTag int
	unacked []*mUnacked
	tags    map[string]*mConsumer
	tx      bool
	txPubs  []mBuffered
	txAcks  []mSettled
}

type mBuffered struct {
	m         mMessage
	queues    []*mQueue
	mandatory bool
}

type mSettled struct {
	us  []*mUnacked
	how string
}

type mJob struct {
	m      mMessage
	q      *mQueue
	reason string
}

// mDelivery is what a consumer or a getter is given.
type mDelivery struct {
	channel, consumer string
	tag               int
	m                 mMessage
	redelivered       bool
	acquired, failed  int // headers of quorum queues; -1: absent
}

type model struct {
	now       int64
	overtook  bool // a classic queue did not look at a head that came in front of others: not modelled
	queues    []*mQueue
	exchanges []*mExchange
	policies  [2][]mPolicy
	jobs      []mJob
	out       []mDelivery
	channels  []*mChannel
	routing   routeHint // the message that is being routed, for order
	// order puts the queues that a message was routed to into the order in which the broker
	// serves them, which no rule tells.
	order func([]*mQueue) []*mQueue
}

func (m *model) queue(name string) *mQueue {
	for _, q := range m.queues {
		if q.name == name {
			return q
		}
	}
	return nil
}

// head is the queue in the order in which it would be handed out.
func (q *mQueue) inOrder() []*mEntry {
	rest := slices.Clone(q.ready)
	sort.SliceStable(rest, func(i, j int) bool {
		if rest[i].level != rest[j].level {
			return rest[i].level > rest[j].level
		}
		return rest[i].seq < rest[j].seq
	})
	return append(slices.Clone(q.returned), rest...)
}

func (q *mQueue) remove(e *mEntry) {
	drop := func(es []*mEntry) []*mEntry {
		return slices.DeleteFunc(es, func(x *mEntry) bool { return x == e })
	}
	q.ready, q.returned, q.delayed = drop(q.ready), drop(q.returned), drop(q.delayed)
}

func (q *mQueue) size(e *mEntry) int64 {
	n := int64(len(e.body))
	if q.quorum {
		n += e.mMessage.size
	}
	return n
}

// length is what limits count.
func (q *mQueue) length() (n, bytes int64) {
	for _, es := range [][]*mEntry{q.ready, q.returned, q.delayed} {
		for _, e := range es {
			n++
			bytes += q.size(e)
		}
	}
	for _, p := range q.pending {
		if !p.purged {
			n++
			bytes += q.size(p.e)
		}
	}
	return n, bytes
}

// expired lists the heads whose time is over.
func (m *model) heads(q *mQueue) []*mEntry {
	all := q.inOrder()
	if len(all) == 0 {
		return nil
	}
	if !q.quorum {
		return all[:1]
	}
	var heads []*mEntry
	rest := all
	if len(q.returned) > 0 {
		heads = append(heads, all[0])
		rest = all[len(q.returned):]
	}
	for i, e := range rest {
		if i == 0 || rest[i-1].level != e.level {
			heads = append(heads, e)
		}
	}
	return heads
}

func (m *model) expire(q *mQueue) {
	for {
		found := false
		for _, e := range m.heads(q) {
			if e.expires != 0 && e.expires <= m.now {
				q.remove(e)
				m.die(e, q, "expired")
				found = true
				break
			}
		}
		if !found {
			return
		}
	}
}

func (m *model) over(q *mQueue, extraN, extraBytes int64) bool {
	n, bytes := q.length()
	max, ok := m.number(q, "max-length")
	if ok && n+extraN > max {
		return true
	}
	max, ok = m.number(q, "max-length-bytes")
	return ok && bytes+extraBytes > max
}

// trim enforces the limits on what is stored.
func (m *model) trim(q *mQueue) {
	overflow := m.text(q, "overflow", "drop-head")
	if overflow == "drop-head" || q.quorum && overflow == "reject-publish-dlx" {
		m.cut(q)
	}
	m.updateRejecting(q)
}

func (m *model) cut(q *mQueue) {
	for m.over(q, 0, 0) && len(q.inOrder()) > 0 {
		e := q.inOrder()[0]
		q.remove(e)
		m.die(e, q, "maxlen")
	}
}

// updateRejecting applies the soft limit of quorum queues: the queue tells its publishers to
// stop when it is over the limit, and to go on when it has come down to 80 % of it.
func (m *model) updateRejecting(q *mQueue) {
	maxN, okN := m.number(q, "max-length")
	maxB, okB := m.number(q, "max-length-bytes")
	if !q.quorum || m.text(q, "overflow", "drop-head") != "reject-publish" || !okN && !okB {
		return
	}
	n, bytes := q.length()
	low := (!okN || n <= maxN*8/10) && (!okB || bytes <= maxB*8/10)
	if m.over(q, 0, 0) {
		q.tell(true)
	} else if low && !q.low {
		q.tell(false)
	}
	q.low = low
}

func (q *mQueue) tell(stop bool) {
	for by := range q.stopped {
		q.stopped[by] = stop
	}
}

// refusesFrom tells whether a quorum queue refuses a publisher, who learns the state with the
// first message.
func (m *model) refusesFrom(q *mQueue, by any) bool {
	if by == nil {
		return false
	}
	if _, known := q.stopped[by]; !known {
		q.stopped[by] = m.text(q, "overflow", "drop-head") == "reject-publish" && m.over(q, 0, 0)
	}
	return q.stopped[by]
}

// accept is a message's arrival in a queue.
func (m *model) accept(msg mMessage, q *mQueue, by any) bool {
	e := &mEntry{mMessage: msg}
	ttl, ok := m.number(q, "message-ttl")
	if msg.ttl >= 0 && (!ok || msg.ttl < ttl) {
		ttl, ok = msg.ttl, true
	}
	if ok {
		e.expires = m.now + ttl
	}
	switch {
	case q.quorum && msg.priority < 0:
		e.level = 4
	case q.quorum:
		e.level = min(msg.priority, 31)
	case q.maxPrio > 0:
		e.level = min(max(msg.priority, 0), q.maxPrio)
	}
	overflow := m.text(q, "overflow", "drop-head")
	if q.quorum {
		if m.refusesFrom(q, by) {
			return false
		}
	} else if overflow != "drop-head" && m.over(q, 1, int64(len(msg.body))) {
		if overflow == "reject-publish-dlx" {
			m.die(e, q, "maxlen")
		}
		return false
	}
	q.seq++
	e.seq = q.seq
	if !q.quorum && len(q.ready) == 0 {
		if c := m.next(q); c != nil { // handed over without ever being ready
			m.deliver(c, e, false)
			return true
		}
	}
	if all, set := m.number(q, "message-ttl"); set && all == 0 && !q.quorum {
		if _, ok := m.dead(q, "dead-letter-exchange"); !ok {
			return true // nobody could ever see it again
		}
	}
	q.ready = append(q.ready, e)
	if q.quorum {
		at := e.expires
		e.expires = max(at, m.now+1) * min(at, 1) // what has no time to wait has this one chance
		m.pump(q)
		m.trim(q)
		e.expires = at
		m.expire(q)
		m.updateRejecting(q)
		return true
	}
	if len(q.ready) > 1 && q.inOrder()[0] == e {
		m.overtook = true
	}
	e.back = msg.deliveries > 0
	m.trim(q)
	m.expire(q)
	return true
}

// pump serves consumers.
func (m *model) pump(q *mQueue) {
	for {
		m.expire(q)
		all := q.inOrder()
		if len(all) == 0 {
			return
		}
		c := m.next(q)
		if c == nil {
			return
		}
		e := all[0]
		q.remove(e)
		m.deliver(c, e, m.redelivered(q, e))
	}
}

func (m *model) redelivered(q *mQueue, e *mEntry) bool {
	if q.quorum {
		return e.acquired > 0 || e.deliveries > 0
	}
	return e.back
}

// next is the consumer that gets the next message. A classic queue finds out only here that
// a consumer's window is full, and takes it out of the line; a quorum queue did so at once.
func (m *model) next(q *mQueue) *mConsumer {
	for {
		c := m.first(q)
		if c == nil || !c.full() {
			return c
		}
		q.rotation = slices.DeleteFunc(q.rotation, func(x *mConsumer) bool { return x == c })
	}
}

func (c *mConsumer) full() bool { return !c.noAck && c.prefetch > 0 && c.unacked >= c.prefetch }

func (m *model) first(q *mQueue) *mConsumer {
	m.chooseActive(q)
	var best *mConsumer
	for _, c := range q.rotation {
		if q.single && c != q.active {
			continue
		}
		if best == nil || c.priority > best.priority {
			best = c
		}
	}
	if q.quiescing { // somebody better came while the active one held messages
		return nil
	}
	return best
}

// chooseActive names the single active consumer.
func (m *model) chooseActive(q *mQueue) {
	if !q.single {
		return
	}
	if !slices.Contains(q.consumers, q.active) {
		q.active = nil
	}
	if q.active != nil && (!q.quorum || q.active.unacked > 0) {
		for _, c := range q.consumers {
			if q.quorum && c.priority > q.active.priority {
				q.quiescing = true // and stays so until it holds nothing, even if the better one leaves
			}
		}
		return
	}
	q.quiescing = false
	was := q.active
	for _, c := range q.consumers {
		best := q.active
		if best == nil || c.priority > best.priority || best != was && c.priority == best.priority && q.quorum && c.room() > best.room() {
			q.active = c
		}
	}
}

func (c *mConsumer) room() int {
	if c.prefetch == 0 {
		return 2000
	}
	return c.prefetch
}

func (m *model) deliver(c *mConsumer, e *mEntry, redelivered bool) {
	m.hand(c.ch, c.q, c, e, redelivered, c.noAck)
	q := c.q
	q.rotation = slices.DeleteFunc(q.rotation, func(x *mConsumer) bool { return x == c })
	if !c.noAck {
		c.unacked++
	}
	if !q.quorum || !c.full() {
		q.rotation = append(q.rotation, c)
	}
}

// hand gives an entry to a channel.
func (m *model) hand(ch *mChannel, q *mQueue, c *mConsumer, e *mEntry, redelivered, noAck bool) mDelivery {
	ch.nextTag++
	d := mDelivery{channel: ch.id, tag: ch.nextTag, m: e.mMessage, redelivered: redelivered, acquired: -1, failed: -1}
	if q.quorum && (e.acquired > 0 || e.deliveries > 0) {
		d.acquired = e.acquired
		if e.acquired == 0 {
			d.acquired = e.deliveries
		}
		if e.deliveries > 0 {
			d.failed = e.deliveries
		}
	}
	if !noAck {
		ch.unacked = append(ch.unacked, &mUnacked{tag: ch.nextTag, q: q, c: c, e: e, at: m.now})
	}
	if c != nil {
		d.consumer = c.tag
		m.out = append(m.out, d)
	}
	return d
}

// resume puts a consumer that may be served again at the end of the line.
func (m *model) resume(c *mConsumer) {
	if c == nil || !slices.Contains(c.q.consumers, c) || slices.Contains(c.q.rotation, c) {
		return
	}
	if !c.full() {
		c.q.rotation = append(c.q.rotation, c)
	}
}

// settle takes deliveries out of a channel's hands; how is ack, nack+, rej+, end, nack- or rej-.
func (m *model) settle(us []*mUnacked, how string) {
	us = slices.Clone(us)
	sort.SliceStable(us, func(i, j int) bool { return us[i].consumer() < us[j].consumer() })
	for len(us) > 0 {
		q, c := us[0].q, us[0].c
		n := 1
		for n < len(us) && us[n].q == q && us[n].c == c {
			n++
		}
		m.settleGroup(q, c, us[:n], how)
		us = us[n:]
	}
}

func (u *mUnacked) consumer() string {
	if u.c == nil {
		return ""
	}
	return u.c.tag
}

func (m *model) settleGroup(q *mQueue, c *mConsumer, us []*mUnacked, how string) {
	gone := m.queue(q.name) != q
	if !q.quorum && strings.HasSuffix(how, "-") { // by priority
		slices.SortStableFunc(us, func(a, b *mUnacked) int { return b.e.level - a.e.level })
	}
	for _, u := range us {
		if u.c != nil {
			u.c.unacked--
		}
		if gone {
			continue
		}
		switch how {
		case "ack":
		case "nack-", "rej-":
			if how == "rej-" {
				u.e.deliveries++
			}
			m.die(u.e, q, "rejected")
		default:
			m.giveBack(u.e, q, how)
		}
	}
	if gone {
		return
	}
	requeued := how == "nack+" || how == "rej+" || how == "end"
	if !q.quorum && requeued {
		m.trim(q)
		m.expire(q)
	}
	if q.quorum && requeued {
		m.expire(q)
	}
	m.resume(c)
	m.pump(q)
	if q.quorum {
		if requeued {
			m.trim(q)
		}
		m.updateRejecting(q)
	}
	m.expire(q)
}

// giveBack puts one message back.
func (m *model) giveBack(e *mEntry, q *mQueue, how string) {
	failed := how != "nack+"
	e.back = true
	if failed {
		e.deliveries++
	}
	if !q.quorum {
		q.ready = append(q.ready, e)
		return
	}
	e.acquired++
	limit, ok := m.number(q, "delivery-limit")
	if !ok {
		limit = 20
	}
	if limit >= 0 && int64(e.deliveries) > limit {
		m.die(e, q, "delivery_limit")
		return
	}
	kind := m.text(q, "delayed-retry-type", "disabled")
	if kind == "all" || kind == "failed" && failed || kind == "returned" && !failed {
		delay, _ := m.number(q, "delayed-retry-min")
		most, ok := m.number(q, "delayed-retry-max")
		if !ok {
			most = delay
		}
		e.due = m.now + min(delay*int64(max(1, e.deliveries)), most)
		q.delayed = append(q.delayed, e)
		return
	}
	q.returned = append(q.returned, e)
}

// committed returns where a transaction's message goes that was routed to queues: to those that are still there, and
// to a quorum queue that was declared anew. What a new classic queue should get is lost. text is the error of the whole commit.
func (m *model) committed(routed []*mQueue) (queues []*mQueue, lost bool, text string) {
	worst := ""
	for _, was := range routed {
		now := m.queue(was.name)
		switch {
		case now == was, now != nil && now.quorum && was.quorum:
			queues = append(queues, now)
		case now != nil && !now.quorum && !was.quorum:
			lost = true
		case was.name > worst:
			worst = was.name
			text = "541 INTERNAL_ERROR"
			if now == nil {
				text = "506 RESOURCE_ERROR - failed to deliver message: {not_found,{resource,<<\"/\">>,queue,<<\"" + was.name + "\">>}}"
			}
		}
	}
	return queues, lost, text
}

// end is the end of channels by whatever cause: all their consumers leave, then all they hold
// goes back.
func (m *model) end(chs ...*mChannel) {
	chs = slices.DeleteFunc(chs, func(ch *mChannel) bool { return ch.closed })
	var gone []*mConsumer
	for _, ch := range chs {
		ch.closed = true
		var tags []string
		for tag := range ch.tags {
			tags = append(tags, tag)
		}
		sort.Strings(tags)
		for _, tag := range tags {
			gone = append(gone, ch.tags[tag])
			m.leave(ch.tags[tag])
		}
		ch.tags = map[string]*mConsumer{}
	}
	for _, c := range gone {
		m.removeUnused(c.q)
	}
	for _, ch := range chs {
		us := ch.unacked
		for _, s := range ch.txAcks {
			us = append(us, s.us...)
		}
		sort.SliceStable(us, func(i, j int) bool { return us[i].tag < us[j].tag })
		ch.unacked, ch.txAcks, ch.txPubs = nil, nil, nil
		m.takeBack(us)
	}
	for _, c := range gone {
		m.left(c.q)
	}
}

// takeBack gives back what an ended channel held: a classic queue takes all of it before it does anything else.
func (m *model) takeBack(us []*mUnacked) {
	var quorum []*mUnacked
	var classic []*mQueue
	whole := map[*mQueue][]*mUnacked{}
	for _, u := range us {
		switch {
		case u.q.quorum:
			quorum = append(quorum, u)
			continue
		case whole[u.q] == nil:
			classic = append(classic, u.q)
		}
		whole[u.q] = append(whole[u.q], u)
	}
	for _, q := range classic {
		m.settleGroup(q, nil, whole[q], "end")
	}
	m.settle(quorum, "end")
}

// leave takes a consumer out of its queue.
func (m *model) leave(c *mConsumer) {
	is := func(x *mConsumer) bool { return x == c }
	c.q.consumers = slices.DeleteFunc(c.q.consumers, is)
	c.q.rotation = slices.DeleteFunc(c.q.rotation, is)
}

// left deletes an auto-delete queue after its last consumer, and lets a successor start.
func (m *model) left(q *mQueue) {
	if m.queue(q.name) != q {
		return
	}
	if m.removeUnused(q) {
		return
	}
	m.chooseActive(q)
	m.pump(q)
	m.expire(q)
	m.updateRejecting(q)
}

func (m *model) removeUnused(q *mQueue) bool {
	gone := m.queue(q.name) != q
	if !gone && q.autoDelete && len(q.consumers) == 0 {
		m.deleteQueue(q)
		return true
	}
	return gone
}

func (m *model) deleteQueue(q *mQueue) {
	m.queues = slices.DeleteFunc(m.queues, func(x *mQueue) bool { return x == q })
	for _, c := range q.consumers {
		delete(c.ch.tags, c.tag)
	}
	q.consumers, q.rotation = nil, nil
	m.unbindAll("queue", q.name)
}

// due lists the queues in which something happens at or before an instant, and when.
func (m *model) nextDue() (at int64, queues []*mQueue) {
	for _, q := range m.queues {
		var first int64
		note := func(t int64) {
			if t != 0 && (first == 0 || t < first) {
				first = t
			}
		}
		for _, e := range m.heads(q) {
			note(e.expires)
		}
		for _, e := range q.delayed {
			note(e.due)
		}
		for _, p := range q.pending {
			note(p.next)
		}
		switch {
		case first == 0:
		case at == 0 || first < at:
			at, queues = first, []*mQueue{q}
		case first == at:
			queues = append(queues, q)
		}
	}
	return at, queues
}

// wake lets everything happen that is due in the queue.
func (m *model) wake(q *mQueue) {
	var due []*mEntry
	for _, e := range q.delayed {
		if e.due <= m.now {
			due = append(due, e)
		}
	}
	sort.SliceStable(due, func(i, j int) bool { return due[i].due < due[j].due })
	for _, e := range due {
		q.remove(e)
		q.returned = append(q.returned, e)
	}
	m.tryPending(q)
	m.expire(q)
	m.pump(q)
	m.trim(q)
	m.expire(q)
	m.updateRejecting(q)
}

func (d mDelivery) String() string {
	return fmt.Sprintf("%s %s#%d %s from %q %q redelivered=%v acquired=%d failed=%d %s", d.channel, d.consumer, d.tag,
		d.m.body, d.m.exchange, d.m.keys[0], d.redelivered, d.acquired, d.failed, deathText(d.m.deaths))
}

func deathText(ds []mDeath) string {
	var s []string
	for _, d := range ds {
		s = append(s, fmt.Sprintf("%s/%s x%d at %d from %q %v exp %q", d.queue, d.reason, d.count, (d.at-1)/1000, d.exchange, d.keys, d.expiration))
	}
	return "[" + strings.Join(s, "; ") + "]"
}
