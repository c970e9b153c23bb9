package ctl

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParse(t *testing.T) {
	s := globalSyntax.with(map[string]kind{"priority": integer, "apply-to": text, "table-headers": boolean}, nil)
	for _, c := range []struct {
		argv    []string
		args    []string
		options map[string]string
		invalid []invalidOption
	}{
		{[]string{"-p", "v", "list"}, []string{"list"}, map[string]string{"vhost": "v"}, nil},
		{[]string{"list", "--vhost=v", "a"}, []string{"list", "a"}, map[string]string{"vhost": "v"}, nil},
		{[]string{"-p=v"}, nil, map[string]string{"vhost": "v"}, nil},
		{[]string{"-qs", "x"}, []string{"x"}, map[string]string{"quiet": "true", "silent": "true"}, nil},
		{[]string{"--no-quiet", "--no-table-headers"}, nil,
			map[string]string{"quiet": "false", "table-headers": "false"}, nil},
		{[]string{"--quiet=false"}, nil, map[string]string{"quiet": "false"}, nil},
		{[]string{"--priority", "-2", "-0.5", "-"}, []string{"-0.5", "-"}, map[string]string{"priority": "-2"}, nil},
		{[]string{"a", "--", "-q", "--x"}, []string{"a", "-q", "--x"}, map[string]string{}, nil},
		{[]string{"--vhost", "a", "-p", "b"}, nil, map[string]string{"vhost": "b"}, nil},
		{[]string{"--vhost"}, nil, map[string]string{}, []invalidOption{{"--vhost", ""}}},
		{[]string{"-p", "-q"}, nil, map[string]string{"quiet": "true"}, []invalidOption{{"-p", ""}}},
		{[]string{"-t", "x", "name"}, []string{"name"}, map[string]string{}, []invalidOption{{"-t", "x"}}},
		{[]string{"--priority", "1.5"}, nil, map[string]string{}, []invalidOption{{"--priority", "1.5"}}},
		{[]string{"--bogus", "x"}, []string{"x"}, map[string]string{}, []invalidOption{{"--bogus", ""}}},
		{[]string{"-vhost", "v"}, nil, map[string]string{"silent": "true"},
			[]invalidOption{{"-v", ""}, {"-h", ""}, {"-o", ""}, {"-t", "v"}}},
		{[]string{"-pv"}, nil, map[string]string{}, []invalidOption{{"-p", ""}, {"-v", ""}}},
	} {
		l := s.parse(c.argv)
		assert.Equal(t, c.args, l.args, "%q", c.argv)
		assert.Equal(t, c.options, l.options, "%q", c.argv)
		assert.Equal(t, c.invalid, l.invalid, "%q", c.argv)
	}
}
