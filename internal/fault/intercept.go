package fault

import (
	"context"
	"maps"
	"slices"

	"github.com/leveretmq/leveret"
)

// A channelState is what faults have to know of a channel.
type channelState struct {
	confirms  bool             // it is in confirm mode
	published uint64           // messages that the client has published since, which is the number of the last
	refused   []uint64         // of them, those that a fault has refused: the broker does not count them
	pending   map[uint64]*unit // publishes that are not confirmed, by the client's number
	unsettled map[uint64]*unit // deliveries that are not settled, by delivery tag; kept while a fault waits at OnAck
	cancelled map[string]bool  // consumers that a fault has cancelled; the broker has not answered yet
	closing   *Action          // closes the channel: the broker has been told to, as if its client closed it
	answered  bool             // the broker has closed the channel, the client has been told
}

func (w *wire) channelLocked(number uint16) *channelState {
	ch := w.channels[number]
	if ch == nil {
		ch = &channelState{pending: map[uint64]*unit{}, unsettled: map[uint64]*unit{}, cancelled: map[string]bool{}}
		w.channels[number] = ch
	}
	return ch
}

// clientUnitLocked carries what a client sends. What it returns, if anything, is to be done when what comes before has
// been written.
func (w *wire) clientUnitLocked(u unit) (outside func()) {
	ch := w.channelLocked(u.channel)
	switch {
	case w.closing != nil: // what the client sends before it knows is ignored, but it may want an answer
		if u.method == connectionClose {
			w.down.queue(call(0, connectionCloseOk))
		}
		return nil
	case ch.closing != nil:
		w.ignoreLocked(u, ch)
		return nil
	}
	switch u.method {
	case channelOpen:
		delete(w.channels, u.channel)
	case confirmSelect:
		ch.confirms = true
	case basicPublish:
		return w.publishLocked(u, ch)
	case basicAck, basicNack, basicReject:
		return w.settleLocked(u, ch)
	}
	w.up.queue(u.octets)
	return nil
}

// ignoreLocked drops what comes on a channel that the broker has closed, until the client has answered. If it has closed
// the channel, too, it wants an answer.
func (w *wire) ignoreLocked(u unit, ch *channelState) {
	switch u.method {
	case channelCloseOk:
		if ch.answered {
			delete(w.channels, u.channel)
		}
	case channelClose:
		w.down.queue(call(u.channel, channelCloseOk))
	}
}

func (w *wire) publishLocked(u unit, ch *channelState) func() {
	if ch.confirms {
		ch.published++
	}
	number := ch.published
	r := w.due(OnPublish, u.message, func(k Kind) bool { return k != Nack || ch.confirms })
	if r != nil && r.Do.Kind == Nack {
		ch.refused = append(ch.refused, number)
		w.down.queue(call(u.channel, basicNack, long(number), []byte{0}))
		return nil
	}
	if ch.confirms {
		ch.pending[number] = &u
	}
	return w.strikeLocked(r, u, w.up)
}

// settleLocked carries what a client says of deliveries. The messages are known if a fault waited for them when they
// were delivered.
func (w *wire) settleLocked(u unit, ch *channelState) func() {
	args := reader(u.args)
	tag, flags := args.long(), args.bits()
	multiple := u.method != basicReject && flags&1 != 0
	for _, t := range covered(ch.unsettled, tag, multiple) {
		d := ch.unsettled[t]
		delete(ch.unsettled, t)
		if r := w.due(OnAck, d.message, inTheWay); r != nil {
			return w.strikeLocked(r, u, w.up)
		}
	}
	w.up.queue(u.octets)
	return nil
}

// covered returns the tags that are meant, in their order.
func covered(all map[uint64]*unit, tag uint64, multiple bool) []uint64 {
	if multiple {
		tags := slices.Sorted(maps.Keys(all))
		return slices.DeleteFunc(tags, func(t uint64) bool { return tag != 0 && t > tag })
	}
	if all[tag] == nil {
		return nil
	}
	return []uint64{tag}
}

// inTheWay accepts every action that is possible at any point.
func inTheWay(Kind) bool { return true }

// serverUnitLocked carries what the server sends.
func (w *wire) serverUnitLocked(u unit) (outside func()) {
	ch := w.channelLocked(u.channel)
	switch {
	case w.closing != nil:
		if u.method == connectionCloseOk { // the broker is done with the connection
			w.down.queue(call(0, connectionClose, closing(w.closing.Code, w.closing.Text)))
		}
		return nil
	case ch.closing != nil:
		w.answerLocked(u, ch)
		return nil
	}
	switch u.method {
	case basicAck, basicNack:
		return w.confirmLocked(u, ch)
	case basicDeliver, basicGetOk:
		return w.deliverLocked(u, ch)
	case basicCancelOk:
		args := reader(u.args)
		if tag := args.short(); ch.cancelled[tag] {
			delete(ch.cancelled, tag)
			w.down.queue(call(u.channel, basicCancel, short(tag), []byte{1}))
			return nil
		}
	}
	w.down.queue(u.octets)
	return nil
}

// answerLocked tells the client that its channel is closed, when the broker has closed it. What the broker has sent
// before on the channel is lost with it. If the broker closes the channel by itself, it wants an answer.
func (w *wire) answerLocked(u unit, ch *channelState) {
	switch u.method {
	case channelCloseOk:
		ch.answered = true
		w.down.queue(call(u.channel, channelClose, closing(ch.closing.Code, ch.closing.Text)))
	case channelClose:
		w.up.queue(call(u.channel, channelCloseOk))
	}
}

// confirmLocked tells a client what became of its publishes, one by one if a fault waits for one of them.
func (w *wire) confirmLocked(u unit, ch *channelState) func() {
	args := reader(u.args)
	tag, flags := args.long(), args.bits()
	for _, refused := range ch.refused {
		if refused <= tag {
			tag++
		}
	}
	numbers := covered(ch.pending, tag, flags&1 != 0)
	if len(ch.refused) == 0 && !anyRule(w.b, OnConfirm) {
		for _, n := range numbers {
			delete(ch.pending, n)
		}
		w.down.queue(u.octets)
		return nil
	}
	return w.confirmEachLocked(u, numbers)
}

// confirmEachLocked tells a client of some of its publishes what u says of them, one by one. When a fault has something to
// do outside of the lock, the rest follows after it.
func (w *wire) confirmEachLocked(u unit, numbers []uint64) func() {
	ch := w.channelLocked(u.channel)
	args := reader(u.args)
	args.long()
	flags := args.bits() &^ 1 // not multiple
	for i, n := range numbers {
		if w.cut || w.closing != nil || ch.closing != nil {
			break
		}
		p := ch.pending[n]
		delete(ch.pending, n)
		one := unit{channel: u.channel, octets: call(u.channel, u.method, long(n), []byte{flags})}
		if strike := w.strikeLocked(w.due(OnConfirm, p.message, inTheWay), one, w.down); strike != nil {
			return w.then(strike, func() func() { return w.confirmEachLocked(u, numbers[i+1:]) })
		}
	}
	return nil
}

// then returns a function that does something outside of the lock and then goes on under it.
func (w *wire) then(outside func(), locked func() func()) func() {
	return func() {
		outside()
		w.mu.Lock()
		next := locked()
		w.mu.Unlock()
		_ = w.down.drain()
		if next != nil {
			next()
		}
	}
}

func (w *wire) deliverLocked(u unit, ch *channelState) func() {
	args := reader(u.args)
	tag := ""
	if u.method == basicDeliver {
		tag = args.short()
	}
	if anyRule(w.b, OnAck) {
		ch.unsettled[args.long()] = &u
	}
	r := w.due(OnDeliver, u.message, func(k Kind) bool { return k != CancelConsumer || u.method == basicDeliver })
	if r != nil && r.Do.Kind == CancelConsumer {
		ch.cancelled[tag] = true
		w.down.queue(u.octets)
		w.up.queue(call(u.channel, basicCancel, short(tag), []byte{0}))
		return nil
	}
	return w.strikeLocked(r, u, w.down)
}

// strikeLocked does what a fault does to a unit that is on its way to a lane. Without a fault the unit goes on.
func (w *wire) strikeLocked(r *rule, u unit, to *lane) (outside func()) {
	if r == nil {
		to.queue(u.octets)
		return nil
	}
	switch r.Do.Kind {
	case CloseChannel:
		w.channelLocked(u.channel).closing = &r.Do
		w.up.queue(call(u.channel, channelClose, closing(replySuccess, "")))
		return nil
	case CloseConnection:
		w.closing = &r.Do
		w.up.queue(call(0, connectionClose, closing(replySuccess, "")))
		return nil
	case Cut:
		w.cut = to == w.down
		return func() { w.end(to) }
	case Restart, KillNode:
		as := leveret.StoppedNode
		if r.Do.Kind == KillNode {
			as = leveret.KilledNode
		}
		return func() {
			w.settleBefore(to)
			restart(w.b, as)
		}
	case Stall:
		return func() {
			w.settleBefore(to)
			r.stall(w)
			to.queue(u.octets)
		}
	}
	return func() { // Block
		w.settleBefore(to)
		r.block()
		to.queue(u.octets)
		_ = to.drain()
	}
}

// end cuts the connection off, instead of something that was on its way to a lane's reader. The server executes what was
// sent before. The client gets what the server had for it until then.
func (w *wire) end(to *lane) {
	w.settleBefore(to)
	w.mu.Lock()
	w.cut = true
	w.mu.Unlock()
	w.up.finish()
	w.down.finish()
}

// settleBefore returns when the server has executed and answered what comes before something that is on its way to it, so
// that what a fault prevents does not depend on who is faster. Of what is on its way to the client the server's own goroutine
// asks, which must not wait for itself.
func (w *wire) settleBefore(to *lane) {
	if to != w.up {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), settleLimit)
	defer cancel()
	unblocked, stop := untilAlarm(ctx, w.b)
	defer stop()
	w.settleUp(unblocked)
	_ = w.srv.Settle(ctx) // another client may not read
}
