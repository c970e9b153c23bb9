package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/ctl"
	"github.com/leveretmq/leveret/lint"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// called runs a command line of leveret in this process.
func called(stdin string, args ...string) (stdout, stderr string, status int) {
	var out, errs bytes.Buffer
	status = run(args, ctl.Streams{In: strings.NewReader(stdin), Out: &out, Err: &errs})
	return out.String(), errs.String(), status
}

const linted = "../../lint/testdata/"

func TestLint(t *testing.T) {
	want, err := os.ReadFile(linted + "readme.txt")
	require.NoError(t, err)
	out, stderr, status := called("", "lint", linted+"readme.json")
	assert.Equal(t, string(want), out)
	assert.Empty(t, stderr)
	assert.Equal(t, 1, status)

	document, err := os.ReadFile(linted + "readme.json")
	require.NoError(t, err)
	out, _, status = called(string(document), "lint", "-", "--format", "json", "--ignore", "L011")
	assert.Equal(t, 1, status)
	var found []lint.Finding
	require.NoError(t, json.Unmarshal([]byte(out), &found))
	require.Len(t, found, 1)
	assert.Equal(t, lint.Finding{Code: lint.UnknownArgument, Severity: lint.Warning, VHost: "/", Kind: "queue", Name: "orders",
		Text: "Nothing knows the argument 'x-mesage-ttl'. Probably 'x-message-ttl' is meant.", See: "docs/lint.md#l040"}, found[0])
}

func TestLintWithoutFaults(t *testing.T) {
	for _, args := range [][]string{
		{linted + "good.json"}, {"--profile", "3.10", linted + "good.json"},
		{linted + "readme.json", "--ignore", "L011,L040"},
	} {
		out, stderr, status := called("", append([]string{"lint"}, args...)...)
		assert.Empty(t, out+stderr, args)
		assert.Zero(t, status, args)
	}
	out, _, status := called("", "lint", linted+"L013-retry.json")
	assert.Contains(t, out, "L013 info")
	assert.Zero(t, status, "what is worth knowing is no fault")
	out, _, _ = called("", "lint", "--format", "json", linted+"good.json")
	assert.Equal(t, "[]\n", out)
}

func TestLintRefuses(t *testing.T) {
	for _, c := range []struct{ stdin, says, args string }{
		{"", "a definitions file is expected", ""},
		{"", `"b" is not expected`, "a b"},
		{"", `--profile is "4"`, "- --profile 4"},
		{"", `--format is "xml"`, "--format xml -"},
		{"", "flag provided but not defined: -bogus", "--bogus"},
		{"", "no such file", "none.json"},
		{"{", "-: line 1, column 1: ", "-"},
	} {
		out, stderr, status := called(c.stdin, append([]string{"lint"}, strings.Fields(c.args)...)...)
		assert.Equal(t, 2, status, c.args)
		assert.Empty(t, out)
		assert.True(t, strings.HasPrefix(stderr, "leveret lint: "), stderr)
		assert.Contains(t, stderr, c.says)
	}
	out, _, status := called("", "lint", "--help")
	assert.Zero(t, status)
	assert.Contains(t, out, "-ignore codes")
}

func TestExplain(t *testing.T) {
	want, err := os.ReadFile(linted + "explain/orders.txt")
	require.NoError(t, err)
	out, stderr, status := called("", "explain", linted+"shop.json", "--queue", "orders")
	assert.Equal(t, string(want), out)
	assert.Empty(t, stderr)
	assert.Zero(t, status)

	out, _, status = called("", "explain", "--format", "json", "--vhost", "/", "--queue", "grave", linted+"shop.json")
	assert.Zero(t, status)
	var e lint.Explanation
	require.NoError(t, json.Unmarshal([]byte(out), &e))
	assert.Equal(t, "grave", e.Queue)
	assert.Equal(t, []lint.Way{{Steps: []lint.Step{{Queue: "grave", Lost: leveret.CauseNoDeadLetterExchange}}}}, e.Ways)

	for queue, says := range map[string]string{"nobody": "there is no queue 'nobody'", "": "--queue"} {
		_, stderr, status = called("", "explain", linted+"shop.json", "--queue", queue)
		assert.Equal(t, 2, status)
		assert.Contains(t, stderr, says)
	}
}

// TestPresumed looks at a file that needs a virtual host and a user to be there, as RabbitMQ does. All commands presume them.
func TestPresumed(t *testing.T) {
	const shop = `"permissions":[{"user":"clerk","vhost":"shop","configure":"","write":"","read":""}],
		"queues":[{"name":"orders","vhost":"shop","durable":true,"auto_delete":false,"arguments":{}}]`
	out, _, status := called("{"+shop+"}", "lint", "-")
	assert.Zero(t, status)
	const text = ": No section of this file makes it: where it is not there already, an import refuses the file.\n"
	assert.Equal(t, "L005 info user 'clerk'"+text+"L005 info vhost 'shop'"+text, out)
	for want, args := range map[string][]string{
		"queue 'orders' in virtual host 'shop'": {"explain", "-", "--queue", "orders"},
		"= 1 in a queue":                        {"trace", "-", "--key", "orders"},
		"<svg":                                  {"graph", "-"},
	} {
		out, stderr, status := called("{"+shop+"}", args...)
		assert.Zero(t, status, "%s: %s", args[0], stderr)
		assert.Contains(t, out, want)
	}
	out, _, status = called(`{"vhosts":[{"name":"shpo"}],"users":[{"name":"clerk","tags":""}],`+shop+"}", "lint", "-")
	assert.Equal(t, exitFound, status)
	assert.Equal(t, `L001 error permission 'clerk': Please create virtual host "shop" prior to importing definitions.`+"\n"+
		`L001 error queue 'orders': Please create virtual host "shop" prior to importing definitions.`+"\n", out)
}
