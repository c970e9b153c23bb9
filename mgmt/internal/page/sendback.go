package page

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
)

// The way back of dead letters. The first messages of a queue are taken one after the other, published to the queue in
// which each died last, and acknowledged when that queue has them. The first one that cannot go back stays at its place,
// marked as redelivered, and ends it. Only the first can be taken without a trace on others: AMQP has no way to pick a
// message from the middle of a queue.

// mostSentBack is how many messages one form may send back.
const mostSentBack = 1000

// A wayBack ends a row of messages: why the next one stays.
type wayBack struct{ reason string }

func (e *wayBack) Error() string { return e.reason }

func (v *visit) sendBack() act {
	vhost, name := v.vhostAndName()
	conn, err := v.source.Open(v.request, vhost)
	if err != nil {
		return failed(err)
	}
	defer conn.Close()
	ch, err := conn.Channel()
	if err == nil {
		err = ch.Confirm()
	}
	if err != nil {
		return failed(err)
	}
	sent, err := sendBack(ch, name, v.howMany(mostSentBack))
	switch {
	case err == nil:
		return did(some(sent) + " sent back.")
	case sent == 0:
		return failed(refusalOf(err))
	}
	return did(fmt.Sprintf("%s sent back. The next one stays: %s", some(sent), textOf(err)))
}

// refusalOf is why the first message stays, with a status.
func refusalOf(err error) error {
	var stays *wayBack
	var refused *leveret.Error
	switch {
	case errors.As(err, &stays):
		return &Refusal{http.StatusConflict, stays.reason}
	case errors.As(err, &refused):
		return &Refusal{http.StatusConflict, refused.Text()}
	}
	return err
}

// sendBack sends so many messages back at most, and none that has come to the queue since it began.
func sendBack(ch *leveret.Channel, queue string, most int) (sent int, err error) {
	for sent < most {
		d, ok, err := ch.Get(queue, leveret.GetConfig{})
		if err != nil || !ok {
			return sent, err
		}
		if sent == 0 {
			most = min(most, d.MessageCount+1)
		}
		if err := returnOne(ch, d); err != nil {
			return sent, err
		}
		sent++
	}
	return sent, nil
}

// returnOne publishes a dead letter to where it died last. What does not get there goes back to its place. An error of
// the channel has closed it, which puts the message back, too.
func returnOne(ch *leveret.Channel, d *leveret.Delivery) error {
	deaths := d.Deaths()
	if len(deaths) == 0 {
		return stay(d, "it has not died.")
	}
	to := deaths[0].Queue
	out, err := ch.Publish("", to, leveret.Message{Properties: withoutHistory(d), Body: d.Body, Mandatory: true})
	switch {
	case err != nil:
		return err
	case out.Return != nil:
		return stay(d, fmt.Sprintf("there is no queue '%s' any more.", to))
	case out.Rejected:
		return stay(d, fmt.Sprintf("queue '%s' is full.", to))
	}
	return d.Ack()
}

// stay puts a message back to its place.
func stay(d *leveret.Delivery, reason string) error {
	if err := d.Nack(true); err != nil {
		return err
	}
	return &wayBack{reason}
}

// withoutHistory returns the properties of a dead letter as those of a new message: without its deaths, and without the
// headers that would route it to other queues, too.
func withoutHistory(d *leveret.Delivery) *leveret.Properties {
	p := *d.Properties
	p.Headers, p.HeaderFields = nil, slices.Clone(d.WireHeaders())
	p.HeaderFields = slices.DeleteFunc(p.HeaderFields, func(f leveret.Field) bool {
		switch f.Name {
		case "x-death", "x-delivery-count", "x-acquired-count", "CC", "BCC":
			return true
		}
		return strings.HasPrefix(f.Name, "x-first-death-") || strings.HasPrefix(f.Name, "x-last-death-")
	})
	return &p
}
