//go:build !darwin && !linux && !windows

package journal

import "errors"

func freeSpace(string) (uint64, error) { return 0, errors.ErrUnsupported }
