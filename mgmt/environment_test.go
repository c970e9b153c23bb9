package mgmt_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The configuration in force is a text of Erlang's terms, for administrators, and RabbitMQ 4.3 has it.
func TestEffectiveConfiguration(t *testing.T) {
	b := leveret.New(leveret.WithMemoryLimit(1<<30), leveret.WithMaxMessageSize(1000))
	defer b.Close()
	require.NoError(t, b.AddUser("ann", "secret", "monitoring"))
	h := mgmt.Handler(b, mgmt.Config{LoopbackUsers: []string{"guest"}, Listeners: []mgmt.Listener{{"amqp", "127.0.0.1", 5672},
		{"amqp/ssl", "::", 5671}, {"http", "127.0.0.1", 15672}}})
	get := func(h http.Handler, user, password, accept string) *httptest.ResponseRecorder {
		req := httptest.NewRequest("GET", "/api/config/effective", nil)
		req.RemoteAddr = "127.0.0.1:50000"
		req.SetBasicAuth(user, password)
		req.Header.Set("Accept", accept)
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, req)
		return rec
	}
	rec := get(h, "guest", "guest", "*/*")
	assert.Equal(t, 200, rec.Code)
	assert.Equal(t, "text/plain", rec.Header().Get("Content-Type"))
	assert.Equal(t, "accept-encoding, origin", rec.Header().Get("Vary"))
	assert.Equal(t, "HEAD, GET, OPTIONS", rec.Header().Get("Allow"))
	assert.Equal(t, `[{rabbit,[{default_vhost,<<"/">>},
          {loopback_users,[<<"guest">>]},
          {max_message_size,1000},
          {ssl_listeners,[{"::",5671}]},
          {tcp_listeners,[{"127.0.0.1",5672}]},
          {vm_memory_high_watermark,{absolute,1073741824}}]},
 {rabbitmq_management,[{tcp_config,[{ip,"127.0.0.1"},{port,15672}]}]},
 {rabbitmq_management_agent,[{rates_mode,basic}]}]
`, rec.Body.String())
	assert.Equal(t, 200, get(h, "guest", "guest", "text/plain").Code)
	assert.Equal(t, 406, get(h, "guest", "guest", "application/json").Code)
	assert.Equal(t, 401, get(h, "ann", "secret", "*/*").Code)

	old := leveret.New(leveret.WithProfile(leveret.RabbitMQ310))
	defer old.Close()
	assert.Equal(t, 404, get(mgmt.Handler(old), "guest", "guest", "*/*").Code)
}
