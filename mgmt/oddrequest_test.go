package mgmt_test

import (
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
	"github.com/stretchr/testify/assert"
)

// Requests that no client makes are answered with the status of both releases, 4.3 first.
func TestOddRequests(t *testing.T) {
	for _, c := range []struct {
		request, header string
		status          [2]int
	}{
		{"GET whoami", "Accept: application/json;q=2", [2]int{400, 400}},
		{"GET whoami", "Accept: application/json;q=01", [2]int{400, 400}},
		{"GET whoami", "Accept: application/json;q=0.5;x=y", [2]int{200, 200}},
		{"GET whoami", "If-None-Match: ", [2]int{400, 400}},
		{"GET queues/%2F/nope", "If-Match: *", [2]int{412, 412}},
		{"GET queues?page=1&name", "", [2]int{400, 400}},
		{"GET queues?columns", "", [2]int{400, 400}},
		{"GET queues?sort", "", [2]int{400, 400}},
		{"GET queues/%2F/a|b", "", [2]int{400, 400}},
		{"GET user-limits//", "", [2]int{404, 404}},
		{"GET connections/nope/channels", "", [2]int{500, 500}},
		{"GET nodes/nope", "", [2]int{404, 500}},
		{"GET queues?page=zz", "If-None-Match: *", [2]int{304, 304}},
	} {
		for n, profile := range []leveret.Profile{leveret.RabbitMQ43, leveret.RabbitMQ310} {
			b := leveret.New(leveret.WithProfile(profile))
			_, err := b.DeclareQueue("q", leveret.QueueConfig{Durable: true})
			assert.NoError(t, err)
			got := negotiate(mgmt.Handler(b), negotiated{request: c.request, header: c.header})
			assert.Equal(t, c.status[n], got.Code, "%s %s %s", profile.Version(), c.request, c.header)
			b.Close()
		}
	}
}
