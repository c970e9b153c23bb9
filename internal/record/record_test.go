package record

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/leveretmq/leveret/internal/race"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// items draws an operation. Every field of every item is drawn by reflection: a field that is not coded is found.
func items(t *rapid.T) (all []Item) {
	for range rapid.IntRange(0, 5).Draw(t, "items") {
		item := makers[rapid.SampledFrom(kinds()).Draw(t, "kind")]()
		fill(t, reflect.ValueOf(item).Elem())
		if p, ok := item.(*Message); ok && p.Extra != nil && p.Extra.Published != nil {
			n := uint32(len(p.Extra.Published.Keys))
			p.Extra.Published.Routes, p.Extra.Published.BCC = rapid.Uint32Max(n).Draw(t, "routes"), rapid.Uint32Max(n).Draw(t, "bcc")
		}
		if p, ok := item.(*Message); ok && p.Extra != nil {
			p.Extra.FirstDeath = rapid.Uint32Max(uint32(max(len(p.Extra.Deaths), 1))-1).Draw(t, "first")
			if p.Extra.LastExchange == nil && len(p.Extra.Deaths) > 0 {
				p.Extra.LastExchange = new(string)
			}
		}
		all = append(all, item)
	}
	return all
}

func kinds() (all []int) {
	for kind, make := range makers {
		if make != nil {
			all = append(all, kind)
		}
	}
	return all
}

// fill draws a value of any type that items have.
func fill(t *rapid.T, v reflect.Value) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(aTime(t)))
		return
	case State:
		v.SetUint(rapid.Uint64Range(0, uint64(states)-1).Draw(t, "state"))
		return
	case Table:
		v.Set(reflect.ValueOf(aTable(t, 0)))
		return
	case Fields:
		v.Set(reflect.ValueOf(someFields(t, 0)))
		return
	case []byte:
		v.Set(reflect.ValueOf(rapid.SliceOf(rapid.Byte()).Draw(t, "octets")))
		if rapid.Bool().Draw(t, "nil") {
			v.SetZero()
		}
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(rapid.String().Draw(t, "text"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "flag"))
	case reflect.Float64:
		v.SetFloat(rapid.Float64().Draw(t, "float"))
	case reflect.Pointer:
		if rapid.Bool().Draw(t, "some") {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem())
		}
	case reflect.Slice:
		if n := rapid.IntRange(-1, 3).Draw(t, "length"); n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(t, v.Index(i))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	default:
		switch {
		case v.CanUint():
			bits := v.Type().Bits()
			v.SetUint(rapid.Uint64().Draw(t, "number") >> (64 - bits))
		case v.CanInt():
			bits := v.Type().Bits()
			v.SetInt(rapid.Int64().Draw(t, "number") >> (64 - bits))
		default:
			panic("no way to draw " + v.Type().String())
		}
	}
}

func aTime(t *rapid.T) time.Time {
	if rapid.Bool().Draw(t, "no time") {
		return time.Time{}
	}
	return time.Unix(rapid.Int64Range(-1<<40, 1<<40).Draw(t, "seconds"), 0).UTC()
}

func aTable(t *rapid.T, depth int) Table {
	f := someFields(t, depth)
	if f == nil {
		return nil
	}
	all := Table{}
	for _, field := range f {
		all[field.Name] = field.Value
	}
	return all
}

func someFields(t *rapid.T, depth int) Fields {
	n := rapid.IntRange(-1, 3).Draw(t, "fields")
	if n < 0 {
		return nil
	}
	f := make(Fields, n)
	for i := range f {
		f[i] = Field{rapid.StringN(0, 2, -1).Draw(t, "name"), aValue(t, depth)}
	}
	return f
}

func aValue(t *rapid.T, depth int) any {
	most := int(table)
	if depth == 3 {
		most = int(timestamp)
	}
	switch uint8(rapid.IntRange(0, most).Draw(t, "type")) {
	case no, yes:
		return rapid.Bool().Draw(t, "v")
	case text:
		return rapid.String().Draw(t, "v")
	case binaryText:
		return rapid.SliceOf(rapid.Byte()).Draw(t, "v")
	case int8Value:
		return rapid.Int8().Draw(t, "v")
	case uint8Value:
		return rapid.Uint8().Draw(t, "v")
	case int16Value:
		return rapid.Int16().Draw(t, "v")
	case uint16Value:
		return rapid.Uint16().Draw(t, "v")
	case int32Value:
		return rapid.Int32().Draw(t, "v")
	case uint32Value:
		return rapid.Uint32().Draw(t, "v")
	case int64Value:
		return rapid.Int64().Draw(t, "v")
	case bigValue:
		n := new(big.Int).Mul(big.NewInt(rapid.Int64().Draw(t, "v")), big.NewInt(math.MaxInt64))
		return new(big.Int).SetBits(slices.Clone(n.Bits())) // as it is read: without room behind it
	case float32Value:
		return rapid.Float32().Draw(t, "v")
	case float64Value:
		return rapid.Float64().Draw(t, "v")
	case decimal:
		return Decimal{rapid.Uint8().Draw(t, "scale"), rapid.Int32().Draw(t, "v")}
	case timestamp:
		return aTime(t)
	case array:
		a := make([]any, rapid.IntRange(0, 3).Draw(t, "elements"))
		for i := range a {
			a[i] = aValue(t, depth+1)
		}
		return a
	case fields:
		return someFields(t, depth+1)
	case table:
		return aTable(t, depth+1)
	}
	return nil
}

func appendAll(buf []byte, all []Item) []byte {
	for _, item := range all {
		buf = Append(buf, item)
	}
	return buf
}

func readAll(data []byte) (all []Item, err error) {
	for item, err := range Items(data) {
		if err != nil {
			return all, err
		}
		all = append(all, item)
	}
	return all, nil
}

func TestItemsReadAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := items(t)
		data := appendAll(nil, all)
		given := slices.Clone(data)
		read, err := readAll(data)
		require.NoError(t, err)
		for i := range data {
			data[i] = 0xaa // what was read must not refer to it
		}
		require.Equal(t, all, read)
		require.Equal(t, given, appendAll(nil, read))
	})
}

// verifyStrict demands that what can be read is what would be written.
func verifyStrict(t require.TestingT, data []byte) {
	all, err := readAll(data)
	if err != nil {
		require.ErrorIs(t, err, ErrMalformed)
		require.Equal(t, string(data[:len(appendAll(nil, all))]), string(appendAll(nil, all)))
		for item, err := range new(Reader).Items(data[len(appendAll(nil, all)):]) {
			require.Nil(t, item)
			require.ErrorIs(t, err, ErrMalformed)
		}
		return
	}
	require.Equal(t, string(data), string(appendAll(nil, all)))
}

func TestDamageIsFoundOrIsAnotherItem(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := appendAll(nil, items(t))
		for range rapid.IntRange(0, 4).Draw(t, "changes") {
			if len(data) == 0 {
				break
			}
			at := rapid.IntRange(0, len(data)-1).Draw(t, "at")
			switch rapid.IntRange(0, 3).Draw(t, "change") {
			case 0:
				data[at] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
			case 1:
				data[at] = rapid.SampledFrom([]byte{0, 1, 0x7f, 0x80, 0xff}).Draw(t, "octet")
			case 2:
				data = data[:at]
			case 3:
				data = slices.Insert(data, at, rapid.Byte().Draw(t, "octet"))
			}
		}
		verifyStrict(t, data)
	})
}

// TestEveryCutIsFound cuts an operation within its last item, at each place.
func TestEveryCutIsFound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := appendAll(nil, items(t))
		item := makers[rapid.SampledFrom(kinds()).Draw(t, "kind")]()
		whole := Append(first, item)
		for n := len(first) + 1; n < len(whole); n++ {
			_, err := readAll(whole[:n])
			require.ErrorIs(t, err, ErrMalformed)
		}
	})
}

func FuzzItems(f *testing.F) {
	for _, item := range samples() {
		f.Add(Append(nil, item))
	}
	f.Fuzz(func(t *testing.T, data []byte) { verifyStrict(t, data) })
}

// samples are one item of each type.
func samples() (all []Item) {
	for _, kind := range kinds() {
		all = append(all, rapid.Custom(func(t *rapid.T) Item {
			item := makers[kind]()
			fill(t, reflect.ValueOf(item).Elem())
			if m, ok := item.(*Message); ok {
				m.Extra = nil
			}
			return item
		}).Example(kind))
	}
	return all
}

func TestKindsAreThoseOfTheirItems(t *testing.T) {
	for _, kind := range kinds() {
		require.EqualValues(t, kind, makers[kind]().kind())
	}
}

func TestFloatsKeepTheirBits(t *testing.T) {
	odd := math.Float64frombits(0x7ff8dead_beef0001)
	data := Append(nil, &Policy{Priority: odd, Definition: Table{"f": float32(math.NaN()), "n": math.Copysign(0, -1)}})
	all, err := readAll(data)
	require.NoError(t, err)
	require.Equal(t, math.Float64bits(odd), math.Float64bits(all[0].(*Policy).Priority))
	require.Equal(t, data, Append(nil, all[0]))
}

func TestNegativeIntegersOfAnySize(t *testing.T) {
	n, _ := new(big.Int).SetString("-123456789012345678901234567890", 10)
	all, err := readAll(Append(nil, &Policy{Definition: Table{"n": n}}))
	require.NoError(t, err)
	require.Zero(t, n.Cmp(all[0].(*Policy).Definition["n"].(*big.Int)))
}

// nested is a value with n arrays one in the other.
func nested(n int) (v any) {
	for range n {
		v = []any{v}
	}
	return v
}

func TestDepthIsBounded(t *testing.T) {
	deep := func(n int) Item { return &Exchange{Arguments: Fields{{"a", nested(n)}}} }
	_, err := readAll(Append(nil, deep(maxDepth)))
	require.NoError(t, err)
	require.Panics(t, func() { Append(nil, deep(maxDepth+1)) })
	// What would be deeper has one more array around the rest.
	data := Append(nil, deep(maxDepth))
	at := slices.Index(data, array)
	_, err = readAll(slices.Insert(data, at, array, 2))
	require.ErrorIs(t, err, ErrMalformed)
}

func TestOtherTypesPanic(t *testing.T) {
	for _, v := range []any{1, uint64(1), time.Second, map[string]any{}, struct{}{}} {
		require.Panics(t, func() { Append(nil, &Exchange{Arguments: Fields{{"a", v}}}) }, "%T", v)
	}
}

func TestWhatCannotHaveBeenWritten(t *testing.T) {
	for name, data := range map[string][]byte{
		"no such item":                    {15},
		"an item beyond all":              {200},
		"a number longer than it must be": {1, 0x81, 0x00, 'a'},
		"a number above 64 bits":          {21, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02},
		"a length beyond the end":         {1, 2, 'a'},
		"a flag of 2":                     {25, 2, 0},
		"a count that does not fit":       {5, 1, 1, 0xff, 0xff, 0xff, 0xff, 0x1f, 0, 0, 0},
		"names out of order":              {24, 0, 0, 0, 0, 3, 1, 'b', void, 1, 'a', void, 0, 0, 0, 0, 0, 0, 0, 0},
		"a name twice":                    {24, 0, 0, 0, 0, 3, 1, 'a', void, 1, 'a', void, 0, 0, 0, 0, 0, 0, 0, 0},
		"no such type of a value":         {24, 0, 0, 0, 0, 2, 1, 'a', table + 1, 0, 0, 0, 0, 0, 0, 0, 0},
		"a first death beyond all":        Append(nil, &Message{Extra: &Extra{FirstDeath: 1}}),
		"deaths without a last exchange":  Append(nil, &Message{Extra: &Extra{Deaths: []Death{{}}}}),
		"more keys that route than keys":  {2, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0},
	} {
		_, err := readAll(data)
		require.ErrorIs(t, err, ErrMalformed, name)
	}
}

// TestLengthsCostNothing reads lengths that are not true.
func TestLengthsCostNothing(t *testing.T) {
	data := Append(nil, &Gone{Copies: make([]uint64, 1<<20)})
	data[len(data)-1] = 0x80 // the last number has no end
	for _, lie := range [][]byte{data, append([]byte{2, 0, 0, 0, 0, 1, 0, 0, 0xff, 0xff, 0x3f}, make([]byte, 1<<20)...)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := readAll(lie)
		runtime.ReadMemStats(&after)
		require.Error(t, err)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(200*len(lie)))
	}
}

func BenchmarkPut(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	m := &Message{Exchange: "shop", Key: "order.new", Body: make([]byte, 100),
		Properties: &Properties{DeliveryMode: 2, MessageID: fmt.Sprint(rng.Uint64())}}
	p := &Put{Queue: 7, Copy: 1 << 20, Charge: 160}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = Append(Append(buf[:0], m), p)
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkReplayPut(b *testing.B) {
	m := &Message{Exchange: "shop", Key: "order.new", Body: make([]byte, 100), Properties: &Properties{DeliveryMode: 2, MessageID: "1"}}
	data := Append(Append(nil, m), &Put{Queue: 7, Copy: 1 << 20, Charge: 160})
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range Items(data) {
			require.NoError(b, err)
		}
	}
}

// verifyAllocates demands a number of allocations. The race detector has pools forget.
func verifyAllocates(t *testing.T, n int, f func(), why ...any) {
	t.Helper()
	if got := testing.AllocsPerRun(100, f); !race.Enabled {
		require.EqualValues(t, n, got, why...)
	}
}

// TestAppendAllocatesNothing writes messages into a buffer that is large enough.
func TestAppendAllocatesNothing(t *testing.T) {
	values := Fields{{"s", "text"}, {"n", int32(1)}, {"l", int64(1) << 40}, {"b", true}, {"f", 1.5}, {"t", time.Unix(1, 0).UTC()},
		{"d", Decimal{1, 2}}, {"a", []any{"x", int64(1), Fields{{"y", nil}}}}, {"o", []byte{1}}, {"m", Table{"k": "v", "j": Table{"i": "h"}}}}
	all := map[string]any{}
	for _, f := range values {
		all[f.Name] = f.Value
	}
	expiration := "10"
	death := Death{Queue: "q", Reason: "expired", Count: 1, Exchange: "x", Key: "k", Keys: []string{"a"}, Expiration: &expiration}
	for name, m := range map[string]*Message{
		"plain":      {Exchange: "shop", Key: "order.new", Body: make([]byte, 100)},
		"properties": {Body: make([]byte, 100), Properties: &Properties{DeliveryMode: 2, MessageID: "1", Timestamp: time.Unix(1, 0)}},
		"fields":     {Properties: &Properties{HeaderFields: values}},
		"table":      {Properties: &Properties{Headers: all}},
		"extra":      {Extra: &Extra{Published: &Published{Keys: []string{"a", "b"}, Routes: 2}, Deaths: []Death{death}, LastExchange: &expiration}},
	} {
		buf := Append(nil, m)
		verifyAllocates(t, 0, func() { buf = Append(buf[:0], m) }, name)
	}
}

// TestReaderReadsTheSame reads several operations with one reader.
func TestReaderReadsTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r Reader
		for range 3 {
			all := items(t)
			n := 0
			for item, err := range r.Items(appendAll(nil, all)) {
				require.NoError(t, err)
				require.Equal(t, all[n], item)
				n++
			}
			require.Len(t, all, n)
		}
	})
}

func TestReaderStopsAtMistakes(t *testing.T) {
	var r Reader
	for _, data := range [][]byte{{15}, Append(nil, &In{"v"})[:2], {2, 5, 'a'}} {
		for item, err := range r.Items(data) {
			require.Nil(t, item)
			require.ErrorIs(t, err, ErrMalformed)
		}
	}
}

func TestReaderAllocations(t *testing.T) {
	plain := &Message{Exchange: "shop", Key: "order.new", Body: make([]byte, 100)}
	given := *plain
	given.Properties = &Properties{DeliveryMode: 2, ContentType: "application/json"}
	for _, m := range []*Message{plain, &given} {
		data := Append(Append(nil, m), &Put{Queue: 7, Copy: 1 << 20, Charge: 160})
		var r Reader
		n := 0
		verifyAllocates(t, 1, func() { // the body
			for range r.Items(data) {
				n++
			}
		})
	}
}

type otherField struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

func TestTablesOfOtherPackagesAreWritten(t *testing.T) {
	l := func(values ...any) *Exchange { return &Exchange{Arguments: Fields{{"l", values}}} }
	ours := l(Decimal{1, 2}, Table{"a": Fields{{"b", Decimal{3, 4}}, {"b", nil}}}, Fields{}, Fields(nil), Table{}, Table(nil))
	type (
		Decimal struct {
			Scale uint8
			Value int32
		}
		Table  map[string]any
		Fields []otherField
	)
	theirs := l(Decimal{1, 2}, Table{"a": Fields{{"b", Decimal{3, 4}}, {"b", nil}}}, Fields{}, Fields(nil), Table{}, Table(nil))
	require.Equal(t, Append(nil, ours), Append(nil, theirs))
	data := Append(nil, theirs)
	verifyAllocates(t, 0, func() { data = Append(data[:0], theirs) })
}

func TestTypesThatOnlyHaveTheirNamesPanic(t *testing.T) {
	type (
		Decimal struct{ Value int32 }
		Table   map[string]string
		Fields  []string
	)
	for _, v := range []any{Decimal{}, Table{}, Fields{}} {
		require.Panics(t, func() { Append(nil, &Policy{Definition: map[string]any{"v": v}}) })
	}
}
