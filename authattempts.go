package leveret

import (
	"maps"
	"sync"
)

// AuthAttempts counts the attempts of clients to log in over one protocol.
type AuthAttempts struct{ Succeeded, Failed uint64 }

// authAttempts are those of each protocol.
type authAttempts struct {
	mu sync.Mutex
	of map[string]AuthAttempts
}

// CountAuthAttempt counts an attempt of a client to log in over a protocol, such as "amqp091" or "http". Listeners and the
// management API call it. Connect does not: a program that has the broker is no client.
//
// Rules: A-19.
func (b *Broker) CountAuthAttempt(protocol string, succeeded bool) {
	a := &b.attempts
	a.mu.Lock()
	defer a.mu.Unlock()
	counted := a.of[protocol]
	if succeeded {
		counted.Succeeded++
	} else {
		counted.Failed++
	}
	if a.of == nil {
		a.of = map[string]AuthAttempts{}
	}
	a.of[protocol] = counted
}

// AuthAttempts returns the attempts to log in over each protocol that has been used, since the node came up or
// ResetAuthAttempts was called.
//
// Rules: A-19.
func (b *Broker) AuthAttempts() map[string]AuthAttempts {
	b.attempts.mu.Lock()
	defer b.attempts.mu.Unlock()
	if b.attempts.of == nil {
		return map[string]AuthAttempts{}
	}
	return maps.Clone(b.attempts.of)
}

// ResetAuthAttempts forgets the attempts to log in. So does Stop.
//
// Rules: A-19.
func (b *Broker) ResetAuthAttempts() {
	b.attempts.mu.Lock()
	defer b.attempts.mu.Unlock()
	b.attempts.of = nil
}
