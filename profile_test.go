package leveret_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/race"
	"github.com/leveretmq/leveret/internal/scenario"
	"github.com/leveretmq/leveret/internal/shown"
)

var update = flag.Bool("update", false, "write anew what the tests of this package keep in testdata")

const shownFile = "testdata/shown.txt"

// TestEveryRuleIsShown changes the fields of both profiles and the traits of each type of queue, one at a time, and
// demands that a scenario notices. The scenario that noticed last time stands in testdata/shown.txt and is asked first.
func TestEveryRuleIsShown(t *testing.T) {
	if race.Enabled {
		t.Skip("it plays thousands of scenarios, and TestScenarios plays each with the race detector")
	}
	list, err := shown.Read(shownFile)
	if err != nil {
		t.Fatal(err)
	}
	s := &showing{list: list, now: shown.List{}}
	if s.scripts, err = scenario.Load(os.DirFS("testdata/scenarios")); err != nil {
		t.Fatal(err)
	}
	if s.numbers, err = shown.FieldRules("."); err != nil {
		t.Fatal(err)
	}
	t.Run("rules", func(t *testing.T) {
		for p, release := range scenario.Releases {
			for _, name := range leveret.RuleNames() {
				t.Run(release+"/"+name, func(t *testing.T) {
					t.Parallel()
					s.demand(t, p, name)
				})
			}
		}
	})
	if *update && !t.Failed() {
		list.Replace(shown.BeginsWith(shown.FieldPrefix, shown.TraitPrefix), s.now)
		if err := list.Write(shownFile); err != nil {
			t.Fatal(err)
		}
	}
}

// A showing is one run of TestEveryRuleIsShown.
type showing struct {
	scripts []*scenario.Script
	list    shown.List    // as it is checked in
	numbers shown.Numbers // of the rules that a field stands for

	mu  sync.Mutex
	now shown.List // as this run found it
}

// demand fails the test unless a scenario notices that the rule is changed.
func (s *showing) demand(t *testing.T, p leveret.Profile, name string) {
	key := shown.Key{Release: scenario.Releases[p], Switch: name}
	if !*update && slices.ContainsFunc(s.list[key], func(w string) bool { return s.notices(p, name, w) }) {
		return
	}
	if s.table(t, key, p, name) {
		return
	}
	why, idle := idleTraits[key]
	var witnesses []*scenario.Script
	for _, script := range s.scripts {
		if script.For(key.Release, "go") && differs(script, p, name) {
			witnesses = append(witnesses, script)
		}
	}
	switch {
	case idle && witnesses != nil:
		t.Errorf("%v notices, though %s", witnesses[0].Name, why)
		return
	case idle:
		return
	case witnesses == nil:
		t.Error("no scenario notices when this rule is changed: record one that does")
		return
	}
	chosen := s.choose(witnesses, name)
	s.found(key, chosen)
	if !*update {
		t.Errorf("%v does not notice any more, %v does: run this test with -update", s.list[key], chosen)
	}
}

// idleTraits are the traits that have no effect on a release, with the reason.
var idleTraits = map[shown.Key]string{
	{Release: "3.10", Switch: "traits.quorum.levelsApart"}: "quorum queues have no priorities",

	{Release: "3.10", Switch: "traits.classic.byName"}: "every route of a transaction is kept by name",
	{Release: "3.10", Switch: "traits.quorum.byName"}:  "every route of a transaction is kept by name",

	{Release: "3.10", Switch: "traits.classic.keepsRedelivery"}: "dead letters bring no count along",
	{Release: "3.10", Switch: "traits.quorum.keepsRedelivery"}:  "dead letters bring no count along",

	{Release: "4.3", Switch: "traits.classic.ownAckTimeout"}:  "arguments and policies set the timeout of quorum queues only",
	{Release: "3.10", Switch: "traits.classic.ownAckTimeout"}: "no argument and no policy sets a timeout",
	{Release: "3.10", Switch: "traits.quorum.ownAckTimeout"}:  "no argument and no policy sets a timeout",

	{Release: "3.10", Switch: "traits.classic.heirs"}:          "a cancelled consumer of a classic queue holds nothing for another one",
	{Release: "4.3", Switch: "traits.classic.holdersInOrder"}:  "each message goes to its old position, whichever is first",
	{Release: "3.10", Switch: "traits.classic.holdersInOrder"}: "each message goes to its old position, whichever is first",
}

// tables are for fields that no scenario can show: a body of 128 MiB takes long to send, and a channel of 4.3 crashes
// where this one sends a long text that is not ASCII. Each returns what its field makes a broker show.
var tables = map[string]func(*leveret.Broker) string{
	"profile.maxMessageSize": func(b *leveret.Broker) string {
		conn, err := b.Connect("guest", "guest", "/")
		if err != nil {
			return err.Error()
		}
		ch, err := conn.Channel()
		if err != nil {
			return err.Error()
		}
		return ch.RefuseBody(1 << 40).Error()
	},
	"profile.byteCutReplyTexts": func(b *leveret.Broker) string {
		text := b.ReplyText(&leveret.Error{Code: leveret.NotFound, Reason: strings.Repeat("é", 300)})
		return fmt.Sprintln(len(text), utf8.RuneCountInString(text))
	},
}

// tabled is what the tables must show on the releases that need them.
var tabled = map[string]map[string]string{
	"profile.maxMessageSize": {
		"3.10": "basic.publish: PRECONDITION_FAILED - message size 1099511627776 is larger than configured max size 134217728",
	},
	"profile.byteCutReplyTexts": {"4.3": "495 255\n"},
}

// table reports whether the field has a table; that has to hold, and not to hold when the field is changed.
func (s *showing) table(t *testing.T, key shown.Key, p leveret.Profile, name string) bool {
	look, want := tables[name], tabled[name][key.Release]
	if want == "" {
		return false
	}
	for _, changed := range []bool{false, true} {
		option := leveret.WithProfile(p)
		if changed {
			option = leveret.WithChangedRule(p, name)
		}
		b := leveret.New(option)
		defer b.Close()
		if got := look(b); (got == want) == changed {
			t.Errorf("changed: %t: %s", changed, got)
		}
	}
	s.found(key, []string{"TestEveryRuleIsShown"})
	return true
}

// found remembers what notices.
func (s *showing) found(key shown.Key, witnesses []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now[key] = witnesses
}

// choose takes the first witness for each number of the rule, or the first of all.
func (s *showing) choose(witnesses []*scenario.Script, name string) []string {
	var chosen []string
	for _, number := range s.numbers.Of(name) {
		i := slices.IndexFunc(witnesses, func(w *scenario.Script) bool { return slices.Contains(w.Rules, number) })
		if i >= 0 && !slices.Contains(chosen, witnesses[i].Name) {
			chosen = append(chosen, witnesses[i].Name)
		}
	}
	if chosen == nil {
		chosen = []string{witnesses[0].Name}
	}
	return chosen
}

func (s *showing) notices(p leveret.Profile, name, witness string) bool {
	i := slices.IndexFunc(s.scripts, func(script *scenario.Script) bool { return script.Name == witness })
	return i >= 0 && s.scripts[i].For(scenario.Releases[p], "go") && differs(s.scripts[i], p, name)
}

// differs reports whether a script shows something else than it expects when one rule is changed.
func differs(script *scenario.Script, p leveret.Profile, name string) bool {
	return differsOn(script, leveret.WithChangedRule(p, name))
}

// differsOn reports whether a script shows something else than it expects on a broker that is made with the option. A
// broker that panics or hangs differs too.
func differsOn(script *scenario.Script, changed leveret.Option) bool {
	done := make(chan bool, 1)
	go func() {
		defer func() {
			if recover() != nil {
				done <- true
			}
		}()
		door := scenario.NewDirect(leveret.RabbitMQ43, changed)
		l, err := scenario.Compare(script, door)
		same := err == nil && l.Diff() == "" && door.Broker.Check() == nil
		door.Close()
		done <- !same
	}()
	select {
	case differs := <-done:
		return differs
	case <-time.After(20 * time.Second):
		return true
	}
}

// TestRulesHaveNumbers demands that the comment of every field of the profile and of the traits begins with the numbers
// of its rules, and that a scenario which names one of them notices the field.
func TestRulesHaveNumbers(t *testing.T) {
	list, err := shown.Read(shownFile)
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := scenario.Load(os.DirFS("testdata/scenarios"))
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := shown.FieldRules(".")
	if err != nil {
		t.Fatal(err)
	}
	witnesses := map[string][]string{}
	for key, names := range list {
		witnesses[shown.Field(key.Switch)] = append(witnesses[shown.Field(key.Switch)], names...)
	}
	for field, named := range numbers {
		if len(named) == 0 {
			t.Errorf("%s: no number of a rule", field)
		}
		if tables[field] != nil || strings.HasPrefix(field, shown.DefinitionsPrefix) { // these choose witnesses by their numbers
			continue
		}
		if !slices.ContainsFunc(scripts, func(s *scenario.Script) bool {
			return slices.Contains(witnesses[field], s.Name) && overlap(s.Rules, named)
		}) {
			t.Errorf("%s: %v name none of %v", field, witnesses[field], named)
		}
	}
}

func overlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
}
