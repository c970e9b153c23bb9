// Report writes docs/performance.md and its plots from what run.sh has measured.
//
//	go run ./report [-results DIR] [-docs DIR]
//
// BENCH_RABBIT_URL, as run.sh has it, tells which RabbitMQ was measured.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/leveretmq/leveret/bench/measured"
)

func main() {
	results := flag.String("results", "results", "where the measurements are")
	docs := flag.String("docs", "../docs", "where the report goes")
	flag.Parse()
	if err := report(*results, *docs); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A page is the report while it is written.
type page struct {
	*measured.Report
	bytes.Buffer
	results, docs string
	err           error // the first one
}

func report(results, docs string) error {
	files, err := filepath.Glob(filepath.Join(results, "*.txt"))
	if err != nil {
		return err
	}
	r, err := measured.ReadFiles(slices.DeleteFunc(files, func(f string) bool { return filepath.Base(f) == "errors.txt" }))
	if err != nil {
		return err
	}
	if len(r.All) == 0 {
		return fmt.Errorf("no measurements in %s: run.sh makes them", results)
	}
	p := &page{Report: r, results: results, docs: docs}
	p.text(head)
	p.machine()
	p.inProcess()
	p.wire()
	p.latency()
	p.durable()
	p.costs()
	p.contention()
	p.curves()
	p.bystanders()
	if p.err != nil {
		return p.err
	}
	return os.WriteFile(filepath.Join(docs, "performance.md"), append(bytes.TrimSpace(p.Bytes()), '\n'), 0o644)
}

const head = `# Performance

This page is written by one command, which measures everything in one run:

    cd bench && BENCH_RABBIT_URL=amqp://… BENCH_RABBIT_PID=… ./report.sh 3

The number is how often everything is measured; the runs are interleaved. Figures are medians of the runs, and a ratio is the median of the ratios of
the same run. Every machine has other figures; ratios carry over better. Without a RabbitMQ its rows are missing.`

// text adds a paragraph.
func (p *page) text(s string) { fmt.Fprintf(p, "%s\n\n", s) }

// section adds a title and what it is about, if there is anything to show: write returns false if there is not.
func (p *page) section(title, about string, write func(w io.Writer) bool) {
	var body bytes.Buffer
	if !write(&body) {
		return
	}
	p.text("## " + title)
	p.text(about)
	p.text(strings.TrimSpace(body.String()))
}

func (p *page) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// has reports whether a benchmark is among the measurements.
func (p *page) has(benchmark string) bool {
	return slices.ContainsFunc(p.All, func(s *measured.Series) bool { return strings.HasPrefix(s.Name, benchmark+"/") })
}

// each calls f with the rest of the name of every series of a benchmark and unit, without its GOMAXPROCS.
func (p *page) each(benchmark, unit string, f func(name string, s *measured.Series)) {
	for _, s := range p.All {
		if name, ok := strings.CutPrefix(s.Case(), benchmark+"/"); ok && s.Unit == unit {
			f(name, s)
		}
	}
}

func (p *page) inProcess() {
	p.section("In one process",
		"Publish, receive, acknowledge: ns a message, and in parentheses how many hand-overs of a pointer through a Go channel that is. "+
			"`single` is one goroutine, `pipe` a producer and a consumer with 256 messages in flight, `par8` eight such pairs on eight queues, `fan10` one message for ten queues, "+
			"`dlx` a rejection, a dead letter and its acknowledgement. `chan-copy` also copies the body. NATS core has neither queues nor acknowledgements; `js` is JetStream in memory, "+
			"with publishing that waits for each answer (`sync`) and with publishing that does not (`async`). An empty cell is what a system cannot do.",
		func(w io.Writer) bool { p.Tables(w, "Cycle"); return p.has("BenchmarkCycle") })
	p.section("Routing by topic", "One message by a key that matches one of many bindings, received and acknowledged: ns a message.",
		func(w io.Writer) bool { p.Tables(w, "Topic"); return p.has("BenchmarkTopic") })
	p.section("Expiry", "A million messages of 100 bytes with a time to live: ns a message.", func(w io.Writer) bool {
		fmt.Fprint(w, "| | to set | to fire |\n|---|---:|---:|\n")
		any := false
		p.each("BenchmarkTTL", "set-ns", func(name string, s *measured.Series) {
			fire := p.Of("BenchmarkTTL/"+name, "fire-ns")
			if fire == nil {
				return
			}
			any = true
			fmt.Fprintf(w, "| %s | %.0f | %.0f |\n", name, s.Median(), fire.Median())
		})
		return any
	})
}

func (p *page) wire() {
	p.section("Over the wire",
		"The same program, with the unmodified amqp091-go, against `leveret serve`, RabbitMQ, and two servers that only tell what the client can do: the null server confirms and "+
			"delivers and keeps nothing, and the keeping one keeps what is published until it is delivered. `tcp` is loopback, `pipe` a connection in memory.",
		func(w io.Writer) bool { p.Servers(w); return p.has("BenchmarkAMQP") })
}

func (p *page) durable() {
	p.section("Durable publishing",
		"Persistent messages in a durable queue, confirmed when RabbitMQ confirms them (`--sync as-rabbitmq`), beside RabbitMQ with its data on the same disk.",
		func(w io.Writer) bool {
			p.Durable(w)
			return p.Of("BenchmarkDurable", "msg/s") != nil || p.has("BenchmarkDurable")
		})
}

// costs tells what headers, properties and dead letters cost beyond a plain cycle of the same run.
func (p *page) costs() {
	plain := p.Of("BenchmarkHeaders/values=none", "ns/op")
	p.section("What more costs", "Each is a cycle of publish, `Queue.Get` and acknowledge on one goroutine, in multiples of a plain one.", func(w io.Writer) bool {
		if plain == nil {
			return false
		}
		fmt.Fprint(w, "| | ns | times a plain cycle | octets | allocations |\n|---|---:|---:|---:|---:|\n")
		for _, row := range []struct{ title, benchmark string }{
			{"plain", "BenchmarkHeaders/values=none"},
			{"a consumer's handler in place of `Queue.Get`", "BenchmarkConsumer/impl=handler"},
			{"a handler, with `Reuse`", "BenchmarkConsumer/impl=handler-reuse"},
			{"a loop over `Deliveries`", "BenchmarkConsumer/impl=deliveries"},
			{"a loop over `Deliveries`, with `Reuse`", "BenchmarkConsumer/impl=deliveries-reuse"},
			{"three headers, read", "BenchmarkHeaders/values=canonical"},
			{"three headers of other Go types, read", "BenchmarkHeaders/values=int"},
			{"the expiration property", "BenchmarkHeaders/values=expiration"},
			{"a dead letter, its headers not read", "BenchmarkReject/headers=unread"},
			{"a dead letter, its history read as `Deaths`", "BenchmarkReject/headers=typed"},
			{"a dead letter, its headers read as a table", "BenchmarkReject/headers=table"},
		} {
			s := p.Of(row.benchmark, "ns/op")
			times, ok := measured.Over(s, plain)
			if !ok {
				continue
			}
			octets, allocations := p.Of(row.benchmark, "B/op"), p.Of(row.benchmark, "allocs/op")
			fmt.Fprintf(w, "| %s | %.0f | %.2f | %.0f | %.0f |\n", row.title, s.Median(), times, octets.Median(), allocations.Median())
		}
		return true
	})
}

func (p *page) bystanders() {
	p.section("The longest that another client waits",
		"While one client does what is hard - a million messages purged, a hundred thousand consumers that leave at once, a chain of 20,000 dead-letter queues - another client of the same virtual host "+
			"publishes, receives and acknowledges. The longest that it waited in each case, in ms; a run's longest wait on an idle machine is a garbage collection or the scheduler's.",
		func(w io.Writer) bool {
			fmt.Fprint(w, "| | ms |\n|---|---:|\n")
			any := false
			p.each("BenchmarkBystander", "max-wait-ms", func(name string, s *measured.Series) {
				any = true
				fmt.Fprintf(w, "| %s | %.1f |\n", name, s.Median())
			})
			return any
		})
}
