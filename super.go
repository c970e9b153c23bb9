package leveret

// The methods of VHost and Queue that change things act on the broker's own channel, on which no
// permission is asked for and no error closes anything.

// DeclareExchange makes an exchange, or checks that the one there is has the same properties.
func (v *vhost) DeclareExchange(name string, kind ExchangeType, cfg ExchangeConfig) (x *Exchange, err error) {
	err = v.system.do("exchange.declare", func() (e *Error) {
		x, e = v.system.declareExchange(withoutLineBreaks(name), kind, cfg)
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
		q, e = v.system.declareQueue(withoutLineBreaks(name), cfg)
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

// Publish publishes a message. The broker takes over its properties and body.
func (v *vhost) Publish(exchange, key string, m Message) (Outcome, error) {
	return v.system.Publish(exchange, key, m)
}

// Consume subscribes to the queue.
func (q *Queue) Consume(cfg ConsumeConfig) (c *Consumer, err error) {
	err = q.v.system.do("basic.consume", func() (e *Error) {
		if q.deleted {
			return q.v.noQueue(q.name)
		}
		c, e = q.v.system.consume(q.name, cfg)
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
		n = q.purge()
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
		if e := q.checkDelete(cfg); e != nil {
			return e
		}
		n = q.ready
		q.v.removeQueue(q, CauseQueueDeleted)
		return nil
	})
	return n, err
}

const userPolicies, operatorPolicies = 0, 1

// SetPolicy sets a policy, replacing one of the same name, and puts it in force on every queue
// and exchange it applies to. A bad one is an *Error with RabbitMQ's text and changes nothing.
func (v *vhost) SetPolicy(p Policy) error { return v.setPolicy(p, userPolicies) }

// SetOperatorPolicy does the same for an operator policy, which limits what users set.
func (v *vhost) SetOperatorPolicy(p Policy) error { return v.setPolicy(p, operatorPolicies) }

// ClearPolicy removes a policy; queues fall back to the next that matches. A missing one is
// ErrNotFound.
func (v *vhost) ClearPolicy(name string) error { return v.clearPolicy(name, userPolicies) }

// ClearOperatorPolicy removes an operator policy.
func (v *vhost) ClearOperatorPolicy(name string) error { return v.clearPolicy(name, operatorPolicies) }

func (v *vhost) setPolicy(p Policy, which int) error {
	c, err := compilePolicy(p, which == operatorPolicies, v.rules)
	if err != nil {
		return err
	}
	return v.system.do("", func() *Error {
		v.policies[which][p.Name] = c
		v.policyEvent(p.Name, which == operatorPolicies, true)
		v.applyPolicies()
		return nil
	})
}

func (v *vhost) clearPolicy(name string, which int) error {
	return v.system.do("", func() *Error {
		if v.policies[which][name] == nil {
			return errorf(NotFound, "", name, "policy '%s' in vhost '%s' not found", name, v.name)
		}
		delete(v.policies[which], name)
		v.policyEvent(name, which == operatorPolicies, false)
		v.applyPolicies()
		return nil
	})
}

// applyPolicies looks up and puts in force what applies to every exchange and queue.
func (v *vhost) applyPolicies() {
	v.topology++
	for _, x := range v.exchanges {
		if x != v.nameless {
			x.applyPolicy()
		}
	}
	for _, q := range v.sortedQueues() {
		user, operator := q.policy, q.operator
		q.findPolicies()
		if user != q.policy || operator != q.operator {
			q.reconfigure()
		}
	}
}

// reconfigure puts changed policies in force on a queue that may hold messages.
func (q *Queue) reconfigure() {
	was := *q.set
	q.configure()
	if q.quorum == nil {
		if was.overflow == dropHead { // RabbitMQ sets the limits first, and trims to them, before it sets what overflow does
			q.trim()
		}
		q.enforce()
		q.headChanged()
		return
	}
	if was.limited() && !q.set.limited() && !q.v.rules.stopsForGood {
		q.tell(false)
	}
	if was.atLeastOnce && !q.set.atLeastOnce {
		q.dropPending(CauseNoDeadLetterExchange)
	} else if len(q.quorum.pending.tried) > 0 {
		q.hurryPending()
	}
	q.enforce()
	q.eased()
}
