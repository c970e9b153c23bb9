package leveret

// What a program does with the handle of an exchange or, to bind it, of a queue. As on VHost, no permission is asked
// for. An exchange that has been deleted is ErrNotFound, unless another one has its name by then: an exchange is known
// by its name, as in the protocol.

// Publish publishes a message to the exchange, as VHost.Publish does.
func (x *Exchange) Publish(key string, m Message) (Outcome, error) {
	return x.v.Publish(x.name, key, m)
}

// Bind has what source routes by key go to this exchange, as VHost.BindExchange does.
func (x *Exchange) Bind(source, key string, args Table) error {
	return x.v.BindExchange(x.name, source, key, args)
}

// Unbind removes that binding. Removing a missing one succeeds.
func (x *Exchange) Unbind(source, key string, args Table) error {
	return x.v.UnbindExchange(x.name, source, key, args)
}

// Delete deletes the exchange with its bindings. Deleting a deleted exchange succeeds.
func (x *Exchange) Delete(cfg DeleteConfig) error { return x.v.DeleteExchange(x.name, cfg) }

// Bind has what exchange routes by key go to this queue, as VHost.BindQueue does.
func (q *Queue) Bind(exchange, key string, args Table) error {
	return q.v.BindQueue(q.name, exchange, key, args)
}

// Unbind removes that binding. Removing a missing one succeeds.
func (q *Queue) Unbind(exchange, key string, args Table) error {
	return q.v.UnbindQueue(q.name, exchange, key, args)
}
