package ctl

import (
	"fmt"
	"slices"
	"strings"
)

// commands are all there are, by name.
var commands = map[string]*command{}

func init() {
	for _, group := range [][]*command{
		accessCommands(), userCommands(), vhostCommands(), limitCommands(), policyCommands(), queueCommands(), routingCommands(),
		connectionCommands(), definitionCommands(), nodeCommands(), evalCommands(), traceCommands(),
	} {
		for _, c := range group {
			commands[c.name] = c
		}
	}
}

// program is the command line that usage texts show.
const program = "leveret ctl [--control <socket>] [--quiet] "

// usageText is the reminder under an error.
func (cmd *command) usageText() string {
	text := "\nUsage\n\n" + program + cmd.usage
	if cmd.timeout {
		text += " [--timeout <timeout>]"
	}
	return text
}

func (cmd *command) help() string {
	text := cmd.usageText() + "\n\n" + cmd.about + "\n"
	if len(cmd.columns) > 0 {
		text += "\nColumns: " + strings.Join(slices.Sorted(slices.Values(cmd.columns)), ", ") + "\n" + cmd.note
	}
	return text + "\n" + generalOptions
}

const generalOptions = `General options:
  --control <socket>     the control socket of the leveret serve to talk to
  -p, --vhost <vhost>    the virtual host, "/" if not given
  -q, --quiet            no banner
  -s, --silent           no banner and no table header
  --formatter <name>     table, pretty_table, csv, json or erlang
`

// Help describes all commands.
func Help() string {
	text := "\nUsage\n\n" + program + "<command> [<command options>]\n\nAvailable commands:\n\n"
	all := slices.Sorted(func(yield func(string) bool) {
		for name := range commands {
			if !yield(name) {
				return
			}
		}
	})
	for _, name := range all {
		text += fmt.Sprintf("   %-30s %s\n", name, commands[name].about)
	}
	return text + "\nUse 'leveret ctl help <command>' to learn more about a specific command\n"
}

// notFound answers a line without a command that exists.
func notFound(name string) Response {
	if name == "" {
		return Response{Stderr: Help(), Status: exitUsage}
	}
	text := "\nCommand '" + name + "' not found. \n"
	if similar := suggestion(name); similar != "" {
		return Response{Stderr: text + "Did you mean '" + similar + "'? \n\n", Status: exitUsage}
	}
	return Response{Stderr: text + Help(), Status: exitUsage}
}

// suggestion returns the command that differs least from name, if that is at most a third of it.
func suggestion(name string) string {
	best, least := "", len(name)/3+1
	for candidate := range commands {
		d := distance(name, candidate)
		if d < least || d == least && best != "" && candidate < best {
			best, least = candidate, d
		}
	}
	return best
}

// distance is the number of insertions, deletions and replacements that turn a into b.
func distance(a, b string) int {
	line := make([]int, len(b)+1)
	for j := range line {
		line[j] = j
	}
	for i := range len(a) {
		diagonal := line[0]
		line[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, line[j], line[j+1])
			}
			diagonal, line[j+1] = line[j+1], cost
		}
	}
	return line[len(b)]
}
