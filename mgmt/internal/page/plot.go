package page

import (
	"fmt"
	"strings"
)

// Plots are drawn here, so that the browser needs no script for them.

// The size of a plot, in its own units, and how long it reaches back.
const (
	plotWidth, plotHeight = 600.0, 120.0
	plotSpan              = 300_000.0 // milliseconds
)

// A plot is several courses of figures with one scale.
type plot struct {
	Title  string
	Top    string // what the upper edge means
	Series []series
}

// A series is the course of one figure.
type series struct {
	Name, Value string
	Points      string // of an SVG polyline
	points      []point
}

type point struct{ at, value float64 }

// lengthsOf plots how many messages there are.
func lengthsOf(totals any) plot {
	p := plot{Title: "Messages"}
	for _, f := range []struct{ key, name string }{{"messages_ready", "ready"}, {"messages_unacknowledged", "unacknowledged"}, {"messages", "total"}} {
		p.Series = append(p.Series, series{Name: f.name, Value: count(number(at(totals, f.key))), points: samples(at(totals, f.key+"_details"))})
	}
	return p.drawn(count)
}

// ratesOf plots how fast messages come and go. What has never happened has no course.
func ratesOf(stats any) plot {
	p := plot{Title: "Messages a second"}
	for _, f := range []struct{ key, name string }{{"publish", "published"}, {"deliver_get", "delivered"}, {"ack", "acknowledged"},
		{"redeliver", "redelivered"}, {"return_unroutable", "returned"}, {"drop_unroutable", "unroutable"}} {
		if at(stats, f.key) == nil {
			continue
		}
		rate := perSecond(number(at(stats, f.key+"_details.rate")))
		if rate == "" {
			rate = "0/s"
		}
		p.Series = append(p.Series, series{Name: f.name, Value: rate, points: slopes(samples(at(stats, f.key+"_details")))})
	}
	return p.drawn(func(top float64) string { return perSecond(top) })
}

// samples returns the samples in details, the oldest first.
func samples(details any) (points []point) {
	all, _ := at(details, "samples").([]Object)
	for _, s := range all {
		points = append([]point{{number(s["timestamp"]), number(s["sample"])}}, points...)
	}
	return points
}

// slopes returns how much points change a second.
func slopes(points []point) (rates []point) {
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		rates = append(rates, point{b.at, (b.value - a.value) * 1000 / (b.at - a.at)})
	}
	return rates
}

// drawn sets the courses to scale. The newest point is at the right.
func (p plot) drawn(top func(float64) string) plot {
	highest, newest := 1.0, 0.0
	for _, s := range p.Series {
		for _, q := range s.points {
			highest, newest = max(highest, q.value), max(newest, q.at)
		}
	}
	for i, s := range p.Series {
		var out strings.Builder
		for _, q := range s.points {
			fmt.Fprintf(&out, "%.1f,%.1f ", plotWidth-(newest-q.at)/plotSpan*plotWidth, plotHeight-q.value/highest*(plotHeight-4)-2)
		}
		p.Series[i].Points = strings.TrimSpace(out.String())
	}
	p.Top = top(highest)
	return p
}
