// Simulation plays a day of a web shop on virtual time: nine thousand orders, four workers, and a
// queue that is too short for noon and evening. One goroutine drives everything, so a seed gives
// the same day each time, in a fraction of a second.
//
// It finds what is hard to see on a drawing. Orders that die wait ten minutes in "later" and come
// back. That works for those a worker rejected. An order that overflowed or expired would come back
// without anybody having touched it: RabbitMQ takes that for a loop and drops it.
package main

import (
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"text/tabwriter"
	"time"

	"github.com/leveretmq/leveret"
)

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

const (
	seed     = 1
	workers  = 4
	handling = 20 * time.Second // on average
	failing  = 0.03             // share of attempts that end in a rejection
)

// ordersPerHour is how busy the shop is.
var ordersPerHour = [24]float64{
	60, 30, 20, 10, 10, 30, 90, 200, 350, 450, 500, 650,
	750, 600, 500, 450, 500, 600, 750, 900, 950, 600, 300, 120,
}

func run(w io.Writer) error {
	start := time.Date(2026, time.March, 2, 0, 0, 0, 0, time.UTC)
	d := &day{clock: leveret.NewManualClock(start), random: rand.New(rand.NewPCG(seed, 0))}
	d.broker = leveret.New(leveret.WithClock(d.clock), leveret.WithSeed(seed), leveret.WithEvents(d.events()))
	defer d.broker.Close()

	if err := d.open(); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "hours\torders\tserved\trejected\texpired\toverflowed\tlost\tlongest queue\tmean wait\t")
	var total figures
	for hour := 0; hour < 24; hour += 3 {
		d.row = figures{}
		d.clock.Advance(3 * time.Hour)
		d.print(t, fmt.Sprintf("%02d-%02d", hour, hour+3))
		total.add(d.row)
	}
	d.row = total
	d.print(t, "all")
	t.Flush()

	waiting := d.orders.Info().Messages + d.later.Info().Messages
	fmt.Fprintf(w, "\n%d orders = %d served + %d lost + %d still there\n", total.orders, total.served, total.lost, waiting)
	return d.broker.Check()
}

// day is the shop and its figures since the last row of the table.
type day struct {
	broker        *leveret.Broker
	clock         *leveret.ManualClock
	random        *rand.Rand
	orders, later *leveret.Queue
	row           figures
}

type figures struct {
	orders, served, rejected, expired, overflowed, lost, longest int

	wait time.Duration // of all that were served
}

func (f *figures) add(g figures) {
	f.orders += g.orders
	f.served += g.served
	f.rejected += g.rejected
	f.expired += g.expired
	f.overflowed += g.overflowed
	f.lost += g.lost
	f.longest = max(f.longest, g.longest)
	f.wait += g.wait
}

func (d *day) print(w io.Writer, name string) {
	f := d.row
	mean := (f.wait / time.Duration(max(f.served, 1))).Round(time.Second)
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t\n",
		name, f.orders, f.served, f.rejected, f.expired, f.overflowed, f.lost, f.longest, mean)
}

// events counts what happens to orders. Hooks are called in order, by the one goroutine there is.
func (d *day) events() leveret.Events {
	return leveret.Events{
		Published: func(leveret.PublishedEvent) { d.row.orders++ },
		Enqueued: func(e leveret.EnqueuedEvent) {
			if e.Queue == d.orders.Name() {
				d.row.longest = max(d.row.longest, d.orders.Info().Ready)
			}
		},
		Acked: func(e leveret.AckedEvent) {
			d.row.served++
			d.row.wait += e.Time.Sub(e.Properties.Timestamp)
		},
		DeadLettered: func(e leveret.DeadLetteredEvent) {
			switch {
			case e.Queue != d.orders.Name():
			case e.Reason == leveret.Rejected:
				d.row.rejected++
			case e.Reason == leveret.Expired:
				d.row.expired++
			case e.Reason == leveret.MaxLength:
				d.row.overflowed++
			}
		},
		Dropped: func(leveret.DroppedEvent) { d.row.lost++ },
	}
}

// open declares the queues, lets the workers in and waits for the first order.
func (d *day) open() (err error) {
	d.orders, err = d.broker.DeclareQueue("orders", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgMaxLength:            100,
		leveret.ArgMessageTTL:           8 * time.Minute,
		leveret.ArgDeadLetterExchange:   "",
		leveret.ArgDeadLetterRoutingKey: "later",
	}})
	if err != nil {
		return err
	}
	d.later, err = d.broker.DeclareQueue("later", leveret.QueueConfig{Arguments: leveret.Table{
		leveret.ArgMessageTTL:           10 * time.Minute,
		leveret.ArgDeadLetterExchange:   "",
		leveret.ArgDeadLetterRoutingKey: "orders",
	}})
	if err != nil {
		return err
	}
	for range workers {
		if _, err := d.orders.Consume(leveret.ConsumeConfig{Prefetch: 1, Handler: d.work}); err != nil {
			return err
		}
	}
	d.clock.AfterFunc(d.pause(), d.order)
	return nil
}

// order publishes an order and arranges for the next one.
func (d *day) order() {
	m := leveret.Message{Properties: &leveret.Properties{Timestamp: d.clock.Now()}}
	if _, err := d.broker.Publish("", "orders", m); err != nil {
		panic(err) // there is no way for it to fail
	}
	d.clock.AfterFunc(d.pause(), d.order)
}

// pause is the time until the next order.
func (d *day) pause() time.Duration {
	return time.Duration(d.random.ExpFloat64() / ordersPerHour[d.clock.Now().Hour()] * float64(time.Hour))
}

// work is a worker with an order, busy with it until a later time.
func (d *day) work(order *leveret.Delivery) {
	d.clock.AfterFunc(time.Duration(d.random.ExpFloat64()*float64(handling)), func() {
		if d.random.Float64() < failing {
			order.Reject(false)
			return
		}
		order.Ack()
	})
}
