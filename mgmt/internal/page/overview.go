package page

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/leveretmq/leveret"
)

// An overviewData is what the overview shows.
type overviewData struct {
	Totals  []figure // of objects
	Lengths plot
	Rates   plot
	Losses  []figure // by cause, most first
	Node    Object
}

// A figure is a number with its name.
type figure struct {
	Name, Value, Href string
}

// plotted asks the API for the samples of the last five minutes.
var plotted = url.Values{"lengths_age": {"300"}, "lengths_incr": {"5"}, "msg_rates_age": {"300"}, "msg_rates_incr": {"5"}}

func (v *visit) overview() (any, error) {
	answer, err := v.source.Ask(v.request, Question{Path: []string{"overview"}, Query: plotted})
	if err != nil {
		return nil, err
	}
	o := answer.(Object)
	d := overviewData{Node: o}
	for _, kind := range []string{"queues", "exchanges", "connections", "channels", "consumers"} {
		d.Totals = append(d.Totals, figure{strings.ToUpper(kind[:1]) + kind[1:], count(number(at(o, "object_totals."+kind))), "/" + kind})
	}
	d.Lengths, d.Rates = lengthsOf(at(o, "queue_totals")), ratesOf(at(o, "message_stats"))
	losses, err := v.losses()
	d.Losses = losses
	return d, err
}

// losses adds up what was lost in the virtual hosts that the user may see.
func (v *visit) losses() ([]figure, error) {
	answer, err := v.ask("vhosts")
	if err != nil {
		return nil, err
	}
	sum := map[string]uint64{}
	all, _ := answer.([]Object)
	for _, o := range all {
		if vhost, err := v.broker.VHost(text(o["name"])); err == nil {
			addLosses(sum, vhost.Counters().Dropped)
		}
	}
	return sortedLosses(sum), nil
}

// addLosses adds the figures of each cause.
func addLosses(sum map[string]uint64, c leveret.DropCounters) {
	var byCause map[string]uint64
	data, _ := json.Marshal(c) // counters are numbers
	json.Unmarshal(data, &byCause)
	for cause, n := range byCause {
		sum[cause] += n
	}
}

// sortedLosses are the causes that there were, most first.
func sortedLosses(sum map[string]uint64) (losses []figure) {
	var causes []string
	for cause, n := range sum {
		if n > 0 {
			causes = append(causes, cause)
		}
	}
	slices.SortFunc(causes, func(a, b string) int { return cmp.Or(cmp.Compare(sum[b], sum[a]), cmp.Compare(a, b)) })
	for _, cause := range causes {
		losses = append(losses, figure{Name: strings.ReplaceAll(cause, "_", " "), Value: count(float64(sum[cause]))})
	}
	return losses
}
