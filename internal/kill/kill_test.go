package main

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestMain(m *testing.M) {
	if serves() {
		return
	}
	os.Exit(m.Run())
}

// A few kills: those who change the store run thousands.
func TestWhatClientsWereToldOutlivesAKill(t *testing.T) {
	for _, sync := range []string{"always", "rabbitmq"} {
		t.Run(sync, func(t *testing.T) {
			c := config{rounds: 10, seed: rand.Uint64(), longest: 250 * time.Millisecond, sync: sync}
			if testing.Short() {
				c.rounds = 2
			}
			seen, problems := run(c)
			assert.Empty(t, problems, "seed %d", c.seed)
			t.Log(seen)
			assert.Positive(t, seen.confirmed)
			assert.Positive(t, seen.found)
		})
	}
}

// A store that confirms what is nowhere but in the process is found out.
func TestLossIsFound(t *testing.T) {
	_, problems := run(config{rounds: 20, seed: rand.Uint64(), longest: 250 * time.Millisecond, sync: "never", broken: "late"})
	assert.Contains(t, strings.Join(problems, "\n"), "LOST: ")
}

// A disk that is only slow loses nothing.
func TestSlowDiskLosesNothing(t *testing.T) {
	_, problems := run(config{rounds: 3, seed: rand.Uint64(), longest: 250 * time.Millisecond, sync: "always", broken: "late"})
	assert.Empty(t, problems)
}
