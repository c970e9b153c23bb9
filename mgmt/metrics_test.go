package mgmt_test

import (
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
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

// Every name is one of RabbitMQ's, with its type and the names of its labels, or begins with leveret.
func TestMetricNames(t *testing.T) {
	recorded, err := os.ReadFile("testdata/4.3.6/metrics.txt")
	require.NoError(t, err)
	theirs := parse(t, string(recorded))
	theirs.kinds["rabbitmq_erlang_uptime_seconds"] = "gauge" // the recording is without the runtime
	theirs.values["rabbitmq_erlang_uptime_seconds"] = 1
	require.Greater(t, len(theirs.kinds), 80)
	b := leveret.New()
	defer b.Close()
	ours := direct{t, mgmt.Handler(b)}.scrape("/metrics")
	require.Greater(t, len(ours.kinds), 50)
	for name, kind := range ours.kinds {
		if !strings.HasPrefix(name, "leveret_") {
			assert.Equal(t, theirs.kinds[name], kind, name)
		}
	}
	labels := theirs.labels()
	for name, own := range ours.labels() {
		if slices.Contains(notByType, name) {
			own = "queue_type," + own
		}
		if !strings.HasPrefix(name, "leveret_") {
			assert.Equal(t, labels[name], own, name)
		}
	}
}

// notByType are the deaths that the engine does not count by type of queue.
var notByType = strings.Fields(`rabbitmq_global_messages_dead_lettered_rejected_total
	rabbitmq_global_messages_dead_lettered_expired_total rabbitmq_global_messages_dead_lettered_maxlen_total`)

// notThere are RabbitMQ's metrics of a queue for what leveret has not: processes, a disk, streams, counts by exchange and queue, and
// what would need a look at each message.
var notThere = strings.Fields(`queue_process_reductions_total queue_process_memory_bytes queue_disk_reads_total queue_disk_writes_total
	queue_index_read_ops_total queue_index_write_ops_total queue_exchange_messages_published_total
	queue_messages_persistent queue_messages_persistent_bytes queue_head_message_timestamp stream_segments`)

// What RabbitMQ shows for a queue is there with its type and labels, but for what leveret has not.
func TestMetricsOfAQueue(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	v, err := b.CreateVHost("shop")
	require.NoError(t, err)
	_, err = v.DeclareQueue("orders", leveret.QueueConfig{})
	require.NoError(t, err)
	for file, path := range map[string]string{
		"metrics-per-object.txt": "/metrics/per-object",
		"metrics-detailed.txt":   "/metrics/detailed?vhost=shop&family=queue_coarse_metrics&family=queue_metrics&family=queue_consumer_count&family=queue_delivery_metrics",
	} {
		recorded, err := os.ReadFile("testdata/4.3.6/" + file)
		require.NoError(t, err)
		theirs, ours := parse(t, string(recorded)), direct{t, mgmt.Handler(b)}.scrape(path)
		require.Greater(t, len(theirs.kinds), 20)
		theirLabels, labels := theirs.labels(), ours.labels()
		for name, kind := range theirs.kinds {
			bare := strings.TrimPrefix(strings.TrimPrefix(name, "rabbitmq_"), "detailed_")
			if slices.Contains(notThere, bare) || strings.HasPrefix(name, "telemetry_") {
				assert.NotContains(t, ours.kinds, name)
				continue
			}
			assert.Equal(t, kind, ours.kinds[name], "%s in %s", name, path)
			if own, shown := theirLabels[name]; shown && bare != "queue_messages_published_total" { // RabbitMQ's are by channel and exchange
				assert.Equal(t, own, labels[name], name)
			}
		}
		assert.Equal(t, 1.0, ours.values[queueInfo(path)])
	}
}

func queueInfo(path string) string {
	prefix := "rabbitmq_"
	if strings.Contains(path, "detailed") {
		prefix = "rabbitmq_detailed_"
	}
	return prefix + `queue_info{vhost="shop",queue="orders",queue_type="rabbit_classic_queue",membership="leader"}`
}

var labelName = regexp.MustCompile(`([a-zA-Z_]+)="`)

// labels returns the names of each metric's labels, in their order.
func (s scrape) labels() map[string]string {
	all := map[string]string{}
	for sample := range s.values {
		name, _, _ := strings.Cut(sample, "{")
		var labels []string
		for _, m := range labelName.FindAllStringSubmatch(sample, -1) {
			labels = append(labels, m[1])
		}
		all[name] = strings.Join(labels, ",")
	}
	return all
}

// dashboard are the metrics that the panels of RabbitMQ's Grafana dashboard 10991 ask for, beside a join with
// rabbitmq_identity_info for a cluster, a node and an endpoint.
var dashboard = strings.Fields(`
	rabbitmq_build_info rabbitmq_identity_info rabbitmq_erlang_uptime_seconds
	rabbitmq_queues rabbitmq_connections rabbitmq_channels rabbitmq_global_consumers rabbitmq_global_publishers
	rabbitmq_queue_messages_ready rabbitmq_queue_messages_unacked
	rabbitmq_connections_opened_total rabbitmq_connections_closed_total
	rabbitmq_channels_opened_total rabbitmq_channels_closed_total
	rabbitmq_queues_declared_total rabbitmq_queues_created_total rabbitmq_queues_deleted_total
	rabbitmq_process_open_fds rabbitmq_process_max_fds
	rabbitmq_process_resident_memory_bytes rabbitmq_resident_memory_limit_bytes
	rabbitmq_disk_space_available_bytes rabbitmq_disk_space_available_limit_bytes
	rabbitmq_message_size_bytes_bucket rabbitmq_message_size_bytes_count rabbitmq_message_size_bytes_sum
	rabbitmq_global_messages_received_total rabbitmq_global_messages_received_confirm_total
	rabbitmq_global_messages_confirmed_total rabbitmq_global_messages_routed_total
	rabbitmq_global_messages_unroutable_dropped_total rabbitmq_global_messages_unroutable_returned_total
	rabbitmq_global_messages_delivered_total rabbitmq_global_messages_redelivered_total
	rabbitmq_global_messages_delivered_consume_auto_ack_total rabbitmq_global_messages_delivered_consume_manual_ack_total
	rabbitmq_global_messages_delivered_get_auto_ack_total rabbitmq_global_messages_delivered_get_manual_ack_total
	rabbitmq_global_messages_get_empty_total rabbitmq_global_messages_acknowledged_total`)

func TestDashboardFindsItsSeries(t *testing.T) {
	require.Len(t, dashboard, 40)
	b := leveret.New()
	defer b.Close()
	s := direct{t, mgmt.Handler(b)}.scrape("/metrics")
	labels := s.labels()
	for _, name := range dashboard {
		assert.Contains(t, labels, name)
	}
	assert.Equal(t, "rabbitmq_node,rabbitmq_cluster,rabbitmq_cluster_permanent_id,rabbitmq_endpoint", labels["rabbitmq_identity_info"])
	assert.Contains(t, labels["rabbitmq_build_info"], "erlang_version")
	for _, bound := range []string{"100", "1000", "10000", "100000", "1000000", "10000000", "50000000", "100000000", "+Inf"} {
		assert.Contains(t, s.values, `rabbitmq_message_size_bytes_bucket{protocol="amqp091",le="`+bound+`"}`)
	}
}

// The identity tells which endpoint was scraped, so that a dashboard can choose one.
func TestIdentityNamesTheEndpoint(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	api := direct{t, mgmt.Handler(b)}
	for path, endpoint := range map[string]string{"/metrics": "aggregated", "/metrics/per-object": "per-object", "/metrics/detailed": "detailed"} {
		found := 0
		for sample := range api.scrape(path).values {
			if strings.HasPrefix(sample, "rabbitmq_identity_info{") && strings.Contains(sample, `rabbitmq_endpoint="`+endpoint+`"`) {
				found++
			}
		}
		assert.Equal(t, 1, found, path)
	}
}

// Traffic shows in the sums, by type of queue, and by object.
func TestMetricsOfTraffic(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	q, err := b.DeclareQueue("q", leveret.QueueConfig{Durable: true, Arguments: leveret.Table{leveret.ArgQueueType: leveret.QueueTypeQuorum}})
	require.NoError(t, err)
	conn, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	require.NoError(t, ch.Confirm())
	for _, size := range []int{100, 101} {
		_, err = ch.Publish("", "q", leveret.Message{Body: make([]byte, size)})
		require.NoError(t, err)
	}
	d, _, err := q.Get()
	require.NoError(t, err)
	require.NoError(t, d.Ack())
	_, err = ch.Consume("q", leveret.ConsumeConfig{NoAck: true})
	require.NoError(t, err)
	api := direct{t, mgmt.Handler(b, mgmt.Config{NodeName: "n@h"})}
	assertValues(t, api.scrape("/metrics").values, map[string]float64{
		`rabbitmq_global_publishers{protocol="amqp091"}`:                                                                   1,
		`rabbitmq_global_messages_received_confirm_total{protocol="amqp091"}`:                                              2,
		`rabbitmq_global_messages_delivered_total{protocol="amqp091",queue_type="rabbit_quorum_queue"}`:                    2,
		`rabbitmq_global_messages_delivered_total{protocol="amqp091",queue_type="rabbit_classic_queue"}`:                   0,
		`rabbitmq_global_messages_delivered_get_manual_ack_total{protocol="amqp091",queue_type="rabbit_quorum_queue"}`:     1,
		`rabbitmq_global_messages_delivered_consume_auto_ack_total{protocol="amqp091",queue_type="rabbit_quorum_queue"}`:   1,
		`rabbitmq_global_messages_delivered_consume_manual_ack_total{protocol="amqp091",queue_type="rabbit_quorum_queue"}`: 0,
		`rabbitmq_global_messages_acknowledged_total{protocol="amqp091",queue_type="rabbit_quorum_queue"}`:                 1,
		`rabbitmq_message_size_bytes_bucket{protocol="amqp091",le="100"}`:                                                  1,
		`rabbitmq_message_size_bytes_bucket{protocol="amqp091",le="1000"}`:                                                 2,
		`rabbitmq_message_size_bytes_bucket{protocol="amqp091",le="+Inf"}`:                                                 2,
		`rabbitmq_message_size_bytes_count{protocol="amqp091"}`:                                                            2,
		`rabbitmq_message_size_bytes_sum{protocol="amqp091"}`:                                                              201,
		"rabbitmq_channel_messages_confirmed_total":                                                                        2,
		"rabbitmq_exchange_messages_published_total":                                                                       2,
		"rabbitmq_queue_get_ack_total":                                                                                     1,
	})
	assertValues(t, api.scrape("/metrics/per-object").values, map[string]float64{
		`rabbitmq_exchange_messages_published_total{vhost="/",exchange=""}`:          2,
		`rabbitmq_exchange_messages_published_total{vhost="/",exchange="amq.topic"}`: 0,
		`rabbitmq_queue_messages_delivered_total{vhost="/",queue="q"}`:               1,
		`rabbitmq_queue_messages_acked_total{vhost="/",queue="q"}`:                   1,
		`rabbitmq_channel_messages_published_total{channel="<n@h.1> (1)"}`:           2,
		`rabbitmq_channel_messages_delivered_total{channel="<n@h.1> (1)"}`:           1,
	})
}

func assertValues(t *testing.T, got, want map[string]float64) {
	for name, value := range want {
		found, ok := got[name]
		assert.True(t, ok, name)
		assert.Equal(t, value, found, name)
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
	assertValues(t, api.scrape("/metrics").values, map[string]float64{
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
	})
	objects := api.scrape("/metrics/per-object").values
	assert.Equal(t, 2.0, objects[`rabbitmq_queue_messages{vhost="/",queue="q"}`])
	assert.Contains(t, objects, `rabbitmq_queue_messages{vhost="/",queue="a\"b\\c"}`)
	detailed := api.scrape("/metrics/detailed?family=queue_coarse_metrics&vhost=/")
	assert.Equal(t, 2.0, detailed.values[`rabbitmq_detailed_queue_messages_ready{vhost="/",queue="q"}`])
	assert.NotContains(t, detailed.kinds, "rabbitmq_detailed_queue_consumers", "another family")
	assert.NotContains(t, api.scrape("/metrics/detailed?family=queue_coarse_metrics&vhost=none").values, `rabbitmq_detailed_queue_messages_ready{vhost="/",queue="q"}`)
}
