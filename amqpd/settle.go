package amqpd

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// Settle returns when what the server has read from its clients has been executed, and everything that the broker has for
// the clients has been written to their connections: answers, confirms, deliveries. It is for tests and simulations, after
// [leveret.ManualClock.Advance] for instance. What a client has sent and the server has not read yet is not waited for.
//
// A client that does not read what is sent to it is waited for until ctx is done. The error says which, and wraps that
// of ctx. Settle must not be called from an event hook or a handler.
func (s *Server) Settle(ctx context.Context) error {
	s.mu.Lock()
	conns := slices.Collect(maps.Keys(s.conns))
	s.mu.Unlock()
	for _, c := range conns {
		if err := c.settle(ctx); err != nil {
			return err
		}
	}
	return nil
}

// settle returns when there is nothing to write any more. Whoever has the lock knows that no frame is being executed.
func (c *conn) settle(ctx context.Context) error {
	if !c.mu.lockUntil(ctx) {
		return fmt.Errorf("amqpd: what %s has sent is still executed: %w", c.nc.RemoteAddr(), context.Cause(ctx))
	}
	defer c.mu.Unlock()
	defer context.AfterFunc(ctx, c.stir)()
	if c.session == nil {
		return nil
	}
	c.hearLocked()
	c.takeNoticesLocked()
	c.sendWaitingLocked()
	c.notifyWriterLocked()
	for c.stage != ended && (c.writer.busy || c.out.size() > 0 || len(c.logged.batches) > 0) {
		if ctx.Err() != nil {
			why := "does not read what is sent to it"
			if !c.writer.busy && c.out.size() == 0 {
				why = "waits for confirms, and they for the log"
			}
			return fmt.Errorf("amqpd: %s %s: %w", c.nc.RemoteAddr(), why, context.Cause(ctx))
		}
		c.moved.Wait()
	}
	return nil
}

// lockUntil is Lock, and reports false if ctx is done before.
func (l connLock) lockUntil(ctx context.Context) bool {
	select {
	case l <- struct{}{}: // also if ctx is done already
		return true
	default:
	}
	select {
	case l <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// stir has everybody who waits for the connection to move look again.
func (c *conn) stir() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.moved.Broadcast()
}
