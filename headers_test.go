package leveret

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// headersCases say which headers satisfy which binding arguments. Each was put to a live broker
// of either release.
var headersCases = []struct {
	rule          string
	args, headers Fields
	in43, in310   bool
}{

	{"X-22 all is the default", Fields{{"a", "1"}, {"b", "2"}}, Fields{{"a", "1"}, {"b", "2"}}, true, true},
	{"X-22 all is the default", Fields{{"a", "1"}, {"b", "2"}}, Fields{{"a", "1"}}, false, false},
	{"X-22 all", Fields{{"x-match", "all"}, {"a", "1"}, {"b", "2"}}, Fields{{"a", "1"}, {"b", "2"}, {"c", "3"}},
		true, true},
	{"X-22 all", Fields{{"x-match", "all"}, {"a", "1"}, {"b", "2"}}, Fields{{"a", "1"}, {"b", "3"}}, false, false},
	{"X-22 any", Fields{{"x-match", "any"}, {"a", "1"}, {"b", "2"}}, Fields{{"b", "2"}}, true, true},
	{"X-22 any", Fields{{"x-match", "any"}, {"a", "1"}, {"b", "2"}}, Fields{{"a", "2"}, {"b", "1"}}, false, false},
	{"X-22 order is irrelevant", Fields{{"b", "2"}, {"a", "1"}}, Fields{{"c", "0"}, {"b", "2"}, {"a", "1"}}, true, true},

	{"X-23 all skips x-", Fields{{"x-a", "1"}, {"b", "2"}}, Fields{{"b", "2"}}, true, true},
	{"X-23 any skips x-", Fields{{"x-match", "any"}, {"x-a", "1"}, {"b", "2"}}, Fields{{"x-a", "1"}}, false, false},
	{"X-23 all-with-x", Fields{{"x-match", "all-with-x"}, {"x-a", "1"}, {"b", "2"}}, Fields{{"b", "2"}}, false, false},
	{"X-23 all-with-x", Fields{{"x-match", "all-with-x"}, {"x-a", "1"}, {"b", "2"}}, Fields{{"b", "2"}, {"x-a", "1"}},
		true, true},
	{"X-23 any-with-x", Fields{{"x-match", "any-with-x"}, {"x-a", "1"}, {"b", "2"}}, Fields{{"x-a", "1"}}, true, true},
	{"X-23 any-with-x skips x-match", Fields{{"x-match", "any-with-x"}}, Fields{{"x-match", "any-with-x"}}, false, false},
	{"X-23 x is no prefix x-", Fields{{"x", "1"}}, Fields{}, false, false},
	{"X-23 X- is no prefix x-", Fields{{"X-a", "1"}}, Fields{}, false, false},

	{"X-24 void", Fields{{"a", nil}}, Fields{{"a", "whatever"}}, true, true},
	{"X-24 void", Fields{{"a", nil}}, Fields{{"a", nil}}, true, true},
	{"X-24 void", Fields{{"a", nil}}, Fields{{"b", nil}}, false, false},
	{"X-24 void header", Fields{{"a", "1"}}, Fields{{"a", nil}}, false, false},
	{"X-24 void header and its name", Fields{{"a", "undefined"}}, Fields{{"a", nil}}, false, false},
	{"X-24 void and a table", Fields{{"a", nil}}, Fields{{"a", Fields{}}}, true, true},

	{"X-25 nothing to ask", Fields{}, Fields{}, true, true},
	{"X-25 nothing to ask", nil, nil, true, true},
	{"X-25 nothing to ask", Fields{{"x-match", "all"}, {"x-a", "1"}}, nil, true, true},
	{"X-25 nothing to ask", Fields{{"x-match", "all-with-x"}}, nil, true, true},
	{"X-25 nothing to ask", Fields{{"x-match", "any"}}, Fields{{"a", "1"}}, false, false},
	{"X-25 nothing to ask", Fields{{"x-match", "any-with-x"}}, Fields{{"a", "1"}}, false, false},
	{"X-25 no headers", Fields{{"a", "1"}}, nil, false, false},
	{"X-25 no headers", Fields{{"a", nil}}, nil, false, false},

	{"X-27 widths", Fields{{"a", int8(1)}}, Fields{{"a", int64(1)}}, true, true},
	{"X-27 widths", Fields{{"a", uint32(1)}}, Fields{{"a", int16(1)}}, true, true},
	{"X-27 widths", Fields{{"a", int32(-1)}}, Fields{{"a", uint8(255)}}, false, false},
	{"X-27 longstr and binary", Fields{{"a", "1"}}, Fields{{"a", []byte("1")}}, true, true},
	{"X-27 longstr and binary", Fields{{"a", []byte("1")}}, Fields{{"a", "1"}}, true, true},
	{"X-27 string and number", Fields{{"a", "1"}}, Fields{{"a", int32(1)}}, false, false},
	{"X-27 booleans", Fields{{"a", true}}, Fields{{"a", true}}, true, true},
	{"X-27 booleans", Fields{{"a", true}}, Fields{{"a", false}}, false, false},
	{"X-27 booleans", Fields{{"a", true}}, Fields{{"a", int8(1)}}, false, false},
	{"X-27 booleans", Fields{{"a", true}}, Fields{{"a", "true"}}, false, false},
	{"X-27 decimals", Fields{{"a", Decimal{1, 10}}}, Fields{{"a", Decimal{1, 10}}}, true, true},
	{"X-27 decimals", Fields{{"a", Decimal{1, 10}}}, Fields{{"a", Decimal{2, 100}}}, false, false},
	{"X-27 decimals", Fields{{"a", Decimal{0, 1}}}, Fields{{"a", int32(1)}}, false, false},
	{"X-27 floats widen", Fields{{"a", float32(0.5)}}, Fields{{"a", 0.5}}, true, true},
	{"X-27 floats widen", Fields{{"a", float32(0.1)}}, Fields{{"a", 0.1}}, false, false},
	{"X-27 arrays", Fields{{"a", []any{int32(1), "x"}}}, Fields{{"a", []any{int32(1), "x"}}}, true, true},
	{"X-27 arrays with types", Fields{{"a", []any{int32(1)}}}, Fields{{"a", []any{int64(1)}}}, false, false},
	{"X-27 arrays with types", Fields{{"a", []any{"x"}}}, Fields{{"a", []any{[]byte("x")}}}, false, false},
	{"X-27 array order", Fields{{"a", []any{"x", "y"}}}, Fields{{"a", []any{"y", "x"}}}, false, false},
	{"X-27 tables", Fields{{"a", Fields{{"k", "v"}}}}, Fields{{"a", Fields{{"k", "v"}}}}, true, true},
	{"X-27 table order", Fields{{"a", Fields{{"k", "v"}, {"l", "w"}}}}, Fields{{"a", Fields{{"l", "w"}, {"k", "v"}}}},
		false, false},
	{"X-27 tables with types", Fields{{"a", Fields{{"k", int8(1)}}}}, Fields{{"a", Fields{{"k", int16(1)}}}},
		false, false},
	{"X-27 empty table and array", Fields{{"a", Fields{}}}, Fields{{"a", []any{}}}, true, true},
	{"X-27 zeros within an array", Fields{{"a", []any{0.0}}}, Fields{{"a", []any{math.Copysign(0, -1)}}}, false, true},

	{"X-28 integer and float", Fields{{"a", int32(1)}}, Fields{{"a", 1.0}}, false, true},
	{"X-28 float and integer", Fields{{"a", float32(2)}}, Fields{{"a", int8(2)}}, false, true},
	{"X-28 fractions", Fields{{"a", int32(1)}}, Fields{{"a", 1.5}}, false, false},
	{"X-28 zeros", Fields{{"a", math.Copysign(0, -1)}}, Fields{{"a", 0.0}}, false, true},
	{"X-28 zeros", Fields{{"a", math.Copysign(0, -1)}}, Fields{{"a", int8(0)}}, false, true},
	{"X-28 beyond a double's digits", Fields{{"a", int64(1<<53 + 1)}}, Fields{{"a", float64(1 << 53)}}, false, false},
	{"X-28 large", Fields{{"a", int64(1 << 60)}}, Fields{{"a", float64(1 << 60)}}, false, true},
	{"X-28 too large", Fields{{"a", int64(math.MaxInt64)}}, Fields{{"a", float64(1 << 63)}}, false, false},

	{"X-29 timestamps", Fields{{"a", seconds(1)}}, Fields{{"a", seconds(1)}}, false, true},
	{"X-29 binding timestamp", Fields{{"a", seconds(1)}}, Fields{{"a", int64(1)}}, true, true},
	{"X-29 header timestamp", Fields{{"a", int32(1000)}}, Fields{{"a", seconds(1)}}, true, false},
	{"X-29 header timestamp", Fields{{"a", int32(1)}}, Fields{{"a", seconds(1)}}, false, true},
	{"X-29 header timestamp", Fields{{"a", seconds(1000)}}, Fields{{"a", seconds(1)}}, true, false},
	{"X-29 timestamp and float", Fields{{"a", 1.0}}, Fields{{"a", seconds(1)}}, false, true},
	{"X-29 zero", Fields{{"a", seconds(0)}}, Fields{{"a", seconds(0)}}, true, true},
	{"X-29 within an array", Fields{{"a", []any{seconds(1)}}}, Fields{{"a", []any{seconds(1)}}}, true, true},
	{"X-29 void", Fields{{"a", nil}}, Fields{{"a", seconds(1)}}, true, true},

	{"X-30 last or first header", Fields{{"a", "1"}}, Fields{{"a", "1"}, {"a", "2"}}, false, true},
	{"X-30 last or first header", Fields{{"a", "2"}}, Fields{{"a", "1"}, {"a", "2"}}, true, false},
	{"X-30 last or first timestamp", Fields{{"a", int64(2000)}}, Fields{{"b", "0"}, {"a", seconds(1)}, {"a", seconds(2)}},
		true, false},
	{"X-30 repeated argument", Fields{{"a", "1"}, {"a", "2"}}, Fields{{"a", "1"}}, false, false},
	{"X-30 repeated argument, any", Fields{{"x-match", "any"}, {"a", "1"}, {"a", "2"}}, Fields{{"a", "1"}}, true, true},
	{"X-30 repeated argument, any", Fields{{"x-match", "any"}, {"a", "1"}, {"a", "2"}}, Fields{{"a", "2"}}, true, false},
	{"X-30 same argument twice", Fields{{"a", "1"}, {"a", "1"}}, Fields{{"a", "1"}}, true, false},
	{"X-30 both twice", Fields{{"a", "1"}, {"a", "2"}}, Fields{{"a", "1"}, {"a", "2"}}, false, true},
	{"X-30 case", Fields{{"a", "1"}}, Fields{{"A", "1"}}, false, false},
	{"X-30 first x-match counts", Fields{{"x-match", "any"}, {"x-match", "all"}, {"a", "1"}, {"b", "2"}},
		Fields{{"a", "1"}}, true, true},
	{"X-30a death headers", Fields{{"x-match", "any-with-x"}, {"x-first-death-queue", "q"}},
		Fields{{"x-first-death-queue", "q"}}, true, true},
}

func TestHeadersMatching(t *testing.T) {
	for _, c := range headersCases {
		for profile, want := range map[Profile]bool{RabbitMQ43: c.in43, RabbitMQ310: c.in310} {
			r := profile.rules()
			m, err := compileHeaders(c.args, r)
			require.Nil(t, err)
			before := append(Fields(nil), c.headers...)
			require.Equal(t, want, m.matches(routableHeaders(c.headers, r)), "%s, %s: %v against %v", profile.Version(), c.rule,
				c.headers, c.args)
			require.Equal(t, before, append(Fields(nil), c.headers...), "the message's headers are left alone")
		}
	}
}

// headersErrors are bindings that a live broker refused with these texts.
var headersErrors = []struct {
	match any
	text  string
}{

	{"All", `Invalid x-match field value <<"All">>; expected all, any, all-with-x, or any-with-x`},
	{"", `Invalid x-match field value <<>>; expected all, any, all-with-x, or any-with-x`},
	{"a\"\n\x01", `Invalid x-match field value <<97,34,10,1>>; expected all, any, all-with-x, or any-with-x`},
	{int32(5), `Invalid x-match field type signedint (value 5); expected longstr`},
	{int64(-5), `Invalid x-match field type long (value -5); expected longstr`},
	{true, `Invalid x-match field type bool (value true); expected longstr`},
	{nil, `Invalid x-match field type void (value undefined); expected longstr`},
	{[]byte("all"), `Invalid x-match field type binary (value <<"all">>); expected longstr`},
	{1.5, `Invalid x-match field type double (value 1.5); expected longstr`},
	{float32(0.1), `Invalid x-match field type float (value 0.10000000149011612); expected longstr`},
	{Decimal{2, -150}, `Invalid x-match field type decimal (value {2,4294967146}); expected longstr`},
	{seconds(7), `Invalid x-match field type timestamp (value 7); expected longstr`},
	{[]any{}, `Invalid x-match field type array (value []); expected longstr`},
	{[]any{"all", int8(1)}, "Invalid x-match field type array (value [{longstr,<<\"all\">>},{byte,1}]); expected longstr"},
	{
		Fields{{"key", "value"}, {"other", int32(7)}},
		"Invalid x-match field type table (value [{<<\"key\">>,longstr,<<\"value\">>},\n" +
			"                                         {<<\"other\">>,signedint,7}]); expected longstr",
	},
}

func TestUnusableHeadersBindings(t *testing.T) {
	for _, profile := range []Profile{RabbitMQ43, RabbitMQ310} {
		for _, c := range headersErrors {
			m, err := compileHeaders(Fields{{"x-match", c.match}, {"a", "1"}}, profile.rules())
			require.Nil(t, m)
			require.NotNil(t, err)
			require.Equal(t, PreconditionFailed, err.Code)
			require.Equal(t, c.text, err.Reason)
		}
	}
}

func TestRoutableHeadersAreNotCopiedInVain(t *testing.T) {
	h := Fields{{"a", "1"}, {"b", seconds(1)}}
	require.Same(t, &h[0], &routableHeaders(h, RabbitMQ310.rules())[0])
	require.Equal(t, Fields{{"a", "1"}, {"b", int64(1000)}}, routableHeaders(h, RabbitMQ43.rules()))
	require.Same(t, &h[0], &routableHeaders(h[:1], RabbitMQ43.rules())[0])
	require.Equal(t, "9223372036854775807000", fmt.Sprint(milliseconds(seconds(math.MaxInt64))))
	require.Equal(t, "18446744073709551615000", fmt.Sprint(milliseconds(seconds(-1)))) // no sign
}

// TestHeadersMatchAsDefined compares with the definition for 4.3: each demand is looked up by itself.
func TestHeadersMatchAsDefined(t *testing.T) {
	r := RabbitMQ43.rules()
	rapid.Check(t, func(t *rapid.T) {
		mode := rapid.SampledFrom([]string{"all", "any", "all-with-x", "any-with-x"}).Draw(t, "mode")
		args := append(Fields{{"x-match", mode}}, fieldsGen(1).Draw(t, "args")...)
		headers := fieldsGen(1).Draw(t, "headers")
		demands, met := 0, 0
		for _, a := range args {
			if a.Name == "x-match" || a.Name == "x-c" && (mode == "all" || mode == "any") {
				continue
			}
			demands++
			last := -1
			for i, h := range headers {
				if h.Name == a.Name {
					last = i
				}
			}
			if last < 0 {
				continue
			}
			v := headers[last].Value
			if ts, ok := v.(time.Time); ok {
				v = ts.Unix() * 1000
			}
			if a.Value == nil || strictlyEqual.untyped(a.Value, v) {
				met++
			}
		}
		want := met == demands
		if mode == "any" || mode == "any-with-x" {
			want = met > 0
		}
		m, err := compileHeaders(args, r)
		require.Nil(t, err)
		require.Equal(t, want, m.matches(routableHeaders(headers, r)))
	})
}

func FuzzHeaders(f *testing.F) {
	f.Add("a", "b", []byte("1"), int64(1), 1.5, "any")
	f.Fuzz(func(t *testing.T, n1, n2 string, b []byte, i int64, x float64, mode string) {
		values := []any{b, string(b), i, x, seconds(i), nil, i > 0, []any{x, b}, Fields{{n1, i}, {n2, x}},
			Decimal{uint8(i), int32(i)}}
		pick := func(n int) any { return values[(len(b)+n*len(n1)+n)%len(values)] }
		for _, profile := range []Profile{RabbitMQ43, RabbitMQ310} {
			r := profile.rules()
			headers := routableHeaders(Fields{{n2, pick(1)}, {n1, pick(2)}, {n2, pick(3)}}, r)
			for _, match := range []any{mode, pick(4)} {
				if m, err := compileHeaders(Fields{{n1, pick(5)}, {"x-match", match}, {n2, pick(6)}}, r); err == nil {
					m.matches(headers)
				}
			}
		}
	})
}

func BenchmarkHeadersMatch(b *testing.B) {
	r := RabbitMQ43.rules()
	m, _ := compileHeaders(Fields{{"x-match", "all"}, {"kind", "order"}, {"region", "eu"}, {"tier", int32(2)}}, r)
	headers := routableHeaders(Fields{{"customer", "c"}, {"kind", "order"}, {"region", "eu"}, {"tier", int64(2)}}, r)
	b.ReportAllocs()
	for range b.N {
		if !m.matches(headers) {
			b.Fatal("no match")
		}
	}
}
