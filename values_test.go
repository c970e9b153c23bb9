package leveret

import (
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var oneOfEach = []struct {
	value   any
	name    string
	integer bool
}{
	{"5", "longstr", false}, {int32(5), "signedint", true}, {uint32(5), "unsignedint", true}, {int64(5), "long", true},
	{int16(5), "short", true}, {uint16(5), "unsignedshort", true}, {int8(5), "byte", true},
	{uint8(5), "unsignedbyte", true},
	{true, "bool", false}, {float32(5), "float", false}, {5.0, "double", false}, {Decimal{0, 5}, "decimal", false},
	{time.Unix(5, 0), "timestamp", false}, {Fields{}, "table", false}, {[]any{}, "array", false},
	{[]byte("5"), "binary", false},
	{nil, "void", false},
}

func TestFieldTypesAndIntegers(t *testing.T) {
	for _, v := range oneOfEach {
		require.Equal(t, v.name, fieldType(v.value))
		n, ok := asInteger(v.value)
		require.Equal(t, v.integer, ok, v.name)
		if ok {
			require.Equal(t, int64(5), n, v.name)
		}
	}
}

func TestEquivalentValues(t *testing.T) {
	negativeZero := math.Copysign(0, -1)
	for _, c := range []struct {
		a, b any
		want bool
	}{
		{int8(5), int64(5), true}, {uint32(5), int16(5), true}, {int64(5), int64(6), false}, {int64(5), 5.0, false},
		{"5", int64(5), false}, {"five", int64(5), false}, {"a", []byte("a"), true}, {"a", []byte("b"), false},
		{float32(0.5), 0.5, true}, {float32(0.1), 0.1, false}, {0.0, negativeZero, true},
		{true, true, true}, {true, false, false}, {true, int64(1), false}, {nil, nil, true}, {nil, false, false},
		{nil, "", false},
		{Decimal{1, 2}, Decimal{1, 2}, true}, {Decimal{1, 20}, Decimal{2, 200}, false}, {Decimal{0, 5}, int64(5), false},
		{time.Unix(5, 0), time.Unix(5, 0).UTC(), true}, {time.Unix(5, 0), time.Unix(6, 0), false},
		{time.Unix(5, 0), int64(5), true}, {time.Unix(5, 0), 5.0, false},
		{[]any{int64(1)}, []any{int64(1)}, true}, {[]any{int64(1)}, []any{int32(1)}, false}, {[]any{}, []any{nil}, false},
		{Fields{{"a", int8(1)}}, Fields{{"a", int8(1)}}, true}, {Fields{{"a", int8(1)}}, Fields{{"b", int8(1)}}, false},
		{Fields{}, []any{}, true}, {Fields{{"a", nil}}, []any{nil}, false}, {Fields{}, nil, false},
		{[]byte{}, []any{}, false},
		{true, []any{}, false}, {nil, []byte{}, false},
	} {
		require.Equal(t, c.want, equivalentValues(c.a, c.b), "%#v and %#v", c.a, c.b)
		require.Equal(t, c.want, equivalentValues(c.b, c.a), "%#v and %#v", c.b, c.a)
	}
}

func TestBindingID(t *testing.T) {
	require.Empty(t, bindingID(nil))
	require.Empty(t, bindingID(Fields{}))
	require.Equal(t, bindingID(Fields{{"a", int8(1)}, {"b", "x"}}), bindingID(Fields{{"b", "x"}, {"a", int8(1)}}))
	for i, v := range oneOfEach {
		for j, w := range oneOfEach {
			same := bindingID(Fields{{"a", v.value}}) == bindingID(Fields{{"a", w.value}})
			require.Equal(t, i == j, same, "%s and %s", v.name, w.name)
		}
	}
}

// allBits makes reflect.DeepEqual tell -0.0 from 0.0.
func allBits(v any) any {
	switch v := v.(type) {
	case float64:
		return [1]uint64{math.Float64bits(v)}
	case []any:
		l := []any{}
		for _, e := range v {
			l = append(l, allBits(e))
		}
		return l
	case Fields:
		f := Fields{}
		for _, e := range v {
			f = append(f, Field{e.Name, allBits(e.Value)})
		}
		return f
	}
	return v
}

func TestBindingIDIsInjective(t *testing.T) {
	byName := func(f Fields) Fields {
		f = slices.Clone(f)
		slices.SortStableFunc(f, func(a, b Field) int {
			switch {
			case a.Name < b.Name:
				return -1
			case a.Name > b.Name:
				return 1
			}
			return 0
		})
		return f
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := fieldsGen(2).Draw(t, "a"), fieldsGen(2).Draw(t, "b")
		same := reflect.DeepEqual(allBits(byName(a)), allBits(byName(b)))
		require.Equal(t, same, bindingID(a) == bindingID(b))
		shuffled := byName(rapid.Permutation(byName(a)).Draw(t, "order"))
		if reflect.DeepEqual(allBits(shuffled), allBits(byName(a))) {
			require.Equal(t, bindingID(a), bindingID(shuffled))
		}
	})
}

func TestEqualityIsAnEquivalence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SliceOfN(valueGen(2), 3, 3).Draw(t, "values")
		for _, c := range []comparison{strictlyEqual, looselyEqual, equalNumbers} {
			require.True(t, c.untyped(v[0], v[0]), "%#v", v[0])
			require.Equal(t, c.untyped(v[0], v[1]), c.untyped(v[1], v[0]))
			if c.untyped(v[0], v[1]) && c.untyped(v[1], v[2]) {
				require.True(t, c.untyped(v[0], v[2]))
			}
		}
	})
}
