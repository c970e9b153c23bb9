package conformance

import (
	"regexp"
	"strings"
)

// A Rule is one numbered statement about RabbitMQ's behaviour: a paragraph of docs/rules.md that begins with its number
// and title in bold.
type Rule struct {
	ID     string // DL-24
	Title  string
	Unseen string   // why no scenario can show the rule; empty: scenarios do
	Absent string   // why leveret has nothing of the kind; empty: code holds the rule
	Named  []string // the scenarios that the text names
}

var (
	ruleStart  = regexp.MustCompile(`^\*\*([A-Z]+-\d+[a-d]?) (.+?)\.\*\* (.*)$`)
	unseenMark = regexp.MustCompile(`\*No scenario:\* (.+?)\. \[`)
	absentMark = regexp.MustCompile(`\*Not in leveret:\* (.+?)\. \[`)
	namedMark  = regexp.MustCompile("\\[(`[^\\]]+)\\]$")
)

// ruleNumber is a rule's number wherever it stands: letters, a dash, digits and perhaps a small letter.
var ruleNumber = regexp.MustCompile(`\b(?:E|M|X|Q|D|T|L|DL|P|A|C|J|O|R|V|H)-\d+[a-d]?\b`)

// RuleNumbers returns the numbers of rules that stand in a text.
func RuleNumbers(text string) []string { return ruleNumber.FindAllString(text, -1) }

// ParseRules reads the rules from the text of docs/rules.md, in its order.
func ParseRules(text string) []Rule {
	var rules []Rule
	for line := range strings.Lines(text) {
		m := ruleStart.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		r := Rule{ID: m[1], Title: m[2], Unseen: first(unseenMark, m[3]), Absent: first(absentMark, m[3])}
		if r.Absent != "" {
			r.Unseen = r.Absent
		}
		for name := range strings.SplitSeq(first(namedMark, m[3]), ", ") {
			if name = strings.Trim(name, "`"); name != "" && name != "…" {
				r.Named = append(r.Named, name)
			}
		}
		rules = append(rules, r)
	}
	return rules
}

// first returns what the expression's group matches in s, empty for nothing.
func first(e *regexp.Regexp, s string) string {
	if m := e.FindStringSubmatch(s); m != nil {
		return m[1]
	}
	return ""
}
