package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/leveretmq/leveret/conformance"
	"github.com/leveretmq/leveret/internal/scenario"
)

// programsReport matches what TestRandomPrograms says of a release now and then, and when it is done: the release, where the run
// started, and the rest.
var programsReport = regexp.MustCompile(`programs on RabbitMQ (4\.3|3\.10)\.\d+: (generator \w+, (?:seeds \d+|\d+ of the seeds in \S+,)) (.*)\n`)

// report keeps a report of random programs, in place of those before it of the same run.
func (r *runs) report(release, start, rest string) {
	said := r.programs[release]
	if n := len(said) - 1; n >= 0 && strings.HasPrefix(said[n], start+" ") {
		said = said[:n]
	}
	r.programs[release] = append(said, start+" "+rest)
}

// random tells which random programs came out the same on leveret and on the brokers.
func (r *runs) random() string {
	text := ""
	for _, release := range releases {
		said := r.programs[release]
		if len(said) == 0 {
			said = []string{"none in this run"}
		}
		text += fmt.Sprintf("Random programs on %s:\n\n- %s.\n\n", release, strings.Join(said, ".\n- "))
	}
	return text + "Each program that differed was followed: its case is a scenario now, or an exclusion whose experiment shows that the outcome is " +
		"left to chance. Programs that a later change of the engine concerned were played again, from a file of their seeds.\n"
}

// shownRules counts the rules that are shown and those that are only played.
func (r *runs) shownRules(rules []conformance.Rule, scripts []*scenario.Script) string {
	text := ""
	for _, release := range releases {
		words := map[string]int{}
		for _, rule := range rules {
			words[strings.TrimSuffix(r.word(covering(rule.ID, scripts), release, rule.ID), `\*`)]++
		}
		text += fmt.Sprintf("Rules on %s: %d shown, %d played, %d that differ or were not run.\n", release, words["shown"], words["played"],
			words["differs"]+words["not run"])
	}
	return text
}
