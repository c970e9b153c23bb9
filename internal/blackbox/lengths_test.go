package blackbox_test

import (
	"strings"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the protocol has no room for is refused, and says what it is. One byte less passes.
func TestStringsHaveAtMost255Bytes(t *testing.T) {
	b, _ := newTestBroker(t)
	mustDeclare(t, b, "q", nil)
	fits, tooLong := strings.Repeat("x", 255), strings.Repeat("x", 256)
	property := func(set func(p *leveret.Properties, s string)) func(s string) error {
		return func(s string) error {
			p := &leveret.Properties{}
			set(p, s)
			_, err := b.Publish("", "q", leveret.Message{Properties: p})
			return err
		}
	}
	for what, give := range map[string]func(s string) error{
		"the name of a queue": func(s string) error {
			_, err := b.DeclareQueue(s, leveret.QueueConfig{})
			return err
		},
		"the name of an exchange": func(s string) error {
			_, err := b.DeclareExchange(s, leveret.Topic, leveret.ExchangeConfig{})
			return err
		},
		"the name of a virtual host": func(s string) error { _, err := b.CreateVHost(s); return err },
		"a routing key":              func(s string) error { return b.BindQueue("q", "amq.topic", s, nil) },
		"a consumer tag": func(s string) error {
			c, err := b.Connect("guest", "guest", "/")
			require.NoError(t, err)
			defer c.Close()
			ch, err := c.Channel()
			require.NoError(t, err)
			_, err = ch.Consume("q", leveret.ConsumeConfig{Tag: s})
			return err
		},
		"the property content-type":     property(func(p *leveret.Properties, s string) { p.ContentType = s }),
		"the property content-encoding": property(func(p *leveret.Properties, s string) { p.ContentEncoding = s }),
		"the property correlation-id":   property(func(p *leveret.Properties, s string) { p.CorrelationID = s }),
		"the property reply-to":         property(func(p *leveret.Properties, s string) { p.ReplyTo = s }),
		"the property expiration":       property(func(p *leveret.Properties, s string) { p.Expiration = strings.ReplaceAll(s, "x", "0") }),
		"the property message-id":       property(func(p *leveret.Properties, s string) { p.MessageID = s }),
		"the property type":             property(func(p *leveret.Properties, s string) { p.Type = s }),
		"the property user-id":          property(func(p *leveret.Properties, s string) { p.UserID = s }),
		"the property app-id":           property(func(p *leveret.Properties, s string) { p.AppID = s }),
		"the property cluster-id":       property(func(p *leveret.Properties, s string) { p.ClusterID = s }),
	} {
		assert.NoError(t, give(fits), what)
		err := give(tooLong)
		assert.ErrorIs(t, err, leveret.ErrSyntax, what)
		assert.ErrorContains(t, err, what+" has at most 255 bytes, not 256")
	}
	_, err := b.Publish("amq.topic", tooLong, leveret.Message{})
	assert.ErrorContains(t, err, "a routing key has at most 255 bytes, not 256")
	_, err = b.Publish(tooLong, "", leveret.Message{})
	assert.ErrorContains(t, err, "the name of an exchange has at most 255 bytes, not 256")
}

// Headers that no frame has room for would end the connection of whoever receives them.
func TestHeadersFitIntoAFrame(t *testing.T) {
	const most = 128<<10 - 8 - 12 // frame, without what is around it and before the properties
	b, _ := newTestBroker(t)
	mustDeclare(t, b, "q", nil)
	value := func(size int) string { return strings.Repeat("x", size-2-4-(1+1)-(1+4)) } // flags, table, name, value
	for _, given := range []func(s string) leveret.Properties{
		func(s string) leveret.Properties { return leveret.Properties{Headers: leveret.Table{"h": s}} },
		func(s string) leveret.Properties {
			return leveret.Properties{HeaderFields: leveret.Fields{{Name: "h", Value: s}}}
		},
	} {
		fits, tooLarge := given(value(most)), given(value(most+1))
		_, err := b.Publish("", "q", leveret.Message{Properties: &fits})
		assert.NoError(t, err)
		_, err = b.Publish("", "q", leveret.Message{Properties: &tooLarge})
		assert.ErrorIs(t, err, leveret.ErrSyntax)
		assert.ErrorContains(t, err, "properties and headers have at most 131052 bytes when encoded, not 131053")
	}
}

func TestNegativePrefetchIsRefused(t *testing.T) {
	b, _ := newTestBroker(t)
	q := mustDeclare(t, b, "q", nil)
	_, err := q.Consume(leveret.ConsumeConfig{Prefetch: -1})
	assert.ErrorIs(t, err, leveret.ErrSyntax)
	c, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	ch, err := c.Channel()
	require.NoError(t, err)
	assert.ErrorContains(t, ch.Qos(leveret.QosConfig{PrefetchCount: -1}), "a prefetch is at least 0, not -1")
}
