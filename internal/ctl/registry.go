package ctl

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/leveretmq/leveret/internal/similar"
)

// commands are all there are, by name.
var commands = map[string]*command{}

func init() {
	for _, group := range [][]*command{
		accessCommands(), userCommands(), vhostCommands(), limitCommands(), policyCommands(), queueCommands(), routingCommands(),
		connectionCommands(), definitionCommands(), nodeCommands(), evalCommands(), traceCommands(), timeCommands(), faultCommands(),
		healthCommands(), parameterCommands(), globalCommands(), nothingCommands(), waitCommands(), localCommands(), messageCommands(), sizeCommands(),
		stopCommands(), applicationCommands(), clusterCommands(),
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
		text += "\n" + paragraph("Columns: "+strings.Join(slices.Sorted(slices.Values(cmd.columns)), ", "))
	}
	if cmd.note != "" {
		text += "\n" + cmd.note
	}
	return text + "\n" + generalOptions
}

// paragraph breaks a text into lines of at most 100 characters.
func paragraph(text string) string {
	const width = 100
	out, line := "", 0
	for _, word := range strings.Fields(text) {
		switch {
		case line == 0:
		case line+1+len(word) > width:
			out, line = out+"\n", 0
		default:
			out, line = out+" ", line+1
		}
		out, line = out+word, line+len(word)
	}
	return out + "\n"
}

const generalOptions = `General options:
  --control <socket>     the control socket of the broker to talk to
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

// notFound answers a line without a command that exists. The name may be what was to be the value of an unknown option.
func notFound(name string, argv []string) Response {
	if name == "" {
		return Response{Stderr: Help(), Status: exitUsage}
	}
	text := "\nCommand '" + name + "' not found. \n"
	if option := unknownBefore(name, argv); option != "" {
		text += "Before it there is an unknown option: '" + option + "'. \n"
	}
	if meant := suggestion(name); meant != "" {
		return Response{Stderr: text + "Did you mean '" + meant + "'? \n\n", Status: exitUsage}
	}
	return Response{Stderr: text + Help(), Status: exitUsage}
}

// unknownBefore returns the first option that no command knows, if it stands before the name.
func unknownBefore(name string, argv []string) string {
	unknown := globalSyntax.parse(argv).invalid
	if len(unknown) == 0 || slices.Index(argv, unknown[0].name) > slices.Index(argv, name) {
		return ""
	}
	return unknown[0].name
}

// suggestion returns the command that may have been meant, if one is similar.
func suggestion(name string) string { return similar.Name(name, slices.Collect(maps.Keys(commands))) }
