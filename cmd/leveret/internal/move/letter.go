package move

import (
	"crypto/sha256"
	"encoding/json"
	"maps"

	"github.com/leveretmq/leveret/internal/address"
	amqp "github.com/rabbitmq/amqp091-go"
)

// A Letter is a message on its way, with the queue that it was in.
type Letter struct {
	Queue                string
	Exchange, RoutingKey string // to which the message was published
	Redelivered          bool
	Message              amqp.Publishing
}

// letterOf returns the message of a delivery.
func letterOf(q queueInfo, d amqp.Delivery) Letter {
	l := Letter{Queue: q.Name, Exchange: d.Exchange, RoutingKey: d.RoutingKey, Redelivered: d.Redelivered, Message: amqp.Publishing{
		Headers: d.Headers, ContentType: d.ContentType, ContentEncoding: d.ContentEncoding, DeliveryMode: d.DeliveryMode, Priority: d.Priority,
		CorrelationId: d.CorrelationId, ReplyTo: d.ReplyTo, Expiration: d.Expiration, MessageId: d.MessageId, Timestamp: d.Timestamp,
		Type: d.Type, UserId: d.UserId, AppId: d.AppId, Body: d.Body,
	}}
	if q.Type == "quorum" {
		return l.without(address.IsCount)
	}
	return l
}

// without returns the letter without some headers. If none is left there are no headers.
func (l Letter) without(leftOut func(header string) bool) Letter {
	l.Message.Headers = maps.Clone(l.Message.Headers)
	maps.DeleteFunc(l.Message.Headers, func(name string, _ any) bool { return leftOut(name) })
	if len(l.Message.Headers) == 0 {
		l.Message.Headers = nil
	}
	return l
}

// withHeader returns the letter with one more header.
func (l Letter) withHeader(name string, value any) Letter {
	l.Message.Headers = maps.Clone(l.Message.Headers)
	if l.Message.Headers == nil {
		l.Message.Headers = amqp.Table{}
	}
	l.Message.Headers[name] = value
	return l
}

// A key is what a message is known by: equal messages of one queue have the same.
type key [16]byte

func (l Letter) key() (k key) {
	l.Redelivered = false
	text, _ := json.Marshal(l) // MarshalJSON has no error for what came over AMQP
	sum := sha256.Sum256(text)
	copy(k[:], sum[:])
	return k
}
