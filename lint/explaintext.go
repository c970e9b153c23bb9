package lint

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/leveretmq/leveret"
)

// String returns the explanation as lines for a person.
func (e *Explanation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "queue '%s' in virtual host '%s', %s\n\n", e.Queue, e.VHost, e.Type)
	e.writeSettings(&b)
	for _, w := range e.Ways {
		key := "key '" + w.Key + "'"
		switch {
		case w.Example:
			key = "a key such as '" + w.Key + "'"
		case w.Key == "" && !w.EmptyKey:
			key = "any key"
		}
		fmt.Fprintf(&b, "\nA message that comes with %s and dies:\n", key)
		for _, s := range w.Steps {
			fmt.Fprintf(&b, "  %s\n", s)
		}
	}
	return b.String()
}

// writeSettings writes a table.
func (e *Explanation) writeSettings(b *strings.Builder) {
	table := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "setting\tvalue\tfrom")
	for _, s := range e.Settings {
		from := string(s.Source)
		switch s.Source {
		case leveret.SourcePolicy:
			from += " '" + e.Policy + "'"
		case leveret.SourceOperatorPolicy:
			from += " '" + e.OperatorPolicy + "'"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", s.Key, valueText(s.Value), from)
	}
	_ = table.Flush() // a strings.Builder takes everything
}

// valueText is a setting's value. The empty text, which as an exchange means the default exchange, is shown in quotes.
func valueText(v any) string {
	switch v {
	case nil:
		return "none"
	case "":
		return `""`
	}
	return fmt.Sprint(v)
}

// String returns the step as a line.
func (s Step) String() string {
	exchange := "the default exchange"
	if s.Exchange != "" {
		exchange = "exchange '" + s.Exchange + "'"
	}
	key := "its key"
	if s.Key != "" || s.EmptyKey {
		key = "key '" + s.Key + "'"
	}
	end := "lost"
	if s.Kept {
		end = "kept in the queue"
	}
	way := fmt.Sprintf("%s → %s with %s → ", s.Queue, exchange, key)
	switch s.Lost {
	case "":
		return way + strings.Join(s.Queues, ", ")
	case leveret.CauseNoDeadLetterExchange:
		return s.Queue + " has no dead-letter exchange: what dies here is lost"
	case leveret.CauseExchangeMissing:
		return s.Queue + " → " + exchange + ", which is not there: " + end
	case leveret.CauseCycle:
		return way + s.Target + ", where it was before: " + end + ", unless a consumer rejected it on the way"
	case leveret.CauseDeadLetterUnroutable:
		switch {
		case s.ByKey && s.Key == "" && !s.EmptyKey:
			return way + "a queue, if one is bound with that key"
		case s.ByKey:
			return way + "no queue with this key: " + end
		}
		return way + "no queue: " + end
	}
	return way + "lost: " + string(s.Lost)
}
