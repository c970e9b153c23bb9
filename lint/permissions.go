package lint

import (
	"errors"
	"maps"

	"github.com/leveretmq/leveret"
)

// Whether a user may declare a queue is asked of a broker without queues: each user declares each queue there.

// checkPermissions finds users who may declare a queue, but not with its dead-letter exchange.
// Rules.
func (l *linter) checkPermissions(v vhost) {
	d := *l.defs
	d.Queues, d.Bindings, d.Policies, d.Parameters = nil, nil, nil, nil // and no limits
	b, err := l.brokerOf(&d)
	if err != nil {
		return // only a site whose definitions are refused, of which load has told
	}
	defer b.Close()
	for _, p := range v.Permissions() {
		conn, err := b.Open(leveret.ConnConfig{User: p.User, VHost: v.Name()})
		if err != nil {
			continue
		}
		var denied []string
		because := ""
		for _, q := range v.queues {
			if err := refusedWithDeadLetters(conn, q); err != nil {
				denied = append(denied, q.Name)
				because = reason(err)
			}
		}
		if denied != nil {
			l.add(MayNotDeclare, subject{v.Name(), "user", p.User}, "May declare queue %s, but not with its dead-letter exchange: %s.", andMore(denied), because)
		}
		_ = conn.Close()
	}
}

// refusedWithDeadLetters returns why a user may not declare a queue that the user may declare without its dead-letter
// exchange, nil if it is not so.
func refusedWithDeadLetters(conn *leveret.Conn, q leveret.QueueInfo) error {
	if _, given := q.Arguments[leveret.ArgDeadLetterExchange]; !given {
		return nil
	}
	plain := maps.Clone(q.Arguments)
	for _, key := range []string{leveret.ArgDeadLetterExchange, leveret.ArgDeadLetterRoutingKey, leveret.ArgDeadLetterStrategy} {
		delete(plain, key)
	}
	if declare(conn, q, plain) != nil {
		return nil
	}
	if err := declare(conn, q, q.Arguments); errors.Is(err, leveret.ErrAccessRefused) {
		return err
	}
	return nil
}

// declare has a user declare a queue, which is deleted again.
func declare(conn *leveret.Conn, q leveret.QueueInfo, args leveret.Table) error {
	ch, err := conn.Channel()
	if err != nil {
		return err
	}
	defer func() { _ = ch.Close() }()
	if _, err := ch.DeclareQueue(q.Name, leveret.QueueConfig{Durable: q.Durable, AutoDelete: q.AutoDelete, Arguments: args}); err != nil {
		return err
	}
	_, err = conn.VHost().DeleteQueue(q.Name, leveret.DeleteConfig{})
	return err
}
