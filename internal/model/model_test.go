package model_test

// What the model holds. Its functions are in the other files: queues, consumers, settling, deaths, routing, policies.

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
	next       *mEntry   // of delayed: what is ready first
	consumers  []*mConsumer
	rotation   []*mConsumer // those that can be served, next first
	active     *mConsumer
	quiescing  bool         // the active one is given nothing more
	clients    []*mChannel  // QQ: that have got or consumed
	stopped    map[any]bool // QQ: publishers (channels, queues), and whether they were told to stop
	pending    []*mPending  // QQ: at-least-once dead letters
	lookAt     int64        // when they are looked at; 0: there are none
	hurried    bool         // they are looked at next, because a policy has changed
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
	settling int // of those, what the channel of a no-ack consumer settles
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
	ended   []*mQueue // quorum queues whose end the transaction does not notice
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

	settled *mConsumer // what it got without acknowledgement is settled
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
	busy      map[any]bool     // publishers that send several messages at once
	told      map[any][]func() // what they hear afterwards
	routing   routeHint        // the message that is being routed, for order
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

func newModel() *model {
	m := &model{now: 1, busy: map[any]bool{}, told: map[any][]func(){}}
	for _, x := range [][2]string{
		{"", "direct"}, {"amq.direct", "direct"}, {"amq.fanout", "fanout"}, {"amq.topic", "topic"},
		{"amq.headers", "headers"}, {"amq.match", "headers"},
	} {
		m.exchanges = append(m.exchanges, &mExchange{name: x[0], kind: x[1]})
	}
	return m
}
