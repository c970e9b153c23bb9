package blackbox_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

var (
	callPrograms = flag.Int("calls", 60, "how many programs of arbitrary calls to run")
	callSeed     = flag.Uint64("callseed", 0, "the seed of the first of them; 0: another one each time")
)

// A caller calls any exported method of anything that it has got, in any order, with any arguments: what a program that is wrong
// in every way may do.
type caller struct {
	*rand.Rand
	clock  *leveret.ManualClock
	things map[reflect.Type][]reflect.Value // what the calls have returned
	types  []reflect.Type                   // of the things that have methods, in the order of their first
	past   []string                         // the last calls
}

var mostCalled = []reflect.Type{reflect.TypeFor[*leveret.Broker](), reflect.TypeFor[*leveret.VHost](), reflect.TypeFor[*leveret.Channel](),
	reflect.TypeFor[*leveret.Channel](), reflect.TypeFor[*leveret.Queue](), reflect.TypeFor[*leveret.ManualClock](),
	reflect.TypeFor[*leveret.Delivery](), reflect.TypeFor[*leveret.Consumer]()}

var seldomCalled = map[string]bool{"Close": true, "Stop": true, "Reset": true, "Restart": true, "DeleteVHost": true, "DeleteUser": true, "SetLimits": true,
	"SetUserLimits": true, "CloseConnection": true, "Fail": true, "Delete": true, "DeleteQueue": true, "Purge": true, "PurgeQueue": true, "SetAlarm": true,
	"SetMemoryLimit": true, "SetDiskFreeLimit": true, "ReportMemory": true, "RefuseBody": true, "RefuseProperties": true}

// TestAnyCalls has programs of arbitrary calls, none of which may panic, wait without end or break the broker.
func TestAnyCalls(t *testing.T) {
	seed := *callSeed
	if seed == 0 {
		seed = rand.Uint64N(math.MaxInt32)
	}
	t.Logf("-callseed %d", seed)
	n := uint64(*callPrograms)
	if testing.Short() {
		n /= 4
	}
	for s := seed; s < seed+n; s++ {
		if !t.Run(fmt.Sprint(s), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { callAnything(t, s) }) }) {
			return
		}
	}
}

func callAnything(t *testing.T, seed uint64) {
	clock := leveret.NewManualClock(time.Unix(1e9, 0))
	options := []leveret.Option{leveret.WithClock(clock), leveret.WithProfile([]leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310}[seed%2])}
	b := leveret.New(options...)
	if seed%7 == 0 {
		var err error
		b, err = leveret.Open(t.TempDir(), append(options, leveret.WithSync(leveret.SyncNever))...)
		require.NoError(t, err)
	}
	defer b.Close()
	var callers sync.WaitGroup
	for i := range 1 + 2*(seed%3%2) { // one, or three at once
		callers.Go(func() {
			c := &caller{Rand: rand.New(rand.NewPCG(seed, i)), clock: clock, things: map[reflect.Type][]reflect.Value{}}
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("%v\n%s\n%s", p, strings.Join(c.past, "\n"), debug.Stack())
				}
			}()
			c.callAll(t, b)
		})
	}
	callers.Wait()
}

func (c *caller) callAll(t *testing.T, b *leveret.Broker) {
	for _, v := range []any{b, c.clock, new(leveret.Delivery), new(leveret.Inbox), new(leveret.Error), leveret.Table(nil), leveret.Fields(nil)} {
		c.have(reflect.ValueOf(v))
	}
	for i := range 400 {
		if i%20 == 0 {
			c.begin(b)
		}
		c.call()
		if err := b.Check(); err != nil {
			t.Errorf("%v\n%s", err, strings.Join(c.past, "\n"))
			return
		}
	}
}

// begin has something to call, whatever the calls have ended. An error says that the broker is closed, or so.
func (c *caller) begin(b *leveret.Broker) {
	for name, kind := range map[string]string{"q": "classic", "r": "quorum"} {
		q, err := b.DeclareQueue(name, leveret.QueueConfig{Durable: true, Arguments: leveret.Table{"x-queue-type": kind}})
		if err == nil {
			c.have(reflect.ValueOf(q))
			b.BindQueue(name, "amq.topic", "#", nil)
		}
	}
	b.SetPolicy(leveret.Policy{Name: "dead", ApplyTo: "queues", Definition: leveret.Table{"dead-letter-exchange": "amq.topic"}})
	b.AddUser("guest", "guest")
	b.SetPermissions("guest", leveret.Permissions{Configure: ".*", Write: ".*", Read: ".*"})
	if conn, err := b.Connect("guest", "guest", "/"); err == nil {
		c.have(reflect.ValueOf(conn))
		if ch, err := conn.Channel(); err == nil {
			c.have(reflect.ValueOf(ch))
		}
	}
}

// have keeps a thing that has methods, to call them later, and what is in it.
func (c *caller) have(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Func, reflect.Chan:
		if v.IsNil() && v.Kind() != reflect.Map {
			return
		}
	case reflect.Slice:
		for i := range min(v.Len(), 3) {
			c.have(v.Index(i))
		}
	}
	t := v.Type()
	if t.NumMethod() == 0 || !strings.Contains(t.String(), "leveret.") {
		return
	}
	if c.things[t] == nil {
		c.types = append(c.types, t)
	}
	if len(c.things[t]) < 20 {
		c.things[t] = append(c.things[t], v)
	} else {
		c.things[t][c.IntN(20)] = v
	}
}

func (c *caller) call() {
	t := c.types[c.IntN(len(c.types))]
	if c.IntN(5) > 0 {
		t = mostCalled[c.IntN(len(mostCalled))]
	}
	if len(c.things[t]) == 0 {
		return
	}
	on := c.things[t][c.IntN(len(c.things[t]))]
	m := t.Method(c.IntN(t.NumMethod()))
	if seldomCalled[m.Name] && c.IntN(10) > 0 {
		return // mostly there is something left to do
	}
	f := on.Method(m.Index)
	isClock := t == reflect.TypeFor[*leveret.ManualClock]()
	var in []reflect.Value
	text := make([]string, f.Type().NumIn())
	for i := range f.Type().NumIn() {
		v := c.some(f.Type().In(i), 0)
		if isClock && v.Kind() == reflect.Int64 && v.Int() > int64(time.Hour) {
			return // till the end of time too much is due
		}
		text[i] = describe(v)
		in = append(in, v)
	}
	c.past = append(c.past, fmt.Sprintf("%v.%s(%s)", t, m.Name, strings.Join(text, ", ")))
	c.past = c.past[max(0, len(c.past)-30):]
	call := f.Call
	if f.Type().IsVariadic() {
		call = f.CallSlice
	}
	for _, out := range demanding(call)(in) {
		c.have(out)
		c.try(out)
	}
}

// describe tells an argument, but not what is in a thing that others use.
func describe(v reflect.Value) string {
	if v.Kind() == reflect.Pointer || v.Kind() == reflect.Func || v.Kind() == reflect.Interface {
		return v.Type().String()
	}
	s := fmt.Sprintf("%+v", v)
	return s[:min(len(s), 300)]
}

// demanding lets a call panic that demands other arguments, and says so.
func demanding(call func([]reflect.Value) []reflect.Value) func([]reflect.Value) []reflect.Value {
	return func(in []reflect.Value) []reflect.Value {
		defer func() {
			p := recover()
			if text, ok := p.(string); p != nil && !(ok && strings.HasPrefix(text, "leveret: ")) {
				panic(p)
			}
		}()
		return call(in)
	}
}

// try calls a function or an iterator that a call has returned.
func (c *caller) try(out reflect.Value) {
	if out.Kind() != reflect.Func || out.IsNil() {
		return
	}
	switch f := out.Interface().(type) {
	case func():
		f()
	default:
		if out.Type().CanSeq() {
			n := 0
			for v := range out.Seq() {
				if c.have(v); n == 3 {
					break
				}
				n++
			}
		}
	}
}

var someNames = []string{"q", "r", "q", "r", "amq.topic", ""}

var someTexts = []string{"", "", "q", "q", "r", "x", "amq.direct", "amq.topic", "amq.headers", "/", "v", "guest", "#", "*", ".*", "(", "\xff", "ä",
	"classic", "quorum", "stream", "direct", "fanout", "topic", "headers", "1", "-1", "none", strings.Repeat("l", 256)}

var someKeys = []string{"x-message-ttl", "x-expires", "x-max-length", "x-max-length-bytes", "x-overflow", "x-dead-letter-exchange",
	"x-dead-letter-routing-key", "x-queue-type", "x-max-priority", "x-single-active-consumer", "x-delivery-limit", "x-match", "x-priority", "CC", "BCC",
	"x-death", "message-ttl", "max-length", "dead-letter-exchange", "alternate-exchange", "x-dead-letter-strategy", "q", ""}

// someValues are right for the key, mostly.
var someValues = map[string][]any{
	"x-message-ttl": {0, 1, 500}, "x-expires": {1, 2000}, "x-max-length": {0, 1, 2}, "x-max-length-bytes": {0, 3}, "x-queue-type": {"quorum", "classic"},
	"x-overflow": {"drop-head", "reject-publish", "reject-publish-dlx"}, "x-max-priority": {3}, "x-single-active-consumer": {true}, "x-delivery-limit": {0, 1, -1},
	"x-priority": {-1, 2}, "message-ttl": {0, 300}, "max-length": {0, 1}, "x-dead-letter-strategy": {"at-least-once"}, "CC": {[]any{"r", "q"}},
	"x-dead-letter-exchange": {"", "amq.topic"}, "dead-letter-exchange": {"", "amq.topic"},
}

// some returns any value of a type: one that a call has returned, or a new one.
func (c *caller) some(t reflect.Type, depth int) reflect.Value {
	if had := c.things[t]; len(had) > 0 && (c.IntN(10) > 0 || t == reflect.TypeFor[*leveret.Broker]()) {
		return had[c.IntN(len(had))]
	}
	v := reflect.New(t).Elem()
	switch t {
	case reflect.TypeFor[context.Context]():
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(c.IntN(2))*time.Second)
		context.AfterFunc(ctx, cancel)
		return reflect.ValueOf(ctx)
	case reflect.TypeFor[time.Time]():
		return reflect.ValueOf(c.clock.Now().Add(time.Duration(c.IntN(2000)-1000) * time.Millisecond))
	case reflect.TypeFor[error]():
		return reflect.ValueOf(errors.New("an error"))
	case reflect.TypeFor[time.Duration]():
		return reflect.ValueOf([]time.Duration{0, 1, -1, time.Second, time.Hour, math.MaxInt64, math.MinInt64}[c.IntN(7)])
	case reflect.TypeFor[any]():
		v.Set(c.anyValue(depth))
		return v
	case reflect.TypeFor[leveret.Table]():
		if c.IntN(3) == 0 {
			return v
		}
		table := leveret.Table{}
		for range c.IntN(4) {
			key := someKeys[c.IntN(len(someKeys))]
			if values := someValues[key]; len(values) > 0 && c.IntN(3) > 0 {
				table[key] = values[c.IntN(len(values))]
			} else {
				table[key] = c.anyValue(depth + 1).Interface()
			}
		}
		return reflect.ValueOf(table)
	}
	switch t.Kind() {
	case reflect.Bool:
		v.SetBool(c.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt([]int64{0, 1, -1, 2, 5, 255, math.MaxInt64, math.MinInt64}[c.IntN(8)])
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint([]uint64{0, 1, 2, 3, 9, math.MaxUint64}[c.IntN(6)])
	case reflect.Float32, reflect.Float64:
		v.SetFloat([]float64{0, 1, -0.5, math.NaN(), math.Inf(1)}[c.IntN(5)])
	case reflect.String:
		if v.SetString(someNames[c.IntN(len(someNames))]); c.IntN(3) == 0 {
			v.SetString(someTexts[c.IntN(len(someTexts))])
		}
	case reflect.Slice:
		if n := c.IntN(4); n > 0 && depth < 4 {
			v.Set(reflect.MakeSlice(t, n, n))
			for i := range n {
				v.Index(i).Set(c.some(t.Elem(), depth+1))
			}
		}
	case reflect.Array:
		for i := range t.Len() {
			v.Index(i).Set(c.some(t.Elem(), depth+1))
		}
	case reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).IsExported() && c.IntN(3) > 0 {
				v.Field(i).Set(c.some(t.Field(i).Type, depth+1))
			}
		}
	case reflect.Pointer:
		if depth == 0 || depth < 4 && c.IntN(4) > 0 { // only what is in an argument may be nil
			v.Set(reflect.New(t.Elem()))
			if e := t.Elem(); e == reflect.TypeFor[leveret.Properties]() || e == reflect.TypeFor[leveret.Error]() {
				v.Elem().Set(c.some(e, depth+1))
			}
		}
	case reflect.Func:
		if depth == 0 || c.IntN(4) > 0 {
			v.Set(reflect.MakeFunc(t, func([]reflect.Value) (out []reflect.Value) {
				for i := range t.NumOut() {
					out = append(out, reflect.Zero(t.Out(i)))
				}
				return out
			}))
		}
	case reflect.Map, reflect.Interface, reflect.Chan: // the zero value
	}
	return v
}

// anyValue is an argument or a header of any type, also of such that AMQP does not know.
func (c *caller) anyValue(depth int) reflect.Value {
	values := []any{nil, true, int8(-1), int32(7), int64(1 << 40), uint16(3), 1, 1.5, math.NaN(), "text", "q", []byte("octets"), time.Unix(1, 5), time.Duration(5),
		leveret.Table{"a": nil}, []any{"q", 1, nil}, []string{"r", "q"}, struct{}{}, make(chan int), map[string]any{"k": 1}, &depth, leveret.Table(nil)}
	v := values[c.IntN(len(values))]
	if depth < 4 && c.IntN(8) == 0 {
		v = []any{c.some(reflect.TypeFor[leveret.Table](), depth+1).Interface()}
	}
	if v == nil {
		return reflect.Zero(reflect.TypeFor[any]())
	}
	return reflect.ValueOf(&v).Elem()
}
