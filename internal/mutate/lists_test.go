package main

import "testing"

// TestLists demands that every constant and every edit of the lists of mutants is found in the sources.
func TestLists(t *testing.T) {
	for _, list := range []string{mutantsFile, fixesFile} {
		mutants, err := readMutants("../../"+list, "../..")
		if err != nil {
			t.Error(err)
		}
		if names := constantsOf(mutants); len(names) > 0 {
			if _, err := variables("../..", names); err != nil {
				t.Error(err)
			}
		}
	}
}
