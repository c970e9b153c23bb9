package leveret

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestTableFieldsAreCanonicalAndSorted(t *testing.T) {
	type myTable map[string]any
	type level uint8
	at := time.Date(2024, 5, 6, 7, 8, 9, 123, time.FixedZone("", 3600))
	got, err := Table{
		"zz":      "last",
		"B":       nil,
		"int":     7,
		"uint":    uint(8),
		"uint64":  uint64(9),
		"level":   level(3),
		"ttl":     1500*time.Millisecond + 900*time.Microsecond,
		"reason":  Expired,
		"strings": []string{"x", "y"},
		"time":    at,
		"list":    []any{1, []any{Direct}, Table{"b": 1, "a": 2}},
		"map":     map[string]any{"n": 5},
		"my":      myTable{"n": 5},
		"fields":  Fields{{"q", 1}, {"p", 2}, {"q", 3}},
		"unchanged": []any{int8(1), uint8(2), int16(3), uint16(4), int32(5), uint32(6), float32(1.5), 2.5, true, []byte("b"),
			Decimal{1, 2}},
	}.Fields()
	require.NoError(t, err)
	require.Equal(t, Fields{
		{"B", nil},
		{"fields", Fields{{"q", int64(1)}, {"p", int64(2)}, {"q", int64(3)}}},
		{"int", int64(7)},
		{"level", int64(3)},
		{"list", []any{int64(1), []any{"direct"}, Fields{{"a", int64(2)}, {"b", int64(1)}}}},
		{"map", Fields{{"n", int64(5)}}},
		{"my", Fields{{"n", int64(5)}}},
		{"reason", "expired"},
		{"strings", []any{"x", "y"}},
		{"time", time.Date(2024, 5, 6, 6, 8, 9, 0, time.UTC)},
		{"ttl", int64(1500)},
		{"uint", int64(8)},
		{"uint64", int64(9)},
		{"unchanged", []any{int8(1), uint8(2), int16(3), uint16(4), int32(5), uint32(6), float32(1.5), 2.5, true, []byte("b"), Decimal{1, 2}}},
		{"zz", "last"},
	}, got)
	require.True(t, isCanonicalFields(got, 0))
}

func TestNilAndEmptyTablesStayApart(t *testing.T) {
	f, err := Table(nil).Fields()
	require.NoError(t, err)
	require.Nil(t, f)
	require.Nil(t, Fields(nil).Table())
	f, err = Table{}.Fields()
	require.NoError(t, err)
	require.NotNil(t, f)
	require.Empty(t, f)
	require.Equal(t, Table{}, Fields{}.Table())
}

func TestTableErrorsSayWhere(t *testing.T) {
	long := strings.Repeat("n", 256)
	for want, table := range map[string]Table{
		`leveret: table: "a": no AMQP field type for Go type chan int`:                        {"a": make(chan int)},
		`leveret: table: "a.b[1].c": no AMQP field type for Go type complex128`:               {"a": Table{"b": []any{1, Fields{{"c", 1i}}}}},
		`leveret: table: "a[0][1]": no AMQP field type for Go type *int`:                      {"a": []any{[]any{nil, new(int)}}},
		`leveret: table: "big": 18446744073709551615 does not fit into 64 bits with sign`:     {"big": uint64(math.MaxUint64)},
		fmt.Sprintf(`leveret: table: the name of "t.%s" is longer than 255 bytes`, long):      {"t": map[string]any{long: 1}},
		fmt.Sprintf(`leveret: table: the name of "t[2].%s" is longer than 255 bytes`, long):   {"t": []any{1, 2, Fields{{long, 1}}}},
		`leveret: table: "s": no AMQP field type for Go type []leveret.Reason`:                {"s": []Reason{Expired}},
		`leveret: table: "s": no AMQP field type for Go type struct { X int }`:                {"s": struct{ X int }{}},
		`leveret: table: "m": no AMQP field type for Go type map[string]string`:               {"m": map[string]string{}},
		`leveret: table: "f": no AMQP field type for Go type func()`:                          {"f": func() {}},
		fmt.Sprintf(`leveret: table: the name of "%s" is longer than 255 bytes`, long+"more"): {long + "more": 1},
	} {
		_, err := table.Fields()
		require.EqualError(t, err, want)
	}
}

func TestFieldsGiveTables(t *testing.T) {
	f := Fields{{"a", 1}, {"b", Fields{{"x", 1}, {"x", 2}}}, {"a", 2}, {"c", []any{Fields{}, Fields(nil), "s"}}}
	require.Equal(t, Table{"a": 1, "b": Table{"x": 1}, "c": []any{Table{}, Table{}, "s"}}, f.Table())
	v, ok := f.Get("a")
	require.True(t, ok)
	require.Equal(t, 1, v)
	_, ok = f.Get("d")
	require.False(t, ok)
}

func TestCanonicalFieldsKeepTheirOrder(t *testing.T) {
	f, err := Fields{{"b", 1}, {"a", Table{"z": 1, "y": 2}}, {"b", 2}}.canonical()
	require.NoError(t, err)
	require.Equal(t, Fields{{"b", int64(1)}, {"a", Fields{{"y", int64(2)}, {"z", int64(1)}}}, {"b", int64(2)}}, f)
	require.True(t, isCanonicalFields(f, 0))
	_, err = Fields{{"b", 1}, {"a", 1i}}.canonical()
	require.EqualError(t, err, `leveret: table: "a": no AMQP field type for Go type complex128`)
}

func TestSortedFields(t *testing.T) {
	f := Fields{{"b", 1}, {"a", Fields{{"z", 1}, {"y", 1}}}, {"b", 2}, {"B", 3}}
	before := append(Fields(nil), f...)
	s := f.sorted()
	require.Equal(t, Fields{{"B", 3}, {"a", Fields{{"z", 1}, {"y", 1}}}, {"b", 1}}, s)
	require.Equal(t, before, f, "the original is left alone")
	require.Same(t, &s[0], &s.sorted()[0])
	require.Equal(t, Fields{{"a", 1}}, Fields{{"a", 1}, {"a", 2}}.sorted())
	require.Nil(t, Fields(nil).sorted())
}

func TestCanonicalIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := fieldsGen(2).Draw(t, "fields")
		require.True(t, isCanonicalFields(f, 0))
		again, err := f.canonicalAt(nil)
		require.NoError(t, err)
		require.Equal(t, f, again)
		fromTable, err := f.Table().Fields()
		require.NoError(t, err)
		require.True(t, ascending(fromTable))
		require.True(t, isCanonicalFields(fromTable, 0))
		require.Equal(t, f.Table(), fromTable.Table())
	})
}

// A program's headers stay a Table. What consumers read, and what goes on the wire, is what the detour through Fields
// would give.
func TestCanonicalTables(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := fieldsGen(2).Draw(t, "fields").Table()
		size, canonical := canonicalTableSize(table, 0)
		require.True(t, canonical)
		require.Equal(t, tableSize(table), size)
		if other := rapid.SampledFrom([]any{nil, 1, uint(2), []string{"a"}, Fields{{"x", 1}}, map[string]any{"y": 1}, Table(nil), []any(nil),
			time.Unix(1, 5), []any{Table{"z": 1}}, Table{"z": []any{Fields{}}}}).Draw(t, "other"); other != nil {
			table["other"] = other
			_, canonical := canonicalTableSize(table, 0)
			require.False(t, canonical)
		}
		fields, err := table.Fields()
		require.NoError(t, err)
		own, err := table.canonical()
		require.NoError(t, err)
		require.Equal(t, fields.Table(), own)
		require.Equal(t, fields, own.ordered())
		require.Equal(t, fieldsSize(fields), tableSize(own))
	})
	_, err := Table{"a": 1i}.canonical()
	require.EqualError(t, err, `leveret: table: "a": no AMQP field type for Go type complex128`)
	_, err = Table{strings.Repeat("a", 256): 1}.canonical()
	require.Error(t, err)
}

func FuzzTable(f *testing.F) {
	f.Add("a", "b", []byte{1, 2, 3}, int64(5), 1.5)
	f.Fuzz(func(t *testing.T, n1, n2 string, b []byte, i int64, x float64) {
		table := Table{n1: b, n2: []any{i, Table{n1: x, n2: Fields{{n1, i}, {n1, x}}}}, "t": time.Unix(i, 0)}
		fields, err := table.Fields()
		if len(n1) > 255 || len(n2) > 255 {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		require.True(t, ascending(fields))
		require.True(t, isCanonicalFields(fields, 0))
		require.NotEmpty(t, bindingID(fields))
	})
}

// A table that contains itself is an error like any other, not the end of the process.
func TestTablesWithoutEnd(t *testing.T) {
	table := Table{"a": 1}
	table["self"] = table
	list := []any{nil}
	list[0] = list
	fields := Fields{{"a", []any{nil}}}
	fields[0].Value.([]any)[0] = fields
	for _, endless := range []Table{table, {"list": list}, {"fields": fields}} {
		_, err := endless.Fields()
		require.ErrorContains(t, err, "nested deeper than 100 tables and arrays")
	}
	_, err := fields.canonical()
	require.ErrorContains(t, err, "nested deeper than 100 tables and arrays")
	deep := Table{}
	for range 99 {
		deep = Table{"t": deep}
	}
	_, err = deep.Fields()
	require.NoError(t, err)
}
