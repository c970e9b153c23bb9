// Mutate changes the model one rule at a time and demands that a test notices.
//
//	go run ./internal/mutate              # every mutant of testdata/mutants.txt
//	go run ./internal/mutate -update      # and writes down in testdata/shown.txt which test noticed
//	go run ./internal/mutate softLimit    # mutants whose names begin so
//	go run ./internal/mutate -draw 200    # so many, drawn by a seed, which is printed
//	go run ./internal/mutate -programs 300 -sample 100
//
//	go run ./internal/mutate -fixes -programs 20000
//
// The last two forms ask how much random programs notice: of changed rules and of changed operators, and of fixes that
// are taken back, those of testdata/fixes.txt. Nothing fails.
//
// One build of the tests has all mutants (go test -overlay, so that the tree stays as it is): a changed constant is a variable in it, and
// a function with changed lines has a copy with the change. An environment variable says which mutant is to be. What noticed last time
// runs first, then all scenarios, then the other tests. A mutant that no test notices has survived: it is printed, and the program fails.
package main

import (
	"flag"
	"fmt"
	"log"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/leveretmq/leveret/internal/scenario"
	"github.com/leveretmq/leveret/internal/shown"
)

const (
	mutantsFile = "testdata/mutants.txt"
	shownFile   = "testdata/shown.txt"
	fixesFile   = "testdata/fixes.txt"
)

func main() {
	log.SetFlags(0)
	update := flag.Bool("update", false, "write down which test noticed")
	workers := flag.Int("workers", 2, "how many mutants to try at once")
	programs := flag.Int("programs", 0, "how many random programs of each release to try instead of the tests")
	fixes := flag.Bool("fixes", false, "with -programs: take back the fixes of testdata/fixes.txt")
	sample := flag.Int("sample", 100, "with -programs: how many operators to change, one at a time")
	sampleSeed := flag.Uint64("sample-seed", 1, "with -programs: which operators")
	draw := flag.Int("draw", 0, "how many mutants to try; 0: all")
	seed := flag.Uint64("seed", rand.Uint64()>>32, "with -draw: which mutants")
	flag.Parse()
	if *programs > 0 {
		dir, err := os.MkdirTemp("", "mutate")
		if err != nil {
			log.Fatal(err)
		}
		if *fixes {
			err = tryFixes(*programs, flag.Args(), dir, *workers)
		} else {
			err = tryPrograms(*programs, *sample, *sampleSeed, dir)
		}
		os.RemoveAll(dir)
		if err != nil {
			log.Fatal(err)
		}
		return
	}
	all, err := readMutants(mutantsFile, ".")
	if err != nil {
		log.Fatal(err)
	}
	mutants := slices.DeleteFunc(slices.Clone(all), func(m mutant) bool { return !wanted(m.name, flag.Args()) })
	if *draw > 0 {
		fmt.Printf("-seed %d\n", *seed)
		rand.New(rand.NewPCG(*seed, 0)).Shuffle(len(mutants), func(i, j int) { mutants[i], mutants[j] = mutants[j], mutants[i] })
		mutants = mutants[:min(*draw, len(mutants))]
	}
	list, err := shown.Read(shownFile)
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		log.Fatal(err)
	}
	found, survivors, err := tryAll(mutants, list, dir, *workers)
	os.RemoveAll(dir)
	if err != nil {
		log.Fatal(err)
	}
	if *update {
		tried := func(name string) bool {
			return slices.ContainsFunc(mutants, func(m mutant) bool { return m.name == name })
		}
		known := func(name string) bool { return slices.ContainsFunc(all, func(m mutant) bool { return m.name == name }) }
		list.Replace(func(name string) bool { return !shown.IsField(name) && (tried(name) || !known(name)) }, found)
		if err := list.Write(shownFile); err != nil {
			log.Fatal(err)
		}
	}
	if !*update {
		survivors = append(survivors, forgotten(mutants, list, found)...)
	}
	fmt.Printf("%d mutants, %d survived\n", len(mutants), len(survivors))
	if len(survivors) > 0 {
		log.Fatalf("no test notices: %s", strings.Join(survivors, ", "))
	}
}

// forgotten returns the mutants that something noticed on a release last time, and nothing does now, though another release's scenario
// may.
func forgotten(mutants []mutant, list, found shown.List) (names []string) {
	for _, m := range mutants {
		for key := range m.remembered(list) {
			if found[key] == nil {
				names = append(names, m.name+" on "+key.Release)
			}
		}
	}
	return names
}

func wanted(name string, prefixes []string) bool {
	return len(prefixes) == 0 || slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// tryAll returns what noticed the mutants, and the names of those that nothing noticed.
func tryAll(mutants []mutant, list shown.List, dir string, workers int) (found shown.List, survivors []string, err error) {
	scripts, err := scenario.Load(os.DirFS("testdata/scenarios"))
	if err != nil {
		return nil, nil, err
	}
	t, err := newTests(mutants, dir)
	if err != nil {
		return nil, nil, err
	}
	players := map[player]bool{}
	for _, m := range mutants {
		if p := m.player(); !players[p] {
			players[p] = true
			if err := t.healthy(p); err != nil {
				return nil, nil, err
			}
		}
	}
	found = shown.List{}
	var mu sync.Mutex
	each(mutants, workers, func(m mutant) {
		witnesses, err := t.try(m, list, scripts)
		mu.Lock()
		defer mu.Unlock()
		maps.Copy(found, witnesses)
		switch {
		case err != nil:
			fmt.Printf("%-28s %v\n", m.name, err)
			survivors = append(survivors, m.name)
		case len(witnesses) == 0:
			fmt.Printf("%-28s SURVIVED\n", m.name)
			survivors = append(survivors, m.name)
		default:
			fmt.Printf("%-28s %s\n", m.name, described(witnesses))
		}
	})
	return found, survivors, nil
}

// described tells what noticed a mutant on each release.
func described(witnesses shown.List) string {
	var words []string
	for key, names := range witnesses {
		words = append(words, key.Release+" "+strings.Join(names, " "))
	}
	slices.Sort(words)
	return strings.Join(words, ", ")
}

// each calls do for all mutants, for some at once.
func each(mutants []mutant, workers int, do func(mutant)) {
	var wg sync.WaitGroup
	slots := make(chan bool, workers)
	for _, m := range mutants {
		slots <- true
		wg.Go(func() {
			defer func() { <-slots }()
			do(m)
		})
	}
	wg.Wait()
}
