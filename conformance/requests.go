package conformance

import (
	"fmt"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/scenario"
	amqp "github.com/rabbitmq/amqp091-go"
)

// The plain requests: each is one call of the client.

func (ch *channel) DeclareExchange(name string, kind leveret.ExchangeType, cfg leveret.ExchangeConfig) error {
	args, err := table(cfg.Arguments)
	if err != nil {
		return err
	}
	noWait := ch.asksForNone()
	return ch.answered(noWait, ch.amqp.ExchangeDeclare(name, string(kind), cfg.Durable, cfg.AutoDelete, cfg.Internal, noWait, args))
}

func (ch *channel) CheckExchange(name string) error {
	return ch.result(ch.amqp.ExchangeDeclarePassive(name, "direct", false, false, false, false, nil))
}

func (ch *channel) DeleteExchange(name string, cfg leveret.DeleteConfig) error {
	noWait := ch.asksForNone()
	return ch.answered(noWait, ch.amqp.ExchangeDelete(name, cfg.IfUnused, noWait))
}

func (ch *channel) Bind(b leveret.Binding) error {
	noWait := ch.asksForNone()
	ch.conn.tap.argumentsNext(b.Arguments)
	if b.DestinationType == "exchange" {
		return ch.answered(noWait, ch.amqp.ExchangeBind(b.Destination, b.RoutingKey, b.Source, noWait, nil))
	}
	return ch.answered(noWait, ch.amqp.QueueBind(b.Destination, b.RoutingKey, b.Source, noWait, nil))
}

func (ch *channel) Unbind(b leveret.Binding) error {
	noWait := ch.asksForNone()
	ch.conn.tap.argumentsNext(b.Arguments)
	if b.DestinationType == "exchange" {
		return ch.answered(noWait, ch.amqp.ExchangeUnbind(b.Destination, b.RoutingKey, b.Source, noWait, nil))
	}
	return ch.result(ch.amqp.QueueUnbind(b.Destination, b.RoutingKey, b.Source, nil))
}

func (ch *channel) DeclareQueue(name string, cfg leveret.QueueConfig) (leveret.QueueState, error) {
	args, err := table(cfg.Arguments)
	if err != nil {
		return leveret.QueueState{}, err
	}
	declare := ch.amqp.QueueDeclare
	if cfg.Passive {
		declare = ch.amqp.QueueDeclarePassive
	}
	q, err := declare(name, cfg.Durable, cfg.AutoDelete, cfg.Exclusive, cfg.NoWait, args)
	if cfg.NoWait {
		err = ch.barrier(err)
	}
	return leveret.QueueState{Name: q.Name, Messages: q.Messages, Consumers: q.Consumers}, ch.result(err)
}

func (ch *channel) CheckQueue(name string) (leveret.QueueState, error) {
	return ch.DeclareQueue(name, leveret.QueueConfig{Passive: true})
}

func (ch *channel) DeleteQueue(name string, cfg leveret.DeleteConfig) (int, error) {
	noWait := ch.asksForNone()
	n, err := ch.amqp.QueueDelete(name, cfg.IfUnused, cfg.IfEmpty, noWait)
	return n, ch.answered(noWait, err)
}

func (ch *channel) PurgeQueue(name string) (int, error) {
	n, err := ch.amqp.QueuePurge(name, false)
	return n, ch.result(err)
}

func (ch *channel) Cancel(tag string) error {
	noWait := ch.asksForNone()
	return ch.answered(noWait, ch.amqp.Cancel(tag, noWait))
}

func (ch *channel) Ack(tag uint64, multiple bool) error {
	return ch.barrier(ch.amqp.Ack(tag, multiple))
}

func (ch *channel) Nack(tag uint64, multiple, requeue bool) error {
	return ch.barrier(ch.amqp.Nack(tag, multiple, requeue))
}

func (ch *channel) Reject(tag uint64, requeue bool) error {
	return ch.barrier(ch.amqp.Reject(tag, requeue))
}

//lint:ignore SA1019 what brokers make of a deprecated method is what is compared
func (ch *channel) Recover(requeue bool) error { return ch.result(ch.amqp.Recover(requeue)) }

func (ch *channel) Qos(cfg leveret.QosConfig) error {
	return ch.result(ch.amqp.Qos(cfg.PrefetchCount, int(cfg.PrefetchSize), cfg.Global))
}

func (ch *channel) Confirm() error         { return ch.result(ch.amqp.Confirm(false)) }
func (ch *channel) Tx() error              { return ch.result(ch.amqp.Tx()) }
func (ch *channel) Rollback() error        { return ch.result(ch.amqp.TxRollback()) }
func (ch *channel) Flow(active bool) error { return ch.result(ch.amqp.Flow(active)) }

// table turns arguments into the client's types.
func table(t leveret.Table) (amqp.Table, error) {
	if t == nil {
		return nil, nil
	}
	out := amqp.Table{}
	for k, v := range t {
		w, err := value(v)
		if err != nil {
			return nil, err
		}
		out[k] = w
	}
	return out, nil
}

func value(v any) (any, error) {
	if f, ok := scenario.FieldsOf(v); ok {
		return table(scenario.TableOf(f))
	}
	switch v := v.(type) {
	case leveret.Decimal:
		return amqp.Decimal{Scale: v.Scale, Value: v.Value}, nil
	case int:
		return int64(v), nil
	case []any:
		out := []any{}
		for _, e := range v {
			w, err := value(e)
			if err != nil {
				return nil, err
			}
			out = append(out, w)
		}
		return out, nil
	case chan int, func():
		return nil, fmt.Errorf("%T is no AMQP value", v)
	}
	return v, nil
}

func publishing(m leveret.Message) amqp.Publishing {
	p := m.Properties
	if p == nil {
		return amqp.Publishing{Body: m.Body}
	}
	headers, _ := table(p.Headers)
	return amqp.Publishing{Headers: headers, ContentType: p.ContentType, ContentEncoding: p.ContentEncoding,
		DeliveryMode: p.DeliveryMode, Priority: p.Priority, CorrelationId: p.CorrelationID, ReplyTo: p.ReplyTo,
		Expiration: p.Expiration, MessageId: p.MessageID, Timestamp: p.Timestamp, Type: p.Type, UserId: p.UserID,
		AppId: p.AppID, Body: m.Body}
}

func properties(h header, d amqp.Delivery) *leveret.Properties {
	return &leveret.Properties{ContentType: d.ContentType, ContentEncoding: d.ContentEncoding,
		DeliveryMode: d.DeliveryMode,
		Priority:     d.Priority, CorrelationID: d.CorrelationId, ReplyTo: d.ReplyTo, Expiration: d.Expiration,
		MessageID: d.MessageId, Timestamp: d.Timestamp.UTC(), Type: d.Type, UserID: d.UserId, AppID: d.AppId,
		ClusterID: h.clusterID, Present: h.present}
}
