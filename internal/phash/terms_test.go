package phash

import (
	"math"
	"math/big"
	"testing"

	"github.com/leveretmq/leveret/internal/erl"
)

type (
	atom  = erl.Atom
	bin   = erl.Binary
	tuple = erl.Tuple
	list  = erl.List
)

func bigInt(s string) *big.Int {
	n, _ := new(big.Int).SetString(s, 10)
	return n
}

// The values are those of Erlang/OTP 25: erlang:phash2(Term, 1 bsl 32).
func TestTerm(t *testing.T) {
	one := int64(1)
	for _, c := range []struct {
		term any
		want uint32
	}{
		{atom("ok"), 1883}, {atom("true"), 506293}, {atom("longstr"), 56945346}, {atom("unsignedshort"), 132130980},
		{list{}, 3468870702}, {tuple{}, 221703996}, {bin(""), 147926629}, {bin("a"), 1589197455},
		{int64(0), 3175731469}, {one, 539485162}, {int64(-1), 1117813597}, {int64(255), 715823293}, {int64(256), 3929335767},
		{int64(134217727), 4273352567}, {int64(134217728), 2562491755}, {int64(-134217728), 874979335},
		{int64(-134217729), 1418916782}, {int64(4294967296), 2108323275}, {int64(math.MaxInt64), 2712534173},
		{int64(math.MinInt64), 1736826119}, {bigInt("18446744073709551615"), 321870806},
		{bigInt("99999999999999999999"), 2962481322}, {bigInt("-99999999999999999999"), 920018454},
		{0.0, 423528920}, {math.Copysign(0, -1), 423528920}, {1.5, 2023646235}, {-2.25, 2254282282}, {1e300, 387524106},
		{list{one}, 2768963718}, {list{one, int64(2), int64(3)}, 4186538188}, {list{one, int64(2), int64(3), int64(4)}, 1029573448},
		{list{one, int64(2), int64(3), int64(4), int64(5)}, 3824152778}, {list{one, atom("a")}, 1114307026},
		{list{atom("a"), one}, 1351506309}, {list{one, int64(2), atom("a"), int64(3)}, 1247858882},
		{list{int64(256), one, int64(2)}, 4115160724},
		{list{list{}}, 499070068}, {list{list{}, list{}}, 67164138}, {tuple{list{}}, 1775079505},
		{tuple{atom("a"), list{}, atom("b")}, 2070912718},
		{list{tuple{bin("a"), atom("long"), one}}, 37137917},
		{list{tuple{bin("a"), atom("bool"), atom("true")}, tuple{bin("b"), atom("void"), atom("undefined")}}, 2834127278},
		{list{tuple{bin("a"), atom("decimal"), tuple{int64(2), int64(314)}}}, 2016928084},
		{list{tuple{bin("a"), atom("array"), list{tuple{atom("long"), one}, tuple{atom("longstr"), bin("x")},
			tuple{atom("table"), list{}}, tuple{atom("array"), list{}}}},
			tuple{bin("t"), atom("table"), list{tuple{bin("z"), atom("timestamp"), int64(1795401217)}}}}, 2850014050},
		{list{tuple{bin("a"), atom("float"), 0.5}, tuple{bin("b"), atom("byte"), int64(-128)},
			tuple{bin("c"), atom("unsignedint"), int64(4294967295)}, tuple{bin("d"), atom("binary"), bin("\x00\x01\x02")}}, 2593123684},
	} {
		if got := Term(c.term); got != c.want {
			t.Errorf("%v: %d, want %d", c.term, got, c.want)
		}
	}
}
