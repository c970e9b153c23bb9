package leverettest_test

import (
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"github.com/leveretmq/leveret/leverettest"
	amqp091 "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
)

// memory returns what the process uses for its heap and its goroutines, in bytes.
func memory() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc + m.StackInuse)
}

// A thousand tests at once have a broker each, with a client and a message, and each test finds its own. -v prints what
// they cost.
func TestThousandBrokers(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	const brokers = 1000
	const most = 250_000 // bytes of memory for a broker and its client
	before, goroutines := memory(), runtime.NumGoroutine()
	var working, checking sync.WaitGroup
	working.Add(brokers)
	measured := make(chan struct{})
	begin := make(chan struct{}, 50) // so many begin at once: a client that gets no processor for ten seconds counts as stuck
	for i := range brokers {
		checking.Go(func() {
			begin <- struct{}{}
			oneOfMany(t, strconv.Itoa(i), func() {
				<-begin
				working.Done()
				<-measured
			})
		})
	}
	working.Wait()
	each, running := (memory()-before)/brokers, (runtime.NumGoroutine()-goroutines)/brokers
	close(measured)
	checking.Wait()
	t.Logf("%d brokers at once, each with a client: %d kB and %d goroutines a broker", brokers, each/1000, running)
	assert.Less(t, each, most)
}

// oneOfMany is a test with a broker and a client. It waits while its message is in a queue.
func oneOfMany(t *testing.T, name string, wait func()) {
	ft := &fakeT{} // tests in parallel have one each
	defer func() {
		ft.end()
		assert.Empty(t, ft.problems)
	}()
	b := leverettest.New(ft)
	ch, err := leverettest.Dial(ft, b).Channel()
	assert.NoError(t, err)
	_, err = ch.QueueDeclare(name, false, false, false, false, nil)
	assert.NoError(t, err)
	assert.NoError(t, ch.Publish("", name, false, false, amqp091.Publishing{Body: []byte(name)}))
	leverettest.Settle(ft, b)
	wait()
	leverettest.RequireQueue(ft, b, name, leverettest.Body(name))
	assert.Len(t, b.Queues(), 1)
}

// BenchmarkBroker makes brokers as tests do, each with a client that publishes a message and gets it.
func BenchmarkBroker(b *testing.B) {
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			ft := &fakeT{}
			ch, err := leverettest.Dial(ft, leverettest.New(ft)).Channel()
			if err == nil {
				_, err = ch.QueueDeclare("q", false, false, false, false, nil)
			}
			if err == nil {
				err = ch.Publish("", "q", false, false, amqp091.Publishing{Body: []byte("x")})
			}
			if err == nil {
				_, _, err = ch.Get("q", true)
			}
			ft.end()
			if err != nil || ft.Failed() {
				b.Error(fmt.Sprint(err, ft.problems))
			}
		}
	})
}
