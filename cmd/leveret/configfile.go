package main

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/leveretmq/leveret/cmd/leveret/internal/conf"
	"github.com/leveretmq/leveret/internal/similar"
)

// A configuration file has the keys of rabbitmq.conf. Each key stands for flags of leveret serve, so that a setting means
// the same wherever it is given.

// A configFile collects what a file gives the flags.
type configFile struct {
	name    string
	flags   map[string]given
	ignored []string // keys of RabbitMQ's that change nothing here, each with its line and the reason

	http       httpKeys
	caFile     given
	verifyPeer bool
	logDir     string
	sizes      []fileSize
	vhosts     vhostDefaults
	passwords  passwordRule
	names      map[string]nameList // of flags, that keys have switched on
	renamed    map[string]bool     // flags that a key has given by its new name
	silent     given               // the line that turns the log on standard error off
	errs       []error
}

// given is a flag's value, and the line that gives it.
type given struct{ value, origin string }

// nameList are the names that keys have switched on, and the last line that says so.
type nameList struct {
	all    []string
	origin string
}

// httpKeys are the two parts of the management API's address.
type httpKeys struct{ ip, port, origin string }

// A line is one setting of a file, as the function of its key gets it.
type line struct {
	*configFile
	conf.Entry
	variable string // what stands for the part of the key that is a name, such as tcp.NAME
}

// readConfig reads a file. The error has a line for each fault.
func readConfig(name string) (*configFile, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	c := &configFile{name: name, flags: map[string]given{}, vhosts: newVHostDefaults(), names: map[string]nameList{}, renamed: map[string]bool{},
		passwords: passwordRule{minLength: defaultMinLength}}
	entries, err := conf.Parse(data)
	c.faults(err)
	for _, e := range entries {
		c.read(e)
	}
	c.finish()
	return c, errors.Join(c.errs...)
}

// faults adds the errors of a file's lines.
func (c *configFile) faults(err error) {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		for _, fault := range joined.Unwrap() {
			c.errs = append(c.errs, fmt.Errorf("%s:%w", c.name, fault))
		}
	}
}

func (c *configFile) read(e conf.Entry) {
	l := &line{configFile: c, Entry: e}
	for _, k := range configKeys {
		if variable, ok := k.match(e.Key); ok {
			l.variable = variable
			if err := k.set(l); err != nil {
				c.errs = append(c.errs, fmt.Errorf("%s: %w", l.origin(), err))
			}
			return
		}
	}
	if reason := reasonOf(ineffectiveKeys, e.Name()); reason != "" {
		c.ignored = append(c.ignored, l.origin()+": has no effect: "+reason)
		return
	}
	if reason := reasonOf(missingKeys, e.Name()); reason != "" {
		c.errs = append(c.errs, fmt.Errorf("%s: %s", l.origin(), reason))
		return
	}
	c.errs = append(c.errs, fmt.Errorf("%s is not known%s", l.origin(), suggestKey(e.Key)))
}

// finish makes flags of what several keys say together.
func (c *configFile) finish() {
	c.giveSizes()
	if h := c.http; h.origin != "" {
		c.flags["http"] = given{net.JoinHostPort(h.ip, cmp.Or(h.port, "15672")), h.origin}
	}
	for flag, names := range c.names {
		if c.flags[flag].value != none {
			c.flags[flag] = given{strings.Join(names.all, ","), names.origin}
		}
	}
	c.checkPermissions()
	if c.verifyPeer && c.caFile.origin != "" {
		c.flags["client-ca"] = c.caFile
	}
	if c.silent.origin != "" {
		c.flags["log"] = given{none, c.silent.origin}
	}
	if file, ok := c.flags["log-file"]; ok && c.logDir != "" && !strings.HasPrefix(file.value, "/") && file.value != none {
		c.flags["log-file"] = given{c.logDir + "/" + file.value, file.origin}
	}
}

// checkPermissions refuses a part of the first user's permissions.
func (c *configFile) checkPermissions() {
	var parts []string
	for _, flag := range []string{"default-configure", "default-write", "default-read"} {
		if g, ok := c.flags[flag]; ok {
			parts = append(parts, g.origin)
		}
	}
	if n := len(parts); n == 1 || n == 2 {
		c.errs = append(c.errs, fmt.Errorf("%s: default_permissions needs configure, write and read", parts[0]))
	}
}

// origin is how errors call a setting.
func (l *line) origin() string { return fmt.Sprintf("%s:%d: %s", l.name, l.Line, l.Name()) }

// give sets a flag. A later line replaces what an earlier one has set.
func (l *line) give(flag, value string) { l.flags[flag] = given{value, l.origin()} }

// add adds to a flag with a list.
func (l *line) add(flag, value string) {
	if old, ok := l.flags[flag]; ok && old.value != none && old.value != "" {
		value = old.value + "," + value
	}
	l.give(flag, value)
}

// A configKey is a key with what it does. A part of the key in braces stands for a name.
type configKey struct {
	pattern string
	set     func(*line) error
}

func (k configKey) match(key []string) (variable string, ok bool) {
	parts := strings.Split(k.pattern, ".")
	if len(parts) != len(key) {
		return "", false
	}
	for i, part := range parts {
		switch {
		case strings.HasPrefix(part, "{"):
			variable = key[i]
		case part != key[i]:
			return "", false
		}
	}
	return variable, true
}

// suggestKey says which key was probably meant. A name inside of a key may be any.
func suggestKey(key []string) string {
	var candidates []string
	for _, k := range configKeys {
		parts := strings.Split(k.pattern, ".")
		for i, part := range parts {
			if strings.HasPrefix(part, "{") && i < len(key) {
				parts[i] = key[i]
			}
		}
		candidates = append(candidates, strings.Join(parts, "."))
	}
	if meant := similar.Name(strings.Join(key, "."), candidates); meant != "" {
		return "; probably " + meant + " is meant"
	}
	return ""
}

// number checks that the value is a whole number.
func (l *line) number() (int, error) {
	n, err := strconv.Atoi(l.Value)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is not a whole number", l.Value)
	}
	return n, nil
}

// yes reads true or false.
func (l *line) yes() (bool, error) {
	if l.Value != "true" && l.Value != "false" {
		return false, fmt.Errorf("%q is not true or false", l.Value)
	}
	return l.Value == "true", nil
}

// oneOf translates the value.
func (l *line) oneOf(words map[string]string) (string, error) {
	word, ok := words[l.Value]
	if !ok {
		known := make([]string, 0, len(words))
		for w := range words {
			known = append(known, w)
		}
		slices.Sort(known)
		return "", fmt.Errorf("%q is not one of %s", l.Value, strings.Join(known, ", "))
	}
	return word, nil
}
