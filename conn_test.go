package leveret_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

// A connection that asks for no number of channels may have 2047. A real broker shows the number when it negotiates.
func TestDefaultChannelMax(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	c, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	for range 2047 {
		_, err := c.Channel()
		require.NoError(t, err)
	}
	_, err = c.Channel()
	require.ErrorIs(t, err, leveret.ErrNotAllowed)
}

// A listener's channel that an error has closed ends with Close. The event has the error. Only classic queues that the channel consumes
// from do not wait.
// Rules: E-7.
func TestFailedChannelEndsWithClose(t *testing.T) {
	var ended []*leveret.Error
	b := leveret.New(leveret.WithEvents(leveret.Events{ChannelClosed: func(e leveret.ChannelEvent) { ended = append(ended, e.Err) }}))
	defer b.Close()
	q, err := b.DeclareQueue("q", leveret.QueueConfig{})
	require.NoError(t, err)
	consumed, err := b.DeclareQueue("consumed", leveret.QueueConfig{})
	require.NoError(t, err)
	for _, key := range []string{"q", "consumed"} {
		_, err = b.Publish("", key, leveret.Message{})
		require.NoError(t, err)
	}
	c, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Inbox: leveret.NewInbox(leveret.InboxConfig{})})
	require.NoError(t, err)
	ch, err := c.Channel()
	require.NoError(t, err)
	_, ok, err := ch.Get("q", leveret.GetConfig{})
	require.NoError(t, err)
	require.True(t, ok)
	_, err = ch.Consume("consumed", leveret.ConsumeConfig{})
	require.NoError(t, err)
	require.Equal(t, 1, consumed.Info().Unacked)
	_, err = ch.CheckQueue("missing")
	require.ErrorIs(t, err, leveret.ErrNotFound)
	_, err = ch.CheckQueue("q")
	require.ErrorIs(t, err, leveret.ErrClosed)
	require.Empty(t, ended)
	require.Equal(t, 1, q.Info().Unacked)
	require.Equal(t, 1, consumed.Info().Ready)
	require.NoError(t, b.Check())

	require.NoError(t, ch.Close())
	require.Len(t, ended, 1)
	require.ErrorIs(t, ended[0], leveret.ErrNotFound)
	require.Equal(t, 1, q.Info().Ready)
	require.NoError(t, ch.Close())
	require.Len(t, ended, 1)
}

// Until its client has answered channel.close a channel goes on to get direct replies in 4.3. 3.10 loses them.
// Rules: E-7.
func TestFailedChannelGetsReplies(t *testing.T) {
	for profile, want := range map[leveret.Profile]int{leveret.RabbitMQ43: 1, leveret.RabbitMQ310: 0} {
		b := leveret.New(leveret.WithProfile(profile))
		defer b.Close()
		requests, err := b.DeclareQueue("requests", leveret.QueueConfig{})
		require.NoError(t, err)
		c, in := remoteConn(t, b)
		ch, err := c.Channel()
		require.NoError(t, err)
		_, err = ch.Consume("amq.rabbitmq.reply-to", leveret.ConsumeConfig{NoAck: true})
		require.NoError(t, err)
		_, err = ch.Publish("", "requests", leveret.Message{Properties: &leveret.Properties{ReplyTo: "amq.rabbitmq.reply-to"}})
		require.NoError(t, err)
		request, _, err := requests.Get()
		require.NoError(t, err)
		_, err = ch.CheckQueue("missing")
		require.ErrorIs(t, err, leveret.ErrNotFound)
		for range 2 { // the second comes when the channel has ended
			_, err = b.Publish("", request.ReplyTo, leveret.Message{})
			require.NoError(t, err)
			require.NoError(t, ch.Close())
		}
		require.Len(t, in.Take(nil), want)
		require.NoError(t, b.Check())
	}
}

// The channels of a connection end one after the other: a quorum queue hands what the first held to the second. The program hears
// nothing of that.
// Rules: D-31.
func TestChannelsOfAConnectionEndInTurn(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	q := quorumQueue(t, b, "q")
	c, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	handled := 0
	for range 2 {
		ch, err := c.Channel()
		require.NoError(t, err)
		_, err = ch.Consume("q", leveret.ConsumeConfig{Handler: func(*leveret.Delivery) { handled++ }})
		require.NoError(t, err)
	}
	for _, body := range []string{"a", "b", "c", "d"} {
		_, err = b.Publish("", "q", leveret.Message{Body: []byte(body)})
		require.NoError(t, err)
	}
	require.Equal(t, 4, handled)
	require.NoError(t, c.Close())
	require.Equal(t, 4, handled)
	require.Equal(t, []string{"b 1", "d 1", "a 2", "c 2"}, returned(t, q))
}

// What a quorum queue delivers because of a commit's settlements comes last, and as an echo, unless a publish went to a quorum queue.
// Rules: C-10.
func TestCommitSettlesOfQuorumQueuesLast(t *testing.T) {
	for target, want := range map[string]string{"classic": "classic false, quorum true", "quorum": "quorum false"} {
		b := leveret.New()
		defer b.Close()
		c, in := remoteConn(t, b)
		ch, err := c.Channel()
		require.NoError(t, err)
		for _, name := range []string{"classic", "quorum"} {
			_, err := ch.DeclareQueue(name, leveret.QueueConfig{Durable: true, Arguments: leveret.Table{leveret.ArgQueueType: name}})
			require.NoError(t, err)
			_, err = ch.Consume(name, leveret.ConsumeConfig{Tag: name, Prefetch: 1})
			require.NoError(t, err)
		}
		for range 2 {
			_, err = b.Publish("", "quorum", leveret.Message{})
			require.NoError(t, err)
		}
		in.Take(nil)
		require.NoError(t, ch.Tx())
		_, err = ch.Publish("", target, leveret.Message{})
		require.NoError(t, err)
		require.NoError(t, ch.Ack(1, false))
		_, err = ch.Commit()
		require.NoError(t, err)
		var got []string
		for _, n := range in.Take(nil) {
			got = append(got, fmt.Sprint(n.ConsumerTag, " ", n.Echo))
		}
		require.Equal(t, want, strings.Join(got, ", "))
	}
}

// What is taken at the first moment that a clock can show times out, too.
// Rules: D-35.
func TestTimeoutOfAGetIn1970(t *testing.T) {
	clock := leveret.NewManualClock(time.Unix(0, 0))
	b := leveret.New(leveret.WithClock(clock))
	defer b.Close()
	quorumQueue(t, b, "q")
	_, err := b.Publish("", "q", leveret.Message{})
	require.NoError(t, err)
	c, err := b.Connect("guest", "guest", "/")
	require.NoError(t, err)
	ch, err := c.Channel()
	require.NoError(t, err)
	_, ok, err := ch.Get("q", leveret.GetConfig{})
	require.NoError(t, err)
	require.True(t, ok)
	clock.Advance(31 * time.Minute)
	_, err = ch.CheckQueue("q")
	require.ErrorIs(t, err, leveret.ErrClosed)
}

// Of the channels of a connection those end first that an error has closed.
// Rules: D-31.
func TestFailedChannelsOfAConnectionEndFirst(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	q := quorumQueue(t, b, "q")
	c, err := b.Open(leveret.ConnConfig{User: "guest", VHost: "/", Inbox: leveret.NewInbox(leveret.InboxConfig{})})
	require.NoError(t, err)
	var last *leveret.Channel
	for range 2 {
		last, err = c.Channel()
		require.NoError(t, err)
		_, err = last.Consume("q", leveret.ConsumeConfig{})
		require.NoError(t, err)
	}
	for _, body := range []string{"a", "b", "c", "d"} {
		_, err = b.Publish("", "q", leveret.Message{Body: []byte(body)})
		require.NoError(t, err)
	}
	require.ErrorIs(t, last.Ack(99, false), leveret.ErrPreconditionFailed)
	require.NoError(t, c.Close())
	require.Equal(t, []string{"a 1", "c 1", "b 2", "d 2"}, returned(t, q))
}

// A listener's channel that is closed because of a timeout ends with Close, too, and its client is told once.
// Rules: D-35, E-7.
func TestChannelOfATimeoutEndsWithClose(t *testing.T) {
	clock := leveret.NewManualClock(time.Unix(1_800_000_000, 0))
	b := leveret.New(leveret.WithClock(clock))
	defer b.Close()
	quorumQueue(t, b, "timed")
	classic, err := b.DeclareQueue("classic", leveret.QueueConfig{})
	require.NoError(t, err)
	for _, key := range []string{"timed", "timed", "classic"} {
		_, err = b.Publish("", key, leveret.Message{})
		require.NoError(t, err)
	}
	c, in := remoteConn(t, b)
	ch, err := c.Channel()
	require.NoError(t, err)
	for _, queue := range []string{"timed", "classic"} {
		_, ok, err := ch.Get(queue, leveret.GetConfig{})
		require.NoError(t, err)
		require.True(t, ok)
	}
	clock.Advance(10 * time.Minute)
	_, err = ch.Consume("timed", leveret.ConsumeConfig{}) // its client cannot be told of the end of a consumer
	require.NoError(t, err)
	closed := 0
	for range 4 {
		clock.Advance(10 * time.Minute)
		for _, n := range in.Take(nil) {
			if n.Kind == leveret.ChannelClosed {
				closed++
			}
		}
	}
	require.Equal(t, 1, closed)
	require.Equal(t, 1, classic.Info().Unacked)
	require.NoError(t, ch.Close())
	require.Equal(t, 1, classic.Info().Ready)
}

func quorumQueue(t *testing.T, b *leveret.Broker, name string) *leveret.Queue {
	q, err := b.DeclareQueue(name, leveret.QueueConfig{Durable: true, Arguments: leveret.Table{leveret.ArgQueueType: leveret.QueueTypeQuorum}})
	require.NoError(t, err)
	return q
}

// returned takes what is in a queue, with how often it has come back.
func returned(t *testing.T, q *leveret.Queue) (got []string) {
	for {
		d, ok, err := q.Get(leveret.GetConfig{})
		require.NoError(t, err)
		if !ok {
			return got
		}
		got = append(got, fmt.Sprintf("%s %v", d.Body, d.Headers["x-delivery-count"]))
	}
}
