package main

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/leveretmq/leveret/conformance"
	"github.com/leveretmq/leveret/internal/scenario"
)

// programsReport matches what TestRandomPrograms says of a release when it is done.
var programsReport = regexp.MustCompile(`programs on RabbitMQ (4\.3|3\.10)\.\d+: (generator .*)\n`)

// random tells which random programs came out the same on leveret and on the brokers.
func (r *runs) random() string {
	text := ""
	for _, release := range releases {
		said, ran := r.programs[release]
		if !ran {
			said = "none in this run"
		}
		text += fmt.Sprintf("Random programs on %s: %s.\n", release, said)
	}
	return text
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

// readKnown reads the paragraphs of README.md that say what is known to be different.
func readKnown(file string) ([]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var known []string
	for _, paragraph := range strings.Split(string(text), "\n\n") {
		if strings.HasPrefix(paragraph, "Known to be different") || strings.Contains(paragraph, "failures are not followed") {
			known = append(known, strings.TrimSpace(paragraph))
		}
	}
	if len(known) != 2 {
		return nil, errors.New(file + ": the paragraphs about known differences are not as they were")
	}
	return known, nil
}
