package ctl

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestImportSkipsWhatIsNotSupported(t *testing.T) {
	const document = `{"queues":[{"name":"log","vhost":"/","arguments":{"x-queue-type":"stream"}},{"name":"q","vhost":"/"}],
		"exchanges":[{"name":"later","vhost":"/","type":"x-delayed-message"}]}`
	n := testNode(t)
	run := func(args ...string) Response {
		return n.Run(Request{Args: append([]string{"import_definitions"}, args...), Input: &Input{Kind: NeedStdin, Data: []byte(document)}})
	}
	r := run()
	assert.Equal(t, exitUnavailable, r.Status)
	assert.Empty(t, n.Broker.Queues())

	r = run("--skip-unsupported", "-q")
	assert.Equal(t, Response{Stdout: "Left out: exchanges[0] 'later': there are no exchanges of type 'x-delayed-message'\n" +
		"Left out: queues[0] 'log': there are no streams\n"}, r)
	assert.Len(t, n.Broker.Queues(), 1)
	r = run("--skip-unsupported", "--formatter", "json")
	assert.JSONEq(t, `{"left_out":["exchanges[0] 'later': there are no exchanges of type 'x-delayed-message'","queues[0] 'log': there are no streams"]}`, r.Stdout)
	assert.Contains(t, (n.Run(Request{Args: []string{"help", "import_definitions"}})).Stdout, "With --skip-unsupported")
}

func TestSyntaxErrorsHaveAPlace(t *testing.T) {
	r := testNode(t).Run(Request{Args: []string{"import_definitions", "f"}, Input: &Input{Kind: NeedFile, Data: []byte("{\n  \"queues\": [,]}")}})
	assert.Equal(t, exitData, r.Status)
	assert.Contains(t, r.Stderr, "(error: line 2, column 14: invalid character ',' looking for beginning of value)")
}

func TestUnknownOptionBeforeTheCommand(t *testing.T) {
	r := testNode(t).Run(Request{Args: []string{"--contrl", "x", "ping"}})
	assert.Equal(t, exitUsage, r.Status)
	assert.Contains(t, r.Stderr, "Command 'x' not found. \nBefore it there is an unknown option: '--contrl'. \n")
	r = testNode(t).Run(Request{Args: []string{"x", "--contrl"}})
	assert.NotContains(t, r.Stderr, "unknown option")
}

func TestHelpFitsOnAScreen(t *testing.T) {
	for name := range commands {
		r := testNode(t).Run(Request{Args: []string{"help", name}})
		_, body, _ := strings.Cut(r.Stdout, "\n\n")
		_, body, _ = strings.Cut(body, "\n\n") // the usage line is rabbitmqctl's
		for line := range strings.Lines(body) {
			assert.LessOrEqual(t, len(line), 130, "%s: %s", name, line)
		}
	}
}
