package erl_test

import (
	"strings"
	"testing"

	"github.com/leveretmq/leveret/internal/erl"
	"github.com/stretchr/testify/require"
)

// What a real Erlang printed: with ~tp under +pc unicode and +pc latin1, and with ~p, which Octets writes as Latin-1.
func TestNotations(t *testing.T) {
	same := func(s string) [4]string { return [4]string{s, s, s, s} }
	japanese := []any{erl.Binary("日")}
	for _, c := range []struct {
		term any
		want [4]string // Unicode, Console, Narrow, Octets
	}{
		{erl.Binary("a"), same(`<<"a">>`)},
		{erl.Binary("é"), [4]string{`<<"é"/utf8>>`, `<<"é"/utf8>>`, `<<"Ã©">>`, `<<"é">>`}},
		{erl.Binary("É"), [4]string{`<<"É"/utf8>>`, `<<"É"/utf8>>`, `<<195,137>>`, `<<195,137>>`}},
		{erl.Binary("日"), [4]string{`<<"日"/utf8>>`, `<<230,151,165>>`, `<<230,151,165>>`, `<<230,151,165>>`}},
		{erl.Binary("\ufeff"), [4]string{"<<\"\ufeff\"/utf8>>", `<<239,187,191>>`, `<<"ï»¿">>`, "<<\"\ufeff\">>"}},
		{erl.Binary("é\x01"), same(`<<195,169,1>>`)},
		{erl.Binary("\xe9"), [4]string{`<<"é">>`, `<<"é">>`, `<<"é">>`, "<<\"\xe9\">>"}},
		{erl.Binary("\xff\x01"), same(`<<255,1>>`)},
		{erl.String("é"), [4]string{`"é"`, `"é"`, `"é"`, "\"\xe9\""}},
		{erl.String("é日"), [4]string{`"é日"`, `[233,26085]`, `[233,26085]`, `[233,26085]`}},
		{erl.String("a\x01"), same(`[97,1]`)},
		{erl.String(""), same(`[]`)},
		{erl.List{int64(104), int64(105)}, same(`"hi"`)},
		{erl.List{int64(104), int64(8364)}, [4]string{`"h€"`, `[104,8364]`, `[104,8364]`, `[104,8364]`}},
		{erl.List{int64(104), int64(-1)}, same(`[104,-1]`)},
		{erl.List{int64(104), 1.0}, same(`[104,1.0]`)},
		{erl.List{int64(0xd800)}, same(`[55296]`)},
		{erl.Tuple{erl.Atom("a"), erl.List(japanese)}, [4]string{`{a,[<<"日"/utf8>>]}`, `{a,[<<230,151,165>>]}`, `{a,[<<230,151,165>>]}`,
			`{a,[<<230,151,165>>]}`}},
	} {
		for n, want := range c.want {
			require.Equal(t, want, erl.Notation(n).Format(c.term, 0), "%v in notation %d", c.term, n)
		}
	}
}

// The column in which a term begins, and the room that it takes, are counted in characters: to Octets each octet is
// one.
func TestBehind(t *testing.T) {
	term := erl.Tuple{erl.Atom("a"), erl.Binary(strings.Repeat("é", 30))}
	text := strings.Repeat("é", 20) + ": "
	require.Equal(t, text+`{a,<<"`+strings.Repeat("é", 30)+`"/utf8>>}`, erl.Unicode.Behind(text, term))
	require.Equal(t, text+"{a,\n"+strings.Repeat(" ", 43)+`<<"`+strings.Repeat("é", 30)+`">>}`, erl.Octets.Behind(text, term))
	require.Equal(t, "x\n"+text+`{a,<<"`+strings.Repeat("é", 30)+`"/utf8>>}`, erl.Unicode.Behind("x\n"+text, term), "the last line counts")
}
