// Package measured reads what benchmarks printed, and compares it: medians, and medians of ratios.
package measured

import (
	"bufio"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Series are the values of one benchmark and unit, a run each.
type Series struct {
	Name, Unit string
	Values     []float64
}

// A Report is everything read, in the order in which it occurred first.
type Report struct {
	All    []*Series
	byName map[string]*Series
}

// ReadFiles reads the output of any number of interleaved runs.
func ReadFiles(names []string) (*Report, error) {
	r := &Report{byName: map[string]*Series{}}
	for _, name := range names {
		f, err := os.Open(name)
		if err == nil {
			err = r.read(f)
			f.Close()
		}
		if err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *Report) read(f io.Reader) error {
	s := bufio.NewScanner(f)
	for s.Scan() {
		w := strings.Fields(s.Text())
		if len(w) < 4 || !strings.HasPrefix(w[0], "Benchmark") {
			continue
		}
		for i := 2; i+1 < len(w); i += 2 {
			if v, err := strconv.ParseFloat(w[i], 64); err == nil {
				r.add(w[0], w[i+1], v)
			}
		}
	}
	return s.Err()
}

func (r *Report) add(name, unit string, v float64) {
	s := r.byName[name+" "+unit]
	if s == nil {
		s = &Series{Name: name, Unit: unit}
		r.byName[name+" "+unit] = s
		r.All = append(r.All, s)
	}
	s.Values = append(s.Values, v)
}

// Get returns the series of a benchmark, which is named with its GOMAXPROCS if that is not 1, and unit. It is nil if there is none.
func (r *Report) Get(name, unit string) *Series { return r.byName[name+" "+unit] }

// Impl matches what a benchmark's name says of the implementation. The name of an implementation may have dashes; what follows the
// last one is GOMAXPROCS.
var Impl = regexp.MustCompile(`impl=([^/]+?)(-\d+)?(/|$)`)

// as is the same benchmark of another implementation.
func (r *Report) as(s *Series, other string) *Series {
	return r.Get(Impl.ReplaceAllString(s.Name, "impl="+other+"$2$3"), s.Unit)
}

// Ratio is the median ratio to the anchor, which is impl=chan or, where there is none, impl=null, of the same run and case. ok is
// false if there is none.
func (r *Report) Ratio(s *Series) (ratio float64, ok bool) {
	anchor := r.as(s, "chan")
	if anchor == nil {
		anchor = r.as(s, "null")
	}
	if !strings.HasPrefix(s.Unit, "ns/") && !strings.HasSuffix(s.Unit, "cpu-ns") {
		return 0, false
	}
	return Over(s, anchor)
}

// Over is the median of a/b, run by run: each ratio compares neighbours in time. ok is false if either is missing in a run.
func Over(a, b *Series) (ratio float64, ok bool) {
	if a == nil || b == nil || len(a.Values) != len(b.Values) {
		return 0, false
	}
	ratios := make([]float64, len(a.Values))
	for i := range ratios {
		ratios[i] = a.Values[i] / b.Values[i]
	}
	return median(ratios), true
}

// Median is that of all runs.
func (s *Series) Median() float64 { return median(s.Values) }

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}
