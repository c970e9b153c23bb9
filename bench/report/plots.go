package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/leveretmq/leveret/bench/measured"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	_ "gonum.org/v1/plot/vg/vgsvg" // the format that draw saves
)

// A line is a named curve.
type line struct {
	name   string
	points plotter.XYs
}

// draw saves a plot of curves beside the report and returns the Markdown that shows it.
func (p *page) draw(file, title, x, y string, scale func(*plot.Plot), lines []line) string {
	pl := plot.New()
	pl.Title.Text, pl.X.Label.Text, pl.Y.Label.Text = title, x, y
	pl.Legend.Top, pl.Legend.Left = true, true
	pl.Add(plotter.NewGrid())
	for i, l := range lines {
		drawn, marks, err := plotter.NewLinePoints(l.points)
		if err != nil {
			p.fail(fmt.Errorf("%s: %s: %w", file, l.name, err))
			return ""
		}
		drawn.Color, marks.Color = plotutil.Color(i), plotutil.Color(i)
		drawn.Dashes = plotutil.Dashes(i / len(plotutil.DefaultColors))
		marks.Radius = vg.Points(1.5)
		pl.Add(drawn, marks)
		pl.Legend.Add(l.name, drawn)
	}
	scale(pl) // after the lines, which set what the axes show
	if err := pl.Save(20*vg.Centimeter, 12*vg.Centimeter, filepath.Join(p.docs, file)); err != nil {
		p.fail(err)
	}
	return fmt.Sprintf("![%s](%s)\n\n", title, file)
}

// logarithmic has both axes of a plot logarithmic.
func logarithmic(pl *plot.Plot, x plot.Ticker) {
	pl.X.Scale, pl.Y.Scale = plot.LogScale{}, plot.LogScale{}
	pl.X.Tick.Marker, pl.Y.Tick.Marker = x, steps{1, 2, 5}
}

// steps are ticks at their multiples of powers of ten.
type steps []float64

func (s steps) Ticks(least, most float64) (ticks []plot.Tick) {
	for power := math.Pow10(int(math.Floor(math.Log10(least)))); power <= most; power *= 10 {
		for _, step := range s {
			if v := step * power; v >= least && v <= most {
				ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'f', -1, 64)})
			}
		}
	}
	return ticks
}

var number = regexp.MustCompile(`^ns-each@(\d+)$`)

// curves plots what each of many costs, over how many there are.
func (p *page) curves() {
	p.section("Curves",
		"What each of *n* costs, mostly from a thousand up to a million, beside each of the fewest; a level line is as much for each however many there are. The exponent is the slope of the cost of all *n*: "+
			"1 is a level line, 2 is twice as much for each of twice as many. What does not fit into a processor's caches costs more without any fault of an algorithm: `anchor/map` is a Go map that is filled.",
		func(w io.Writer) bool {
			var lines []line
			fmt.Fprint(w, "| | exponent | the fewest | ns each | the most | ns each |\n|---|---:|---:|---:|---:|---:|\n")
			p.each("BenchmarkCurves", "exponent", func(name string, s *measured.Series) {
				points := p.curve(name)
				if len(points) == 0 {
					return
				}
				first, last := points[0], points[len(points)-1]
				fmt.Fprintf(w, "| %s | %.2f | %.0f | %.0f | %.0f | %.0f |\n", name, s.Median(), first.X, first.Y, last.X, last.Y)
				for i := range points {
					points[i].Y /= first.Y
				}
				lines = append(lines, line{name, points})
			})
			if len(lines) == 0 {
				return false
			}
			fmt.Fprintf(w, "\n%s", p.draw("performance-curves.svg", "Cost of each of n", "n", "times the cost of each of the fewest", func(pl *plot.Plot) {
				logarithmic(pl, steps{1})
				pl.X.Max = 30e6 // room for the legend
				pl.Legend.Left = false
			}, lines))
			return true
		})
}

func (p *page) curve(name string) (points plotter.XYs) {
	for _, s := range p.All {
		if s.Case() != "BenchmarkCurves/"+name {
			continue
		}
		if m := number.FindStringSubmatch(s.Unit); m != nil {
			n, _ := strconv.ParseFloat(m[1], 64) // digits only
			points = append(points, plotter.XY{X: n, Y: s.Median()})
		}
	}
	slices.SortFunc(points, func(a, b plotter.XY) int { return int(math.Copysign(1, a.X-b.X)) })
	return points
}

// contention plots what sixteen goroutines manage, over the processors that there are.
func (p *page) contention() {
	p.section("Cores",
		"Sixteen goroutines that publish to eight queues, receive and acknowledge: how many times as many messages a second as one goroutine alone. `leveret` has all queues in one virtual host, whose lock "+
			"they share; `leveret-batch` does so sixteen messages at a time; `leveret-vhosts` has a virtual host for each queue, which is how a program uses more cores. `chan` is a Go channel for each "+
			"queue: what the machine has to give. In parentheses are the ns a message that the sixteen need together.",
		func(w io.Writer) bool {
			rows, cells := map[string]plotter.XYs{}, map[string]string{}
			var names, cores []string
			p.each("BenchmarkContention", "times-alone", func(name string, s *measured.Series) {
				cpus, impl, _ := strings.Cut(strings.TrimPrefix(name, "cpus="), "/impl=")
				if rows[impl] == nil {
					names = append(names, impl)
				}
				if !slices.Contains(cores, cpus) {
					cores = append(cores, cpus)
				}
				n, err := strconv.ParseFloat(cpus, 64)
				if err != nil {
					p.fail(err)
				}
				rows[impl] = append(rows[impl], plotter.XY{X: n, Y: s.Median()})
				cells[impl] += fmt.Sprintf(" %.2f (%.0f) |", s.Median(), p.Of("BenchmarkContention/"+name, "together-ns").Median())
			})
			if len(names) == 0 {
				return false
			}
			fmt.Fprintf(w, "| processors | %s |\n|---|%s\n", strings.Join(cores, " | "), strings.Repeat("---:|", len(cores)))
			var lines []line
			for _, name := range names {
				fmt.Fprintf(w, "| %s |%s\n", name, cells[name])
				lines = append(lines, line{name, rows[name]})
			}
			fmt.Fprintf(w, "\n%s", p.draw("performance-cores.svg", "Sixteen goroutines on eight queues", "processors", "times one goroutine alone",
				func(pl *plot.Plot) {
					pl.X.Scale, pl.X.Tick.Marker = plot.LogScale{}, steps{1, 2, 4, 8}
					pl.Y.Min = 0
				}, lines))
			return true
		})
}

// latency plots how long messages take, by percentile: all runs of a case together.
func (p *page) latency() {
	all, order, err := histograms(filepath.Join(p.results, "latency.hdr"))
	if err != nil {
		p.fail(err)
	}
	p.section("Latency over TCP",
		"Messages of 100 bytes with few in flight: from publish to confirm, and from publish on one connection to delivery on another, in µs. The plots have every percentile.",
		func(w io.Writer) bool {
			fmt.Fprint(w, "| | messages a second | p50 | p90 | p99 | p99.9 |\n|---|---:|---:|---:|---:|---:|\n")
			plots := map[string][]line{}
			var cases []string
			for _, name := range order {
				h := all[name]
				rate := p.Of("BenchmarkLatency/"+name, "msg/s")
				if rate == nil {
					p.fail(fmt.Errorf("a histogram of %s, which was not measured", name))
					return false
				}
				fmt.Fprintf(w, "| %s | %.0f |", strings.NewReplacer("/", " ", "=", " ").Replace(name), rate.Median())
				for _, q := range []float64{50, 90, 99, 99.9} {
					fmt.Fprintf(w, " %.0f |", float64(h.ValueAtQuantile(q))/1000)
				}
				fmt.Fprintln(w)
				kase, impl, _ := strings.Cut(name, "/impl=")
				if plots[kase] == nil {
					cases = append(cases, kase)
				}
				plots[kase] = append(plots[kase], line{impl, percentiles(h)})
			}
			fmt.Fprintln(w)
			for _, kase := range cases {
				mode, inFlight, _ := strings.Cut(strings.TrimPrefix(kase, "mode="), "/in-flight=")
				fmt.Fprint(w, p.draw("performance-latency-"+mode+"-"+inFlight+".svg", mode+", "+inFlight+" in flight", "percentile", "µs", func(pl *plot.Plot) {
					logarithmic(pl, nines{})
				}, plots[kase]))
			}
			return len(order) > 0
		})
}

// percentiles are the points of a histogram: the time in µs over how many messages one of them took longer.
func percentiles(h *hdrhistogram.Histogram) (points plotter.XYs) {
	for _, of := range []float64{1.25, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000} {
		if of <= float64(h.TotalCount()) {
			points = append(points, plotter.XY{X: of, Y: float64(h.ValueAtQuantile(100-100/of)) / 1000})
		}
	}
	return points
}

// nines are ticks at the percentiles 50, 90, 99 and so on, of a scale of how many messages one of them took longer.
type nines struct{}

func (nines) Ticks(_, most float64) []plot.Tick {
	ticks := []plot.Tick{{Value: 2, Label: "50"}}
	for of := 10.0; of <= most; of *= 10 {
		ticks = append(ticks, plot.Tick{Value: of, Label: strconv.FormatFloat(100-100/of, 'f', -1, 64)})
	}
	return ticks
}

// histograms reads those of all runs and adds up those of one case. Without a file there are none.
func histograms(file string) (all map[string]*hdrhistogram.Histogram, order []string, err error) {
	f, err := os.Open(file)
	if os.IsNotExist(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	all = map[string]*hdrhistogram.Histogram{}
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		name, text, _ := strings.Cut(s.Text(), " ")
		encoded, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %s: %w", file, name, err)
		}
		h, err := hdrhistogram.Decode(encoded)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %s: %w", file, name, err)
		}
		if all[name] == nil {
			all[name] = h
			order = append(order, name)
			continue
		}
		if dropped := all[name].Merge(h); dropped > 0 {
			return nil, nil, fmt.Errorf("%s: %s: %d values do not fit", file, name, dropped)
		}
	}
	return all, order, s.Err()
}
