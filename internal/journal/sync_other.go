//go:build !linux

package journal

import (
	"errors"
	"os"
)

// syncFile makes data and size durable: on macOS to the medium, not only to the drive.
func syncFile(f *os.File) error { return f.Sync() }

func allocate(*os.File, int64) error { return errors.ErrUnsupported }
