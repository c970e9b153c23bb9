package mgmt_test

import (
	"net/http/httptest"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
)

// Another node than this one has no health, and another feature flag cannot be enabled. In 4.3 an exchange without
// statistics has neither incoming nor outgoing.
func TestNodesAndFlagsThatAreNotThere(t *testing.T) {
	for _, p := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
		b := leveret.New(leveret.WithProfile(p))
		api := direct{t, mgmt.Handler(b)}
		node := api.at("overview", "node").(string)
		assert.Equal(t, 200, api.send("GET", "healthchecks/node/"+node, "").status)
		assert.Equal(t, 404, api.send("GET", "healthchecks/node/x@y", "").status)
		assert.Equal(t, 400, api.send("PUT", "feature-flags/none/enable", "{}", sentAsJSON).status)
		assert.Equal(t, 204, api.send("PUT", "feature-flags/quorum_queue/enable", "{}", sentAsJSON).status)
		flags := api.send("GET", "feature-flags", "").body.([]any)
		assert.Len(t, flags, map[leveret.Profile]int{leveret.RabbitMQ43: 33, leveret.RabbitMQ310: 9}[p])
		_, told := flags[0].(map[string]any)["require_level"]
		assert.Equal(t, p == leveret.RabbitMQ43, told)
		_, told = api.send("GET", "exchanges/%2F/amq.topic?disable_stats=true", "").body.(map[string]any)["incoming"]
		assert.Equal(t, p == leveret.RabbitMQ310, told)
		b.Close()
	}
}

// RabbitMQ 3.10 has no ANONYMOUS. Mechanisms that nobody may use are listed.
// Rules: A-18.
func TestMechanisms(t *testing.T) {
	for _, c := range []struct {
		release    leveret.Profile
		mechanisms []string
		want       map[string]any
	}{
		{leveret.RabbitMQ43, nil, map[string]any{"PLAIN": true, "AMQPLAIN": true, "ANONYMOUS": true, "RABBIT-CR-DEMO": false}},
		{leveret.RabbitMQ43, []string{"PLAIN"}, map[string]any{"PLAIN": true, "AMQPLAIN": false, "ANONYMOUS": false, "RABBIT-CR-DEMO": false}},
		{leveret.RabbitMQ310, nil, map[string]any{"PLAIN": true, "AMQPLAIN": true, "RABBIT-CR-DEMO": false}},
	} {
		b := leveret.New(leveret.WithProfile(c.release))
		srv := httptest.NewServer(mgmt.Handler(b, mgmt.Config{Mechanisms: c.mechanisms}))
		got := map[string]any{}
		for _, m := range (api{t, srv.URL}).get("nodes").([]any)[0].(map[string]any)["auth_mechanisms"].([]any) {
			got[m.(map[string]any)["name"].(string)] = m.(map[string]any)["enabled"]
		}
		assert.Equal(t, c.want, got)
		srv.Close()
		b.Close()
	}
}
