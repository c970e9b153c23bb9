package page

import (
	"encoding/json"
	"net/url"
	"slices"
	"unicode/utf8"

	"github.com/leveretmq/leveret"
)

// A queueData is what the view of a queue shows.
type queueData struct {
	VHost, Name string
	Queue       Object
	Settings    []setting
	Lengths     plot
	Rates       plot
	Losses      []figure
	Bindings    listing
	Consumers   []row
	Columns     []head // of Consumers
	Keyed       bool   // no: the routing key of a publish is the queue's name
	Named       bool   // by a name that a publish by the API can have
}

// A setting is one that is in force, and where it comes from.
type setting struct {
	Key, Value, From string
	Default          bool
}

// vhostAndName are what a view is about.
func (v *visit) vhostAndName() (vhost, name string) { return v.query.Get("vhost"), v.query.Get("name") }

func (v *visit) queue() (any, error) {
	vhost, name := v.vhostAndName()
	answer, err := v.source.Ask(v.request, Question{Path: []string{"queues", vhost, name}, Query: plotted})
	if err != nil {
		return nil, err
	}
	q, err := v.findQueue(vhost, name)
	if err != nil {
		return nil, err
	}
	d := queueData{VHost: vhost, Name: name, Queue: answer.(Object), Settings: inForce(q.Effective()), Named: utf8.ValidString(name)}
	d.Lengths, d.Rates = lengthsOf(d.Queue), ratesOf(d.Queue["message_stats"])
	losses := map[string]uint64{}
	addLosses(losses, q.Counters().Dropped)
	d.Losses = sortedLosses(losses)
	consumers, _ := d.Queue["consumer_details"].([]Object)
	d.Columns = v.heads(consumerTable)
	for _, c := range consumers {
		d.Consumers = append(d.Consumers, consumerTable.row(c))
	}
	d.Bindings, err = v.listFrom(bindingTable, []string{"queues", vhost, name, "bindings"})
	return d, err
}

// findQueue returns a queue that the API has shown to the user already.
func (v *visit) findQueue(vhost, name string) (*leveret.Queue, error) {
	host, err := v.broker.VHost(vhost)
	if err != nil {
		return nil, err
	}
	return host.Queue(name)
}

// inForce lists settings, those that somebody has made first.
func inForce(e leveret.Effective) (all []setting) {
	for _, s := range e.Settings {
		if s.Value == nil && s.Source == leveret.SourceDefault {
			continue
		}
		value := text(s.Value)
		if value == "" {
			data, _ := json.Marshal(s.Value)
			value = string(data)
		}
		all = append(all, setting{s.Key, value, sourceOf(s.Source, e), s.Source == leveret.SourceDefault})
	}
	slices.SortStableFunc(all, func(a, b setting) int {
		switch {
		case a.Default == b.Default:
			return 0
		case a.Default:
			return 1
		}
		return -1
	})
	return all
}

// sourceOf says where a setting comes from, with the policy's name.
func sourceOf(s leveret.Source, e leveret.Effective) string {
	switch s {
	case leveret.SourcePolicy:
		return "policy " + e.Policy
	case leveret.SourceOperatorPolicy:
		return "operator policy " + e.OperatorPolicy
	}
	return string(s)
}

// An exchangeData is what the view of an exchange shows.
type exchangeData struct {
	VHost, Name  string
	Exchange     Object
	Rates        plot
	From, Toward listing
	Keyed        bool // a publish has a routing key
}

func (v *visit) exchange() (any, error) {
	vhost, name := v.vhostAndName()
	path := []string{"exchanges", vhost, exchangeInPath(name)}
	answer, err := v.source.Ask(v.request, Question{Path: path, Query: url.Values{}})
	if err != nil {
		return nil, err
	}
	d := exchangeData{VHost: vhost, Name: name, Exchange: answer.(Object), Keyed: true}
	if d.From, err = v.listFrom(bindingTable, append(slices.Clone(path), "bindings", "source")); err != nil {
		return nil, err
	}
	d.From.Title = "Bindings from it"
	d.Toward, err = v.listFrom(bindingTable, append(slices.Clone(path), "bindings", "destination"))
	d.Toward.Title = "Bindings to it"
	return d, err
}

// exchangeInPath is the name of an exchange in paths of the API.
func exchangeInPath(name string) string {
	if name == "" {
		return "amq.default"
	}
	return name
}
