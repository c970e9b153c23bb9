package leveret

import (
	"bytes"
	"log/slog"
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
	all := reflect.ValueOf(&merge([]*watcher{watching(1), {}, watching(2), watching(3)}).Events).Elem()
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

// Each kind of event is one line of the log, and errors are warnings.
func TestEveryEventIsLogged(t *testing.T) {
	var out bytes.Buffer
	events := reflect.ValueOf(LogEvents(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	for i := range events.NumField() {
		name, f := events.Type().Field(i).Name, events.Field(i)
		require.False(t, f.IsNil(), name)
		out.Reset()
		f.Call([]reflect.Value{reflect.Zero(f.Type().In(0))})
		require.Equal(t, 1, bytes.Count(out.Bytes(), []byte("\n")), name)
	}
	out.Reset()
	LogEvents(slog.New(slog.NewTextHandler(&out, nil))).ChannelClosed(ChannelEvent{EventSession: EventSession{3, 1}, Err: &Error{Code: NotFound, Reason: "no queue 'q'"}})
	require.Contains(t, out.String(), `level=WARN msg="channel closed" vhost="" conn=3 channel=1 error="NOT_FOUND - no queue 'q'"`)
}

// Each cause has a figure.
func TestEveryCauseIsCounted(t *testing.T) {
	var d DropCounters
	for _, c := range causes {
		*d.of(c)++
	}
	v := reflect.ValueOf(d)
	require.Equal(t, v.NumField(), len(causes))
	for i := range v.NumField() {
		require.EqualValues(t, 1, v.Field(i).Uint(), v.Type().Field(i).Name)
	}
}
