package main

import (
	"testing"

	"github.com/leveretmq/leveret/internal/shown"
	"github.com/stretchr/testify/require"
)

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

// A mutant that one release's scenario has noticed is to be noticed there again, whatever the other's does.
func TestForgotten(t *testing.T) {
	on := func(release string) shown.Key { return shown.Key{Release: release, Switch: "a"} }
	list := shown.List{on("4.3"): {"ttl/zero"}, on("3.10"): {"ttl/zero"}, {Release: "4.3", Switch: "b"}: {"ttl/queue"}}
	found := shown.List{on("4.3"): {"ttl/zero"}}
	require.Equal(t, []string{"a on 3.10"}, forgotten([]mutant{{name: "a"}}, list, found))
	found[on("3.10")] = []string{"ttl/queue"}
	require.Empty(t, forgotten([]mutant{{name: "a"}}, list, found))
}
