package leveret

import (
	"encoding/json"
	"slices"

	"github.com/leveretmq/leveret/internal/jsondoc"
	"github.com/leveretmq/leveret/internal/record"
)

// A GlobalParameter is a setting of a whole cluster, such as its name. It means nothing to the
// broker, which keeps it for RabbitMQ's tools and for definitions.
type GlobalParameter struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"` // any JSON; an object without members is kept as an empty list
}

// GlobalParameters returns all global parameters, in the order in which they were first set.
func (b *Broker) GlobalParameters() []GlobalParameter {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := slices.Clone(b.global)
	for i := range all {
		all[i].Value = slices.Clone(all[i].Value)
	}
	return all
}

// SetGlobalParameter sets a global parameter or replaces its value. A value that is no JSON is ErrSyntax; nil is null.
// The value is kept as RabbitMQ writes it: 1e5 is 1.0e5, and an object's members have the order of their keys.
func (b *Broker) SetGlobalParameter(p GlobalParameter) error {
	if p.Value != nil {
		value, err := jsondoc.Rewrite(p.Value)
		if err != nil {
			return SyntaxError.errorf(p.Name, "the value of global parameter '%s' is no JSON", p.Name)
		}
		p.Value = value
	}
	if string(p.Value) == "{}" {
		p.Value = json.RawMessage("[]") // J-1
	}
	return b.settled(b.withLock(func() error {
		b.putParameterLocked(p)
		return nil
	}))
}

// ClearGlobalParameter removes a global parameter. A missing one is ErrNotFound.
func (b *Broker) ClearGlobalParameter(name string) error {
	return b.settled(b.withLock(func() error {
		if !b.dropParameterLocked(name) {
			return NotFound.errorf(name, "global parameter '%s' does not exist", name)
		}
		return nil
	}))
}

// putParameterLocked sets a parameter in its place, a new one in the last.
func (b *Broker) putParameterLocked(p GlobalParameter) {
	if i := b.globalParameter(p.Name); i >= 0 {
		b.global[i] = p
		if b.disk != nil {
			b.disk.note(p.record())
		}
		return
	}
	b.global = append(b.global, p)
	if b.disk != nil { // an earlier one of the name may have stood elsewhere
		b.disk.note(&record.NoParameter{Name: p.Name}, p.record())
	}
}

// dropParameterLocked removes a parameter and reports whether there was one.
func (b *Broker) dropParameterLocked(name string) bool {
	i := b.globalParameter(name)
	if i < 0 {
		return false
	}
	b.global = slices.Delete(b.global, i, i+1)
	if b.disk != nil {
		b.disk.note(&record.NoParameter{Name: name})
	}
	return true
}

// globalParameter returns the position of a global parameter, or -1.
func (b *Broker) globalParameter(name string) int {
	return slices.IndexFunc(b.global, func(g GlobalParameter) bool { return g.Name == name })
}
