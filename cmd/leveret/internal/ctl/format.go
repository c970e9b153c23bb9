package ctl

import "strings"

// A result is what a command that succeeded has to show.
type result struct {
	rows    []row
	listing bool // rows are to be shown, as one table
	blank   bool // an empty listing shows as an empty line, or [] in JSON

	message string // one text
	object  row    // what JSON shows instead of the message
	done    bool   // JSON wraps the message as the value of a finished operation
	raw     bool   // the message is written as it is, in every format

	save *Save
}

var formatters = map[string]func(*call, result) string{
	"": formatPlain, "table": formatPlain, "string": formatPlain, "json": formatJSON, "csv": formatCSV,
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
	if c.is("table-headers", true) && !c.is("silent", false) {
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

func formatCSV(c *call, r result) string {
	if !r.listing || len(r.rows) == 0 {
		return formatPlain(c, r)
	}
	quote := func(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
	out := quotedLine(r.rows[0], func(it item) string { return quote(it.key) })
	for _, row := range r.rows {
		out += quotedLine(row, func(it item) string { return quote(plainText(it.value)) })
	}
	return out
}

func quotedLine(r row, cell func(item) string) string {
	cells := make([]string, len(r))
	for i, it := range r {
		cells[i] = cell(it)
	}
	return strings.Join(cells, ",") + "\n"
}
