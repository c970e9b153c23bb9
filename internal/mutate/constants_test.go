package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const limits = "./testdata/limits"

// One binary holds all mutants. A test fails with each changed value and with each changed line that the test knows, and only then.
func TestOneBuildHasAllMutants(t *testing.T) {
	mutants, err := readMutants("testdata/mutants.txt", ".")
	require.NoError(t, err)
	o := overlay{}
	require.NoError(t, o.switches(mutants))
	require.NoError(t, o.variables(limits, constantsOf(mutants)))
	require.Len(t, o, 3) // the sources, their tests, and the variables
	tests, err := o.tests(t.TempDir())
	require.NoError(t, err)
	for name, noticed := range map[string][]string{
		"": nil, "most+1": {"TestFull"}, "most-1": {"TestFull"}, "pause+1": nil, "pause-1": nil,
		"never-full": {"TestFull"}, "one-more": {"TestSum"}, "two-places": {"TestFull", "TestSum"}, "same-value": nil,
	} {
		failed, err := tests.failures(name, limits)
		require.NoError(t, err)
		require.Equal(t, noticed, failed, name)
	}
}

func TestNoSuchConstant(t *testing.T) {
	require.EqualError(t, overlay{}.variables(limits, []string{"least"}), "there is no constant least, or it is exported")
}

func TestChangeOutsideFunctions(t *testing.T) {
	file, err := filepath.Abs("testdata/limits/limits.go")
	require.NoError(t, err)
	err = overlay{}.switches([]mutant{{name: "package", edits: []edit{{file, change{0, 10, ""}}}}})
	require.EqualError(t, err, "limits.go: package: the change is not inside one function")
}
