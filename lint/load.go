package lint

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/definitions"
	"github.com/leveretmq/leveret/internal/presumed"
)

// A file is put into force in a broker. What is refused is reported and taken out, so that the rest can be looked at.

// A site is a file in force.
type site struct {
	profile leveret.Profile
	defs    *definitions.Definitions // what is in force, all of it in named virtual hosts
	b       *leveret.Broker
	ignored []leveret.IgnoredEvent
}

// A report takes a finding.
type report func(c Code, about subject, format string, args ...any)

// load puts a file into force. The error is a *definitions.SyntaxError.
func load(file []byte, p leveret.Profile, found report) (*site, error) {
	d, err := read(file, found)
	if err != nil {
		return nil, err
	}
	checkSections(file, found)
	checkPresumed(d, found)
	s := newSite(d, p, found)
	return s, s.apply(found)
}

// read returns the definitions of a file, none if one of them is no definition.
func read(file []byte, found report) (*definitions.Definitions, error) {
	d, err := definitions.Parse(file)
	var wrong *definitions.Error
	if errors.As(err, &wrong) {
		found(Refused, refusalOf(wrong), "%s.", reason(wrong.Err))
		return &definitions.Definitions{}, nil
	}
	return d, err
}

// checkPresumed reports what has to be there before the file is imported. A file of one virtual host may be imported into any.
func checkPresumed(d *definitions.Definitions, found report) {
	const text = "No section of this file makes it: where it is not there already, an import refuses the file."
	if d.Format != "single_virtual_host" {
		for _, name := range presumed.VHosts(d) {
			found(Presumed, subject{"", "vhost", name}, text)
		}
	}
	for _, name := range presumed.Users(d) {
		found(Presumed, subject{"", "user", name}, text)
	}
}

// newSite is a site for definitions, which are not in force yet.
func newSite(d *definitions.Definitions, p leveret.Profile, found report) *site {
	s := &site{profile: p}
	d, leftOut := named(d).Supported(p)
	for _, e := range leftOut {
		found(LeftOut, refusalOf(e), "Not looked at: %s.", reason(e.Err))
	}
	s.defs = d
	s.b = s.newBroker(leveret.WithEvents(leveret.Events{
		Ignored: func(e leveret.IgnoredEvent) { s.ignored = append(s.ignored, e) },
	}))
	return s
}

// maxRefused is how many refused entries of a section are reported. Each takes an import of the whole file.
const maxRefused = 20

// apply puts the definitions into force, without the entries that are refused.
func (s *site) apply(found report) error {
	refused := map[string]int{} // by section
	for {
		err := s.defs.Apply(s.b)
		var wrong *definitions.Error
		if !errors.As(err, &wrong) {
			return err
		}
		found(Refused, refusalOf(wrong), "%s.", reason(wrong.Err))
		if refused[wrong.Section]++; refused[wrong.Section] == maxRefused && wrong.Index >= 0 {
			wrong.Index, wrong.Name = -1, ""
			found(Refused, refusalOf(wrong), "More than %d entries may be refused: the others were not looked at.", maxRefused)
		}
		s.defs = without(s.defs, wrong)
	}
}

func (s *site) close() { s.b.Close() }

// named returns definitions in which every entry names its virtual host: in a file of one virtual host none does.
func named(d *definitions.Definitions) *definitions.Definitions {
	c := *d
	name := cmp.Or(d.VHostName, "/")
	c.Parameters = eachNamed(d.Parameters, func(e *definitions.Parameter) *string { return &e.VHost }, name)
	c.Policies = eachNamed(d.Policies, func(e *definitions.Policy) *string { return &e.VHost }, name)
	c.Queues = eachNamed(d.Queues, func(e *definitions.Queue) *string { return &e.VHost }, name)
	c.Exchanges = eachNamed(d.Exchanges, func(e *definitions.Exchange) *string { return &e.VHost }, name)
	c.Bindings = eachNamed(d.Bindings, func(e *definitions.Binding) *string { return &e.VHost }, name)
	return &c
}

func eachNamed[E any](entries []E, vhost func(*E) *string, name string) []E {
	entries = slices.Clone(entries)
	for i := range entries {
		at := vhost(&entries[i])
		*at = cmp.Or(*at, name)
	}
	return entries
}

// without returns definitions without the entry that was refused, or without the section.
func without(d *definitions.Definitions, e *definitions.Error) *definitions.Definitions {
	c := *d
	switch e.Section {
	case "users":
		c.Users = drop(d.Users, e.Index)
	case "vhosts":
		c.VHosts = drop(d.VHosts, e.Index)
	case "permissions":
		c.Permissions = drop(d.Permissions, e.Index)
	case "topic_permissions":
		c.TopicPermissions = drop(d.TopicPermissions, e.Index)
	case "parameters":
		c.Parameters = drop(d.Parameters, e.Index)
	case "global_parameters":
		c.GlobalParameters = drop(d.GlobalParameters, e.Index)
	case "policies":
		c.Policies = drop(d.Policies, e.Index)
	case "queues":
		c.Queues = drop(d.Queues, e.Index)
	case "exchanges":
		c.Exchanges = drop(d.Exchanges, e.Index)
	case "bindings":
		c.Bindings = drop(d.Bindings, e.Index)
	}
	return &c
}

func drop[E any](entries []E, i int) []E {
	if i < 0 {
		return []E{}
	}
	return slices.Delete(slices.Clone(entries), i, i+1)
}

// newBroker makes an empty broker that has what the file presumes. Its clock stands still.
func (s *site) newBroker(opts ...leveret.Option) *leveret.Broker {
	opts = append(opts, leveret.WithProfile(s.profile), leveret.WithClock(leveret.NewManualClock(time.Unix(1e9, 0))))
	b := leveret.New(opts...)
	presumed.Make(s.defs, b)
	return b
}

// brokerOf makes a broker in which other definitions are in force, made of those of the site.
func (s *site) brokerOf(d *definitions.Definitions, opts ...leveret.Option) (*leveret.Broker, error) {
	b := s.newBroker(opts...)
	if err := d.Apply(b); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// A vhost is what there is in a virtual host.
type vhost struct {
	*leveret.VHost
	queues    []leveret.QueueInfo
	named     map[string]leveret.QueueInfo
	exchanges map[string]leveret.ExchangeInfo
	bindings  []leveret.BindingInfo            // those of the default exchange left out
	incoming  map[string][]leveret.BindingInfo // those of them that lead to queues, by queue
	effective map[string]leveret.Effective
}

func (s *site) vhosts() (all []vhost) {
	for _, info := range s.b.VHosts() {
		v, err := s.b.VHost(info.Name)
		if err == nil {
			all = append(all, see(v))
		}
	}
	return all
}

// see lists what there is in a virtual host.
func see(v *leveret.VHost) vhost {
	seen := vhost{VHost: v, queues: v.Queues(), named: map[string]leveret.QueueInfo{},
		exchanges: map[string]leveret.ExchangeInfo{}, incoming: map[string][]leveret.BindingInfo{},
		effective: map[string]leveret.Effective{}}
	for _, x := range v.Exchanges() {
		seen.exchanges[x.Name] = x
	}
	for _, b := range v.Bindings() {
		if b.Source == "" {
			continue
		}
		seen.bindings = append(seen.bindings, b)
		if b.DestinationType == leveret.DestinationQueue {
			seen.incoming[b.Destination] = append(seen.incoming[b.Destination], b)
		}
	}
	for _, q := range seen.queues {
		seen.named[q.Name] = q
		if queue, err := v.Queue(q.Name); err == nil {
			seen.effective[q.Name] = queue.Effective()
		}
	}
	return seen
}

func (v vhost) queue(name string) subject { return subject{v.Name(), "queue", name} }

// setting returns the value that is in force for a queue, nil if there is none.
func (v vhost) setting(queue, key string) any {
	s, _ := v.effective[queue].Get(key)
	return s.Value
}
