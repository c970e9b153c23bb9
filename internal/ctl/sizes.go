package ctl

import (
	"fmt"

	"github.com/leveretmq/leveret"
)

// sizeRanges are the names of the ranges that leveret.SizeBounds parts, the last without a bound.
var sizeRanges = [...]string{
	"below 100B", "between 100B and 1KB", "between 1KB and 10KB", "between 10KB and 100KB", "between 100KB and 1MB",
	"between 1MB and 10MB", "between 10MB and 50MB", "between 50MB and 100MB", "above 100MB",
}

func sizeCommands() []*command {
	return []*command{{
		name: "message_size_stats", usage: "message_size_stats", timeout: true, validate: prettyByDefault, run: sizeStats,
		about: "Shows how many messages of which size publishers have sent.",
		banner: func(c *call) string {
			return "Gathering message size statistics across the cluster using node " + c.node.Name + " ..."
		},
	}}
}

// sizeStats has a row for each range of sizes, with its part of all messages in percent.
func sizeStats(c *call) (result, error) {
	sizes := c.node.Broker.Counters().Sizes
	var counts [len(leveret.SizeBounds) + 1]uint64
	copy(counts[:], sizes.Upto[:])
	counts[len(leveret.SizeBounds)] = sizes.Larger
	var all uint64
	for _, n := range counts {
		all += n
	}
	r := result{listing: true}
	for i, n := range counts {
		percentage := 100 * float64(n) / float64(max(all, 1))
		r.rows = append(r.rows, row{{"Message Size", sizeRanges[i]}, {"Count", int64(n)}, {"Percentage", fmt.Sprintf("%.2f", percentage)}})
	}
	return r, nil
}
