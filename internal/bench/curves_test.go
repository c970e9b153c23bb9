package bench_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
)

// BenchmarkCurves measures how the cost of many things grows with their number. It prints what each
// costs of every number, and the exponent: the slope of the cost of all over their number, both as logarithms. 1 is as much for each however
// many there are, 2 is twice as much for each of twice as many. With -short there are at most 10,000. What does not fit into a processor's caches costs more without any
// fault of an algorithm: the exponents of maps and rings of these sizes are up to 1.2.
func BenchmarkCurves(b *testing.B) {
	for _, c := range []struct {
		name string
		most int // of 1,000, 10,000, … in powers of ten; of 5,000: of 50, 500, 5,000
		run  func(b *testing.B, n int) time.Duration
	}{
		{"anchor/map", 1_000_000, fillMap},
		{"policy-over-queues", 1_000_000, setPolicyOverQueues},
		{"policies", 10_000, setPolicies},
		{"import-again", 100_000, importManyAgain},
		{"consumers-served", 1_000_000, serveConsumers},
		{"consumers-leave", 1_000_000, cancelConsumers},
		{"delayed-retries", 1_000_000, retryDelayed},
		{"late-channels", 10_000, timeOutChannels},
		{"late-consumers", 10_000, timeOutConsumers},
		{"late-deliveries", 100_000, timeOutDeliveries},
		{"late-together", 10_000, timeOutTogether},
		{"deaths", 100_000, dieAgain},
		{"history-310", 5_000, dieWithHistory310}, // more does not fit into the properties of a message
		{"channels", 10_000, openChannels},
		{"users", 100_000, setUsers},
		{"publishers-at-limit", 100_000, publishAtLimit},
		{"list-queues", 1_000_000, describeQueues},
	} {
		b.Run(c.name, func(b *testing.B) {
			if testing.Short() {
				c.most = min(c.most, 10_000)
			}
			for b.Loop() {
				var line slope
				for n := fewest(c.most); n <= c.most; n *= 10 {
					all := float64(c.run(b, n))
					b.ReportMetric(all/float64(n), fmt.Sprintf("ns-each@%d", n))
					line.add(math.Log(float64(n)), math.Log(all))
				}
				b.ReportMetric(line.of(), "exponent")
			}
		})
	}
}

// fewest is where the curve of up to so many begins.
func fewest(most int) int {
	if most < 10_000 {
		return most / 100
	}
	return 1000
}

// slope is that of the straight line that is nearest to some points.
type slope struct{ n, x, y, xx, xy float64 }

func (s *slope) add(x, y float64) {
	s.n, s.x, s.y, s.xx, s.xy = s.n+1, s.x+x, s.y+y, s.xx+x*x, s.xy+x*y
}

func (s *slope) of() float64 { return (s.n*s.xy - s.x*s.y) / (s.n*s.xx - s.x*s.x) }

// took is how long f takes.
func took(f func()) time.Duration {
	t := time.Now()
	f()
	return time.Since(t)
}

func fillMap(_ *testing.B, n int) time.Duration {
	names := benchQueueNames(n)
	m := map[string]*note{}
	return took(func() {
		for _, name := range names {
			m[name] = new(note)
		}
	})
}

// fullBroker returns a broker with n queues.
func fullBroker(b *testing.B, n int) (*leveret.Broker, []string) {
	br := leveret.New()
	names := benchQueueNames(n)
	for _, name := range names {
		declare(b, br, name, nil)
	}
	return br, names
}

// setPolicyOverQueues sets a policy that matches every queue.
func setPolicyOverQueues(b *testing.B, n int) time.Duration {
	br, _ := fullBroker(b, n)
	defer br.Close()
	return took(func() {
		must(b, br.SetPolicy(leveret.Policy{Name: "p", Pattern: "^queue-", Definition: leveret.Table{"max-length": 10}}))
	})
}

// setPolicies sets n policies over a thousand queues; each queue has one.
func setPolicies(b *testing.B, n int) time.Duration {
	br, _ := fullBroker(b, 1000)
	defer br.Close()
	names := benchQueueNames(n)
	return took(func() {
		for _, name := range names {
			must(b, br.SetPolicy(leveret.Policy{Name: name, Pattern: "^" + name + "$", Definition: leveret.Table{"max-length": 10}}))
		}
	})
}

// importManyAgain imports definitions of n queues with their bindings, and a policy for every thousand, into a broker that has them.
func importManyAgain(b *testing.B, n int) time.Duration {
	br, names := fullBroker(b, n)
	defer br.Close()
	for i, name := range names {
		must(b, br.BindQueue(name, "amq.topic", name+".#", nil))
		if i%1000 == 0 {
			must(b, br.SetPolicy(leveret.Policy{Name: name, Pattern: "^" + name, Definition: leveret.Table{"max-length": 10}}))
		}
	}
	file, err := definitions.Export(br)
	must(b, err)
	return took(func() { must(b, definitions.Import(br, file)) })
}

// waitingConsumers returns a broker with n consumers of one queue.
func waitingConsumers(b *testing.B, n int) (*leveret.Broker, []*leveret.Consumer) {
	br := leveret.New()
	declare(b, br, "q", nil)
	ch := guestChannel(b, br)
	all := make([]*leveret.Consumer, n)
	for i := range all {
		c, err := ch.Consume("q", leveret.ConsumeConfig{Tag: strconv.Itoa(i), NoAck: true, Handler: func(*leveret.Delivery) {}})
		must(b, err)
		all[i] = c
	}
	return br, all
}

// serveConsumers publishes n messages to n consumers.
func serveConsumers(b *testing.B, n int) time.Duration {
	br, _ := waitingConsumers(b, n)
	defer br.Close()
	return took(func() {
		for range n {
			publish(b, br, "", "q")
		}
	})
}

// cancelConsumers cancels n consumers in random order.
func cancelConsumers(b *testing.B, n int) time.Duration {
	br, all := waitingConsumers(b, n)
	defer br.Close()
	rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	return took(func() {
		for _, c := range all {
			must(b, c.Cancel())
		}
	})
}

// declareQuorum declares the quorum queue q.
func declareQuorum(b *testing.B, br *leveret.Broker, args leveret.Table) *leveret.Queue {
	args[leveret.ArgQueueType] = "quorum"
	q, err := br.DeclareQueue("q", leveret.QueueConfig{Durable: true, Arguments: args})
	must(b, err)
	return q
}

// retryDelayed rejects n messages of a queue that delays retries, and waits until all are ready again.
func retryDelayed(b *testing.B, n int) time.Duration {
	clock := leveret.NewManualClock(time.Unix(1_700_000_000, 0))
	br := leveret.New(leveret.WithClock(clock))
	defer br.Close()
	q := declareQuorum(b, br, leveret.Table{
		leveret.ArgDelayedRetryType: "all", leveret.ArgDelayedRetryMin: 1000, leveret.ArgDelayedRetryMax: 100_000})
	held := make([]*leveret.Delivery, n)
	for i := range held {
		publish(b, br, "", "q")
		held[i] = get(b, q)
	}
	return took(func() {
		for i, d := range held {
			must(b, d.Reject(true))
			if i%100 == 0 {
				clock.Advance(time.Millisecond)
			}
		}
		clock.Advance(time.Hour)
		if ready := q.Info().Ready; ready != n {
			b.Fatal(ready, "ready")
		}
	})
}

// timeOut has n messages of some queues be late, one so long after the other. Each consumer has a channel of its own.
func timeOut(b *testing.B, n, queues, consumers int, apart time.Duration) time.Duration {
	clock := leveret.NewManualClock(time.Unix(1_700_000_000, 0))
	br := leveret.New(leveret.WithClock(clock))
	defer br.Close()
	conn, err := br.Open(leveret.ConnConfig{User: "guest", VHost: "/", ChannelMax: consumers, CancelNotify: true})
	must(b, err)
	names := benchQueueNames(queues)
	for _, name := range names {
		_, err := br.DeclareQueue(name, leveret.QueueConfig{Durable: true, Arguments: leveret.Table{leveret.ArgQueueType: leveret.QueueTypeQuorum}})
		must(b, err)
	}
	all := make([]*leveret.Consumer, consumers)
	for i := range all {
		ch, err := conn.Channel()
		must(b, err)
		all[i], err = ch.Consume(names[i%queues], leveret.ConsumeConfig{Prefetch: n / consumers, Handler: func(d *leveret.Delivery) {
			if d.Redelivered {
				b.Error("a late consumer gets more")
			}
		}})
		must(b, err)
	}
	for i := range n {
		publish(b, br, "", names[i%queues])
		clock.Advance(apart)
	}
	return took(func() {
		clock.Advance(time.Hour)
		for _, c := range all {
			if !errors.Is(c.Err(), leveret.ErrAckTimeout) {
				b.Fatal("a consumer is not late:", c.Err())
			}
		}
	})
}

// timeOutChannels has n consumers of n queues be late.
func timeOutChannels(b *testing.B, n int) time.Duration { return timeOut(b, n, n, n, time.Millisecond) }

// timeOutConsumers has n consumers of a queue be late.
func timeOutConsumers(b *testing.B, n int) time.Duration {
	return timeOut(b, n, 1, n, time.Millisecond)
}

// timeOutDeliveries has a consumer be late with n messages.
func timeOutDeliveries(b *testing.B, n int) time.Duration {
	return timeOut(b, n, 1, 1, time.Millisecond)
}

// timeOutTogether has n consumers of a queue be late at once.
func timeOutTogether(b *testing.B, n int) time.Duration { return timeOut(b, n, 1, n, 0) }

// dieAgain has a message die in n queues, one after the other.
func dieAgain(b *testing.B, n int) time.Duration {
	br := leveret.New()
	defer br.Close()
	names := benchQueueNames(n + 1)
	for i, name := range names[:n] {
		declare(b, br, name, leveret.Table{leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: names[i+1]})
	}
	declare(b, br, names[n], nil)
	publish(b, br, "", names[0])
	ch := listenerChannel(b, br)
	return took(func() {
		for _, name := range names[:n] {
			d, ok, err := ch.Get(name, leveret.GetConfig{})
			if !ok {
				b.Fatal(err)
			}
			must(b, d.Reject(false))
		}
	})
}

// dieWithHistory310 has a message with a made-up history of n entries die ten times, as RabbitMQ 3.10 has it.
func dieWithHistory310(b *testing.B, n int) time.Duration {
	br, act := withHistory310(b, n)
	defer br.Close()
	return took(act)
}

// openChannels opens n channels of a connection, and closes and opens n of them in random order.
func openChannels(b *testing.B, n int) time.Duration {
	br := leveret.New()
	defer br.Close()
	conn, err := br.Open(leveret.ConnConfig{User: "guest", VHost: "/", ChannelMax: n})
	must(b, err)
	all := make([]*leveret.Channel, n)
	r := rand.New(rand.NewPCG(1, 2))
	return took(func() {
		for i := range all {
			all[i], err = conn.Channel()
			must(b, err)
		}
		for range n {
			i := r.IntN(n)
			must(b, all[i].Close())
			all[i], err = conn.Channel()
			must(b, err)
		}
	})
}

// setUsers adds n users with their permissions, each of which connects and publishes, and deletes them.
func setUsers(b *testing.B, n int) time.Duration {
	br := leveret.New()
	defer br.Close()
	declare(b, br, "q", nil)
	hash := br.HashPassword("secret")
	return took(func() {
		for i := range n {
			name := "user-" + strconv.Itoa(i)
			must(b, br.SetUser(name, hash))
			must(b, br.SetPermissions(name, leveret.Permissions{Write: ".*"}))
			conn, err := br.Open(leveret.ConnConfig{User: name, VHost: "/"})
			must(b, err)
			ch, err := conn.Channel()
			must(b, err)
			_, err = ch.Publish("", "q", leveret.Message{Body: body100})
			must(b, err)
			must(b, conn.Close())
		}
		for i := range n {
			must(b, br.DeleteUser("user-"+strconv.Itoa(i)))
		}
	})
}

// publishAtLimit has n channels publish to a quorum queue that refuses what is over its limit, while messages come and go.
func publishAtLimit(b *testing.B, n int) time.Duration {
	br := leveret.New()
	defer br.Close()
	q := declareQuorum(b, br, leveret.Table{leveret.ArgMaxLength: 10, leveret.ArgOverflow: "reject-publish"})
	all := make([]*leveret.Channel, n)
	for i := range all {
		if i%1000 == 0 {
			conn, err := br.Open(leveret.ConnConfig{User: "guest", VHost: "/"})
			must(b, err)
			for j := i; j < min(i+1000, n); j++ {
				all[j], err = conn.Channel()
				must(b, err)
			}
		}
	}
	return took(func() {
		for i, ch := range all {
			_, err := ch.Publish("", "q", leveret.Message{Body: body100})
			must(b, err)
			if i%20 == 0 {
				if d, ok, err := q.Get(); ok {
					must(b, d.Ack())
				} else {
					must(b, err)
				}
			}
		}
	})
}

// describeQueues describes n queues, as a listing does, and writes the list as JSON.
func describeQueues(b *testing.B, n int) time.Duration {
	br, _ := fullBroker(b, n)
	defer br.Close()
	return took(func() {
		list := br.Queues()
		if len(list) != n {
			b.Fatal(len(list), "queues")
		}
		_, err := json.Marshal(list)
		must(b, err)
	})
}
