package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// A sample is what the process takes at one time.
type sample struct {
	at          time.Duration
	heap        uint64 // bytes of live objects
	goroutines  int
	descriptors int // open files; -1 where the system does not tell
}

func takeSample(at time.Duration) sample {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s := sample{at: at, heap: m.HeapAlloc, goroutines: runtime.NumGoroutine(), descriptors: -1}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		s.descriptors = len(files)
	}
	return s
}

func writeCSV(file string, samples []sample) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	_ = w.Write([]string{"seconds", "heap bytes", "goroutines", "descriptors"})
	for _, s := range samples {
		_ = w.Write([]string{fmt.Sprintf("%.0f", s.at.Seconds()), fmt.Sprint(s.heap), fmt.Sprint(s.goroutines), fmt.Sprint(s.descriptors)})
	}
	w.Flush()
	if err := w.Error(); err != nil {
		return err
	}
	return f.Close()
}

// A curve is one figure of the samples.
type curve struct {
	name, color string
	value       func(sample) float64
}

var curves = []curve{
	{"heap after collection, MB", "#1f6f8b", func(s sample) float64 { return float64(s.heap) / 1e6 }},
	{"goroutines", "#b5651d", func(s sample) float64 { return float64(s.goroutines) }},
	{"open descriptors", "#4c7a34", func(s sample) float64 { return float64(s.descriptors) }},
}

// writePlot draws each curve in a field of its own, from 0 to its highest value.
func writePlot(file string, samples []sample) error {
	const width, height, margin = 720, 120, 40
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n",
		width+2*margin, len(curves)*(height+margin)+margin)
	last := samples[len(samples)-1].at
	for i, c := range curves {
		top, most := margin+i*(height+margin), 1.0
		for _, s := range samples {
			most = max(most, c.value(s))
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s (0 to %.0f)</text>`+"\n", margin, top-6, c.name, most)
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#ccc"/>`+"\n", margin, top, width, height)
		fmt.Fprintf(&b, `<polyline fill="none" stroke="%s" points="`, c.color)
		for _, s := range samples {
			fmt.Fprintf(&b, "%.1f,%.1f ", margin+width*s.at.Seconds()/last.Seconds(), float64(top+height)-height*c.value(s)/most)
		}
		b.WriteString(`"/>` + "\n")
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d">%v</text>`+"\n</svg>\n", margin+width-60, len(curves)*(height+margin)+margin-16, last.Round(time.Second))
	return os.WriteFile(file, []byte(b.String()), 0o644)
}
