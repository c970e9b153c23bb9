package main

import "testing"

// TestLists demands that every constant and every edit of the lists of mutants is found in the sources, and that the mutants compile.
func TestLists(t *testing.T) {
	for _, list := range []string{mutantsFile, fixesFile} {
		mutants, err := readMutants("../../"+list, "../..")
		if err != nil {
			t.Error(err)
		}
		o := overlay{}
		if err := o.switches(mutants); err != nil {
			t.Error(err)
		}
		if names := constantsOf(mutants); len(names) > 0 {
			if err := o.variables("../..", names); err != nil {
				t.Error(err)
			}
		}
	}
}
