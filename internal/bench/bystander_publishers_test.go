package bench_test

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
	amqp "github.com/rabbitmq/amqp091-go"
)

// rushTo names the variable of the environment with the address that TestRush publishes to.
const rushTo = "LEVERET_RUSH_TO"

const rushingConns, rushingChannels = 10, 100

func rushQueue(conn int) string { return "rush-" + strconv.Itoa(conn) }

// A rush is ten connections with a hundred channels each that publish as fast as they can for two seconds, to queues
// that drop their heads. The publishers are a process of their own: a thousand goroutines that shared the bystander's two
// processors would keep it waiting for their turns.
type rush struct {
	address string // of the listener
}

func (r *rush) make(b *testing.B) (*leveret.Broker, func()) {
	br := newBroker(b)
	server := &amqpd.Server{Broker: br}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(b, err)
	go server.Serve(l)
	b.Cleanup(func() { server.Close() })
	r.address = l.Addr().String()
	for i := range rushingConns {
		declare(b, br, rushQueue(i), leveret.Table{leveret.ArgMaxLength: 100})
	}
	publishers := exec.Command(os.Args[0], "-test.run", "^TestRush$")
	publishers.Env = append(os.Environ(), rushTo+"="+r.address)
	return br, func() {
		if out, err := publishers.CombinedOutput(); err != nil {
			b.Errorf("%v: %s", err, out)
		}
		if br.Counters().Published < rushingConns*rushingChannels {
			b.Error("the publishers have not published")
		}
	}
}

// overAMQP has the bystander share the publishers' listener.
func (r *rush) overAMQP(b *testing.B, _ *leveret.Broker) []request { return overAMQP(b, r.address) }

// TestRush is what the process of the publishers does.
func TestRush(t *testing.T) {
	address := os.Getenv(rushTo)
	if address == "" {
		t.Skip("for BenchmarkBystander")
	}
	var all sync.WaitGroup
	for i := range rushingConns {
		c, err := amqp.Dial("amqp://guest:guest@" + address + "/")
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		var channels []*amqp.Channel
		for range rushingChannels {
			ch, err := c.Channel()
			if err != nil {
				t.Fatal(err)
			}
			channels = append(channels, ch)
		}
		for _, ch := range channels {
			all.Go(func() { publishTo(ch, rushQueue(i), 2*time.Second) })
		}
	}
	all.Wait()
}

func publishTo(ch *amqp.Channel, queue string, howLong time.Duration) {
	for end := time.Now().Add(howLong); time.Now().Before(end); {
		if ch.Publish("", queue, false, false, amqp.Publishing{Body: body100}) != nil {
			return
		}
	}
}
