package executed

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const sample = "github.com/leveretmq/leveret/internal/executed/testdata/sample"

// runSample builds the sample, runs it and returns what it printed, and the directory with what Go's own runtime wrote
// when the sample ended.
func runSample(t *testing.T, flags ...string) (printed, dir string) {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a program")
	}
	dir = t.TempDir()
	binary := filepath.Join(t.TempDir(), "sample")
	build := exec.Command("go", append(append([]string{"build", "-o", binary}, flags...), sample)...)
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	run := exec.Command(binary)
	run.Env = append(os.Environ(), "GOCOVERDIR="+dir)
	text, err := run.Output()
	require.NoError(t, err)
	return string(text), dir
}

// A counted is a block as go tool covdata writes it.
var counted = regexp.MustCompile(`^.*/main\.go:(\d+)\.\d+,(\d+)\.\d+ \d+ (\d+)$`)

func TestCountsAreThoseOfGo(t *testing.T) {
	printed, dir := runSample(t, "-cover", "-covermode", "atomic", "-coverpkg", sample)
	text := filepath.Join(t.TempDir(), "text")
	out, err := exec.Command("go", "tool", "covdata", "textfmt", "-i", dir, "-o", text).CombinedOutput()
	require.NoError(t, err, "%s", out)
	written, err := os.ReadFile(text)
	require.NoError(t, err)
	want := map[string]string{} // counts, by lines
	for line := range strings.Lines(string(written)) {
		if m := counted.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			want[m[1]+" "+m[2]] = m[3]
		}
	}
	got, functions := map[string]string{}, []string{}
	for lines := bufio.NewScanner(strings.NewReader(printed)); lines.Scan(); {
		w := strings.Fields(lines.Text())
		require.Len(t, w, 6)
		require.Equal(t, sample, w[0])
		got[w[3]+" "+w[4]] = w[5]
		if w[2] == "true" {
			w[1] = "literal" // the toolchain gives names
		}
		functions = append(functions, w[1])
	}
	require.Equal(t, want, got)
	require.Contains(t, got, "16 18")
	require.Equal(t, []string{"main", "literal", "halve", "neverCalled", "*number.neverCalled"}, slices.Compact(functions))
}

func TestWithoutCoverNothingIsCounted(t *testing.T) {
	printed, _ := runSample(t)
	require.Contains(t, printed, ErrUncovered.Error())
}

func TestATestIsNotCounted(t *testing.T) {
	_, err := Open()
	require.ErrorIs(t, err, ErrUncovered)
}

// TestBrokenData cuts data off at each octet and changes its head: an error, and no panic.
func TestBrokenData(t *testing.T) {
	meta, counters := madeUp()
	code, err := readCode(meta)
	require.NoError(t, err)
	counts, err := code.readCounts(counters)
	require.NoError(t, err)
	require.Equal(t, Counts{0, 300}, counts)
	require.Equal(t, []Function{{"p", "f", "p/f.go", true, []Block{{0, 1, 2}, {1, 3, 200}}}}, code.Functions)
	for n := range meta {
		_, err := readCode(meta[:n])
		require.Error(t, err, "%d octets of the meta-data", n)
	}
	for n := range counters {
		_, err := code.readCounts(counters[:n])
		require.Error(t, err, "%d octets of the counters", n)
	}
	for _, at := range []int{1, 4} { // magic, version
		_, err := readCode(changed(meta, at))
		require.Error(t, err)
		_, err = code.readCounts(changed(counters, at))
		require.Error(t, err)
	}
	_, err = code.readCounts(changed(counters, 24)) // flavor
	require.ErrorContains(t, err, "flavor")
	_, err = code.readCounts(changed(counters, len(counters)-4)) // number of a function
	require.ErrorContains(t, err, "has no function")
}

func changed(data []byte, at int) []byte {
	out := bytes.Clone(data)
	out[at] ^= 0x40
	return out
}

// madeUp is one package with one function literal of two blocks, the second of which was executed 300 times.
func madeUp() (meta, counters []byte) {
	function := []byte{2, 1, 2, 1, 1, 2, 9, 1, 3, 1, 200, 1, 5, 1, 1} // blocks, name, file, the blocks, literal
	names := []byte("\x03\x01p\x01f\x06p/f.go")
	pkg := slices.Concat(make([]byte, packageHeader-4), u32(1), u32(packageHeader+4+len(names)), names, function)
	head := slices.Concat(metaMagic, u32(1), u32(0, 0), u32(1, 0), make([]byte, metaHeader-24))
	meta = slices.Concat(head, u32(len(head)+16, 0), u32(len(pkg), 0), pkg)
	counters = slices.Concat(counterMagic, u32(1), make([]byte, 16), []byte{flavorULEB}, make([]byte, 7),
		u32(1, 0, 3, 2), make([]byte, 5+3), []byte{2, 0, 0, 0, 0xac, 2})
	return meta, counters
}

func u32(numbers ...int) []byte {
	var out []byte
	for _, n := range numbers {
		out = binary.LittleEndian.AppendUint32(out, uint32(n))
	}
	return out
}
