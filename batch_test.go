package leveret_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func numbered(n int, key string) (messages []leveret.Publishing) {
	for i := range n {
		messages = append(messages, leveret.Publishing{RoutingKey: key, Message: leveret.Message{Body: fmt.Append(nil, i)}})
	}
	return messages
}

func bodies(ds []leveret.Delivery) (texts []string) {
	for _, d := range ds {
		texts = append(texts, string(d.Body))
	}
	return texts
}

// What a batch does is what its messages do one by one: outcomes, deliveries, dead letters and what remains.
func TestBatchIsThatManyOperations(t *testing.T) {
	oneByOne := func(t *testing.T, ch *leveret.Channel, messages []leveret.Publishing, ds []leveret.Delivery) (outs []leveret.Outcome, n int) {
		for _, m := range messages {
			out, err := ch.Publish(m.Exchange, m.RoutingKey, m.Message)
			require.NoError(t, err)
			outs = append(outs, out)
		}
		for ; n < len(ds); n++ {
			d, ok, err := ch.Get("q", leveret.GetConfig{})
			require.NoError(t, err)
			if !ok {
				break
			}
			ds[n] = *d
		}
		for i := range n {
			require.NoError(t, ds[i].Ack())
		}
		return outs, n
	}
	atOnce := func(t *testing.T, ch *leveret.Channel, messages []leveret.Publishing, ds []leveret.Delivery) ([]leveret.Outcome, int) {
		outs, err := ch.PublishAll(messages)
		require.NoError(t, err)
		n, err := ch.GetMany("q", ds, leveret.GetConfig{})
		require.NoError(t, err)
		require.NoError(t, leveret.AckAll(ds[:n]))
		return outs, n
	}
	messages := slices.Concat(numbered(2, "q"), numbered(2, "through"), numbered(5, "q"),
		[]leveret.Publishing{{RoutingKey: "nowhere", Message: leveret.Message{Mandatory: true, Body: []byte("back")}}})
	for _, kind := range []string{leveret.QueueTypeClassic, leveret.QueueTypeQuorum} {
		for _, overflow := range []string{"drop-head", "reject-publish"} {
			for _, room := range []int{2, 20} {
				t.Run(fmt.Sprint(kind, "/", overflow, "/", room), func(t *testing.T) {
					var shown []string
					for _, way := range []func(*testing.T, *leveret.Channel, []leveret.Publishing, []leveret.Delivery) ([]leveret.Outcome, int){oneByOne, atOnce} {
						b, _, ch := unscripted(t)
						declareWith(t, b, "dead", nil)
						declareWith(t, b, "q", leveret.Table{leveret.ArgQueueType: kind, leveret.ArgMaxLength: 4, leveret.ArgOverflow: overflow,
							leveret.ArgDeadLetterExchange: "", leveret.ArgDeadLetterRoutingKey: "dead"})
						declareWith(t, b, "through", leveret.Table{leveret.ArgMessageTTL: 0, leveret.ArgDeadLetterExchange: "",
							leveret.ArgDeadLetterRoutingKey: "q"})
						require.NoError(t, ch.Confirm())
						ds := make([]leveret.Delivery, room)
						outs, n := way(t, ch, messages, ds)
						text := ""
						for _, out := range outs {
							text += fmt.Sprintf("%d %d %v %v\n", out.Sequence, out.Queues, out.Rejected, out.Return != nil)
						}
						for i := range ds[:n] {
							text += ds[i].String() + fmt.Sprint(ds[i].DeliveryTag, ds[i].MessageCount, ds[i].Headers) + "\n"
						}
						for _, q := range b.Queues() {
							handle, err := b.Queue(q.Name)
							require.NoError(t, err)
							text += fmt.Sprintf("%s %+v\n", q.Name, handle.Counters())
							for _, m := range handle.Messages() {
								text += fmt.Sprintf("%s %v\n", m.Body, m.Properties)
							}
						}
						shown = append(shown, text)
					}
					assert.Equal(t, shown[0], shown[1])
					assert.Contains(t, shown[0], "Expired:2")
				})
			}
		}
	}
}

func TestPublishAllEndsAtTheFirstError(t *testing.T) {
	b, _, ch := unscripted(t)
	declareWith(t, b, "q", nil)
	messages := numbered(4, "q")
	messages[2].Exchange = "missing"
	outs, err := ch.PublishAll(messages)
	assert.Len(t, outs, 2)
	require.EqualError(t, err, "basic.publish: NOT_FOUND - no exchange 'missing' in vhost '/'")
	again, err := ch.PublishAll(messages)
	assert.Empty(t, again)
	require.ErrorIs(t, err, leveret.ErrNotFound, "the channel is closed")
	outs, err = b.PublishAll(messages)
	assert.Len(t, outs, 2)
	require.ErrorIs(t, err, leveret.ErrNotFound)
	outs, err = b.PublishAll(messages[:2])
	assert.Len(t, outs, 2)
	require.NoError(t, err)

	q, err := b.Queue("q")
	require.NoError(t, err)
	ds := make([]leveret.Delivery, 10)
	n, err := q.GetMany(ds)
	require.NoError(t, err)
	assert.Equal(t, []string{"0", "1", "0", "1", "0", "1"}, bodies(ds[:n]))
}

func TestGetManyAndAckAll(t *testing.T) {
	b, _, ch := unscripted(t)
	declareWith(t, b, "q", nil)
	_, err := b.PublishAll(numbered(7, "q"))
	require.NoError(t, err)
	q, err := b.Queue("q")
	require.NoError(t, err)

	ds := make([]leveret.Delivery, 5)
	n, err := q.GetMany(ds[:2])
	require.NoError(t, err)
	assert.Equal(t, []string{"0", "1"}, bodies(ds[:n]))
	assert.Equal(t, []int{6, 5}, []int{ds[0].MessageCount, ds[1].MessageCount})
	n, err = ch.GetMany("q", ds[2:4], leveret.GetConfig{})
	require.NoError(t, err)
	assert.Equal(t, []string{"2", "3"}, bodies(ds[2:2+n]))
	assert.Equal(t, 4, q.Info().Unacked)
	require.NoError(t, leveret.AckAll(ds[:4]), "of two channels")
	assert.Zero(t, q.Info().Unacked)
	require.EqualError(t, leveret.AckAll(ds[2:4]), "basic.ack: PRECONDITION_FAILED - unknown delivery tag 1")

	n, err = q.GetMany(ds, leveret.GetConfig{NoAck: true})
	require.NoError(t, err)
	assert.Equal(t, []string{"4", "5", "6"}, bodies(ds[:n]))
	n, err = q.GetMany(ds)
	require.NoError(t, err)
	assert.Zero(t, n)
	require.NoError(t, leveret.AckAll(nil))
	n, err = openChannel(t, b).GetMany("missing", ds, leveret.GetConfig{})
	assert.Zero(t, n)
	require.EqualError(t, err, "basic.get: NOT_FOUND - no queue 'missing' in vhost '/'")
	_, err = q.Delete(leveret.DeleteConfig{})
	require.NoError(t, err)
	_, err = q.GetMany(ds)
	require.ErrorIs(t, err, leveret.ErrNotFound)
}

// What PublishAll has returned for is on the disk.
func TestPublishAllIsDurable(t *testing.T) {
	dir := t.TempDir()
	b, err := leveret.Open(dir)
	require.NoError(t, err)
	declareWith(t, b, "q", nil)
	messages := numbered(100, "q")
	for i := range messages {
		messages[i].Properties = &leveret.Properties{DeliveryMode: 2}
	}
	_, err = b.PublishAll(messages)
	require.NoError(t, err)
	q, err := b.Queue("q")
	require.NoError(t, err)
	ds := make([]leveret.Delivery, 60)
	n, err := q.GetMany(ds)
	require.NoError(t, err)
	require.NoError(t, leveret.AckAll(ds[:n]))
	require.NoError(t, b.Close())

	b, err = leveret.Open(dir)
	require.NoError(t, err)
	defer func() { assert.NoError(t, b.Close()) }()
	q, err = b.Queue("q")
	require.NoError(t, err)
	assert.Equal(t, 40, q.Info().Ready)
}

// Deliveries that their program is done with are used again; until then none is.
func TestDeliveriesAreUsedAgain(t *testing.T) {
	b, _, _ := unscripted(t)
	declareWith(t, b, "q", nil)
	q, err := b.Queue("q")
	require.NoError(t, err)

	t.Run("handler", func(t *testing.T) {
		seen := map[*leveret.Delivery]bool{}
		var got []string
		c, err := q.Consume(leveret.ConsumeConfig{Reuse: true, Handler: func(d *leveret.Delivery) {
			seen[d] = true
			require.NoError(t, d.Ack())
			got = append(got, string(d.Body))
		}})
		require.NoError(t, err)
		for range 3 {
			_, err = b.PublishAll(numbered(10, "q"))
			require.NoError(t, err)
		}
		assert.Equal(t, slices.Repeat([]string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}, 3), got)
		assert.Len(t, seen, 10)
		for d := range seen {
			assert.Equal(t, &leveret.Delivery{}, d, "what waits to be used again keeps no message in memory")
		}
		require.NoError(t, c.Close())
	})
	t.Run("deliveries", func(t *testing.T) {
		c, err := q.Consume(leveret.ConsumeConfig{Reuse: true})
		require.NoError(t, err)
		seen := map[*leveret.Delivery]bool{}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		_, err = b.PublishAll(numbered(10, "q"))
		require.NoError(t, err)
		n := 0
		for d := range c.Deliveries(ctx) {
			seen[d] = true
			require.Equal(t, fmt.Sprint(n%10), string(d.Body))
			require.NoError(t, d.Ack())
			if n++; n == 50 {
				break
			}
			if n%10 == 0 {
				_, err = b.PublishAll(numbered(10, "q"))
				require.NoError(t, err)
			}
		}
		assert.Len(t, seen, 20) // the tenth is in use when the next ten are delivered; so they take turns
		require.NoError(t, c.Close())
	})
	t.Run("without", func(t *testing.T) {
		seen := map[*leveret.Delivery]bool{}
		c, err := q.Consume(leveret.ConsumeConfig{Handler: func(d *leveret.Delivery) {
			seen[d] = true
			require.NoError(t, d.Ack())
		}})
		require.NoError(t, err)
		for range 3 {
			_, err = b.PublishAll(numbered(10, "q"))
			require.NoError(t, err)
		}
		assert.Len(t, seen, 30)
		require.NoError(t, c.Close())
	})
	t.Run("get", func(t *testing.T) {
		own := leveret.Delivery{ConsumerTag: "left over", Redelivered: true}
		d, ok, err := q.Get(leveret.GetConfig{Into: &own})
		require.NoError(t, err)
		assert.False(t, ok)
		assert.Nil(t, d)
		assert.Equal(t, "left over", own.ConsumerTag)
		_, err = b.PublishAll(numbered(1, "q"))
		require.NoError(t, err)
		d, ok, err = q.Get(leveret.GetConfig{Into: &own})
		require.NoError(t, err)
		assert.True(t, ok)
		assert.Same(t, &own, d)
		assert.Empty(t, own.ConsumerTag)
		assert.False(t, own.Redelivered)
		require.NoError(t, own.Ack())
	})
}

// A publisher that alternates between many ways is routed as one that does not, whatever changes in between.
func TestAlternatingPublisher(t *testing.T) {
	b, _, ch := unscripted(t)
	_, err := b.DeclareExchange("x", leveret.Direct, leveret.ExchangeConfig{})
	require.NoError(t, err)
	const ways = 5
	for i := range ways {
		declareWith(t, b, fmt.Sprint("q", i), nil)
	}
	for round := range 8 {
		for i := range ways {
			key := fmt.Sprint("k", i)
			if bound := (i+round)%3 == 0; bound {
				require.NoError(t, b.BindQueue(fmt.Sprint("q", i), "x", key, nil))
			} else {
				require.NoError(t, b.UnbindQueue(fmt.Sprint("q", i), "x", key, nil))
			}
		}
		for i := range 3 * ways {
			i %= ways
			for _, publish := range []func(exchange, key string, m leveret.Message) (leveret.Outcome, error){ch.Publish, b.Publish} {
				out, err := publish("x", fmt.Sprint("k", i), leveret.Message{})
				require.NoError(t, err)
				want := 0
				if (i+round)%3 == 0 {
					want = 1
				}
				require.Equal(t, want, out.Queues, "round %d, way %d", round, i)
				if round%2 == 1 { // takes the place of the way before
					out, err = publish("", fmt.Sprint("q", i), leveret.Message{})
					require.NoError(t, err)
					require.Equal(t, 1, out.Queues)
				}
			}
		}
	}
}

// Others are served while a batch of many goes on.
func TestOthersGetInDuringABatch(t *testing.T) {
	b := leveret.New()
	defer func() { assert.NoError(t, b.Close()) }()
	declareWith(t, b, "q", nil)
	q, err := b.Queue("q")
	require.NoError(t, err)
	done := make(chan error)
	go func() {
		_, err := b.PublishAll(numbered(300_000, "q"))
		done <- err
	}()
	between := 0
	for {
		select {
		case err := <-done:
			require.NoError(t, err)
			assert.Positive(t, between)
			return
		default:
			if n := q.Info().Ready; n > 0 && n < 300_000 {
				between++
			}
		}
	}
}
