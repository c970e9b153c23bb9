package erl_test

import (
	"math"
	"strings"
	"testing"

	"github.com/leveretmq/leveret/internal/erl"
	"github.com/stretchr/testify/require"
)

// What a real Erlang printed with ~tp.
func TestScalars(t *testing.T) {
	for _, c := range []struct {
		term any
		text string
	}{
		{erl.Atom("value_zero"), "value_zero"}, {erl.Atom("Abc"), "'Abc'"}, {erl.Atom(""), "''"}, {erl.Atom("end"), "'end'"},
		{erl.Atom("a b"), "'a b'"}, {erl.Atom("a@B_1"), "a@B_1"}, {true, "true"},
		{erl.String("é\"x"), `"é\"x"`}, {erl.String("expected integer, got longstr"), `"expected integer, got longstr"`},
		{erl.String(strings.Repeat("a", 100)), `"` + strings.Repeat("a", 100) + `"`},
		{erl.Binary("all"), `<<"all">>`}, {erl.Binary(""), "<<>>"}, {erl.Binary("é"), `<<"é"/utf8>>`}, {erl.Binary("日本"), `<<"日本"/utf8>>`},
		{erl.Binary("\xff\x01"), "<<255,1>>"}, {erl.Binary("\xc8\xc8"), `<<"ÈÈ">>`}, {erl.Binary("é\x00"), "<<195,169,0>>"},
		{erl.Binary("\x7f"), "<<127>>"}, {erl.Binary("a\"b\\c\n\t\x1b"), `<<"a\"b\\c\n\t\e">>`},
		{5, "5"}, {int64(math.MinInt64), "-9223372036854775808"}, {uint64(math.MaxUint64), "18446744073709551615"},
		{1.0, "1.0"}, {1.0e22, "1.0e22"}, {0.1, "0.1"}, {1.0e-5, "1.0e-5"}, {123456789.0, "123456789.0"}, {0.0, "0.0"},
		{math.Copysign(0, -1), "-0.0"}, {0.001, "0.001"}, {1.5e300, "1.5e300"}, {float32(0.1), "0.10000000149011612"},
		{erl.Tuple{}, "{}"}, {erl.List{}, "[]"}, {erl.List{erl.Tuple{erl.Atom("a"), erl.Binary("b")}}, `[{a,<<"b">>}]`},
	} {
		require.Equal(t, c.text, erl.Unicode.Format(c.term, 0))
		require.Equal(t, c.text, erl.Unicode.Format(c.term, 10))
	}
}

// What RabbitMQ printed of objects in policies.
func TestMaps(t *testing.T) {
	text := func(r string, n int) string { return strings.Repeat(r, n) }
	for _, c := range []struct {
		value any
		want  string
	}{
		{map[string]any{}, "#{}"},
		{map[string]any{"b": int64(1), "a": map[string]any{"x": "y"}}, `#{<<"a">> => #{<<"x">> => <<"y">>},<<"b">> => 1}`},
		{
			map[string]any{text("a", 34): text("b", 41), text("c", 17): text("d", 18)},
			`#{<<"` + text("a", 34) + `">> =>` + "\n      " + `<<"` + text("b", 41) + `">>,` + "\n  " +
				`<<"` + text("c", 17) + `">> => <<"` + text("d", 18) + `">>}`,
		},
		{
			map[string]any{"cc": []any{int64(1), int64(2)}, "k": map[string]any{text("a", 34): map[string]any{"x": text("b", 41)}}},
			`#{<<"cc">> => [1,2],` + "\n  " + `<<"k">> =>` + "\n      " + `#{<<"` + text("a", 34) + `">> =>` + "\n            " +
				`#{<<"x">> => <<"` + text("b", 41) + `">>}}}`,
		},
	} {
		require.Equal(t, c.want, erl.Format(erl.JSON(c.value), 0))
	}
}

func TestLineBreaks(t *testing.T) {
	tooLarge := erl.Tuple{erl.Atom("value_too_large"), erl.Atom("n99999999999999999999")}
	l := erl.Atom("l")
	for _, c := range []struct {
		term   any
		column int
		lines  []string
	}{
		{tooLarge, 39, []string{"{value_too_large,n99999999999999999999}"}},
		{tooLarge, 40, []string{"{value_too_large,", "                                         n99999999999999999999}"}},
		{
			erl.Tuple{erl.String("ab"), erl.Atom("x23456789012345678")},
			60, []string{`{"ab",`, strings.Repeat(" ", 61) + "x23456789012345678}"},
		},
		{
			erl.List{l, erl.Binary("%\x01+"), erl.Tuple{erl.Atom("twiuae"), 1.0e22, erl.Binary(""), erl.String("swslxsgn tr lobzlydjqjjsjgp pq")}, 6046472},
			2, []string{"[l,", "   <<37,1,43>>,", `   {twiuae,1.0e22,<<>>,"swslxsgn tr lobzlydjqjjsjgp pq"},`, "   6046472]"},
		},
		{
			erl.List{l, erl.Binary("Ý"), erl.String("sli ahbbsjgfiotgtglqdxsfvdreq and more"), erl.List{l}},
			25, []string{`[l,<<"Ý"/utf8>>,`, strings.Repeat(" ", 26) + `"sli ahbbsjgfiotgtglqdxsfvdreq and more",`, strings.Repeat(" ", 26) + "[l]]"},
		},
		{
			erl.Binary("\xfa\x05\xc6.M\xcfmS\xaf\x0e\x1e\x07\x19\xa9FV&"),
			49, []string{"<<250,5,198,46,77,207,109,83,", strings.Repeat(" ", 51) + "175,14,30,7,25,169,70,86,38>>"},
		},
	} {
		require.Equal(t, strings.Join(c.lines, "\n"), erl.Format(c.term, c.column))
	}
}

func TestOtherWidths(t *testing.T) {
	term := erl.Tuple{erl.Atom("value_too_large"), erl.Atom("n99999999999999999999")}
	require.Equal(t, "{value_too_large,n99999999999999999999}", erl.FormatWidth(term, 100, 255))
	require.Contains(t, erl.FormatWidth(term, 230, 255), "\n")
}

func TestNoTermPanics(t *testing.T) {
	require.PanicsWithValue(t, "erl: struct {} is not a term", func() { erl.Format(struct{}{}, 0) })
}

func TestBytes(t *testing.T) {
	require.Equal(t, "<<>>", erl.Bytes(nil))
	require.Equal(t, "<<0,5,255>>", erl.Bytes([]byte{0, 5, 255}))
	require.Equal(t, "<<97>>", erl.Bytes([]byte("a")), "texts are numbers too")
	long := erl.Bytes(make([]byte, 1<<20))
	require.Less(t, len(long), 310)
	require.Greater(t, len(long), 255, "a reply text needs no more")
}
