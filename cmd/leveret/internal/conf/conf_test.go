package conf_test

import (
	"strings"
	"testing"

	"github.com/leveretmq/leveret/cmd/leveret/internal/conf"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	entries, err := conf.Parse([]byte("# a comment\n\n \t\nheartbeat = 60\r\n  listeners.tcp.local=127.0.0.1:5672 # a comment, too\n" +
		"default_pass = 'a # b' # quoted\nloopback_users.a\\.b = true\nempty = ''\n\tlog.file\t=\t/var/log/a b.log  \nlast = x=y"))
	require.NoError(t, err)
	assert.Equal(t, []conf.Entry{
		{[]string{"heartbeat"}, "60", 4},
		{[]string{"listeners", "tcp", "local"}, "127.0.0.1:5672", 5},
		{[]string{"default_pass"}, "a # b", 6},
		{[]string{"loopback_users", "a.b"}, "true", 7},
		{[]string{"empty"}, "", 8},
		{[]string{"log", "file"}, "/var/log/a b.log", 9},
		{[]string{"last"}, "x=y", 10},
	}, entries)
	assert.Equal(t, `loopback_users.a\.b`, entries[3].Name())
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"\nheartbeat":             `2: "heartbeat" is not KEY = VALUE`,
		"heart beat = 1":          `1: "heart beat = 1" is not KEY = VALUE`,
		"a..b = 1":                `1: "a..b = 1" is not KEY = VALUE`,
		"= 1":                     `1: "= 1" is not KEY = VALUE`,
		"a =":                     "1: there is no value",
		"a = # b":                 "1: there is no value",
		"a = 'b":                  "1: a value that begins with a quotation mark must end with one",
		"a = 'b' c":               "1: a value that begins with a quotation mark must end with one",
		"include conf.d/*.conf":   "1: leveret does not include other files",
		"a = \xff":                "1: the line is not UTF-8",
		"a = 1\nb\nc = 2\nd = 'x": "2: \"b\" is not KEY = VALUE\n4: a value that begins with a quotation mark must end with one",
	} {
		_, err := conf.Parse([]byte(text))
		assert.EqualError(t, err, want, "%q", text)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("a.b = 'c # d' # e\n")
	f.Fuzz(func(t *testing.T, text string) {
		entries, err := conf.Parse([]byte(text))
		if err != nil {
			return
		}
		for _, e := range entries {
			if strings.Contains(e.Value, "'") {
				continue // cannot be quoted
			}
			again, err := conf.Parse([]byte(e.Name() + " = '" + e.Value + "'"))
			require.NoError(t, err)
			require.Equal(t, e.Key, again[0].Key)
			require.Equal(t, e.Value, again[0].Value)
		}
	})
}
