package executed

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The files of Go's coverage, version 1, as package internal/coverage of the standard library describes them. Whole
// numbers are little-endian, or ULEB128 where it is said.

const version = 1

var (
	metaMagic    = []byte("\x00cvm")
	counterMagic = []byte("\x00cwm")
)

// Sizes in octets.
const (
	metaHeader    = 56 // of meta-data: magic, version, length, number of packages, hash, string table, mode, granularity
	packageHeader = 44 // of a package in it: length, three names, hash, number of files, number of functions
	counterHeader = 32 // of counters: magic, version, hash, flavor, whether big-endian
	segmentHeader = 16 // of the counters of one run: number of functions, lengths of its string table and its arguments
)

const flavorULEB = 2 // counters are written in ULEB128; it is what the runtime writes

var errShort = errors.New("executed: the data ends too early")

// A reader reads whole numbers one after the other. What is read beyond the end is 0, and sets err.
type reader struct {
	data []byte
	at   int
	err  error
}

func (r *reader) take(n int) []byte {
	if r.err == nil && (r.at < 0 || n < 0 || n > len(r.data)-r.at) {
		r.err = errShort
	}
	if r.err != nil {
		return nil
	}
	r.at += n
	return r.data[r.at-n : r.at]
}

func (r *reader) uint32() int {
	if b := r.take(4); b != nil {
		return int(binary.LittleEndian.Uint32(b))
	}
	return 0
}

func (r *reader) uint64() int {
	if b := r.take(8); b != nil {
		return int(binary.LittleEndian.Uint64(b))
	}
	return 0
}

func (r *reader) uleb() int {
	if r.take(0); r.err != nil {
		return 0
	}
	v, n := binary.Uvarint(r.data[r.at:])
	if n <= 0 {
		r.err = errShort
		return 0
	}
	r.at += n
	return int(v)
}

// strings reads a string table.
func (r *reader) strings() []string {
	var out []string
	for n := r.uleb(); n > 0 && r.err == nil; n-- {
		out = append(out, string(r.take(r.uleb())))
	}
	return out
}

// name returns one of the names.
func (r *reader) name(names []string, i int) string {
	if r.err == nil && (i < 0 || i >= len(names)) {
		r.err = errShort
	}
	if r.err != nil {
		return ""
	}
	return names[i]
}

// begin reads the magic and the version.
func (r *reader) begin(magic []byte) {
	if found := r.take(4); r.err == nil && string(found) != string(magic) {
		r.err = errors.New("executed: these are no data of Go's coverage")
	} else if v := r.uint32(); v != version && r.err == nil {
		r.err = fmt.Errorf("executed: version %d of the format is not known", v)
	}
}

// readCode reads meta-data.
func readCode(data []byte) (*Code, error) {
	r := &reader{data: data}
	r.begin(metaMagic)
	r.uint64() // length
	packages := r.uint64()
	r.at = metaHeader
	var offsets, lengths []int
	for n := packages; n > 0 && r.err == nil; n-- {
		offsets = append(offsets, r.uint64())
	}
	for n := packages; n > 0 && r.err == nil; n-- {
		lengths = append(lengths, r.uint64())
	}
	c := &Code{}
	for i := 0; i < packages && r.err == nil; i++ {
		r.at = offsets[i]
		p := &reader{data: r.take(lengths[i]), err: r.err}
		c.readPackage(p)
		r.err = p.err
	}
	return c, r.err
}

// readPackage reads one package of meta-data.
func (c *Code) readPackage(r *reader) {
	r.uint32() // length
	r.uint32() // name
	path := r.uint32()
	r.at = packageHeader - 4
	var offsets, first []int
	for n := r.uint32(); n > 0 && r.err == nil; n-- {
		offsets = append(offsets, r.uint32())
	}
	names := r.strings()
	for _, at := range offsets {
		r.at = at
		first = append(first, c.total)
		f := c.readFunction(r, names)
		f.Package = r.name(names, path)
		c.Functions = append(c.Functions, f)
	}
	c.first = append(c.first, first)
}

// readFunction reads one function of meta-data and numbers its blocks.
func (c *Code) readFunction(r *reader, names []string) Function {
	blocks := r.uleb()
	f := Function{Name: r.name(names, r.uleb()), File: r.name(names, r.uleb())}
	for ; blocks > 0 && r.err == nil; blocks-- {
		b := Block{Number: c.total, From: r.uleb()}
		r.uleb() // column
		b.To = r.uleb()
		r.uleb() // column
		r.uleb() // number of statements
		f.Blocks = append(f.Blocks, b)
		c.total++
	}
	f.Literal = r.uleb() != 0
	return f
}

// readCounts reads counters. The functions that have not been executed are not in it.
func (c *Code) readCounts(data []byte) (Counts, error) {
	r := &reader{data: data}
	r.begin(counterMagic)
	r.take(16) // hash
	if flavor := r.take(1); r.err == nil && flavor[0] != flavorULEB {
		return nil, fmt.Errorf("executed: flavor %d of counters is not known", flavor[0])
	}
	r.at = counterHeader
	functions := r.uint64()
	r.take(r.uint32() + r.uint32()) // the string table and the arguments of the run
	r.at = (r.at + 3) &^ 3
	out := make(Counts, c.total)
	for ; functions > 0 && r.err == nil; functions-- {
		n, pkg, function := r.uleb(), r.uleb(), r.uleb()
		if pkg >= len(c.first) || function >= len(c.first[pkg]) || n > c.total-c.first[pkg][function] {
			return nil, fmt.Errorf("executed: package %d has no function %d with %d blocks", pkg, function, n)
		}
		for i := range n {
			out[c.first[pkg][function]+i] = uint32(r.uleb())
		}
	}
	return out, r.err
}
