package journey_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/graph"
	"github.com/leveretmq/leveret/journey"
)

// recorded returns a recorded broker with two queues: what is rejected in "work" goes to "parked". It holds one order in
// each.
func recorded() (*leveret.Broker, *journey.Recorder) {
	b := leveret.New(leveret.WithClock(leveret.NewManualClock(time.Unix(0, 0))))
	rec := journey.Record(b, journey.Config{})
	b.DeclareQueue("work", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "parked",
	}})
	b.DeclareQueue("parked", leveret.QueueConfig{})
	for _, body := range []string{"order 17", "order 18"} {
		b.Publish("", "work", leveret.Message{Body: []byte(body)})
	}
	work, _ := b.Queue("work")
	d, _, _ := work.Get()
	d.Reject(false)
	return b, rec
}

func ExampleRecord() {
	b := leveret.New()
	defer b.Close()
	orders := func(m leveret.EventMessage) bool { return m.Exchange == "orders" }
	rec := journey.Record(b, journey.Config{Keep: orders, Last: 100})
	b.Publish("", "work", leveret.Message{}) // not to the exchange that is recorded
	fmt.Println(len(rec.Journeys()))
	// Output: 0
}

func ExampleRecorder_Stop() {
	b, rec := recorded()
	defer b.Close()
	rec.Stop()
	b.Publish("", "work", leveret.Message{})
	fmt.Println(len(rec.Journeys()))
	// Output: 2
}

func ExampleRecorder_Journeys() {
	b, rec := recorded()
	defer b.Close()
	fmt.Print(rec.Journeys()[0])
	// Output:
	// message 1, "order 17"
	//           0s  published to the default exchange with key "work" → work
	//           0s  enqueued in work
	//           0s  delivered from work to basic.get
	//           0s  rejected in work
	//           0s  died in work (rejected) → the default exchange with key "parked" → parked
	//           0s     enqueued in parked
	//          now     is in parked, ready
}

func ExampleRecorder_Published() {
	b, rec := recorded()
	defer b.Close()
	fmt.Println(rec.Published()[1].Queues)
	// Output: [work]
}

func ExampleRecorder_Returned() {
	b, rec := recorded()
	defer b.Close()
	b.Publish("", "nowhere", leveret.Message{Mandatory: true})
	fmt.Println(rec.Returned()[0].RoutingKey)
	// Output: nowhere
}

func ExampleRecorder_Acked() {
	b, rec := recorded()
	defer b.Close()
	parked, _ := b.Queue("parked")
	d, _, _ := parked.Get()
	d.Ack()
	fmt.Println(rec.Acked()[0].Queue)
	// Output: parked
}

func ExampleRecorder_Requeued() {
	b, rec := recorded()
	defer b.Close()
	parked, _ := b.Queue("parked")
	d, _, _ := parked.Get()
	d.Nack(true)
	fmt.Println(rec.Requeued()[0].Queue)
	// Output: parked
}

func ExampleRecorder_Rejected() {
	b, rec := recorded()
	defer b.Close()
	fmt.Println(rec.Rejected()[0].Queue)
	// Output: work
}

func ExampleRecorder_DeadLettered() {
	b, rec := recorded()
	defer b.Close()
	fmt.Println(rec.DeadLettered()[0].Reason, rec.DeadLettered()[0].Queues)
	// Output: rejected [parked]
}

func ExampleRecorder_Dropped() {
	b, rec := recorded()
	defer b.Close()
	b.PurgeQueue("parked")
	fmt.Println(rec.Dropped()[0].Cause)
	// Output: purged
}

func ExampleTimeline() {
	b, rec := recorded()
	defer b.Close()
	b.PurgeQueue("parked")
	fmt.Print(journey.Timeline(rec.Journeys()))
	// Output:
	//      1           0s  published to the default exchange with key "work" → work
	//      1           0s  enqueued in work
	//      2           0s  published to the default exchange with key "work" → work
	//      2           0s  enqueued in work
	//      1           0s  delivered from work to basic.get
	//      1           0s  rejected in work
	//      1           0s  died in work (rejected) → the default exchange with key "parked" → parked
	//      1           0s     enqueued in parked
	//      1 ✗         0s     LOST: parked was purged
}

func ExampleJourney_Published() {
	b, rec := recorded()
	defer b.Close()
	fmt.Println(rec.Journeys()[0].Published().RoutingKey)
	// Output: work
}

func ExampleJourney_Lost() {
	b, rec := recorded()
	defer b.Close()
	b.PurgeQueue("parked")
	fmt.Println(rec.Journeys()[0].Lost()[0].Cause)
	// Output: purged
}

func ExampleJourney_In() {
	b, rec := recorded()
	defer b.Close()
	fmt.Println(rec.Journeys()[1].In()[0].Queue)
	// Output: work
}

func ExampleJourney_Deaths() {
	b, rec := recorded()
	defer b.Close()
	d := rec.Journeys()[0].Deaths()[0]
	fmt.Println(d.Queue, d.Reason, d.Count)
	// Output: work rejected 1
}

func ExampleJourney_String() {
	b, rec := recorded()
	defer b.Close()
	b.PurgeQueue("work")
	fmt.Print(rec.Journeys()[1].String())
	// Output:
	// message 2, "order 18"
	//           0s  published to the default exchange with key "work" → work
	//           0s  enqueued in work
	// ✗         0s  LOST: work was purged
}

func ExampleJourney_Ends() {
	b, rec := recorded()
	defer b.Close()
	fmt.Println(rec.Journeys()[0].Ends().Waiting)
	// Output: 1
}

func ExampleEnds_Well() {
	b, rec := recorded()
	defer b.Close()
	before := rec.Journeys()[0].Ends()
	b.PurgeQueue("parked")
	fmt.Println(before.Well(), rec.Journeys()[0].Ends().Well())
	// Output: true false
}

func ExampleEnds_String() {
	fmt.Println(journey.Ends{Acked: 1, Lost: 2})
	// Output: 1 acknowledged, 2 lost
}

// A journey is drawn by package graph; it and what is in it are written as JSON by encoding/json.
func ExampleJourney() {
	b, rec := recorded()
	defer b.Close()
	j := rec.Journeys()[1]
	fmt.Println(len(graph.OfEvents(j.Events).Nodes), "boxes")
	text, err := json.Marshal(j.In())
	fmt.Println(string(text), err)
	// Output:
	// 2 boxes
	// [{"queue":"work","copy":2,"unacked":false}] <nil>
}
