package leveret_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/leveretmq/leveret"
)

func ExampleNew() {
	b := leveret.New()
	defer b.Close()

	for _, x := range b.Exchanges() {
		fmt.Printf("%q %s\n", x.Name, x.Type)
	}
	// Output:
	// "" direct
	// "amq.direct" direct
	// "amq.fanout" fanout
	// "amq.headers" headers
	// "amq.match" headers
	// "amq.rabbitmq.trace" topic
	// "amq.topic" topic
}

func ExampleWithProfile() {
	for _, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		b := leveret.New(leveret.WithProfile(profile))
		_, err := b.DeclareExchange("x", leveret.ModulusHash, leveret.ExchangeConfig{})
		fmt.Println(err)
		check(b.Close())
	}
	// Output:
	// <nil>
	// exchange.declare: COMMAND_INVALID - unknown exchange type 'x-modulus-hash'
}

func ExampleWithClock() {
	clock := leveret.NewManualClock(noon)
	b := leveret.New(leveret.WithClock(clock))
	defer b.Close()

	q := try(b.DeclareQueue("temporary", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgExpires: 10 * time.Minute,
	}}))
	fmt.Println(q.Info().IdleDeadline.Format(time.TimeOnly))
	clock.Advance(10 * time.Minute)
	_, err := b.Queue("temporary")
	fmt.Println(errors.Is(err, leveret.ErrNotFound))
	// Output:
	// 12:10:00
	// true
}

func ExampleWithSeed() {
	for range 2 {
		b := leveret.New(leveret.WithSeed(7))
		q := try(b.DeclareQueue("", leveret.QueueConfig{}))
		fmt.Println(q.Name())
		check(b.Close())
	}
	// Output:
	// amq.gen-DkLUyuiGSQjguMdSDjYKpA
	// amq.gen-DkLUyuiGSQjguMdSDjYKpA
}

func ExampleWithMaxMessageSize() {
	b := leveret.New(leveret.WithMaxMessageSize(10))
	defer b.Close()

	_, err := b.Publish("", "q", leveret.Message{Body: []byte("far too long")})
	fmt.Println(err)
	// Output: basic.publish: PRECONDITION_FAILED - message size 12 is larger than configured max size 10
}

func ExampleWithGlobalQos() {
	for _, permitted := range []bool{true, false} {
		b := leveret.New(leveret.WithGlobalQos(permitted))
		ch := login(b)
		check(ch.Qos(leveret.QosConfig{PrefetchCount: 2, Global: true}))
		try(ch.DeclareQueue("q", leveret.QueueConfig{}))
		for range 5 {
			try(ch.Publish("", "q", leveret.Message{}))
		}
		try(ch.Consume("q", leveret.ConsumeConfig{}))
		try(ch.Consume("q", leveret.ConsumeConfig{}))
		fmt.Println(try(b.Queue("q")).Info().Unacked)
		check(b.Close())
	}
	// Output:
	// 2
	// 4
}

func ExampleBroker_PermitsGlobalQos() {
	b := leveret.New(leveret.WithGlobalQos(false))
	defer b.Close()

	fmt.Println(b.PermitsGlobalQos())
	// Output: false
}

func ExampleWithMemoryLimit() {
	b := leveret.New(leveret.WithMemoryLimit(1 << 20))
	defer b.Close()

	fmt.Printf("%+v\n", b.Memory())
	// Output: {Used:0 Bodies:0 Limit:1048576 Alarm:false Untold:0}
}

func ExampleBroker_Close() {
	b := leveret.New()
	conn := try(b.Connect("guest", "guest", "/"))
	check(b.Close())

	<-conn.Done()
	fmt.Println(conn.Err())
	_, err := b.Publish("", "q", leveret.Message{})
	fmt.Println(errors.Is(err, leveret.ErrClosed))
	// Output:
	// leveret: closed: CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'
	// true
}

// Check is for the end of tests.
func ExampleBroker_Check() {
	b := leveret.New()
	defer b.Close()

	try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{}))
	fmt.Println(b.Check())
	// Output: <nil>
}

// A program can look for a while at what a broker does.
func ExampleBroker_Watch() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{Body: []byte("before")}))
	stop := b.Watch(leveret.Events{
		Enqueued: func(e leveret.EnqueuedEvent) { fmt.Printf("enqueued: %s\n", e.Body) },
		Acked:    func(e leveret.AckedEvent) { fmt.Printf("acknowledged: %s\n", e.Body) },
	})
	try(b.Publish("", "q", leveret.Message{Body: []byte("while")}))
	check(taken(q.Get()).Ack())
	stop()
	check(taken(q.Get()).Ack())
	// Output:
	// enqueued: while
	// acknowledged: before
}

// Settle is for tests with several goroutines: what is due has happened when it returns.
func ExampleBroker_Settle() {
	expired := 0
	b := leveret.New(leveret.WithEvents(leveret.Events{
		Dropped: func(leveret.DroppedEvent) { expired++ },
	}))
	defer b.Close()

	try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{Properties: &leveret.Properties{Expiration: "0"}}))
	b.Settle()
	fmt.Println(expired)
	// Output: 1
}

// A simulation can jump from one deadline to the next.
func ExampleBroker_NextDeadline() {
	clock := leveret.NewManualClock(noon)
	b := leveret.New(leveret.WithClock(clock))
	defer b.Close()

	try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{Properties: &leveret.Properties{Expiration: "90000"}}))
	for at, ok := b.NextDeadline(); ok; at, ok = b.NextDeadline() {
		fmt.Println(at.Format(time.TimeOnly))
		clock.AdvanceTo(at)
	}
	// Output: 12:01:30
}

func ExampleManualClock_AdvanceTo() {
	clock := leveret.NewManualClock(noon)
	b := leveret.New(leveret.WithClock(clock))
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{Properties: &leveret.Properties{Expiration: "90000"}}))
	clock.AdvanceTo(noon.Add(time.Minute))
	fmt.Println(q.Info().Messages)
	clock.AdvanceTo(noon.Add(time.Hour))
	fmt.Println(q.Info().Messages)
	// Output:
	// 1
	// 0
}

// A simulation runs until nothing is left to happen, here for at most a day.
func ExampleManualClock_AdvanceUntilIdle() {
	clock := leveret.NewManualClock(noon)
	b := leveret.New(leveret.WithClock(clock))
	defer b.Close()

	try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{Properties: &leveret.Properties{Expiration: "90000"}}))
	fmt.Println(clock.AdvanceUntilIdle(b, 24*time.Hour), clock.Now().Format(time.TimeOnly))
	// Output: true 12:01:30
}

func ExampleBroker_Counters() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{}))
	try(b.Publish("", "nowhere", leveret.Message{}))
	d := taken(q.Get())
	check(d.Ack())
	c := b.Counters()
	fmt.Println(c.Published, "published,", c.Routed, "routed,", c.UnroutableDropped, "dropped,", c.Acknowledged,
		"acknowledged")
	// Output: 2 published, 1 routed, 1 dropped, 1 acknowledged
}

// Each cause of loss has a figure, and there is their sum.
func ExampleDropCounters_Total() {
	b := leveret.New()
	defer b.Close()

	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{}))
	try(b.Publish("", "nowhere", leveret.Message{}))
	try(q.Purge())
	lost := b.Counters().Dropped
	fmt.Println(lost.Unroutable, "unroutable,", lost.Purged, "purged,", lost.Total(), "in all")
	// Output: 1 unroutable, 1 purged, 2 in all
}

func ExampleBroker_Memory() {
	b := leveret.New()
	defer b.Close()

	try(b.DeclareQueue("q", leveret.QueueConfig{}))
	try(b.Publish("", "q", leveret.Message{Body: make([]byte, 1000)}))
	fmt.Println(b.Memory().Used)
	// Output: 1000
}

// Above the limit publishers are asked to wait, by Conn.Blocked and a notification.
func ExampleBroker_SetMemoryLimit() {
	clock := leveret.NewManualClock(noon)
	b := leveret.New(leveret.WithClock(clock))
	defer b.Close()

	conn := try(b.Connect("guest", "guest", "/"))
	q := try(b.DeclareQueue("q", leveret.QueueConfig{}))
	b.SetMemoryLimit(1000)
	try(b.Publish("", "q", leveret.Message{Body: make([]byte, 1001)}))
	fmt.Println(b.Memory().Alarm, conn.Blocked())
	try(q.Purge())
	clock.Advance(250 * time.Millisecond) // the alarm is on for that long at least
	fmt.Println(b.Memory().Alarm, conn.Blocked())
	// Output:
	// true true
	// false false
}

// A program that bounds all memory that it uses, not only that of messages, calls ReportMemory a few times a second.
func ExampleBroker_ReportMemory() {
	b := leveret.New(leveret.WithMemoryLimit(1 << 30))
	defer b.Close()

	b.ReportMemory(2 << 30) // for example the sum of what runtime/metrics tells
	fmt.Println(b.Memory().Alarm, b.Memory().Used, b.Memory().Bodies)
	// Output: true 2147483648 0
}

func ExampleBroker_MaxMessageSize() {
	b := leveret.New()
	defer b.Close()

	fmt.Println(b.MaxMessageSize())
	old := leveret.New(leveret.WithProfile(leveret.RabbitMQ310))
	defer old.Close()
	fmt.Println(old.MaxMessageSize())
	// Output:
	// 16777216
	// 134217728
}

func ExampleBroker_Profile() {
	b := leveret.New(leveret.WithProfile(leveret.RabbitMQ310))
	defer b.Close()

	fmt.Println(b.Profile() == leveret.RabbitMQ310)
	// Output: true
}

func ExampleProfile_Version() {
	fmt.Println(leveret.RabbitMQ43.Version(), leveret.RabbitMQ310.Version())
	// Output: 4.3.6 3.10.8
}

func ExampleBroker_CreateVHost() {
	b := leveret.New()
	defer b.Close()

	staging := try(b.CreateVHost("staging"))
	try(staging.DeclareQueue("q", leveret.QueueConfig{}))
	fmt.Println(len(staging.Queues()), len(b.Queues()))
	// Output: 1 0
}

func ExampleBroker_VHost() {
	b := leveret.New()
	defer b.Close()

	v := try(b.VHost("/"))
	fmt.Println(v.Name())
	_, err := b.VHost("staging")
	fmt.Println(errors.Is(err, leveret.ErrNotFound))
	// Output:
	// /
	// true
}

func ExampleBroker_VHosts() {
	b := leveret.New()
	defer b.Close()

	try(b.CreateVHost("staging"))
	for _, v := range b.VHosts() {
		fmt.Println(v.Name, v.DefaultQueueType)
	}
	// Output:
	// / classic
	// staging classic
}

func ExampleBroker_DeleteVHost() {
	b := leveret.New()
	defer b.Close()

	staging := try(b.CreateVHost("staging"))
	check(b.DeleteVHost("staging"))
	_, err := staging.DeclareQueue("q", leveret.QueueConfig{})
	fmt.Println(errors.Is(err, leveret.ErrClosed))
	// Output: true
}

func ExampleNewManualClock() {
	clock := leveret.NewManualClock(noon)
	fmt.Println(clock.Now().Format(time.TimeOnly))
	// Output: 12:00:00
}

func ExampleManualClock_Now() {
	clock := leveret.NewManualClock(noon)
	clock.Advance(time.Minute)
	fmt.Println(clock.Now().Format(time.TimeOnly))
	// Output: 12:01:00
}

func ExampleManualClock_AfterFunc() {
	clock := leveret.NewManualClock(noon)
	clock.AfterFunc(time.Second, func() { fmt.Println(clock.Now().Format(time.TimeOnly)) })
	never := clock.AfterFunc(time.Minute, func() { fmt.Println("never") })
	fmt.Println(never.Stop())
	clock.Advance(time.Hour)
	// Output:
	// true
	// 12:00:01
}

func ExampleCode_String() {
	fmt.Println(leveret.PreconditionFailed, uint16(leveret.PreconditionFailed))
	// Output: PRECONDITION_FAILED 406
}

func ExampleCode_Error() {
	err := error(leveret.NotFound)
	fmt.Println(err, err == leveret.ErrNotFound)
	// Output: NOT_FOUND true
}

func ExampleCode_ClosesConnection() {
	fmt.Println(leveret.NotFound.ClosesConnection(), leveret.NotAllowed.ClosesConnection())
	// Output: false true
}

func ExampleError_Error() {
	b := leveret.New()
	defer b.Close()

	_, err := b.Queue("q")
	fmt.Println(err)
	// Output: queue.declare: NOT_FOUND - no queue 'q' in vhost '/'
}

func ExampleError_Is() {
	b := leveret.New()
	defer b.Close()

	_, err := b.Queue("q")
	fmt.Println(errors.Is(err, leveret.NotFound), errors.Is(err, leveret.ErrNotFound),
		errors.Is(err, leveret.ErrAccessRefused))
	// Output: true true false
}

func ExampleError_Text() {
	err := &leveret.Error{Code: leveret.NotFound, Op: "queue.declare", Reason: "no queue 'q' in vhost '/'"}
	fmt.Println(err.Text())
	// Output: NOT_FOUND - no queue 'q' in vhost '/'
}

func ExampleError_ClosesConnection() {
	b := leveret.New()
	defer b.Close()

	_, err := b.Connect("guest", "wrong", "/")
	var refusal *leveret.Error
	if errors.As(err, &refusal) {
		fmt.Println(refusal.Code, refusal.ClosesConnection())
	}
	// Output: ACCESS_REFUSED true
}
