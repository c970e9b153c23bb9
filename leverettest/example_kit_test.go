package leverettest_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/leverettest"
	amqp091 "github.com/rabbitmq/amqp091-go"
)

// recorded returns a recorded broker with two queues: what is rejected in "work" goes to "parked". It holds one order in each.
func recorded(t *fakeT) (*leveret.Broker, *leverettest.Recorder) {
	b := leverettest.New(t)
	rec := leverettest.Record(t, b)
	b.DeclareQueue("work", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "parked",
	}})
	b.DeclareQueue("parked", leveret.QueueConfig{})
	for _, id := range []string{"17", "18"} {
		b.Publish("", "work", leveret.Message{
			Properties: &leveret.Properties{MessageID: id, Headers: leveret.Table{"tenant": "a"}},
			Body:       []byte(`{"order": ` + id + `}`),
		})
	}
	work, _ := b.Queue("work")
	d, _, _ := work.Get()
	d.Reject(false)
	return b, rec
}

func ExampleDialer() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	cfg := amqp091.Config{Dial: leverettest.Dialer(t, leverettest.New(t))}
	conn, err := amqp091.DialConfig("amqp://guest:guest@rabbitmq.example/", cfg)
	fmt.Println(conn.Properties["product"], err)
	// Output: RabbitMQ <nil>
}

func ExampleURL() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	conn, err := amqp091.Dial(leverettest.URL(t, leverettest.New(t)))
	fmt.Println(conn.Properties["product"], err)
	// Output: RabbitMQ <nil>
}

func ExampleTLSDialer() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	ca := leverettest.NewAuthority(t)
	cfg := amqp091.Config{
		Dial:            leverettest.TLSDialer(t, leverettest.New(t), ca.Server()),
		TLSClientConfig: ca.Client(""),
	}
	conn, err := amqp091.DialConfig("amqps://guest:guest@rabbitmq.example/", cfg)
	fmt.Println(conn.Properties["product"], err)
	// Output: RabbitMQ <nil>
}

func ExampleTLSURL() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	ca, b := leverettest.NewAuthority(t), leverettest.New(t)
	_, err := amqp091.DialTLS(leverettest.TLSURL(t, b, ca.Server()), ca.Client(""))
	fmt.Println(b.Connections()[0].Transport.TLS.Version, err)
	// Output: TLS 1.3 <nil>
}

func ExampleNewAuthority() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	ca := leverettest.NewAuthority(t)
	conn, err := amqp091.DialTLS(leverettest.TLSURL(t, leverettest.New(t), ca.Server()), ca.Client(""))
	fmt.Println(conn != nil, err)
	// Output: true <nil>
}

// A client that has no certificate of the authority is turned away.
func ExampleAuthority_Server() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	ca := leverettest.NewAuthority(t)
	server := ca.Server()
	server.ClientAuth = tls.RequireAndVerifyClientCert
	url := leverettest.TLSURL(t, leverettest.New(t), server)
	_, err := amqp091.DialTLS(url, ca.Client("ann"))
	fmt.Println(err)
	_, err = amqp091.DialTLS(url, ca.Client(""))
	fmt.Println(err != nil)
	// Output:
	// <nil>
	// true
}

// A client logs in by its certificate.
func ExampleAuthority_Client() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	ca, b := leverettest.NewAuthority(t), leverettest.New(t)
	b.AddUser("CN=ann", "unused")
	b.SetPermissions("CN=ann", leveret.Permissions{Configure: ".*", Write: ".*", Read: ".*"})
	cfg := amqp091.Config{
		Dial:            leverettest.TLSDialer(t, b, ca.Server()),
		TLSClientConfig: ca.Client("ann"),
		SASL:            []amqp091.Authentication{&amqp091.ExternalAuth{}},
	}
	_, err := amqp091.DialConfig("amqps://rabbitmq.example/", cfg)
	fmt.Println(b.Connections()[0].User, err)
	// Output: CN=ann <nil>
}

func ExampleAuthority_WriteFiles() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	dir, _ := os.MkdirTemp("", "") // in a test, t.TempDir()
	defer os.RemoveAll(dir)
	leverettest.NewAuthority(t).WriteFiles(t, dir, "ann")
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, file := range files {
		fmt.Println(filepath.Base(file))
	}
	// Output:
	// ca.pem
	// cert.pem
	// key.pem
}

func ExampleStrict() {
	t := &fakeT{} // in a test, its *testing.T

	b := leverettest.New(t)
	leverettest.Strict(t, b, "parked") // which may hold messages
	b.DeclareQueue("work", leveret.QueueConfig{})
	b.DeclareQueue("parked", leveret.QueueConfig{})
	b.Publish("", "work", leveret.Message{Body: []byte("order 17")})
	b.Publish("", "parked", leveret.Message{Body: []byte("order 18")})

	t.end() // as the test ends
	text, _, _ := strings.Cut(t.problems[0], "\n")
	fmt.Println(text)
	// Output: leveret: Strict: the test has left messages: work: 1 ready, 0 unacknowledged, 0 waiting
}

func ExampleManagement() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b := leverettest.New(t)
	b.DeclareQueue("work", leveret.QueueConfig{})
	res, err := http.Get(leverettest.Management(t, b) + "/api/queues?columns=name")
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer res.Body.Close()
	answer, _ := io.ReadAll(res.Body)
	fmt.Printf("%s", answer)
	// Output: [{"name":"work"}]
}

// The client needs no socket, so it works in a synctest bubble.
func ExampleManagementClient() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b := leverettest.New(t)
	policy := `{"pattern": "^work", "definition": {"max-length": 10}, "apply-to": "queues"}`
	req, _ := http.NewRequest("PUT", "http://guest:guest@rabbitmq/api/policies/%2F/short", strings.NewReader(policy))
	res, err := leverettest.ManagementClient(b).Do(req)
	if err != nil {
		t.Fatalf("%v", err)
	}
	fmt.Println(res.Status, b.Policies()[0].Name)
	// Output: 201 Created short
}

// Outside of a synctest bubble the client works beside the test.
func ExampleSettle() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	clock := leveret.NewManualClock(time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC))
	b := leverettest.New(t, leveret.WithClock(clock))
	ch, _ := leverettest.Dial(t, b).Channel()
	ch.QueueDeclare("work", false, false, false, false, nil)
	ch.Publish("", "work", false, false, amqp091.Publishing{Expiration: "60000"})
	leverettest.Settle(t, b)
	leverettest.RequireCount(t, b, "work", 1)
	clock.Advance(time.Minute)
	leverettest.RequireCount(t, b, "work", 0)
	fmt.Println(clock.Now().Format(time.TimeOnly))
	// Output: 10:01:00
}

// publisher returns a broker with a queue "work", and a client's channel in confirm mode.
func publisher(t *fakeT) (*leveret.Broker, *amqp091.Channel) {
	b := leverettest.New(t)
	b.DeclareQueue("work", leveret.QueueConfig{})
	ch, _ := leverettest.Dial(t, b).Channel()
	ch.Confirm(false)
	return b, ch
}

// publish publishes and waits for the confirm.
func publish(ch *amqp091.Channel, body string) (ack bool) {
	confirm, err := ch.PublishWithDeferredConfirm("", "work", false, false, amqp091.Publishing{Body: []byte(body)})
	return err == nil && confirm.Wait()
}

func ExampleInject() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b, ch := publisher(t)
	lift := leverettest.Inject(t, b, leverettest.Fault{
		On: leverettest.OnPublish, Match: leverettest.Body("order 17"), Do: leverettest.Nack(), Keep: true,
	})
	fmt.Println(publish(ch, "order 16"), publish(ch, "order 17"))
	lift()
	fmt.Println(publish(ch, "order 17"))
	// Output:
	// true false
	// true
}

func ExampleNack() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b, ch := publisher(t)
	leverettest.Inject(t, b, leverettest.Fault{On: leverettest.OnPublish, Nth: 2, Do: leverettest.Nack()})
	fmt.Println(publish(ch, "order 1"), publish(ch, "order 2"), publish(ch, "order 3"))
	// Output: true false true
}

// The broker has the message, and its publisher cannot know.
func ExampleCut() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b, ch := publisher(t)
	leverettest.Inject(t, b, leverettest.Fault{On: leverettest.OnConfirm, Do: leverettest.Cut()})
	fmt.Println(publish(ch, "order 1"))
	leverettest.RequireQueue(t, b, "work", leverettest.Body("order 1"))
	// Output: false
}

func ExampleCloseChannel() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b, ch := publisher(t)
	leverettest.Inject(t, b, leverettest.Fault{
		On: leverettest.OnPublish, Do: leverettest.CloseChannel(leveret.NotFound, "NOT_FOUND - no exchange 'orders' in vhost '/'"),
	})
	closed := ch.NotifyClose(make(chan *amqp091.Error, 1))
	publish(ch, "order 1")
	fmt.Println(<-closed)
	// Output: Exception (404) Reason: "NOT_FOUND - no exchange 'orders' in vhost '/'"
}

func ExampleCloseConnection() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b := leverettest.New(t)
	b.DeclareQueue("work", leveret.QueueConfig{})
	b.Publish("", "work", leveret.Message{Body: []byte("order 1")})
	leverettest.Inject(t, b, leverettest.Fault{
		On: leverettest.OnDeliver, Do: leverettest.CloseConnection(leveret.ConnectionForced, "CONNECTION_FORCED - maintenance"),
	})
	conn := leverettest.Dial(t, b)
	closed := conn.NotifyClose(make(chan *amqp091.Error, 1))
	ch, _ := conn.Channel()
	ch.Get("work", false)
	fmt.Println(<-closed)
	leverettest.RequireQueue(t, b, "work", leverettest.Body("order 1"))
	// Output: Exception (320) Reason: "CONNECTION_FORCED - maintenance"
}

func ExampleBlock() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b := leverettest.New(t)
	conn := leverettest.Dial(t, b)
	blocked := conn.NotifyBlocked(make(chan amqp091.Blocking, 2))
	ch, _ := conn.Channel()
	unblock := leverettest.Inject(t, b, leverettest.Fault{On: leverettest.OnPublish, Nth: 100, Do: leverettest.Block()})
	for range 100 {
		ch.Publish("", "work", false, false, amqp091.Publishing{})
	}
	fmt.Println(<-blocked)
	unblock()
	fmt.Println(<-blocked)
	// Output:
	// {true low on memory}
	// {false }
}

func ExampleCancelConsumer() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b := leverettest.New(t)
	b.DeclareQueue("work", leveret.QueueConfig{})
	b.Publish("", "work", leveret.Message{Body: []byte("order 1")})
	leverettest.Inject(t, b, leverettest.Fault{On: leverettest.OnDeliver, Do: leverettest.CancelConsumer()})
	ch, _ := leverettest.Dial(t, b).Channel()
	deliveries, _ := ch.Consume("work", "", true, false, false, false, nil)
	for d := range deliveries { // ends with the consumer
		fmt.Printf("%s\n", d.Body)
	}
	// Output: order 1
}

func ExampleStall() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b, ch := publisher(t)
	goOn := leverettest.Inject(t, b, leverettest.Fault{On: leverettest.OnPublish, Nth: 2, Do: leverettest.Stall()})
	publish(ch, "order 1")
	confirm, _ := ch.PublishWithDeferredConfirm("", "work", false, false, amqp091.Publishing{Body: []byte("order 2")})
	leverettest.RequireQueue(t, b, "work", leverettest.Body("order 1"))
	goOn()
	fmt.Println(confirm.Wait())
	// Output: true
}

// The broker has a message that is persistent, and its publisher cannot know.
func ExampleRestart() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b := leverettest.New(t)
	b.DeclareQueue("work", leveret.QueueConfig{Durable: true})
	conn := leverettest.Dial(t, b)
	closed := conn.NotifyClose(make(chan *amqp091.Error, 1))
	ch, _ := conn.Channel()
	ch.Confirm(false)
	leverettest.Inject(t, b, leverettest.Fault{On: leverettest.OnConfirm, Do: leverettest.Restart(leveret.StoppedNode)})
	ch.Publish("", "work", false, false, amqp091.Publishing{Body: []byte("order 1"), DeliveryMode: amqp091.Persistent})
	fmt.Println(<-closed)
	leverettest.RequireQueue(t, b, "work", leverettest.Body("order 1"))
	// Output: Exception (320) Reason: "CONNECTION_FORCED - broker forced connection closure with reason 'shutdown'"
}

func ExampleLoad() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()
	file := filepath.Join(os.TempDir(), "example-definitions.json")
	os.WriteFile(file, []byte(`{"queues": [{"vhost": "/", "name": "work", "durable": true}]}`), 0o600)
	defer os.Remove(file)

	b := leverettest.New(t)
	leverettest.Load(t, b, file)
	fmt.Println(b.Queues()[0].Name)
	// Output: work
}

func ExampleRecord() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b := leverettest.New(t)
	rec := leverettest.Record(t, b)
	b.Publish("", "work", leveret.Message{Body: []byte("order 17")})
	fmt.Print(rec.Journey())
	// Output:
	// message 1, "order 17"
	//           0s  published to the default exchange with key "work" → no queue
	// ✗         0s  LOST: the default exchange led to no queue with key "work"
}

func ExampleKeepIf() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b := leverettest.New(t)
	rec := leverettest.Record(t, b, leverettest.KeepIf(func(m leveret.EventMessage) bool { return m.RoutingKey == "work" }))
	b.Publish("", "work", leveret.Message{})
	b.Publish("", "other", leveret.Message{})
	fmt.Println(len(rec.Journeys()))
	// Output: 1
}

func ExampleKeepLast() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b := leverettest.New(t)
	rec := leverettest.Record(t, b, leverettest.KeepLast(1))
	b.Publish("", "work", leveret.Message{})
	b.Publish("", "other", leveret.Message{})
	fmt.Println(rec.Journey().Message, len(rec.Journeys()))
	// Output: 2 1
}

func ExampleRecorder_Journeys() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	_, rec := recorded(t)
	fmt.Println(len(rec.Journeys(leverettest.Header("tenant", "a"))))
	// Output: 2
}

func ExampleRecorder_Journey() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	_, rec := recorded(t)
	fmt.Println(rec.Journey(leverettest.MessageID("17")).In()[0].Queue)
	// Output: parked
}

func ExampleRecorder_Timeline() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b := leverettest.New(t)
	rec := leverettest.Record(t, b)
	b.DeclareQueue("work", leveret.QueueConfig{})
	b.Publish("", "work", leveret.Message{})
	b.PurgeQueue("work")
	fmt.Print(len(rec.Timeline()) > 0)
	// Output: true
}

func ExampleBody() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b, _ := recorded(t)
	leverettest.RequireQueue(t, b, "work", leverettest.Body(`{"order": 18}`))
	fmt.Println(t.Failed())
	// Output: false
}

func ExampleJSON() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b, _ := recorded(t)
	leverettest.RequireQueue(t, b, "work", leverettest.JSON(map[string]any{"order": 18}))
	fmt.Println(t.Failed())
	// Output: false
}

func ExampleKey() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b, _ := recorded(t)
	leverettest.RequireQueue(t, b, "parked", leverettest.Key("parked"))
	fmt.Println(t.Failed())
	// Output: false
}

func ExampleMessageID() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b, _ := recorded(t)
	leverettest.RequireQueue(t, b, "work", leverettest.MessageID("18"))
	fmt.Println(t.Failed())
	// Output: false
}

func ExampleHeader() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b, _ := recorded(t)
	leverettest.RequireQueue(t, b, "work", leverettest.Header("tenant", "a"))
	fmt.Println(t.Failed())
	// Output: false
}

func ExampleDied() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b, _ := recorded(t)
	leverettest.RequireQueue(t, b, "parked", leverettest.Died("work", leveret.Rejected, 1))
	fmt.Println(t.Failed())
	// Output: false
}

func ExampleAll() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b, _ := recorded(t)
	leverettest.RequireQueue(t, b, "work", leverettest.All(leverettest.MessageID("18"), leverettest.Header("tenant", "a")))
	fmt.Println(t.Failed())
	// Output: false
}

func ExampleAny() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b, _ := recorded(t)
	leverettest.RequireQueue(t, b, "work", leverettest.Any())
	fmt.Println(t.Failed())
	// Output: false
}

func ExampleRequireQueue() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b, _ := recorded(t)
	leverettest.RequireQueue(t, b, "parked", leverettest.MessageID("17"))
	fmt.Println(t.Failed())
	// Output: false
}

func ExampleRequireQueueAnyOrder() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b, _ := recorded(t)
	leverettest.RequireQueueAnyOrder(t, b, "parked", leverettest.MessageID("17"))
	fmt.Println(t.Failed())
	// Output: false
}

func ExampleRequireCount() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b, _ := recorded(t)
	leverettest.RequireCount(t, b, "work", 1)
	fmt.Println(t.Failed())
	// Output: false
}

func ExampleRequireDeadLettered() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b, _ := recorded(t)
	leverettest.RequireDeadLettered(t, b, "work", leverettest.Deaths{Reason: leveret.Rejected, Times: 1, To: []string{"parked"}})
	fmt.Println(t.Failed())
	// Output: false
}

func ExampleRequireNoLoss() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b, _ := recorded(t)
	leverettest.RequireNoLoss(t, b)
	fmt.Println(t.Failed())
	// Output: false
}

func ExampleRequireDrained() {
	t := &fakeT{} // in a test, its *testing.T
	defer t.end()

	b, _ := recorded(t)
	b.PurgeQueue("work")
	b.PurgeQueue("parked")
	leverettest.RequireDrained(t, b)
	fmt.Println(t.Failed())
	// Output: false
}
