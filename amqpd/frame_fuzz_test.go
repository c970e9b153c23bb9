package amqpd

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
)

// FuzzFrameReader cuts octets into frames in three ways: all at once and plainly, by a reader that gets them in pieces
// and reads some payloads into place, and by one that reads a socket. All must find the same frames, and the same end.
func FuzzFrameReader(f *testing.F) {
	heartbeat := fr(frameHeartbeat, 0, "")
	whole := fr(frameMethod, 1, "0123456789") + fr(frameHeader, 1, strings.Repeat("h", 300)) +
		fr(frameBody, 1, strings.Repeat("b", 900)) + heartbeat
	for _, in := range []string{
		whole, whole[:len(whole)-1], heartbeat + "\x01", "\x08\x00\x00\x00\x00\x00", rawFrame(1, 2, "x", 0),
		whole + rawFrame(3, 1, "", 0) + whole,
		"\x01\x00\x00\x00\x00\x03\xe9", "\x01\x00\x00\x00\x00\x03\xe8", "\x01\x00\x00\xff\xff\xff\xff",
		strings.Repeat(heartbeat, 300),
		strings.Repeat(fr(frameBody, 1, strings.Repeat("b", 1000)), 20),
	} {
		for _, pieces := range []string{"", "\x00", "\x06\x81", "\xff\x7f\x03"} {
			f.Add([]byte(in), []byte(pieces), pieces == "")
		}
	}
	f.Fuzz(func(t *testing.T, in, pieces []byte, onSocket bool) {
		const maxPayload = 1000
		want, end := cutFrames(in, maxPayload)
		reader := &frameReader{r: &pieceReader{in, pieces}, maxPayload: maxPayload}
		if onSocket {
			client, socket, _ := socketPair(t)
			socket.maxPayload = maxPayload
			reader = socket
			go func() {
				r := pieceReader{in, pieces}
				buf := make([]byte, 1<<16)
				for n, err := r.Read(buf); err == nil; n, err = r.Read(buf) {
					client.Write(buf[:n])
				}
				client.Close()
			}()
		}
		for i, w := range want {
			got, err := readOne(reader, len(pieces) > 0 && pieces[i%len(pieces)]&1 == 1)
			if err != nil || got.typ != w.typ || got.channel != w.channel || !bytes.Equal(got.payload, w.payload) {
				t.Fatalf("frame %d of %d: %+v, %v, want %+v", i, len(want), got, err, w)
			}
		}
		if _, err := readOne(reader, false); !sameEnd(err, end) {
			t.Fatalf("behind %d frames: %v, want %v", len(want), err, end)
		}
	})
}

// cutFrames is the reader without all that makes it fast.
func cutFrames(in []byte, maxPayload int) (frames []frame, end error) {
	for len(in) >= headerSize {
		typ, channel, size := in[0], binary.BigEndian.Uint16(in[1:]), int(binary.BigEndian.Uint32(in[3:]))
		if size > maxPayload {
			return frames, frameTooLarge{}
		}
		if len(in) < headerSize+size+1 {
			break
		}
		if in[headerSize+size] != frameEnd {
			return frames, badFrameEnd{}
		}
		frames = append(frames, frame{typ, channel, in[headerSize : headerSize+size]})
		in = in[headerSize+size+1:]
	}
	return frames, io.EOF
}

func sameEnd(err, want error) bool {
	var large frameTooLarge
	var bad badFrameEnd
	switch want.(type) {
	case frameTooLarge:
		return errors.As(err, &large)
	case badFrameEnd:
		return errors.As(err, &bad)
	}
	return errors.Is(err, io.EOF)
}

// readOne reads a frame as a connection does: as a whole, or its payload into place as soon as its head is there.
func readOne(fr *frameReader, intoPlace bool) (frame, error) {
	if !intoPlace {
		return fr.readFrame()
	}
	h, ok := fr.head()
	for ; !ok; h, ok = fr.head() {
		if err := fr.fill(); err != nil {
			return frame{}, err
		}
	}
	f := frame{h.typ, h.channel, make([]byte, h.size)}
	return f, fr.readPayload(f.payload)
}

// A pieceReader hands out what it has in pieces of the given sizes, again and again.
type pieceReader struct{ in, pieces []byte }

func (r *pieceReader) Read(b []byte) (int, error) {
	size := len(r.in)
	if len(r.pieces) > 0 {
		size = 1 + int(r.pieces[0])
		r.pieces = append(r.pieces[1:len(r.pieces):len(r.pieces)], r.pieces[0])
	}
	n := copy(b, r.in[:min(size, len(r.in))])
	r.in = r.in[n:]
	if n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	return n, nil
}
