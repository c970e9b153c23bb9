package ctl

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/leveretmq/leveret/definitions"
	"github.com/leveretmq/leveret/internal/jsondoc"
)

// Definitions, in JSON. The caller of a command reads and writes the files.

func definitionCommands() []*command {
	return []*command{
		{
			name: "export_definitions", usage: `export_definitions <file_path | "-"> [--format <json>]`, timeout: true,
			about: "Writes all definitions to a file, or to standard output.", min: 1, max: 1,
			switches: map[string]kind{"format": text}, validate: validateExport, run: exportDefinitions,
			input: exportInput, output: exportFile,
			banner: func(c *call) string {
				if c.args[0] == "-" {
					return ""
				}
				return `Exporting definitions in JSON to a file at "` + c.args[0] + `" ...`
			},
		},
		{
			name: "import_definitions", usage: "import_definitions <file_path> [--format <json>] [--skip-if-unchanged]",
			timeout: true,
			about:   "Adds the definitions in a file, or on standard input.", min: 0, max: 1,
			note: "With --skip-unsupported, what leveret does not have is left out and listed: streams, and the exchange\n" +
				"types, policies and parameters of plugins, with the bindings of what is left out. Without it such a file\n" +
				"is refused.\n",
			switches: map[string]kind{"format": text, "skip-if-unchanged": boolean, "skip-unsupported": boolean},
			validate: validateImport, input: importInput, run: importDefinitions,
			banner: func(c *call) string {
				switch {
				case c.fromStdin() && len(c.args) == 1:
					return ""
				case c.fromStdin():
					return "Importing definitions in JSON from standard input ..."
				}
				return `Importing definitions in JSON from a file at "` + c.args[0] + `" ...`
			},
		},
	}
}

func validateFormat(c *call) error {
	if f := strings.ToLower(c.text("format", "json")); f != "json" {
		return badArgument("Format should be json")
	}
	return nil
}

func validateExport(c *call) error {
	if err := validateFormat(c); err != nil {
		return err
	}
	need := c.need()
	switch {
	case need == nil:
		return nil
	case c.input == nil:
		return need
	case c.input.Fault != "":
		return badArgument("Directory " + need.Path + " does not exist")
	}
	return nil
}

// exportFile is the file that an export writes; "-" is standard output.
func exportFile(c *call) string {
	if c.args[0] == "-" {
		return ""
	}
	return c.args[0]
}

// exportInput is whether the file's directory exists.
func exportInput(c *call) *Need {
	if exportFile(c) == "" {
		return nil
	}
	return &Need{Kind: NeedStat, Path: filepath.Dir(c.args[0])}
}

func exportDefinitions(c *call) (result, error) {
	data, err := definitions.Export(c.node.Broker)
	if err != nil {
		return result{}, err
	}
	file := c.target()
	if file == "" {
		return result{message: string(data), raw: true}, nil
	}
	return result{raw: true, save: &Save{Path: file, Data: data}}, nil
}

// fromStdin reports whether an import reads standard input: without a file, or with "-".
func (c *call) fromStdin() bool { return len(c.args) == 0 || c.args[0] == "-" }

// importInput is the document.
func importInput(c *call) *Need {
	if c.fromStdin() {
		return &Need{Kind: NeedStdin}
	}
	return &Need{Kind: NeedFile, Path: c.args[0]}
}

func validateImport(c *call) error {
	if err := validateFormat(c); err != nil || c.fromStdin() {
		return err
	}
	if c.input == nil {
		return c.need()
	}
	if c.input.Fault == FileMissing {
		return badArgument("File " + c.args[0] + " does not exist")
	}
	return nil
}

func importDefinitions(c *call) (result, error) {
	if c.input == nil {
		return result{}, c.need()
	}
	if f := c.input.Fault; f != "" {
		return result{}, f.explain(c.args[0], "read from")
	}
	data := c.input.Data
	if len(data) == 0 && !c.fromStdin() {
		return result{}, failed(exitData, "File "+c.args[0]+" is zero-sized")
	}
	if err := checkDocument(data); err != nil {
		return result{}, err
	}
	leftOut, err := c.apply(data)
	if err != nil {
		return result{}, failed(exitUnavailable, reason(err))
	}
	done := "Successfully imported definitions.\n"
	r := result{message: done, raw: true}
	switch {
	case c.text("formatter", "") == "json":
		return leftOutObject(leftOut), nil
	case c.quiet() || len(c.args) == 1 && c.fromStdin():
		r.message = ""
	}
	for _, e := range leftOut {
		r.message += "Left out: " + e.Error() + "\n"
	}
	return r, nil
}

// apply puts a document into force, without what is not supported if the caller wants that.
func (c *call) apply(data []byte) (leftOut []*definitions.Error, err error) {
	if c.is("skip-unsupported", false) {
		return definitions.ImportSupported(c.node.Broker, data)
	}
	return nil, definitions.Import(c.node.Broker, data)
}

// leftOutObject is what JSON shows of an import: nothing, if nothing was left out.
func leftOutObject(leftOut []*definitions.Error) result {
	if len(leftOut) == 0 {
		return result{}
	}
	said := make([]any, len(leftOut))
	for i, e := range leftOut {
		said[i] = e.Error()
	}
	return result{object: row{{"left_out", said}}}
}

// checkDocument tells what is no JSON from what is JSON but no definitions.
func checkDocument(data []byte) error {
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		var at *definitions.SyntaxError
		text := err.Error()
		if _, err := definitions.Parse(data); errors.As(err, &at) {
			text = fmt.Sprintf("line %d, column %d: %s", at.Line, at.Column, text)
		}
		return failed(exitData, "Failed to deserialise input (format: JSON) (error: "+text+")")
	}
	if _, ok := v.(map[string]any); !ok {
		v, err := jsondoc.Decode(data, jsondoc.First)
		if err != nil {
			return err
		}
		return failed(exitSoftware, badMap(v)+"\n")
	}
	return nil
}
