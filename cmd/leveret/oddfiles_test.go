package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/leveretmq/leveret/internal/race"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Files that somebody might give to the commands that read definitions, and what the first line of the error is to have. A
// file without one is read by all of them.
func oddFiles() map[string]struct{ text, mistake string } {
	queues := func(names ...string) string {
		var all []string
		for i, name := range names {
			quoted, _ := json.Marshal(name)
			next, _ := json.Marshal(names[(i*7+1)%len(names)])
			all = append(all, fmt.Sprintf(`{"name":%s,"vhost":"/","durable":true,"arguments":{"x-dead-letter-exchange":"","x-dead-letter-routing-key":%s}}`, quoted, next))
		}
		return `{"vhosts":[{"name":"/"}],"queues":[` + strings.Join(all, ",") + `]}`
	}
	var many []string
	for n := range 1500 {
		many = append(many, fmt.Sprint("queue.", n))
	}
	return map[string]struct{ text, mistake string }{
		"empty":            {"", "line 1, column 1: failed_to_parse_json: unexpected end of JSON input"},
		"blank":            {" \n\n ", "failed_to_parse_json: unexpected end of JSON input"},
		"no JSON":          {"queues:\n- q", "line 1, column 1: failed_to_parse_json: invalid character 'q'"},
		"a list":           {"[]", "line 1, column 1: failed_to_parse_json: the document is not an object"},
		"null":             {"null", "the document is not an object"},
		"a comma too many": {"{\n \"queues\": [\n  {\"name\":\"q\"},\n ]}", "line 4, column 2: failed_to_parse_json: invalid character ']'"},
		"cut off":          {`{"queues":[{"name":"q"`, "line 1, column 22: failed_to_parse_json: unexpected end of JSON input"},
		"two documents":    {"{}\n{}", "line 2, column 1: failed_to_parse_json: invalid character '{' after top-level value"},
		"a byte order":     {"\xef\xbb\xbf{}", ""},
		"deep":             {`{"queues":` + strings.Repeat("[", 100_000), "exceeded max depth"},
		"an object":        {"{}", ""},
		"empty sections":   {`{"queues":[],"exchanges":[],"bindings":[],"vhosts":[],"policies":[],"users":[]}`, ""},
		"unknown keys":     {`{"quues":[],"queues":[{"name":"q","vhost":"/","durable":true,"colour":"red"}]}`, ""},
		"no UTF-8":         {"{\"queues\":[{\"name\":\"\xff\xfe\",\"vhost\":\"/\",\"durable\":true}]}", "line 1, column 21: failed_to_parse_json: octet 0xff is no UTF-8"},
		"half a pair":      {`{"queues":[{"name":"\ud800","vhost":"/","durable":true}]}`, "failed_to_parse_json: \\ud800 is half of a surrogate pair"},
		"a large number":   {`{"queues":[{"name":"q","vhost":"/","durable":true,"arguments":{"x":1e400}}]}`, "failed_to_parse_json: number 1e400 is out of range"},
		"many":             {queues(many...), ""},
		"any names": {queues("</text><script>alert(1)</script>", "\x00", "a\nb", "\u202eabc", "日本語", strings.Repeat("😀", 60), strings.Repeat("w", 255),
			`quote " \ back`, "%%{init}%%", ":::x", "]]>", "&amp;", "'", "`", " ", "q"), ""},
		"circles": {`{"vhosts":[{"name":"/"}],"exchanges":[{"name":"a","vhost":"/","type":"fanout","durable":true,"auto_delete":false,"internal":false,"arguments":{"alternate-exchange":"b"}},
			{"name":"b","vhost":"/","type":"fanout","durable":true,"auto_delete":false,"internal":false,"arguments":{"alternate-exchange":"a"}}],
			"bindings":[{"source":"a","vhost":"/","destination":"b","destination_type":"exchange","routing_key":"","arguments":{}},
			{"source":"b","vhost":"/","destination":"a","destination_type":"exchange","routing_key":"","arguments":{}}],
			"queues":[{"name":"q","vhost":"/","durable":true,"arguments":{"x-message-ttl":10,"x-dead-letter-exchange":"a"}}]}`, ""},
		"an export of 3.8": {`{"rabbit_version":"3.8.9","rabbitmq_version":"3.8.9","product_name":"RabbitMQ","users":[{"name":"u","password_hash":"","hashing_algorithm":"rabbit_password_hashing_sha256","tags":"administrator"}],
			"vhosts":[{"name":"/"}],"permissions":[{"user":"u","vhost":"/","configure":".*","write":".*","read":".*"}],"topic_permissions":[],"parameters":[],
			"global_parameters":[{"name":"cluster_name","value":"rabbit@a"}],"policies":[],
			"queues":[{"name":"q","vhost":"/","durable":true,"auto_delete":false,"arguments":{"x-queue-mode":"lazy","x-max-priority":3}}],"exchanges":[],"bindings":[]}`, ""},
		"plugins": {`{"vhosts":[{"name":"/"}],"queues":[{"name":"s","vhost":"/","durable":true,"arguments":{"x-queue-type":"stream"}},{"name":"q","vhost":"/","durable":true}],
			"exchanges":[{"name":"d","vhost":"/","type":"x-delayed-message","durable":true,"auto_delete":false,"internal":false,"arguments":{"x-delayed-type":"direct"}}],
			"parameters":[{"component":"shovel","name":"s","vhost":"/","value":{}}]}`, ""},
	}
}

// runOdd runs a command on a file.
func runOdd(args ...string) (stdout, stderr string, status int) {
	var out, errs bytes.Buffer
	status = run(args, streams(&out, &errs))
	return out.String(), errs.String(), status
}

// Each command reads any file, or says what is wrong where, with its exit code for that. What it prints as JSON is JSON, what
// it draws is XML, and both are the same the second time.
func TestOddFiles(t *testing.T) {
	if race.Enabled {
		t.Skip("one goroutine does it all, slowly")
	}
	dir := t.TempDir()
	other := filepath.Join(dir, "other")
	require.NoError(t, os.WriteFile(other, []byte("{}"), 0o600))
	for name, odd := range oddFiles() {
		file := filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".json")
		require.NoError(t, os.WriteFile(file, []byte(odd.text), 0o600))
		for n, args := range [][]string{
			{"lint", "--format", "json", file}, {"lint", file}, {"explain", "--format", "json", "--queue", "q", file},
			{"trace", "--format", "json", file, "--exchange", "", "--key", "q"}, {"trace", "--format", "svg", file, "--key", "q"},
			{"diff", "--format", "json", file, other}, {"diff", "--format", "json", other, file}, {"graph", file},
		} {
			t.Run(fmt.Sprint(name, "/", n, " ", args[0]), func(t *testing.T) {
				out, errs, status := runOdd(args...)
				if odd.mistake != "" {
					assert.Equal(t, 2, status)
					assert.Empty(t, out)
					assert.Regexp(t, "^leveret "+args[0]+": ("+regexp.QuoteMeta(file)+"|the old file|the new file): ", errs)
					assert.Contains(t, errs, odd.mistake)
					return
				}
				again, _, _ := runOdd(args...)
				assert.Equal(t, out, again)
				if args[0] == "explain" && !strings.Contains(odd.text, `"q"`) {
					assert.Equal(t, 2, status)
					assert.Contains(t, errs, "there is no queue 'q'")
					return
				}
				assert.Less(t, status, 2, errs)
				verifyForm(t, args, out)
			})
		}
	}
}

// verifyForm demands that an output is what the arguments ask for.
func verifyForm(t *testing.T, args []string, out string) {
	switch given := strings.Join(args, " "); {
	case strings.Contains(given, "--format json"):
		assert.True(t, json.Valid([]byte(out)), out)
	case args[0] == "graph" || strings.Contains(given, "--format svg"):
		decoder := xml.NewDecoder(strings.NewReader(out))
		for {
			_, err := decoder.Token()
			if err == io.EOF {
				return
			}
			require.NoError(t, err)
		}
	}
}

// A script that is none says in which line.
func TestPlayOddFiles(t *testing.T) {
	dir := t.TempDir()
	for name, odd := range oddFiles() {
		file := filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".txt")
		require.NoError(t, os.WriteFile(file, []byte(odd.text), 0o600))
		_, errs, status := runOdd("play", file)
		if strings.TrimSpace(odd.text) == "" {
			assert.Equal(t, 0, status, errs)
			continue
		}
		assert.Equal(t, 2, status, name)
		assert.Contains(t, errs, "leveret play: "+file+":1: ", name)
	}
}
