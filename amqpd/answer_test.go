package amqpd

import (
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/stretchr/testify/require"
)

// A client that sends much before it reads gets all answers, whole and in order, whoever wrote them: the reader
// while the socket takes them, the writer what it did not take.
func TestAnswersOfAFullSocket(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	srv := &Server{Broker: b}
	defer srv.Close()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "socket"))
	require.NoError(t, err)
	go srv.Serve(l)
	nc, err := net.Dial("unix", l.Addr().String())
	require.NoError(t, err)
	defer nc.Close()
	_, err = nc.Write([]byte(start + startOk("PLAIN", login) + tuneOk(2047, 131072, 0) + openVHost("/") + openChan(1)))
	require.NoError(t, err)

	const queues = 3000 // their answers fill the socket, but not what may wait to be written
	name := func(i int) string { return fmt.Sprintf("%04d", i) + strings.Repeat("q", 200) }
	for i := range queues {
		_, err := nc.Write([]byte(call(1, queueDeclare, u16(0), ss(name(i)), u8(2), u32(0))))
		require.NoError(t, err)
	}
	for i := 0; i < queues; {
		if id, payload := readMethod(t, nc); id == queueDeclareOk {
			require.Equal(t, name(i), string(payload[1:1+payload[0]]))
			i++
		}
	}
}

// Nor does it matter how much of an answer the socket takes.
func TestAnswersTakenInPart(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	defer client.Close()
	nc, err := l.Accept()
	require.NoError(t, err)

	c := newConn(&Server{Broker: b}, nc)
	c.inbox.from, c.stage = leveret.NewInbox(leveret.InboxConfig{}), running
	c.in.share(nc)
	takes := 0
	c.in.sock.put = func(fd uintptr) bool {
		takes = (takes + 5) % 13
		c.in.sock.wrote = tryWrite(fd, c.in.sock.out[:min(takes, len(c.in.sock.out))])
		return true
	}
	go c.writeLoop()
	var want []byte
	for i := range 2000 {
		answer := []byte(fmt.Sprintf("%d;", i))
		want = append(want, answer...)
		c.mu.Lock()
		c.out.b = append(c.out.b, answer...)
		c.flushLocked()
		c.mu.Unlock()
	}
	got := make([]byte, len(want))
	_, err = io.ReadFull(client, got)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
	c.lost()
	c.mu.Lock()
	c.notifyWriterLocked()
	c.mu.Unlock()
	<-c.writer.gone
}

// What was for the client before its connection failed is sent before connection.close, here what a commit
// delivers to another channel before it fails.
func TestDeliveriesBeforeTheEnd(t *testing.T) {
	b := leveret.New()
	defer b.Close()
	srv := &Server{Broker: b}
	defer srv.Close()
	nc, err := srv.Dial()
	require.NoError(t, err)
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(time.Minute))
	declare := func(name string) string { return call(1, queueDeclare, u16(0), ss(name), u8(0), u32(0)) }
	publish := func(name string) string {
		return call(1, basicPublish, u16(0), ss(""), ss(name), u8(0)) + header(5) + body("hello")
	}
	_, err = nc.Write([]byte(start + startOk("PLAIN", login) + tuneOk(2047, 131072, 0) + openVHost("/") + openChan(1) + openChan(2) +
		declare("q") + declare("gone") + call(2, basicConsume, u16(0), ss("q"), ss("c"), u8(2), u32(0)) +
		call(1, txSelect) + publish("q") + publish("gone") + call(1, basicQos, u32(0), u16(0), u8(0))))
	require.NoError(t, err)
	read := func(last methodID) (ids []methodID) {
		for id := methodID(0); id != last; {
			id, _ = readMethod(t, nc)
			ids = append(ids, id)
		}
		return ids
	}
	read(basicQosOk)
	_, err = b.DeleteQueue("gone", leveret.DeleteConfig{})
	require.NoError(t, err)
	_, err = nc.Write([]byte(call(1, txCommit)))
	require.NoError(t, err)
	require.Contains(t, read(connectionClose), basicDeliver)
}

func readMethod(t *testing.T, r io.Reader) (methodID, []byte) {
	t.Helper()
	head := make([]byte, headerSize)
	_, err := io.ReadFull(r, head)
	require.NoError(t, err)
	rest := make([]byte, binary.BigEndian.Uint32(head[3:])+1)
	_, err = io.ReadFull(r, rest)
	require.NoError(t, err)
	require.EqualValues(t, frameEnd, rest[len(rest)-1])
	return methodID(binary.BigEndian.Uint32(rest)), rest[4 : len(rest)-1]
}

// A client that waits for its confirm has the message by then, if it consumes it itself.
// Rules: C-5a.
func TestDeliveryBeforeItsConfirm(t *testing.T) {
	for _, kind := range []string{leveret.QueueTypeClassic, leveret.QueueTypeQuorum} {
		b := leveret.New()
		_, err := b.DeclareQueue("q", leveret.QueueConfig{Durable: true, Arguments: leveret.Table{leveret.ArgQueueType: kind}})
		require.NoError(t, err)
		srv := &Server{Broker: b}
		nc := dialed(t, srv, 0, call(1, confirmSelect, u8(0))+
			call(1, basicConsume, u16(0), ss("q"), ss("t"), u8(0), u32(0)))
		for id := methodID(0); id != basicConsumeOk; {
			id, _ = readMethod(t, nc)
		}
		_, err = nc.Write([]byte(call(1, basicPublish, u16(0), ss(""), ss("q"), u8(0)) + header(4) + body("four")))
		require.NoError(t, err)
		id, _ := readMethod(t, nc)
		require.Equal(t, basicDeliver, id, kind)
		readMethod(t, nc) // content header
		readMethod(t, nc) // body
		id, _ = readMethod(t, nc)
		require.Equal(t, basicAck, id, kind)
		nc.Close()
		srv.Close()
		b.Close()
	}
}

// What a publish delivers to another channel of its connection comes behind the confirm, unless that waits for the disk.
// Rules: C-5a.
func TestDeliveryToAnotherChannel(t *testing.T) {
	for name, c := range map[string]struct {
		kind      string
		modes     []uint8 // of messages that are published together
		transient bool    // the queue
		want      []methodID
	}{
		"classic, transient":                {leveret.QueueTypeClassic, []uint8{1}, false, []methodID{basicAck, basicDeliver}},
		"classic, persistent":               {leveret.QueueTypeClassic, []uint8{2}, false, []methodID{basicDeliver, basicAck}},
		"classic, persistent and transient": {leveret.QueueTypeClassic, []uint8{2, 1}, false, []methodID{basicDeliver, basicDeliver, basicAck}},
		"transient, persistent":             {leveret.QueueTypeClassic, []uint8{2}, true, []methodID{basicAck, basicDeliver}},
		"quorum, persistent":                {leveret.QueueTypeQuorum, []uint8{2}, false, []methodID{basicAck, basicDeliver}},
	} {
		b := leveret.New()
		_, err := b.DeclareQueue("q", leveret.QueueConfig{Durable: !c.transient, Arguments: leveret.Table{leveret.ArgQueueType: c.kind}})
		require.NoError(t, err)
		srv := &Server{Broker: b}
		nc := dialed(t, srv, 0, call(1, confirmSelect, u8(0))+call(2, channelOpen, ss(""))+
			call(2, basicConsume, u16(0), ss("q"), ss("t"), u8(0), u32(0)))
		for id := methodID(0); id != basicConsumeOk; {
			id, _ = readMethod(t, nc)
		}
		var frames string
		for _, mode := range c.modes {
			frames += publish("q", 0) + contentHeader(1, classBasic, 0, 0, u16(1<<12)+u8(mode))
		}
		_, err = io.WriteString(nc, frames)
		require.NoError(t, err)
		var got []methodID
		for range c.want {
			id, _ := readMethod(t, nc)
			got = append(got, id)
			if id == basicDeliver {
				readMethod(t, nc) // the content header; an empty body has no frame
			}
		}
		require.Equal(t, c.want, got, name)
		nc.Close()
		srv.Close()
		b.Close()
	}
}

// An act is what a client sends at once, and the methods that answer it.
type act struct {
	frames string
	answer []methodID
}

var actsOn = flag.String("acts", "", "address of a RabbitMQ node that plays the acts in place of leveret")

// playActs has a client of a broker with the queues q and other send select on its channel 1, and then the acts.
func playActs(t *testing.T, selects methodID, acts []act) {
	dial, pause := dialNode, 200*time.Millisecond
	if *actsOn == "" {
		dial, pause = newNode(t), 0
	}
	begin := call(1, selects)
	if selects == confirmSelect {
		begin = call(1, selects, u8(0))
	}
	nc := dial(t)
	defer leave(nc)
	notified := ss("capabilities") + "F" + ls(ss("consumer_cancel_notify")+"t\x01")
	sent := start + startOkWith(notified, "PLAIN", login) + tuneOk(2047, 131072, 0) + openVHost("/") + openChan(1) + declareOwn("q") + declareOwn("other") + begin
	_, err := io.WriteString(nc, sent)
	require.NoError(t, err)
	for id := methodID(0); id != selects+1; {
		id, _ = readMethod(t, nc)
	}
	for _, a := range acts {
		time.Sleep(pause) // RabbitMQ's queues are done with the act before
		_, err := io.WriteString(nc, a.frames)
		require.NoError(t, err)
		var got []methodID
		for range a.answer {
			id, _ := readMethod(t, nc)
			got = append(got, id)
			if id == basicDeliver || id == basicReturn || id == basicGetOk {
				readMethod(t, nc) // the content header; an empty body has no frame
			}
		}
		require.Equal(t, a.answer, got)
	}
}

// leave ends a connection politely: when the node has answered, the queues of the connection's own are gone.
func leave(nc net.Conn) {
	defer nc.Close()
	if _, err := io.WriteString(nc, closeConn()); err != nil {
		return // it has ended
	}
	r := &frameReader{r: nc, maxPayload: 1 << 20}
	for {
		f, err := r.readFrame()
		if err != nil || f.typ == frameMethod && f.channel == 0 {
			return
		}
	}
}

// newNode makes a broker, and returns what connects a client to it.
func newNode(t *testing.T) (dial func(*testing.T) net.Conn) {
	b := leveret.New()
	srv := &Server{Broker: b}
	t.Cleanup(func() {
		srv.Close()
		b.Close()
	})
	return func(t *testing.T) net.Conn {
		nc, err := srv.Dial()
		require.NoError(t, err)
		return nc
	}
}

// dialNode connects a client to the node that plays the acts. What the acts leave there goes with the test.
func dialNode(t *testing.T) net.Conn {
	nc, err := net.Dial("tcp", *actsOn)
	require.NoError(t, err)
	nc.SetDeadline(time.Now().Add(5 * time.Second))
	t.Cleanup(func() {
		nc, err := net.Dial("tcp", *actsOn)
		require.NoError(t, err)
		defer nc.Close()
		remove := call(1, queueDelete, u16(0), ss("quorum"), u8(0))
		_, err = io.WriteString(nc, start+startOk("PLAIN", login)+tuneOk(2047, 131072, 0)+openVHost("/")+openChan(1)+remove)
		require.NoError(t, err)
		for id := methodID(0); id != queueDeleteOk; {
			id, _ = readMethod(t, nc)
		}
	})
	return nc
}

// A commit of publishes is answered behind what it has delivered to its own channel, one of settlements before that. A channel
// that is closed has been sent what was delivered to it.
// Rules: C-10, D-13.
func TestDeliveriesAndAnswers(t *testing.T) {
	publish := func(key string, flags uint8) string { return publish(key, flags) + header(0) }
	consume := act{consumeFrom("q"), []methodID{basicConsumeOk}}
	reject := call(1, basicReject, u64(1), u8(1))
	for name, acts := range map[string][]act{
		"publishes": {consume, {publish("q", 0) + publish("nowhere", 1) + publish("q", 0) + call(1, txCommit),
			[]methodID{basicReturn, basicDeliver, basicDeliver, txCommitOk}}},
		"a publish and a reject": {{publish("q", 0) + call(1, txCommit), []methodID{txCommitOk}}, consume,
			{"", []methodID{basicDeliver}}, {publish("other", 0) + reject + call(1, txCommit), []methodID{basicDeliver, txCommitOk}}},
		"a reject": {{publish("q", 0) + call(1, txCommit), []methodID{txCommitOk}}, consume,
			{"", []methodID{basicDeliver}}, {publish("nowhere", 0) + reject + call(1, txCommit), []methodID{txCommitOk, basicDeliver}}},
		"a reject behind a rollback": {{publish("q", 0) + call(1, txCommit), []methodID{txCommitOk}}, consume,
			{"", []methodID{basicDeliver}}, {publish("other", 0) + call(1, txRollback), []methodID{txRollbackOk}},
			{call(1, txSelect) + reject + call(1, txCommit), []methodID{txSelectOk, txCommitOk, basicDeliver}}},
		"the consumer of another channel": {{openChan(2) + call(2, basicConsume, u16(0), ss("q"), ss("t"), u8(0), u32(0)),
			[]methodID{channelOpenOk, basicConsumeOk}}, {publish("q", 0) + call(1, txCommit), []methodID{txCommitOk, basicDeliver}}},
		"channel.close": {{openChan(2) + call(2, basicConsume, u16(0), ss("q"), ss("t"), u8(0), u32(0)),
			[]methodID{channelOpenOk, basicConsumeOk}}, {publish("q", 0) + publish("q", 0) + call(1, txCommit) + closeChan(2),
			[]methodID{basicDeliver, basicDeliver, channelCloseOk, txCommitOk}}},
		"a publish before tx.select again": {consume, {publish("q", 0) + call(1, txSelect) + call(1, txCommit),
			[]methodID{txSelectOk, basicDeliver, txCommitOk}}},
	} {
		t.Run(name, func(t *testing.T) { playActs(t, txSelect, acts) })
	}
}

// What a quorum queue delivers because of a commit's settlements comes behind the answer if all publishes went to classic queues.
// Rules: C-10.
func TestQuorumQueueBehindACommit(t *testing.T) {
	filled := []act{{declareQuorum("quorum"), []methodID{queueDeclareOk}},
		{publish("quorum", 0) + header(0) + publish("quorum", 0) + header(0) + call(1, txCommit), []methodID{txCommitOk}},
		{call(1, basicQos, u32(0), u16(1), u8(0)) + consumeFrom("quorum"), []methodID{basicQosOk, basicConsumeOk, basicDeliver}}}
	for name, settle := range map[string]string{"ack": call(1, basicAck, u64(1), u8(0)), "reject": call(1, basicReject, u64(1), u8(0)),
		"requeue": call(1, basicReject, u64(1), u8(1))} {
		for target, answer := range map[string][]methodID{"other": {txCommitOk, basicDeliver}, "quorum": {basicDeliver, txCommitOk}} {
			t.Run(name+", published to "+target, func(t *testing.T) {
				playActs(t, txSelect, append(slices.Clone(filled), act{publish(target, 0) + header(0) + settle + call(1, txCommit), answer}))
			})
		}
		t.Run(name+", and a consumer of a classic queue", func(t *testing.T) {
			consume := act{call(1, basicConsume, u16(0), ss("q"), ss("other"), u8(2), u32(0)), []methodID{basicConsumeOk}}
			commit := act{publish("q", 0) + header(0) + settle + call(1, txCommit), []methodID{basicDeliver, txCommitOk, basicDeliver}}
			playActs(t, txSelect, append(slices.Clone(filled), consume, commit))
		})
	}
}

// Echoes of a publish or a commit, dead letters and direct replies, come to a consumer of the same channel behind the answer. But a
// classic queue confirms a persistent message when the message is on the disk, and by then another one has delivered.
// Rules: C-5a, C-10.
func TestEchoes(t *testing.T) {
	kinds := []string{leveret.QueueTypeClassic, leveret.QueueTypeQuorum}
	transient, persistent := "\x10\x00\x01", "\x10\x00\x02"
	for i := range 8 {
		from, to, mode := kinds[i&1], kinds[i>>1&1], []string{transient, persistent}[i>>2]
		outrun := from == leveret.QueueTypeClassic && to == leveret.QueueTypeClassic && mode == persistent
		t.Run(fmt.Sprintf("%s to %s, %x", from, to, mode), func(t *testing.T) {
			testEchoes(t, from, to, contentHeader(1, classBasic, 0, 0, mode), outrun)
		})
	}
}

func testEchoes(t *testing.T, from, to, header string, outrun bool) {
	declare := func(queue, kind string, more ...string) string {
		args := ss("x-queue-type") + "S" + ls(kind) + strings.Join(more, "")
		return call(1, queueDeclare, u16(0), ss(queue), u8(2), ls(args))
	}
	dlx := ss("x-dead-letter-exchange") + "S" + ls("") + ss("x-dead-letter-routing-key") + "S" + ls("dead")
	begin := act{declare("dead", to) + declare("full", from, dlx, ss("x-max-length")+"I"+u32(0)) + declare("plain", from, dlx) +
		call(1, basicConsume, u16(0), ss("dead"), ss("t"), u8(2), u32(0)),
		[]methodID{queueDeclareOk, queueDeclareOk, queueDeclareOk, basicConsumeOk}}
	publish := func(key string) string { return publish(key, 0) + header }
	order := func(answer methodID) []methodID {
		if outrun {
			return []methodID{basicDeliver, answer}
		}
		return []methodID{answer, basicDeliver}
	}
	playActs(t, confirmSelect, []act{begin, {publish("full"), order(basicAck)},
		{publish("full") + publish("dead"), []methodID{basicDeliver, basicDeliver, basicAck}}})
	if from == leveret.QueueTypeClassic { // which refuses what it is full for
		refusing := declare("refusing", from, dlx, ss("x-max-length")+"I"+u32(0), ss("x-overflow")+"S"+ls("reject-publish-dlx"))
		playActs(t, txSelect, []act{begin, {refusing, []methodID{queueDeclareOk}},
			{publish("refusing") + call(1, txCommit), []methodID{basicDeliver, channelClose}}})
	}
	playActs(t, txSelect, []act{begin, {publish("full") + call(1, txCommit), order(txCommitOk)},
		{publish("plain") + call(1, txCommit), []methodID{txCommitOk}},
		{getFrom("plain") + call(1, basicReject, u64(2), u8(0)), []methodID{basicGetOk}},
		{call(1, txCommit), []methodID{txCommitOk, basicDeliver}}})
}

// A direct reply to the channel that publishes it comes behind the answer, too.
// Rules: C-5a, C-10, M-18.
func TestReplyBehindItsConfirm(t *testing.T) {
	for _, a := range []struct {
		selects string
		commit  string
		answer  methodID
	}{{call(1, confirmSelect, u8(0)), "", basicAck}, {call(1, txSelect), call(1, txCommit), txCommitOk}} {
		b := leveret.New()
		requests, err := b.DeclareQueue("requests", leveret.QueueConfig{})
		require.NoError(t, err)
		srv := &Server{Broker: b}
		nc := dialed(t, srv, 0, call(1, basicConsume, u16(0), ss(replyQueue), ss("t"), u8(2), u32(0))+
			publish("requests", 0)+contentHeader(1, classBasic, 0, 0, "\x02\x00"+ss(replyQueue))+a.selects)
		for id := methodID(0); id != confirmSelectOk && id != txSelectOk; {
			id, _ = readMethod(t, nc)
		}
		request, ok, err := requests.Get(leveret.GetConfig{NoAck: true})
		require.NoError(t, err)
		require.True(t, ok)
		_, err = io.WriteString(nc, publish(request.ReplyTo, 0)+header(0)+a.commit)
		require.NoError(t, err)
		for _, want := range []methodID{a.answer, basicDeliver} {
			id, _ := readMethod(t, nc)
			require.Equal(t, want, id)
		}
		nc.Close()
		srv.Close()
		b.Close()
	}
}

// The channel that fails ends before the others of its connection. They are sent what classic queues take back of it that it consumes
// from, nothing else, and nothing where the mistake is in a frame.
// Rules: E-7, E-8.
func TestFailedChannelEndsFirst(t *testing.T) {
	const prefetchSize = 1
	mistakes := map[string]string{
		"prefetch size":             call(1, basicQos, u32(prefetchSize), u16(0), u8(0)),
		"recover without requeue":   call(1, basicRecover, u8(0)),
		"second open":               openChan(1),
		"server's method":           call(1, basicQosOk),
		"server's method, content":  serverDeliver(1) + header(0),
		"flow":                      call(1, channelFlow, u8(0)),
		"immediate":                 publish("q", 2) + header(0),
		"a frame that is cut short": call(1, basicQos, u32(0)),
		"a frame out of place":      header(0),
	}
	inFrame := map[string]bool{"a frame that is cut short": true, "a frame out of place": true}
	for name, mistake := range mistakes {
		for _, queue := range []string{"q", "quorum"} {
			for _, consumes := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, %s, consumes: %t", name, queue, consumes), func(t *testing.T) {
					acts := []act{{declareQuorum("quorum"), []methodID{queueDeclareOk}}}
					filled := act{publish(queue, 0) + header(0), []methodID{basicAck}}
					if consumes {
						filled.answer = []methodID{basicDeliver, basicAck}
						acts = append(acts, act{consumeFrom(queue), []methodID{basicConsumeOk}}, filled)
					} else {
						acts = append(acts, filled, act{getFrom(queue), []methodID{basicGetOk}})
					}
					end := []methodID{connectionClose}
					if consumes && queue == "q" && !inFrame[name] {
						end = []methodID{basicDeliver, connectionClose}
					}
					playActs(t, confirmSelect, append(acts,
						act{openChan(2) + call(2, basicConsume, u16(0), ss(queue), ss("t2"), u8(0), u32(0)), []methodID{channelOpenOk, basicConsumeOk}},
						act{mistake, end}))
				})
			}
		}
	}
}

// An error that ends the connection comes before what queues have for the channel because of the frames that were sent with the
// mistake: nothing is delivered, subscribed, cancelled or confirmed any more. What the channel does by itself has been answered.
// Rules: E-8.
func TestMistakeComesFirst(t *testing.T) {
	for name, mistake := range map[string]string{
		"prefetch size":             call(1, basicQos, u32(1), u16(0), u8(0)),
		"recover without requeue":   call(1, basicRecover, u8(0)),
		"a frame that is cut short": call(1, basicQos, u32(0)),
		"a frame out of place":      header(0),
	} {
		for _, queue := range []string{"q", "quorum"} {
			publish := func(key string) string { return publish(key, 0) + header(0) }
			consume := act{consumeFrom(queue), []methodID{basicConsumeOk}}
			end := []methodID{connectionClose}
			of := map[string][]act{
				"a delivery":                  {consume, {publish(queue) + mistake, end}},
				"a confirm":                   {{publish(queue) + mistake, end}},
				"what no queue decides about": {{publish("nowhere") + mistake, []methodID{basicAck, connectionClose}}},
			}
			switch name {
			case "a frame that is cut short":
				of["a delivery to another channel"] = []act{{openChan(2), []methodID{channelOpenOk}},
					{call(2, basicConsume, u16(0), ss(queue), ss("t2"), u8(0), u32(0)), []methodID{basicConsumeOk}}, {publish(queue) + mistake, end}}
			case "prefetch size", "recover without requeue":
				of["a consumer"] = []act{{publish(queue), []methodID{basicAck}}, {consume.frames + mistake, end}}
				of["a cancel"] = []act{consume, {call(1, basicCancel, ss("t"), u8(0)) + mistake, end}}
			}
			for what, acts := range of {
				t.Run(name+", "+queue+", "+what, func(t *testing.T) {
					playActs(t, confirmSelect, append([]act{{declareQuorum("quorum"), []methodID{queueDeclareOk}}}, acts...))
				})
			}
		}
	}
}

// A client's basic.cancel-ok cancels the consumer, as basic.cancel without an answer does. A consumer that it does not know, or one of
// direct replies, ends the connection.
// Rules: D-14.
func TestCancelOkOfAClient(t *testing.T) {
	cancelOk := call(1, basicCancelOk, ss("t"))
	qos := call(1, basicQos, u32(0), u16(0), u8(0))
	replies := act{call(1, basicConsume, u16(0), ss(replyQueue), ss("t"), u8(2), u32(0)), []methodID{basicConsumeOk}}
	end := []methodID{connectionClose}
	for _, queue := range []string{"q", "quorum"} {
		begun := act{declareQuorum("quorum"), []methodID{queueDeclareOk}}
		consume := act{consumeFrom(queue), []methodID{basicConsumeOk}}
		publish := publish(queue, 0) + header(0)
		for name, acts := range map[string][]act{
			"a consumer":                    {consume, {cancelOk + qos, []methodID{basicQosOk}}, {publish, []methodID{basicAck}}, {consume.frames, []methodID{basicConsumeOk, basicDeliver}}},
			"before consume-ok":             {{consume.frames + cancelOk + qos, []methodID{basicQosOk}}, {publish + qos, []methodID{basicQosOk, basicAck}}},
			"twice":                         {consume, {cancelOk + cancelOk, end}},
			"none":                          {{cancelOk, end}},
			"of direct replies":             {replies, {cancelOk, end}},
			"of direct replies and another": {replies, consume, {cancelOk + qos, []methodID{basicQosOk}}, {cancelOk, end}},
			"of a queue that is gone": {consume, {call(1, queueDelete, u16(0), ss(queue), u8(0)), []methodID{queueDeleteOk, basicCancel}},
				{cancelOk, end}},
		} {
			t.Run(queue+", "+name, func(t *testing.T) { playActs(t, confirmSelect, append([]act{begun}, acts...)) })
		}
	}
}

// What queues decide about is not confirmed any more on a channel that is closed in the same breath. Other channels get what it held
// before it is closed.
// Rules: C-5a, D-31.
func TestAnswersOfAClosedChannel(t *testing.T) {
	publish := func(key string) string { return publish(key, 0) + header(0) }
	qos := func(channel uint16) string { return call(channel, basicQos, u32(0), u16(0), u8(0)) }
	cancel := func(channel uint16) string { return call(channel, basicCancel, ss("t"), u8(0)) }
	consume := act{consumeFrom("q"), []methodID{basicConsumeOk}}
	consume2 := act{openChan(2) + call(2, basicConsume, u16(0), ss("q"), ss("t2"), u8(0), u32(0)), []methodID{channelOpenOk, basicConsumeOk}}
	held := act{publish("q"), []methodID{basicDeliver, basicAck}}
	for name, acts := range map[string][]act{
		"its client closes it": {consume, {publish("q") + closeChan(1) + closeConn(), []methodID{basicDeliver, channelCloseOk, connectionCloseOk}}},
		"its client closes it, and publishes": {{closeChan(1) + publish("q") + publish("nowhere"), []methodID{channelCloseOk}},
			{openChan(1), []methodID{channelOpenOk}}, {getFrom("q"), []methodID{basicGetEmpty}}},
		"its client closes it twice": {{closeChan(1) + publish("q") + closeChan(1), []methodID{channelCloseOk, channelCloseOk}}, {openChan(1), []methodID{channelOpenOk}}},
		"a cancel behind the end of its queue": {consume, {call(1, queueDelete, u16(0), ss("q"), u8(0)) + cancel(1), []methodID{queueDeleteOk, basicCancelOk}},
			{qos(1), []methodID{basicQosOk}}},
		"an error, a delivery on its way":  {consume, {publish("q") + getMissing, []methodID{channelClose, basicDeliver}}},
		"a consumer and an error":          {{publish("q") + consumeFrom("q") + getMissing, []methodID{channelClose, basicDeliver}}},
		"a consumer, closed by its client": {{publish("q") + consumeFrom("q") + closeChan(1), []methodID{basicDeliver, channelCloseOk}}},
		"a consumer, cancelled": {{publish("q") + consumeFrom("q") + cancel(1) + qos(1),
			[]methodID{basicQosOk, basicDeliver, basicCancelOk, basicAck}}, {consumeFrom("q") + cancel(1), []methodID{basicCancelOk}},
			{cancel(1) + qos(1), []methodID{basicCancelOk, basicQosOk}}},
		"a consumer beside one that is cancelled": {{consumeFrom("q") + call(1, basicConsume, u16(0), ss("other"), ss("t2"), u8(0), u32(0)) + cancel(1),
			[]methodID{basicConsumeOk, basicCancelOk}}},
		"a cancel and an error":               {consume, {cancel(1) + getMissing, []methodID{channelClose}}},
		"a cancel, closed by its client":      {consume, {cancel(1) + closeChan(1), []methodID{channelCloseOk}}},
		"an error":                            {consume, {publish("q") + getMissing + closeConn(), []methodID{channelClose, connectionCloseOk}}},
		"the connection is closed":            {consume, {publish("q") + closeConn(), []methodID{connectionCloseOk}}},
		"what no queue decides about":         {{publish("nowhere") + getMissing, []methodID{basicAck, channelClose}}},
		"in another breath":                   {consume, held, {getMissing, []methodID{channelClose}}},
		"its client closes it, held messages": {consume, held, consume2, {closeChan(1), []methodID{basicDeliver, channelCloseOk}}},
		"an error, held messages":             {consume, held, consume2, {getMissing, []methodID{basicDeliver, channelClose}}},
		"another channel closes, and goes on": {consume, consume2, {publish("q") + closeChan(2) + qos(1), []methodID{basicDeliver, basicAck, channelCloseOk, basicQosOk}}},
	} {
		t.Run(name, func(t *testing.T) { playActs(t, confirmSelect, acts) })
	}
}

// A channel that an error has closed ends when its client answers. Until then it keeps what it holds, but for the messages of
// classic queues that it consumes from; and quorum queues deliver to it.
// Rules: E-7.
func TestFailedChannelEndsWithItsAnswer(t *testing.T) {
	none := []methodID{basicGetEmpty}
	one := []methodID{basicGetOk}
	for _, queue := range []string{"q", "quorum"} {
		get := func(channel uint16) string { return call(channel, basicGet, u16(0), ss(queue), u8(1-uint8(channel)&1)) }
		get2 := func(answer []methodID) act { return act{get(2), answer} }
		begun := []act{{declareQuorum("quorum"), []methodID{queueDeclareOk}}, {openChan(2), []methodID{channelOpenOk}}}
		publish2 := call(2, basicPublish, u16(0), ss(""), ss(queue), u8(0)) + contentHeader(2, classBasic, 0, 0, "\x00\x00")
		filled := act{publish2, nil}
		consume := act{consumeFrom(queue), []methodID{basicConsumeOk}}
		held := act{publish2, []methodID{basicDeliver}}
		cancel := act{call(1, basicCancel, ss("t"), u8(0)), []methodID{basicCancelOk}}
		failed := act{getMissing, []methodID{channelClose}}
		answered := act{call(1, channelCloseOk), nil}
		for name, acts := range map[string][]act{
			"got":                              {filled, {get(1), one}, failed, get2(none), answered, get2(one), get2(none)},
			"by a consumer":                    {consume, held, failed, get2(none), answered, get2(one), get2(none)},
			"got beside a consumer":            {filled, {get(1), one}, consume, held, failed, get2(none), answered, get2(one), get2(one), get2(none)},
			"by a consumer that was cancelled": {consume, held, cancel, failed, get2(none), answered, get2(one), get2(none)},
			"acknowledged too late": {filled, {get(1), one}, failed, {call(1, basicAck, u64(1), u8(0)) + call(1, basicRecover, u8(1)), nil}, get2(none),
				answered, get2(one), get2(none)},
			"its client closes it, too": {filled, {get(1), one}, failed, {closeChan(1), []methodID{channelCloseOk}}, get2(none), answered, get2(one), get2(none)},
			"its number is used again":  {filled, {get(1), one}, failed, {call(1, channelCloseOk) + openChan(1), []methodID{channelOpenOk}}, get2(one), get2(none)},
			"delivered in between":      {consume, failed, held, answered, get2(one), get2(none)},
			"delivered in between, no acknowledgement": {{call(1, basicConsume, u16(0), ss(queue), ss("t"), u8(2), u32(0)), []methodID{basicConsumeOk}}, failed,
				held, answered, get2(none)},
		} {
			if queue == "q" {
				switch name {
				case "by a consumer":
					acts = []act{consume, held, failed, get2(one), get2(none)}
				case "got beside a consumer":
					acts = []act{filled, {get(1), one}, consume, held, failed, get2(one), get2(one), get2(none)}
				case "delivered in between", "delivered in between, no acknowledgement":
					continue // nothing is
				}
			}
			t.Run(queue+", "+name, func(t *testing.T) { playActs(t, confirmSelect, append(begun, acts...)) })
		}
		t.Run(queue+", published in a transaction", func(t *testing.T) {
			playActs(t, txSelect, append(begun,
				act{publish(queue, 0) + header(0) + getMissing, []methodID{channelClose}}, get2(none), answered, get2(none)))
		})
	}
}
