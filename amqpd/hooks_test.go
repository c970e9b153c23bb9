package amqpd_test

import (
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/amqpd"
	amqp091 "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An event hook may call anything, and the listener's Close is what a test or a crash handler calls. Each hook
// here runs on a goroutine of the connection that Close has to end.
func TestHooksMayCloseTheServer(t *testing.T) {
	for _, name := range []string{"Published", "Enqueued", "Delivered", "Acked", "QueueDeclared", "ConsumerAdded", "ConsumerRemoved",
		"ChannelOpened", "ChannelClosed", "ConnectionOpened", "ConnectionClosed"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := &amqpd.Server{}
				var once sync.Once
				stopped := make(chan struct{})
				events := reflect.ValueOf(&leveret.Events{}).Elem()
				hook := events.FieldByName(name)
				hook.Set(reflect.MakeFunc(hook.Type(), func([]reflect.Value) []reflect.Value {
					once.Do(func() {
						srv.Close()
						close(stopped)
					})
					return nil
				}))
				srv.Broker = leveret.New(leveret.WithEvents(events.Interface().(leveret.Events)))
				defer srv.Broker.Close()
				publishAndConsume(t, srv)
				<-stopped
				require.NoError(t, srv.Close())
				time.Sleep(time.Minute)
				assert.Empty(t, srv.Broker.Connections())
			})
		})
	}
}

// publishAndConsume sends a message round and leaves, unless the server ends it.
func publishAndConsume(t *testing.T, srv *amqpd.Server) {
	nc, err := srv.Dial()
	require.NoError(t, err)
	conn, err := amqp091.Open(nc, asGuest())
	if err != nil {
		return
	}
	closed := conn.NotifyClose(make(chan *amqp091.Error, 1))
	defer func() {
		conn.Close()
		if e := <-closed; e != nil {
			assert.Equal(t, amqp091.ConnectionForced, e.Code)
		}
	}()
	ch := channelOf(t, conn)
	if _, err = ch.QueueDeclare("q", false, false, false, false, nil); err != nil {
		return
	}
	deliveries, err := ch.Consume("q", "", true, false, false, false, nil)
	if err != nil {
		return
	}
	if err := ch.Publish("", "q", false, false, amqp091.Publishing{}); err != nil {
		return
	}
	<-deliveries
}
