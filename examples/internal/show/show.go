// Package show prints queues and runs programs, so that the examples can be about something else.
package show

import (
	"fmt"
	"io"
	"log"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/leveretmq/leveret"
)

// Main runs a program that writes to standard output.
func Main(run func(io.Writer) error) {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// Queue prints the messages that wait in a queue, oldest first, each with its dead-letter history,
// most recent death first.
func Queue(w io.Writer, q *leveret.Queue) {
	messages := q.Messages()
	fmt.Fprintf(w, "%s: %d waiting\n", q.Name(), len(messages))
	if len(messages) == 0 {
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	heads := "  message\tcame by"
	if slices.ContainsFunc(messages, func(m leveret.MessageInfo) bool { return len(m.Deaths) > 0 }) {
		heads += "\tdied in\tbecause\ttimes\tfirst at\thaving come by"
	}
	fmt.Fprintln(t, heads)
	for _, m := range messages {
		first := fmt.Sprintf("  %s\t%s", m.Body, route(m.Exchange, m.RoutingKey))
		if len(m.Deaths) == 0 {
			fmt.Fprintln(t, first)
		}
		for _, d := range m.Deaths {
			fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\t%s\n", first, d.Queue, d.Reason, d.Count, Clock(d.Time),
				route(d.Exchange, d.RoutingKeys...))
			first = "  \t"
		}
	}
	t.Flush()
}

// Clock formats a time of day.
func Clock(t time.Time) string { return t.UTC().Format("15:04:05") }

func route(exchange string, keys ...string) string {
	if exchange == "" {
		exchange = "(default)"
	}
	return exchange + " " + strings.Join(keys, ",")
}
