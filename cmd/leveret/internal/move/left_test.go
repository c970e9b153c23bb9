package move

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/address"
	"github.com/leveretmq/leveret/leverettest"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a full queue refuses stays at the source, and the next run takes it.
func TestMoveRefused(t *testing.T) {
	p := newPair(t)
	declare(t, p.from, "work", nil)
	declare(t, p.from, "zoo", nil)
	declare(t, p.to, "work", leveret.Table{"x-max-length": 3, "x-overflow": "reject-publish"})
	sent := fill(t, p.from, "work", 10)
	fill(t, p.from, "zoo", 2)
	r := p.run(p.job())
	assert.Equal(t, sent[:3], bodies(t, p.to, "work"))
	assert.Equal(t, sent[3:], bodies(t, p.from, "work"))
	assert.Equal(t, []string{"0", "1"}, bodies(t, p.to, "zoo"), "the next queue is moved")
	assert.False(t, r.Whole())
	assert.Contains(t, r.String(), "queue work: 3 messages, and then: / on rabbitmq refused a message for queue work")
	assert.Zero(t, r.Again)

	received(t, p.to, "work")
	p.run(p.job())
	assert.Equal(t, sent[3:6], bodies(t, p.to, "work"))
}

// A message that comes back because a binding is gone stays at the source.
func TestMoveReturned(t *testing.T) {
	p := newPair(t)
	for _, b := range []*leveret.Broker{p.from, p.to} {
		declare(t, b, "work", nil)
		_, err := b.DeclareExchange("x", leveret.Direct, leveret.ExchangeConfig{Durable: true})
		require.NoError(t, err)
		require.NoError(t, b.BindQueue("work", "x", "k", nil))
	}
	ch := client(t, p.from)
	for _, key := range []string{"k", "k"} {
		require.NoError(t, ch.Publish("x", key, false, false, amqp.Publishing{Body: []byte(key)}))
	}
	leverettest.Settle(t, p.from)
	j := p.job()
	j.Most = 1
	p.run(j)
	require.Equal(t, []string{"k"}, bodies(t, p.to, "work"))
	require.NoError(t, p.to.UnbindQueue("work", "x", "k", nil)) // the job's destination does not know for some seconds
	j.SkipDefinitions = true
	r := p.run(j)
	assert.Equal(t, []string{"k"}, bodies(t, p.from, "work"))
	assert.Contains(t, r.String(), "has no way to queue work any more")
}

// The user-id of somebody else is refused with 406. It is left out, unless the user may impersonate others.
func TestMoveUserID(t *testing.T) {
	for _, c := range []struct {
		tags []string
		want string
		lost map[address.Loss]int
	}{{[]string{"administrator"}, "", map[address.Loss]int{address.LostUserID: 1}}, {[]string{"administrator", "impersonator"}, "ann", map[address.Loss]int{}}} {
		p := newPair(t)
		declare(t, p.from, "work", nil)
		_, err := p.from.Publish("", "work", leveret.Message{Properties: &leveret.Properties{UserID: "ann"}})
		require.NoError(t, err)
		require.NoError(t, p.to.SetUserTags("guest", c.tags...))
		r := p.run(p.job())
		got := received(t, p.to, "work")
		require.Len(t, got, 1)
		assert.Equal(t, c.want, got[0].UserId)
		assert.Equal(t, c.lost, r.Lost)
	}
}

// A queue that gives nothing, because it has another consumer alone, is left.
func TestMoveHeld(t *testing.T) {
	p := newPair(t)
	declare(t, p.from, "single", leveret.Table{"x-single-active-consumer": true})
	declare(t, p.from, "exclusive", nil)
	for _, q := range []string{"single", "exclusive"} {
		ch := client(t, p.from)
		require.NoError(t, ch.Qos(1, 0, false))
		_, err := ch.Consume(q, "", false, q == "exclusive", false, false, nil)
		require.NoError(t, err)
		fill(t, p.from, q, 2)
	}
	j := p.job()
	j.Patience = 100 * time.Millisecond
	r := p.run(j)
	assert.Contains(t, r.queue("single").Problem, "single active one")
	assert.Contains(t, r.queue("exclusive").Problem, "ACCESS_REFUSED")
	assert.Zero(t, r.Moved)
}

// What cannot be moved is listed.
func TestMoveLeavesOut(t *testing.T) {
	p := newPair(t)
	_, err := client(t, p.from).QueueDeclare("mine", false, false, true, false, nil)
	require.NoError(t, err)
	r := p.run(p.job())
	assert.Equal(t, []string{"queue mine: it belongs to a connection, and goes with it"}, r.LeftOut)
	d := document{"queues": []byte(`[{"name":"s","arguments":{"x-queue-type":"stream"}},{"name":"q"}]`),
		"bindings":   []byte(`[{"destination":"s","destination_type":"queue"},{"destination":"q","destination_type":"queue"},{"destination":"s","destination_type":"exchange"}]`),
		"parameters": []byte(`[{"component":"shovel","name":"a"},{"component":"operator_policy","name":"b"}]`),
		"exchanges":  []byte(`[{"name":"amq.rabbitmq.log"},{"name":"x"}]`)}
	assert.Equal(t, []string{"queue s: a stream is not moved", "parameter shovel a: parameters of plugins are not moved"}, d.narrow(Filter{}.Match))
	assert.Equal(t, map[string]int{"queues": 1, "bindings": 2, "parameters": 1, "exchanges": 1, "policies": 0}, d.counts())
}

// A virtual host that is missing at the target is made.
func TestMoveMakesVHost(t *testing.T) {
	p := newPair(t)
	declare(t, p.from, "work", nil)
	fill(t, p.from, "work", 1)
	to := sideOf(t, p.to)
	to.VHost = "new host"
	j := &Job{From: sideOf(t, p.from), To: To(to)}
	defer j.To.Close()
	p.run(j)
	v, err := p.to.VHost("new host")
	require.NoError(t, err)
	assert.Equal(t, 1, v.Queues()[0].Ready)
}

// A journal without a file counts over connections, one with a file over runs: the rate and the window hold too.
func TestMoveRate(t *testing.T) {
	p := newPair(t)
	declare(t, p.from, "work", nil)
	fill(t, p.from, "work", 11)
	j := p.job()
	j.Rate = 100
	r := p.run(j)
	assert.GreaterOrEqual(t, r.Seconds, 0.1)
}

// Errors do not show passwords.
func TestBrokerErrorsHidePasswords(t *testing.T) {
	for _, urls := range [][2]string{
		{"http://ann:secret@host/", ""}, {"amqp://ann:secret@host:port/", ""}, {"amqp://ann:sec%ret@host/", ""},
		{"amqp://a:b@host/", "ann:secret"}, {"amqp://a:b@host/", "http://ann:sec%ret@host:80"}, {"amqp://a:b@host/", "http://ann:secret@/"},
	} {
		_, err := ParseBroker(urls[0], urls[1])
		require.Error(t, err)
		assert.NotContains(t, err.Error(), "sec%ret")
		if urls[1] != "ann:secret" { // a scheme with an opaque rest: nobody knows that it is a password
			assert.NotContains(t, err.Error(), "secret")
		}
	}
	b, err := ParseBroker("amqps://ann:p%2Fw@host/v", "")
	require.NoError(t, err)
	assert.Equal(t, "https://ann:p%2Fw@host:15671", b.Admin)
	assert.Equal(t, "v on host", b.String())
}

// A password that is wrong ends the whole, and at once: no queue is at fault.
func TestMoveLoginRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a broker is silent for some seconds before it refuses a login
		p := newPair(t)
		declare(t, p.from, "work", nil)
		fill(t, p.from, "work", 1)
		wrong := func(b *leveret.Broker) *Broker {
			side := sideOf(t, b)
			side.AMQP = "amqp://guest:wrong@rabbitmq/"
			return side
		}
		for _, sides := range [][2]*Broker{{wrong(p.from), sideOf(t, p.to)}, {sideOf(t, p.from), wrong(p.to)}} {
			j := &Job{From: sides[0], To: To(sides[1]), Patience: time.Hour}
			r, err := j.Run(t.Context())
			assert.ErrorIs(t, err, errLogin)
			assert.Empty(t, r.queue("work").Problem)
			j.To.Close()
		}
	})
}
