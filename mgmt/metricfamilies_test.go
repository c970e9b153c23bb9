package mgmt_test

import (
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each family of /metrics/detailed has its metrics and no others.
func TestDetailedFamilies(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	_, err := b.DeclareQueue("orders", leveret.QueueConfig{})
	require.NoError(t, err)
	conn, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	_, err = conn.Channel()
	require.NoError(t, err)
	require.NoError(t, b.BindQueue("orders", "amq.topic", "#", nil))
	api := direct{t, mgmt.Handler(b, mgmt.Config{NodeName: "n@h"})}
	for family, want := range map[string]string{
		"":                               "",
		"nonesuch":                       "",
		"connection_churn_metrics":       `rabbitmq_detailed_connections_opened_total`,
		"node_coarse_metrics":            `rabbitmq_detailed_process_open_fds`,
		"node_metrics":                   `rabbitmq_detailed_erlang_uptime_seconds`,
		"queue_coarse_metrics":           `rabbitmq_detailed_queue_messages_ready{vhost="/",queue="orders"}`,
		"queue_consumer_count":           `rabbitmq_detailed_queue_consumers{vhost="/",queue="orders"}`,
		"queue_metrics":                  `rabbitmq_detailed_queue_messages_bytes{vhost="/",queue="orders"}`,
		"queue_delivery_metrics":         `rabbitmq_detailed_queue_get_empty_total{vhost="/",queue="orders"}`,
		"queue_death_metrics":            `leveret_queue_messages_died_total{vhost="/",queue="orders",reason="maxlen"}`,
		"channel_queue_exchange_metrics": `rabbitmq_detailed_queue_messages_published_total{vhost="/",queue="orders"}`,
		"channel_metrics":                `rabbitmq_detailed_channel_consumers{channel="<n@h.1> (1)"}`,
		"channel_exchange_metrics":       `rabbitmq_detailed_channel_messages_published_total{channel="<n@h.1> (1)"}`,
		"channel_queue_metrics":          `rabbitmq_detailed_channel_get_total{channel="<n@h.1> (1)"}`,
		"connection_coarse_metrics":      `rabbitmq_detailed_connection_incoming_bytes_total{channel="<n@h.1>"}`,
		"connection_metrics":             `rabbitmq_detailed_connection_channels{channel="<n@h.1>"}`,
		"exchange_metrics":               `rabbitmq_detailed_exchange_messages_published_total{vhost="/",exchange="amq.topic"}`,
		"vhost_status":                   `rabbitmq_cluster_vhost_status{vhost="/"}`,
		"exchange_bindings":              `rabbitmq_cluster_exchange_bindings{vhost="/",exchange="amq.topic",type="topic"}`,
		"exchange_names":                 `rabbitmq_cluster_exchange_name{vhost="/",exchange="amq.direct",type="direct"}`,
	} {
		s := api.scrape("/metrics/detailed?family=" + family)
		assert.Contains(t, s.values, `rabbitmq_build_info{rabbitmq_version="4.3.6",prometheus_plugin_version="4.3.6",prometheus_client_version="4.3.6",erlang_version="`+erlang(s)+`"}`)
		if want == "" {
			assert.Len(t, s.kinds, 2, "%q: nothing but who it is", family)
			continue
		}
		assert.Contains(t, s.values, want)
	}
	names := api.scrape("/metrics/detailed?family=exchange_names").values
	assert.NotContains(t, names, `rabbitmq_cluster_exchange_name{vhost="/",exchange="",type="direct"}`, "nobody publishes to it by name")
	assert.NotContains(t, names, `rabbitmq_cluster_exchange_name{vhost="/",exchange="amq.rabbitmq.trace",type="topic"}`, "an internal exchange")
	bindings := api.scrape("/metrics/detailed?family=exchange_bindings").values
	assert.Equal(t, 1.0, bindings[`rabbitmq_cluster_exchange_bindings{vhost="/",exchange="amq.topic",type="topic"}`])
}

var erlangLabel = regexp.MustCompile(`erlang_version="([^"]*)"`)

func erlang(s scrape) string {
	for name := range s.values {
		if m := erlangLabel.FindStringSubmatch(name); m != nil {
			return m[1]
		}
	}
	return ""
}

// The pattern chooses queues by name on 4.3; 3.10 takes no notice.
func TestDetailedChoosesQueues(t *testing.T) {
	for profile, chosen := range map[leveret.Profile]int{leveret.RabbitMQ43: 1, leveret.RabbitMQ310: 2} {
		b := leveret.New(leveret.WithProfile(profile))
		defer b.Close()
		for _, name := range []string{"orders", "mail"} {
			_, err := b.DeclareQueue(name, leveret.QueueConfig{})
			require.NoError(t, err)
		}
		api := direct{t, mgmt.Handler(b)}
		n := 0
		for name := range api.scrape("/metrics/detailed?family=queue_coarse_metrics&queue=^o").values {
			if strings.HasPrefix(name, "rabbitmq_detailed_queue_messages{") {
				n++
			}
		}
		assert.Equal(t, chosen, n)
		_, hasInfo := api.scrape("/metrics/per-object").kinds["rabbitmq_queue_info"]
		assert.Equal(t, profile == leveret.RabbitMQ43, hasInfo)
	}
}

func TestDetailedRefusesPatterns(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	for query, text := range map[string]string{
		"queue=a&queue=b":                      "Only one 'queue' query parameter is allowed",
		"queue=" + strings.Repeat("a", 2001):   "'queue' regex too long",
		"queue=" + url.QueryEscape("a(b"):      "Invalid 'queue' regex at position 3: missing closing parenthesis",
		"family=queue_metrics&queue=" + "%5Ba": "Invalid 'queue' regex at position 2: missing terminating ] for character class",
	} {
		rec := httptest.NewRecorder()
		mgmt.Handler(b).ServeHTTP(rec, httptest.NewRequest("GET", "/metrics/detailed?"+query, nil))
		assert.Equal(t, 400, rec.Code)
		assert.Equal(t, text, rec.Body.String())
	}
}

// Deaths are told by reason and losses by cause, of the broker and of each queue.
func TestDeathsAndLosses(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	q, err := b.DeclareQueue("q", leveret.QueueConfig{Arguments: leveret.Table{leveret.ArgMaxLength: 2}})
	require.NoError(t, err)
	for range 3 {
		_, err := b.Publish("", "q", leveret.Message{})
		require.NoError(t, err)
	}
	d, _, err := q.Get()
	require.NoError(t, err)
	require.NoError(t, d.Reject(false))
	api := direct{t, mgmt.Handler(b)}
	assertValues(t, api.scrape("/metrics").values, map[string]float64{
		`leveret_messages_died_total{reason="maxlen"}`:                    1,
		`leveret_messages_died_total{reason="rejected"}`:                  1,
		`leveret_messages_died_total{reason="expired"}`:                   0,
		`leveret_messages_died_total{reason="delivery_limit"}`:            0,
		`leveret_messages_dropped_total{cause="no_dead_letter_exchange"}`: 2,
		`leveret_messages_dropped_total{cause="dead_letter_unroutable"}`:  0,
		`rabbitmq_alarms_memory_used_watermark`:                           0,
	})
	objects := api.scrape("/metrics/per-object").values
	assertValues(t, objects, map[string]float64{
		`leveret_queue_messages_died_total{vhost="/",queue="q",reason="maxlen"}`:                    1,
		`leveret_queue_messages_died_total{vhost="/",queue="q",reason="expired"}`:                   0,
		`leveret_queue_messages_dropped_total{vhost="/",queue="q",cause="no_dead_letter_exchange"}`: 2,
	})
	assert.NotContains(t, objects, `leveret_queue_messages_dropped_total{vhost="/",queue="q",cause="purged"}`, "has not occurred")
}

func TestMemoryAlarmMetric(t *testing.T) {
	b := leveret.New(leveret.WithMemoryLimit(100))
	defer b.Close()
	b.ReportMemory(101)
	assert.Equal(t, 1.0, direct{t, mgmt.Handler(b)}.scrape("/metrics").values["rabbitmq_alarms_memory_used_watermark"])
}
