package main

import (
	"io"
	"testing"

	"github.com/leveretmq/leveret/internal/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDiskFreeLimit(t *testing.T) {
	for given, want := range map[string]int64{"2GB": 2e9, "5000": 5000, "1MiB": 1 << 20, "0": 0, "none": 0, "0.0": 0} {
		s, err := parseSettings([]string{"--disk-free-limit", given}, io.Discard)
		require.NoError(t, err, given)
		assert.Equal(t, want, s.diskFree, given)
	}
	for _, given := range []string{"much", "2 GB", "5XB", "-0.5", "x.5"} {
		_, err := parseSettings([]string{"--disk-free-limit", given}, io.Discard)
		assert.ErrorContains(t, err, "--disk-free-limit is \""+given+"\"")
	}
	s, err := parseSettings(nil, io.Discard)
	require.NoError(t, err)
	assert.EqualValues(t, 50e6, s.diskFree, "RabbitMQ's default")
	available, err := memory.Available()
	if err != nil {
		t.Skip("the machine's memory is not known: ", err)
	}
	s, err = parseSettings([]string{"--disk-free-limit", "0.5"}, io.Discard)
	require.NoError(t, err)
	assert.EqualValues(t, available/2, s.diskFree)
}

// The status tells how much of the disk is free, and the alarm is in force as soon as a limit is more than that.
func TestStatusOfDisk(t *testing.T) {
	p, _ := spawnControlled(t, "--data", t.TempDir())
	status := p.ctl("status", "--unit", "mb")
	assert.Contains(t, status, "\nFree Disk Space\n\nLow free disk space watermark: 50.0 mb\nFree disk space: ")
	assert.Contains(t, status, "\nAlarms\n\n(none)\n")
	p.ctl("set_disk_free_limit", "12345GB")
	status = p.ctl("status")
	assert.Contains(t, status, "\nLow free disk space watermark: 12345.0 gb\n")
	assert.Contains(t, status, "\nAlarms\n\nFree disk space alarm on node leveret@localhost\n")
	p.ctl("set_disk_free_limit", "mem_relative", "0")
	status = p.ctl("status", "--formatter", "json")
	assert.Contains(t, status, `"alarms":[]`)
	assert.Contains(t, status, `"disk_free_limit":0,"disk_free":`)

	p, _ = spawnControlled(t)
	assert.Contains(t, p.ctl("status"), "\nFree disk space: unknown\n", "there is no directory")
}
