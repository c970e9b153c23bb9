package mgmt

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/leveretmq/leveret"
)

// The types of metrics.
const (
	counter   = "counter"
	gauge     = "gauge"
	histogram = "histogram"
	untyped   = "untyped"
)

// An exposition is a text in Prometheus's format. The samples of a family stand behind it.
type exposition struct {
	out    []byte
	prefix string
	name   string                  // of the family at hand
	wanted func(group string) bool // which metrics of objects to show
}

func (x *exposition) family(name, kind, help string) { x.begin(x.prefix+name, kind, help) }

func (x *exposition) begin(name, kind, help string) {
	x.name = name
	x.out = append(x.out, "# TYPE "+name+" "+kind+"\n# HELP "+name+" "+help+"\n"...)
}

// sample adds a value with labels: names and values in turn.
func (x *exposition) sample(value float64, labels ...string) {
	x.out = append(x.out, x.name...)
	for i := 0; i < len(labels); i += 2 {
		mark := byte(',')
		if i == 0 {
			mark = '{'
		}
		x.out = append(append(x.out, mark), labels[i]+`="`+escapeLabel.Replace(strings.ToValidUTF8(labels[i+1], "\uFFFD"))+`"`...)
	}
	if len(labels) > 0 {
		x.out = append(x.out, '}')
	}
	x.out = append(strconv.AppendFloat(append(x.out, ' '), value, 'f', -1, 64), '\n')
}

var escapeLabel = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// A metric is a figure of objects of one kind.
type metric[T any] struct {
	group            string // the family of /metrics/detailed
	name, kind, help string
	value            func(T) float64
}

// A catalogue has the metrics of objects of one kind.
type catalogue[T any] struct {
	labels  func(*node, T) []string // of an object
	metrics []metric[T]
}

// exposeSum adds the sums over all objects.
func exposeSum[T any](x *exposition, c catalogue[T], objects []T) {
	for _, m := range c.metrics {
		sum := 0.0
		for _, o := range objects {
			sum += m.value(o)
		}
		x.family(m.name, m.kind, m.help)
		x.sample(sum)
	}
}

// exposeEach adds the metrics that are wanted, for each object with its labels.
func exposeEach[T any](x *exposition, n *node, c catalogue[T], objects []T) {
	for _, m := range c.metrics {
		if !x.wanted(m.group) {
			continue
		}
		x.family(m.name, m.kind, m.help)
		for _, o := range objects {
			x.sample(m.value(o), c.labels(n, o)...)
		}
	}
}

// exposeLosses adds what was lost, by cause. RabbitMQ does not count that.
func exposeLosses(x *exposition, d leveret.DropCounters) {
	x.begin("leveret_messages_dropped_total", counter, "Messages that left the broker without having been acknowledged, by cause")
	data, _ := json.Marshal(d) // numbers only
	var byCause map[string]float64
	_ = json.Unmarshal(data, &byCause)
	for _, cause := range slices.Sorted(maps.Keys(byCause)) {
		x.sample(byCause[cause], "cause", cause)
	}
}
