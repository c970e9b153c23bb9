package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	walks    = flag.Int("walks", 0, "how many random walks to compare with the broker of -rabbitmqctl; 0: three are played on leveret alone")
	walkSeed = flag.Uint64("walkseed", 0, "the first random walk; 0: chosen at random")
)

// TestWalks gives random commands to leveret and to a RabbitMQ, and compares what both print:
//
//	go test ./cmd/leveret -run TestWalks -walks 20 -rabbitmqctl rabbitmqctl -rabbitmq amqp://guest:guest@localhost:5672/
//
// Without one the commands are played on leveret alone: each has one of rabbitmqctl's exit codes, and what they leave can be exported, and
// imported over itself.
func TestWalks(t *testing.T) {
	first := *walkSeed
	if first == 0 {
		first = rand.Uint64N(1 << 32)
	}
	t.Log("walks from seed ", first)
	require.False(t, *walks > 0 && *rabbitmqctl == "", "-walks needs -rabbitmqctl")
	for seed := first; seed < first+uint64(max(*walks, 3)); seed++ {
		ours := &walking{t: t, target: leveretTarget(t)}
		if *walks == 0 {
			ours.play(seed)
			continue
		}
		ours.compare(&walking{t: t, target: rabbitTarget(t)}, seed)
	}
}

// play plays a walk on leveret alone.
func (ours *walking) play(seed uint64) {
	w := newWalker(seed)
	for _, s := range w.steps() {
		ours.take(seed, s)
	}
	export := func() string {
		out, stderr, status := ours.run([]string{"export_definitions", "-", "-q"}, "")
		require.Zero(ours.t, status, "walk %d: %s", seed, stderr)
		return out
	}
	before := export()
	_, stderr, status := ours.run([]string{"import_definitions"}, before)
	require.Zero(ours.t, status, "walk %d: %s", seed, stderr)
	assert.JSONEq(ours.t, before, export(), "walk %d", seed)
	ours.take(seed, step{client: "disconnect"})
}

// asCompared is what a command printed as it is compared: without the order of what is listed, and global parameters of the walk only.
func asCompared(s step, printed string) string {
	printed = suggested.ReplaceAllString(badMap.ReplaceAllString(imported.Replace(printed), "$1"), "")
	if len(s.args) == 0 || !slices.ContainsFunc(s.args, func(a string) bool { return strings.HasPrefix(a, "list_") }) {
		return printed
	}
	printed = wide.ReplaceAllString(printed, " ")
	var lines []string
	for line := range strings.Lines(strings.ReplaceAll(printed, "],[", "],\n[")) {
		isOther := s.args[0] == "list_global_parameters" && !strings.Contains(line, "walk") && !strings.HasPrefix(line, "!")
		if !isOther && !strings.Contains(line, "amq.rabbitmq.log") {
			lines = append(lines, strings.Trim(line, "\n >[],"))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

var (
	crash     = regexp.MustCompile(`(?m)^! %(ArgumentError|Protocol.UndefinedError)\{`) // rabbitmqctl cannot write lists as CSV
	wide      = regexp.MustCompile(`  +|qq+`)                                           // columns, and lines of pretty tables, as wide as pids are long
	badMap    = regexp.MustCompile(`\{(\{:badmap, .*?\}), \[\{.*`)                      // RabbitMQ tells where in its source it was
	suggested = regexp.MustCompile(`! Did you mean '.*'\?\n`)                           // leveret alone guesses what option was meant
)

// imported are what differs in what the two say of an import, which takes place while rabbitmqctl waits, too.
var imported = strings.NewReplacer("Successfully started definition import. This process is asynchronous and can take some time. "+
	"Watch target node logs for completion.", "Successfully imported definitions.")

// A walking is a walk on one target, with its client.
type walking struct {
	target
	t    *testing.T
	conn *amqp.Connection
	ch   *amqp.Channel
}

// compare plays a walk on both targets, up to the first output that differs.
func (ours *walking) compare(rabbit *walking, seed uint64) {
	w := newWalker(seed)
	defer func() {
		ours.take(seed, step{client: "disconnect"})
		for _, s := range w.end() {
			rabbit.take(seed, s)
		}
	}()
	for i, s := range w.steps() {
		want, got := rabbit.take(seed, s), ours.take(seed, s)
		if want, got := asCompared(s, want), asCompared(s, got); want != got && !crash.MatchString(want) {
			ours.t.Errorf("walk %d, step %d, %s:\nRabbitMQ\n%sleveret\n%s", seed, i, s, want, got)
			return
		}
	}
}

func (w *walking) take(seed uint64, s step) string {
	if s.client != "" {
		return w.act(newWalker(seed).vhosts[0], s.client)
	}
	stdout, stderr, status := w.run(s.args, s.stdin)
	assert.Contains(w.t, []int{0, 64, 65, 67, 68, 69, 70, 73, 75, 77, 78}, status, "%s: %s", s, stderr)
	return block(s.args, stdout, stderr, status)
}

// act lets the client do something, which may be refused.
func (w *walking) act(vhost, what string) string {
	verb, queue, _ := strings.Cut(what, " ")
	switch verb {
	case "connect":
		var err error
		w.conn, err = amqp.DialConfig(w.url, amqp.Config{Vhost: vhost, SASL: []amqp.Authentication{&amqp.PlainAuth{Username: "guest", Password: "guest"}}})
		require.NoError(w.t, err)
		return ""
	case "disconnect":
		if w.conn != nil {
			_ = w.conn.Close()
		}
		return ""
	}
	if w.ch == nil || w.ch.IsClosed() {
		var err error
		if w.ch, err = w.conn.Channel(); err != nil {
			return fmt.Sprintln("channel:", err)
		}
		require.NoError(w.t, w.ch.Confirm(false))
		require.NoError(w.t, w.ch.Qos(2, 0, false))
	}
	switch verb {
	case "publish":
		c, err := w.ch.PublishWithDeferredConfirm("", queue, false, false, amqp.Publishing{Body: []byte("hello"), DeliveryMode: amqp.Persistent})
		require.NoError(w.t, err)
		return fmt.Sprintln("confirmed:", c.Wait())
	case "get":
		d, ok, err := w.ch.Get(queue, false)
		return fmt.Sprintln(ok, d.MessageCount, err)
	case "consume":
		_, err := w.ch.Consume(queue, "tag "+queue, false, false, false, false, amqp.Table{"x-priority": int32(3)})
		return fmt.Sprintln(err)
	case "cancel":
		return fmt.Sprintln(w.ch.Cancel("tag q1", false))
	case "close":
		return fmt.Sprintln(w.ch.Close())
	}
	return "no such act"
}
