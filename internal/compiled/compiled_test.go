package compiled

import (
	"go/importer"
	"go/token"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestImports(t *testing.T) {
	lookup, err := Imports(".", ".")
	require.NoError(t, err)
	exec, err := importer.ForCompiler(token.NewFileSet(), "gc", importer.Lookup(lookup)).Import("os/exec")
	require.NoError(t, err)
	require.NotNil(t, exec.Scope().Lookup("Command"))

	_, err = lookup("testing")
	require.ErrorContains(t, err, "testing is not among what . imports")
	lookup, err = Imports(".", "-test", ".")
	require.NoError(t, err)
	in, err := lookup("testing")
	require.NoError(t, err)
	require.NoError(t, in.Close())
}

func TestImportsOfNothing(t *testing.T) {
	_, err := Imports(".", "./nowhere")
	require.ErrorContains(t, err, "nowhere")
}
