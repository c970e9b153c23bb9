package journal

import (
	"slices"
	"sync"
)

// A Level is how far a record has come. Whoever waits says which level; different records, and different waits for the same
// record, can have different ones.
type Level uint8

// The levels. A Written record survives the end of the process, a Synced one that of the machine.
const (
	Queued Level = iota // Append has returned
	Written
	Synced
)

// progress is what has been reached, and who waits. The log's lock guards it.
type progress struct {
	reached [Synced + 1]Pos // what is before has reached the level
	waiting [Synced + 1]line
	sync    Pos // the place behind the last record that somebody wants synced
}

func (p *progress) wantsSync() bool { return p.sync > p.reached[Synced] }

// hasWork reports whether somebody waits for a sync, or to be told what has been reached already.
func (p *progress) hasWork() bool {
	return p.wantsSync() || p.waiting[Written].due(p.reached[Written]) || p.waiting[Synced].due(p.reached[Synced])
}

// Notify has f called when the record at pos, and with it all before, has reached the level: with nil, or with the error if the
// log fails first. The functions of a level are called in the order of their records, by the committer, which writes nothing
// meanwhile: they must not wait, neither for the log nor for a lock under which somebody waits for it. For Queued f is called
// before Notify returns. If the log has failed or is closed, Notify returns that and f is not called.
func (l *Log) Notify(pos Pos, level Level, f func(error)) error {
	if level == Queued {
		f(nil)
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.err
	}
	l.awaitLocked(level, waiter{pos: pos, f: f})
	return nil
}

// Wait returns when the record at pos, and with it all before, has reached the level, or when the log has failed. It must not be
// called with a lock that an Owner takes.
func (l *Log) Wait(pos Pos, level Level) error {
	if level == Queued {
		return nil
	}
	l.mu.Lock()
	if pos < l.progress.reached[level] {
		l.mu.Unlock()
		return nil
	}
	if l.err != nil {
		defer l.mu.Unlock()
		return l.err
	}
	woken := l.wakers.get()
	l.awaitLocked(level, waiter{pos: pos, woken: woken})
	l.mu.Unlock()
	return l.wakers.await(woken)
}

// wakers are channels for those who wait. Each log has its own: a channel that was made in a bubble of testing/synctest must not be
// used outside.
type wakers struct{ pool sync.Pool }

func (w *wakers) get() chan error {
	if woken, ok := w.pool.Get().(chan error); ok {
		return woken
	}
	return make(chan error, 1)
}

// await returns what wakes the one who waits.
func (w *wakers) await(woken chan error) error {
	err := <-woken
	w.pool.Put(woken)
	return err
}

// Sync returns when all that was appended is synced.
func (l *Log) Sync() error {
	l.mu.Lock()
	last := l.end - 1
	l.mu.Unlock()
	return l.Wait(last, Synced)
}

// awaitLocked registers a waiter. One whose level has been reached is called by the committer, too, for the sake of the order.
func (l *Log) awaitLocked(level Level, w waiter) {
	w.pos = min(w.pos, l.end-1)
	l.progress.waiting[level].add(w)
	if level == Synced {
		l.progress.sync = max(l.progress.sync, w.pos+1)
	}
	l.committer.wakeLocked()
}

// syncWanted returns what is synced and whether somebody waits for more.
func (l *Log) syncWanted() (Pos, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.progress.reached[Synced], l.progress.wantsSync()
}

// reached is told by the committer that all before end has come to a level.
func (l *Log) reached(out *output, level Level, end Pos) {
	l.mu.Lock()
	l.progress.reached[level] = end
	l.resizeLocked(out.segment, max(out.segment.file, out.written))
	out.due = l.progress.waiting[level].take(out.due[:0], end)
	l.mu.Unlock()
	tell(out.due, nil)
}

// fail ends all waits.
func (l *Log) fail(out *output, err error) {
	l.mu.Lock()
	l.err = err
	out.due = out.due[:0]
	for level := range l.progress.waiting {
		out.due = l.progress.waiting[level].take(out.due, ^Pos(0))
	}
	out.due = l.space.waiting.take(out.due, ^Pos(0))
	l.compactor.wakeLocked()
	l.mu.Unlock()
	tell(out.due, err)
	if err != ErrClosed && l.options.Failed != nil {
		l.options.Failed(err)
	}
}

// A waiter is somebody who waits for a place: a function or a sleeping goroutine.
type waiter struct {
	pos   Pos
	f     func(error)
	woken chan error
}

func tell(due []waiter, err error) {
	for _, w := range due {
		if w.f != nil {
			w.f(err)
		} else {
			w.woken <- err
		}
	}
	clear(due)
}

// A line is waiters in the order of their places.
type line struct {
	waiters []waiter
	first   int // those before have left
}

// add puts a waiter in its place, which is near the end: places are given out in order.
func (l *line) add(w waiter) {
	if l.first > 0 && l.first == len(l.waiters) {
		l.waiters, l.first = l.waiters[:0], 0
	}
	at := len(l.waiters)
	for at > l.first && l.waiters[at-1].pos > w.pos {
		at--
	}
	l.waiters = slices.Insert(l.waiters, at, w)
}

// due reports whether the first is before end.
func (l *line) due(end Pos) bool { return l.first < len(l.waiters) && l.waiters[l.first].pos < end }

// take moves those before end.
func (l *line) take(into []waiter, end Pos) []waiter {
	from := l.first
	for l.due(end) {
		l.first++
	}
	into = append(into, l.waiters[from:l.first]...)
	clear(l.waiters[from:l.first])
	if l.first > len(l.waiters)/2 {
		l.waiters = slices.Delete(l.waiters, 0, l.first)
		l.first = 0
	}
	return into
}
