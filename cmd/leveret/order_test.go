package main

import (
	"encoding/binary"
	"net"
	"strconv"
	"strings"

	amqp "github.com/rabbitmq/amqp091-go"
	"github.com/stretchr/testify/require"
)

// connectInOrder declares and consumes with arguments whose names are in no order and occur twice, for which amqp091-go
// has no type.
func (f *fixture) connectInOrder() {
	uri, err := amqp.ParseURI(f.url)
	require.NoError(f.t, err)
	nc, err := net.Dial("tcp", net.JoinHostPort(uri.Host, strconv.Itoa(uri.Port)))
	require.NoError(f.t, err)
	f.t.Cleanup(func() { nc.Close() })
	text := func(name, value string) string { return short(name) + "S" + long(value) }
	number := func(name string, value uint32) string { return short(name) + "I" + u32(value) }
	inner := text("y", "1") + text("x", "2") + text("y", "3")
	args := long(text("z", "1") + number("a", 5) + text("z", "2") + number("a", 6) + short("table") + "F" + long(inner) +
		short("array") + "A" + long("F"+long(inner)+"S"+long("t")))
	typed := long(text("z", "1") + text("x-queue-type", "quorum") + number("a", 5) + text("z", "2") + text("x-queue-type", "classic"))
	for _, call := range []string{
		"AMQP\x00\x00\x09\x01",
		method(0, 10, 11) + long("") + short("PLAIN") + long("\x00ctl-user\x00secret") + short("en_US"),
		method(0, 10, 31) + "\x07\xff\x00\x02\x00\x00\x00\x00" + next + method(0, 10, 40) + short("ctl-test") + "\x00\x00",
		method(1, 20, 10) + "\x00",
		method(1, 50, 10) + "\x00\x00" + short("ordered") + "\x02" + args,
		method(1, 50, 10) + "\x00\x00" + short("typed") + "\x02" + typed,
		method(1, 40, 10) + "\x00\x00" + short("x.ordered") + short("headers") + "\x02" + args,
		method(1, 50, 20) + "\x00\x00" + short("ordered") + short("x.ordered") + short("k") + "\x00" + args,
		method(1, 60, 20) + "\x00\x00" + short("ordered") + short("tag") + "\x00" + args,
	} {
		_, err := nc.Write([]byte(framed(call)))
		require.NoError(f.t, err)
		_, err = nc.Read(make([]byte, 4096)) // the answer: one frame
		require.NoError(f.t, err)
	}
}

// next separates method frames that are sent together.
const next = "\x00next\x00"

// framed puts frames around methods; the protocol header stays as it is.
func framed(calls string) string {
	var b strings.Builder
	for call := range strings.SplitSeq(calls, next) {
		if strings.HasPrefix(call, "AMQP") {
			return call
		}
		b.WriteString("\x01" + call[:2] + u32(uint32(len(call)-2)) + call[2:] + "\xce")
	}
	return b.String()
}

// method begins a method: its channel, then what its payload begins with.
func method(channel, class, id byte) string { return string([]byte{0, channel, 0, class, 0, id}) }

func short(s string) string { return string([]byte{byte(len(s))}) + s }
func long(s string) string  { return u32(uint32(len(s))) + s }
func u32(n uint32) string   { return string(binary.BigEndian.AppendUint32(nil, n)) }
