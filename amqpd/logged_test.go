package amqpd

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/journal"
	"github.com/leveretmq/leveret/internal/journal/crashfs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// A heldDisk is a disk whose syncs end when the test says so.
type heldDisk struct {
	crashfs.FS
	mu    sync.Mutex
	moved sync.Cond
	op    string // what is held back; empty: nothing
	asked int    // of these calls have begun
	ended int    // of these calls may end
	err   error  // of what was held back
}

// hold has the calls of an operation wait until release.
func (d *heldDisk) hold(op string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.op, d.asked, d.ended, d.err = op, 0, 0, nil
}

// release ends hold. The calls that it has held back fail with err, if there is one.
func (d *heldDisk) release(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.op, d.err = "", err
	d.moved.Broadcast()
}

// pass has one call that is held back end. The next one is held back, too.
func (d *heldDisk) pass() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended++
	d.moved.Broadcast()
}

// awaitHeld returns when a call is held back.
func (d *heldDisk) awaitHeld() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.asked == d.ended {
		d.moved.Wait()
	}
}

func (d *heldDisk) call(_ int, op, _ string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.op != op {
		return nil
	}
	d.asked++
	d.moved.Broadcast()
	for n := d.asked; d.op == op && n > d.ended; {
		d.moved.Wait()
	}
	return d.err
}

// A loggedServer is a server of a broker with a heldDisk.
type loggedServer struct {
	*Server
	disk *heldDisk
}

func serveLogged(t *testing.T, opts ...leveret.Option) *loggedServer {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, leaks) })
	disk := &heldDisk{}
	disk.moved.L = &disk.mu
	disk.Fail = disk.call
	dir := t.TempDir()
	t.Cleanup(journal.Mount(dir, disk))
	b, err := leveret.Open(dir, opts...)
	require.NoError(t, err)
	s := &loggedServer{&Server{Broker: b}, disk}
	t.Cleanup(func() {
		disk.release(nil)
		s.Close()
		b.Close()
	})
	for name, cfg := range map[string]leveret.QueueConfig{
		"q":      {Durable: true},
		"quorum": {Durable: true, Arguments: leveret.Table{leveret.ArgQueueType: leveret.QueueTypeQuorum}},
		"full": {Durable: true, Arguments: leveret.Table{
			leveret.ArgMaxLength: 0, leveret.ArgOverflow: "reject-publish",
		}},
		"transient": {},
	} {
		_, err = b.DeclareQueue(name, cfg)
		require.NoError(t, err)
	}
	return s
}

// stored returns the bodies that a broker has in a queue that is opened on what the killed process has left.
func (s *loggedServer) stored(t *testing.T, queue string) (bodies []string) {
	dir := t.TempDir()
	defer journal.Mount(dir, s.disk.Crash(nil))()
	b, err := leveret.Open(dir)
	require.NoError(t, err)
	defer b.Close()
	messages, err := b.Queue(queue)
	require.NoError(t, err)
	for _, m := range messages.Messages() {
		bodies = append(bodies, string(m.Body))
	}
	return bodies
}

// A wireClient sends frames and reads what comes.
type wireClient struct {
	net.Conn
	t *testing.T
}

func (s *loggedServer) client(t *testing.T, channels uint16) wireClient {
	t.Helper()
	c := wireClient{dialed(t, s.Server, 0, ""), t}
	t.Cleanup(func() { c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(20*time.Second)))
	for n := uint16(2); n <= channels; n++ {
		c.send(openChan(n))
	}
	for opened := uint16(0); opened < channels; {
		if id, _ := readMethod(t, c); id == channelOpenOk {
			opened++
		}
	}
	for n := uint16(1); n <= channels; n++ {
		c.send(call(n, confirmSelect, u8(0)))
		require.Contains(t, c.read(1)[0], "select")
	}
	return c
}

func (c wireClient) send(frames ...string) {
	c.t.Helper()
	_, err := c.Write([]byte(strings.Join(frames, "")))
	require.NoError(c.t, err)
}

// read returns the next n methods, as words.
func (c wireClient) read(n int) (got []string) {
	c.t.Helper()
	for len(got) < n {
		number, id, args, err := c.next()
		require.NoError(c.t, err, "after %q", got)
		if id != 0 {
			got = append(got, word(number, id, args))
		}
	}
	return got
}

// next reads a frame. A frame that is no method has none.
func (c wireClient) next() (number uint16, id methodID, args []byte, err error) {
	head := make([]byte, headerSize)
	if _, err = io.ReadFull(c, head); err != nil {
		return
	}
	rest := make([]byte, binary.BigEndian.Uint32(head[3:])+1)
	if _, err = io.ReadFull(c, rest); err != nil || head[0] != frameMethod {
		return
	}
	return binary.BigEndian.Uint16(head[1:]), methodID(binary.BigEndian.Uint32(rest)), rest[4 : len(rest)-1], nil
}

// word says what a method is, and on which channel unless that is the first.
func word(number uint16, id methodID, args []byte) (s string) {
	switch id {
	case basicAck, basicNack:
		s = fmt.Sprintf("%s %d", map[methodID]string{basicAck: "ack", basicNack: "nack"}[id], binary.BigEndian.Uint64(args))
		if args[8]&1 != 0 {
			s += " multiple"
		}
	case channelClose, connectionClose:
		s = fmt.Sprintf("close %d %s", binary.BigEndian.Uint16(args), args[3:3+args[2]])
	default:
		s = map[methodID]string{
			confirmSelectOk: "select", basicQosOk: "qos", basicDeliver: "deliver", basicGetOk: "get", basicConsumeOk: "consume",
			channelCloseOk: "closed", connectionCloseOk: "closed", queueDeclareOk: "declare", txCommitOk: "commit", txSelectOk: "tx",
			basicReturn: "return", channelOpenOk: "open",
		}[id]
	}
	if number > 1 {
		s = fmt.Sprintf("%d: %s", number, s)
	}
	return s
}

// silent requires that nothing has come, and that the reader of the connection is at work: the answer to the next method comes first.
func (c wireClient) silent(number uint16) {
	c.t.Helper()
	for range 2 {
		time.Sleep(5 * time.Millisecond) // for what somebody else may send
		c.send(qos(number))
		want := "qos"
		if number > 1 {
			want = fmt.Sprintf("%d: qos", number)
		}
		require.Equal(c.t, []string{want}, c.read(1))
	}
}

func qos(number uint16) string { return call(number, basicQos, u32(0), u16(0), u8(0)) }

// persistent is a message of a publisher on a channel.
func persistent(number uint16, queue, text string) string {
	return call(number, basicPublish, u16(0), ss(""), ss(queue), u8(0)) +
		contentHeader(number, classBasic, 0, uint64(len(text)), "\x10\x00\x02") + fr(frameBody, number, text)
}

// A confirm comes when the message is on the disk. All other answers come meanwhile.
func TestConfirmsWaitForTheLog(t *testing.T) {
	for _, queue := range []string{"q", "quorum"} {
		t.Run(queue, func(t *testing.T) {
			s := serveLogged(t)
			c := s.client(t, 1)
			s.disk.hold("sync")
			c.send(persistent(1, queue, "one"))
			s.disk.awaitHeld()
			c.silent(1)
			c.send(getFrom(queue))
			assert.Equal(t, []string{"get"}, c.read(1))
			c.send(call(1, basicConsume, u16(0), ss(queue), ss("t"), u8(0), u32(0)))
			assert.Equal(t, []string{"consume"}, c.read(1))
			c.send(persistent(1, queue, "two"))
			assert.Equal(t, []string{"deliver"}, c.read(1))
			c.send(persistent(1, "nowhere", "three"))
			assert.Equal(t, []string{"ack 3"}, c.read(1), "what has reached no queue waits for nobody")
			c.silent(1)
			s.disk.release(nil)
			assert.Equal(t, []string{"ack 1", "ack 2"}, c.read(2))
		})
	}
}

// What is published while the disk is at work is confirmed together, by the next sync.
func TestConfirmsOfOneSync(t *testing.T) {
	s := serveLogged(t)
	c := s.client(t, 1)
	s.disk.hold("sync")
	c.send(persistent(1, "q", "first"))
	s.disk.awaitHeld()
	var many string
	for i := range 100 {
		many += persistent(1, "q", fmt.Sprint(i))
	}
	c.send(many)
	c.silent(1)
	s.disk.release(nil)
	acks := 0
	for sequence := uint64(0); sequence < 101; acks++ {
		_, _, args, err := c.next()
		require.NoError(t, err)
		require.Greater(t, binary.BigEndian.Uint64(args), sequence)
		sequence = binary.BigEndian.Uint64(args)
	}
	assert.Less(t, acks, 20)
}

// An ack with the flag multiple covers nothing that a later sync makes durable.
func TestNoAckCoversWhatIsNotDurable(t *testing.T) {
	s := serveLogged(t)
	c := s.client(t, 1)
	s.disk.hold("sync")
	c.send(persistent(1, "q", "one"), persistent(1, "q", "two"))
	s.disk.awaitHeld()
	c.send(persistent(1, "q", "three"))
	c.silent(1)
	c.send(persistent(1, "transient", "four"))
	c.silent(1) // it has nothing to wait for but those before
	s.disk.release(nil)
	assert.Equal(t, []string{"ack 2 multiple", "ack 3", "ack 4"}, c.read(3))
}

// Confirms that wait for less do not overtake those that wait for more: the release confirms a message of a classic queue when it is
// written, and one of a quorum queue when it is synced.
func TestConfirmsOfSeveralLevels(t *testing.T) {
	s := serveLogged(t, leveret.WithSync(leveret.SyncAsRabbitMQ))
	c := s.client(t, 2)
	s.disk.hold("sync")
	c.send(persistent(1, "quorum", "zero"))
	s.disk.awaitHeld()
	c.send(persistent(1, "quorum", "one"), qos(1))
	assert.Equal(t, []string{"qos"}, c.read(1))
	c.send(persistent(2, "q", "two"), qos(2)) // the next write has both
	assert.Equal(t, []string{"2: qos"}, c.read(1))
	s.disk.pass()
	s.disk.awaitHeld() // the two are written
	assert.Equal(t, []string{"ack 1"}, c.read(1))
	c.silent(1)
	s.disk.release(nil)
	assert.Equal(t, []string{"ack 2", "2: ack 1"}, c.read(2))
}

// A message of a classic queue is confirmed without a sync where the release does so.
func TestConfirmsAsRabbitMQ(t *testing.T) {
	s := serveLogged(t, leveret.WithSync(leveret.SyncAsRabbitMQ))
	c := s.client(t, 1)
	s.disk.hold("sync")
	c.send(persistent(1, "q", "one"))
	assert.Equal(t, []string{"ack 1"}, c.read(1))
	assert.Equal(t, []string{"one"}, s.stored(t, "q"), "the end of the process does not touch it")
	c.send(persistent(1, "quorum", "two"))
	s.disk.awaitHeld()
	c.silent(1)
	s.disk.release(nil)
	assert.Equal(t, []string{"ack 2"}, c.read(1))
}

func TestConfirmsThatWaitForNothing(t *testing.T) {
	s := serveLogged(t, leveret.WithSync(leveret.SyncNever))
	c := s.client(t, 1)
	s.disk.hold("write")
	c.send(persistent(1, "q", "one"))
	assert.Equal(t, []string{"ack 1"}, c.read(1))
	c.send(persistent(1, "quorum", "two"))
	assert.Equal(t, []string{"ack 2"}, c.read(1))
}

// A nack waits for the acks before it.
func TestNacksKeepTheirOrder(t *testing.T) {
	s := serveLogged(t)
	c := s.client(t, 1)
	c.send(persistent(1, "full", "refused"))
	require.Equal(t, []string{"nack 1 multiple"}, c.read(1))
	s.disk.hold("sync")
	c.send(persistent(1, "q", "a") + persistent(1, "full", "b") + persistent(1, "full", "c") + persistent(1, "q", "d"))
	s.disk.awaitHeld()
	c.silent(1)
	s.disk.release(nil)
	assert.Equal(t, []string{"ack 2", "nack 4 multiple", "ack 5"}, c.read(3))
}

// Every channel gets its own confirms. One that is closed meanwhile gets none, nor does the next of its number.
func TestConfirmsOfClosedChannels(t *testing.T) {
	s := serveLogged(t)
	c := s.client(t, 4)
	s.disk.hold("sync")
	for n := uint16(1); n <= 4; n++ {
		c.send(persistent(n, "q", "message"))
	}
	s.disk.awaitHeld()
	c.send(closeChan(2))
	assert.Equal(t, []string{"2: closed"}, c.read(1))
	c.send(openChan(2), call(2, confirmSelect, u8(0)))
	assert.Equal(t, []string{"2: open", "2: select"}, c.read(2))
	c.send(call(3, basicGet, u16(0), ss("missing"), u8(0)))
	assert.Equal(t, []string{"3: close 404 NOT_FOUND - no queue 'missing' in vhost '/'"}, c.read(1))
	c.silent(1)
	s.disk.release(nil)
	assert.Equal(t, []string{"ack 1", "4: ack 1"}, c.read(2))
	c.silent(2)
	assert.Len(t, s.stored(t, "q"), 4)
}

// A connection ends at once, whatever waits for the log.
func TestConnectionEndsWhileConfirmsWait(t *testing.T) {
	for name, end := range map[string]func(c wireClient){
		"closed": func(c wireClient) {
			c.send(closeConn())
			require.Equal(c.t, []string{"closed"}, c.read(1))
		},
		"cut": func(wireClient) {},
		"failed": func(c wireClient) {
			c.send(call(0, connectionTune))
			require.Contains(c.t, c.read(1)[0], "close 5")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := serveLogged(t)
			c := s.client(t, 1)
			s.disk.hold("sync")
			c.send(persistent(1, "q", "message"))
			s.disk.awaitHeld()
			end(c)
			c.Close()
			require.Eventually(t, func() bool { return len(s.Broker.Connections()) == 0 }, 5*time.Second, time.Millisecond)
			s.disk.release(nil)
			assert.Equal(t, []string{"message"}, s.stored(t, "q"))
		})
	}
}

// Settle waits for the confirms, and says so if it may not wait so long.
func TestSettleWaitsForConfirms(t *testing.T) {
	s := serveLogged(t)
	c := s.client(t, 1)
	s.disk.hold("sync")
	c.send(persistent(1, "q", "message"))
	s.disk.awaitHeld()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	assert.ErrorContains(t, s.Settle(ctx), "waits for confirms, and they for the log")
	settled := make(chan error, 1)
	go func() { settled <- s.Settle(t.Context()) }()
	s.disk.release(nil)
	assert.Equal(t, []string{"ack 1"}, c.read(1))
	assert.NoError(t, <-settled)
}

// When the disk fails nothing is confirmed any more. Clients are told why, and the broker can be closed.
func TestLogFails(t *testing.T) {
	for _, op := range []string{"sync", "write"} {
		t.Run(op, func(t *testing.T) {
			told := make(chan error, 2)
			s := serveLogged(t, leveret.WithEvents(leveret.Events{StoreFailed: func(e leveret.StoreEvent) { told <- e.Err }}))
			c, other := s.client(t, 1), s.client(t, 1)
			s.disk.hold(op)
			c.send(persistent(1, "q", "one"))
			s.disk.awaitHeld()
			c.send(persistent(1, "q", "two"))
			c.silent(1)
			s.disk.release(errors.New("the disk is on fire"))
			got := c.read(1)[0]
			assert.Contains(t, got, "close 541 INTERNAL_ERROR")
			assert.Contains(t, got, "the disk is on fire")
			err := <-told
			assert.ErrorContains(t, err, "the disk is on fire")
			assert.Equal(t, s.Broker.Err(), err)
			other.silent(1) // who only reads goes on
			other.send(persistent(1, "q", "three"))
			assert.Contains(t, other.read(1)[0], "the disk is on fire")
			third := s.client(t, 1)
			third.send(declareDurable("new"))
			assert.Contains(t, third.read(1)[0], "the disk is on fire")
			require.NoError(t, s.Settle(t.Context()))
			assert.NoError(t, s.Server.Close())
			assert.ErrorIs(t, s.Broker.Close(), leveret.ErrInternal)
			assert.Empty(t, told)
		})
	}
}

// A disk that fails while many publish: whoever is told that a message is safe can rely on it.
func TestLogFailsUnderLoad(t *testing.T) {
	s := serveLogged(t)
	c := s.client(t, 1)
	c.send(persistent(1, "q", "first"))
	require.Equal(t, []string{"ack 1"}, c.read(1))
	go func() {
		for i := 2; ; i++ {
			if _, err := c.Write([]byte(persistent(1, "q", fmt.Sprint(i)))); err != nil {
				return
			}
		}
	}()
	confirmed, fails := uint64(1), false
	for {
		_, id, args, err := c.next()
		require.NoError(t, err)
		if id == connectionClose {
			break
		}
		require.Equal(t, basicAck, id)
		confirmed = binary.BigEndian.Uint64(args)
		if confirmed > 100 && !fails {
			fails = true
			s.disk.hold("sync")
			go func() {
				s.disk.awaitHeld()
				s.disk.release(errors.New("the disk is on fire"))
			}()
		}
	}
	c.Close()
	assert.GreaterOrEqual(t, uint64(len(s.stored(t, "q"))), confirmed)
}

func TestBrokerCloseWhileConfirmsWait(t *testing.T) {
	s := serveLogged(t)
	c := s.client(t, 1)
	s.disk.hold("sync")
	c.send(persistent(1, "q", "message"))
	s.disk.awaitHeld()
	closed := make(chan error, 1)
	go func() { closed <- s.Broker.Close() }()
	got := c.read(1)[0] // what comes first is chance only when the sync ends
	assert.Contains(t, got, "close 320 CONNECTION_FORCED")
	s.disk.release(nil)
	assert.NoError(t, <-closed)
	assert.Equal(t, []string{"message"}, s.stored(t, "q"))
}

func declareDurable(queue string) string {
	return call(1, queueDeclare, u16(0), ss(queue), u8(2), u32(0))
}

// The answers to a declaration and to a commit wait for the log. Other connections are served.
func TestAnswersThatWaitForTheLog(t *testing.T) {
	for want, send := range map[string]func(c wireClient){
		"declare": func(c wireClient) { c.send(declareDurable("new")) },
		"commit": func(c wireClient) {
			c.send(openChan(2), call(2, txSelect), persistent(2, "q", "in the transaction"))
			require.Equal(c.t, []string{"2: open", "2: tx"}, c.read(2))
			c.send(call(2, txCommit))
		},
	} {
		t.Run(want, func(t *testing.T) {
			s := serveLogged(t)
			c, other := s.client(t, 1), s.client(t, 1)
			s.disk.hold("sync")
			send(c)
			s.disk.awaitHeld()
			other.send(persistent(1, "q", "other"), getFrom("q"))
			assert.Equal(t, []string{"get"}, other.read(1))
			other.silent(1)
			require.NoError(t, c.SetReadDeadline(time.Now().Add(10*time.Millisecond)))
			_, _, _, err := c.next()
			assert.ErrorContains(t, err, "timeout")
			require.NoError(t, c.SetReadDeadline(time.Now().Add(10*time.Second)))
			s.disk.release(nil)
			assert.Contains(t, c.read(1)[0], want)
			assert.Equal(t, []string{"ack 1"}, other.read(1))
		})
	}
}

// A client that publishes while too little of the disk is free waits until there is enough. Consumers go on.
func TestDiskAlarmHoldsPublishersUp(t *testing.T) {
	s := serveLogged(t)
	c, other := s.client(t, 1), s.client(t, 1)
	c.send(persistent(1, "q", "one"))
	require.Equal(t, []string{"ack 1"}, c.read(1))
	s.disk.SetFree(1000)
	s.Broker.SetDiskFreeLimit(1001)
	c.send(persistent(1, "q", "two"), qos(1))
	other.send(getFrom("q"))
	assert.Equal(t, []string{"get"}, other.read(1))
	other.silent(1)
	s.Broker.SetDiskFreeLimit(1000)
	assert.ElementsMatch(t, []string{"ack 2", "qos"}, c.read(2))
}
