// Record writes into scenario scripts what a real broker shows for them.
//
//	go run ./conformance/cmd/record -amqp URL -admin URL [-dir testdata/scenarios] [NAME-PREFIX…]
//
// What the scripts expect of other releases stays.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"strings"
	"sync"

	"github.com/leveretmq/leveret/conformance"
	"github.com/leveretmq/leveret/internal/scenario"
)

func main() {
	amqpURL := flag.String("amqp", os.Getenv("LEVERET_CONFORMANCE_AMQP"), "the broker's AMQP URL")
	admin := flag.String("admin", os.Getenv("LEVERET_CONFORMANCE_ADMIN"),
		"URL of the broker's management API, or the command line of its rabbitmqctl")
	dir := flag.String("dir", "testdata/scenarios", "where the scripts are")
	flag.Parse()
	broker, err := conformance.Open(*amqpURL, *admin)
	if err != nil {
		log.Fatal(err)
	}
	scripts, err := scenario.Load(os.DirFS(*dir))
	if err != nil {
		log.Fatal(err)
	}
	var wg sync.WaitGroup
	slots := make(chan bool, 8)
	var restarting []*scenario.Script
	for _, s := range scripts {
		if !chosen(s.Name, flag.Args()) || !s.For(broker.Release(), "amqp") {
			continue
		}
		if s.Restarts() != "" {
			restarting = append(restarting, s)
			continue
		}
		slots <- true
		wg.Go(func() {
			defer func() { <-slots }()
			if err := record(broker, s, *dir); err != nil {
				fmt.Println(err)
			}
		})
	}
	wg.Wait()
	// Those that restart the broker come last, and share the restarts.
	broker.Together(restarting, func(s *scenario.Script) {
		if err := record(broker, s, *dir); err != nil {
			fmt.Println(err)
		}
	})
}

func chosen(name string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return len(prefixes) == 0
}

func record(b *conformance.Broker, s *scenario.Script, dir string) error {
	driver, err := b.Driver()
	if err != nil {
		return err
	}
	defer driver.Close()
	l, err := scenario.Explore(s, driver)
	if err != nil {
		return err
	}
	s.Record(l)
	return s.Save(dir)
}
