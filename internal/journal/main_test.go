package journal_test

import (
	"flag"
	"os"
	"testing"

	"go.uber.org/goleak"
)

var long = flag.Bool("long", false, "kill and crash some hundred times")

// childVariable names the directory in which this program, started by TestKill, is to write a log until it is killed.
const childVariable = "JOURNAL_TEST_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childVariable); dir != "" {
		child(dir)
		return
	}
	goleak.VerifyTestMain(m)
}
