package main

import "testing"

// TestLists demands that every edit of the lists of mutants finds its lines in the sources.
func TestLists(t *testing.T) {
	for _, list := range []string{mutantsFile, fixesFile} {
		if _, err := readMutants("../../"+list, "../.."); err != nil {
			t.Error(err)
		}
	}
}
