package conformance

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The texts of frames. What a frame says is written with all its fields, and each value of a table with its type's
// letter, so that nothing is lost that a client library may not pass on.

// A method is one that a broker sends: its name and the types of its arguments, a letter each: o octet, s short, l
// long, L longlong, b the octet of bits, n shortstr, S longstr, F table.
type method struct{ name, arguments string }

var methods = map[uint32]method{
	10<<16 | 10: {"connection.start", "ooFMS"}, 10<<16 | 20: {"connection.secure", "S"}, 10<<16 | 30: {"connection.tune", "sls"},
	10<<16 | 41: {"connection.open-ok", "n"}, connectionClose: {"connection.close", "snss"},
	connectionCloseOk: {"connection.close-ok", ""}, 10<<16 | 60: {"connection.blocked", "n"}, 10<<16 | 61: {"connection.unblocked", ""},
	channelOpenOk: {"channel.open-ok", "S"}, 20<<16 | 20: {"channel.flow", "b"}, 20<<16 | 21: {"channel.flow-ok", "b"},
	channelClose: {"channel.close", "snss"}, channelCloseOk: {"channel.close-ok", ""},
	40<<16 | 11: {"exchange.declare-ok", ""}, 40<<16 | 21: {"exchange.delete-ok", ""}, 40<<16 | 31: {"exchange.bind-ok", ""},
	40<<16 | 51: {"exchange.unbind-ok", ""}, queueDeclareOk: {"queue.declare-ok", "nll"}, 50<<16 | 21: {"queue.bind-ok", ""},
	50<<16 | 31: {"queue.purge-ok", "l"}, 50<<16 | 41: {"queue.delete-ok", "l"}, 50<<16 | 51: {"queue.unbind-ok", ""},
	60<<16 | 11: {"basic.qos-ok", ""}, basicConsumeOk: {"basic.consume-ok", "n"}, basicCancel: {"basic.cancel", "nb"},
	basicCancelOk: {"basic.cancel-ok", "n"}, basicReturn: {"basic.return", "snnn"}, basicDeliver: {"basic.deliver", "nLbnn"},
	basicGetOk: {"basic.get-ok", "Lbnnl"}, basicGetEmpty: {"basic.get-empty", "n"}, basicAck: {"basic.ack", "Lb"},
	60<<16 | 111: {"basic.recover-ok", ""}, basicNack: {"basic.nack", "Lb"},
	85<<16 | 11: {"confirm.select-ok", ""}, 90<<16 | 11: {"tx.select-ok", ""}, 90<<16 | 21: {"tx.commit-ok", ""},
	90<<16 | 31: {"tx.rollback-ok", ""},
}

const (
	queueDeclare   = 50<<16 | 10
	queueDeclareOk = 50<<16 | 11
	basicConsume   = 60<<16 | 20
	basicConsumeOk = 60<<16 | 21
	basicCancel    = 60<<16 | 30
	basicCancelOk  = 60<<16 | 31
	basicPublish   = 60<<16 | 40
	basicGet       = 60<<16 | 70
	basicGetEmpty  = 60<<16 | 72
	basicAck       = 60<<16 | 80
	basicNack      = 60<<16 | 120
	confirmSelect  = 85<<16 | 10
)

// methodText writes a method frame's payload.
func methodText(payload []byte) string {
	d := &decoder{b: payload}
	id := d.u32()
	m, known := methods[id]
	if !known {
		return fmt.Sprintf("method %d.%d %x", id>>16, id&0xffff, d.b)
	}
	words := []string{m.name}
	for _, kind := range m.arguments {
		words = append(words, d.argument(kind))
	}
	return about.ReplaceAllString(strings.Join(append(words, d.rest()...), " "), "$1*")
}

// about matches what a broker says of itself when a connection starts.
var about = regexp.MustCompile(`("(?:cluster_name|copyright|information|platform|version)"=S:)"[^"]*"`)

func (d *decoder) argument(kind rune) string {
	switch kind {
	case 'o':
		return strconv.Itoa(int(d.u8()))
	case 's':
		return strconv.Itoa(int(d.u16()))
	case 'l':
		return strconv.Itoa(int(d.u32()))
	case 'L':
		return strconv.FormatUint(d.u64(), 10)
	case 'b':
		return fmt.Sprintf("%08b", d.u8())
	case 'n':
		return strconv.QuoteToASCII(d.short())
	case 'S':
		return strconv.QuoteToASCII(string(d.long()))
	case 'M':
		return mechanismsText(string(d.long()))
	}
	return d.tableText()
}

// mechanismsText writes the names of authentication mechanisms in alphabetical order. Their order changes when a broker
// is started anew: 4.3 named "ANONYMOUS PLAIN AMQPLAIN" in four of six starts, and two other orders once each.
func mechanismsText(names string) string {
	return strconv.QuoteToASCII(strings.Join(slices.Sorted(strings.FieldsSeq(names)), " "))
}

// rest writes what is left over, of which there must be nothing.
func (d *decoder) rest() []string {
	if len(d.b) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("and %x", d.b)}
}

// propertyKinds are the types of the properties, from the highest bit of the flags.
const propertyKinds = "nnFoonnnnTnnnn"

// headerText writes a content header's payload: class, weight, size of the body, flags and the properties.
func headerText(payload []byte) string {
	d := &decoder{b: payload}
	words := []string{fmt.Sprintf("header %d %d %d", d.u16(), d.u16(), d.u64())}
	flags := d.u16()
	words = append(words, fmt.Sprintf("%016b", flags))
	for i, kind := range propertyKinds {
		switch {
		case flags&(1<<(15-i)) == 0:
		case kind == 'T':
			words = append(words, timeText(d.u64()))
		default:
			words = append(words, d.argument(kind))
		}
	}
	return strings.Join(append(words, d.rest()...), " ")
}

func (d *decoder) tableText() string {
	in := &decoder{b: d.long()}
	var fields []string
	for len(in.b) > 0 {
		fields = append(fields, strconv.QuoteToASCII(in.short())+"="+in.valueText())
	}
	return "{" + strings.Join(fields, " ") + "}"
}

// sizes are those of the values that are written as they are.
var sizes = map[byte]int{'t': 1, 'b': 1, 'B': 1, 's': 2, 'u': 2, 'I': 4, 'i': 4, 'l': 8, 'L': 8, 'f': 4, 'd': 8, 'D': 5, 'V': 0}

func (d *decoder) valueText() string {
	tag := d.u8()
	letter := string(rune(tag)) + ":"
	switch tag {
	case 'F':
		return letter + d.tableText()
	case 'A':
		in := &decoder{b: d.long()}
		var elements []string
		for len(in.b) > 0 {
			elements = append(elements, in.valueText())
		}
		return letter + "[" + strings.Join(elements, " ") + "]"
	case 'S', 'x':
		return letter + strconv.QuoteToASCII(string(d.long()))
	case 'T':
		return letter + timeText(d.u64())
	}
	size, known := sizes[tag]
	if !known {
		return fmt.Sprintf("unknown type %d", tag)
	}
	return fmt.Sprintf("%s%x", letter, d.take(size))
}

// timeText writes a timestamp in seconds. Those of today are of the run, and differ each time.
func timeText(seconds uint64) string {
	if time.Until(time.Unix(int64(seconds), 0)).Abs() < 24*time.Hour {
		return "now"
	}
	return strconv.FormatUint(seconds, 10)
}
