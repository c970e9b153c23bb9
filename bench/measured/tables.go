package measured

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Servers prints a row for each case of the AMQP benchmarks: how leveret does beside RabbitMQ and the null servers.
func (r *Report) Servers(w io.Writer) {
	fmt.Fprint(w, "| | times RabbitMQ's throughput | the null server's | times the null server's throughput | times the keeping one's |"+
		" RabbitMQ's CPU time for one of leveret's | for one of the null server's |\n|---|---:|---:|---:|---:|---:|---:|\n")
	for _, s := range r.All {
		name, of, ok := strings.Cut(s.Name, "/impl=leveret")
		if !ok || !strings.HasPrefix(name, "BenchmarkAMQP/") || of != "" && of[0] != '-' || s.Unit != "ns/op" {
			continue
		}
		of = Impl.FindStringSubmatch(s.Name)[2]
		get := func(kind, unit string) *Series { return r.Get(name+"/impl="+kind+of, unit) }
		fmt.Fprintf(w, "| %s |", words(strings.TrimPrefix(name, "BenchmarkAMQP/")))
		printRatios(w, [][2]*Series{
			{get("rabbit", "ns/op"), s},
			{get("rabbit", "ns/op"), get("null", "ns/op")},
			{get("null", "ns/op"), s},
			{get("keep", "ns/op"), s},
			{get("rabbit", "server-cpu-ns"), get("leveret", "server-cpu-ns")},
			{get("rabbit", "server-cpu-ns"), get("null", "server-cpu-ns")},
		})
	}
}

// words is a benchmark's name as a reader says it.
func words(name string) string { return strings.NewReplacer("/", " ", "=", " ").Replace(name) }

// printRatios ends a row with a cell for each pair. The cell is empty if the run has not measured both.
func printRatios(w io.Writer, pairs [][2]*Series) {
	for _, p := range pairs {
		if x, ok := Over(p[0], p[1]); ok {
			fmt.Fprintf(w, " %.2f", x)
		}
		fmt.Fprint(w, " |")
	}
	fmt.Fprintln(w)
}

// Durable prints a row for each case of durable publishing: how leveret does beside RabbitMQ, and beside memory.
func (r *Report) Durable(w io.Writer) {
	fmt.Fprint(w, "| | messages a second | times RabbitMQ's | times those of memory | RabbitMQ's CPU time for one of leveret's | RabbitMQ's p99 for one of leveret's |\n"+
		"|---|---:|---:|---:|---:|---:|\n")
	for _, s := range r.All {
		name, procs, ok := strings.Cut(strings.TrimPrefix(s.Name, "BenchmarkDurable/"), "/impl=leveret")
		if !ok || s.Unit != "msg/s" || !strings.HasPrefix(s.Name, "BenchmarkDurable/") {
			continue
		}
		get := func(kind, unit string) *Series {
			return r.Get("BenchmarkDurable/"+name+"/impl="+kind+procs, unit)
		}
		fmt.Fprintf(w, "| %s | %.0f |", words(name), s.Median())
		printRatios(w, [][2]*Series{
			{s, get("rabbit", "msg/s")},
			{s, get("memory", "msg/s")},
			{get("rabbit", "server-cpu-ns"), get("leveret", "server-cpu-ns")},
			{get("rabbit", "p99-ns"), get("leveret", "p99-ns")},
		})
	}
}

// List prints a line for each benchmark and unit.
func (r *Report) List(w io.Writer) {
	for _, s := range r.All {
		text := ""
		if x, ok := r.Ratio(s); ok {
			text = fmt.Sprintf("%8.2fx", x)
		}
		fmt.Fprintf(w, "%-64s %-14s n=%d median %12.4g  [%.4g … %.4g] %s\n", s.Name, s.Unit, len(s.Values),
			s.Median(), slices.Min(s.Values), slices.Max(s.Values), text)
	}
}

// A table has a row an implementation and a column a case.
type table struct {
	title      string
	rows, cols []string
	cells      map[[2]string]string
}

// Tables prints a table for each benchmark that compares implementations and that is among the named ones, all if none is named: times
// in ns, and ratios to the anchor.
func (r *Report) Tables(w io.Writer, named ...string) {
	var all []*table
	byTitle := map[string]*table{}
	for _, s := range r.All {
		m := Impl.FindStringSubmatch(s.Name)
		if m == nil || s.Unit != "ns/op" || s.Median() == 0 {
			continue
		}
		title, rest, _ := strings.Cut(strings.TrimPrefix(s.Name, "Benchmark"), "/")
		if len(named) > 0 && !slices.Contains(named, title) {
			continue
		}
		t := byTitle[title]
		if t == nil {
			t = &table{title: title, cells: map[[2]string]string{}}
			byTitle[title] = t
			all = append(all, t)
		}
		cell := fmt.Sprintf("%.0f", s.Median())
		if x, ok := r.Ratio(s); ok {
			cell += fmt.Sprintf(" (%.1fx)", x)
		}
		t.put(m[1], column(rest, m[2]), cell)
	}
	for _, t := range all {
		if len(named) != 1 {
			fmt.Fprintf(w, "### %s\n\n", t.title)
		}
		t.print(w)
	}
}

// column is the case that the rest of a name says.
func column(rest, procs string) string {
	words := strings.FieldsFunc(Impl.ReplaceAllString(rest, "$3"), func(r rune) bool { return r == '/' })
	if procs == "" {
		procs = "-1"
	}
	return strings.Join(append(words, "cpus="+procs[1:]), " ")
}

func (t *table) put(row, col, cell string) {
	if !slices.Contains(t.rows, row) {
		t.rows = append(t.rows, row)
	}
	if !slices.Contains(t.cols, col) {
		t.cols = append(t.cols, col)
	}
	t.cells[[2]string{row, col}] = cell
}

func (t *table) print(w io.Writer) {
	fmt.Fprint(w, "| |")
	for _, c := range t.cols {
		fmt.Fprintf(w, " %s |", c)
	}
	fmt.Fprintf(w, "\n|---|%s\n", strings.Repeat("---:|", len(t.cols)))
	for _, row := range t.rows {
		fmt.Fprintf(w, "| %s |", row)
		for _, c := range t.cols {
			fmt.Fprintf(w, " %s |", t.cells[[2]string{row, c}])
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
}
