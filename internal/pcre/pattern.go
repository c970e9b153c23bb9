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

// Match reports whether the pattern is found anywhere in name.
func (p *Pattern) Match(name string) bool {
	found, _ := p.MatchSteps(name)
	return found
}

// MatchSteps is Match that also returns how many steps it took, of which MaxSteps is the bound.
func (p *Pattern) MatchSteps(name string) (found bool, steps int) {
	m := machines.Get().(*machine)
	m.reset(p, name)
	found = m.search(p.start)
	steps = MaxSteps - m.steps
	m.name = ""
	machines.Put(m)
	return found, steps
}
