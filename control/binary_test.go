package control_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/control"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The command itself, built as users build it, reaches a broker in this process: it lists, reads standard input and files, and
// writes files, by itself.
func TestBuiltCommand(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "leveret")
	out, err := exec.Command("go", "build", "-o", binary, "../cmd/leveret").CombinedOutput()
	require.NoError(t, err, "%s", out)

	e := embed(t, control.Config{})
	run := func(stdin string, args ...string) outcome {
		var out, errs bytes.Buffer
		cmd := exec.Command(binary, append([]string{"ctl"}, args...)...)
		cmd.Env = append(os.Environ(), "LEVERET_CONTROL="+e.socket.Path())
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
		cmd.Run() // the exit code tells
		return outcome{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
	}

	assert.Equal(t, outcome{out: "Adding user \"auditor\" ...\nPassword: \nDone. Don't forget to grant the user permissions to some virtual hosts! See 'leveret ctl help set_permissions' to learn more.\n"},
		run("secret\n", "add_user", "auditor"))
	_, err = e.Connect("auditor", "secret", "/")
	assert.ErrorContains(t, err, "access to vhost '/' refused", "the password is right, but there are no permissions")
	_, err = e.Connect("auditor", "wrong", "/")
	assert.ErrorIs(t, err, leveret.ErrAccessRefused)

	file := filepath.Join(dir, "definitions.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"queues":[{"name":"orders","vhost":"/","durable":true}]}`), 0o600))
	assert.Zero(t, run("", "import_definitions", file).status)
	assert.Equal(t, outcome{out: "name\tmessages\norders\t0\n"}, run("", "list_queues", "-q", "name", "messages"))
	copied := filepath.Join(dir, "copy.json")
	assert.Zero(t, run("", "export_definitions", copied).status)
	data, err := os.ReadFile(copied)
	require.NoError(t, err)
	assert.Contains(t, string(data), `"orders"`)
	assert.Equal(t, 69, run("", "stop").status)
	assert.Equal(t, 64, run("", "lits_queues").status)
}
