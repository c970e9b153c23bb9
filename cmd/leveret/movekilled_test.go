package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A side is a broker of TestMoveKilled.
type side struct{ url, admin string }

// TestMoveKilled kills a move ten times, while publishers and consumers run: nothing is lost, and what comes twice is counted. LEVERET_MOVE_MESSAGES
// is the number of messages.
func TestMoveKilled(t *testing.T) {
	from, to := serveBroker(t), serveBroker(t)
	killedMove{t: t, from: side{from.url, from.admin}, to: side{to.url, to.admin}}.run()
}

// TestMoveKilledOnBroker does so between leveret and the broker that the conformance suite is told of, in both directions.
func TestMoveKilledOnBroker(t *testing.T) {
	for _, direction := range []string{"from", "to"} {
		t.Run(direction, func(t *testing.T) {
			own := serveBroker(t)
			k := killedMove{t: t, from: liveSide(t), to: side{own.url, own.admin}}
			if direction == "to" {
				k.from, k.to = k.to, k.from
			}
			k.run()
		})
	}
}

func askBroker(t *testing.T, method, url string) {
	req, err := http.NewRequest(method, url, nil)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	res.Body.Close()
	require.Less(t, res.StatusCode, 300, url)
}

// A killedMove is one such run.
type killedMove struct {
	t        *testing.T
	from, to side
	messages int
	journal  string
	ledger   *ledger
}

// killedQueues are the queues that are moved.
var killedQueues = map[string]amqp.Table{"classic": nil, "quorum": {"x-queue-type": "quorum"}}

const (
	kills          = 10
	patienceOfTest = 60 * time.Second
)

func (k killedMove) run() {
	k.messages = 4000
	if n, err := strconv.Atoi(os.Getenv("LEVERET_MOVE_MESSAGES")); err == nil {
		k.messages = n
	}
	k.journal = filepath.Join(k.t.TempDir(), "journal")
	k.ledger = newLedger()
	for _, s := range []side{k.from, k.to} {
		ch := k.channel(s)
		for queue, args := range killedQueues {
			_, err := ch.QueueDeclare(queue, true, false, false, false, args)
			require.NoError(k.t, err)
		}
	}
	half := k.messages / 2
	k.publish(0, half)
	published := make(chan struct{})
	go func() { defer close(published); k.publish(half, k.messages) }()
	k.consume(k.from, atSource, k.messages/40)
	k.consume(k.to, atTarget, 0)
	for i := range kills {
		k.kill(k.messages * 9 / 10 * (i + 1) / (kills + 1))
	}
	<-published
	k.finish()
}

func (k killedMove) channel(s side) *amqp.Channel {
	return channelTo(k.t, s)
}

// publish publishes messages to the queues of the source in turn, and waits for their confirms.
func (k killedMove) publish(first, end int) {
	ch := k.channel(k.from)
	var last []*amqp.DeferredConfirmation
	for i := first; i < end; i++ {
		queue := []string{"classic", "quorum"}[i%2]
		c, err := ch.PublishWithDeferredConfirm("", queue, true, false, amqp.Publishing{DeliveryMode: 2, MessageId: fmt.Sprint(i), Body: bytes.Repeat([]byte("m"), 100)})
		if !assert.NoError(k.t, err) {
			return
		}
		if last = append(last, c); len(last) == 500 || i == end-1 {
			for _, c := range last {
				assert.True(k.t, c.Wait())
			}
			last = last[:0]
		}
	}
}

// consume takes messages of each queue, most of each if that is not 0.
func (k killedMove) consume(s side, where int, most int) {
	for queue := range killedQueues {
		ch := k.channel(s)
		require.NoError(k.t, ch.Qos(100, 0, false))
		deliveries, err := ch.Consume(queue, "consumer", false, false, false, false, nil)
		require.NoError(k.t, err)
		go func() {
			n := 0
			for d := range deliveries {
				if d.Ack(false) != nil {
					return
				}
				k.ledger.took(where, d)
				if n++; n == most {
					ch.Close() // what it has prefetched comes back
					return
				}
			}
		}()
	}
}

// start starts a move.
func (k killedMove) start() (cmd *exec.Cmd, stdout, stderr *bytes.Buffer) {
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	cmd = exec.Command(os.Args[0], "move", "--from", k.from.url, "--from-admin", k.from.admin, "--to", k.to.url, "--to-admin", k.to.admin,
		"--follow", "--journal", k.journal, "--format", "json")
	cmd.Env = append(os.Environ(), asLeveret+"=1")
	cmd.Stdout, cmd.Stderr = stdout, stderr
	require.NoError(k.t, cmd.Start())
	return cmd, stdout, stderr
}

// kill lets a move run until so many messages have come, and kills it in the middle of its work.
func (k killedMove) kill(came int) {
	cmd, _, stderr := k.start()
	select {
	case <-k.ledger.reached(came):
	case <-time.After(patienceOfTest):
		k.t.Errorf("%d messages have not come: %s", came, stderr)
	}
	require.NoError(k.t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
}

// finish moves the rest and looks at what has come.
func (k killedMove) finish() {
	cmd, stdout, stderr := k.start()
	select {
	case <-k.ledger.reached(k.messages):
	case <-time.After(patienceOfTest):
		k.t.Errorf("of %d messages %d have come: %s", k.messages, k.ledger.distinct(), stderr)
	}
	require.NoError(k.t, cmd.Process.Signal(os.Interrupt))
	require.NoError(k.t, cmd.Wait(), stderr.String())
	var report struct {
		Moved int `json:"moved"`
		Again int `json:"sent_again"`
	}
	require.NoError(k.t, json.Unmarshal(stdout.Bytes(), &report))
	for queue := range killedQueues {
		q, err := k.channel(k.from).QueueDeclarePassive(queue, true, false, false, false, nil)
		require.NoError(k.t, err)
		assert.Zero(k.t, q.Messages, "left in %s", queue)
	}
	target, source := k.ledger.twice()
	assert.LessOrEqual(k.t, target, report.Again, "came twice at the target")
	k.t.Logf("%d messages, killed %d times: %d lost, %d came twice at the target (the report says at most %d), %d once there and once at a consumer of the source",
		k.messages, kills, k.messages-k.ledger.distinct(), target, report.Again, source)
}

// Where messages come to.
const (
	atSource = iota
	atTarget
)

// A ledger knows which messages came where, and how often.
type ledger struct {
	mu      sync.Mutex
	came    map[string]*[2]int
	waiting map[int]chan struct{}
}

func newLedger() *ledger {
	return &ledger{came: map[string]*[2]int{}, waiting: map[int]chan struct{}{}}
}

func (l *ledger) took(where int, d amqp.Delivery) {
	l.mu.Lock()
	defer l.mu.Unlock()
	times := cmp.Or(l.came[d.MessageId], &[2]int{})
	times[where]++
	l.came[d.MessageId] = times
	if c := l.waiting[len(l.came)]; c != nil {
		close(c)
		delete(l.waiting, len(l.came))
	}
}

// reached is closed when n different messages have come.
func (l *ledger) reached(n int) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := make(chan struct{})
	if len(l.came) >= n {
		close(c)
	} else {
		l.waiting[n] = c
	}
	return c
}

func (l *ledger) distinct() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.came)
}

// twice returns how many messages came to the target more than once, and how many also to the source's consumers.
func (l *ledger) twice() (target, source int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, times := range l.came {
		target += max(times[atTarget]-1, 0)
		if times[atSource] > 0 && times[atTarget] > 0 {
			source++
		}
	}
	return target, source
}
