package leveret

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each kind of event reaches all watchers, in the order in which they were added.
func TestMergedEventsCallAllWatchers(t *testing.T) {
	var order []int
	watching := func(n int) *watcher {
		w := &watcher{}
		hooks := reflect.ValueOf(&w.events).Elem()
		for i := range hooks.NumField() {
			f := hooks.Field(i)
			f.Set(reflect.MakeFunc(f.Type(), func([]reflect.Value) []reflect.Value {
				order = append(order, n)
				return nil
			}))
		}
		return w
	}
	all := reflect.ValueOf(merge([]*watcher{watching(1), {}, watching(2), watching(3)})).Elem()
	for i := range all.NumField() {
		name, f := all.Type().Field(i).Name, all.Field(i)
		require.False(t, f.IsNil(), name)
		order = nil
		f.Call([]reflect.Value{reflect.Zero(f.Type().In(0))})
		require.Equal(t, []int{1, 2, 3}, order, name)
	}
}

func TestNobodyWatches(t *testing.T) {
	b := New()
	defer b.Close()
	require.Nil(t, b.vhost.events)
	stop := b.Watch(Events{})
	require.NotNil(t, b.vhost.events)
	stop()
	stop()
	require.Nil(t, b.vhost.events)
}
