package ctl

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The answers are those of rabbitmqctl 4.3.
func TestDeletionProtection(t *testing.T) {
	n := testNode(t)
	run := func(args ...string) Response { return n.Run(Request{Args: args}) }
	listed := func() string {
		return run("-q", "list_vhosts", "--no-table-headers", "protected_from_deletion", "metadata").Stdout
	}
	assert.Equal(t, "false\t#{default_queue_type => classic, description => Default virtual host, tags => []}\n", listed())
	r := run("enable_vhost_deletion_protection", "/")
	assert.Equal(t, Response{Stdout: "Protecting virtual host \"/\" from removal by updating its metadata...\n"}, r)
	assert.Equal(t, "true\t#{default_queue_type => classic, description => Default virtual host, protected_from_deletion => true, tags => []}\n", listed())

	r = run("-q", "delete_vhost", "/")
	assert.Equal(t, Response{Status: exitData, Stderr: "Error:\nCannot delete this virtual host: it is protected from deletion. " +
		"To lift the protection, inspect and update its metadata\n"}, r)
	r = run("disable_vhost_deletion_protection", "/")
	assert.Equal(t, Response{Stdout: "Removing deletion protection from virtual host \"/\" by updating its metadata...\n"}, r)
	assert.Equal(t, "false\t#{default_queue_type => classic, description => Default virtual host, protected_from_deletion => false, tags => []}\n", listed())
	assert.Zero(t, run("update_vhost_metadata", "/", "--protected-from-deletion=true").Status)
	assert.Equal(t, exitData, run("delete_vhost", "/").Status)
	assert.Zero(t, run("update_vhost_metadata", "/", "--protected-from-deletion=false").Status)
	assert.Zero(t, run("delete_vhost", "/").Status)
	r = run("-q", "enable_vhost_deletion_protection", "/")
	assert.Equal(t, Response{Status: exitData, Stderr: "Virtual host '/' does not exist\n"}, r)
	assert.Zero(t, run("add_vhost", "/").Status)
	assert.Contains(t, listed(), "false\t#{default_queue_type => classic, description => , tags => []}\n")
}
