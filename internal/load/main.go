// Command load has many clients do everything to one broker at once, over the Go API and over TCP, and keeps account of
// every copy of every message: it is acknowledged, in a place where the broker shows it, or an event tells what became
// of it.
//
//	go run ./internal/load -duration 1h                              # conservation, on 4.3
//	go run -race ./internal/load -duration 1h -profile 3.10 -door tcp
//	go run ./internal/load -duration 30m -samples soak.csv -plot soak.svg   # heap, goroutines and descriptors over time
//
// Every now and then everybody stops, the clock too, and what events have told is compared with what the broker shows.
// The program fails if they differ, and prints how.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/turns"
)

func main() {
	c := config{progress: 30}
	profile := flag.String("profile", "4.3", "`release` of RabbitMQ to behave as: 4.3 or 3.10")
	door := flag.String("door", "both", "where clients come from: api, tcp or both")
	clients := flag.Int("clients", 8, "number of clients at each door")
	flag.DurationVar(&c.duration, "duration", time.Minute, "how long the load lasts")
	flag.DurationVar(&c.every, "every", 2*time.Second, "time between two comparisons")
	flag.Uint64Var(&c.seed, "seed", uint64(time.Now().UnixNano()), "seed of what the clients do; the order in which they do it is chance")
	turn := flag.Int("turn", turns.Length(), "steps after which a long operation lets others in; 3 lets them in everywhere")
	samples := flag.String("samples", "", "CSV `file` for heap, goroutines and descriptors over time")
	plot := flag.String("plot", "", "SVG `file` for the same")
	flag.Parse()
	turns.SetLength(*turn)
	if err := c.complete(*profile, *door, *clients); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(2)
	}
	fmt.Printf("seed %d, RabbitMQ %s, %d clients of the API, %d over TCP, %v\n", c.seed, *profile, c.api, c.tcp, c.duration)
	r := run(c)
	fmt.Println(r)
	if c.duration < time.Hour {
		fmt.Printf("for longer: go run ./internal/load -duration 1h -profile %s, and the same with -race\n", *profile)
	}
	for file, write := range map[string]func(string, []sample) error{*samples: writeCSV, *plot: writePlot} {
		if file == "" {
			continue
		}
		if err := write(file, r.samples); err != nil {
			fmt.Fprintln(os.Stderr, "load:", err)
			os.Exit(1)
		}
	}
	if len(r.problems) > 0 {
		os.Exit(1)
	}
}

// A config says what load there is.
type config struct {
	profile  leveret.Profile
	duration time.Duration
	every    time.Duration // between two comparisons
	seed     uint64
	api, tcp int // clients
	progress int // comparisons between two lines that say how far it is; 0: no such lines
}

func (c *config) complete(profile, door string, clients int) error {
	switch profile {
	case "4.3":
		c.profile = leveret.RabbitMQ43
	case "3.10":
		c.profile = leveret.RabbitMQ310
	default:
		return fmt.Errorf("-profile is %q, not 4.3 or 3.10", profile)
	}
	c.api, c.tcp = clients, clients
	switch door {
	case "api":
		c.tcp = 0
	case "tcp":
		c.api = 0
	case "both":
	default:
		return fmt.Errorf("-door is %q, not api, tcp or both", door)
	}
	return nil
}
