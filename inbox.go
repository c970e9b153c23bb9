package leveret

import "math"

// An Inbox collects, in order, what a client is to be told without having asked. A listener
// gives one to a connection (ConnConfig.Inbox) and all its consumers share it. When an inbox
// holds as much as its limit says, its consumers are given nothing more until it is taken, so
// a client that does not read costs no memory.
type Inbox struct {
	cfg InboxConfig

	v       *vhost // its lock guards what follows
	items   []Notification
	bytes   int // of bodies
	count   int // deliveries
	alarm   int // 1 + index of what tells of the memory alarm; 0: nothing does
	replies unreadReplies
	stalled []*Consumer
}

// InboxConfig limits an inbox, and tells a listener when something has come. A delivery that exceeds a limit is still
// taken; the next is not.
type InboxConfig struct {
	MaxDeliveries int // 0: no limit
	MaxBytes      int // of bodies; 0: no limit

	// Notify, if not nil, is called when something is put into the inbox and it was empty. The virtual host's lock is
	// held: Notify must return at once and must not call the broker. A send to a channel that does not block is what it
	// is for.
	Notify func()
}

// A NotificationKind says what a Notification tells.
type NotificationKind uint8

// The kinds of notification.
const (
	Delivered         NotificationKind = iota // Delivery, for ConsumerTag on Channel
	ConsumerCancelled                         // the broker ended ConsumerTag on Channel: basic.cancel
	ChannelClosed                             // the broker closed Channel because of Err; Channel.Close follows its client's answer
	ConnClosed                                // the broker closed the connection because of Err
	ConnBlocked                               // alarms are in force, for Reason; replaces an earlier change
	ConnUnblocked                             // no alarm is in force any more
)

// A Notification is one thing a client is to be told.
//
// Rules: C-5a.
type Notification struct {
	Kind        NotificationKind
	Echo        bool // the answer to its cause comes first: of a dead letter, a direct reply, a quorum queue's delivery for what a commit settles
	Channel     *Channel
	Delivery    *Delivery
	ConsumerTag string
	Err         *Error
	Reason      string
}

// NewInbox returns an empty inbox. It serves one connection.
func NewInbox(cfg InboxConfig) *Inbox { return &Inbox{cfg: cfg} }

// attach makes the inbox one of v, whose consumers fill it.
func (in *Inbox) attach(v *vhost) {
	for _, limit := range [...]*int{&in.cfg.MaxDeliveries, &in.cfg.MaxBytes} {
		if *limit <= 0 {
			*limit = math.MaxInt
		}
	}
	in.v = v
}

// Take appends everything the inbox holds to buf and empties it. It does not wait.
func (in *Inbox) Take(buf []Notification) []Notification {
	v := in.v
	if v == nil { // no connection has it yet
		return buf
	}
	v.lock()
	buf = append(buf, in.items...)
	in.resetLocked()
	in.unstallLocked()
	v.unlock()
	return buf
}

func (in *Inbox) resetLocked() {
	clear(in.items)
	in.items, in.bytes, in.count, in.replies, in.alarm = emptied(in.items), 0, 0, 0, 0
}

func (in *Inbox) fullLocked() bool {
	return in.count >= in.cfg.MaxDeliveries || in.bytes >= in.cfg.MaxBytes
}

// expectLocked counts a message that a consumer of the inbox is going to get. in is nil for a consumer that shares none.
func (in *Inbox) expectLocked(m *message) {
	if in != nil {
		in.count++
		in.bytes += len(m.body)
	}
}

const (
	// maxUnreadReplies is how many bytes of direct replies may wait for one client, which RabbitMQ does not bound. No
	// prefetch holds replies back.
	maxUnreadReplies = 128 << 20

	// replyOverhead is how many bytes an unread reply takes besides its body and its properties, roughly.
	replyOverhead = 512
)

// unreadReplies is how many bytes of direct replies wait for a client, with what keeping them takes.
type unreadReplies int

// take counts a direct reply that is going to wait, unless too much of them is unread.
func (u *unreadReplies) take(m *message) bool {
	if *u >= maxUnreadReplies {
		return false
	}
	*u += unreadReplies(len(m.body) + m.propertiesSize() + replyOverhead)
	return true
}

func (in *Inbox) putLocked(n Notification) {
	in.items = append(in.items, n)
	if len(in.items) == 1 && in.cfg.Notify != nil {
		in.cfg.Notify()
	}
}

// putAlarmLocked puts in what tells of the memory alarm. It takes the place of what the client has not been told yet:
// only the present state matters, however often the alarm has changed.
func (in *Inbox) putAlarmLocked(n Notification) {
	if in.alarm > 0 {
		in.items[in.alarm-1] = n
		return
	}
	in.putLocked(n)
	in.alarm = len(in.items)
}

// stallLocked remembers a consumer that waits for room.
func (in *Inbox) stallLocked(c *Consumer) {
	if !c.stalled {
		c.stalled = true
		in.stalled = append(in.stalled, c)
	}
}

func (in *Inbox) unstallLocked() {
	if len(in.stalled) == 0 {
		return
	}
	waiting := in.stalled
	in.stalled = nil
	for _, c := range waiting {
		c.stalled = false
		c.resumeLocked()
	}
}
