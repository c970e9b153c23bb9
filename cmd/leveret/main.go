// Command leveret is the broker as one binary, and the operator's commands for it:
//
//	leveret serve [--amqp ADDR] [--definitions FILE] …
//	leveret ctl [--control SOCKET] COMMAND …
//	leveret lint [--profile RELEASE] [--format text|json] [--ignore CODES] FILE
//	leveret explain [--profile RELEASE] [--format text|json] [--vhost NAME] FILE --queue NAME
//	leveret diff [--profile RELEASE] [--format text|json] OLD NEW
//	leveret graph FILE -o PICTURE
//	leveret trace [--consumer "QUEUE: ACTS"]… FILE --exchange X --key K
//	leveret play [--amqp URL --admin URL] FILE…
//	leveret move --from URL --to URL
//	leveret dump --from URL FILE
//	leveret load --to URL FILE
//	leveret check DIR
//	leveret dump DIR
//	leveret pull --from URL --queue PATTERN
//	leveret replay --from URL --queue PATTERN
//
// leveret serve --help lists its flags. leveret ctl takes rabbitmqctl's commands, with their
// options, output and exit codes, and advance, which moves a manual clock; leveret ctl help lists them.
//
// leveret lint prints what is probably a mistake in a definitions file; docs/lint.md tells of each finding. Its exit
// code is 1 if an error or a warning is among the findings, and 2 if the file cannot be read or has no definitions.
// leveret explain prints what is in force for one queue of the file, where each setting comes from, and where the queue's
// dead letters go. Its exit code is 2 if there is no such queue.
//
// leveret diff prints what changes for running queues when one definitions file takes the place of another one. Its exit code
// is that of diff: 1 if something changes, 2 if a file cannot be read or would be refused.
//
// leveret graph draws the topology of a definitions file as SVG, or writes it for Mermaid or Graphviz. Its exit
// code is 2 if the file cannot be drawn.
//
// leveret trace publishes one message in the topology of a definitions file and prints what becomes of it, on virtual time.
// Its exit code is 1 if a copy of the message is lost, refused or returned, and 2 if it cannot be published.
//
// leveret play plays scripts of what clients do, on leveret or on another broker, and prints what they show and what
// differs from what they expect; docs/scenarios.md tells of their language. Its exit code is 1 if something differs, and 2
// if a script cannot be played.
//
// leveret move takes definitions and messages from one broker to another while both run; docs/move.md tells what is exact.
// Its exit code is 1 if a queue was left with its messages, and 2 if the move could not be done. leveret dump and leveret
// load do so with a file between them. leveret pull copies dead letters into a leveret on this machine, and leveret replay
// sends dead letters back to where they died.
//
// leveret check verifies the directory of leveret serve --data, and changes nothing in it; docs/durability.md tells of the
// directory. Its exit code is 1 if the directory is damaged, and 2 if it could not be checked. leveret dump with a directory
// prints what is in there, a line of JSON for each item.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/leveretmq/leveret/internal/ctl"
	"github.com/leveretmq/leveret/internal/similar"
)

const usage = `usage: leveret serve [flags]            run a broker; leveret serve --help lists the flags
       leveret ctl COMMAND [arguments]  rabbitmqctl's commands for it; leveret ctl help lists them
       leveret lint FILE                what is probably a mistake in a definitions file; docs/lint.md tells more
       leveret explain FILE --queue NAME  what is in force for a queue of it, and where its dead letters go
       leveret diff OLD NEW             what changes for running queues between two definitions files
       leveret graph FILE -o PICTURE    draw a definitions file, as .svg, .mmd or .dot
       leveret trace FILE --exchange X --key K  what becomes of a message that is published there
       leveret play FILE…               play scripts of what clients do; docs/scenarios.md tells more
       leveret move --from URL --to URL  move definitions and messages to another broker; docs/move.md tells more
       leveret dump --from URL FILE     write definitions and messages to a file
       leveret load --to URL FILE       load such a file into a broker
       leveret check DIR                verify the directory of leveret serve --data, which dump DIR prints; docs/durability.md tells more
       leveret pull --from URL --queue PATTERN  copy dead letters into a leveret on this machine
       leveret replay --from URL --queue PATTERN  send dead letters back to where they died
       leveret completion SHELL         a script that completes commands and options, for bash, zsh or fish
       leveret version
`

const exitUsage = 2

// commands are leveret's own, by what they are called by.
var commands map[string]func(args []string, std ctl.Streams) int

func init() { // completions look the commands up
	commands = map[string]func([]string, ctl.Streams) int{
		"serve": serve, "ctl": ctl.Call, "lint": lintFile, "explain": explainQueue, "diff": diffFiles, "graph": drawGraph, "trace": traceMessage,
		"play": playScripts, "move": moveMessages, "check": checkStore, "dump": dumpMessages, "load": loadMessages, "pull": pullMessages, "replay": replayMessages,
		"completion": complete, "version": printVersion, "--version": printVersion, "help": printUsage, "-h": printUsage, "--help": printUsage,
	}
}

func printVersion(_ []string, std ctl.Streams) int {
	fmt.Fprintln(std.Out, ctl.Version())
	return 0
}

func printUsage(_ []string, std ctl.Streams) int {
	fmt.Fprint(std.Out, usage)
	return 0
}

func main() { os.Exit(run(os.Args[1:], ctl.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})) }

func run(args []string, std ctl.Streams) int {
	if len(args) == 0 {
		fmt.Fprint(std.Err, usage)
		return exitUsage
	}
	if command := commands[args[0]]; command != nil {
		return command(args[1:], std)
	}
	meant := ""
	if name := similar.Name(args[0], topLevel); name != "" {
		meant = "; probably " + name + " is meant"
	}
	last := len(topLevel) - 1
	fmt.Fprintf(std.Err, "leveret: no command %q: %s or %s is expected%s\n", args[0], strings.Join(topLevel[:last], ", "), topLevel[last], meant)
	return exitUsage
}
