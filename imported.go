package leveret

import "cmp"

// What an import of definitions makes. RabbitMQ does not check there what it checks of a client's declarations: a queue
// may have the empty name, an alternate exchange be no string, and the default exchange be bound.

// ImportQueue makes a queue as an import of definitions does. A queue that exists stays as it is. The empty name is a
// name like others: only what is published to it, or bound to it by an import, gets there. No imported queue is
// exclusive, and with the RabbitMQ310 profile the limit of queues does not count. An argument or a property that is
// refused, and a queue too many, is ErrPreconditionFailed.
// Rules: J-9, Q-9.
func (v *vhost) ImportQueue(name string, cfg QueueConfig) error {
	return v.system.do("queue.declare", func() *Error {
		if v.queues[name] != nil {
			return nil
		}
		args, err := canonicalArguments(cfg.Arguments, cfg.ArgumentFields)
		if err = cmp.Or(checkShort("the name of a queue", name), err); err != nil {
			return err
		}
		cfg.Exclusive = false
		defaultType := string(v.meta.DefaultQueueType)
		if !v.rules.plainQueueType {
			args = augmentQueueType(args, cfg, v.rules, defaultType)
		}
		parsed, err := parseQueueArgs(args, v.rules, defaultType, v.queueSubject(name))
		if err = cmp.Or(err, v.rules.place(cfg, args)); err != nil {
			return err
		}
		_, err = v.system.makeQueueLocked(name, cfg, &parsed, args)
		return err
	})
}

// ImportExchange makes an exchange as an import of definitions does. An exchange that exists stays as it is. An
// alternate exchange that is no string is none. The error is that of DeclareExchange for an unknown type.
// Rules: J-9.
func (v *vhost) ImportExchange(name string, kind ExchangeType, cfg ExchangeConfig) error {
	return v.system.do("exchange.declare", func() *Error {
		if err := cmp.Or(checkShort("the name of an exchange", name), v.rules.checkExchangeType(kind)); err != nil {
			return err
		}
		args, err := canonicalArguments(cfg.Arguments, cfg.ArgumentFields)
		if err != nil || v.exchanges[name] != nil {
			return err
		}
		x, err := v.addExchangeLocked(name, kind, cfg, args)
		if err != nil {
			return err
		}
		v.exchangeMadeLocked(x)
		return nil
	})
}

// ImportBinding makes a binding as an import of definitions does. The default exchange may be its source or its
// destination: what is published to the default exchange still goes to the queue of that name only, but what another
// exchange leads there follows such bindings. A missing source or destination is ErrNotFound, a binding that its source
// refuses ErrPreconditionFailed.
// Rules: J-9.
func (v *vhost) ImportBinding(b Binding) error {
	r, err := b.request()
	if err != nil {
		return err
	}
	method := "exchange.bind"
	if r.toQueue {
		method = "queue.bind"
	}
	return v.system.do(method, func() *Error {
		if err := checkShort("a routing key", r.key); err != nil {
			return err
		}
		return v.system.bindLocked(&r)
	})
}
