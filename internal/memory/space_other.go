//go:build !linux

package memory

func addressSpace(most int64) int64 { return most }
