package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestManagementAPI asks a leveret of its own process where its doors are, and for a connection's name.
func TestManagementAPI(t *testing.T) {
	p := spawn(t, "serve", "--amqp", "127.0.0.1:0", "--http", "127.0.0.1:0", "--control", "none")
	url, _ := p.greeting()
	line, err := p.stdout.ReadString('\n')
	require.NoError(t, err)
	api, ok := strings.CutPrefix(strings.TrimSpace(line), "leveret serves the management API on ")
	require.True(t, ok, line)
	conn, err := amqp.DialConfig(withGuest(url), amqp.Config{Properties: amqp.Table{"connection_name": "c"}})
	require.NoError(t, err)
	defer conn.Close()

	var overview struct {
		Listeners []struct {
			Protocol string
			Port     int
		}
	}
	ask(t, api+"/api/overview", &overview)
	require.Len(t, overview.Listeners, 2)
	assert.Equal(t, "amqp", overview.Listeners[0].Protocol)
	assert.True(t, strings.HasSuffix(url, fmt.Sprint(":", overview.Listeners[0].Port)), url)
	assert.Equal(t, "http", overview.Listeners[1].Protocol)
	var open []struct {
		Name string `json:"user_provided_name"`
	}
	ask(t, api+"/api/connections/", &open)
	require.Len(t, open, 1)
	assert.Equal(t, "c", open[0].Name)
}

func ask(t *testing.T, url string, to any) {
	res, err := http.Get(strings.Replace(url, "://", "://guest:guest@", 1))
	require.NoError(t, err)
	defer res.Body.Close()
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.NoError(t, json.NewDecoder(res.Body).Decode(to))
}

// TestDefaultPortTaken serves AMQP without the management API, and says so, if nobody asked for the port.
func TestDefaultPortTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	s := settings{amqp: "127.0.0.1:0", http: httpSettings{addr: taken.Addr().String()}, control: filepath.Join(t.TempDir(), "s")}
	var log strings.Builder
	srv, err := start(s, slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, err)
	defer srv.close()
	require.Len(t, srv.doors, 1)
	assert.Contains(t, log.String(), "the management API is not served")
	assert.Contains(t, log.String(), taken.Addr().String())
	s.http.asked, s.control = true, ""
	_, err = start(s, slog.New(slog.DiscardHandler))
	assert.ErrorContains(t, err, "--http: listen tcp")
}
