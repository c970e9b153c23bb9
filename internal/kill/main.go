// Command kill shows that what clients were told outlives their broker. It starts a process with a broker that has a directory, has
// clients of many kinds do everything to it at once, kills the process at a random moment, opens the directory again and compares
// what is there with what the clients know.
//
//	go run ./internal/kill -rounds 2000
//	go run ./internal/kill -seed 42 -rounds 1    # the plan of a round again; what the kill hits is chance
//
// What is compared stands in ledger.go. To see that a loss is found, break the store: -break says how.
package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

func main() {
	if serves() {
		return
	}
	c := config{}
	flag.IntVar(&c.rounds, "rounds", 100, "how often the process is killed")
	flag.Uint64Var(&c.seed, "seed", rand.Uint64(), "seed of the first round; the next round has the next one")
	flag.DurationVar(&c.longest, "longest", 400*time.Millisecond, "how long a process lives at most before it is killed")
	flag.StringVar(&c.sync, "sync", "always", "what the broker waits for: always, rabbitmq or never")
	flag.StringVar(&c.broken, "break", "", "break the store: late has the disk be written to late, so that with -sync never what was confirmed is lost")
	flag.Parse()
	t, problems := run(c)
	fmt.Println(t)
	for _, p := range problems {
		fmt.Println(p)
	}
	if len(problems) > 0 {
		os.Exit(1)
	}
}

// A config says what is done.
type config struct {
	rounds  int
	seed    uint64
	longest time.Duration
	sync    string
	broken  string
}

// roundsOfADirectory is after how many rounds the next one begins with an empty directory.
const roundsOfADirectory = 12

// run returns what was seen, and what is wrong after the first round in which something is.
func run(c config) (t totals, problems []string) {
	parent, err := os.MkdirTemp("", "kill")
	must(err)
	defer os.RemoveAll(parent)
	var l *ledger
	dir := ""
	for round := range c.rounds {
		if round%roundsOfADirectory == 0 {
			_ = os.RemoveAll(dir)
			dir, l = filepath.Join(parent, fmt.Sprint(round)), newLedger()
		}
		seed := c.seed + uint64(round)
		fmt.Printf("round %d: seed %d, %v\n", round, seed, t)
		play(c, l, dir, round, seed)
		t.add(l)
		if len(l.problems) > 0 {
			problems = append(l.problems, fmt.Sprintf("in round %d, seed %d", round, seed))
			return t, problems
		}
	}
	return t, nil
}

// play has clients work until the process is killed.
func play(c config, l *ledger, dir string, round int, seed uint64) {
	dice := rand.New(rand.NewPCG(seed, 0))
	for dice.IntN(3) == 0 { // while it reads the log
		p := launch(dir, c)
		time.Sleep(time.Duration(dice.Int64N(int64(50 * time.Millisecond))))
		l.end(p)
	}
	p := start(dir, c)
	w := &world{ledger: l, process: p, round: round, seed: seed}
	w.settleIn()
	life := 30*time.Millisecond + time.Duration(dice.Int64N(int64(c.longest)))
	time.AfterFunc(life, p.kill)
	w.work()
	l.end(p)
	if dice.IntN(2) == 0 {
		l.compare(dir)
		return
	}
	own := dir + ".copy" // what is opened is closed, and the next process shall read what the kill has left
	must(os.CopyFS(own, os.DirFS(dir)))
	l.compare(own)
	must(os.RemoveAll(own))
}

// end kills a process.
func (l *ledger) end(p *process) {
	p.kill()
	if err := p.wait(); err != nil {
		l.problem("%v", err)
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
