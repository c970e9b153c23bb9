package measured

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
)

var (
	ratioLimit = regexp.MustCompile(`^(Benchmark\S+) takes at most (\S+) of (Benchmark\S+)$`)
	bends      = regexp.MustCompile(`^(Benchmark\S+) bends at most (\S+)$`)
	allocates  = regexp.MustCompile(`^(Benchmark\S+) allocates (\d+)$`)
	processors = regexp.MustCompile(`-\d+$`)
)

// Check compares the measurements with limits, a line each, and tells of each that is exceeded:
//
//	BenchmarkX takes at most 12.5 of BenchmarkY
//	BenchmarkX bends at most 1.5
//	BenchmarkX allocates 2
//
// The first is the ratio of the shortest times of all runs, which a busy machine changes least; the second is the least exponent of all
// runs, of a benchmark that measures one; the third is exact. Empty lines and those that begin with # say nothing.
func (r *Report) Check(limits io.Reader) (exceeded []string, err error) {
	s := bufio.NewScanner(limits)
	for n := 1; s.Scan(); n++ {
		line := s.Text()
		if line == "" || line[0] == '#' {
			continue
		}
		problem := "line " + strconv.Itoa(n) + " is no limit: " + line
		if m := ratioLimit.FindStringSubmatch(line); m != nil {
			problem = r.checkRatio(m[1], m[2], m[3])
		} else if m := bends.FindStringSubmatch(line); m != nil {
			problem = r.checkExponent(m[1], m[2])
		} else if m := allocates.FindStringSubmatch(line); m != nil {
			problem = r.checkAllocations(m[1], m[2])
		}
		if problem != "" {
			exceeded = append(exceeded, problem)
		}
	}
	return exceeded, s.Err()
}

// Of returns the series of a benchmark that was measured with any GOMAXPROCS, nil if there is none.
func (r *Report) Of(name, unit string) *Series {
	for _, s := range r.All {
		if s.Unit == unit && s.Case() == name {
			return s
		}
	}
	return nil
}

// Case is the benchmark's name without its GOMAXPROCS.
func (s *Series) Case() string { return processors.ReplaceAllString(s.Name, "") }

func (r *Report) checkRatio(name, limit, anchor string) (problem string) {
	most, err := strconv.ParseFloat(limit, 64)
	if err != nil {
		return "no number: " + limit
	}
	a, b := r.Of(name, "ns/op"), r.Of(anchor, "ns/op")
	if a == nil || b == nil {
		return fmt.Sprintf("%s and %s were not both measured", name, anchor)
	}
	if ratio := slices.Min(a.Values) / slices.Min(b.Values); ratio > most {
		return fmt.Sprintf("%s takes %.2f of %s, at most %s are allowed", name, ratio, anchor, limit)
	}
	return ""
}

func (r *Report) checkExponent(name, limit string) (problem string) {
	most, err := strconv.ParseFloat(limit, 64)
	if err != nil {
		return "no number: " + limit
	}
	s := r.Of(name, "exponent")
	if s == nil {
		return name + " has no exponent"
	}
	if least := slices.Min(s.Values); least > most {
		return fmt.Sprintf("%s bends by %.2f, at most %s is allowed", name, least, limit)
	}
	return ""
}

func (r *Report) checkAllocations(name, want string) (problem string) {
	s := r.Of(name, "allocs/op")
	if s == nil {
		return name + " was not measured with -benchmem"
	}
	for _, v := range s.Values {
		if strconv.FormatFloat(v, 'f', -1, 64) != want {
			return fmt.Sprintf("%s allocates %v, not %s", name, v, want)
		}
	}
	return ""
}
