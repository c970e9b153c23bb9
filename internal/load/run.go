package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
)

// A gate stops everybody: each step of a client and each timer of the broker holds it for reading. It is the broker's
// clock, too, which shows the same time as long as the gate is shut.
type gate struct {
	sync.RWMutex
	frozen atomic.Pointer[time.Time]
}

func (g *gate) Now() time.Time {
	if t := g.frozen.Load(); t != nil {
		return *t
	}
	return time.Now()
}

func (g *gate) AfterFunc(d time.Duration, f func()) leveret.Timer {
	return time.AfterFunc(d, func() {
		g.RLock()
		defer g.RUnlock()
		f()
	})
}

// shut waits for all steps and timers to end and stops the clock.
func (g *gate) shut() {
	g.Lock()
	now := time.Now()
	g.frozen.Store(&now)
}

func (g *gate) open() {
	g.frozen.Store(nil)
	g.Unlock()
}

// A client does one thing after the other.
type client interface {
	// step does something. It returns when the broker has answered.
	step()
	// sync returns when the broker has done everything that the client has asked for.
	sync()
	// close ends the client.
	close()
}

// A report is what came of a run.
type report struct {
	steps    int64
	compared int
	totals
	problems []string
	samples  []sample
}

func (r report) String() string {
	s := fmt.Sprintf("%d steps, %d comparisons: %v", r.steps, r.compared, r.totals)
	if len(r.problems) == 0 {
		return s + "\nevery copy is accounted for"
	}
	return s + "\n" + strings.Join(r.problems, "\n")
}

// A world is a broker with its clients.
type world struct {
	config
	gate
	ledger  *ledger
	broker  *leveret.Broker
	server  *amqpd.Server
	url     string
	clients []client
	steps   atomic.Int64
}

// patience is how long a comparison may wait for clients and timers. One that waits longer waits for ever.
const patience = 2 * time.Minute

func run(c config) report {
	w := &world{config: c, ledger: newLedger()}
	w.broker = leveret.New(leveret.WithProfile(c.profile), leveret.WithClock(&w.gate), leveret.WithEvents(w.ledger.events()))
	served := w.serve()
	w.settleIn()
	var r report
	stop := make(chan struct{})
	var working sync.WaitGroup
	for _, one := range w.clients {
		working.Go(func() { w.work(one, stop) })
	}
	debug.SetTraceback("all")
	stuck := time.AfterFunc(c.every+patience, func() { panic("load: nothing has moved for two minutes") })
	defer stuck.Stop()
	for began := time.Now(); time.Since(began) < c.duration && !w.ledger.failed(); stuck.Reset(c.every + patience) {
		time.Sleep(min(c.every, c.duration-time.Since(began)))
		w.shut()
		w.compare()
		r.compared++
		r.samples = append(r.samples, takeSample(time.Since(began)))
		w.gate.open()
		if c.progress > 0 && r.compared%c.progress == 0 {
			fmt.Printf("%v: %d steps, %v\n", time.Since(began).Round(time.Second), w.steps.Load(), w.ledger.sum())
		}
	}
	close(stop)
	working.Wait()
	w.end(served)
	r.steps, r.totals, r.problems = w.steps.Load(), w.ledger.totals, w.ledger.problems
	return r
}

// serve opens a listener for clients over TCP and returns what is closed when it has ended.
func (w *world) serve() (ended chan struct{}) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	w.server = &amqpd.Server{Broker: w.broker}
	w.url = "amqp://guest:guest@" + l.Addr().String() + "/"
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		if err := w.server.Serve(l); !errors.Is(err, amqpd.ErrServerClosed) {
			w.ledger.problem("the listener: %v", err)
		}
	}()
	return ended
}

// settleIn makes the clients. An operator's policy keeps all queues short.
func (w *world) settleIn() {
	must(w.broker.SetOperatorPolicy(leveret.Policy{Name: "bound", ApplyTo: "queues", Definition: leveret.Table{"max-length": 500}}))
	for i := range w.api {
		w.clients = append(w.clients, &apiClient{w: w, dice: w.dice(i), name: fmt.Sprint("api", i)})
	}
	for i := range w.tcp {
		w.clients = append(w.clients, &wireClient{w: w, dice: w.dice(100 + i), name: fmt.Sprint("tcp", i)})
	}
	w.clients = append(w.clients, &operator{w: w, dice: w.dice(200)})
}

func (w *world) dice(stream int) dice {
	return dice{rand.New(rand.NewPCG(w.seed, uint64(stream)))}
}

func (w *world) work(c client, stop chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		w.RLock()
		c.step()
		w.RUnlock()
		w.steps.Add(1)
	}
}

// compare compares what events have told with what the broker shows. The gate is shut.
func (w *world) compare() {
	for _, c := range w.clients {
		c.sync()
	}
	w.ledger.awaitClosed()
	w.broker.Queues() // what is due happens now
	w.broker.Settle()
	if err := w.broker.Check(); err != nil {
		w.ledger.problem("check: %v", err)
	}
	w.ledger.comparePublications()
	w.ledger.compareQueues(w.broker)
}

// end ends the clients and deletes everything: then no copy may be left.
func (w *world) end(served chan struct{}) {
	w.shut()
	defer w.gate.open()
	for _, c := range w.clients {
		c.close()
	}
	w.compare()
	must(w.broker.DeleteVHost("/"))
	w.broker.Settle()
	w.ledger.compareNothing()
	if used := w.broker.Memory().Bodies; used != 0 {
		w.ledger.problem("%d bytes are accounted for in an empty broker", used)
	}
	w.server.Close()
	w.broker.Close()
	<-served
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
