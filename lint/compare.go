package lint

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
)

// Two files are compared by what is in force in three brokers: one with the old file, one with the new file, and one in
// which the new file has come to what was running. There the queues and exchanges of both files have the arguments of
// the old one, because nothing changes them while they live; policies, bindings and users are those of the new one.

// A Comparison is what changes when a definitions file takes the place of another one.
type Comparison struct {
	Changes []Change `json:"changes"`
	// NotCompared says what was left out because leveret does not have it, or because what is running refuses it.
	NotCompared []string `json:"not_compared"`
}

// A Change is one thing that the files do not have in common.
type Change struct {
	How         How          `json:"change"`
	VHost       string       `json:"vhost"` // empty: of the whole broker
	Kind        string       `json:"kind"`  // queue, exchange, binding, policy, operator policy, user, permissions, and so on
	Name        string       `json:"name"`
	Differences []Difference `json:"differences"`
	Effects     []Effect     `json:"effects"`
}

// A How says how a thing changes.
type How string

// How things change.
const (
	Added   How = "added"
	Removed How = "removed"
	Changed How = "changed"
)

// A Difference is a setting of a thing that both files have.
type Difference struct {
	Key  string `json:"key"`
	Old  any    `json:"old"`            // nil: none
	New  any    `json:"new"`            // nil: none
	From string `json:"from,omitempty"` // for what is in force: where the new value comes from
	// AtOnce is true for what is in force for what is running. What is false needs a new declaration, after the running
	// queue or exchange has been deleted.
	AtOnce bool `json:"at_once"`
}

// An Effect is what a change means for messages and clients.
type Effect struct {
	Kind EffectKind `json:"kind"`
	Text string     `json:"text"` // one or two sentences
}

// An EffectKind says what happens.
type EffectKind string

// What a change can mean.
const (
	Trimmed     EffectKind = "trimmed"     // messages that are in the queue are dropped or die of its new limit
	Bounded     EffectKind = "bounded"     // other messages than before are dropped or refused when the queue is full
	Expires     EffectKind = "expires"     // messages live for another time
	DiesAfter   EffectKind = "dies_after"  // messages die after another number of deliveries
	Elsewhere   EffectKind = "elsewhere"   // what dies goes another way, or is lost
	Discarded   EffectKind = "discarded"   // dead letters that wait for their target are lost
	QueueLife   EffectKind = "queue_life"  // the queue itself is deleted, or lives for another time
	Undeclared  EffectKind = "undeclared"  // a client that declares it as in the new file is refused
	KeepsOld    EffectKind = "keeps_old"   // what is running does not change
	Disconnects EffectKind = "disconnects" // clients lose their connections or channels
)

// Compare says what changes when the definitions of the new file take the place of those of the old file. What only one
// of them has a section for is not compared. The error is a [*definitions.SyntaxError] or says that an import would
// refuse a file.
func Compare(oldFile, newFile []byte, p leveret.Profile) (*Comparison, error) {
	c := &Comparison{Changes: []Change{}, NotCompared: []string{}}
	before, after, err := c.read(oldFile, newFile, p)
	if err != nil {
		return nil, err
	}
	defer before.close()
	defer after.close()
	running := c.running(before, after)
	defer running.close()
	if err := running.apply(c.refusedByRunning); err != nil {
		return nil, err
	}
	c.Changes = append(c.Changes, things(before).changes(things(after))...)
	in := &comparer{before: before, after: after, running: running}
	for _, v := range running.vhosts() {
		in.vhost(c, v)
	}
	for i := range c.Changes {
		explainRest(&c.Changes[i])
	}
	c.sort()
	return c, nil
}

// read puts both files into force.
func (c *Comparison) read(oldFile, newFile []byte, p leveret.Profile) (before, after *site, err error) {
	files := [2]*reading{{name: "the old file"}, {name: "the new file"}}
	for i, file := range [][]byte{oldFile, newFile} {
		if files[i].defs, err = read(file, files[i].report); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", files[i].name, err)
		}
		checkSections(file, files[i].report)
	}
	alike(files[0].defs, files[1].defs)
	var sites [2]*site
	for i, f := range files {
		sites[i] = newSite(f.defs, p, f.report)
		err = cmp.Or(err, sites[i].apply(f.report))
		c.NotCompared = append(c.NotCompared, f.leftOut...)
	}
	if err = cmp.Or(err, refusal(files)); err != nil {
		sites[0].close()
		sites[1].close()
		return nil, nil, err
	}
	return sites[0], sites[1], nil
}

// A reading is a file that is being put into force.
type reading struct {
	name    string
	defs    *definitions.Definitions
	refused string // the first entry that is refused, and why
	leftOut []string
}

// report takes what is found about the file.
func (r *reading) report(code Code, about subject, format string, args ...any) {
	text := fmt.Sprintf("%s '%s': %s", about.kind, about.name, strings.TrimSuffix(fmt.Sprintf(format, args...), "."))
	if code == Refused {
		r.refused = cmp.Or(r.refused, text)
		return
	}
	r.leftOut = append(r.leftOut, r.name+": "+text)
}

// refusal is the error of files that are refused. A section that only one of them has counts for both.
func refusal(files [2]*reading) error {
	old, next := files[0], files[1]
	switch {
	case old.refused != "" && old.refused == next.refused:
		return errors.New("both files: " + old.refused)
	case old.refused != "":
		return fmt.Errorf("%s: %s", old.name, old.refused)
	case next.refused != "":
		return fmt.Errorf("%s: %s", next.name, next.refused)
	}
	return nil
}

// alike gives each of two documents the sections that only the other one has, and the same name to their virtual hosts
// if they are of one each.
func alike(a, b *definitions.Definitions) {
	const single = "single_virtual_host"
	if a.Format == single && b.Format == single {
		b.VHostName = a.VHostName
	}
	both(&a.Users, &b.Users)
	both(&a.VHosts, &b.VHosts)
	both(&a.Permissions, &b.Permissions)
	both(&a.TopicPermissions, &b.TopicPermissions)
	both(&a.Parameters, &b.Parameters)
	both(&a.GlobalParameters, &b.GlobalParameters)
	both(&a.Policies, &b.Policies)
	both(&a.Queues, &b.Queues)
	both(&a.Exchanges, &b.Exchanges)
	both(&a.Bindings, &b.Bindings)
}

func both[E any](a, b *[]E) {
	switch {
	case *a == nil:
		*a = *b
	case *b == nil:
		*b = *a
	}
}

// running is the new file where the queues and exchanges of the old file are. It is not in force yet.
func (c *Comparison) running(before, after *site) *site {
	d := *after.defs
	d.Queues = inPlace(d.Queues, before.defs.Queues, func(q definitions.Queue) inVHost { return inVHost{q.VHost, q.Name} })
	d.Exchanges = inPlace(d.Exchanges, before.defs.Exchanges, func(x definitions.Exchange) inVHost { return inVHost{x.VHost, x.Name} })
	return newSite(&d, after.profile, c.refusedByRunning)
}

type inVHost struct{ vhost, name string }

// inPlace puts what is there already in the place of what has its name. Of entries with one name the first counts, as in an import.
func inPlace[E any](next, old []E, key func(E) inVHost) []E {
	there := map[inVHost]E{}
	for _, e := range slices.Backward(old) {
		there[key(e)] = e
	}
	next = slices.Clone(next)
	for i, e := range next {
		if was, ok := there[key(e)]; ok {
			next[i] = was
		}
	}
	return next
}

// refusedByRunning notes what the new file has and what is running refuses.
func (c *Comparison) refusedByRunning(_ Code, about subject, format string, args ...any) {
	text := strings.TrimSuffix(fmt.Sprintf(format, args...), ".")
	c.NotCompared = append(c.NotCompared, fmt.Sprintf("what is running refuses %s '%s': %s", about.kind, about.name, text))
}

// sort puts changes in the order of virtual hosts, kinds and names.
func (c *Comparison) sort() {
	slices.SortStableFunc(c.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.VHost, b.VHost), cmp.Compare(slices.Index(kinds, a.Kind), slices.Index(kinds, b.Kind)),
			cmp.Compare(a.Name, b.Name))
	})
}
