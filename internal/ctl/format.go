package ctl

import (
	"strings"

	"github.com/leveretmq/leveret/internal/erl"
)

// A result is what a command that succeeded has to show.
type result struct {
	rows    []row
	listing bool  // rows are to be shown, as one table
	bare    bool  // a table has no header
	blank   bool  // an empty listing shows as an empty line, or [] in JSON
	groups  []int // how many rows each belong together, for Erlang; nil: none do

	message string // one text
	object  row    // what JSON shows instead of the message
	report  bool   // Erlang, too, shows the object
	done    bool   // JSON wraps the message as the value of a finished operation
	raw     bool   // the message is written as it is, in every format

	save *Save
}

var formatters = map[string]func(*call, result) string{
	"": formatPlain, "table": formatPlain, "string": formatPlain, "json": formatJSON, "csv": formatCSV,
	"erlang": formatErlang, "pretty_table": formatPretty,
}

// machineReadable formats have no banner before them.
func machineReadable(formatter string) bool { return formatter == "json" || formatter == "csv" }

func formatPlain(c *call, r result) string {
	switch {
	case r.raw:
		return r.message
	case !r.listing:
		return lines(r.message)
	case len(r.rows) == 0 && r.blank:
		return "\n"
	case len(r.rows) == 0:
		return ""
	}
	var b strings.Builder
	if !r.bare && c.is("table-headers", true) && !c.is("silent", false) {
		b.WriteString(tabbed(r.rows[0], func(it item) string { return it.key }))
	}
	for _, row := range r.rows {
		b.WriteString(tabbed(row, func(it item) string { return plainText(it.value) }))
	}
	return b.String()
}

func tabbed(r row, cell func(item) string) string {
	cells := make([]string, len(r))
	for i, it := range r {
		cells[i] = cell(it)
	}
	return strings.Join(cells, "\t") + "\n"
}

func lines(s string) string {
	if s == "" {
		return ""
	}
	return s + "\n"
}

// formatJSON writes a listing as an array with one object on each line.
func formatJSON(c *call, r result) string {
	switch {
	case r.raw:
		return r.message
	case r.listing && len(r.rows) == 0 && r.blank:
		return "[]\n"
	case r.listing:
		var b strings.Builder
		b.WriteString("[\n")
		for i, row := range r.rows {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(marshal(row) + "\n")
		}
		return b.String() + "]\n"
	case r.object != nil:
		return marshal(r.object) + "\n"
	case r.message == "":
		return marshal(row{{"node", c.node.Name}, {"result", "ok"}}) + "\n"
	case r.done:
		return marshal(row{{"node", c.node.Name}, {"value", r.message}, {"result", "ok"}}) + "\n"
	}
	return marshal(row{{"message", r.message}}) + "\n"
}

// formatErlang writes a term.
func formatErlang(_ *call, r result) string {
	switch {
	case r.raw:
		return r.message
	case r.report:
		return erl.Format(pairs(r.object, reportTerm), 0) + "\n"
	case r.listing:
		return erl.Format(rowTerms(r), 0) + "\n"
	case r.message == "":
		return ""
	}
	return erl.Format(erl.Latin1(r.message), 0) + "\n"
}

func rowTerms(r result) erl.List {
	list := erl.List{}
	for _, row := range r.rows {
		list = append(list, pairs(row, valueTerm))
	}
	if r.groups == nil {
		return list
	}
	groups := erl.List{}
	for _, n := range r.groups {
		groups = append(groups, list[:n:n])
		list = list[n:]
	}
	return groups
}

// formatCSV quotes every cell. rabbitmqctl fails when one is neither a text nor a number; here it is what a table
// shows.
func formatCSV(c *call, r result) string {
	switch {
	case r.listing && len(r.rows) == 0 && r.blank:
		return "\r\n\r\n\n"
	case !r.listing || len(r.rows) == 0:
		return formatPlain(c, r)
	}
	quote := func(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
	out := quotedLine(r.rows[0], func(it item) string { return quote(it.key) })
	for _, row := range r.rows {
		out += quotedLine(row, func(it item) string { return quote(csvText(it.value)) })
	}
	return out
}

// csvText is a cell's text. An empty list is an empty text.
func csvText(v any) string {
	if list, ok := valueTerm(v).(erl.List); ok && len(list) == 0 {
		return ""
	}
	return plainText(v)
}

func quotedLine(r row, cell func(item) string) string {
	cells := make([]string, len(r))
	for i, it := range r {
		cells[i] = cell(it)
	}
	return strings.Join(cells, ",") + "\n"
}
