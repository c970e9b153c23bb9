package scenario

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/leveretmq/leveret"
)

// Releases are the names of the profiles in scripts, by profile.
var Releases = map[leveret.Profile]string{leveret.RabbitMQ43: "4.3", leveret.RabbitMQ310: "3.10"}

var releases = []string{"4.3", "3.10"}

// A Script is one parsed scenario.
type Script struct {
	Name    string   // dead-letter/cycle
	Rules   []string // what it shows
	Profile string   // the only release it is for; empty: all
	Driver  string   // the only driver it is for: go, amqp; empty: all
	Loose   []string // what it leaves uncompared, and why
	Steps   []*Step

	expects bool     // there are observations
	lines   []string // verbatim; steps and their observations refer to them
}

// A Step is one statement and what it must show.
type Step struct {
	Line    int    // in the file, from 1
	Profile string // the only release it is for; empty: all
	Actor   string // channel, or connection.channel
	Verb    string
	Args    []Arg

	want map[string][]string // by release
	last int                 // the last line that belongs to it
	text string              // the statement without observations
}

func (st *Step) isFor(release string) bool { return st.Profile == "" || st.Profile == release }

// For reports whether the script has something to say about a release through a driver.
func (s *Script) For(release, driver string) bool {
	return (s.Profile == "" || s.Profile == release) && (s.Driver == "" || s.Driver == driver)
}

// Timed reports whether the script lets time pass, so that a loaded machine may spoil a run.
func (s *Script) Timed() bool {
	return slices.ContainsFunc(s.Steps, func(st *Step) bool { return st.Verb == "advance" })
}

// Takes is how long the script lets time pass for a release.
func (s *Script) Takes(release string) (d time.Duration) {
	for _, st := range s.Steps {
		if st.Verb == "advance" && st.isFor(release) && len(st.Args) > 0 {
			step, _ := time.ParseDuration(st.Args[0].Text) // has been checked when the script was read
			d += step
		}
	}
	return d
}

// Restarts has a letter for each time that the script restarts its broker: s for one that is stopped, k for one that is
// killed.
func (s *Script) Restarts() string {
	var kinds strings.Builder
	for _, st := range s.Steps {
		killed := slices.ContainsFunc(st.Args, func(a Arg) bool { return a.Text == "killed" })
		switch {
		case st.Verb != "restart":
		case killed:
			kinds.WriteByte('k')
		default:
			kinds.WriteByte('s')
		}
	}
	return kinds.String()
}

// Expects reports whether the script says what any of its statements must show, if only that it is nothing.
func (s *Script) Expects() bool { return s.expects }

// Unanswered returns the script as one that expects nothing, whose statements are those of s.
func (s *Script) Unanswered() *Script {
	open := *s
	open.expects = false
	return &open
}

// Want returns what the step must show on a release.
func (st *Step) Want(release string) []string { return st.want[release] }

// Parse reads a script.
func Parse(name, text string) (*Script, error) {
	s := &Script{Name: name, lines: strings.Split(strings.TrimRight(text, "\n"), "\n")}
	for i, line := range s.lines {
		if err := s.line(i+1, line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
	}
	return s, nil
}

func (s *Script) line(n int, line string) error {
	trimmed := strings.TrimSpace(line)
	switch {
	case trimmed == "" || trimmed[0] == '#':
		return nil
	case len(s.Steps) == 0 && s.head(trimmed):
		return s.checkHead()
	case line[0] == ' ' || line[0] == '\t':
		return s.observation(n, trimmed)
	}
	return s.statement(n, trimmed)
}

func (s *Script) head(line string) bool {
	key, value, ok := strings.Cut(line, ":")
	if !ok || strings.ContainsAny(key, " @[") {
		return false
	}
	value = strings.TrimSpace(value)
	switch key {
	case "rule":
		for _, r := range strings.Split(value, ",") {
			s.Rules = append(s.Rules, strings.TrimSpace(r))
		}
	case "profile":
		s.Profile = value
	case "driver":
		s.Driver = value
	case "loose":
		s.Loose = append(s.Loose, value)
	default:
		return false
	}
	return true
}

// checkHead refuses a restriction that no run can meet.
func (s *Script) checkHead() error {
	if s.Profile != "" && !slices.Contains(releases, s.Profile) {
		return fmt.Errorf("profile: %s is neither 4.3 nor 3.10", s.Profile)
	}
	if s.Driver != "" && s.Driver != "go" && s.Driver != "amqp" {
		return fmt.Errorf("driver: %s is neither go nor amqp", s.Driver)
	}
	return nil
}

func (s *Script) statement(n int, line string) error {
	st := &Step{Line: n, last: n, want: map[string][]string{}}
	st.Profile, line = cutRelease(line)
	text, want, has := cutTop(line, "->")
	st.text = strings.TrimSpace(text)
	r := &reader{s: st.text}
	if r.peek() == '@' {
		r.pos++
		st.Actor, _, _, _ = r.text()
		r.skip(" ")
	}
	st.Verb, _, _, _ = r.text()
	args, err := r.args()
	if err != nil {
		return err
	}
	if st.Verb == "" {
		return errors.New("a statement begins with a word")
	}
	if verbs[st.Verb] == nil {
		return fmt.Errorf("no such statement: %s", st.Verb)
	}
	st.Args = args
	s.Steps = append(s.Steps, st)
	if has {
		s.expects = true
		st.expect("", want)
	}
	return nil
}

func (s *Script) observation(n int, line string) error {
	release, rest := cutRelease(line)
	rest, ok := strings.CutPrefix(rest, "->")
	if !ok || len(s.Steps) == 0 {
		return fmt.Errorf("neither a statement nor an observation")
	}
	st := s.Steps[len(s.Steps)-1]
	st.last = n
	s.expects = true
	st.expect(release, rest)
	return nil
}

func (st *Step) expect(release, text string) {
	for _, r := range releases {
		if release == "" || release == r {
			for _, o := range splitTop(text, "|") {
				if o != "ok" {
					st.want[r] = append(st.want[r], o)
				}
			}
		}
	}
}

func cutRelease(line string) (release, rest string) {
	for _, r := range releases {
		if rest, ok := strings.CutPrefix(line, "["+r+"]"); ok {
			return r, strings.TrimSpace(rest)
		}
	}
	return "", line
}

// cutTop cuts at the first sep that stands between blanks and outside of quotes.
func cutTop(s, sep string) (before, after string, found bool) {
	quote := byte(0) // the quotation mark that ends the quoted text that i is in
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && quote == '"':
			i++
		case quote != 0 && s[i] == quote:
			quote = 0
		case quote == 0 && (s[i] == '"' || s[i] == '`'):
			quote = s[i]
		case quote == 0 && s[i] == ' ' && strings.HasPrefix(s[i+1:]+" ", sep+" "):
			return s[:i], strings.TrimSpace(s[i+1+len(sep):]), true
		}
	}
	return s, "", false
}

func splitTop(s, sep string) []string {
	var out []string
	for {
		before, after, found := cutTop(s, sep)
		out = append(out, strings.TrimSpace(before))
		if !found {
			return out
		}
		s = after
	}
}

// Record replaces what the script expects on one release by what a run showed there.
func (s *Script) Record(l *Log) {
	for _, e := range l.Entries {
		e.Step.want[l.Release] = slices.Clone(e.Got)
	}
}

// Text writes the script with its expectations; comments and blank lines stay where they were.
func (s *Script) Text() string {
	var b strings.Builder
	at := 0
	for _, st := range s.Steps {
		for ; at < st.Line-1; at++ {
			b.WriteString(s.lines[at] + "\n")
		}
		b.WriteString(s.stepText(st))
		at = st.last
	}
	for ; at < len(s.lines); at++ {
		b.WriteString(s.lines[at] + "\n")
	}
	return b.String()
}

func (s *Script) stepText(st *Step) string {
	text := st.text
	if st.Profile != "" {
		text = "[" + st.Profile + "] " + text
	}
	only := st.Profile
	if only == "" {
		only = s.Profile
	}
	if only == "" && !slices.Equal(st.want["4.3"], st.want["3.10"]) {
		return text + "\n" + observed("  [4.3]  -> ", st.want["4.3"]) + observed("  [3.10] -> ", st.want["3.10"])
	}
	if only == "" {
		only = "4.3"
	}
	want := st.want[only]
	if len(want) == 0 {
		return text + "\n"
	}
	if one := text + " -> " + strings.Join(want, " | "); len(one) <= 110 {
		return one + "\n"
	}
	return text + "\n" + observed("  -> ", want)
}

func observed(prefix string, want []string) string {
	if len(want) == 0 {
		return prefix + "ok\n"
	}
	if one := prefix + strings.Join(want, " | ") + "\n"; len(one) <= 110 {
		return one
	}
	return prefix + strings.Join(want, "\n"+prefix) + "\n"
}

// Load reads all scripts below a directory, in the order of their names.
func Load(fsys fs.FS) ([]*Script, error) {
	var out []*Script
	for s, err := range All(fsys) {
		if err != nil {
			return out, err
		}
		out = append(out, s)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, nil
}

// All yields the scripts of a directory one by one, directory by directory, each in the order of names. An error is the
// last.
func All(fsys fs.FS) iter.Seq2[*Script, error] {
	return func(yield func(*Script, error) bool) {
		err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || path.Ext(p) != ".txt" {
				return err
			}
			text, err := fs.ReadFile(fsys, p)
			if err != nil {
				return err
			}
			s, err := Parse(strings.TrimSuffix(p, ".txt"), string(text))
			if err == nil && !yield(s, nil) {
				return fs.SkipAll
			}
			return err
		})
		if err != nil {
			yield(nil, err)
		}
	}
}

// Save writes a script's text back below the directory it was loaded from.
func (s *Script) Save(dir string) error {
	return os.WriteFile(filepath.Join(dir, filepath.FromSlash(s.Name)+".txt"), []byte(s.Text()), 0o644)
}
