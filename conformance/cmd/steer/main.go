// Command steer chooses random programs by what they lead the engine to (see conformance.Steering) and prints their
// seeds. It must be built to count what it executes; go test ./conformance -learn does so. For each line of its standard
// input it prints one seed; after the last line it prints to standard error what no program reached.
//
//	c=github.com/leveretmq/leveret
//	go build -cover -covermode atomic -coverpkg $c,$c/amqpd,$c/conformance/cmd/steer ./conformance/cmd/steer
//	seq 2000 | ./steer -profile 3.10 >seeds
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/conformance"
	"github.com/leveretmq/leveret/internal/scenario"
)

func main() {
	log.SetFlags(0)
	release := flag.String("profile", "4.3", "release that programs are for: 4.3, 3.10")
	first := flag.Uint64("seed", 1, "the first program that may be chosen")
	made := flag.Int("made", conformance.UsuallyMade, "how many programs to make for each that is chosen; 1: all are chosen")
	root := flag.String("root", ".", "the module's directory")
	flag.Parse()
	profile, err := profileOf(*release)
	if err != nil {
		log.Fatal(err)
	}
	steering, err := conformance.NewSteering(profile, *first, *made, *root)
	if err != nil {
		log.Fatal(err)
	}
	if err := answer(steering, os.Stdin, os.Stdout); err != nil {
		log.Fatal(err)
	}
	fmt.Fprintln(os.Stderr, steering.Report())
}

func profileOf(release string) (leveret.Profile, error) {
	for p, name := range scenario.Releases {
		if name == release {
			return p, nil
		}
	}
	return 0, fmt.Errorf("no profile for RabbitMQ %s", release)
}

// answer prints a seed for each line that is read.
func answer(s *conformance.Steering, questions io.Reader, answers io.Writer) error {
	lines := bufio.NewScanner(questions)
	for lines.Scan() {
		seed, err := s.Next()
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(answers, seed); err != nil {
			return err
		}
	}
	return lines.Err()
}
