//go:build !linux && !darwin

package mgmt

// freeDisk would return how many bytes are free where the program runs, which this system does not tell.
func freeDisk() int64 { return 0 }

// maxFiles would return how many files the process may open, which this system does not tell.
func maxFiles() int64 { return 0 }
