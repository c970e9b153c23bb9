// Package compiled reads what the compiler has written down of packages. A type checker that has that need not read the sources of what
// a package imports.
package compiled

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// A Lookup opens what is written down of an imported package. It is what [importer.ForCompiler] takes for the compiler "gc".
type Lookup func(path string) (io.ReadCloser, error)

// Imports compiles what packages import, directly or not, unless that is done already. dir is where the go command runs, and packages are
// its arguments; -test among them includes what tests import.
func Imports(dir string, packages ...string) (Lookup, error) {
	list := exec.Command("go", append([]string{"list", "-deps", "-export", "-f", "{{.ImportPath}}={{.Export}}"}, packages...)...)
	list.Dir = dir
	out, err := list.Output()
	if err != nil {
		return nil, explained(list, err)
	}
	files := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		path, file, _ := strings.Cut(lines.Text(), "=")
		files[path] = file
	}
	return func(path string) (io.ReadCloser, error) {
		file, ok := files[path]
		if !ok {
			return nil, fmt.Errorf("%s is not among what %s imports", path, strings.Join(packages, " "))
		}
		return os.Open(file)
	}, nil
}

// explained adds to the error of a command what the command printed.
func explained(command *exec.Cmd, err error) error {
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return fmt.Errorf("%v: %w\n%s", command, err, failed.Stderr)
	}
	return err
}
