package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An operator changes how much both places of the log get.
func TestSetLogLevel(t *testing.T) {
	var console bytes.Buffer
	file := filepath.Join(t.TempDir(), "log")
	log, err := logSettings{console: logPlace{level: levels["error"]}, file: logPlace{level: levels["info"]}, path: file}.open(&console)
	require.NoError(t, err)
	defer log.Close()
	s := testSettings(t)
	s.setLogLevel = log.setLevel
	startForTest(t, s)
	control := controlOf(s)
	for level, told := range map[string]int{"debug": 4, "info": 3, "notice": 2, "warning": 2, "error": 1, "critical": 0, "none": 0} {
		_, stderr, status := control([]string{"set_log_level", level}, "")
		require.Zero(t, status, stderr)
		console.Reset()
		require.NoError(t, os.Truncate(file, 0))
		log.Debug("told")
		log.Info("told")
		log.Warn("told")
		log.Error("told")
		written, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, told, strings.Count(console.String(), "told"), level)
		assert.Equal(t, told, strings.Count(string(written), "told"), level)
	}
}
