package mgmt

// A Family is a metric of Prometheus: the figures of one name, told apart by labels.
type Family struct {
	Name    string
	Type    MetricType
	Help    string
	Labels  []string // names of the labels
	Samples []Sample // none: nothing has the figure at this moment
}

// MetricType is the type of a metric in Prometheus's text format.
type MetricType string

// The types of metrics that there are.
const (
	CounterMetric   MetricType = "counter"
	GaugeMetric     MetricType = "gauge"
	HistogramMetric MetricType = "histogram"
	UntypedMetric   MetricType = "untyped"
)

// A Sample is one figure of a Family.
type Sample struct {
	Values    []string // of the labels, in their order; UTF-8
	Value     float64
	Histogram *Histogram // in place of Value, in families of that type; else nil
}

// A Histogram counts values by their size. A bucket counts those up to its bound, also those of the buckets before.
type Histogram struct {
	Bounds []float64 // of the buckets, ascending; the last, without a bound, is not among them
	Counts []uint64  // of the buckets
	Count  uint64    // of all values
	Sum    float64   // of all values
}
