package leveret

import "reflect"

// RuleNames lists the fields of a profile, which users of the package do not see.
func RuleNames() []string {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[rules]()) {
		names = append(names, f.Name)
	}
	return names
}

// WithChangedRule has a broker play p but for one field: a switch is turned over, a number is one more, a text is
// another one.
func WithChangedRule(p Profile, name string) Option {
	changed := *p.rules()
	field := reflect.ValueOf(&changed).Elem().FieldByName(name)
	switch at := field.Addr().UnsafePointer(); field.Kind() {
	case reflect.Bool:
		*(*bool)(at) = !*(*bool)(at)
	case reflect.Int:
		*(*int)(at)++
	case reflect.Int64:
		*(*int64)(at)++
	case reflect.String:
		*(*string)(at) += "x"
	default:
		panic("leveret: the profile's field " + name + " is of a kind that nothing changes yet: " + field.Kind().String())
	}
	return func(b *Broker) { b.profile, b.rules = p, &changed }
}
