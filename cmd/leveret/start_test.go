package main

import (
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every leveret ctl is a process of its own, so no package of ours prepares at its start what only some commands need.
func TestStartIsCheap(t *testing.T) {
	const most = 256 << 10 // octets for one package; parsing the page's templates alone would take seven times as much
	cmd := exec.Command(os.Args[0], "version")
	cmd.Env = append(os.Environ(), asLeveret+"=1", "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	found := initialized.FindAllSubmatch(out, -1)
	require.NotEmpty(t, found, "%s", out)
	for _, m := range found {
		octets, err := strconv.Atoi(string(m[2]))
		require.NoError(t, err)
		assert.LessOrEqual(t, octets, most, "package %s", m[1])
	}
}

// initialized is a line of the runtime about a package of ours.
var initialized = regexp.MustCompile(`(?m)^init (github\.com/leveretmq/\S+) .* (\d+) bytes`)
