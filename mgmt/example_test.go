package mgmt_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
)

// Tools that know RabbitMQ's management API look at a broker in this process.
func ExampleHandler() {
	b := leveret.New()
	defer b.Close()
	srv := httptest.NewServer(mgmt.Handler(b))
	defer srv.Close()

	api := func(method, path, body string) string {
		req, _ := http.NewRequest(method, srv.URL+"/api/"+path, strings.NewReader(body))
		req.SetBasicAuth("guest", "guest")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return err.Error()
		}
		defer res.Body.Close()
		answer, _ := io.ReadAll(res.Body)
		return strings.TrimSpace(res.Status + " " + string(answer))
	}
	fmt.Println(api("PUT", "queues/%2F/work", `{"arguments":{"x-max-length":10}}`))
	fmt.Println(api("PUT", "queues/%2F/work", `{"arguments":{"x-max-length":11}}`))
	b.Publish("", "work", leveret.Message{Body: []byte("job")})
	fmt.Println(api("GET", "queues/%2F/work?columns=name,messages", ""))
	// Output:
	// 201 Created
	// 400 Bad Request {"error":"bad_request","reason":"inequivalent arg 'x-max-length' for queue 'work' in vhost '/': received '11' but current is '10'"}
	// 200 OK {"messages":1,"name":"work"}
}

// A program that has its own way to show figures asks for them.
func ExampleNewMetrics() {
	b := leveret.New()
	defer b.Close()
	m := mgmt.NewMetrics(b, mgmt.Config{NodeName: "farm"})
	for _, f := range m.Sums() {
		if f.Name == "rabbitmq_identity_info" {
			fmt.Println(f.Type, f.Labels[0], f.Samples[0].Values[0])
		}
	}
	// Output: untyped rabbitmq_node farm
}

func ExampleMetrics_Sums() {
	b := leveret.New()
	defer b.Close()
	b.Publish("", "nowhere", leveret.Message{})
	for _, f := range mgmt.NewMetrics(b).Sums() {
		if f.Name == "rabbitmq_global_messages_unroutable_dropped_total" {
			fmt.Println(f.Type, f.Labels, f.Samples)
		}
	}
	// Output: counter [protocol] [{[amqp091] 1 <nil>}]
}

func ExampleMetrics_Objects() {
	b := leveret.New()
	defer b.Close()
	b.DeclareQueue("work", leveret.QueueConfig{})
	b.Publish("", "work", leveret.Message{})
	for _, f := range mgmt.NewMetrics(b).Objects() {
		if f.Name == "rabbitmq_queue_messages_ready" {
			fmt.Println(f.Type, f.Labels, f.Samples)
		}
	}
	// Output: gauge [vhost queue] [{[/ work] 1 <nil>}]
}
