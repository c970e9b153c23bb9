package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const limits = "./testdata/limits"

// One binary holds all mutants of constants. A test fails with each changed value that the test knows, and only then.
func TestConstantsBecomeVariables(t *testing.T) {
	files, err := variables(limits, []string{"most", "pause"})
	require.NoError(t, err)
	require.Len(t, files, 3) // the sources, their tests, and the variables
	binary, err := mutant{files: files}.buildTests(limits, t.TempDir())
	require.NoError(t, err)
	for name, noticed := range map[string]string{"most": "", "most+1": "TestFull", "most-1": "TestFull", "pause+1": "", "pause-1": ""} {
		require.Equal(t, noticed, mutant{name: name, constant: name}.run(binary), name)
	}
}

func TestNoSuchConstant(t *testing.T) {
	_, err := variables(limits, []string{"least"})
	require.EqualError(t, err, "there is no constant least, or it is exported")
}
