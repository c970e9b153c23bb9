package mgmt_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/mgmt"
)

// BenchmarkPage lists 10,000 queues page by page, in the order of their names and in that of their lengths.
func BenchmarkPage(b *testing.B) {
	broker := leveret.New()
	defer broker.Close()
	for i := range 10_000 {
		if _, err := broker.DeclareQueue(fmt.Sprintf("q%05d", i), leveret.QueueConfig{}); err != nil {
			b.Fatal(err)
		}
	}
	api := mgmt.Handler(broker)
	for _, query := range []string{"page_size=100", "page_size=500", "page_size=100&name=7", "page_size=100&sort=messages"} {
		b.Run(query, func(b *testing.B) {
			for i := range b.N {
				req := httptest.NewRequest("GET", fmt.Sprintf("/api/queues?page=%d&%s", i%7+1, query), nil)
				req.RemoteAddr = "127.0.0.1:1"
				req.SetBasicAuth("guest", "guest")
				res := httptest.NewRecorder()
				api.ServeHTTP(res, req)
				if res.Code != http.StatusOK {
					body, _ := io.ReadAll(res.Body)
					b.Fatalf("%d %s", res.Code, body)
				}
			}
		})
	}
}
