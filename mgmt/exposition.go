package mgmt

import (
	"slices"
	"strconv"
	"strings"
)

// An exposition collects families, and writes them as a text in Prometheus's format.
type exposition struct {
	families []Family
	prefix   string
	wanted   func(group string) bool // which metrics to show
}

// family begins one; samples follow.
func (x *exposition) family(name string, kind MetricType, help string, labels ...string) {
	x.families = append(x.families, Family{Name: x.prefix + name, Type: kind, Help: help, Labels: labels})
}

// sample adds a value with those of its labels to the family that was begun last.
func (x *exposition) sample(value float64, labels ...string) {
	x.add(Sample{Values: labels, Value: value})
}

// add replaces what is no UTF-8 in labels: Prometheus takes nothing else.
func (x *exposition) add(s Sample) {
	for i, v := range s.Values {
		s.Values[i] = strings.ToValidUTF8(v, "\uFFFD")
	}
	last := &x.families[len(x.families)-1]
	last.Samples = append(last.Samples, s)
}

// text returns the families in Prometheus's format. A family without samples is declared all the same, as RabbitMQ does.
func (x *exposition) text() []byte {
	var w textWriter
	for _, f := range x.families {
		w = append(w, "# TYPE "+f.Name+" "+string(f.Type)+"\n# HELP "+f.Name+" "+f.Help+"\n"...)
		for _, s := range f.Samples {
			if s.Histogram != nil {
				w.histogram(f, s)
			} else {
				w.line(f.Name, f.Labels, s.Values, s.Value)
			}
		}
	}
	return w
}

// A textWriter is a text in Prometheus's format.
type textWriter []byte

func (w *textWriter) line(name string, labels, values []string, value float64) {
	out := append(*w, name...)
	for i, label := range labels {
		mark := byte(',')
		if i == 0 {
			mark = '{'
		}
		out = append(append(out, mark), label+`="`+escapeLabel.Replace(values[i])+`"`...)
	}
	if len(labels) > 0 {
		out = append(out, '}')
	}
	*w = append(strconv.AppendFloat(append(out, ' '), value, 'f', -1, 64), '\n')
}

var escapeLabel = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func (w *textWriter) histogram(f Family, s Sample) {
	h := s.Histogram
	labels := append(slices.Clone(f.Labels), "le")
	bucket := func(bound string, count uint64) {
		w.line(f.Name+"_bucket", labels, append(slices.Clone(s.Values), bound), float64(count))
	}
	for i, bound := range h.Bounds {
		bucket(strconv.FormatFloat(bound, 'f', -1, 64), h.Counts[i])
	}
	bucket("+Inf", h.Count)
	w.line(f.Name+"_count", f.Labels, s.Values, float64(h.Count))
	w.line(f.Name+"_sum", f.Labels, s.Values, h.Sum)
}

// A metric is a figure of objects of one kind.
type metric[T any] struct {
	group string // the family of /metrics/detailed
	name  string
	kind  MetricType
	help  string
	value func(T) float64
}

// A catalogue has the metrics of objects of one kind.
type catalogue[T any] struct {
	labels   []string                // their names
	values   func(*node, T) []string // of an object's labels
	metrics  []metric[T]
	unsummed string // a metric whose sum RabbitMQ declares and does not show
}

// exposeSum adds the sums over all objects.
func exposeSum[T any](x *exposition, c catalogue[T], objects []T) {
	for _, m := range c.metrics {
		if !x.wanted(m.group) {
			continue
		}
		x.family(m.name, m.kind, m.help)
		if m.name == c.unsummed {
			continue
		}
		sum := 0.0
		for _, o := range objects {
			sum += m.value(o)
		}
		x.sample(sum)
	}
}

// exposeEach adds the metrics that are wanted, for each object with its labels.
func exposeEach[T any](x *exposition, n *node, c catalogue[T], objects []T) {
	for _, m := range c.metrics {
		if !x.wanted(m.group) {
			continue
		}
		x.family(m.name, m.kind, m.help, c.labels...)
		for _, o := range objects {
			x.sample(m.value(o), c.values(n, o)...)
		}
	}
}
