package conformance

import (
	"os"
	"testing"

	"github.com/leveretmq/leveret/internal/scenario"
)

// TestScenarios runs every scenario against the broker that two environment variables name:
// LEVERET_CONFORMANCE_AMQP, such as amqp://guest:guest@localhost:5672/, and LEVERET_CONFORMANCE_HTTP, its
// management API, such as http://guest:guest@localhost:15672. Its version chooses the expectations.
func TestScenarios(t *testing.T) {
	amqpURL, httpURL := os.Getenv("LEVERET_CONFORMANCE_AMQP"), os.Getenv("LEVERET_CONFORMANCE_HTTP")
	if amqpURL == "" || httpURL == "" {
		t.Skip("no broker to compare with: set LEVERET_CONFORMANCE_AMQP and LEVERET_CONFORMANCE_HTTP")
	}
	broker, err := Open(amqpURL, httpURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("RabbitMQ %s", broker.Version)
	scripts, err := scenario.Load(os.DirFS("../testdata/scenarios"))
	if err != nil {
		t.Fatal(err)
	}
	slots := make(chan bool, parallel)
	for _, s := range scripts {
		if s.For(broker.Release(), "amqp") {
			t.Run(s.Name, func(t *testing.T) {
				t.Parallel()
				slots <- true
				defer func() { <-slots }()
				runOn(t, broker, s)
			})
		}
	}
}

// parallel is how many scenarios run at once, each in a virtual host of its own. Most of their time is waiting.
const parallel = 10

func runOn(t *testing.T, broker *Broker, s *scenario.Script) {
	door, err := broker.Door()
	if err != nil {
		t.Fatal(err)
	}
	defer door.Close()
	l, err := scenario.Run(s, door)
	if err != nil {
		t.Fatal(err)
	}
	if diff := l.Diff(); diff != "" {
		t.Error("\n" + diff)
	}
}
