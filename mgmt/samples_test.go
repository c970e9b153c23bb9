package mgmt_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A sample is an answer of a live RabbitMQ 4.3.6, recorded while clients were at work in the virtual host shop.
type sample struct {
	Request string          `json:"request"`
	Given   json.RawMessage `json:"request_body"`
	User    string          `json:"user"`
	Status  int             `json:"status"`
	Headers map[string]string
	Items   int `json:"items_in_full_answer"` // of a list that was cut
	Body    any `json:"body"`
}

// TestSamples sends the request of each sample to a broker with such a virtual host, and compares the status, the fields
// and their types, and whole answers that are errors.
func TestSamples(t *testing.T) {
	files, err := filepath.Glob("testdata/4.3.6/*.json")
	require.NoError(t, err)
	require.Greater(t, len(files), 80)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			var s sample
			require.NoError(t, json.Unmarshal(data, &s))
			a, names := newShop(t)
			got := a.sendSample(s, names)
			assert.Equal(t, s.Status, got.status, "%v", got.body)
			assert.Equal(t, s.Headers["allow"], got.header.Get("Allow"))
			assert.Equal(t, s.Headers["www-authenticate"], got.header.Get("WWW-Authenticate"))
			if s.Status >= 400 && s.Status < 500 {
				assert.Equal(t, s.Body, got.body)
				return
			}
			found := differences(shapeOf(s.Body), shapeOf(got.body), notCompared)
			if s.Items > 0 { // the sample has only the first items
				found = slices.DeleteFunc(found, func(d string) bool { return strings.HasPrefix(d, "with []") })
			}
			assert.Empty(t, found)
		})
	}
}

// sendSample sends the request of a sample, with the connections' names of today.
func (a api) sendSample(s sample, names map[string]string) result {
	method, path, _ := strings.Cut(s.Request, " /api/")
	for recorded, today := range names {
		path = strings.ReplaceAll(path, recorded, url.PathEscape(today))
	}
	user := "guest"
	switch s.User {
	case "":
	case "(none)":
		user = ""
	default:
		user = s.User
	}
	var given any
	if s.Given != nil {
		given = string(s.Given)
		var text string
		if json.Unmarshal(s.Given, &text) == nil {
			given = text
		}
	}
	if path == "login" {
		return a.postForm(path, given.(string))
	}
	return a.as(user, method, path, given)
}

// notCompared reports whether a field is one that leveret leaves out, or one whose name is up to users.
func notCompared(path string) bool { return leftOut.MatchString(path) || upToUsers.MatchString(path) }

// leftOut are the fields of RabbitMQ that leveret has no figure for, or that are about Erlang.
var leftOut = regexp.MustCompile(`garbage_collection|reductions|` +
	`message_stats\.(disk_reads|disk_writes)(_details.*)?$|` + // there is no store
	`churn_rates\..*_details|` +
	`message_bytes_dlx|` +
	`\[\]\.(policy|operator_policy)$|\[\]\.online$|` +
	// Nodes: input and output, Mnesia, the store, and garbage collection are Erlang's.
	`\.(io|mnesia|msg_store|queue_index|gc|context_switches|ra_open_file)_?.*|metrics_gc_queue_length.*|sockets_used_details.*|\.db_dir|` +
	`(connection|channel|queue)_(created|closed|declared|deleted)_details.*|config_files|log_files|` +
	`cowboy_opts|contexts\[\]\.(protocol|ssl_opts)|socket_opts`)

// upToUsers are objects with names that users choose.
var upToUsers = regexp.MustCompile(`(arguments|client_properties|definition|headers|value|cluster_state|memory|messages_by_priority)[.\[].*`)

// newShop returns an API with the virtual host of the samples, and the names of the two connections that they name.
func newShop(t *testing.T) (api, map[string]string) {
	_, a, amqpURL := newAPI(t)
	for _, req := range []struct{ method, path, body string }{
		{"PUT", "vhosts/shop", `{"description":"the shop","tags":"production","default_queue_type":"classic"}`},
		{"PUT", "users/clerk", `{"password":"clerk","tags":"monitoring"}`},
		{"PUT", "permissions/shop/clerk", `{"configure":"","write":"^shop$","read":"^orders$"}`},
		{"PUT", "user-limits/clerk/max-connections", `{"value":10}`},
		{"PUT", "vhost-limits/shop/max-queues", `{"value":100}`},
		{"PUT", "cluster-name", `{"name":"samples"}`},
		{"PUT", "global-parameters/mqtt_port_to_vhost_mapping", `{"value":{"1883":"shop"}}`},
		{"PUT", "exchanges/shop/shop", `{"type":"topic","durable":true,"arguments":{"alternate-exchange":"lost"}}`},
		{"PUT", "exchanges/shop/audit", `{"type":"fanout","durable":true}`},
		{"PUT", "exchanges/shop/dlx", `{"type":"direct","durable":true}`},
		{"PUT", "exchanges/shop/lost", `{"type":"fanout","durable":true}`},
		{"PUT", "topic-permissions/shop/clerk", `{"exchange":"shop","write":"^order","read":".*"}`},
		{"PUT", "queues/shop/orders", `{"durable":true,"arguments":{"x-message-ttl":60000,"x-dead-letter-exchange":"dlx","x-dead-letter-routing-key":"orders.dead"}}`},
		{"PUT", "queues/shop/invoices", `{"durable":true,"arguments":{"x-queue-type":"quorum","x-delivery-limit":3}}`},
		{"PUT", "queues/shop/audit", `{"durable":true,"arguments":{"x-max-priority":5}}`},
		{"PUT", "queues/shop/dead", `{"durable":true}`},
		{"PUT", "queues/shop/unrouted", `{"durable":true}`},
		{"POST", "bindings/shop/e/shop/q/orders", `{"routing_key":"order.#"}`},
		{"POST", "bindings/shop/e/shop/q/invoices", `{"routing_key":"invoice.*"}`},
		{"POST", "bindings/shop/e/shop/e/audit", `{"routing_key":"order.new"}`},
		{"POST", "bindings/shop/e/audit/q/audit", `{"arguments":{"note":"all"}}`},
		{"POST", "bindings/shop/e/dlx/q/dead", `{"routing_key":"orders.dead"}`},
		{"POST", "bindings/shop/e/lost/q/unrouted", `{}`},
		{"PUT", "policies/shop/short", `{"pattern":"^orders$","definition":{"max-length":1000},"apply-to":"queues","priority":5}`},
		{"PUT", "operator-policies/shop/cap", `{"pattern":".*","definition":{"max-length":5000},"apply-to":"queues","priority":0}`},
	} {
		r := a.do(req.method, req.path, req.body)
		require.Less(t, r.status, 300, "%s %s: %v", req.method, req.path, r.body)
	}
	shopQueues(t, a, t.Name()[strings.LastIndex(t.Name(), "/")+1:])
	publisher, worker := dial(t, amqpURL, "shop", "publisher"), dial(t, amqpURL, "shop", "consumer")
	require.NoError(t, publisher.Confirm(false))
	require.NoError(t, worker.Qos(20, 0, false))
	_, err := worker.Consume("orders", "worker-1", false, false, false, false, nil)
	require.NoError(t, err)
	require.NoError(t, publisher.Publish("shop", "invoice.new", false, false, amqp.Publishing{Body: []byte("i")}))
	require.NoError(t, publisher.Publish("shop", "order.new", false, false, amqp.Publishing{Body: []byte("o")}))
	require.NoError(t, publisher.Publish("shop", "nowhere", false, false, amqp.Publishing{Body: []byte("n")}))
	_, err = publisher.QueueDeclarePassive("orders", true, false, false, false, nil) // the publishes are done
	require.NoError(t, err)
	getter := dial(t, amqpURL, "shop", "getter")
	_, _, err = getter.Get("invoices", false)
	require.NoError(t, err)
	require.NoError(t, getter.Close()) // the invoice is there again
	names := map[string]string{}
	for _, item := range a.get("connections").([]any) {
		conn := item.(map[string]any)
		port := map[string]string{"publisher": "57112", "consumer": "57118"}[conn["user_provided_name"].(string)]
		name := conn["name"].(string)
		names["127.0.0.1%3A"+port+"%20-%3E%20127.0.0.1%3A5672"] = name
	}
	return a, names
}

// shopQueues makes the queues that single samples need, with what is in them.
func shopQueues(t *testing.T, a api, sample string) {
	put := func(queue, arguments string) {
		require.Equal(t, 201, a.do("PUT", "queues/shop/"+queue, `{"durable":true,"arguments":`+arguments+`}`).status)
	}
	publish := func(queue, properties, payload, encoding string) {
		body := fmt.Sprintf(`{"routing_key":%q,"properties":%s,"payload":%q,"payload_encoding":%q}`, queue, properties, payload, encoding)
		require.Equal(t, 200, a.do("POST", "exchanges/shop/amq.default/publish", body).status)
	}
	switch sample {
	case "get", "delete-queue-if-empty":
		put("peek", `{}`)
		publish("peek", `{"timestamp":1700000000,"message_id":"m1","expiration":"60000","delivery_mode":2,"headers":{"k":"v","l":[1,"two"],"n":1,"t":{"x":true}}}`, "hello", "string")
		publish("peek", `{}`, "/w==", "base64")
	case "get-dead-letter":
		put("morgue", `{}`)
		put("brief", `{"x-message-ttl":0,"x-dead-letter-exchange":"dlx","x-dead-letter-routing-key":"m"}`)
		require.Equal(t, 201, a.do("POST", "bindings/shop/e/dlx/q/morgue", `{"routing_key":"m"}`).status)
		publish("brief", `{"delivery_mode":2,"headers":{"k":"v"}}`, "late", "string")
	case "delete-queue", "put-queue-again", "put-queue-other", "put-binding":
		put("peek2", `{"x-max-length":3}`)
	}
}
