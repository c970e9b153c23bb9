// Compat writes the table of docs/compatibility.md from test runs.
//
//	go test -json -run TestScenarios . >run.json                 # leveret
//	go test -json -run TestScenarios ./conformance >>run.json    # once for each broker, see package conformance
//	go test -json -v -run TestRandomPrograms ./conformance -duration 1h -timeout 0 >>run.json    # the same, if it is to be told
//	go run ./conformance/cmd/compat <run.json >docs/compatibility.md
//
// What the second skips, because the management API cannot show it, is run once more with the command line of a rabbitmqctl
// for the console: -run 'TestScenarios/./(queue|order)/.*-listed'. Those that restart the broker need the environment that
// package conformance names.
//
// A rule is "played" on a release if all scenarios that name it came out as recorded, on leveret and on the broker. It
// is "shown" if one of them also fails when leveret is changed to break the rule: testdata/shown.txt has what was
// tried.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strings"

	"github.com/leveretmq/leveret/conformance"
	"github.com/leveretmq/leveret/internal/scenario"
)

var releases = []string{"4.3", "3.10"}

func main() {
	rulesFile := flag.String("rules", "docs/rules.md", "the rules")
	dir := flag.String("dir", "testdata/scenarios", "where the scripts are")
	flag.Parse()
	text, err := os.ReadFile(*rulesFile)
	if err != nil {
		log.Fatal(err)
	}
	rules := conformance.ParseRules(string(text))
	scripts, err := scenario.Load(os.DirFS(*dir))
	if err != nil {
		log.Fatal(err)
	}
	runs, err := readRuns(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	if runs.proofs, err = readProofs(scripts); err != nil {
		log.Fatal(err)
	}
	if err := write(os.Stdout, rules, scripts, runs); err != nil {
		log.Fatal(err)
	}
}

// runs are the outcomes of scenarios: by who ran it (leveret, broker), release and script.
type runs struct {
	passed map[[3]string]bool
	broker []string // versions
	proofs proofs

	programs map[string][]string // by release: what the last report of each run of random programs says
}

func readRuns(in io.Reader) (*runs, error) {
	out := &runs{passed: map[[3]string]bool{}, programs: map[string][]string{}}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e struct{ Action, Package, Test, Output string }
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, err
		}
		out.event(e.Action, e.Package, e.Test, e.Output)
	}
	return out, lines.Err()
}

func (r *runs) event(action, pkg, test, output string) {
	if _, version, ok := strings.Cut(output, ": RabbitMQ "); ok {
		if version = strings.TrimSpace(version); !slices.Contains(r.broker, version) {
			r.broker = append(r.broker, version)
		}
	}
	if m := programsReport.FindStringSubmatch(output); m != nil {
		r.report(m[1], m[2], m[3])
	}
	parts := strings.SplitN(test, "/", 3)
	if len(parts) < 3 || parts[0] != "TestScenarios" || action != "pass" && action != "fail" {
		return
	}
	who := "leveret"
	if strings.HasSuffix(pkg, "/conformance") {
		who = "broker"
	}
	r.passed[[3]string{who, parts[1], parts[2]}] = action == "pass"
}

// outcome tells how a script came out on a release.
func (r *runs) outcome(s *scenario.Script, release string) string {
	if s.Profile != "" && s.Profile != release {
		return ""
	}
	result := "same"
	for who, driver := range map[string]string{"leveret": "go", "broker": "amqp"} {
		if !s.For(release, driver) {
			continue
		}
		passed, ran := r.passed[[3]string{who, release, s.Name}]
		switch {
		case !ran && result == "same":
			result = "not run"
		case ran && !passed:
			result = "differs"
		}
	}
	return result
}

func write(w io.Writer, rules []conformance.Rule, scripts []*scenario.Script, r *runs) error {
	fmt.Fprintf(w, "# Compatibility\n\nWhat a client of RabbitMQ can observe, rule by rule: the scenarios that show it "+
		"(scripts in `testdata/scenarios`) and\nwhether leveret and a real broker showed the same. Written by "+
		"`go run ./conformance/cmd/compat`, never by hand; the brokers\nof this run: RabbitMQ %s.\n\n",
		strings.Join(r.broker, " and "))
	fmt.Fprintf(w, "%s\n%s\n%s\n", summary(rules, scripts, r), r.shownRules(rules, scripts), r.random())
	fmt.Fprint(w, "[differences.md](differences.md) lists what is known to be different.\n\n")
	fmt.Fprint(w, "| word | meaning |\n| --- | --- |\n"+
		"| shown | the scenarios came out the same on leveret and on the broker, and one of them fails when leveret is changed to break the rule |\n"+
		"| played | the scenarios came out the same; nobody has broken the rule yet to see whether they notice |\n"+
		"| shown\\*, played\\* | on leveret only: what a broker does was observed by hand, as the scenario says |\n"+
		"| differs, not run | a scenario came out otherwise, or was not run on both |\n\n")
	fmt.Fprint(w, "| rule | what | scenarios | 4.3 | 3.10 |\n| --- | --- | --- | --- | --- |\n")
	for _, rule := range rules {
		shown := covering(rule.ID, scripts)
		names := make([]string, 0, len(shown))
		for _, s := range shown {
			names = append(names, s.Name)
		}
		if len(names) == 0 {
			names = append(names, "*"+why(rule)+"*")
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", rule.ID, rule.Title, strings.Join(names, ", "),
			r.word(shown, "4.3", rule.ID), r.word(shown, "3.10", rule.ID))
	}
	return unknown(rules, scripts)
}

func why(r conformance.Rule) string {
	if r.Unseen == "" {
		return "none yet"
	}
	return r.Unseen
}

func covering(id string, scripts []*scenario.Script) []*scenario.Script {
	var out []*scenario.Script
	for _, s := range scripts {
		if slices.Contains(s.Rules, id) {
			out = append(out, s)
		}
	}
	return out
}

func verdict(shown []*scenario.Script, r *runs, release string) string {
	result := ""
	for _, s := range shown {
		switch o := r.outcome(s, release); {
		case o == "differs":
			return o
		case o == "not run", result == "" && o != "":
			result = o
		}
	}
	return result
}

func summary(rules []conformance.Rule, scripts []*scenario.Script, r *runs) string {
	var observable, covered int
	for _, rule := range rules {
		if rule.Unseen == "" {
			observable++
			if len(covering(rule.ID, scripts)) > 0 {
				covered++
			}
		}
	}
	text := fmt.Sprintf("%d scenarios; %d of %d observable rules are named by at least one.\n", len(scripts), covered,
		observable)
	for _, release := range releases {
		count := map[string]int{}
		for _, s := range scripts {
			count[r.outcome(s, release)]++
		}
		text += fmt.Sprintf("On %s: %d the same, %d different, %d not run.\n", release, count["same"], count["differs"],
			count["not run"])
	}
	return text
}

// unknown refuses scripts that claim to show rules that are not listed.
func unknown(rules []conformance.Rule, scripts []*scenario.Script) error {
	for _, s := range scripts {
		for _, id := range s.Rules {
			if !slices.ContainsFunc(rules, func(r conformance.Rule) bool { return r.ID == id }) {
				return fmt.Errorf("%s shows %s, which is no rule", s.Name, id)
			}
		}
	}
	return nil
}
