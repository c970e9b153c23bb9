package definitions

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/leveretmq/leveret"
)

// FieldNames lists the fields of what differs between releases, which users of the package do not see.
func FieldNames() []string {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[release]()) {
		names = append(names, f.Name)
	}
	return names
}

// ChangeField has the package play p but for one field, until the test ends: a switch is turned over, the other member
// counts.
func ChangeField(t testing.TB, p leveret.Profile, name string) {
	was := releases[p]
	changed := *was
	field := reflect.ValueOf(&changed).Elem().FieldByName(name)
	switch at := field.Addr().UnsafePointer(); field.Kind() {
	case reflect.Bool:
		*(*bool)(at) = !*(*bool)(at)
	case reflect.Uint8:
		*(*uint8)(at) ^= 1
	default:
		panic(fmt.Sprintf("definitions: nothing changes fields such as %s yet: %s", name, field.Kind()))
	}
	releases[p] = &changed
	t.Cleanup(func() { releases[p] = was })
}
