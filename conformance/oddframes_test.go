package conformance

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

var odd = flag.Int("odd", 100, "how many sequences of odd frames to send to a real broker")

// TestOddFrames sends a real broker and leveret's listener short sequences of frames that no client library would
// send: any method with any argument on any channel, content that is missing, arguments that are cut short. Both must
// answer with the same frames, step by step. A sequence that differs is sent again at the end, with more time and alone:
// a busy machine spoils a run, and what a broker does only now and then, such as to confirm a message before its delivery
// (C-5a), is not a difference.
func TestOddFrames(t *testing.T) {
	broker, first := oddSeeds(t, *odd)
	for _, seed := range oddOnes(broker, first) {
		if err := oddAgain(broker, seed); err != nil {
			t.Errorf("-seed %d -odd 1: %v", seed, err)
		}
	}
}

// oddSeeds returns the real broker, and the first of n seeds.
func oddSeeds(t *testing.T, n int) (*Broker, uint64) {
	broker := fromEnvironment(t)
	if broker == nil {
		t.Skip("no broker to compare with: set LEVERET_CONFORMANCE_AMQP and LEVERET_CONFORMANCE_ADMIN")
	}
	first := *seed
	if first == 0 {
		first = rand.Uint64N(1 << 40)
	}
	t.Logf("seeds %d to %d", first, first+uint64(n)-1)
	return broker, first
}

// oddOnes returns the seeds, from first on, of what differs when it is sent beside others.
func oddOnes(broker *Broker, first uint64) (again []uint64) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan bool, *workers)
	for n := range uint64(*odd) {
		slots <- true
		wg.Go(func() {
			defer func() { <-slots }()
			if compareOdd(broker, first+n, 500*time.Millisecond) != nil {
				mu.Lock()
				defer mu.Unlock()
				again = append(again, first+n)
			}
		})
	}
	wg.Wait()
	return again
}

// oddTries is how often a sequence that has differed is sent again.
const oddTries = 5

// oddAgain sends a sequence until both sides answer with the same; the error is that of the last try.
func oddAgain(broker *Broker, seed uint64) (err error) {
	for range oddTries {
		if err = compareOdd(broker, seed, 2*time.Second); err == nil {
			return nil
		}
	}
	return err
}

// compareOdd sends the sequence of a seed to both sides. The error says where the answers differ, or why there are none.
func compareOdd(broker *Broker, seed uint64, quiet time.Duration) error {
	steps := oddSteps(rand.New(rand.NewPCG(seed, 0)))
	real, err := broker.Driver()
	if err != nil {
		return err
	}
	want, err := sendOdd(broker.uri, real.VHost(), steps, func(c *oddClient) string { return c.answers(quiet) })
	if err := errors.Join(err, real.Close()); err != nil {
		return err
	}
	own, err := Listener(broker.profile)
	if err != nil {
		return err
	}
	got, err := sendOdd(own.(*listenerDriver).uri, own.VHost(), steps, func(c *oddClient) string {
		at := c.answers(quiet / 4)
		own.(*listenerDriver).Advance(quiet)
		return at + c.answers(quiet/4)
	})
	if err := errors.Join(err, own.Close()); err != nil {
		return err
	}
	if !slices.Equal(want, got) {
		return errors.New(oddDiff(steps, want, got))
	}
	return nil
}

// oddDiff shows the steps up to the first that is answered differently.
func oddDiff(steps []oddStep, want, got []string) string {
	var b strings.Builder
	for i, step := range steps {
		fmt.Fprintf(&b, "%d: %s\n", i, step)
		w, g := answerOf(want, i), answerOf(got, i)
		if w != g {
			fmt.Fprintf(&b, "RabbitMQ:\n%sleveret:\n%s", w, g)
			break
		}
	}
	return b.String()
}

func answerOf(answers []string, i int) string {
	if i >= len(answers) {
		return "(the connection had ended)\n"
	}
	return answers[i]
}

// An oddClient is a connection on which frames are written and read as they are.
type oddClient struct {
	net.Conn
	in   []byte
	ends bool // the broker has closed the connection
}

// sendOdd connects, makes what the steps are about, and returns what read gets after each of them.
func sendOdd(uri amqp.URI, vhost string, steps []oddStep, read func(*oddClient) string) ([]string, error) {
	nc, err := net.Dial("tcp", net.JoinHostPort(uri.Host, fmt.Sprint(uri.Port)))
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	c := &oddClient{Conn: nc}
	for _, request := range oddPreparation(uri, vhost) {
		if _, err := c.Write(request); err != nil {
			return nil, err
		}
		if _, _, _, err := c.frame(10 * time.Second); err != nil {
			return nil, fmt.Errorf("preparing: %w", err)
		}
	}
	hide := strings.NewReplacer(vhost, "(vhost)")
	var answers []string
	for _, step := range steps {
		if _, err := c.Write(step.octets()); err != nil {
			break
		}
		answers = append(answers, hide.Replace(read(c)))
		if c.ends {
			break
		}
	}
	return answers, nil
}

// answers reads until nothing more comes. A channel that the broker closes is opened again.
func (c *oddClient) answers(quiet time.Duration) string {
	if c.ends {
		return ""
	}
	var b strings.Builder
	for {
		kind, channel, payload, err := c.frame(quiet)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			return b.String()
		case err != nil:
			c.ends = true
			return b.String() + "closed\n"
		}
		b.WriteString(oddText(kind, channel, payload) + "\n")
		if kind != frameMethod {
			continue
		}
		switch binary.BigEndian.Uint32(payload) {
		case channelClose:
			c.Write(append(oddMethod(channel, channelCloseOk), oddMethod(channel, channelOpen, []byte{0})...))
		case connectionClose:
			c.ends = true
			return b.String()
		}
	}
}

// frame reads one frame, for which it waits no longer than that.
func (c *oddClient) frame(wait time.Duration) (kind byte, channel uint16, payload []byte, err error) {
	for {
		if len(c.in) >= 8 {
			size := int(binary.BigEndian.Uint32(c.in[3:]))
			if len(c.in) >= size+8 {
				f := c.in[:size+8]
				c.in = c.in[size+8:]
				return f[0], binary.BigEndian.Uint16(f[1:]), f[7 : size+7], nil
			}
		}
		if err := c.SetReadDeadline(time.Now().Add(wait)); err != nil {
			return 0, 0, nil, err
		}
		buf := make([]byte, 4096)
		n, err := c.Read(buf)
		c.in = append(c.in, buf[:n]...)
		if n == 0 && err == nil {
			err = io.ErrNoProgress
		}
		if n == 0 {
			return 0, 0, nil, err
		}
	}
}

// oddGenerated are names that a broker makes up.
var oddGenerated = regexp.MustCompile(`amq\.(gen|ctag)-[\w-]{22}|amq\.rabbitmq\.reply-to\.g[\w=/+.-]+`)

// oddTime is the time of a death.
var oddTime = regexp.MustCompile(`(?s)\x04timeT.{8}`)

// oddText writes a frame so that what is left to chance is not seen.
func oddText(kind byte, channel uint16, payload []byte) string {
	text := oddGenerated.ReplaceAll(oddTime.ReplaceAll(payload, []byte("(time)")), []byte("(name)"))
	if kind != frameMethod || len(text) < 4 {
		return fmt.Sprintf("%d type %d %q", channel, kind, text)
	}
	return fmt.Sprintf("%d %d.%d %q", channel, binary.BigEndian.Uint16(text), binary.BigEndian.Uint16(text[2:]), text[4:])
}
