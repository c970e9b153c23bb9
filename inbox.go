package leveret

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

	v       *VHost // its lock guards what follows
	items   []Notification
	taken   int // items at the front that were received one by one
	bytes   int // of bodies
	count   int // deliveries
	stalled []*Consumer
	ended   bool
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

// Take appends everything the inbox holds to buf and empties it. It does not wait.
func (in *Inbox) Take(buf []Notification) []Notification {
	v := in.v
	if v == nil { // no connection has it yet
		return buf
	}
	v.lock()
	buf = append(buf, in.items[in.taken:]...)
	in.reset()
	in.unstall()
	v.unlock()
	return buf
}

func (in *Inbox) reset() {
	clear(in.items)
	in.items, in.taken, in.bytes, in.count = in.items[:0], 0, 0, 0
}

// next receives one delivery for c, whose own inbox this is.
func (in *Inbox) next(*Consumer) (d *Delivery, ended bool) {
	v := in.v
	v.lock()
	defer v.unlock()
	if in.taken == len(in.items) {
		return nil, in.ended
	}
	d = in.items[in.taken].Delivery
	in.items[in.taken] = Notification{}
	in.bytes -= len(d.Body)
	in.count--
	if in.taken++; in.taken == len(in.items) {
		in.reset()
		in.unstall()
	} else {
		in.signal() // another receiver may be waiting
	}
	return d, false
}

func (in *Inbox) full() bool {
	return in.cfg.MaxDeliveries > 0 && in.count >= in.cfg.MaxDeliveries || in.cfg.MaxBytes > 0 && in.bytes >= in.cfg.MaxBytes
}

func (in *Inbox) put(n Notification) {
	if in.taken > 64 && in.taken > len(in.items)/2 {
		rest := copy(in.items, in.items[in.taken:])
		clear(in.items[rest:])
		in.items, in.taken = in.items[:rest], 0
	}
	in.items = append(in.items, n)
	if n.Kind == Delivered {
		in.count++
		in.bytes += len(n.Delivery.Body)
	}
	in.signal()
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
