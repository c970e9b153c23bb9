package conformance

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestOddHandshakes sends a real broker and leveret's listener handshakes that no client library would make, and what may come
// before, between, instead and behind: both must answer with the same frames and close the connection alike.
func TestOddHandshakes(t *testing.T) {
	broker, first := oddSeeds(t, *odd)
	own, err := Listener(broker.profile)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	addresses := [2]string{addressOf(broker.uri.Host, broker.uri.Port), addressOf(own.(*listenerDriver).uri.Host, own.(*listenerDriver).uri.Port)}
	var wg sync.WaitGroup
	slots := make(chan bool, 4**workers) // they wait most of the time
	for n := range uint64(*odd) {
		slots <- true
		wg.Go(func() {
			defer func() { <-slots }()
			if err := compareHandshake(addresses, first+n); err != nil {
				t.Errorf("-seed %d -odd 1: %v", first+n, err)
			}
		})
	}
	wg.Wait()
}

func addressOf(host string, port int) string { return net.JoinHostPort(host, fmt.Sprint(port)) }

// compareHandshake plays the handshake of a seed on both sides, with more time if they differ.
func compareHandshake(addresses [2]string, seed uint64) (err error) {
	pieces := oddHandshake(&oddWriter{Rand: rand.New(rand.NewPCG(seed, 1))})
	for try := range oddTries {
		var answers [2][]string
		var wg sync.WaitGroup
		var failed [2]error
		for i, address := range addresses {
			wg.Go(func() { answers[i], failed[i] = shake(address, pieces, time.Duration(1+try)*200*time.Millisecond) })
		}
		wg.Wait()
		if err = errors.Join(failed[0], failed[1]); err != nil {
			return err
		}
		if slices.Equal(answers[0], answers[1]) {
			return nil
		}
		var b strings.Builder
		for _, p := range pieces {
			fmt.Fprintf(&b, "%s\n", p.name)
		}
		err = fmt.Errorf("%sRabbitMQ:\n%s\nleveret:\n%s", &b, strings.Join(answers[0], "\n"), strings.Join(answers[1], "\n"))
	}
	return err
}

// lastQuiet is how long the end of the connection is waited for: RabbitMQ closes silently three seconds after a mistake.
const lastQuiet = 5 * time.Second

// shake sends the pieces and returns the frames that come, and whether the broker has closed the connection at last.
func shake(address string, pieces []piece, quiet time.Duration) ([]string, error) {
	nc, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	c := &oddClient{Conn: nc}
	var got []string
	for i, p := range pieces {
		wait := quiet
		if i == len(pieces)-1 {
			wait = lastQuiet
		}
		if _, err := c.Write(p.octets); err != nil {
			c.ends = true
		}
		for until := time.Now().Add(wait); !c.ends; {
			text, err := c.handshakeText(time.Until(until))
			if errors.Is(err, os.ErrDeadlineExceeded) {
				break
			}
			c.ends = err != nil
			if err == nil && text != heartbeatText { // whether one comes in time is left to chance; see TestMomentsOfHeartbeats
				got = append(got, text)
			}
		}
		if c.ends {
			return append(got, "closed"), nil
		}
	}
	return got, nil
}

const heartbeatText = `0 type 8 ""`

// handshakeText reads a frame, or a protocol header.
func (c *oddClient) handshakeText(wait time.Duration) (string, error) {
	if len(c.in) == 0 {
		if err := c.SetReadDeadline(time.Now().Add(wait)); err != nil {
			return "", err
		}
		buf := make([]byte, 4096)
		n, err := c.Read(buf)
		if n == 0 {
			return "", err
		}
		c.in = buf[:n]
	}
	if strings.HasPrefix(string(c.in), "AMQP") {
		header := c.in[:min(8, len(c.in))]
		c.in = c.in[len(header):]
		return fmt.Sprintf("%q", header), nil
	}
	kind, channel, payload, err := c.frame(wait)
	if err != nil {
		return "", err
	}
	if kind == frameMethod && binary.BigEndian.Uint32(payload) == 10<<16|10 {
		payload = payload[:6] // what follows is the server's own, and the order of the mechanisms is another each time RabbitMQ starts
	}
	return oddText(kind, channel, payload), nil
}

const bodyFrame = 3

// A piece is what is written at once.
type piece struct {
	name   string
	octets []byte
}

// oddHandshake is a handshake of which some pieces are odd, and what may follow.
func oddHandshake(w *oddWriter) []piece {
	header := "AMQP\x00\x00\x09\x01"
	if w.chance(0.1) {
		header = oneOf(w, "AMQP\x01\x01\x00\x09", "AMQP\x01\x01\x08\x00", "AMQP\x00\x00\x09\x00", "AMQP\x00\x00\x0a\x01", "GET / HT", "amqp\x00\x00\x09\x01", header+header)
	}
	all := []piece{{"header " + fmt.Sprintf("%q", header), []byte(header)}, w.startOk(), w.tuneOk(), w.open(), piece{"channel.open", oddMethod(1, channelOpen, []byte{0})}}
	all = all[:1+w.IntN(len(all))]
	for range oneOf(w, 0, 1, 1, 1, 2, 3) {
		at := len(all)
		if w.chance(0.3) {
			at = 1 + w.IntN(len(all))
		}
		all = slices.Insert(all, at, w.between())
	}
	if w.chance(0.15) {
		p := &all[w.IntN(len(all))]
		p.octets = slices.Clone(p.octets)
		at := w.IntN(len(p.octets))
		p.octets[at] = oneOf(w, 0, 1, 255, byte(w.IntN(256)))
		p.name += fmt.Sprintf(" with octet %d changed to %d", at, p.octets[at])
	}
	return all
}

func (w *oddWriter) startOk() piece {
	mechanism, response, locale := "PLAIN", "\x00guest\x00guest", "en_US"
	if w.chance(0.2) {
		mechanism = oneOf(w, "AMQPLAIN", "ANONYMOUS", "EXTERNAL", "", "plain", "\xff")
	}
	if w.chance(0.2) {
		response = oneOf(w, "", "\x00", "\x00guest", "\x00guest\x00", "\x00guest\x00no", "x\x00guest\x00guest", "\x00guest\x00guest\x00x", "\x00g\xff\x00x")
	}
	if w.chance(0.05) {
		locale = oneOf(w, "", "de_DE", "\xff")
	}
	capability := func(name string, value ...byte) []byte { return slices.Concat(oddShort(name), value) }
	var properties []byte
	if w.chance(0.4) {
		inner := oneOf(w, capability("authentication_failure_close", 't', 1), capability("authentication_failure_close", 't', 0), capability("x", 'V'), nil)
		properties = slices.Concat(oddShort("capabilities"), []byte{'F'}, oddLong(string(inner)))
	}
	if w.chance(0.05) {
		properties = oneOf(w, []byte("\x01x?"), []byte("\x05ab"), capability("capabilities", 'V'), slices.Concat(oddShort("x"), []byte{'S'}, oddLong(strings.Repeat("y", 9000))))
	}
	name := fmt.Sprintf("start-ok %q %q %q %.40q", mechanism, response, locale, properties)
	return piece{name, oddMethod(0, connectionStartOk, oddLong(string(properties)), oddShort(mechanism), oddLong(response), oddShort(locale))}
}

func (w *oddWriter) tuneOk() piece {
	channels, frame := uint16(2047), uint32(131072)
	if w.chance(0.1) {
		channels = oneOf[uint16](w, 0, 1, 2, 2048, 65535)
	}
	if w.chance(0.1) {
		frame = oneOf[uint32](w, 0, 1, 4095, 4096, 8191, 8192, 131073, 1<<31)
	}
	t := &oddWriter{Rand: w.Rand}
	t.u16(channels)
	t.u32(frame)
	t.u16(0)
	return piece{fmt.Sprintf("tune-ok %d %d", channels, frame), oddMethod(0, connectionTuneOk, t.b)}
}

func (w *oddWriter) open() piece {
	vhost, rest := "/", "\x00\x00"
	if w.chance(0.15) {
		vhost = oneOf(w, "", "nope", "\xff", "\u00e9", strings.Repeat("v", 255))
	}
	if w.chance(0.1) {
		rest = oneOf(w, "", "\x00", "\x00\x01", "\x03abc\x01", "\x00\x00\x00", "\xff")
	}
	return piece{fmt.Sprintf("open %.20q %q", vhost, rest), oddMethod(0, connectionOpen, oddShort(vhost), []byte(rest))}
}

// between is what does not belong there, or only sometimes.
func (w *oddWriter) between() piece {
	farewell := slices.Concat([]byte{0, 200}, oddShort("bye"), make([]byte, 4))
	method := func(name string, id uint32, args ...byte) piece { return piece{name, oddMethod(0, id, args)} }
	raw := func(name string, kind byte, channel uint16, payload string, end byte) piece {
		b := binary.BigEndian.AppendUint16([]byte{kind}, channel)
		return piece{name, slices.Concat(b, oddLong(payload), []byte{end})}
	}
	return oneOf(w, w.startOk(), w.tuneOk(), w.open(), method("close", connectionClose, farewell...), method("close-ok", 10<<16|51),
		method("close with more", connectionClose, append(farewell, 1)...), method("close that is cut", connectionClose, 0),
		method("close-ok with more", 10<<16|51, 1), method("start-ok that is cut", connectionStartOk, 0, 0),
		method("secure-ok", 10<<16|21, 0, 0, 0, 0), method("open-ok", 10<<16|41, 0), method("update-secret", 10<<16|70, 0, 0, 0, 1, 'x', 0),
		method("blocked", 10<<16|60, 0), method("unknown method", 10<<16|99), method("unknown class", 11<<16|10), method("tx.select", 90<<16|10),
		piece{"close on 1", oddMethod(1, connectionClose, farewell)}, piece{"channel.open", oddMethod(1, channelOpen, []byte{0})},
		piece{"unknown method on 1", oddMethod(1, 10<<16|99)},
		raw("heartbeat", 8, 0, "", 206), raw("heartbeat on 1", 8, 1, "", 206), raw("heartbeat with more", 8, 0, "x", 206),
		raw("header", frameHeader, 0, strings.Repeat("\x00", 14), 206), raw("header on 1", frameHeader, 1, strings.Repeat("\x00", 14), 206),
		raw("body", bodyFrame, 0, "x", 206), raw("body on 1", bodyFrame, 1, "x", 206), raw("type 4", 4, 0, "x", 206), raw("type 9 on 1", 9, 1, "x", 206),
		raw("empty method", frameMethod, 0, "", 206), raw("empty method on 1", frameMethod, 1, "", 206), raw("bad end", 8, 0, "", 0),
		raw("large", bodyFrame, 1, strings.Repeat("x", 9000), 206), piece{"endless", []byte{bodyFrame, 0, 0, 255, 255, 255, 255}},
		piece{"header", []byte("AMQP\x00\x00\x09\x01")})
}
