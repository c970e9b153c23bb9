package leveret

// Length limits count ready messages; in quorum queues also those that wait for a retry and
// dead letters that wait for their confirmation. A queue at its limit is full, not over it.
//
//	drop-head           a queue over its limit loses its head until it is not
//	reject-publish      classic: a message that would not fit is refused
//	                    quorum: a queue that gets over its limit tells its publishers to stop,
//	                    and to go on when it is down to 80 %; one it does not know yet may
//	                    start as long as the queue is not over its limit
//	reject-publish-dlx  classic: as reject-publish, and the refused message dies; quorum: drop-head

// over reports whether n messages of size bytes exceed a limit.
func (s *settings) over(n int, bytes int64) bool {
	return s.maxLength >= 0 && int64(n) > s.maxLength || s.maxBytes >= 0 && bytes > s.maxBytes
}

func (s *settings) limited() bool { return s.maxLength >= 0 || s.maxBytes >= 0 }

// length is what the limits count.
func (q *Queue) length() (n int, bytes int64) {
	n, bytes = q.ready, q.bytesReady
	if q.quorum != nil {
		n += q.quorum.retries.len() + q.quorum.pending.len()
		bytes += q.quorum.retries.bytes + q.quorum.pending.bytes
	}
	return n, bytes
}

// refuses decides on a message that arrives; refused ones die where overflow says so. Dead
// letters of the at-most-once strategy are let into a quorum queue however full it is.
func (q *Queue) refuses(m *message, deliveries uint32, by publisher) bool {
	s := q.set
	if q.quorum != nil {
		return by != nil && q.stops(by)
	}
	if s.overflow == dropHead {
		return false
	}
	if !s.limited() || !s.over(q.ready+1, q.bytesReady+int64(len(m.body))) {
		return false
	}
	if s.overflow == rejectPublishDLX {
		q.kill(entry{m: m, deliveries: deliveries}, MaxLength)
	}
	return true
}

// enforce brings a queue that grew back within its limits.
func (q *Queue) enforce() {
	if s := q.set; s.limited() && s.overflow == dropHead {
		if q.quorum != nil && q.v.rules.newestTrimmedFirst {
			q.trimNewestFirst()
		} else {
			q.trim()
		}
	}
	if q.quorum != nil {
		q.updateRejecting()
	}
}

// trim drops heads until the queue keeps its limits.
func (q *Queue) trim() {
	dropped := false
	for n, bytes := q.length(); q.set.over(n, bytes) && q.ready > 0; n, bytes = q.length() {
		q.kill(q.take(), MaxLength)
		dropped = true
	}
	if dropped {
		q.headChanged()
	}
}

// trimNewestFirst is what RabbitMQ 3.10's quorum queues do: of the messages that one operation trims, the newest is
// dead-lettered first.
func (q *Queue) trimNewestFirst() {
	var dead []entry
	for n, bytes := q.length(); q.set.over(n, bytes) && q.ready > 0; n, bytes = q.length() {
		dead = append(dead, q.take())
	}
	for i := len(dead) - 1; i >= 0; i-- {
		q.kill(dead[i], MaxLength)
	}
	if len(dead) > 0 {
		q.headChanged()
	}
}

// A publisher is who a quorum queue tells to stop: a channel, or a queue with at-least-once
// dead letters. A nil one, at-most-once dead-lettering, never stops.
type publisher interface{ feeding() *feeds }

// feeds are the quorum queues that know a publisher.
type feeds map[*Queue]struct{}

func (ch *Channel) feeding() *feeds { return &ch.feeds }
func (q *Queue) feeding() *feeds    { return &q.quorum.feeds }

// forget has all quorum queues forget a publisher.
func forget(by publisher) {
	f := by.feeding()
	for q := range *f {
		delete(q.quorum.publishers, by)
	}
	*f = nil
}

// forgetPublishers is forget from a queue's side: a channel may outlive many queues.
func (q *Queue) forgetPublishers() {
	for by := range q.quorum.publishers {
		delete(*by.feeding(), q)
	}
	q.quorum.publishers = nil
}

// stops reports whether a quorum queue has told a publisher to stop, making its acquaintance if
// need be.
func (q *Queue) stops(by publisher) bool {
	stopped, known := q.quorum.publishers[by]
	if known {
		return stopped
	}
	stopped = q.set.overflow == rejectPublish && q.set.over(q.length())
	if q.quorum.publishers == nil {
		q.quorum.publishers = map[publisher]bool{}
	}
	q.quorum.publishers[by] = stopped
	f := by.feeding()
	if *f == nil {
		*f = feeds{}
	}
	(*f)[q] = struct{}{}
	return stopped
}

// tell tells all known publishers to stop or to go on.
func (q *Queue) tell(stop bool) {
	for by := range q.quorum.publishers {
		if by != publisher(q) || !q.v.rules.deafToItself {
			q.quorum.publishers[by] = stop
		}
	}
}

// updateRejecting keeps a quorum queue's soft limit. Publishers go on when the queue gets down to it, not when a change
// of overflow finds it there.
func (q *Queue) updateRejecting() {
	s := q.set
	n, bytes := q.length()
	low := (s.maxLength < 0 || int64(n) <= s.maxLength*8/10) && (s.maxBytes < 0 || bytes <= s.maxBytes*8/10)
	switch {
	case s.overflow != rejectPublish || !s.limited():
	case s.over(n, bytes):
		q.tell(true)
	case low && !q.quorum.low:
		q.tell(false)
	}
	q.quorum.low = low
}
