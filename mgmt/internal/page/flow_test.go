package page

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A picture that stays open does not remember queues to which nothing has come for some seconds.
func TestFlowForgetsQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := leveret.New()
		defer b.Close()
		f := &flow{broker: b}
		defer f.end()
		for i := range 60 {
			f.look(time.Now())
			name := fmt.Sprint("reply ", i)
			_, err := b.DeclareQueue(name, leveret.QueueConfig{})
			require.NoError(t, err)
			_, err = b.Publish("", name, leveret.Message{})
			require.NoError(t, err)
			time.Sleep(time.Second)
		}
		assert.Equal(t, 0.2, f.look(time.Now())(arrow{"/", "", "reply 59", false}))
		assert.Len(t, f.ways, flowOver)
	})
}
