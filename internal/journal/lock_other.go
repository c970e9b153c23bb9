//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package journal

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// lockFile refuses: two processes on one log would destroy it.
func lockFile(*os.File) error {
	return fmt.Errorf("locking a file on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

func syncDir(string) error { return errors.ErrUnsupported }
