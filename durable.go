package leveret

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/leveretmq/leveret/internal/journal"
	"github.com/leveretmq/leveret/internal/record"
)

// A broker with a directory keeps there what a RabbitMQ node keeps on its disk, and finds it again, whatever ended the process.
// Everything live is in memory, as without a directory; the log is read only when the broker is opened.
//
//   - Operations write records: oplog.go for messages, described.go for what is declared.
//   - Recovery reads them: playback.go.
//   - What is old and still live is written again: forward.go.
//
// What is told to a client waits for the log, nothing else does: confirms, and the answers to what changes the topology.

// A SyncLevel says what a broker with a directory has done before it confirms a message, or answers to a declaration.
type SyncLevel uint8

const (
	// SyncAlways: what was confirmed is on the disk. It outlives the end of the process, and that of the machine.
	SyncAlways SyncLevel = iota

	// SyncAsRabbitMQ: as the release does it. RabbitMQ 4.3 confirms a message for classic queues when the operating system
	// has it, so that it outlives the end of the process; for quorum queues, and all that 3.10 confirms, it is SyncAlways.
	SyncAsRabbitMQ

	// SyncNever: nothing is waited for. What was confirmed shortly before the process ended can be lost.
	SyncNever
)

// WithSync sets what a broker with a directory waits for before it confirms. The default is SyncAlways. It is for [Open]:
// [New] ignores it.
func WithSync(level SyncLevel) Option {
	return func(b *Broker) {
		demand(level <= SyncNever, "WithSync(%d): SyncAlways, SyncAsRabbitMQ or SyncNever is wanted", level)
		b.sync = level
	}
}

// A Recovery is what Open found in its directory.
type Recovery struct {
	Messages int           // in all queues
	Records  int           // operations that were read
	Segments int           // files
	Octets   int64         // of the files
	Took     time.Duration // all of it
	Killed   bool          // the broker was not closed: its process, or its machine, was ended
	Cut      string        // where the last write was cut off, and how much of it is dropped; empty: nowhere. Nobody had been told of it
}

// Open returns a broker that keeps in a directory what a RabbitMQ node keeps on its disk, and has what an earlier one has kept
// there: see [Broker.Restart] for what that is. The directory is made if it is not there. If the earlier broker was not closed,
// what its queues know of deliveries is what a killed RabbitMQ knows. [Broker.Recovered] tells what was found.
//
// A persistent message for a durable queue is there once it was confirmed, that is when [Channel.Publish] on a channel in confirm
// mode, or [VHost.Publish], has returned, and when a client of package amqpd has its basic.ack; [WithSync] says how certainly.
// Declarations, bindings, policies and commits return when they are on the disk, too. Acknowledgements and deliveries wait
// for nothing: after a crash a message can come again.
//
// The errors say which file is concerned, and where: another broker has the directory, what is in it is damaged or of another
// format, or the operating system's. Damage is never passed over. A directory of a broker of another [Profile] is refused.
// Close has to be called: it writes what the log still lacks.
func Open(dir string, opts ...Option) (*Broker, error) {
	if dir == "" {
		return nil, errors.New("leveret: Open: the name of the directory is empty")
	}
	b, err := open(journal.Dir(dir), journal.Options{}, opts...)
	if err != nil {
		return nil, fmt.Errorf("leveret: %s: %w", dir, err)
	}
	return b, nil
}

// What can be wrong with a directory, for errors.Is with an error of [Open].
var (
	ErrInUse   = journal.ErrLocked  // another broker, of this process or another one, has the directory
	ErrDamaged = journal.ErrDamaged // what is there is not what was written
)

// Recovered tells what Open found. It is zero for a broker that was made by New.
func (b *Broker) Recovered() Recovery {
	if b.disk == nil {
		return Recovery{}
	}
	return b.disk.found
}

// A disk is the log of a broker: what all virtual hosts share.
type disk struct {
	b         *Broker
	log       recordLog
	levels    [len(queueTypes)]journal.Level // that a confirm waits for, by the queue's type
	on        atomic.Bool                    // operations are written: not before the broker has been restored, nor when it is closed
	play      *playback                      // while Open reads
	pass      forward                        // of the compactor
	lastQueue atomic.Uint64                  // the ID of the last queue
	noted     atomic.Uint64                  // the place of the last record of note
	retired   uint64                         // the last number of a copy in a virtual host that is gone; guarded by Broker.mu
	told      bool                           // watchers know that the log has failed; guarded by the lock of Broker.vhost
	found     Recovery
	writers   sync.Pool
}

// A recordLog is what a disk needs of a journal.Log, whose methods these are.
type recordLog interface {
	Append(kind journal.Kind, live int, parts ...[]byte) (journal.Pos, error)
	Release(s journal.Segment, octets int)
	Wait(pos journal.Pos, level journal.Level) error
	Notify(pos journal.Pos, level journal.Level, f func(error)) error
	Sync() error
	Room() error
	Free() (octets uint64, err error)
	Err() error
	Close() error
}

func open(fs journal.FS, options journal.Options, opts ...Option) (*Broker, error) {
	began := time.Now()
	b, err := openDown(fs, options, opts...)
	if err != nil {
		return nil, err
	}
	d := b.disk
	d.note(&record.Node{Profile: b.behaviour.profile.String(), Up: true})
	if err = b.Start(); err == nil {
		err = d.log.Sync()
	}
	if err != nil {
		_ = b.Close()
		return nil, err
	}
	d.found.Took = time.Since(began)
	return b, nil
}

// openDown opens a broker whose node has not come up yet.
func openDown(fs journal.FS, options journal.Options, opts ...Option) (*Broker, error) {
	b := newBroker(opts, func(b *Broker) {
		b.disk = &disk{b: b}
		b.access.disk = b.disk
	})
	d := b.disk
	d.levels = b.sync.levels(b.behaviour.profile)
	options.Failed = d.failed
	d.play = newPlayback(b)
	log, err := journal.Open(fs, d, options)
	if err != nil {
		_ = b.Close()
		return nil, err
	}
	d.log = log
	if d.play.err != nil {
		_ = log.Close()
		_ = b.Close()
		return nil, d.play.err
	}
	d.on.Store(true)
	d.watch()
	d.found = foundBy(log.Recovered())
	d.found.Killed = d.play.refill()
	d.found.Messages, d.play = d.play.messages, nil
	return b, nil
}

// levels are those that a confirm waits for, by the queue's type.
func (s SyncLevel) levels(p Profile) (by [len(queueTypes)]journal.Level) {
	for kind := range by {
		switch {
		case s == SyncNever:
			by[kind] = journal.Queued
		case s == SyncAsRabbitMQ && p == RabbitMQ43 && queueKind(kind) == classicQueue:
			by[kind] = journal.Written
		default:
			by[kind] = journal.Synced
		}
	}
	return by
}

func foundBy(r journal.Recovery) Recovery {
	found := Recovery{Records: r.Records, Segments: r.Segments, Octets: r.Octets}
	if r.Torn != nil {
		found.Cut = fmt.Sprintf("%v (%d octets dropped)", r.Torn, r.Lost)
	}
	return found
}

// writes reports whether operations are written.
func (d *disk) writes() bool { return d.on.Load() }

func (d *disk) writer() *writer {
	if w, ok := d.writers.Get().(*writer); ok {
		return w
	}
	return &writer{}
}

// maxWriter is how many octets of a record a writer may keep the memory of.
const maxWriter = 1 << 20

func (d *disk) done(w *writer) {
	if cap(w.buf) <= maxWriter {
		d.writers.Put(w)
	}
}

// append appends a record. It reports false if the log does not take it: who waits for that is told why. The log takes no
// more after a failure, and never a record that is too large: such a commit is not kept, and what comes after it is.
func (d *disk) append(w *writer) (journal.Pos, bool) {
	w.parts[0] = w.buf
	pos, err := d.log.Append(kindOperation, w.live, w.parts[:]...)
	d.b.space.wrote(len(w.buf))
	return pos, err == nil
}

// errRecordTooLarge is why a log that is well has not taken a record.
var errRecordTooLarge = fmt.Errorf("one operation has more than %d octets", journal.MaxRecord)

// refused is why the log has not taken a record.
func (d *disk) refused() error { return d.failure(cmp.Or(d.log.Err(), errRecordTooLarge)) }

// note writes what belongs to no virtual host, or begins or ends one.
func (d *disk) note(items ...record.Item) {
	if !d.writes() {
		return
	}
	w := d.writer()
	defer d.done(w)
	w.buf, w.charges, w.live = w.buf[:0], w.charges[:0], 0
	for _, item := range items {
		w.buf = record.Append(w.buf, item)
	}
	pos, ok := d.append(w)
	if !ok {
		pos = nowhere
	}
	for was := d.noted.Load(); was < uint64(pos) && !d.noted.CompareAndSwap(was, uint64(pos)); was = d.noted.Load() {
	}
}

// settled returns when what an operation of the broker noted is where WithSync says; err is the operation's own error. No lock
// may be held.
func (b *Broker) settled(err error) error {
	if err != nil || b.disk == nil {
		return err
	}
	return b.disk.await(logMark{journal.Pos(b.disk.noted.Load()), b.disk.levels[quorumQueue]})
}

// await returns when the log has come as far as m says.
func (d *disk) await(m logMark) error {
	if m.pos == 0 || m.level == journal.Queued {
		return d.failure(d.log.Err())
	}
	if m.pos == nowhere {
		return d.refused()
	}
	return d.failure(d.log.Wait(m.pos, m.level))
}

// failure is what a client is told of a log that has failed.
func (d *disk) failure(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, journal.ErrClosed):
		return ErrClosed
	}
	return &Error{Code: InternalError, Reason: "the message store has failed: " + err.Error()}
}

// failed tells watchers of a log that has failed: on a goroutine of its own, because a hook may close the broker. Close does not
// wait for the goroutine: close tells, too.
func (d *disk) failed(err error) { go d.tellOnce(d.failure(err)) }

// tellOnce tells watchers of the failure, unless they know.
func (d *disk) tellOnce(failure error) {
	v := d.b.vhost
	v.lock()
	defer v.unlock()
	if !d.told {
		d.told = true
		v.storeEventLocked(failure)
	}
}

// room waits while the log has too much to do: publishers are held up, nobody else.
func (d *disk) room() error { return d.failure(d.log.Room()) }

// WhenDurable has f called when everything that the connection has done so far, and that its client is to be told of, is where
// [WithSync] says. It is for listeners, which must not wait: what a client is told by itself, such as a confirm, is sent by f. f gets nil,
// or the error of a log that has failed. It is called by a goroutine of the log, in the order of the calls of WhenDurable, and must
// not wait for anything. If there is nothing to wait for WhenDurable reports false and f is not called. One goroutine at a time may
// call WhenDurable.
func (c *Conn) WhenDurable(f func(error)) (later bool) {
	l := c.v.log
	if l == nil {
		return false
	}
	c.v.mu.Lock()
	m := c.logged
	c.logged = logMark{}
	c.v.mu.Unlock()
	d := l.disk
	if m.pos == 0 || m.level == journal.Queued {
		return false
	}
	if m.pos == nowhere {
		f(d.refused())
		return true
	}
	told := func(err error) {
		f(d.failure(err))
		c.telling.waiting.Add(-1)
	}
	if err := d.log.Notify(m.pos, c.telling.begin(m.level), told); err != nil {
		told(err)
	}
	return true
}

// telling is what a client waits to be told of. The log reaches a level before the next one, so what waits for less than the call
// before it would overtake that.
type telling struct {
	waiting atomic.Int32  // calls of WhenDurable whose f has not returned
	level   journal.Level // of the last call; its callers take turns
}

// begin returns the level that the next call waits for.
func (t *telling) begin(level journal.Level) journal.Level {
	if t.waiting.Add(1) > 1 {
		level = max(level, t.level)
	}
	t.level = level
	return level
}

// Err returns why the directory takes nothing more, nil while all is well or if the broker has none: after a failed write or sync
// nobody knows what is on the disk. What was confirmed before is there. Publishing and declaring return this error, as
// [ErrInternal], and connections of clients that wait for a confirm are closed with it; consumers go on. The way out is to close the
// broker, and to open the directory again when the disk is sound.
func (b *Broker) Err() error {
	if b.disk == nil || !b.disk.writes() {
		return nil
	}
	return b.disk.failure(b.disk.log.Err())
}

// close stops the node, as its operator does, and ends the log. The error is that of a log that has failed.
func (d *disk) close() error {
	if !d.on.Load() {
		return nil
	}
	_ = d.b.Stop(StoppedNode)
	d.note(&record.Node{Profile: d.b.behaviour.profile.String()})
	d.on.Store(false)
	d.b.space.unwatch()
	err := d.failure(d.log.Close())
	if err != nil {
		d.tellOnce(err)
	}
	return err
}

// Snapshot is what the log has of a virtual host beside its messages.
func (d *disk) Snapshot(buf []byte) []byte {
	buf = record.Append(buf, &record.Node{Profile: d.b.behaviour.profile.String(), Up: true})
	return d.b.describeAll(buf)
}
