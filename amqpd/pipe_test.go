package amqpd_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/leveretmq/leveret/amqpd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPipeIsBuffered(t *testing.T) {
	client, server := amqpd.Pipe()
	n, err := client.Write([]byte("hello"))
	require.NoError(t, err)
	assert.Equal(t, 5, n)
	require.NoError(t, client.Close())
	got, err := io.ReadAll(server)
	require.NoError(t, err)
	assert.Equal(t, "hello", string(got))
	_, err = server.Write([]byte("x"))
	assert.ErrorIs(t, err, io.ErrClosedPipe)
	_, err = client.Write([]byte("x"))
	assert.ErrorIs(t, err, io.ErrClosedPipe)
	_, err = client.Read(make([]byte, 1))
	assert.ErrorIs(t, err, io.ErrClosedPipe)
}

// What goes in comes out, in order, however it is cut up and however the buffer wraps.
func TestPipeCarriesStreams(t *testing.T) {
	client, server := amqpd.Pipe()
	in := make([]byte, 3<<20)
	for i := range in {
		in[i] = byte(i * 7 >> 3)
	}
	go func() {
		defer client.Close()
		for rest := in; len(rest) > 0; {
			n := min(len(rest), 1+rand.IntN(400<<10))
			client.Write(rest[:n])
			rest = rest[n:]
		}
	}()
	var got []byte
	for {
		buf := make([]byte, 1+rand.IntN(100<<10))
		n, err := server.Read(buf)
		got = append(got, buf[:n]...)
		if err != nil {
			assert.Equal(t, io.EOF, err)
			break
		}
	}
	assert.True(t, bytes.Equal(in, got))
}

func TestPipeDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := amqpd.Pipe()
		start := time.Now()
		client.SetReadDeadline(start.Add(time.Minute))
		_, err := client.Read(make([]byte, 1))
		assert.ErrorIs(t, err, os.ErrDeadlineExceeded)
		var ne net.Error
		require.ErrorAs(t, err, &ne)
		assert.True(t, ne.Timeout())
		assert.Equal(t, time.Minute, time.Since(start))

		client.SetWriteDeadline(time.Now().Add(time.Minute))
		n, err := client.Write(make([]byte, 1<<20))
		assert.ErrorIs(t, err, os.ErrDeadlineExceeded)
		assert.Equal(t, 256<<10, n, "what fits is written")

		client.SetDeadline(time.Time{})
		server.Write([]byte("x"))
		_, err = client.Read(make([]byte, 1))
		assert.NoError(t, err, "a deadline can be taken back")
		client.SetReadDeadline(time.Now().Add(-1))
		_, err = client.Read(make([]byte, 1))
		assert.ErrorIs(t, err, os.ErrDeadlineExceeded)
		client.SetReadDeadline(time.Now().Add(time.Hour))
		client.Close() // leaves no timer behind
	})
}

// A blocked write wakes up when there is room, and when the reader goes away.
func TestPipeBlockedWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := amqpd.Pipe()
		var n int
		var err error
		done := make(chan struct{})
		go func() {
			n, err = client.Write(make([]byte, 300<<10))
			close(done)
		}()
		synctest.Wait()
		_, rerr := io.ReadFull(server, make([]byte, 100<<10))
		require.NoError(t, rerr)
		<-done
		assert.NoError(t, err)
		assert.Equal(t, 300<<10, n)

		done = make(chan struct{})
		go func() {
			_, err = client.Write(make([]byte, 300<<10))
			close(done)
		}()
		synctest.Wait()
		server.Close()
		<-done
		assert.ErrorIs(t, err, io.ErrClosedPipe)
	})
}

func BenchmarkPipe(b *testing.B) {
	client, server := amqpd.Pipe()
	go io.Copy(io.Discard, server)
	buf := make([]byte, 1<<10)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		client.Write(buf)
	}
	client.Close()
}

// After CloseWrite the other end reads what was written and then io.EOF, and can still answer.
func TestPipeCloseWrite(t *testing.T) {
	client, server := amqpd.Pipe()
	_, err := client.Write([]byte("last"))
	require.NoError(t, err)
	require.NoError(t, client.(interface{ CloseWrite() error }).CloseWrite())
	_, err = client.Write([]byte("more"))
	assert.ErrorIs(t, err, io.ErrClosedPipe)
	got, err := io.ReadAll(server)
	require.NoError(t, err)
	assert.Equal(t, "last", string(got))
	_, err = server.Write([]byte("answer"))
	require.NoError(t, err)
	require.NoError(t, server.Close())
	got, err = io.ReadAll(client)
	require.NoError(t, err)
	assert.Equal(t, "answer", string(got))
}
