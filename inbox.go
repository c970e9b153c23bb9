package leveret

import "sync/atomic"

// An Inbox collects, in order, what a client is to be told without having asked. A listener
// gives one to a connection (ConnConfig.Inbox) and all its consumers share it; other
// consumers have one of their own inside. When an inbox holds as much as its limit says, its
// consumers are given nothing more until it is taken, so a client that does not read costs
// no memory.
type Inbox struct {
	cfg    InboxConfig
	shared bool
	ready  chan struct{} // holds one token after something was put in
	done   chan struct{} // closed at the end of an inbox that is not shared
	held   atomic.Bool   // what is put in is not signalled; ends with v's lock held

	v       *vhost // its lock guards what follows
	items   []Notification
	bytes   int // of bodies
	count   int // deliveries
	stalled []*Consumer
	ended   bool

	received received
}

// InboxConfig limits an inbox. A delivery that exceeds a limit is still taken; the next is not.
type InboxConfig struct {
	MaxDeliveries int // 0: no limit
	MaxBytes      int // of bodies; 0: no limit
}

// A NotificationKind says what a Notification tells.
type NotificationKind uint8

// The kinds of notification.
const (
	Delivered         NotificationKind = iota // Delivery, for ConsumerTag on Channel
	ConsumerCancelled                         // the broker ended ConsumerTag on Channel: basic.cancel
	ChannelClosed                             // the broker closed Channel because of Err
	ConnClosed                                // the broker closed the connection because of Err
	ConnBlocked                               // the memory alarm is on, for Reason
	ConnUnblocked                             // the memory alarm is off
)

// A Notification is one thing a client is to be told.
type Notification struct {
	Kind        NotificationKind
	Channel     *Channel
	Delivery    *Delivery
	ConsumerTag string
	Err         *Error
	Reason      string
}

// NewInbox returns an empty inbox. It serves one connection.
func NewInbox(cfg InboxConfig) *Inbox {
	return &Inbox{cfg: cfg, ready: make(chan struct{}, 1), done: make(chan struct{})}
}

// Ready receives a value after something was put in. One value may stand for many
// notifications.
func (in *Inbox) Ready() <-chan struct{} { return in.ready }

// Hold keeps Ready from receiving anything until Take or Release: for a listener that is about to do what may put
// something in, and will look itself.
func (in *Inbox) Hold() { in.held.Store(true) }

// Release ends Hold. Ready receives a value if the inbox holds anything.
func (in *Inbox) Release() {
	if in.v == nil || !in.held.Load() {
		return
	}
	in.v.mu.Lock()
	defer in.v.mu.Unlock()
	in.held.Store(false)
	if len(in.items) > 0 {
		in.signal()
	}
}

// Take appends everything the inbox holds to buf and empties it. It does not wait.
func (in *Inbox) Take(buf []Notification) []Notification {
	v := in.v
	if v == nil { // no connection has it yet
		return buf
	}
	v.lock()
	in.held.Store(false)
	buf = append(buf, in.items...)
	in.reset()
	in.unstall()
	v.unlock()
	return buf
}

func (in *Inbox) reset() {
	clear(in.items)
	in.items, in.bytes, in.count = in.items[:0], 0, 0
}

func (in *Inbox) full() bool {
	return in.cfg.MaxDeliveries > 0 && in.count >= in.cfg.MaxDeliveries || in.cfg.MaxBytes > 0 && in.bytes >= in.cfg.MaxBytes
}

func (in *Inbox) put(n Notification) {
	in.items = append(in.items, n)
	if n.Kind == Delivered {
		in.count++
		in.bytes += len(n.Delivery.Body)
	}
	if !in.held.Load() {
		in.signal()
	}
}

func (in *Inbox) signal() {
	select {
	case in.ready <- struct{}{}:
	default:
	}
}

// stall remembers a consumer that waits for room.
func (in *Inbox) stall(c *Consumer) { in.stalled = append(in.stalled, c) }

func (in *Inbox) unstall() {
	if len(in.stalled) == 0 {
		return
	}
	waiting := in.stalled
	in.stalled = nil
	for _, c := range waiting {
		c.resume()
	}
}

func (in *Inbox) end() {
	if !in.ended {
		in.ended = true
		close(in.done)
	}
}
