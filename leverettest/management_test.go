package leverettest_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/leverettest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// call sends a request, and returns the code and what was answered.
func call(t *testing.T, c *http.Client, method, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	require.NoError(t, err)
	res, err := c.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, strings.TrimSpace(string(answer))
}

// Over a socket and in memory the API is the same.
func TestManagement(t *testing.T) {
	for name, open := range map[string]func(leverettest.T, *leveret.Broker) (*http.Client, string){
		"url": func(t leverettest.T, b *leveret.Broker) (*http.Client, string) {
			return &http.Client{Transport: &http.Transport{}}, leverettest.Management(t, b)
		},
		"client": func(t leverettest.T, b *leveret.Broker) (*http.Client, string) {
			return leverettest.ManagementClient(b), "http://guest:guest@rabbitmq.example:15672"
		},
	} {
		t.Run(name, func(t *testing.T) {
			ft := &fakeT{}
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			b := leverettest.New(ft)
			c, api := open(ft, b)
			code, _ := call(t, c, "PUT", api+"/api/queues/%2F/a%2Fb", `{"arguments": {"x-max-length": 5}}`)
			assert.Equal(t, 201, code)
			q, err := b.Queue("a/b")
			require.NoError(t, err)
			assert.Equal(t, int64(5), q.Info().Arguments["x-max-length"])
			_, err = b.Publish("", "a/b", leveret.Message{})
			require.NoError(t, err)
			code, answer := call(t, c, "GET", api+"/api/queues/%2F/a%2Fb?columns=messages", "")
			assert.Equal(t, 200, code)
			assert.JSONEq(t, `{"messages": 1}`, answer)
			code, _ = call(t, c, "GET", strings.Replace(api, "guest:guest", "guest:wrong", 1)+"/api/queues", "")
			assert.Equal(t, 401, code)
			code, _ = call(t, c, "DELETE", api+"/api/queues/%2F/a%2Fb", "")
			assert.Equal(t, 204, code)
			assert.Empty(t, b.Queues())
			c.CloseIdleConnections()
			ft.end()
			assert.Empty(t, ft.problems)
		})
	}
}

// A request that is half sent when the test ends does not hold up its end.
func TestManagementEnds(t *testing.T) {
	ft := &fakeT{}
	u, err := url.Parse(leverettest.Management(ft, leverettest.New(ft)))
	require.NoError(t, err)
	nc, err := net.Dial("tcp", u.Host)
	require.NoError(t, err)
	defer nc.Close()
	const auth = "Z3Vlc3Q6Z3Vlc3Q=" // guest:guest
	_, err = fmt.Fprintf(nc, "PUT /api/queues/%%2F/work HTTP/1.1\r\nHost: x\r\nAuthorization: Basic %s\r\n"+
		"Content-Length: 10\r\nExpect: 100-continue\r\n\r\n", auth)
	require.NoError(t, err)
	line, err := bufio.NewReader(nc).ReadString('\n')
	require.NoError(t, err)
	assert.Contains(t, line, "100 Continue") // the API waits for the body
	ft.end()
	assert.Empty(t, ft.problems)
	_, _ = io.ReadAll(nc) // ends with the connection
}

// In a bubble, rates are there when virtual time has passed. A request that came too late is not executed.
func TestManagementInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := leverettest.New(t)
		declare(t, b, "work", nil)
		c := leverettest.ManagementClient(b)
		rate := func() float64 {
			var queue struct {
				Stats struct {
					Details struct{ Rate float64 } `json:"publish_details"`
				} `json:"message_stats"`
			}
			_, answer := call(t, c, "GET", "http://guest:guest@x/api/queues/%2F/work", "")
			require.NoError(t, json.Unmarshal([]byte(answer), &queue))
			return queue.Stats.Details.Rate
		}
		assert.Zero(t, rate())
		for range 50 {
			_, err := b.Publish("", "work", leveret.Message{})
			require.NoError(t, err)
		}
		time.Sleep(5 * time.Second)
		assert.InDelta(t, 10.0, rate(), 0.1)

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		req, err := http.NewRequestWithContext(ctx, "DELETE", "http://guest:guest@x/api/queues/%2F/work", nil)
		require.NoError(t, err)
		_, err = c.Do(req)
		assert.ErrorIs(t, err, context.Canceled)
		assert.Len(t, b.Queues(), 1)
	})
}
