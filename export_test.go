package leveret

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"github.com/leveretmq/leveret/internal/journal"
	"github.com/leveretmq/leveret/internal/record"
	"github.com/leveretmq/leveret/internal/shown"
)

// RuleNames lists what users of the package do not see: the fields of a profile, and the traits of each type of queue.
// Of a stream these are the traits in which it differs from a classic queue, as which it works otherwise.
func RuleNames() []string {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[rules]()) {
		names = append(names, shown.FieldPrefix+f.Name)
	}
	for _, kind := range []queueKind{classicQueue, quorumQueue} {
		for _, f := range reflect.VisibleFields(reflect.TypeFor[traits]()) {
			names = append(names, shown.TraitPrefix+kind.String()+"."+f.Name)
		}
	}
	return append(names, shown.TraitPrefix+"stream.serverNamed", shown.TraitPrefix+"stream.transient")
}

// WithChangedRule has a broker play p but for one of RuleNames: a switch is turned over, a number is one more.
func WithChangedRule(p Profile, name string) Option {
	if trait, ok := strings.CutPrefix(name, shown.TraitPrefix); ok {
		return withChangedTrait(p, trait)
	}
	changed := *p.rules()
	flip(&changed, strings.TrimPrefix(name, shown.FieldPrefix))
	return func(b *Broker) { b.behaviour = newBehaviour(p, &changed) }
}

func withChangedTrait(p Profile, name string) Option {
	changed := newBehaviour(p, p.rules())
	for kind := range changed.traits {
		if field, ok := strings.CutPrefix(name, queueKind(kind).String()+"."); ok {
			flip(&changed.traits[kind], field)
		}
	}
	return func(b *Broker) { b.behaviour = changed }
}

// flip changes one field of the struct that at points to.
func flip(at any, name string) {
	field := reflect.ValueOf(at).Elem().FieldByName(name)
	switch p := field.Addr().UnsafePointer(); field.Kind() {
	case reflect.Bool:
		*(*bool)(p) = !*(*bool)(p)
	case reflect.Int:
		*(*int)(p)++
	case reflect.Int64:
		*(*int64)(p)++
	case reflect.Uint8:
		*(*uint8)(p)++
	default:
		panic(fmt.Sprintf("leveret: nothing changes fields such as %s yet: %s", name, field.Kind()))
	}
}

// OpenFS is Open on a file system of a test.
func OpenFS(fs journal.FS, options journal.Options, opts ...Option) (*Broker, error) {
	return open(fs, options, opts...)
}

// State describes everything that a restart keeps, of a node that is down.
func (b *Broker) State() string {
	var s strings.Builder
	for item, err := range record.Items(b.describeAll(nil)) {
		if err != nil {
			panic(err)
		}
		switch item.(type) {
		case *record.Numbers, *record.Killed: // of what is gone, too
			continue
		}
		fmt.Fprintf(&s, "%T %s\n", item, describeItem(item))
	}
	b.eachVHost(func(v *vhost) {
		v.mu.Lock()
		defer v.mu.Unlock()
		for _, q := range v.sortedQueuesLocked() {
			fmt.Fprintf(&s, "%s %s\n", v.name, q.name)
			c := q.impl.content(StoppedNode)
			list := func(what string, all []entry) {
				for _, e := range all {
					fmt.Fprintf(&s, "  %s %s\n", what, e.state())
				}
			}
			list("returned", c.returned)
			list("ready", c.ready)
			list("over", c.over)
			for _, r := range c.retries {
				fmt.Fprintf(&s, "  retry %s until %d\n", r.e.state(), r.at)
			}
			for _, d := range c.pending {
				fmt.Fprintf(&s, "  pending %s %s\n", d.e.state(), d.reason)
			}
			q.impl.fill(c)
		}
	})
	return s.String()
}

func (e entry) state() string {
	return fmt.Sprintf("%d %q %s deadline=%d deliveries=%d returns=%d", e.seq, e.m.body, describeItem(e.m.record()), e.deadline, e.deliveries, e.returns)
}

func describeItem(item record.Item) string { return fmt.Sprintf("%x", record.Append(nil, item)) }

// LogState returns what is wrong with what the log knows of the messages of a broker.
func (b *Broker) LogState() (wrong error) {
	b.eachVHost(func(v *vhost) {
		v.lock()
		defer v.unlock()
		there := map[uint64]bool{}
		note := func(q *Queue, e entry) {
			if !q.deleted && q.lifetime.durable && !q.lifetime.exclusive && q.impl.keeps(e.m) {
				there[e.seq] = true
			}
		}
		for _, q := range v.queues {
			for e := range q.store.all() {
				note(q, *e)
			}
			q.impl.waiting(func(w waitingMessage) bool {
				note(q, w.e)
				return true
			})
			if c, ok := q.impl.(*quorum); ok {
				if c.pending != nil {
					for _, d := range c.pending.tried {
						if d.purged {
							delete(there, d.e.seq)
						}
					}
				}
				for _, e := range c.over {
					note(q, e)
				}
			}
		}
		for u := range v.heldLocked() {
			note(u.q, u.e)
		}
		for copy := range v.log.places.From(0) {
			if !there[copy] && wrong == nil {
				wrong = fmt.Errorf("the log has copy %d, and no queue has", copy)
			}
			delete(there, copy)
		}
		for copy := range there {
			if wrong == nil {
				wrong = fmt.Errorf("a queue has copy %d, and the log does not", copy)
			}
		}
	})
	return wrong
}

// OpenDown is OpenFS of a broker that does not serve yet.
func OpenDown(fs journal.FS, options journal.Options, opts ...Option) (*Broker, error) {
	return openDown(fs, options, opts...)
}

// SyncLog returns when all records are on the disk.
func (b *Broker) SyncLog() error { return b.disk.log.Sync() }

// LogStats are the figures of the log.
func (b *Broker) LogStats() journal.Stats { return b.disk.log.(*journal.Log).Stats() }

// Locked calls f with the lock of the broker's virtual host.
func (b *Broker) Locked(f func()) {
	b.vhost.mu.Lock()
	defer b.vhost.mu.Unlock()
	f()
}

// AppendAndSync writes a record and returns when it is on the disk or the disk has failed.
func (b *Broker) AppendAndSync() {
	b.disk.note(&record.Node{Profile: b.behaviour.profile.String(), Up: true})
	_ = b.disk.log.Sync()
}

// TakeSmallRecordsOnly has the log refuse records of more than so many octets, as it does those of more than a gibibyte.
func (b *Broker) TakeSmallRecordsOnly(octets int) {
	b.space.mu.Lock() // somebody may look at the disk
	defer b.space.mu.Unlock()
	b.disk.log = &smallRecordLog{b.disk.log, octets}
}

type smallRecordLog struct {
	recordLog
	most int
}

func (l *smallRecordLog) Append(kind journal.Kind, live int, parts ...[]byte) (journal.Pos, error) {
	if octets := len(bytes.Join(parts, nil)); octets > l.most {
		return 0, fmt.Errorf("a record of %d octets", octets)
	}
	return l.recordLog.Append(kind, live, parts...)
}

// LookAtDisk updates the disk alarm.
func (b *Broker) LookAtDisk() { b.disk.look() }
