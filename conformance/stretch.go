package conformance

import (
	"regexp"
	"strconv"

	"github.com/leveretmq/leveret/internal/scenario"
)

// stretch is by what the short times of a program are multiplied when it has more statements than a real broker manages in them.
const stretch = 8

// shortTimes matches the short times of programs, also in texts of errors, and the waits that let them pass.
var shortTimes = regexp.MustCompile(`\b((?:ttl|expires|timeout|expiration|retry-min|retry-max)="?|value '|advance )(1000|1300|1700|2500|6000)(ms)?\b`)

// stretched returns a program whose short times are longer, and that expects the same.
func stretched(script *scenario.Script) (*scenario.Script, error) {
	return scenario.Parse(script.Name, shortTimes.ReplaceAllStringFunc(script.Text(), func(found string) string {
		parts := shortTimes.FindStringSubmatch(found)
		n, _ := strconv.Atoi(parts[2]) // digits only
		return parts[1] + strconv.Itoa(stretch*n) + parts[3]
	}))
}
