package main

import (
	"slices"
	"strings"

	"github.com/leveretmq/leveret/internal/scenario"
	"github.com/leveretmq/leveret/internal/shown"
)

// proofs are the rules that a scenario was seen to notice, by release and number.
type proofs map[[2]string]bool

// readProofs finds, for each changed field or constant, the witness that names one of its rules.
func readProofs(scripts []*scenario.Script) (proofs, error) {
	list, err := shown.Read("testdata/shown.txt")
	if err != nil {
		return nil, err
	}
	fields, err := shown.FieldRules(".")
	if err != nil {
		return nil, err
	}
	mutants, err := shown.MutantRules("testdata/mutants.txt")
	if err != nil {
		return nil, err
	}
	out := proofs{}
	for key, witnesses := range list {
		numbers := mutants[key.Switch]
		if constant, ok := strings.CutSuffix(key.Switch, "+1"); ok && numbers == nil {
			numbers = mutants[constant]
		}
		if shown.IsField(key.Switch) {
			numbers = fields.Of(key.Switch)
		}
		for _, s := range scripts {
			if slices.Contains(witnesses, s.Name) {
				out.add(key.Release, numbers, s)
			}
		}
	}
	return out, nil
}

// add notes that a script noticed a change of some rules, as far as it names them.
func (p proofs) add(release string, numbers []string, s *scenario.Script) {
	for _, number := range numbers {
		for _, r := range releases {
			if (release == r || release == "*") && s.For(r, "go") && slices.Contains(s.Rules, number) {
				p[[2]string{r, number}] = true
			}
		}
	}
}

// word is what the table says about a rule on a release.
func (r *runs) word(scripts []*scenario.Script, release, number string) string {
	word := verdict(scripts, r, release)
	if word != "same" {
		return word
	}
	word = "played"
	if r.proofs[[2]string{release, number}] {
		word = "shown"
	}
	if !slices.ContainsFunc(scripts, func(s *scenario.Script) bool { return s.For(release, "amqp") }) {
		word += "\\*"
	}
	return word
}
