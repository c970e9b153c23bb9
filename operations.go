package leveret

import "slices"

// What a client does on a Channel, the program that owns the broker does on a VHost or a Queue. These methods run on
// the virtual host's own channel, v.system: no permission is checked there, and no error closes it.

// DeclareExchange makes an exchange, or checks that the one there is has the same properties.
// Rules: M-20.
func (v *vhost) DeclareExchange(name string, kind ExchangeType, cfg ExchangeConfig) (x *Exchange, err error) {
	err = v.system.do("exchange.declare", func() (e *Error) {
		x, e = v.system.declareExchangeLocked(withoutLineBreaks(name), kind, cfg)
		return e
	})
	if err != nil {
		return nil, err
	}
	return x, nil
}

// Exchange returns the exchange of that name, or an error that is ErrNotFound.
func (v *vhost) Exchange(name string) (x *Exchange, err error) {
	err = v.system.do("exchange.declare", func() *Error {
		if x = v.exchanges[name]; x == nil {
			return v.noExchange(name)
		}
		return nil
	})
	return x, err
}

// DeleteExchange deletes an exchange with its bindings. Deleting a missing one succeeds.
func (v *vhost) DeleteExchange(name string, cfg DeleteConfig) error {
	return v.system.DeleteExchange(name, cfg)
}

// BindExchange has what source routes by key go to destination too.
func (v *vhost) BindExchange(destination, source, key string, args Table) error {
	return v.system.BindExchange(destination, source, key, args)
}

// UnbindExchange removes that binding. Removing a missing one succeeds.
func (v *vhost) UnbindExchange(destination, source, key string, args Table) error {
	return v.system.UnbindExchange(destination, source, key, args)
}

// DeclareQueue makes a queue, or checks that the one there is has the same properties. An
// empty name has the broker make one up. An exclusive queue is the broker's own.
func (v *vhost) DeclareQueue(name string, cfg QueueConfig) (q *Queue, err error) {
	err = v.system.do("queue.declare", func() (e *Error) {
		q, e = v.system.declareQueueLocked(withoutLineBreaks(name), cfg)
		return e
	})
	if err != nil {
		return nil, err
	}
	return q, nil
}

// Queue returns the queue of that name, or an error that is ErrNotFound.
func (v *vhost) Queue(name string) (q *Queue, err error) {
	err = v.system.do("queue.declare", func() *Error {
		if q = v.queues[name]; q == nil {
			return v.noQueue(name)
		}
		return nil
	})
	return q, err
}

// DeleteQueue deletes a queue with everything in it and returns how many messages were
// ready. Nothing is dead-lettered; deleting a missing queue succeeds.
func (v *vhost) DeleteQueue(name string, cfg DeleteConfig) (int, error) {
	if name == "" {
		return 0, nil
	}
	return v.system.DeleteQueue(name, cfg)
}

// PurgeQueue removes a queue's ready messages and returns how many. Nothing is dead-lettered.
func (v *vhost) PurgeQueue(name string) (int, error) { return v.system.PurgeQueue(name) }

// BindQueue has what exchange routes by key go to queue.
func (v *vhost) BindQueue(queue, exchange, key string, args Table) error {
	return v.system.BindQueue(queue, exchange, key, args)
}

// UnbindQueue removes that binding. Removing a missing one succeeds.
func (v *vhost) UnbindQueue(queue, exchange, key string, args Table) error {
	return v.system.UnbindQueue(queue, exchange, key, args)
}

// Publish publishes a message. The broker takes over its properties and body. The error is ErrNotFound if there is no such exchange,
// and ErrPreconditionFailed for a body or a property that RabbitMQ refuses. That a message reaches no queue, or that a queue
// refuses it, is no error: the Outcome says so, and [Outcome.Err] makes an error of it.
func (v *vhost) Publish(exchange, key string, m Message) (Outcome, error) {
	return v.system.Publish(exchange, key, m)
}

// Consume subscribes to the queue. The error is ErrNotFound if the queue is gone, ErrNotAllowed if another consumer of
// Queue.Consume in the virtual host has the tag, and ErrAccessRefused if another consumer of the queue is exclusive, or this one
// wants to be and is not alone.
func (q *Queue) Consume(cfg ConsumeConfig) (c *Consumer, err error) {
	err = q.v.system.do("basic.consume", func() (e *Error) {
		if q.deleted {
			return q.v.noQueue(q.name)
		}
		c, e = q.v.system.consumeLocked(q.name, cfg)
		return e
	})
	return c, err
}

// Purge removes the ready messages and returns how many. Nothing is dead-lettered.
func (q *Queue) Purge() (n int, err error) {
	err = q.v.system.do("queue.purge", func() *Error {
		if q.deleted {
			return q.v.noQueue(q.name)
		}
		n = q.impl.purge()
		return nil
	})
	return n, err
}

// Delete deletes the queue with everything in it and returns how many messages were ready.
// Nothing is dead-lettered; deleting a deleted queue succeeds.
func (q *Queue) Delete(cfg DeleteConfig) (n int, err error) {
	err = q.v.system.do("queue.delete", func() *Error {
		if q.deleted {
			return nil
		}
		if e := q.checkDeleteLocked(cfg); e != nil {
			return e
		}
		n = q.store.ready.n
		q.v.removeQueueLocked(q, CauseQueueDeleted)
		return nil
	})
	return n, err
}

// SetLimits sets the virtual host's limits. They hold for what comes later. Limits that are all [NoLimit] are kept, too: as in RabbitMQ
// they are a parameter of the virtual host, which is listed and exported until ClearLimits.
func (v *vhost) SetLimits(l VHostLimits) error { return v.setLimits(l, true) }

// ClearLimits removes the virtual host's limits.
func (v *vhost) ClearLimits() error { return v.setLimits(VHostLimits{NoLimit, NoLimit}, false) }

func (v *vhost) setLimits(l VHostLimits, has bool) error {
	return v.system.do("", func() *Error {
		v.meta.Limits, v.meta.HasLimits = l, has
		v.metaChangedLocked()
		return nil
	})
}

// SetDefaultQueueType sets the type of queues declared without x-queue-type: classic or quorum.
func (v *vhost) SetDefaultQueueType(t QueueType) error {
	return v.system.do("", func() *Error {
		switch t {
		case QueueTypeClassic, QueueTypeQuorum:
		case QueueType(streamQueue.String()):
			return noStreams(v.name, "they cannot be the default type of vhost '"+v.name+"'")
		default:
			return PreconditionFailed.errorf(v.name, "unsupported default queue type '%s'", t)
		}
		v.meta.DefaultQueueType = t
		v.metaChangedLocked()
		return nil
	})
}

// SetMetadata sets the virtual host's description and tags.
func (v *vhost) SetMetadata(description string, tags ...string) error {
	return v.system.do("", func() *Error {
		v.meta.Description, v.meta.Tags = description, slices.Clone(tags)
		v.metaChangedLocked()
		return nil
	})
}

// SetProtected protects the virtual host from deletion, or lifts the protection: [Broker.DeleteVHost] refuses to delete a protected one.
func (v *vhost) SetProtected(protected bool) error {
	return v.system.do("", func() *Error {
		v.meta.Protected, v.meta.HasProtection = protected, true
		v.metaChangedLocked()
		return nil
	})
}

// metaChangedLocked follows a change of what the virtual host tells of itself.
func (v *vhost) metaChangedLocked() {
	if v.log != nil {
		v.log.note(v.meta.record())
	}
}
