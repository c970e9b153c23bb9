package phash

import (
	"strings"
	"testing"
)

// The values are those of Erlang/OTP 25: erlang:phash2([<<"a">>]).
func TestBinaries(t *testing.T) {
	for _, c := range []struct {
		list []string
		want uint32
	}{
		{[]string{""}, 38220213},
		{[]string{"a"}, 53691870},
		{[]string{"key-1"}, 57358350},
		{[]string{"größe"}, 101034162},
		{[]string{"eightbyt"}, 20302597},
		{[]string{"nine byte"}, 463318},
		{[]string{"", "a"}, 57000483},
		{[]string{"a", "b", "key-1"}, 95364521},
		{[]string{"twelve bytes", ""}, 398698},
		{[]string{strings.Repeat("a", 23), strings.Repeat("b", 11), strings.Repeat("c", 25)}, 28579118},
	} {
		if got := Binaries(c.list...); got != c.want {
			t.Errorf("%q: %d, want %d", c.list, got, c.want)
		}
	}
}
