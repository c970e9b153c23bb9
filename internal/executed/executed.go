// Package executed tells a running program what of its own code has been executed so far. The program is built to count
// that: go build -cover -covermode atomic -coverpkg PACKAGES, and one of the packages is its package main. Package
// runtime/coverage gives the counts in the format of Go's coverage files. A test binary can have them only when it ends.
package executed

import (
	"bytes"
	"errors"
	"fmt"
	"runtime/coverage"
)

// ErrUncovered is returned by Open when the program was not built to count, or is a test.
var ErrUncovered = errors.New("executed: the program does not count what it executes")

// A Code is the code of the packages that are counted.
type Code struct {
	Functions []Function

	first [][]int // by package and function: the number of the function's first block
	total int     // blocks
	buf   bytes.Buffer
}

// A Function is one that is declared, with the literals in it, or a literal outside of functions.
type Function struct {
	Package string // import path
	Name    string // New, or Broker.Queue
	File    string // import path and name of the file
	Literal bool
	Blocks  []Block
}

// A Block is a run of statements that are executed together.
type Block struct {
	Number   int // in Counts
	From, To int // lines
}

// Counts says how often each block was executed, by the block's number.
type Counts []uint32

// Open returns the code that the program counts, or ErrUncovered.
func Open() (*Code, error) {
	var meta bytes.Buffer
	if err := coverage.WriteMeta(&meta); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrUncovered, err)
	}
	return readCode(meta.Bytes())
}

// Counts returns how often each block has been executed since the program began.
func (c *Code) Counts() (Counts, error) {
	c.buf.Reset()
	if err := coverage.WriteCounters(&c.buf); err != nil {
		return nil, err
	}
	return c.readCounts(c.buf.Bytes())
}
