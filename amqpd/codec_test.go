package amqpd

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/leveretmq/leveret"
	"github.com/leveretmq/leveret/internal/wire"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// everyField has each field type once, and tables and arrays in each other.
var everyField = leveret.Fields{
	{Name: "longstr", Value: "text"}, {Name: "empty", Value: ""}, {Name: "binary", Value: []byte{0, 255}},
	{Name: "true", Value: true}, {Name: "false", Value: false},
	{Name: "byte", Value: int8(-128)}, {Name: "unsignedbyte", Value: uint8(255)},
	{Name: "short", Value: int16(-32768)}, {Name: "unsignedshort", Value: uint16(65535)},
	{Name: "signedint", Value: int32(math.MinInt32)}, {Name: "unsignedint", Value: uint32(math.MaxUint32)},
	{Name: "long", Value: int64(math.MinInt64)},
	{Name: "float", Value: float32(1.5)}, {Name: "double", Value: math.Pi},
	{Name: "decimal", Value: leveret.Decimal{Scale: 2, Value: -12345}},
	{Name: "timestamp", Value: time.Unix(1700000000, 0).UTC()}, {Name: "void", Value: nil},
	{Name: "array", Value: []any{"a", int32(1), []any{}, leveret.Fields{{Name: "k", Value: true}}, nil}},
	{Name: "table", Value: leveret.Fields{{Name: "z", Value: "1"}, {Name: "a", Value: "2"}, {Name: "z", Value: "3"}}},
	{Name: strings.Repeat("n", 255), Value: "longest name"}, {Name: "", Value: "shortest name"},
}

func TestFieldsRoundTrip(t *testing.T) {
	b := appendFields(nil, everyField)
	got, ok := decodeFields(b[4:])
	require.True(t, ok)
	assert.Equal(t, everyField, got)
}

// The octets of each type are those that the errata of AMQP 0-9-1 and RabbitMQ agree on.
func TestValueEncoding(t *testing.T) {
	for _, tc := range []struct {
		value any
		want  string
	}{
		{"ab", "S\x00\x00\x00\x02ab"},
		{[]byte("ab"), "x\x00\x00\x00\x02ab"},
		{true, "t\x01"}, {false, "t\x00"},
		{int8(-1), "b\xff"}, {uint8(255), "B\xff"},
		{int16(-2), "s\xff\xfe"}, {uint16(2), "u\x00\x02"},
		{int32(-2), "I\xff\xff\xff\xfe"}, {uint32(2), "i\x00\x00\x00\x02"},
		{int64(-2), "l\xff\xff\xff\xff\xff\xff\xff\xfe"}, {7, "l\x00\x00\x00\x00\x00\x00\x00\x07"},
		{2 * time.Second, "l\x00\x00\x00\x00\x00\x00\x07\xd0"},
		{float32(1), "f\x3f\x80\x00\x00"}, {float64(1), "d\x3f\xf0\x00\x00\x00\x00\x00\x00"},
		{leveret.Decimal{Scale: 1, Value: 2}, "D\x01\x00\x00\x00\x02"},
		{time.Unix(1, 0), "T\x00\x00\x00\x00\x00\x00\x00\x01"},
		{nil, "V"},
		{[]string{"a"}, "A\x00\x00\x00\x06S\x00\x00\x00\x01a"},
		{leveret.Table{"b": nil, "a": true}, "F\x00\x00\x00\x07\x01at\x01\x01bV"},
		{map[string]any{"a": nil}, "F\x00\x00\x00\x03\x01aV"},
	} {
		assert.Equal(t, tc.want, string(appendValue(nil, tc.value)), "%T %v", tc.value, tc.value)
	}
	assert.Panics(t, func() { appendValue(nil, struct{}{}) })
}

func TestLongDecodesFromBothTags(t *testing.T) {
	f, ok := decodeFields([]byte("\x01kL\xff\xff\xff\xff\xff\xff\xff\xfe"))
	require.True(t, ok)
	assert.Equal(t, leveret.Fields{{Name: "k", Value: int64(-2)}}, f)
}

func TestBadFields(t *testing.T) {
	for name, in := range map[string]string{
		"unknown type":          "\x01k?\x00",
		"no value":              "\x01k",
		"name cut short":        "\x05k",
		"string cut short":      "\x01kS\x00\x00\x00\x09abc",
		"number cut short":      "\x01kl\x00",
		"array's inside broken": "\x01kA\x00\x00\x00\x01?",
		"table's inside broken": "\x01kF\x00\x00\x00\x02\x05k",
		"infinite":              "\x01kd\x7f\xf0\x00\x00\x00\x00\x00\x00",
		"not a number":          "\x01kf\x7f\xc0\x00\x00",
		"length near 2^32":      "\x01kS\xff\xff\xff\xff",
	} {
		_, ok := decodeFields([]byte(in))
		assert.False(t, ok, name)
	}
}

func TestNestingIsBounded(t *testing.T) {
	nest := func(levels int) []byte { // the table itself is one
		var v any = []any{}
		for range levels - 2 {
			v = []any{v}
		}
		return appendFields(nil, leveret.Fields{{Name: "k", Value: v}})[4:]
	}
	_, ok := decodeFields(nest(wire.MaxNesting))
	assert.True(t, ok)
	_, ok = decodeFields(nest(wire.MaxNesting + 1))
	assert.False(t, ok)
}

func TestTableOfTakesTheFirstOfDuplicates(t *testing.T) {
	got := tableOf(leveret.Fields{{Name: "k", Value: 1}, {Name: "k", Value: 2}})
	assert.Equal(t, leveret.Table{"k": 1}, got)
}

var everyProperty = leveret.Properties{
	ContentType: "text/plain", ContentEncoding: "gzip", DeliveryMode: 2, Priority: 9, CorrelationID: "c",
	ReplyTo: "r", Expiration: "1000", MessageID: "m", Timestamp: time.Unix(1700000000, 0), Type: "t",
	UserID: "guest", AppID: "a", ClusterID: "cl", HeaderFields: everyField, Present: allProperties,
}

func TestPropertiesRoundTrip(t *testing.T) {
	b := appendProperties(nil, &everyProperty, everyField)
	got, ok := decodeProperties(b, new(names))
	require.True(t, ok)
	assert.Equal(t, &everyProperty, got)
}

// A property may be present and empty; that survives.
func TestEmptyPropertiesStayPresent(t *testing.T) {
	in := append([]byte("\xff\xfc"), make([]byte, 24)...)
	p, ok := decodeProperties(in, new(names))
	require.True(t, ok)
	assert.Equal(t, leveret.Property(allProperties), p.Has())
	assert.Equal(t, in, appendProperties(nil, p, p.HeaderFields))
}

func TestNoPropertiesAreNil(t *testing.T) {
	p, ok := decodeProperties([]byte{0, 0}, new(names))
	assert.True(t, ok)
	assert.Nil(t, p)
	assert.Equal(t, []byte{0, 0}, appendProperties(nil, nil, nil))
	assert.Equal(t, []byte{0, 0}, appendProperties(nil, &leveret.Properties{}, nil))
}

func TestBadProperties(t *testing.T) {
	for name, in := range map[string]string{
		"no flags":          "",
		"half of the flags": "\x80",
		"cut short":         "\x80\x00\x05ab",
		"something behind":  "\x80\x00\x02abz",
		"behind no flags":   "\x00\x00z",
		"more flags":        "\x00\x01\x00\x00",
		"broken headers":    "\x20\x00\x00\x00\x00\x03\x01k?",
	} {
		_, ok := decodeProperties([]byte(in), new(names))
		assert.False(t, ok, name)
	}
}

func TestFrameReaderCutsFrames(t *testing.T) {
	var in []byte
	var want []frame
	for i, size := range []int{0, 1, 100, 1023, 1024, 5000, 70000, 3} {
		f := frame{byte(i), uint16(i * 1000), bytes.Repeat([]byte{byte(i + 1)}, size)}
		want = append(want, f)
		o := output{b: in}
		at := o.begin(f.typ, f.channel)
		o.b = append(o.b, f.payload...)
		o.end(at)
		in = o.b
	}
	for name, r := range map[string]io.Reader{
		"whole": bytes.NewReader(in), "octet by octet": iotest.OneByteReader(bytes.NewReader(in)),
		"halves": iotest.HalfReader(bytes.NewReader(in)), "error with data": iotest.DataErrReader(bytes.NewReader(in)),
	} {
		fr := frameReader{r: r, maxPayload: 1 << 20}
		for i, w := range want {
			f, err := fr.readFrame()
			require.NoError(t, err, "%s, frame %d", name, i)
			assert.Equal(t, w.typ, f.typ)
			assert.Equal(t, w.channel, f.channel)
			assert.True(t, bytes.Equal(w.payload, f.payload), "%s, frame %d", name, i)
		}
		_, err := fr.readFrame()
		assert.ErrorIs(t, err, io.EOF, name)
	}
}

// A body is read into place, whatever part of it is in the buffer already.
func TestReadPayload(t *testing.T) {
	for _, size := range []int{1, 500, 5000, 100000} {
		o := output{}
		at := o.begin(frameBody, 1)
		for i := range size {
			o.b = append(o.b, byte(i))
		}
		want := bytes.Clone(o.b[headerSize:])
		o.end(at)
		o.end(o.begin(frameHeartbeat, 0))
		for _, r := range []io.Reader{bytes.NewReader(o.b), iotest.OneByteReader(bytes.NewReader(o.b)), iotest.HalfReader(bytes.NewReader(o.b))} {
			fr := frameReader{r: r, maxPayload: 1 << 20}
			for _, ok := fr.head(); !ok; _, ok = fr.head() {
				require.NoError(t, fr.fill())
			}
			got := make([]byte, size)
			require.NoError(t, fr.readPayload(got))
			assert.Equal(t, want, got)
			f, err := fr.readFrame()
			require.NoError(t, err)
			assert.Equal(t, byte(frameHeartbeat), f.typ)
		}
	}
}

func TestFrameReaderRefuses(t *testing.T) {
	fr := frameReader{r: strings.NewReader("\x01\x00\x00\x00\x00\x00\x65"), maxPayload: 100}
	_, err := fr.readFrame()
	assert.Equal(t, frameTooLarge{frameHead{1, 0, 101}, 92}, err)
	assert.True(t, lostSync(err))

	fr = frameReader{r: strings.NewReader("\x01\x00\x02\x00\x00\x00\x01x\x00"), maxPayload: 100}
	_, err = fr.readFrame()
	assert.Equal(t, badFrameEnd{frame{1, 2, []byte("x")}, 0}, err)
	assert.True(t, lostSync(err))
}

// The buffer of an idle connection is small, and one of a busy one does not grow without need.
func TestFrameReaderBuffer(t *testing.T) {
	fr := frameReader{r: strings.NewReader(strings.Repeat("\x08\x00\x00\x00\x00\x00\x00\xce", 100000)), maxPayload: 100}
	require.NoError(t, fr.fill())
	assert.Len(t, fr.buf, minReadBuffer)
	for {
		if _, err := fr.readFrame(); err != nil {
			break
		}
	}
	assert.Len(t, fr.buf, maxReadBuffer)
}

// socketPair returns the ends of a TCP connection, one of them as a frame reader.
func socketPair(t *testing.T) (net.Conn, *frameReader, net.Conn) {
	if !canTry {
		t.Skip("sockets are read by package net here")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	require.NoError(t, err)
	server, err := l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { server.Close() })
	fr := &frameReader{r: server, maxPayload: 1 << 20}
	fr.share(server)
	require.NotNil(t, fr.sock)
	return client, fr, server
}

// A socket that waits holds a buffer only for a frame of which much is there.
func TestWaitingSocketHoldsNoBuffer(t *testing.T) {
	client, fr, server := socketPair(t)
	defer client.Close()
	var o output
	at := o.begin(frameBody, 1)
	o.b = append(o.b, make([]byte, 5000)...)
	o.end(at)
	wait := func() {
		server.SetReadDeadline(time.Now().Add(100 * time.Millisecond)) // too short, and the read ends before it has looked
		require.ErrorIs(t, fr.fill(), os.ErrDeadlineExceeded)
		server.SetReadDeadline(time.Now().Add(time.Minute))
	}
	wait()
	assert.Empty(t, fr.buf)
	client.Write(o.b[:100])
	require.NoError(t, fr.fill())
	assert.Len(t, fr.buf, smallBuffer)
	wait()
	assert.Equal(t, o.b[:100], fr.buf)
	client.Write(o.b[100:4000])
	require.NoError(t, fr.fill())
	wait()
	assert.Len(t, fr.buf, smallBuffer)
	client.Write(o.b[4000:])
	f, err := fr.readFrame()
	require.NoError(t, err)
	assert.Equal(t, make([]byte, 5000), f.payload)
	wait()
	assert.Empty(t, fr.buf)
}

// A socket's frames are the same however they come, and larger than the shared buffers if need be.
func TestSocketCutsFrames(t *testing.T) {
	client, fr, _ := socketPair(t)
	var o output
	sizes := []int{0, 1, 100, 1023, 5000, 70000, sharedBuffer, 3, 131072, 2*sharedBuffer + 1, 0}
	for i, size := range sizes {
		at := o.begin(byte(i), uint16(i))
		o.b = append(o.b, bytes.Repeat([]byte{byte(i)}, size)...)
		o.end(at)
	}
	go func() {
		defer client.Close()
		for _, piece := range []int{1, 7, 500, 3000, 100_000} {
			client.Write(o.b)
			for rest := range slices.Chunk(o.b[:min(len(o.b), piece*1000)], piece) {
				client.Write(rest)
			}
			client.Write(o.b[min(len(o.b), piece*1000):])
		}
	}()
	for n := range 10 * len(sizes) {
		i := n % len(sizes)
		f, err := fr.readFrame()
		require.NoError(t, err)
		require.Equal(t, byte(i), f.typ)
		require.Equal(t, bytes.Repeat([]byte{byte(i)}, sizes[i]), f.payload)
	}
	assert.ErrorIs(t, fr.fill(), io.EOF)
}

// appendContent appends the content of a message without headers on channel 3.
func appendContent(o *output, p *leveret.Properties, body []byte, maxPayload int) {
	at := o.header(3, len(body))
	o.b = appendProperties(o.b, p, nil)
	o.end(at)
	o.body(3, body, maxPayload)
}

func TestContentIsSplitIntoFrames(t *testing.T) {
	for _, size := range []int{0, 1, 92, 93, 92 * 3, spliceFrom, spliceFrom*2 + 1} {
		body := make([]byte, size)
		for i := range body {
			body[i] = byte(i)
		}
		maxPayload := 92
		if size >= spliceFrom {
			maxPayload = spliceFrom + 5
		}
		o := output{}
		appendContent(&o, nil, body, maxPayload)
		o.bare(3, txSelectOk)
		client, server := Pipe()
		require.NoError(t, o.writeTo(server, new(meter)))
		fr := frameReader{r: client, maxPayload: 1 << 20}
		f, err := fr.readFrame()
		require.NoError(t, err)
		assert.Equal(t, byte(frameHeader), f.typ)
		assert.Equal(t, fmt.Appendf(nil, "\x00\x3c\x00\x00\x00\x00\x00\x00\x00\x00%c%c\x00\x00", size>>8, size&255), latin1(f.payload))
		var got []byte
		for len(got) < size {
			f, err := fr.readFrame()
			require.NoError(t, err)
			assert.Equal(t, byte(frameBody), f.typ)
			assert.LessOrEqual(t, len(f.payload), maxPayload)
			got = append(got, f.payload...)
		}
		assert.True(t, bytes.Equal(body, got))
		f, err = fr.readFrame()
		require.NoError(t, err)
		assert.Equal(t, txSelectOk, methodOf(f))
	}
}

// latin1 encodes octets as fmt's %c does.
func latin1(b []byte) []byte {
	var out []byte
	for _, c := range b {
		out = append(out, string(rune(c))...)
	}
	return out
}

func TestNamesAreShared(t *testing.T) {
	var n names
	key := []byte("some.routing.key")
	first, ok := n.get(key)
	require.True(t, ok)
	assert.Zero(t, testing.AllocsPerRun(100, func() { n.get(key) }))
	assert.Equal(t, "some.routing.key", first)
	_, ok = n.get([]byte{0xff, 0xfe})
	assert.False(t, ok)
	empty, ok := n.get(nil)
	assert.True(t, ok)
	assert.Empty(t, empty)
}

// What RabbitMQ's formatter prints for these terms, captured from a node.
func TestTermsArePrintedAsErlangDoes(t *testing.T) {
	indent := strings.Repeat(" ", 28)
	for _, tc := range []struct{ in, want string }{
		{"", "<<>>"},
		{"dddddddddddddddd", `<<"dddddddddddddddd">>: {invalid_frame_end_marker,3}`},
		{"a\"b\\c\n\r\té", `<<"a\"b\\c\n\r\té"/utf8>>`},
		{strings.Repeat("d", 15) + "\a", "<<100,100,100,100,100,100,100,100,100,100,100,100,\n" + indent +
			"100,100,100,7>>: {invalid_frame_end_marker,3}"},
		{strings.Repeat("d", 12) + "\a\a\a\a", "<<100,100,100,100,100,100,100,100,100,100,100,100,7,\n" + indent +
			"7,7,7>>: {invalid_frame_end_marker,3}"},
		{strings.Repeat("d", 10) + "\a\a\a\a\a\a", "<<100,100,100,100,100,100,100,100,100,100,7,7,7,7,7,7>>: {invalid_frame_end_marker,\n" +
			strings.Repeat(" ", 84) + "3}"},
		{"\x01\xff", "<<1,255>>"},
		{"ab\xe9cdefg", `<<"abécdefg">>: {invalid_frame_end_marker,3}`},
		{"é\u2028x", "<<\"é\u2028x\"/utf8>>: {invalid_frame_end_marker,3}"},
		{"a\x7fbcd", "<<97,127,98,99,100>>: {invalid_frame_end_marker,3}"},
		{"a\x85bcd", "<<97,133,98,99,100>>: {invalid_frame_end_marker,3}"},
	} {
		var problem any
		if strings.Contains(tc.want, "invalid_frame_end_marker") {
			problem = badFrameEnd{end: 3}.term()
		}
		which, payload := "all", tc.in
		if len(tc.in) == 16 {
			which, payload = "first 16", tc.in+"and more"
		}
		err := releases[leveret.RabbitMQ43].frameProblem(leveret.FrameError, frame{typ: 1, payload: []byte(payload)}, problem)
		assert.EqualError(t, err, "FRAME_ERROR - type 1, "+which+" octets = "+tc.want)
	}
}

func FuzzDecodeFields(f *testing.F) {
	f.Add(appendFields(nil, everyField)[4:])
	f.Add([]byte("\x01kA\x00\x00\x00\x05A\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, in []byte) {
		fields, ok := decodeFields(in)
		if !ok {
			return
		}
		out := appendFields(nil, fields)
		again, ok := decodeFields(out[4:])
		require.True(t, ok)
		assert.Equal(t, fields, again)
	})
}

func FuzzDecodeProperties(f *testing.F) {
	f.Add(appendProperties(nil, &everyProperty, everyField))
	f.Add([]byte{0, 0})
	f.Fuzz(func(t *testing.T, in []byte) {
		p, ok := decodeProperties(in, new(names))
		if !ok || p == nil {
			return
		}
		again, ok := decodeProperties(appendProperties(nil, p, p.HeaderFields), new(names))
		require.True(t, ok)
		assert.Equal(t, p, again)
	})
}

func BenchmarkDecodeProperties(b *testing.B) {
	for name, in := range map[string][]byte{
		"typical": appendProperties(nil, &leveret.Properties{ContentType: "text/plain", DeliveryMode: 2}, nil),
		"full":    appendProperties(nil, &everyProperty, everyField),
	} {
		b.Run(name, func(b *testing.B) {
			var n names
			b.ReportAllocs()
			for b.Loop() {
				decodeProperties(in, &n)
			}
		})
	}
}

func BenchmarkEncodeDelivery(b *testing.B) {
	for _, size := range []int{100, 1 << 10, 64 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			p := &leveret.Properties{ContentType: "text/plain", DeliveryMode: 2}
			body := make([]byte, size)
			o := output{}
			b.ReportAllocs()
			for b.Loop() {
				o.release()
				appendContent(&o, p, body, 131064)
			}
		})
	}
}

func BenchmarkReadFrames(b *testing.B) {
	o := output{}
	for range 1000 {
		appendContent(&o, nil, make([]byte, 100), 131064)
	}
	r := bytes.NewReader(o.b)
	fr := frameReader{r: r, maxPayload: 131072}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := fr.readFrame(); err != nil {
			r.Reset(o.b)
		}
	}
}
