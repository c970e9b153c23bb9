package main

import (
	"flag"
	"fmt"
	"strings"

	"github.com/leveretmq/leveret/internal/ctl"
)

// Completions for shells: scripts that know the commands, their options and the columns of listings.

// shells are the scripts' writers.
var shells = map[string]func() string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}

// complete prints the script for a shell.
func complete(args []string, std ctl.Streams) int {
	if len(args) != 1 || shells[args[0]] == nil {
		fmt.Fprintln(std.Err, "usage: leveret completion bash|zsh|fish")
		return exitUsage
	}
	fmt.Fprint(std.Out, shells[args[0]]())
	return 0
}

// topLevel are leveret's own commands.
var topLevel = []string{"serve", "ctl", "lint", "explain", "diff", "graph", "trace", "play", "move", "check", "dump", "load", "pull", "replay", "completion", "help", "version"}

// serveFlags are the flags of leveret serve, as they are written.
func serveFlags() (all []string) {
	var s settings
	var w flagWords
	newFlags(&s, &w).VisitAll(func(f *flag.Flag) { all = append(all, "--"+f.Name) })
	return all
}

func commandNames() (all []string) {
	for _, c := range ctl.Commands() {
		all = append(all, c.Name)
	}
	return all
}

const formatters = "table pretty_table csv json erlang"

func bashCompletion() string {
	var b strings.Builder
	b.WriteString("# bash: source <(leveret completion bash)\n" +
		"_leveret() {\n" +
		"  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= word i known=\n" +
		"  case $prev in\n" +
		"    --formatter) COMPREPLY=($(compgen -W '" + formatters + "' -- \"$cur\")); return ;;\n" +
		"    --config|--data|--definitions|--cert|--key|--client-ca|--control|--log-file) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n" +
		"  esac\n" +
		"  if [ \"$COMP_CWORD\" = 1 ]; then COMPREPLY=($(compgen -W '" + strings.Join(topLevel, " ") + "' -- \"$cur\")); return; fi\n" +
		"  case ${COMP_WORDS[1]} in\n" +
		"    serve) known='" + strings.Join(serveFlags(), " ") + "' ;;\n" +
		"    completion) known='bash fish zsh' ;;\n" +
		"    ctl)\n" +
		"      for ((i = 2; i < COMP_CWORD; i++)); do\n" +
		"        word=${COMP_WORDS[i]}\n" +
		"        case $word in --control|-p|--vhost|--formatter|--timeout|-t) ((i++)) ;; -*) ;; *) command=$word; break ;; esac\n" +
		"      done\n" +
		"      case $command in\n" +
		"        '') known='" + strings.Join(commandNames(), " ") + " --control --quiet --silent' ;;\n")
	for _, c := range ctl.Commands() {
		b.WriteString("        " + c.Name + ") known='" + strings.Join(append(c.Options, c.Columns...), " ") + "' ;;\n")
	}
	b.WriteString("      esac ;;\n" +
		"    *) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n" +
		"  esac\n" +
		"  COMPREPLY=($(compgen -W \"$known\" -- \"$cur\"))\n" +
		"}\n" +
		"complete -F _leveret leveret\n")
	return b.String()
}

func zshCompletion() string {
	var b strings.Builder
	b.WriteString("#compdef leveret\n# zsh: leveret completion zsh > a directory of $fpath/_leveret\n" +
		"_leveret() {\n" +
		"  local -a known\n" +
		"  if (( CURRENT == 2 )); then compadd -- " + strings.Join(topLevel, " ") + "; return; fi\n" +
		"  if [[ ${words[CURRENT-1]} == --formatter ]]; then compadd -- " + formatters + "; return; fi\n" +
		"  case ${words[2]} in\n" +
		"    serve) compadd -- " + strings.Join(serveFlags(), " ") + " ;;\n" +
		"    completion) compadd -- bash fish zsh ;;\n" +
		"    ctl)\n" +
		"      local command= i\n" +
		"      for (( i = 3; i < CURRENT; i++ )); do\n" +
		"        case ${words[i]} in --control|-p|--vhost|--formatter|--timeout|-t) (( i++ )) ;; -*) ;; *) command=${words[i]}; break ;; esac\n" +
		"      done\n" +
		"      case $command in\n" +
		"        '')\n          known=(\n")
	for _, c := range ctl.Commands() {
		b.WriteString("            " + singleQuoted(c.Name+":"+strings.ReplaceAll(c.About, ":", "\\:")) + "\n")
	}
	b.WriteString("          )\n          _describe command known ;;\n")
	for _, c := range ctl.Commands() {
		b.WriteString("        " + c.Name + ") compadd -- " + strings.Join(append(c.Options, c.Columns...), " ") + " ;;\n")
	}
	b.WriteString("      esac ;;\n    *) _files ;;\n  esac\n}\n_leveret \"$@\"\n")
	return b.String()
}

func fishCompletion() string {
	var b strings.Builder
	b.WriteString("# fish: leveret completion fish | source\n" +
		"function __leveret_command\n" +
		"  set -l words (commandline -opc)\n" +
		"  set -l skip 0\n" +
		"  for word in $words[3..-1]\n" +
		"    if test $skip = 1\n      set skip 0\n      continue\n    end\n" +
		"    switch $word\n" +
		"      case --control -p --vhost --formatter --timeout -t\n        set skip 1\n" +
		"      case '-*'\n" +
		"      case '*'\n        echo $word\n        return\n" +
		"    end\n  end\nend\n" +
		"function __leveret_in\n  set -l words (commandline -opc)\n  contains -- $argv[1] $words[2]\nend\n" +
		"function __leveret_at\n  __leveret_in ctl; and contains -- $argv[1] (__leveret_command)\nend\n" +
		"function __leveret_start\n  __leveret_in ctl; and not count (__leveret_command) >/dev/null\nend\n" +
		"complete -c leveret -n 'test (count (commandline -opc)) -eq 1' -f -a '" + strings.Join(topLevel, " ") + "'\n" +
		"complete -c leveret -n '__leveret_in completion' -f -a 'bash fish zsh'\n")
	for _, f := range serveFlags() {
		b.WriteString("complete -c leveret -n '__leveret_in serve' -l " + f[2:] + " -r\n")
	}
	for _, c := range ctl.Commands() {
		b.WriteString("complete -c leveret -n __leveret_start -f -a " + c.Name + " -d " + singleQuoted(c.About) + "\n")
		on := "complete -c leveret -n '__leveret_at " + c.Name + "' "
		for _, o := range c.Options {
			b.WriteString(on + "-l " + o[2:] + "\n")
		}
		if len(c.Columns) > 0 {
			b.WriteString(on + "-f -a '" + strings.Join(c.Columns, " ") + "'\n")
		}
	}
	return b.String()
}

// singleQuoted is a text as one word of a shell.
func singleQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
