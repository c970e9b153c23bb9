package leveretprom_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/leveretprom"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whoever has a registry of Prometheus's library adds the broker to it.
func ExampleNewCollector() {
	b := leveret.New()
	defer b.Close()
	registry := prometheus.NewRegistry()
	registry.MustRegister(leveretprom.NewCollector(b, leveretprom.Config{PerObject: true}))

	b.DeclareQueue("work", leveret.QueueConfig{Arguments: leveret.Table{leveret.ArgMaxLength: 1}})
	b.Publish("", "work", leveret.Message{})
	b.Publish("", "work", leveret.Message{})

	families, err := registry.Gather()
	fmt.Println(err)
	for _, f := range families {
		if f.GetName() == "rabbitmq_queue_messages_ready" || f.GetName() == "leveret_queue_messages_dropped_total" {
			fmt.Println(f.GetName(), f.GetMetric()[0].GetLabel()[0].GetValue(), f.GetMetric()[0].GetGauge().GetValue(), f.GetMetric()[0].GetCounter().GetValue())
		}
	}
	// Output:
	// <nil>
	// leveret_queue_messages_dropped_total no_dead_letter_exchange 0 1
	// rabbitmq_queue_messages_ready work 1 0
}

// busy returns a broker with something to show of every kind: traffic, deaths and losses, and names that must be escaped.
func busy(t *testing.T) *leveret.Broker {
	b := leveret.New()
	t.Cleanup(func() { b.Close() })
	for name, args := range map[string]leveret.Table{
		"q":          {leveret.ArgMaxLength: 2},
		"odd \"\\ é": {leveret.ArgQueueType: leveret.QueueTypeQuorum},
	} {
		_, err := b.DeclareQueue(name, leveret.QueueConfig{Durable: true, Arguments: args})
		require.NoError(t, err)
		for range 3 {
			_, err = b.Publish("", name, leveret.Message{Body: []byte("four")})
			require.NoError(t, err)
		}
	}
	conn, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	_, err = ch.Consume("q", leveret.ConsumeConfig{NoAck: true})
	require.NoError(t, err)
	return b
}

// parse reads a text with the parser that Prometheus's own tools use.
func parse(t *testing.T, text string) map[string]*dto.MetricFamily {
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	require.NoError(t, err)
	return families
}

func scrape(t *testing.T, b *leveret.Broker, path string) map[string]*dto.MetricFamily {
	rec := httptest.NewRecorder()
	mgmt.Handler(b).ServeHTTP(rec, httptest.NewRequest("GET", path, nil))
	require.Equal(t, 200, rec.Code)
	return parse(t, rec.Body.String())
}

// gather asks a registry that checks everything: that metrics are as they were described, and are there once.
func gather(t *testing.T, c prometheus.Collector) map[string]*dto.MetricFamily {
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(c))
	families, err := registry.Gather()
	require.NoError(t, err)
	var text bytes.Buffer
	for _, f := range families {
		_, err := expfmt.MetricFamilyToText(&text, f)
		require.NoError(t, err)
	}
	return parse(t, text.String())
}

// The collector has what the paths of the API show, each figure with the same type and labels.
func TestCollectorAgreesWithTheAPI(t *testing.T) {
	for path, cfg := range map[string]leveretprom.Config{"/metrics": {}, "/metrics/per-object": {PerObject: true}} {
		t.Run(path, func(t *testing.T) {
			b := busy(t)
			api, collected := scrape(t, b, path), gather(t, leveretprom.NewCollector(b, cfg))
			shown := maps.Clone(api)
			maps.DeleteFunc(shown, func(_ string, f *dto.MetricFamily) bool { return len(f.GetMetric()) == 0 })
			assert.Equal(t, slices.Sorted(maps.Keys(shown)), slices.Sorted(maps.Keys(collected)))
			for name, f := range collected {
				assert.Equal(t, api[name].GetType(), f.GetType(), name)
				assert.Equal(t, samples(api[name]), samples(f), name)
			}
		})
	}
}

// A name that is no UTF-8 does not keep the others from being collected. It shows as in the text of the API.
func TestCollectorOfForeignNames(t *testing.T) {
	b := leveret.New()
	t.Cleanup(func() { b.Close() })
	_, err := b.DeclareQueue("\xff", leveret.QueueConfig{})
	require.NoError(t, err)
	metrics := gather(t, leveretprom.NewCollector(b, leveretprom.Config{PerObject: true}))["rabbitmq_queue_messages"]
	assert.Equal(t, samples(scrape(t, b, "/metrics/per-object")["rabbitmq_queue_messages"]), samples(metrics))
}

// changing are figures of the process or of the scrape itself.
var changing = []string{"rabbitmq_process_", "rabbitmq_erlang_uptime", "rabbitmq_disk_space_available_bytes", "rabbitmq_identity_info"}

// samples returns the values of a family by their labels, or only the labels of what is not the same twice.
func samples(f *dto.MetricFamily) map[string]string {
	all := map[string]string{}
	for _, m := range f.GetMetric() {
		labels := []string{}
		for _, l := range m.GetLabel() {
			if l.GetName() != "rabbitmq_cluster_permanent_id" {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
		}
		slices.Sort(labels)
		m.Label = nil
		value := m.String()
		if slices.ContainsFunc(changing, func(prefix string) bool { return strings.HasPrefix(f.GetName(), prefix) }) {
			value = ""
		}
		all[strings.Join(labels, ",")] = value
	}
	return all
}

// The text of each path is what Prometheus's parser reads.
func TestTextFormat(t *testing.T) {
	b := busy(t)
	for _, path := range []string{"/metrics", "/metrics/per-object",
		"/metrics/detailed?family=queue_coarse_metrics&family=queue_metrics&family=vhost_status&family=exchange_names&family=queue_loss_metrics"} {
		assert.Greater(t, len(scrape(t, b, path)), 10, path)
	}
	queues := scrape(t, b, "/metrics/per-object")["rabbitmq_queue_messages"].GetMetric()
	var names []string
	for _, m := range queues {
		names = append(names, m.GetLabel()[1].GetValue())
	}
	assert.ElementsMatch(t, []string{"q", "odd \"\\ é"}, names)
	sizes := scrape(t, b, "/metrics")["rabbitmq_message_size_bytes"].GetMetric()[0].GetHistogram()
	assert.EqualValues(t, 6, sizes.GetSampleCount())
	assert.EqualValues(t, 24, sizes.GetSampleSum())
}

// Counters never go down, whatever is deleted.
func TestCountersOnlyGrow(t *testing.T) {
	b := busy(t)
	c := leveretprom.NewCollector(b, leveretprom.Config{})
	before := counters(gather(t, c))
	require.Greater(t, len(before), 50)
	_, err := b.DeleteQueue("q", leveret.DeleteConfig{})
	require.NoError(t, err)
	after := counters(gather(t, c))
	for name, value := range before {
		if isGlobal(name) {
			assert.GreaterOrEqual(t, after[name], value, name)
		}
	}
}

// isGlobal tells a counter of the broker from the sum of those of objects that are there, which RabbitMQ's sums are, too.
func isGlobal(name string) bool {
	return strings.HasPrefix(name, "rabbitmq_global_") || strings.HasPrefix(name, "leveret_") || strings.HasPrefix(name, "rabbitmq_queues_")
}

func counters(families map[string]*dto.MetricFamily) map[string]float64 {
	all := map[string]float64{}
	for name, f := range families {
		if f.GetType() == dto.MetricType_COUNTER {
			for _, m := range f.GetMetric() {
				all[name+fmt.Sprint(m.GetLabel())] = m.GetCounter().GetValue()
			}
		}
	}
	return all
}

// A linter of names finds nothing but RabbitMQ's own habits.
func TestLint(t *testing.T) {
	problems, err := testutil.CollectAndLint(leveretprom.NewCollector(busy(t), leveretprom.Config{PerObject: true}))
	require.NoError(t, err)
	for _, p := range problems {
		assert.False(t, strings.HasPrefix(p.Metric, "leveret_"), "%s: %s", p.Metric, p.Text)
	}
}
