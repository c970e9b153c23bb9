package bench_test

import (
	"errors"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	amqp "github.com/rabbitmq/amqp091-go"
)

// A request is something that a bystander asks for and waits for.
type request func() error

// A bystander asks for small things in turn.
type bystander struct {
	requests []request
	longest  time.Duration
	late     time.Duration
	err      error
}

var errNotThere = errors.New("the message is not there")

// inProcess returns the requests of a program that uses the broker as a library.
func inProcess(b *testing.B, br *leveret.Broker) []request {
	ch := guestChannel(b, br)
	_, err := ch.DeclareQueue("bystander", leveret.QueueConfig{Durable: true})
	must(b, err)
	return []request{
		func() error {
			_, err := ch.Publish("", "bystander", leveret.Message{Body: body100})
			return err
		},
		func() error {
			_, ok, err := ch.Get("bystander", leveret.GetConfig{NoAck: true})
			return missing(ok, err)
		},
		func() error {
			_, err := ch.CheckQueue("bystander")
			return err
		},
	}
}

// overAMQP returns the requests of a client of the listener at address.
func overAMQP(b *testing.B, address string) []request {
	c, err := amqp.Dial("amqp://guest:guest@" + address + "/")
	must(b, err)
	b.Cleanup(func() { c.Close() })
	ch, err := c.Channel()
	must(b, err)
	_, err = ch.QueueDeclare("bystander", true, false, false, false, nil)
	must(b, err)
	return []request{
		func() error {
			if err := ch.Publish("", "bystander", false, false, amqp.Publishing{Body: body100}); err != nil {
				return err
			}
			_, ok, err := ch.Get("bystander", true)
			return missing(ok, err)
		},
		func() error {
			_, err := ch.QueueDeclarePassive("bystander", true, false, false, false, nil)
			return err
		},
	}
}

func missing(ok bool, err error) error {
	if err == nil && !ok {
		return errNotThere
	}
	return err
}

// stand starts a bystander, which stop ends and returns. The bystander asks before stand returns, and once more after
// stop is called: what is left behind, and what takes less time than the bystander sleeps, counts too.
func stand(b *testing.B, requests []request) (stop func() *bystander) {
	by := &bystander{requests: requests}
	by.askAll()
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for by.sleep(done) {
			by.askAll()
		}
		by.askAll()
	}()
	return func() *bystander {
		close(done)
		<-ended
		must(b, by.err)
		return by
	}
}

// sleep waits for a moment and returns false if done is closed before.
func (by *bystander) sleep(done <-chan struct{}) bool {
	const pause = 100 * time.Microsecond
	begin := time.Now()
	select {
	case <-done:
		return false
	case <-time.After(pause):
		by.late = max(by.late, time.Since(begin)-pause)
		return true
	}
}

func (by *bystander) askAll() {
	for _, ask := range by.requests {
		begin := time.Now()
		if err := ask(); err != nil {
			by.err = err
		}
		by.longest = max(by.longest, time.Since(begin))
	}
}
