package blackbox_test

import (
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

// anything is what a hook may call, by name: every method of the broker, of a queue and of a session, in one way or
// another. Broker.Settle and ManualClock.Advance are what it must not call.
var anything = map[string]func(b *leveret.Broker, ch *leveret.Channel){
	"publish":         func(b *leveret.Broker, _ *leveret.Channel) { b.Publish("amq.fanout", "", leveret.Message{}) },
	"channel publish": func(_ *leveret.Broker, ch *leveret.Channel) { ch.Publish("amq.fanout", "", leveret.Message{}) },
	"declare, bind, delete": func(b *leveret.Broker, _ *leveret.Channel) {
		b.DeclareExchange("x", leveret.Fanout, leveret.ExchangeConfig{})
		b.DeclareQueue("r", leveret.QueueConfig{})
		b.BindQueue("r", "x", "", nil)
		b.DeleteExchange("x", leveret.DeleteConfig{})
		b.DeleteQueue("r", leveret.DeleteConfig{})
	},
	"delete what it is about": func(b *leveret.Broker, _ *leveret.Channel) { b.DeleteQueue("q", leveret.DeleteConfig{}) },
	"purge":                   func(b *leveret.Broker, _ *leveret.Channel) { b.PurgeQueue("q") },
	"policies": func(b *leveret.Broker, _ *leveret.Channel) {
		b.SetPolicy(leveret.Policy{Name: "hook", Definition: leveret.Table{"max-length": 1}})
		b.ClearPolicy("hook")
	},
	"look": func(b *leveret.Broker, _ *leveret.Channel) {
		b.Queues()
		b.Exchanges()
		b.Bindings()
		b.Consumers()
		b.Connections()
		b.Counters()
		b.Memory()
		b.NextDeadline()
		b.VHosts()
		if q, err := b.Queue("q"); err == nil {
			q.Messages()
			q.Waiting()
			q.Info()
		}
	},
	"check": func(b *leveret.Broker, _ *leveret.Channel) { b.Check() },
	"memory": func(b *leveret.Broker, _ *leveret.Channel) {
		b.SetMemoryLimit(-1)
		b.ReportMemory(5)
		b.SetMemoryLimit(0)
	},
	"watch":            func(b *leveret.Broker, _ *leveret.Channel) { b.Watch(leveret.Events{})() },
	"users":            func(b *leveret.Broker, _ *leveret.Channel) { b.AddUser("u", "p"); b.DeleteUser("u") },
	"own user":         func(b *leveret.Broker, _ *leveret.Channel) { b.DeleteUser("guest") },
	"virtual hosts":    func(b *leveret.Broker, _ *leveret.Channel) { b.CreateVHost("v"); b.DeleteVHost("v") },
	"own virtual host": func(b *leveret.Broker, _ *leveret.Channel) { b.DeleteVHost("/") },
	"sessions": func(b *leveret.Broker, _ *leveret.Channel) {
		if conn, err := b.Connect("guest", "guest", "/"); err == nil {
			conn.Channel()
			conn.Close()
		}
	},
	"own connection": func(b *leveret.Broker, ch *leveret.Channel) {
		for _, c := range b.Connections() {
			b.CloseConnection(c.ID, "hook")
		}
	},
	"own channel": func(_ *leveret.Broker, ch *leveret.Channel) { ch.Close() },
	"settle":      func(_ *leveret.Broker, ch *leveret.Channel) { ch.Ack(0, true) },
	"consume": func(_ *leveret.Broker, ch *leveret.Channel) {
		if c, err := ch.Consume("q", leveret.ConsumeConfig{}); err == nil {
			c.Close()
		}
	},
	"close": func(b *leveret.Broker, _ *leveret.Channel) { b.Close() },
}

// Every hook may call anything, once or each time: in a bubble, whoever waited for himself would be found out.
func TestHooksMayCallAnything(t *testing.T) {
	hooks := reflect.TypeFor[leveret.Events]()
	for name, call := range anything {
		t.Run(name, func(t *testing.T) {
			for i := range hooks.NumField() {
				if hooks.Field(i).Name == "StoreFailed" {
					continue // of a broker with a directory: the root TestHooksOfTheDiskMayClose
				}
				synctest.Test(t, func(t *testing.T) { callFromHook(t, hooks.Field(i).Name, call) })
			}
		})
	}
}

// callFromHook makes everything happen to a broker of which one hook calls something.
func callFromHook(t *testing.T, hook string, call func(*leveret.Broker, *leveret.Channel)) {
	b := leveret.New()
	defer b.Close()
	conn, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	ch, err := conn.Channel()
	require.NoError(t, err)
	called := 0
	events := reflect.New(reflect.TypeFor[leveret.Events]()).Elem()
	f := events.FieldByName(hook)
	f.Set(reflect.MakeFunc(f.Type(), func([]reflect.Value) []reflect.Value {
		if called++; called <= 20 { // what it calls may call it again
			call(b, ch)
		}
		return nil
	}))
	b.Watch(events.Interface().(leveret.Events))
	everythingHappens(b, ch)
	b.Settle()
	require.NoError(t, b.Check())
	require.Positive(t, called, "%s was never called", hook)
}

// everythingHappens causes each event at least once, as long as nobody interferes.
func everythingHappens(b *leveret.Broker, ch *leveret.Channel) {
	b.SetMemoryLimit(-1)
	b.SetMemoryLimit(0)
	b.SetAlarm(leveret.DiskAlarm, true)
	b.SetAlarm(leveret.DiskAlarm, false)
	b.DeclareExchange("x", leveret.Fanout, leveret.ExchangeConfig{})
	b.BindExchange("x", "amq.fanout", "", nil)
	b.UnbindExchange("x", "amq.fanout", "", nil)
	b.DeclareQueue("dead", leveret.QueueConfig{Arguments: leveret.Table{"x-mesage-ttl": 1}}) // Ignored
	b.DeclareQueue("q", leveret.QueueConfig{Arguments: leveret.Table{"x-max-length": 3, "x-overflow": "reject-publish",
		"x-dead-letter-exchange": "", "x-dead-letter-routing-key": "dead"}})
	b.SetPolicy(leveret.Policy{Name: "p", Definition: leveret.Table{"expires": 1000}})
	for range 5 {
		ch.Publish("", "q", leveret.Message{})
	}
	ch.Publish("", "missing", leveret.Message{Mandatory: true})
	ch.Publish("", "missing", leveret.Message{})
	c, _ := ch.Consume("q", leveret.ConsumeConfig{Prefetch: 1})
	ch.Nack(1, false, true)
	ch.Ack(2, false)
	ch.Nack(3, false, false)
	if c != nil {
		c.Close()
	}
	b.ClearPolicy("p")
	b.DeleteExchange("x", leveret.DeleteConfig{})
	b.DeleteQueue("q", leveret.DeleteConfig{})
	time.Sleep(time.Hour)
	if conn, err := b.Connect("guest", "guest", "/"); err == nil {
		conn.Channel()
		conn.Close()
	}
	b.DeleteQueue("dead", leveret.DeleteConfig{})
}
