package fault

import (
	"context"
	"net"
	"sync"
)

// A lane is one direction of a wire. It counts what is on its way, so that whoever waits for the reader knows when the
// reader has nothing left.
type lane struct {
	to net.Conn // the writer's end

	mu      sync.Mutex
	changed sync.Cond
	pending []byte // to be written
	writing bool   // somebody writes what was pending
	held    bool   // nothing is written: the connection is stalled
	unread  int    // octets that were queued and not read
	waiting bool   // the reader waits for more: it is done with what it has read
	closed  bool   // the writer has closed its end: the reader gets what is on its way, and then an error
	ended   bool   // the reader has closed its end, or has read the last
	moves   int    // how often something has changed
}

func newLane(to net.Conn) *lane {
	l := &lane{to: to}
	l.changed.L = &l.mu
	return l
}

// change tells those who wait.
func (l *lane) change(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
	l.moves++
	l.changed.Broadcast()
}

// queue adds whole frames to what is to be written.
func (l *lane) queue(b []byte) {
	l.change(func() { l.pending, l.unread = append(l.pending, b...), l.unread+len(b) })
}

// flush writes what is pending. If somebody else is writing, that one writes it.
func (l *lane) flush() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.writing {
		return nil
	}
	l.writing = true
	defer func() {
		l.writing = false
		l.changed.Broadcast()
	}()
	for len(l.pending) > 0 && !l.held {
		b := l.pending
		l.pending = nil
		l.mu.Unlock()
		_, err := l.to.Write(b)
		l.mu.Lock()
		if err != nil {
			return err
		}
	}
	return nil
}

// drain is flush, and waits for somebody else who is writing.
func (l *lane) drain() error {
	for {
		if err := l.flush(); err != nil {
			return err
		}
		l.mu.Lock()
		for l.writing {
			l.changed.Wait()
		}
		done := len(l.pending) == 0 || l.held
		l.mu.Unlock()
		if done {
			return nil
		}
	}
}

// hold keeps back what is queued from now on.
func (l *lane) hold() { l.change(func() { l.held = true }) }

// release writes what was held.
func (l *lane) release() {
	l.change(func() { l.held = false })
	_ = l.flush() // an error is the reader's, who has gone
}

// finish ends the lane: its reader gets what was queued, and then io.EOF.
func (l *lane) finish() {
	_ = l.drain()
	l.closes()
	if c, ok := l.to.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite()
	}
}

// waits is called before the reader waits for more.
func (l *lane) waits() { l.change(func() { l.waiting = true }) }

// took is called when the reader has got n octets. An error but that of a deadline is the last that it gets.
func (l *lane) took(n int, err error) {
	ne, isNet := err.(net.Error)
	over := err != nil && !(isNet && ne.Timeout())
	l.change(func() { l.unread, l.waiting, l.ended = l.unread-n, false, l.ended || over })
}

// closes is called before the writer closes its end.
func (l *lane) closes() { l.change(func() { l.closed = true }) }

// end is called when the reader has closed its end.
func (l *lane) end() { l.change(func() { l.ended = true }) }

// settle returns when the reader has read everything that is not held and waits for more, or has ended. It reports false
// if ctx is done before.
func (l *lane) settle(ctx context.Context) bool {
	defer context.AfterFunc(ctx, func() { l.change(func() {}) })()
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		coming := l.unread
		if l.held {
			coming -= len(l.pending)
		}
		idle := l.waiting && coming == 0 && !l.closed
		if l.ended || idle {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		l.changed.Wait()
	}
}

// untilEnded returns when no more is read.
func (l *lane) untilEnded() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for !l.ended {
		l.changed.Wait()
	}
}

// hasEnded reports whether no more is read.
func (l *lane) hasEnded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ended
}

// moved counts what has happened so far.
func (l *lane) moved() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.moves
}
