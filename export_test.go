package leveret

import (
	"fmt"
	"reflect"
	"strings"

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
