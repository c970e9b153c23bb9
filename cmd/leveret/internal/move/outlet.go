package move

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/leveretmq/leveret/internal/address"
	amqp "github.com/rabbitmq/amqp091-go"
)

// An outlet is where messages go to: a broker, or a dump.
type outlet interface {
	// send sends a message. The function waits until the message is safe there.
	send(l Letter) (confirmed func() error, err error)
	close() error
}

// A refusal is an error of one queue or message. The connection is good.
type refusal struct{ text string }

func (r refusal) Error() string { return r.text }

// A publication is a channel for publishes with confirms.
type publication struct {
	broker      *Broker
	ch          *amqp.Channel
	closed      chan *amqp.Error
	returns     chan amqp.Return
	returned    map[key]int // messages that came back and were not asked for yet
	router      *address.Router
	routedUntil time.Time // when the target is asked again
	impersonate bool      // the user may send any user-id
	lost        map[address.Loss]int

	mu     sync.Mutex
	reason *amqp.Error // why the channel was closed, once that is known
}

// What is known of the target's bindings may be so old, or as old as asking for it takes so many times.
const (
	topologyAge   = 5 * time.Second
	topologyShare = 10
)

// newPublication opens a channel. At most window messages are to be without confirm.
func newPublication(conn *amqp.Connection, b *Broker, window int) (p *publication, err error) {
	p = &publication{broker: b, returned: map[key]int{}, lost: map[address.Loss]int{}}
	tags, err := b.tags()
	if err != nil {
		return nil, err
	}
	p.impersonate = strings.Contains(tags, "impersonator")
	if p.ch, err = conn.Channel(); err != nil {
		return nil, err
	}
	p.closed = p.ch.NotifyClose(make(chan *amqp.Error, 1))
	p.returns = p.ch.NotifyReturn(make(chan amqp.Return, window+1))
	return p, p.ch.Confirm(false)
}

// foretell asks for the target's topology, if what is known is old.
func (p *publication) foretell() error {
	if p.router != nil && time.Now().Before(p.routedUntil) {
		return nil
	}
	began := time.Now()
	t, err := p.broker.topology()
	if err != nil {
		return err
	}
	r, err := address.New(t)
	if err != nil {
		return err
	}
	p.forget()
	p.router, p.routedUntil = r, time.Now().Add(max(topologyAge, topologyShare*time.Since(began)))
	return nil
}

func (p *publication) forget() {
	if p.router != nil {
		p.router.Close()
	}
}

func (p *publication) send(l Letter) (func() error, error) {
	if err := p.foretell(); err != nil {
		return nil, err
	}
	if !p.router.Has(l.Queue) {
		return nil, refusal{fmt.Sprintf("%v has no queue %s", p.broker, l.Queue)}
	}
	routed := l.routed()
	way := p.router.To(l.Queue, routed)
	sent, lost := l.by(way), append(way.Lost, routed.Losses()...)
	if user := l.Message.UserId; user != "" && user != p.broker.User && !p.impersonate {
		sent.Message.UserId = ""
		lost = append(lost, address.LostUserID)
	}
	for _, what := range lost {
		p.lost[what]++
	}
	const mandatory, immediate = true, false
	confirm, err := p.ch.PublishWithDeferredConfirm(sent.Exchange, sent.RoutingKey, mandatory, immediate, sent.Message)
	if err != nil {
		return nil, p.why(err)
	}
	return func() error { return p.await(confirm, sent) }, nil
}

// await returns when the broker has answered.
func (p *publication) await(confirm *amqp.DeferredConfirmation, sent Letter) error {
	<-confirm.Done()
	switch {
	case !confirm.Acked() && p.ch.IsClosed():
		return p.why(amqp.ErrClosed)
	case !confirm.Acked():
		return refusal{fmt.Sprintf("%v refused a message for queue %s: the queue is full, or not available", p.broker, sent.Queue)}
	case p.cameBack(sent):
		return refusal{fmt.Sprintf("%v has no way to queue %s any more: its topology was changed", p.broker, sent.Queue)}
	}
	return nil
}

// cameBack reports whether a message was returned. A return comes before the confirm of the same message.
func (p *publication) cameBack(sent Letter) bool {
	p.readReturns()
	if len(p.returned) == 0 {
		return false
	}
	k := publishedKey(sent)
	if p.returned[k] == 0 {
		return false
	}
	if p.returned[k]--; p.returned[k] == 0 {
		delete(p.returned, k)
	}
	return true
}

// readReturns notes the messages that have come back.
func (p *publication) readReturns() {
	for {
		select {
		case r, open := <-p.returns:
			if !open {
				return
			}
			p.returned[returnedKey(r)]++
		default:
			return
		}
	}
}

// publishedKey is what a returned message is known by. A broker returns it without BCC.
func publishedKey(l Letter) key {
	l = l.without(func(header string) bool { return header == address.BCC })
	l.Queue = ""
	return l.key()
}

func returnedKey(r amqp.Return) key {
	return publishedKey(Letter{Exchange: r.Exchange, RoutingKey: r.RoutingKey, Message: amqp.Publishing{
		Headers: r.Headers, ContentType: r.ContentType, ContentEncoding: r.ContentEncoding, DeliveryMode: r.DeliveryMode, Priority: r.Priority,
		CorrelationId: r.CorrelationId, ReplyTo: r.ReplyTo, Expiration: r.Expiration, MessageId: r.MessageId, Timestamp: r.Timestamp,
		Type: r.Type, UserId: r.UserId, AppId: r.AppId, Body: r.Body,
	}})
}

// why returns the reason for which the channel was closed, if there is one.
func (p *publication) why(err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reason == nil && p.ch.IsClosed() {
		select {
		case p.reason = <-p.closed:
		default:
		}
	}
	if p.reason != nil {
		return p.reason
	}
	return err
}

func (p *publication) close() error {
	p.forget()
	if p.ch.IsClosed() {
		return nil
	}
	return p.ch.Close()
}
