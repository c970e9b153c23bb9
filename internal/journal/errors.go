package journal

import (
	"errors"
	"fmt"
	"strings"
)

// Reasons of an Error, for errors.Is.
var (
	ErrDamaged = errors.New("damaged")                                     // what is stored is not what was written
	ErrMissing = errors.New("missing")                                     // a segment that must be there is not
	ErrFormat  = errors.New("not a journal of the format that this reads") // of a newer or older release, or no journal at all
	ErrLocked  = errors.New("in use by another broker or process")
	ErrClosed  = errors.New("closed")
)

// errTorn is the reason of what Recovery and Report tell of the end.
var errTorn = errors.New("the last write was not completed")

// An Error says what failed, in which file, and where.
type Error struct {
	Op     string // what was attempted: "read", "write", "sync", …
	File   string // base name
	Offset int64  // in octets from the beginning of the file; -1: the whole file
	Err    error  // the reason
}

func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "journal: %s %s", e.Op, e.File)
	if e.Offset >= 0 {
		fmt.Fprintf(&b, " at offset %d", e.Offset)
	}
	return b.String() + ": " + e.Err.Error()
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// failed makes an Error of an operating system's error; nil stays nil.
func failed(op, file string, offset int64, err error) error {
	if err == nil {
		return nil
	}
	return &Error{op, file, offset, err}
}

// damaged is the error for what is not as it was written.
func damaged(file string, offset int64, format string, args ...any) error {
	return &Error{"read", file, offset, fmt.Errorf("%w: "+format, append([]any{ErrDamaged}, args...)...)}
}
