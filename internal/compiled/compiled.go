// Package compiled finds the export data of packages: what the compiler writes down of a package for those that import it. A type checker
// with export data does not read the sources of imported packages, which takes much longer.
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

// A Lookup opens the export data of an imported package. It is an importer.Lookup of go/importer, for the compiler "gc".
type Lookup func(path string) (io.ReadCloser, error)

// Imports returns the export data of all that packages import, directly or not. What is not compiled yet is compiled. The packages are
// arguments of go list, which runs in dir; the argument -test adds what their tests import.
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

// explained adds what a failed command has printed to its error.
func explained(command *exec.Cmd, err error) error {
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return fmt.Errorf("%v: %w\n%s", command, err, failed.Stderr)
	}
	return err
}
