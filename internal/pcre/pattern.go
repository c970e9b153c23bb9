package pcre

import "sync"

// A Version is a dialect of PCRE.
type Version uint8

// The versions. The zero value is that of RabbitMQ 4.3.
const (
	PCRE2 Version = iota // 10.43 and later
	PCRE1                // 8.44, with tables for Latin-1
)

// MaxSteps is after how many steps a match is given up, some hundredth of a second.
const MaxSteps = 1_000_000

// A Pattern is a compiled regular expression. It never changes, so that any number of goroutines may use it.
type Pattern struct {
	start   step
	guards  int  // places that remember where they failed
	subs    int  // lookarounds and atomic groups
	loops   int  // repetitions that may match nothing
	groups  int  // capturing groups, if anything refers to them
	forgets bool // nothing can be remembered
}

// Compile reads a regular expression. The empty one is found in every name. A nil Fault means
// that the pattern is good.
func Compile(source string, v Version) (p *Pattern, fault *Fault) {
	defer func() {
		switch f := recover().(type) {
		case nil:
		case *Fault:
			p, fault = nil, f
		default:
			panic(f)
		}
	}()
	return newCompiler(parse(source, v)).pattern(), nil
}

var machines = sync.Pool{New: func() any { return new(machine) }}

// stepsInARow is how many steps a match takes before it lets other goroutines run.
const stepsInARow = 20_000

// Match reports whether the pattern is found anywhere in name. A match that takes long lets other goroutines run.
func (p *Pattern) Match(name string) bool {
	found, _ := p.match(name, upTo(MaxSteps))
	return found
}

// upTo is a bound of that many steps.
func upTo(steps int) bound { return bound{steps: stepsInARow, reserve: steps - stepsInARow} }

// MatchWithin is Match for a caller that cannot wait: it gives up after limit steps, of which there are at most MaxSteps.
// All that takes time is a step here, also what MaxSteps does not count. If known is false, found means nothing. took is
// how many steps there were.
func (p *Pattern) MatchWithin(name string, limit int) (found, known bool, took int) {
	took = p.words(name) / wordsPerStep
	if took >= limit {
		return false, false, 0
	}
	found, left := p.match(name, bound{steps: limit - took, strict: true})
	return found, left > 0, limit - left
}

// wordsPerStep is how many words of memory are cleared in the time of a step.
const wordsPerStep = 64

// words is how much memory a match of the name clears first.
func (p *Pattern) words(name string) int {
	if p.forgets {
		return 0
	}
	return p.guards*wordsOf(name) + p.subs*(len(name)+1)/2
}

// match returns how many steps are left, too.
func (p *Pattern) match(name string, b bound) (found bool, left int) {
	m := machines.Get().(*machine)
	m.bound = b
	m.reset(p, name)
	found = m.search(p.start)
	left = m.steps + m.reserve
	m.name = ""
	machines.Put(m)
	return found, left
}
