package leveret_test

import (
	"fmt"
	"time"

	"github.com/leveretmq/leveret"
)

func ExampleMeter_Received() {
	b := leveret.New()
	defer b.Close()

	var meter leveret.Meter
	try(b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Meter: &meter}))
	meter.Received(100)
	meter.Received(20)
	traffic := b.Connections()[0].Traffic
	fmt.Println(traffic.Received, "octets in", traffic.Reads, "reads")
	// Output: 120 octets in 2 reads
}

// A client that does not read what it is sent shows in what is pending.
func ExampleMeter_Sending() {
	b := leveret.New()
	defer b.Close()

	var meter leveret.Meter
	try(b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Meter: &meter}))
	meter.Sending(100)
	fmt.Println(b.Connections()[0].Traffic.Pending)
	meter.Sent(100)
	fmt.Println(b.Connections()[0].Traffic.Pending)
	// Output:
	// 100
	// 0
}

func ExampleMeter_Sent() {
	b := leveret.New()
	defer b.Close()

	var meter leveret.Meter
	transport := leveret.Transport{Mechanism: "PLAIN", FrameMax: 131072, Heartbeat: time.Minute}
	try(b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Transport: transport, Meter: &meter}))
	meter.Sending(100)
	meter.Sent(100)
	c := b.Connections()[0]
	fmt.Println(c.Transport.Mechanism, c.Transport.Heartbeat)
	fmt.Println(c.Traffic.Sent, "octets in", c.Traffic.Writes, "writes")
	// Output:
	// PLAIN 1m0s
	// 100 octets in 1 writes
}
