package ctl

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/similar"
)

// A failure is an error that ends a command, with rabbitmqctl's text and exit code.
type failure struct {
	status int
	text   string // all that standard error gets
	object row    // what it gets instead with JSON
}

func (f *failure) Error() string { return f.text }

// failed returns a failure whose text follows the line "Error:".
func failed(status int, text string) *failure { return &failure{status, "Error:\n" + text, nil} }

// failedOn returns a failure that JSON shows as an object with a wording of its own.
func (c *call) failedOn(status int, text, jsonText string) *failure {
	f := failed(status, text)
	f.object = row{{"message", jsonText}, {"node", c.node.Name}, {"result", "error"}}
	return f
}

// A misuse is a command line that cannot be carried out as it stands.
type misuse struct {
	status int
	text   string
}

func (m *misuse) Error() string { return m.text }

func badArgument(text string) *misuse { return &misuse{exitData, "Bad argument: " + text} }

// badOptions names the options that a command does not know. What was probably meant stands behind RabbitMQ's text.
func badOptions(invalid []invalidOption, known []string) error {
	text := "Invalid options for this command:"
	for _, o := range invalid {
		text += "\n" + o.name + " : " + o.value
	}
	for _, o := range invalid {
		isKnown := slices.Contains(known, o.name) || slices.Contains(known, strings.Replace(o.name, "--no-", "--", 1)) // with another format
		if meant := similar.Name(o.name, known); meant != "" && !isKnown {
			text += "\nDid you mean '" + meant + "'?"
		}
	}
	return &misuse{exitUsage, text}
}

func unknownColumns(args, known []string) error {
	unknown := slices.DeleteFunc(requested(args), func(column string) bool { return slices.Contains(known, column) })
	if len(unknown) == 0 {
		return nil
	}
	text := "Info key(s) " + strings.Join(unknown, ",") + " are not supported"
	for _, column := range unknown {
		if meant := similar.Name(column, known); meant != "" {
			text += "\nDid you mean '" + meant + "'?"
		}
	}
	return &misuse{exitUsage, text}
}

// refusal explains a misuse and shows how the command is to be called.
func (c *call) refusal(err error, argv []string) Response {
	var need *Need
	if errors.As(err, &need) {
		return Response{Need: need}
	}
	var w *wrongState
	if errors.As(err, &w) {
		text := fmt.Sprintf("Error: %s\nArguments given:\n\t%s\n%s", w.text, strings.Join(argv, " "), c.command.usageText())
		return Response{Stderr: text + "\n", Status: exitUsage}
	}
	var m *misuse
	if !errors.As(err, &m) {
		return c.failed("", err)
	}
	text := fmt.Sprintf("Error (argument validation): %s\nArguments given:\n\t%s\n%s",
		m.text, strings.Join(argv, " "), c.command.usageText())
	return Response{Stderr: text + "\n", Status: m.status}
}

// failed returns the response to a command that did not succeed. Errors of the broker that a
// command has no words for are shown with the broker's.
func (c *call) failed(stdout string, err error) Response {
	var f *failure
	if !errors.As(err, &f) {
		f = failed(exitUnavailable, reason(err))
	}
	text := f.text
	if f.object != nil && c.text("formatter", "") == "json" {
		return Response{Stdout: stdout, Stderr: marshal(f.object) + "\n", Status: exitUnavailable}
	}
	return Response{Stdout: stdout, Stderr: text + "\n", Status: f.status}
}

// reason returns the broker's explanation without the name of the code before it.
func reason(err error) string {
	var e *leveret.Error
	if errors.As(err, &e) && e.Reason != "" {
		return e.Reason
	}
	return err.Error()
}

// amqpError returns the broker's error as the tuple that rabbitmqctl shows of one.
func amqpError(err error) error {
	var e *leveret.Error
	if !errors.As(err, &e) {
		return err
	}
	code := strings.ToLower(e.Code.String())
	return failed(exitUnavailable, fmt.Sprintf("{:amqp_error, :%s, %s, :none}", code, charlist(e.Reason)))
}

// charlist writes a text as Elixir shows lists of characters.
func charlist(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r > '~' || unprintable(r) }) {
		var codes []string
		for _, r := range s {
			codes = append(codes, fmt.Sprint(int(r)))
		}
		return "[" + strings.Join(codes, ", ") + "]"
	}
	return `~c` + quoted(s)
}
