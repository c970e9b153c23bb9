package erl_test

import (
	"math/big"
	"testing"

	"github.com/leveretmq/leveret/internal/erl"
	"github.com/stretchr/testify/require"
)

func TestJSON(t *testing.T) {
	large, _ := new(big.Int).SetString("100000000000000000000", 10)
	object := map[string]any{"b": []any{"x", nil, true}, "a": map[string]any{"n": 1.5}}
	for _, c := range []struct {
		value any
		term  string
	}{
		{nil, "null"},
		{false, "false"},
		{int64(-5), "-5"},
		{5.0, "5.0"},
		{large, "100000000000000000000"},
		{"é", `<<"é"/utf8>>`},
		{[]any{}, "[]"},
		{object, `#{<<"a">> => #{<<"n">> => 1.5},<<"b">> => [<<"x">>,null,true]}`},
	} {
		require.Equal(t, c.term, erl.Format(erl.JSON(c.value), 0))
	}
}
