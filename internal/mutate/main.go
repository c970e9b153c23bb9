// Mutate changes the model one rule at a time and demands that a test notices.
//
//	go run ./internal/mutate              # every mutant of testdata/mutants.txt
//	go run ./internal/mutate -update      # and writes down in testdata/shown.txt which test noticed
//	go run ./internal/mutate softLimit    # mutants whose names begin so
//	go run ./internal/mutate -programs 300 -sample 100
//
//	go run ./internal/mutate -fixes -programs 20000
//
// The last two forms ask how much random programs notice: of changed rules and of changed operators, and of fixes that
// are taken back, those of testdata/fixes.txt. Nothing fails.
//
// Each mutant is a build of the root package's tests with files replaced (go test -overlay), so that the tree stays as it is. All
// constants share one build, in which they are variables. What noticed last time runs first, then all scenarios, then the other tests.
// A mutant that no test notices has survived: it is printed, and the program fails.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"slices"
	"strings"
	"sync"

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
	mutants, err := readMutants(mutantsFile, ".")
	if err != nil {
		log.Fatal(err)
	}
	mutants = slices.DeleteFunc(mutants, func(m mutant) bool { return !wanted(m.name, flag.Args()) })
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
		list.Replace(func(name string) bool { return !shown.IsField(name) && wanted(name, flag.Args()) }, found)
		if err := list.Write(shownFile); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Printf("%d mutants, %d survived\n", len(mutants), len(survivors))
	if len(survivors) > 0 {
		log.Fatalf("no test notices: %s", strings.Join(survivors, ", "))
	}
}

func wanted(name string, prefixes []string) bool {
	return len(prefixes) == 0 || slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// tryAll returns the witnesses of the mutants that were noticed, and the others' names.
func tryAll(mutants []mutant, list shown.List, dir string, workers int) (found shown.List, survivors []string, err error) {
	constants, err := buildConstants(mutants, dir)
	if err != nil {
		return nil, nil, err
	}
	found = shown.List{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan bool, workers)
	for i, m := range mutants {
		slots <- true
		wg.Go(func() {
			defer func() { <-slots }()
			key := shown.Key{Release: "*", Switch: m.name}
			witness, err := m.try(fmt.Sprintf("%s/%d", dir, i), constants, list[key])
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				log.Printf("%s: %v", m.name, err)
				survivors = append(survivors, m.name)
			case witness == "":
				fmt.Printf("%-28s SURVIVED\n", m.name)
				survivors = append(survivors, m.name)
			default:
				fmt.Printf("%-28s %s\n", m.name, witness)
				found[key] = []string{witness}
			}
		})
	}
	wg.Wait()
	return found, survivors, nil
}
