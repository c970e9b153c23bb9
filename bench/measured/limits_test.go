package measured

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const printed = `goos: linux
BenchmarkCycle/impl=chan-2      1000   30.0 ns/op   0 B/op   0 allocs/op
BenchmarkCycle/impl=leveret-2   1000  300.0 ns/op  64 B/op   2 allocs/op
BenchmarkCycle/impl=chan-2      1000   40.0 ns/op   0 B/op   0 allocs/op
BenchmarkCycle/impl=leveret-2   1000  320.0 ns/op  64 B/op   2 allocs/op
BenchmarkCycle/impl=chan-2      1000   10.0 ns/op   0 B/op   0 allocs/op
BenchmarkCycle/impl=leveret-2   1000  900.0 ns/op  64 B/op   3 allocs/op
BenchmarkOnce-2                 1000  900.0 ns/op
BenchmarkCurve/x-2                 1  900.0 ns/op  1.50 exponent
BenchmarkCurve/x-2                 1  900.0 ns/op  1.25 exponent
`

func read(t *testing.T) *Report {
	file := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(file, []byte(printed), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := ReadFiles([]string{file})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCheck(t *testing.T) {
	for limit, want := range map[string][]string{
		"":                        nil,
		"# nothing":               nil,
		"BenchmarkCycle is quick": {"line 1 is no limit: BenchmarkCycle is quick"},
		"BenchmarkCycle/impl=leveret takes at most 30 of BenchmarkCycle/impl=chan":   nil,
		"BenchmarkCycle/impl=leveret takes at most 29.9 of BenchmarkCycle/impl=chan": {"BenchmarkCycle/impl=leveret takes 30.00 of BenchmarkCycle/impl=chan, at most 29.9 are allowed"},
		"BenchmarkCycle/impl=leveret takes at most x of BenchmarkCycle/impl=chan":    {"no number: x"},
		"BenchmarkNone takes at most 1 of BenchmarkCycle/impl=chan":                  {"BenchmarkNone and BenchmarkCycle/impl=chan were not both measured"},
		"BenchmarkCurve/x bends at most 1.25":                                        nil,
		"BenchmarkCurve/x bends at most 1.2":                                         {"BenchmarkCurve/x bends by 1.25, at most 1.2 is allowed"},
		"BenchmarkCurve/x bends at most y":                                           {"no number: y"},
		"BenchmarkOnce bends at most 1.2":                                            {"BenchmarkOnce has no exponent"},
		"BenchmarkCycle/impl=chan allocates 0":                                       nil,
		"BenchmarkCycle/impl=leveret allocates 2":                                    {"BenchmarkCycle/impl=leveret allocates 3, not 2"},
		"BenchmarkOnce allocates 0":                                                  {"BenchmarkOnce was not measured with -benchmem"},
	} {
		got, err := read(t).Check(strings.NewReader(limit))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", limit, got, err)
		}
	}
}
