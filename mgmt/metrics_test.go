package mgmt_test

import (
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A scrape is what an exposition says: the type of each family, and the value of each sample by its name and labels.
type scrape struct {
	kinds  map[string]string
	values map[string]float64
}

var sampleLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)((?:\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\\\|\\"|\\n)*",?)*\})?) (\S+)$`)

// parse reads Prometheus's text format strictly: each family is declared once, before its samples, and each sample is
// there once.
func parse(t *testing.T, text string) scrape {
	s := scrape{map[string]string{}, map[string]float64{}}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if declared, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(declared, " ")
			require.NotContains(t, s.kinds, name)
			s.kinds[name] = kind
			continue
		}
		if strings.HasPrefix(line, "# HELP ") || line == "" {
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		require.NotNil(t, m, line)
		require.NotContains(t, s.values, m[1]+m[2])
		value, err := strconv.ParseFloat(m[3], 64)
		require.NoError(t, err, line)
		s.values[m[1]+m[2]] = value
	}
	return s
}

func (d direct) scrape(path string) scrape {
	rec := httptest.NewRecorder()
	d.ServeHTTP(rec, httptest.NewRequest("GET", path, nil))
	require.Equal(d.t, 200, rec.Code)
	require.True(d.t, strings.HasPrefix(rec.Header().Get("Content-Type"), "text/plain; version=0.0.4"))
	return parse(d.t, rec.Body.String())
}

// Every name is one of RabbitMQ's, with its type, or begins with leveret.
func TestMetricNames(t *testing.T) {
	recorded, err := os.ReadFile("testdata/4.3.6/metrics.txt")
	require.NoError(t, err)
	theirs := map[string]string{"erlang_uptime_seconds": "gauge"}
	for line := range strings.Lines(string(recorded)) {
		if f := strings.Fields(line); len(f) == 4 && f[1] == "TYPE" {
			theirs[f[2]] = f[3]
		}
	}
	require.Greater(t, len(theirs), 80)
	b := leveret.New()
	defer b.Close()
	ours := direct{t, mgmt.Handler(b)}.scrape("/metrics")
	require.Greater(t, len(ours.kinds), 50)
	for name, kind := range ours.kinds {
		if !strings.HasPrefix(name, "leveret_") {
			assert.Equal(t, theirs[name], kind, name)
		}
	}
}

func TestMetricValues(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	api := direct{t, mgmt.Handler(b, mgmt.Config{NodeName: "n@h"})}
	const odd = `a"b\c`
	for _, name := range []string{"q", odd} {
		_, err := b.DeclareQueue(name, leveret.QueueConfig{Arguments: leveret.Table{leveret.ArgMaxLength: 2}})
		require.NoError(t, err)
	}
	for range 3 {
		_, err := b.Publish("", "q", leveret.Message{Body: []byte("four")})
		require.NoError(t, err)
	}
	_, err := b.Publish("", "none", leveret.Message{})
	require.NoError(t, err)
	sums := api.scrape("/metrics").values
	for name, want := range map[string]float64{
		"rabbitmq_queues":                                                                          2,
		"rabbitmq_queues_created_total":                                                            2,
		"rabbitmq_queue_messages_ready":                                                            2,
		"rabbitmq_queue_messages_bytes":                                                            8,
		`rabbitmq_global_messages_received_total{protocol="amqp091"}`:                              4,
		`rabbitmq_global_messages_routed_total{protocol="amqp091"}`:                                3,
		`rabbitmq_global_messages_unroutable_dropped_total{protocol="amqp091"}`:                    1,
		`rabbitmq_global_messages_dead_lettered_maxlen_total{dead_letter_strategy="disabled"}`:     1,
		`rabbitmq_global_messages_dead_lettered_maxlen_total{dead_letter_strategy="at_most_once"}`: 0,
		`leveret_messages_dropped_total{cause="unroutable"}`:                                       1,
		`leveret_messages_dropped_total{cause="no_dead_letter_exchange"}`:                          1,
	} {
		got, ok := sums[name]
		assert.True(t, ok, name)
		assert.Equal(t, want, got, name)
	}
	objects := api.scrape("/metrics/per-object").values
	assert.Equal(t, 2.0, objects[`rabbitmq_queue_messages{vhost="/",queue="q"}`])
	assert.Contains(t, objects, `rabbitmq_queue_messages{vhost="/",queue="a\"b\\c"}`)
	detailed := api.scrape("/metrics/detailed?family=queue_coarse_metrics&vhost=/")
	assert.Equal(t, 2.0, detailed.values[`rabbitmq_detailed_queue_messages_ready{vhost="/",queue="q"}`])
	assert.NotContains(t, detailed.kinds, "rabbitmq_detailed_queue_consumers", "another family")
	assert.NotContains(t, api.scrape("/metrics/detailed?family=queue_coarse_metrics&vhost=none").values, `rabbitmq_detailed_queue_messages_ready{vhost="/",queue="q"}`)
}
