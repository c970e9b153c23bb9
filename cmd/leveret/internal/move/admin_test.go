package move

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// A silent network takes requests and answers none.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}

// A management API that does not answer a question does not hold up the command for ever.
func TestManagementAPIThatIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &Broker{AMQP: "amqp://host/", Admin: "http://host:15672", VHost: "/", HTTP: &http.Client{Transport: silent{}}}
		began := time.Now()
		_, err := b.queues()
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, questionTime, time.Since(began))
	})
}
