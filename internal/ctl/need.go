package ctl

import "strings"

// A FileFault says why the caller could not read or write a file.
type FileFault string

// The faults that commands have words for. Any other text is shown as it is.
const (
	FileMissing   FileFault = "missing"
	FileDenied    FileFault = "denied"
	FileDirectory FileFault = "directory"
	FileNotInDir  FileFault = "not in a directory"
	FileNoSpace   FileFault = "no space"
)

// Error makes a Need what a command returns instead of a result.
func (n *Need) Error() string { return "needs " + string(n.Kind) + " " + n.Path }

// prompt is shown before a line is read.
func (n *Need) prompt(c *call) string {
	if n.Kind == NeedLine && !c.quiet() {
		return "Password: \n"
	}
	return ""
}

// afterBanner reports whether the input was asked for when the banner had been shown.
func (in *Input) afterBanner() bool {
	return in != nil && (in.Kind == NeedLine || in.Kind == NeedStdin)
}

// passwordInput is the input of a command whose second argument is a password that may be left out.
func passwordInput(c *call) *Need {
	if len(c.args) > 1 {
		return nil
	}
	return &Need{Kind: NeedLine}
}

// need returns what the command needs of its caller, nil if that is nothing.
func (c *call) need() *Need {
	if c.command.input == nil {
		return nil
	}
	return c.command.input(c)
}

// target returns the file that the caller is to write, empty if there is none.
func (c *call) target() string {
	if c.command.output == nil {
		return ""
	}
	return c.command.output(c)
}

// password returns the argument at i, or else a line of standard input.
func (c *call) password(i, status int) (string, error) {
	if len(c.args) > i {
		return c.args[i], nil
	}
	if c.input == nil {
		return "", c.need()
	}
	if len(c.input.Data) == 0 {
		return "", failed(status, "Password is not provided via argument or stdin")
	}
	return strings.TrimSpace(string(c.input.Data)), nil
}

// explain says that the file at path could not be used; verb is "read from" or "write to".
func (f FileFault) explain(path, verb string) error {
	text := "Could not " + verb + " file " + path + ": " + string(f)
	switch f {
	case FileMissing:
		text = "Parent directory or file " + path + " does not exist"
	case FileNotInDir:
		text = "Parent directory of file " + path + " is not a directory"
	case FileDirectory:
		text = "Path " + path + " is a directory"
	case FileNoSpace:
		text = "No space left on device hosting " + path
	case FileDenied:
		text = "No permissions to " + verb + " file " + path + " or its parent directory"
	}
	return failed(exitData, text)
}
