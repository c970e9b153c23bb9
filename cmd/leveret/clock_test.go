package main

import (
	"io"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClockFlag(t *testing.T) {
	s, err := parseSettings(nil, io.Discard)
	require.NoError(t, err)
	assert.Nil(t, s.clock)
	s, err = parseSettings([]string{"--clock", "manual"}, io.Discard)
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now(), s.clock.Now(), time.Minute)
	for _, args := range [][]string{{"--clock", ""}, {"--clock", "fast"}, {"--clock", "manual", "--control", "none"}} {
		_, err := parseSettings(args, io.Discard)
		assert.ErrorContains(t, err, "--clock ", args)
	}
}

// advancing is a server on virtual time, with a client.
type advancing struct {
	*server
	t    *testing.T
	conn *amqp.Connection
	run  func(args []string, stdin string) (stdout, stderr string, status int)
}

func startAdvancing(t *testing.T, flags ...string) *advancing {
	given, err := parseSettings(flags, io.Discard)
	require.NoError(t, err)
	s := testSettings(t)
	s.clock = given.clock
	a := &advancing{server: startForTest(t, s), t: t, run: controlOf(s)}
	a.conn, err = amqp.Dial("amqp://guest:guest@" + a.doors[0].listener.Addr().String() + "/")
	require.NoError(t, err)
	t.Cleanup(func() { a.conn.Close() })
	return a
}

func (a *advancing) advance(d string) {
	a.t.Helper()
	_, stderr, status := a.run([]string{"advance", d}, "")
	require.Zero(a.t, status, stderr)
}

// retries declares a work queue with a queue before it in which messages wait for an hour.
func (a *advancing) retries() *amqp.Channel {
	ch, err := a.conn.Channel()
	require.NoError(a.t, err)
	_, err = ch.QueueDeclare("work", false, false, false, false, nil)
	require.NoError(a.t, err)
	_, err = ch.QueueDeclare("wait", false, false, false, false, amqp.Table{
		"x-message-ttl": 3600_000, "x-dead-letter-exchange": "", "x-dead-letter-routing-key": "work",
	})
	require.NoError(a.t, err)
	require.NoError(a.t, ch.Confirm(false))
	return ch
}

func (a *advancing) publish(ch *amqp.Channel, p amqp.Publishing) {
	confirm, err := ch.PublishWithDeferredConfirm("", "wait", false, false, p)
	require.NoError(a.t, err)
	require.True(a.t, confirm.Wait())
}

// When the command returns, what was due has happened, and its client has been written to.
func TestAdvance(t *testing.T) {
	a := startAdvancing(t, "--clock", "manual")
	ch := a.retries()
	_, err := ch.Consume("work", "", true, false, false, false, nil)
	require.NoError(t, err)
	for range 20 {
		a.publish(ch, amqp.Publishing{Body: make([]byte, 1000)})
		a.advance("59m59s")
		sent := a.broker.Connections()[0].Transport.Traffic.Sent
		a.advance("1s")
		require.Greater(t, a.broker.Connections()[0].Transport.Traffic.Sent, sent+1000)
	}
	a.advance("1000h")
	assert.False(t, a.conn.IsClosed(), "heartbeats go by the real time")
}

func TestAdvanceSaysTheTime(t *testing.T) {
	a := startAdvancing(t, "--clock", "manual")
	was, _, status := a.run([]string{"advance", "0s", "-q"}, "")
	require.Zero(t, status)
	is, _, status := a.run([]string{"advance", "1h30m", "-q"}, "")
	require.Zero(t, status)
	assert.Equal(t, 90*time.Minute, instant(t, is).Sub(instant(t, was)))
	out, _, _ := a.run([]string{"advance", "0s"}, "")
	assert.Equal(t, "Advancing the clock of node leveret@localhost by 0s ...\n"+is, out)
}

func instant(t *testing.T, line string) time.Time {
	at, err := time.Parse(time.RFC3339Nano+"\n", line)
	require.NoError(t, err)
	return at
}

func TestAdvanceRefuses(t *testing.T) {
	a := startAdvancing(t, "--clock", "manual")
	for arg, want := range map[string]string{
		"60":       "Bad argument: '60' is not a duration such as 60s or 1h30m",
		"-1s":      "Bad argument: '-1s' is not a duration such as 60s or 1h30m",
		"2500000h": "the clock would show a time after the year 2262",
	} {
		_, stderr, status := a.run([]string{"advance", "--", arg}, "")
		assert.Equal(t, 65, status, arg)
		assert.Contains(t, stderr, want)
	}
	_, stderr, status := startAdvancing(t).run([]string{"advance", "1s"}, "")
	assert.Equal(t, 69, status)
	assert.Contains(t, stderr, "the clock of this node cannot be moved: start it with leveret serve --clock manual")
}

// The page's clock is the one that the command moves.
func TestAdvanceOnThePage(t *testing.T) {
	s := testSettings(t)
	s.clock = leveret.NewManualClock(time.Now())
	s.http = httpSettings{addr: "127.0.0.1:0", asked: true}
	srv := startForTest(t, s)
	before := s.clock.Now()
	page := "http://guest:guest@" + srv.doors[len(srv.doors)-1].listener.Addr().String() + "/clock"
	res, err := http.PostForm(page, url.Values{"do": {"advance"}, "for": {"1h"}})
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	assert.Equal(t, http.StatusOK, res.StatusCode)
	assert.Equal(t, time.Hour, s.clock.Now().Sub(before))
	res, err = http.PostForm(page, url.Values{"do": {"advance"}, "for": {"2500000h"}})
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	assert.Equal(t, http.StatusBadRequest, res.StatusCode)
}
