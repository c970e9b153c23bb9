package ctl

import (
	"strconv"
	"strings"
)

// Options are written as rabbitmqctl reads them: anywhere on the line, --name value or
// --name=value, --no-name for booleans, -p value, clusters such as -qs, and -- before
// arguments that look like options. Of a repeated option the last counts.

// A kind is what an option takes.
type kind uint8

const (
	boolean kind = iota
	text
	integer
)

// A syntax is the set of options a command line may have.
type syntax struct {
	switches map[string]kind
	aliases  map[byte]string
}

// globalSyntax holds for every command. Those that concern Erlang nodes are accepted, so that
// a script need not be changed, and have no effect.
var globalSyntax = syntax{
	switches: map[string]kind{
		"control": text,
		"quiet":   boolean, "silent": boolean, "dry-run": boolean, "help": boolean,
		"vhost": text, "timeout": integer, "formatter": text,
		"node": text, "longnames": boolean, "printer": text, "file": text, "script-name": text,
		"rabbitmq-home": text, "data-dir": text, "plugins-dir": text, "enabled-plugins-file": text,
		"aliases-file": text, "erlang-cookie": text, "print-stacktrace": boolean,
	},
	aliases: map[byte]string{
		'p': "vhost", 'n': "node", 'q': "quiet", 's': "silent", 'l': "longnames", 't': "timeout", '?': "help",
	},
}

// with returns the syntax extended by more options.
func (s syntax) with(switches map[string]kind, aliases map[byte]string) syntax {
	all := syntax{map[string]kind{}, map[byte]string{}}
	for _, m := range []map[string]kind{s.switches, switches} {
		for name, k := range m {
			all.switches[name] = k
		}
	}
	for _, m := range []map[byte]string{s.aliases, aliases} {
		for short, name := range m {
			all.aliases[short] = name
		}
	}
	return all
}

// A line is a parsed command line.
type line struct {
	args    []string
	options map[string]string // booleans are "true" or "false"
	invalid []invalidOption
}

type invalidOption struct{ name, value string }

// parse splits argv into arguments and options.
func (s syntax) parse(argv []string) *line {
	l := &line{options: map[string]string{}}
	for len(argv) > 0 {
		arg := argv[0]
		argv = argv[1:]
		switch {
		case arg == "--":
			l.args = append(l.args, argv...)
			return l
		case strings.HasPrefix(arg, "--"):
			argv = s.long(l, arg, argv)
		case isShort(arg):
			argv = s.short(l, arg, argv)
		default:
			l.args = append(l.args, arg)
		}
	}
	return l
}

// isShort tells options from arguments such as - and -0.5.
func isShort(arg string) bool {
	return len(arg) > 1 && arg[0] == '-' && !isNumber(arg)
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

func (s syntax) long(l *line, arg string, rest []string) []string {
	shown, value, hasValue := strings.Cut(arg, "=")
	name := shown[2:]
	if k, ok := s.switches[name]; ok {
		return l.take(option{shown, name, k, value, hasValue}, rest)
	}
	if positive, ok := strings.CutPrefix(name, "no-"); ok && !hasValue {
		if k, ok := s.switches[positive]; ok && k == boolean {
			l.options[positive] = "false"
			return rest
		}
	}
	l.invalid = append(l.invalid, invalidOption{shown, value})
	return rest
}

// short reads -p and clusters such as -qs, of which only the last may take a value.
func (s syntax) short(l *line, arg string, rest []string) []string {
	letters, value, hasValue := strings.Cut(arg[1:], "=")
	for i := range len(letters) {
		shown, last := "-"+letters[i:i+1], i == len(letters)-1
		name, ok := s.aliases[letters[i]]
		if !ok || (!last && s.switches[name] != boolean) {
			l.invalid = append(l.invalid, invalidOption{name: shown})
			continue
		}
		o := option{shown: shown, name: name, kind: s.switches[name]}
		if last {
			o.value, o.hasValue = value, hasValue
		}
		rest = l.take(o, rest)
	}
	return rest
}

// An option is one found on the line, with the value that was attached by =.
type option struct {
	shown, name string
	kind        kind
	value       string
	hasValue    bool
}

// take records an option, with its value from the rest of the line if it needs one.
func (l *line) take(o option, rest []string) []string {
	switch {
	case o.hasValue:
	case o.kind == boolean:
		o.value = "true"
	case len(rest) == 0 || rest[0] == "--" || isShort(rest[0]):
		l.invalid = append(l.invalid, invalidOption{name: o.shown})
		return rest
	default:
		o.value, rest = rest[0], rest[1:]
	}
	if !o.kind.accepts(o.value) {
		l.invalid = append(l.invalid, invalidOption{o.shown, o.value})
		return rest
	}
	l.options[o.name] = o.value
	return rest
}

func (k kind) accepts(value string) bool {
	switch k {
	case boolean:
		return value == "true" || value == "false"
	case integer:
		_, err := strconv.ParseInt(value, 10, 64)
		return err == nil
	}
	return true
}
