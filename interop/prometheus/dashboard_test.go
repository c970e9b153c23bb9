package prometheus

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/util/teststorage"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// identity is what every panel joins its series with: it chooses the cluster, and the endpoint that was scraped.
const identity = `rabbitmq_identity_info{rabbitmq_cluster="cats", namespace="farm", rabbitmq_endpoint="aggregated"}`

func joined(series string) string {
	return series + ` * on(instance, job) group_left(rabbitmq_cluster, rabbitmq_node) ` + identity
}

func sumByNode(series string) string { return `sum(` + joined(series) + `) by(rabbitmq_node)` }

// The metrics of the dashboard, by the form of the queries that ask for them.
var (
	single = strings.Fields(`rabbitmq_queue_messages_ready rabbitmq_queue_messages_unacked rabbitmq_global_publishers
		rabbitmq_global_consumers rabbitmq_connections rabbitmq_channels rabbitmq_queues`)
	lengths = strings.Fields(`rabbitmq_queue_messages_ready rabbitmq_queue_messages_unacked`)
	objects = strings.Fields(`rabbitmq_queues rabbitmq_channels rabbitmq_connections`)
	rates   = strings.Fields(`
		rabbitmq_global_messages_received_total rabbitmq_global_messages_routed_total rabbitmq_global_messages_confirmed_total
		rabbitmq_global_messages_unroutable_returned_total rabbitmq_global_messages_unroutable_dropped_total
		rabbitmq_global_messages_delivered_total rabbitmq_global_messages_redelivered_total
		rabbitmq_global_messages_delivered_consume_manual_ack_total rabbitmq_global_messages_delivered_consume_auto_ack_total
		rabbitmq_global_messages_delivered_get_manual_ack_total rabbitmq_global_messages_delivered_get_auto_ack_total
		rabbitmq_global_messages_get_empty_total rabbitmq_global_messages_acknowledged_total
		rabbitmq_queues_declared_total rabbitmq_queues_created_total rabbitmq_queues_deleted_total
		rabbitmq_channels_opened_total rabbitmq_channels_closed_total
		rabbitmq_connections_opened_total rabbitmq_connections_closed_total`)
	differences = [][2]string{
		{"rabbitmq_resident_memory_limit_bytes", "rabbitmq_process_resident_memory_bytes"},
		{"rabbitmq_disk_space_available_bytes", "rabbitmq_disk_space_available_limit_bytes"},
		{"rabbitmq_process_max_fds", "rabbitmq_process_open_fds"},
	}
	bounds = []string{"100.0", "1000.0", "10000.0", "100000.0", "1e+06", "1e+07", "5e+07", "1e+08", "+Inf"} // as Prometheus stores them
)

// queries are what the panels of RabbitMQ's dashboard 10991 ask, in the forms that the panels have.
func queries() (all []string) {
	all = append(all, `count(`+identity+`)`,
		`rabbitmq_erlang_uptime_seconds * on(instance, job) group_left(rabbitmq_version, erlang_version) `+joined("rabbitmq_build_info"),
		`sum(`+joined("rate(rabbitmq_global_messages_received_confirm_total[5m])")+` - `+joined("rate(rabbitmq_global_messages_confirmed_total[5m])")+`) by(rabbitmq_node)`,
		`sum((`+joined("rate(rabbitmq_global_messages_delivered_consume_auto_ack_total[5m])")+`) + (`+
			joined("rate(rabbitmq_global_messages_delivered_consume_manual_ack_total[5m])")+`)) by(rabbitmq_node)`,
		grown("rabbitmq_message_size_bytes_sum")+` / `+grown("rabbitmq_message_size_bytes_count"))
	for _, name := range single {
		all = append(all, `sum(`+joined(name)+`)`)
	}
	for _, name := range lengths {
		all = append(all, sumByNode(name))
	}
	for _, name := range objects {
		all = append(all, joined(name))
	}
	for _, name := range rates {
		all = append(all, sumByNode(`rate(`+name+`[5m])`), `sum(`+joined(`irate(`+name+`[5m])`)+`)`)
	}
	for _, d := range differences {
		all = append(all, joined(`(`+d[0]+` - `+d[1]+`)`))
	}
	for i, bound := range bounds {
		share := grown(bucket(bound))
		if i > 0 {
			share = `(` + share + ` - ` + grown(bucket(bounds[i-1])) + `)`
		}
		all = append(all, share+` / `+grown(bucket("+Inf")))
	}
	return all
}

func grown(series string) string { return `sum(` + joined(`increase(`+series+`[5m])`) + `)` }

func bucket(bound string) string { return `rabbitmq_message_size_bytes_bucket{le="` + bound + `"}` }

// Every query finds series: what was scraped twice from a broker with traffic, a minute apart, is all that there is.
func TestDashboardQueries(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	b.SetGlobalParameter(leveret.GlobalParameter{Name: "cluster_name", Value: []byte(`"cats"`)})
	api := mgmt.Handler(b)
	s := teststorage.New(t)
	start := time.Unix(1_700_000_000, 0)
	for minute := range 3 {
		traffic(t, b, fmt.Sprint("q", minute))
		scrape(t, s, api, start.Add(time.Duration(minute)*time.Minute))
	}
	engine := promqltest.NewTestEngine(t, false, 5*time.Minute, promqltest.DefaultMaxSamplesPerQuery)
	for _, q := range queries() {
		query, err := engine.NewInstantQuery(t.Context(), s, nil, q, start.Add(2*time.Minute))
		require.NoError(t, err, q)
		found, err := query.Exec(t.Context()).Vector()
		require.NoError(t, err, q)
		assert.NotEmpty(t, found, q)
		for _, sample := range found {
			assert.False(t, math.IsNaN(sample.F), q)
		}
		query.Close()
	}
	assert.Equal(t, 15.0, value(t, engine, s, "sum(rabbitmq_global_messages_received_total)", start.Add(2*time.Minute)))
}

func value(t *testing.T, engine *promql.Engine, s *teststorage.TestStorage, q string, at time.Time) float64 {
	query, err := engine.NewInstantQuery(t.Context(), s, nil, q, at)
	require.NoError(t, err)
	defer query.Close()
	found, err := query.Exec(t.Context()).Vector()
	require.NoError(t, err)
	require.Len(t, found, 1)
	return found[0].F
}

// traffic publishes five messages to a new queue, and gets one.
func traffic(t *testing.T, b *leveret.Broker, name string) {
	q, err := b.DeclareQueue(name, leveret.QueueConfig{})
	require.NoError(t, err)
	for size := 1; size <= 10_000; size *= 10 {
		_, err := b.Publish("", name, leveret.Message{Body: make([]byte, size)})
		require.NoError(t, err)
	}
	d, ok, err := q.Get()
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, d.Ack())
}

// scrape stores what the API shows as Prometheus does: with its parser, and with the labels of the target.
func scrape(t *testing.T, s *teststorage.TestStorage, api http.Handler, at time.Time) {
	rec := httptest.NewRecorder()
	api.ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	parser, err := textparse.New(rec.Body.Bytes(), rec.Header().Get("Content-Type"), "", false, false, labels.NewSymbolTable())
	require.NoError(t, err)
	app := s.Appender(t.Context())
	for {
		entry, err := parser.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if entry != textparse.EntrySeries {
			continue
		}
		var series labels.Labels
		parser.Labels(&series)
		target := labels.NewBuilder(series).Set("instance", "farm:15672").Set("job", "leveret").Set("namespace", "farm").Labels()
		_, _, value := parser.Series()
		_, err = app.Append(0, target, at.UnixMilli(), value)
		require.NoError(t, err)
	}
	require.NoError(t, app.Commit())
}
