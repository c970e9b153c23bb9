package ctl

import (
	"maps"
	"slices"
)

// A Command is what a shell has to know of a command to complete a line.
type Command struct {
	Name, About string
	Options     []string
	Columns     []string // of a listing
}

// Commands are all there are, by name.
func Commands() (all []Command) {
	for _, name := range slices.Sorted(maps.Keys(commands)) {
		cmd := commands[name]
		all = append(all, Command{name, cmd.about, cmd.shellOptions(), cmd.columns})
	}
	return all
}

// shellOptions are the options that a person may want: those that only RabbitMQ's tools have are left out.
func (cmd *command) shellOptions() (all []string) {
	if cmd.table {
		all = append(all, "--no-table-headers")
	}
	for _, option := range cmd.options() {
		if option == "--table-headers" || option == "--pad-to-header" {
			continue
		}
		if _, global := globalSyntax.switches[option[2:]]; !global || slices.Contains(usefulOptions, option) {
			all = append(all, option)
		}
	}
	return all
}

var usefulOptions = []string{"--control", "--quiet", "--silent", "--help", "--vhost", "--timeout", "--formatter"}
