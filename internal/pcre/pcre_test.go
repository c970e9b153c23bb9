package pcre

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dlclark/regexp2"
	"github.com/leveretmq/leveret/internal/race"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var versions = []Version{PCRE2, PCRE1}

func mustCompile(t testing.TB, source string, v Version) *Pattern {
	t.Helper()
	p, fault := Compile(source, v)
	if fault != nil {
		t.Fatalf("%q: %v at %d", source, fault, fault.Offset)
	}
	return p
}

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pattern string
		yes, no []string
	}{
		{"", []string{"", "a"}, nil},
		{"work", []string{"work", "my-worker"}, []string{"Work", "wor"}},
		{"^amq\\.", []string{"amq.topic"}, []string{"xamq.topic", "amqp"}},
		{`^(?!amq\.).*`, []string{"a", "amq", "x.amq.y"}, []string{"amq.topic"}},
		{`^(?!amq\.|dlq$)(?=.*q)[a-z]+$`, []string{"queue"}, []string{"amq.q", "dlq", "abc"}},
		{`^(?!a)b|c`, []string{"b", "ac"}, []string{"ab"}},
		{`^(?!(a|b)[)]).`, []string{"a", "x)"}, []string{"a)", "b)"}},
		{`^((?!x).)*$`, []string{"", "abc"}, []string{"axb"}},
		{`(?<=a)b`, []string{"ab"}, []string{"b", "cb"}},
		{`(?<!a|bc)d`, []string{"d", "cd", "xbd"}, []string{"ad", "bcd"}},
		{`^(.)\1$`, []string{"aa"}, []string{"ab", "a"}},
		{`^(?:(a)|b)(?(1)x|y)$`, []string{"ax", "by"}, []string{"ay", "bx"}},
		{`^(?(?=a)..|.)$`, []string{"ab", "b"}, []string{"a", "bb"}},
		{`(?i)queue`, []string{"QUEUE"}, []string{"QUE"}},
		{`a(?i)b|c`, []string{"aB", "C"}, []string{"AB"}},
		{`^a$`, []string{"a", "a\n"}, []string{"a\nb", "aa"}},
		{`(?m)^b$`, []string{"a\nb\nc"}, []string{"ab"}},
		{`^re-.$`, []string{"re-a"}, []string{"re-é"}}, // two bytes
		{`^re-..$`, []string{"re-é", "re-ab"}, []string{"re-漢"}},
		{`^\w+$`, []string{"AB_9"}, []string{"é"}},
		{`^[^a-z]+$`, []string{"É", "é"}, []string{"a"}},
		{`é`, []string{"née"}, []string{"nee"}},
		{`^x\sy$`, []string{"x y", "x\vy"}, []string{"xy"}},
		{`a\hb`, []string{"a b", "a\tb"}, []string{"a\nb"}},
		{`^\R$`, []string{"\r\n", "\n", "\x85"}, []string{"\n\r", "a"}},
		{`^\Qa.(b\E+$`, []string{"a.(b", "a.(bb"}, []string{"axb"}},
		{`^a++b`, []string{"aab"}, []string{"b"}},
		{`^a++a`, nil, []string{"aaa"}},
		{`^(?:ab)*+ab`, nil, []string{"ababab"}},
		{`^[ab]{1,3}+b`, nil, []string{"abb"}},
		{`^(?>a|ab)c`, []string{"ac"}, []string{"abc"}},
		{`^(?>(|a)*)$`, []string{""}, []string{"aa"}}, // the empty time is the last
		{`^(?P<q>a)(b)?$`, []string{"a", "ab"}, []string{"b"}},
		{`[[:alpha:]]x`, []string{"ax"}, []string{"1x"}},
		{`^[]a]+$`, []string{"]a"}, []string{"b"}},
		{`(?x) a b # c`, []string{"ab"}, []string{"a b"}},
		{`^a{2,3}$`, []string{"aa", "aaa"}, []string{"a", "aaaa"}},
		{`^(ab){0}c`, []string{"c"}, []string{"abc"}},
		{`^a{x}`, []string{"a{x}"}, []string{"a"}},
		{`(*FAIL)|a`, []string{"a"}, []string{"b"}},
	} {
		for _, v := range versions {
			p := mustCompile(t, c.pattern, v)
			for _, s := range c.yes {
				assert.True(t, p.Match(s), "%q in %q", c.pattern, s)
			}
			for _, s := range c.no {
				assert.False(t, p.Match(s), "%q in %q", c.pattern, s)
			}
		}
	}
}

// Where the dialects differ.
func TestVersions(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		now, old      bool
	}{
		{`^\w+$`, "ª", false, true}, // two letters of Latin-1
		{`^\W`, "é", true, false},
		{`(?i)Á`, "あ", false, true}, // begin with a capital and its small letter
		{`[[:upper:]]`, "É", false, true},
		{`[[:^ascii:]]`, "É", true, false},
		{`^a{,2}$`, "aa", true, false},
		{`^a{,2}$`, "a{,2}", false, true},
		{`(?i)\p{Lu}`, "a", true, false},
	} {
		assert.Equal(t, c.now, mustCompile(t, c.pattern, PCRE2).Match(c.name), "4.3: %q in %q", c.pattern, c.name)
		assert.Equal(t, c.old, mustCompile(t, c.pattern, PCRE1).Match(c.name), "3.10: %q in %q", c.pattern, c.name)
	}
}

// unlike are recorded patterns to which RabbitMQ has another answer.
var unlike = map[string]string{
	"(?P>x)":                        "recursion is not supported",
	"(?R)":                          "recursion is not supported",
	"(?1)":                          "recursion is not supported",
	"(*atomic:a)":                   "verbs are not supported",
	`\N{U+41}`:                      "it is refused with another message",
	"(?(1)a|b|c)":                   "of its two errors the other is reported",
	`(?<=(?-i)[é-ÿ]\b|\1(?<n>\d1))`: "PCRE2 knows the length of a back-reference",
}

// testdata/rabbitmq.json has what RabbitMQ 4.3.6 and 3.10.8 said to patterns of policies: the names of exchanges that a
// pattern was found in, or PCRE's message and offset.
func TestAgreesWithRabbitMQ(t *testing.T) {
	data, err := os.ReadFile("testdata/rabbitmq.json")
	require.NoError(t, err)
	var recorded struct {
		Names    []string
		Patterns []struct {
			Pattern string
			Now     any `json:"4.3"`
			Old     any `json:"3.10"`
		}
	}
	require.NoError(t, json.Unmarshal(data, &recorded))
	for _, r := range recorded.Patterns {
		if unlike[r.Pattern] != "" {
			continue
		}
		for v, want := range []any{r.Now, r.Old} {
			if want == nil {
				continue
			}
			got := answer(r.Pattern, Version(v), recorded.Names)
			assert.Equal(t, want, got, "%q, version %d", r.Pattern, v)
		}
	}
}

// answer is in the form of testdata/rabbitmq.json.
func answer(source string, v Version, names []string) any {
	p, fault := Compile(source, v)
	if fault != nil {
		return fmt.Sprintf("%s @%d", fault.Message, fault.Offset)
	}
	found := []any{}
	for _, name := range slices.Sorted(slices.Values(names)) {
		if p.Match(name) {
			found = append(found, name)
		}
	}
	return found
}

func TestFaults(t *testing.T) {
	for _, source := range []string{"(?R)", "(a)(?1)", `(a)\g<1>`, "(?&n)(?<n>a)", "(*UTF)a", "(*COMMIT)a", "(?P>n)"} {
		_, fault := Compile(source, PCRE2)
		require.NotNil(t, fault, source)
		assert.Contains(t, fault.Message, "not supported by leveret", source)
	}
	for _, source := range []string{strings.Repeat("(", 100_000), strings.Repeat("(", 100_000) + strings.Repeat(")", 100_000),
		"((a{1000}){1000}){1000}", strings.Repeat("(?:", 500) + "a" + strings.Repeat("){9}", 500)} {
		for _, v := range versions {
			_, fault := Compile(source, v)
			require.NotNil(t, fault, "%.20q", source)
		}
	}
}

// stepsOf returns how many steps a match takes.
func stepsOf(p *Pattern, name string) int {
	_, left := p.match(name, upTo(MaxSteps))
	return MaxSteps - left
}

// A match with a limit knows what a match without one knows, or that it does not know.
func TestMatchWithin(t *testing.T) {
	if race.Enabled {
		t.Skip("one goroutine does it all, slowly")
	}
	name := strings.Repeat("a", 254) + "!"
	for _, source := range []string{`^a+!$`, `b`, `^(?!x)(a+)+$`, `^(a+)+\1$`, `(?=(a+)+$)b`, `(.*)(.*)(.*)(.*)(.*)b`, strings.Repeat(".*", 500) + "b",
		strings.Repeat("a|", 500) + "b$", `(?=((a?){20}){20})b`, strings.Repeat("(?=a?)", 500) + "b"} {
		for _, v := range versions {
			p := mustCompile(t, source, v)
			want := p.Match(name)
			for limit := 1; ; limit *= 2 {
				if limit > 1<<26 && !p.forgets || limit > MaxSteps && p.forgets {
					break
				}
				found, known, took := p.MatchWithin(name, limit)
				require.Less(t, took, limit+1000, source)
				if known {
					require.Equal(t, want, found, source)
					require.LessOrEqual(t, took, limit)
					if !p.forgets {
						break
					}
				}
			}
		}
	}
}

// What MaxSteps does not count takes time, too.
func TestMatchWithinCountsEverything(t *testing.T) {
	name := strings.Repeat("a", 255)
	for _, source := range []string{strings.Repeat(".*", 500) + "b", strings.Repeat("(?=a?)", 150) + "b", `(?=((a?){100}){100})b`,
		`(?:` + strings.Repeat("b|", 450) + `c)*a+(?:` + strings.Repeat("b|", 50) + "c)"} {
		_, known, took := mustCompile(t, source, PCRE2).MatchWithin(name, 3000)
		assert.False(t, known, "%.20q... took %d", source, took)
	}
}

func BenchmarkMatchWithin(b *testing.B) {
	name := strings.Repeat("a", 254) + "!"
	for _, source := range []string{`^(?:ok|((a+)+)\2!)$`, `(.*)(.*)(.*)(.*)(.*)b`, strings.Repeat(".*", 500) + "b", strings.Repeat("(?=a?)", 150) + "b",
		`(?=((a?){100}){100})b`, strings.Repeat("b|", 450) + "c", strings.Repeat("(a)?", 200) + `(a+)+\1b`, strings.Repeat("(?<=.{0,255}b)?", 50) + "c",
		`(?:(a)(?<!.{0,200}b))*\1b`, `(?:` + strings.Repeat("(?>a?)", 100) + `)*b`} {
		b.Run(source[:12], func(b *testing.B) {
			p := mustCompile(b, source, PCRE2)
			took := 0
			for b.Loop() {
				_, _, took = p.MatchWithin(name, 10_000)
			}
			b.ReportMetric(float64(took), "steps")
		})
	}
}

// Nothing is tried twice, so that patterns which take PCRE exponential time take polynomial time.
func TestStepsAreFew(t *testing.T) {
	if race.Enabled {
		t.Skip("one goroutine does it all, slowly")
	}
	name := strings.Repeat("a", 254) + "!"
	for _, source := range []string{`^(a+)+$`, `^(a|a)*$`, `^(?!x)(a+)+$`, `((a|a)*)*(?<=b)$`, `(?=(a+)+$)b`, `(?=.*(?=.*(?=.*(?=.*x))))`,
		`^(?>(a|aa)+b|a)+$`, `(a?){30}a{300}`, `(.*)(.*)(.*)(.*)(.*)b`, strings.Repeat(".*", 500) + "b"} {
		for _, v := range versions {
			p := mustCompile(t, source, v)
			require.False(t, p.forgets, source)
			assert.Less(t, stepsOf(p, name), MaxSteps/2, source)
			assert.False(t, p.Match(name), source)
		}
	}
}

// A match that may take exponential time is given up for one name, and not for the next.
func TestGivenUp(t *testing.T) {
	for _, source := range []string{`^(a+)+\1$`, `^((a|b|ab)*)*\1$`, `(?>(a*)*b)c|^(a*)*$\2`} {
		p := mustCompile(t, source, PCRE2)
		require.True(t, p.forgets, source)
		name := strings.Repeat("a", 200) + "!"
		for range 3 {
			assert.False(t, p.Match(name), source)
		}
		assert.InEpsilon(t, MaxSteps, stepsOf(p, name), 0.01, source)
	}
	p := mustCompile(t, `^(a+)+\1$`, PCRE2)
	assert.False(t, p.Match(strings.Repeat("a", 200)+"!"))
	assert.True(t, p.Match("aa"))
}

// A negative lookahead that is given up has not failed to match.
func TestGivenUpInNegativeLookahead(t *testing.T) {
	p := mustCompile(t, `^(?!(a+)+\1$)a`, PCRE2)
	assert.False(t, p.Match(strings.Repeat("a", 200)+"!"))
	assert.True(t, p.Match("a!"))
}

func TestAgreesWithRegexp(t *testing.T) {
	parts := []string{"a", "b", ".", "^", "$", "(", ")", "|", "*", "+", "?", "[ab]", "[^a]", `\.`, `\w`, "{2}", "{1,2}", "(?:", `\b`, "(?i)", "*?"}
	names := []string{"", "a", "b", "ab", "ba", "aab", "bba", "a.b", "B", "..", "abab"}
	rnd := rand.New(rand.NewPCG(rand.Uint64(), 1))
	compared := 0
	for range 20_000 {
		source := ""
		for range 1 + rnd.IntN(6) {
			source += parts[rnd.IntN(len(parts))]
		}
		want, err := regexp.Compile(source)
		p, fault := Compile(source, versions[rnd.IntN(2)])
		if err != nil || fault != nil {
			continue
		}
		for _, name := range names {
			compared++
			require.Equal(t, want.MatchString(name), p.Match(name), "%q in %q", source, name)
		}
	}
	assert.Greater(t, compared, 10_000)
}

// drawPattern draws an expression that PCRE and regexp2 understand alike.
func drawPattern(t *rapid.T, depth int, groups *int) string {
	if depth == 0 {
		return rapid.SampledFrom([]string{"a", "b", "c", ".", "[ab]", "[^a]", "^", "$", `\b`, ""}).Draw(t, "atom")
	}
	inner := func() string { return drawPattern(t, depth-1, groups) }
	switch rapid.IntRange(0, 9).Draw(t, "kind") {
	case 0, 1:
		return inner() + inner()
	case 2:
		return "(?:" + inner() + "|" + inner() + ")"
	case 3:
		*groups++
		return "(" + inner() + ")"
	case 4, 5:
		return "(?:" + inner() + "c)" + rapid.SampledFrom([]string{"*", "+", "?", "{2}", "{0,2}", "*?", "+?", "??", "{1,2}?"}).Draw(t, "times")
	case 6:
		return rapid.SampledFrom([]string{"(?=", "(?!", "(?>"}).Draw(t, "around") + inner() + ")"
	case 7:
		return rapid.SampledFrom([]string{"(?<=", "(?<!"}).Draw(t, "behind") + rapid.SampledFrom([]string{"a", "ab", "^", "[bc]"}).Draw(t, "text") + ")"
	case 8:
		if *groups > 0 {
			return fmt.Sprintf(`\%d`, rapid.IntRange(1, min(*groups, 9)).Draw(t, "group"))
		}
	}
	return inner()
}

func agreesWithRegexp2(t *rapid.T) {
	groups := 0
	source := drawPattern(t, rapid.IntRange(1, 4).Draw(t, "depth"), &groups)
	name := rapid.StringMatching(`[abc]{0,8}`).Draw(t, "name")
	want, err := regexp2.Compile(source, regexp2.None)
	p, fault := Compile(source, versions[rapid.IntRange(0, 1).Draw(t, "version")])
	if err != nil || fault != nil {
		return
	}
	want.MatchTimeout = time.Second
	found, err := want.MatchString(name)
	if err != nil {
		return
	}
	if p.Match(name) != found {
		t.Fatalf("%q in %q: %v to regexp2", source, name, found)
	}
}

func TestAgreesWithRegexp2(t *testing.T) { rapid.Check(t, agreesWithRegexp2) }

func FuzzAgreesWithRegexp2(f *testing.F) { f.Fuzz(rapid.MakeFuzz(agreesWithRegexp2)) }

// FuzzMatch compiles anything. What a match remembers changes nothing but the time it takes.
func FuzzMatch(f *testing.F) {
	for _, s := range []string{`^(?!amq\.).*`, `(a+)+$`, `\Q(\E[[:alpha:]]++`, `(?<n>a)(?(<n>)b|c)\k<n>`, `(?|(a)|(b))\1`, `[\w-]{,2}(?i:é)\x{e3}`, `(?x) a # b`} {
		f.Add(s, "größe")
		f.Add(s, "aaaaaaaaaaaaaaaaaaaaaaaa!")
	}
	f.Fuzz(func(t *testing.T, source, name string) {
		for _, v := range versions {
			p, fault := Compile(source, v)
			if fault != nil {
				if fault.Message == "" || fault.Offset < 0 {
					t.Fatalf("%q: %+v", source, fault)
				}
				continue
			}
			found := p.Match(name)
			if same, known, _ := p.MatchWithin(name, 1000); known && same != found {
				t.Fatalf("%q in %q: %v, but %v within 1000 steps", source, name, found, same)
			}
			plain := *p
			plain.forgets = true
			given := stepsOf(p, name) >= MaxSteps || stepsOf(&plain, name) >= MaxSteps
			if !given && plain.Match(name) != found {
				t.Fatalf("%q in %q: %v, but %v without memory", source, name, found, !found)
			}
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	for _, source := range []string{".*", "^work", `^(?!amq\.).*`, `^(a|b)+c$`, `dead`} {
		b.Run(source, func(b *testing.B) {
			p := mustCompile(b, source, PCRE2)
			for b.Loop() {
				p.Match("work.orders.incoming")
			}
		})
	}
}
