// Chance plays small programs many times on a real broker and counts what they show: the experiments behind the
// exclusions of random programs (conformance/exclusions.go).
//
//	go run ./conformance/cmd/chance -amqp URL -admin URL [-runs 100] [-dir conformance/testdata/chance] [NAME-PREFIX…]
//
// What leveret shows stands beside it. A program whose runs all show the same is decided by a rule, not by chance.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/leveretmq/leveret/conformance"
	"github.com/leveretmq/leveret/internal/scenario"
)

func main() {
	log.SetFlags(0)
	amqpURL := flag.String("amqp", os.Getenv("LEVERET_CONFORMANCE_AMQP"), "the broker's AMQP URL")
	admin := flag.String("admin", os.Getenv("LEVERET_CONFORMANCE_ADMIN"),
		"URL of the broker's management API, or the command line of its rabbitmqctl")
	dir := flag.String("dir", "conformance/testdata/chance", "where the programs are")
	runs := flag.Int("runs", 100, "how often each program is played")
	atOnce := flag.Int("at-once", 8, "how many runs at a time")
	flag.Parse()
	broker, err := conformance.Open(*amqpURL, *admin)
	if err != nil {
		log.Fatal(err)
	}
	scripts, err := scenario.Load(os.DirFS(*dir))
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range scripts {
		if !chosen(s.Name, flag.Args()) || !s.For(broker.Release(), "amqp") {
			continue
		}
		fmt.Printf("%s, %d runs on RabbitMQ %s:\n", s.Name, *runs, broker.Version)
		own := once(s, func() (scenario.Driver, error) { return conformance.Listener(broker.Profile()) })
		report(play(s, broker.Driver, *runs, *atOnce), own)
	}
}

func chosen(name string, prefixes []string) bool {
	return len(prefixes) == 0 || slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// play counts the outcomes of a program. An outcome is what its statements showed.
func play(s *scenario.Script, open func() (scenario.Driver, error), runs, atOnce int) map[string]int {
	outcomes := map[string]int{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan bool, atOnce)
	for range runs {
		slots <- true
		wg.Go(func() {
			defer func() { <-slots }()
			outcome := once(s, open)
			mu.Lock()
			defer mu.Unlock()
			outcomes[outcome]++
		})
	}
	wg.Wait()
	return outcomes
}

func once(s *scenario.Script, open func() (scenario.Driver, error)) string {
	driver, err := open()
	if err != nil {
		return err.Error()
	}
	l, err := scenario.Explore(s, driver)
	if err = errors.Join(err, driver.Close()); err != nil {
		return err.Error()
	}
	return l.Shown()
}

// report prints the outcomes, the most frequent first, and which of them is leveret's.
func report(outcomes map[string]int, own string) {
	byCount := func(a, b string) int { return cmp.Or(outcomes[b]-outcomes[a], strings.Compare(a, b)) }
	for _, outcome := range slices.SortedFunc(maps.Keys(outcomes), byCount) {
		whose := ""
		if outcome == own {
			whose = ", as leveret"
		}
		fmt.Printf("%6d times%s\n%s", outcomes[outcome], whose, indented(outcome))
	}
	if outcomes[own] == 0 {
		fmt.Printf("       leveret only\n%s", indented(own))
	}
}

func indented(outcome string) string {
	var b strings.Builder
	for line := range strings.Lines(outcome) {
		b.WriteString("             " + line)
	}
	return b.String()
}
